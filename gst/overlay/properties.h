/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * GObject properties from a table: a row for each member of a structure of settings.
 *
 * This module does not know which properties there are. show.c has the table, the structure and the defaults, so
 * that a new property is a change of that file alone.
 */
#ifndef GST_DEPTH_OVERLAY_PROPERTIES_H
#define GST_DEPTH_OVERLAY_PROPERTIES_H

#include <gst/gst.h>

G_BEGIN_DECLS

typedef enum
{
  GST_DEPTH_OVERLAY_NUMBER, /* gdouble, 0..most */
  GST_DEPTH_OVERLAY_TIME,   /* guint64, ns; cannot be controlled: it is asked for before there is a frame */
  GST_DEPTH_OVERLAY_SWITCH, /* gboolean */
  GST_DEPTH_OVERLAY_CHOICE, /* gint, one of an enumeration */
  GST_DEPTH_OVERLAY_REGION  /* gdouble[4]: x, y, width, height as fractions of the picture; cannot be controlled */
} GstDepthOverlayKind;

typedef struct
{
  const gchar *name, *blurb;
  GstDepthOverlayKind kind;
  gsize offset;            /* of the member in the structure */
  gdouble most;            /* NUMBER */
  GType (*choices) (void); /* CHOICE */
} GstDepthOverlayProperty;

/* Row i becomes the property with the id i + 1. @defaults: a structure of settings. */
void gst_depth_overlay_properties_install (
    GObjectClass *klass, const GstDepthOverlayProperty *rows, guint count, gconstpointer defaults);
/* FALSE where the property does not take @value: the error is posted, or kept until the element starts. The caller does not
 * lock. */
gboolean gst_depth_overlay_property_accepts (
    const GstDepthOverlayProperty *row, GstElement *element, GParamSpec *spec, const GValue *value);
/* Writes the value of a property to its member, and reads it from there. The caller locks @settings. */
void gst_depth_overlay_property_set (const GstDepthOverlayProperty *row, gpointer settings, const GValue *value);
void gst_depth_overlay_property_get (const GstDepthOverlayProperty *row, gconstpointer settings, GValue *value);

G_END_DECLS

#endif
