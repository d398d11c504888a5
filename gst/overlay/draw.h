/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Draws the pieces of depthoverlay's text with cairo. A piece depends on its key alone. */
#ifndef GST_DEPTH_OVERLAY_DRAW_H
#define GST_DEPTH_OVERLAY_DRAW_H

#include <pango/pangocairo.h>

#include "gst/overlay/colormap.h"
#include "gst/overlay/label.h"

G_BEGIN_DECLS

/* The input of the drawing of a piece. Fields that a piece does not use are 0, because keys are compared with memcmp(). */
typedef struct
{
  gint width, height; /* of the picture */
  gint length;        /* of a side of the region */
  gboolean warning;
  GstStereoColormap colormap;
  GstStereoCurve curve;
  gdouble near, far;
  gboolean metric, notice;
  gchar string[GST_DEPTH_OVERLAY_LABEL];
} GstDepthOverlayKey;

typedef void (*GstDepthOverlayDraw) (
    PangoContext *context, cairo_t *cr, const GstDepthOverlayKey *key, gint width, gint height);

/* One edge of the warning's frame. */
void gst_depth_overlay_draw_edge (
    PangoContext *context, cairo_t *cr, const GstDepthOverlayKey *key, gint width, gint height);
/* One side of the region's frame. */
void gst_depth_overlay_draw_region (
    PangoContext *context, cairo_t *cr, const GstDepthOverlayKey *key, gint width, gint height);
/* The end of the free ground in a column. */
void gst_depth_overlay_draw_mark (
    PangoContext *context, cairo_t *cr, const GstDepthOverlayKey *key, gint width, gint height);
void gst_depth_overlay_draw_marker (
    PangoContext *context, cairo_t *cr, const GstDepthOverlayKey *key, gint width, gint height);

void gst_depth_overlay_measure_readout (PangoContext *context, const GstDepthOverlayKey *key, gint *width, gint *height);
void gst_depth_overlay_draw_readout (
    PangoContext *context, cairo_t *cr, const GstDepthOverlayKey *key, gint width, gint height);

void gst_depth_overlay_measure_legend (PangoContext *context, const GstDepthOverlayKey *key, gint *width, gint *height);
void gst_depth_overlay_draw_legend (
    PangoContext *context, cairo_t *cr, const GstDepthOverlayKey *key, gint width, gint height);

G_END_DECLS

#endif
