/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The properties of elements, from tables: a row for each property.
 *
 * An element, or a part of it, has a structure of settings. A row says where in it the value of a property lies, or has
 * functions that set and get it. Everything else is done here: ordinary GObject properties are installed, with texts, ranges
 * and defaults, and are set and got under the object lock. GObject refuses a value out of range with a warning, and the old
 * value stays.
 */
#ifndef GST_STEREO_PROPERTIES_H
#define GST_STEREO_PROPERTIES_H

#include <gst/gst.h>

G_BEGIN_DECLS

typedef enum
{
  GST_STEREO_BOOLEAN,  /* gboolean */
  GST_STEREO_INT,      /* gint, min..max */
  GST_STEREO_UINT,     /* guint, every value */
  GST_STEREO_INT64,    /* gint64, G_MININT64 / 4..G_MAXINT64 / 4: sums of two values do not overflow */
  GST_STEREO_UINT64,   /* guint64, 0..max; max = 0: every value */
  GST_STEREO_DOUBLE,   /* gdouble, min..max */
  GST_STEREO_ENUM,     /* gint, one of the choices */
  GST_STEREO_STRING,   /* gchar *, NULL at first; the element frees it */
  GST_STEREO_REGION,   /* gdouble[4]: x, y, width, height as fractions of a picture, which is the default */
  GST_STEREO_STRUCTURE /* GstStructure, read-only: the row has a function that makes it */
} GstStereoPropertyKind;

/* Flags of a row. */
#define GST_STEREO_PLAYING (G_PARAM_READWRITE | GST_PARAM_MUTABLE_PLAYING)
#define GST_STEREO_CONTROLLED (GST_STEREO_PLAYING | GST_PARAM_CONTROLLABLE) /* gst_object_sync_values() is called */

/* A table ends with a row without a name. It lives for ever. */
typedef struct _GstStereoProperty GstStereoProperty;
struct _GstStereoProperty
{
  const gchar *name, *blurb;
  GstStereoPropertyKind kind;
  GParamFlags flags;
  gsize offset; /* in the structure of settings, of a member of the type that the kind names */
  gdouble min, max, initial;
  const GEnumValue *choices; /* of an enumeration; as the table, for ever */
  const gchar *type;         /* the enumeration's name */

  /* Instead of the member, where they are not NULL. Called without the object lock. */
  void (*set) (GstElement *element, gpointer settings, const GValue *value);
  void (*get) (GstElement *element, gpointer settings, GValue *value);
  /* After the member was set by hand, with the object lock. May be NULL. */
  void (*note) (const GstStereoProperty *row, gpointer member);
};

/* In class_init: installs the rows of a table, set_property() and get_property(). @settings: where in an instance the
 * structure of settings lies or, for a part of the element that keeps it private, the pointer to it. A class may install several
 * tables. */
void gst_stereo_properties_install (
    GObjectClass *klass, const GstStereoProperty *rows, gssize settings, gboolean behind_pointer);
/* In instance_init, when the parts are there: writes the defaults to the members. */
void gst_stereo_properties_init (GObject *object);
/* Copies the structure of settings of @object, of @size bytes, between two changes of it. */
void gst_stereo_properties_read (gpointer object, gconstpointer settings, gpointer copy, gsize size);

G_END_DECLS

#endif
