/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Legend, read-out, marker and warning, drawn by Pango and cairo and blended as overlay compositions. Each piece is
 * drawn only when it changes; each frame gets the finished pieces blended in.
 */
#ifndef GST_DEPTH_OVERLAY_TEXT_H
#define GST_DEPTH_OVERLAY_TEXT_H

#include <gst/video/video.h>

#include "gst/nearest/result.h"
#include "gst/overlay/colormap.h"
#include "gst/overlay/label.h"

G_BEGIN_DECLS

typedef struct _GstDepthOverlayText GstDepthOverlayText;

/* A thin frame around a part of the picture, and its label. */
typedef struct
{
  gint x, y, width, height; /* pixels, inside the picture */
  gchar label[GST_DEPTH_OVERLAY_LABEL];
  gboolean warning;
} GstDepthOverlayBox;

/* A short line across, as wide as a column of the ground. */
typedef struct
{
  gint x, y, width; /* pixels */
} GstDepthOverlayMark;

#define GST_DEPTH_OVERLAY_BOXES 16 /* at most so many are drawn */

/* The content of the text over a frame. Pieces whose flag is set are drawn. */
typedef struct
{
  gint width, height;         /* of the picture */
  gboolean edges;             /* the frame around a picture that warns */
  gboolean legend;            /* the colours and their distances */
  gboolean marker;            /* the place of the nearest surface */
  gboolean readout;           /* the distance of the nearest surface, or why it is unknown; or @notice */
  GstStereoColormap colormap; /* of the legend */
  GstStereoScale scale;       /* of the legend and the read-out */
  /* of the marker and the read-out; as @region, valid until the text is drawn */
  const GstStereoNearestResult *nearest;
  const GstStereoNearestRegion *region; /* is searched, and gets a thin frame; NULL: none */
  GstDepthOverlayBox boxes[GST_DEPTH_OVERLAY_BOXES];
  guint n_boxes;
  const GstDepthOverlayMark *marks; /* where the free ground ends */
  guint n_marks;
  const gchar *reason; /* why the depth cannot be relied on, valid until the text is drawn; NULL where it can */
  const gchar *notice; /* replaces the whole read-out: a static string; may be NULL */
} GstDepthOverlayTextContent;

GstDepthOverlayText *gst_depth_overlay_text_new (void);
void gst_depth_overlay_text_free (GstDepthOverlayText *text);

gboolean gst_depth_overlay_text_is_empty (const GstDepthOverlayTextContent *content);
/* Draws over a frame mapped for reading and writing. */
void gst_depth_overlay_text_blend (
    GstDepthOverlayText *text, const GstDepthOverlayTextContent *content, GstVideoFrame *frame);

/* "3.42 m", "12.3 m", "57.5 px": no more digits than depth has. */
void gst_depth_overlay_text_format (gchar *string, gsize size, gdouble value, gboolean metric);

G_END_DECLS

#endif
