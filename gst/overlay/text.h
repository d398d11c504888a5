/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Legend, read-out, marker and warning, drawn by Pango and cairo and blended as overlay compositions. Each piece is
 * drawn when it changes and kept; a frame only gets the pieces blended in.
 */
#ifndef GST_DEPTH_OVERLAY_TEXT_H
#define GST_DEPTH_OVERLAY_TEXT_H

#include <gst/video/video.h>

#include "gst/overlay/colormap.h"

G_BEGIN_DECLS

typedef struct _GstDepthOverlayText GstDepthOverlayText;

/* What is to be seen. Compared with what was drawn: zeroed before it is filled. */
typedef struct
{
  gint width, height;           /* of the picture */
  gboolean text, legend;
  GstStereoColormap colormap;   /* legend */
  GstStereoScale scale;
  gboolean have_scale;          /* no legend without */
  gboolean have_value;          /* read-out and marker */
  gdouble value;                /* mm, or px when the scale is not metric */
  gint x, y;
  gboolean warning;
  const gchar *notice;          /* instead of the read-out, a static string; may be NULL */
} GstDepthOverlayTextContent;

GstDepthOverlayText *gst_depth_overlay_text_new (void);
void gst_depth_overlay_text_free (GstDepthOverlayText *text);

/* Draws over a frame mapped for reading and writing. */
void gst_depth_overlay_text_blend (GstDepthOverlayText *text, const GstDepthOverlayTextContent *content,
    GstVideoFrame *frame);

/* "3.42 m", "12.3 m", "57.5 px": no more digits than depth has. */
void gst_depth_overlay_text_format (gchar *string, gsize size, gdouble value, gboolean metric);

G_END_DECLS

#endif
