/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A property of an element: one row of the element's table. properties.h installs such tables. */
#ifndef GST_STEREO_PROPERTY_ROW_H
#define GST_STEREO_PROPERTY_ROW_H

#include <gst/gst.h>

G_BEGIN_DECLS

typedef enum
{
  GST_STEREO_BOOLEAN,  /* gboolean */
  GST_STEREO_INT,      /* gint, min..max */
  GST_STEREO_UINT,     /* guint, every value */
  GST_STEREO_INT64,    /* gint64, every value but those near its limits: G_MININT64 / 4..G_MAXINT64 / 4 */
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
typedef struct
{
  const gchar *name, *blurb;
  GstStereoPropertyKind kind;
  GParamFlags flags;
  gsize offset; /* in the structure of settings, of a member of the type that the kind names */
  gdouble min, max, initial;
  const GEnumValue *choices; /* of an enumeration; as the table, for ever */
  const gchar *type;         /* the enumeration's name */
  gboolean unchecked;        /* accepts values outside its range: the engine refuses them later */

  /* May be NULL. Why a value is not taken: a sentence (g_free) or NULL. */
  gchar *(*problem) (const GValue *value);
  /* Instead of the member, where they are not NULL. Called without the object lock. */
  void (*set) (GstElement *element, gpointer settings, const GValue *value);
  void (*get) (GstElement *element, gpointer settings, GValue *value);
} GstStereoProperty;

G_END_DECLS

#endif
