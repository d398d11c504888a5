/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The nearest distance in a depth picture, and the message about it on the bus. */
#ifndef GST_DEPTH_OVERLAY_REPORT_H
#define GST_DEPTH_OVERLAY_REPORT_H

#include "gst/overlay/nearest.h"
#include "gst/overlay/picture.h"

G_BEGIN_DECLS

typedef struct _GstDepthOverlayReport GstDepthOverlayReport;

/* Where the nearest distance is looked for, and how. */
typedef struct
{
  gdouble region[4];  /* x, y, width, height: fractions of the picture */
  gdouble percentile; /* 0..100 */
} GstDepthOverlaySearch;

/* A part of a picture, pixels. */
typedef struct
{
  gint x, y, width, height;
} GstDepthOverlayRegion;

typedef struct
{
  gboolean valid;         /* all below is known */
  gboolean metric;        /* distances are known */
  gdouble value;          /* mm, or px when distances are not known */
  gdouble disparity;      /* px, or not-a-number */
  GstStereoNearest found; /* in the depth picture */
  gint x, y;              /* in the output */
} GstDepthOverlayNearest;

GstDepthOverlayReport *gst_depth_overlay_report_new (GstElement *owner);
void gst_depth_overlay_report_free (GstDepthOverlayReport *report);
/* After a flush: the next message is due at once. */
void gst_depth_overlay_report_reset (GstDepthOverlayReport *report);

/* The region of a picture @width pixels wide and @height high, at least a pixel. */
GstDepthOverlayRegion gst_depth_overlay_search_region (const GstDepthOverlaySearch *search, gint width, gint height);

/* Looks for the nearest distance in @depth, which is mapped as @picture and lies over @view. */
void gst_depth_overlay_report_search (GstDepthOverlayReport *report, const GstDepthOverlaySearch *search,
    const GstDepthOverlayDepth *depth, const GstDepthOverlayPicture *picture, const GstDepthOverlayView *view);
/* There is no depth to look in. */
void gst_depth_overlay_report_clear (GstDepthOverlayReport *report);
const GstDepthOverlayNearest *gst_depth_overlay_report_nearest (const GstDepthOverlayReport *report);

/* Posts the message `stereo-nearest` about @frame, if @interval (ns) passed since the last one, or `valid` or `warning`
 * is another than in that. */
void gst_depth_overlay_report_post (
    GstDepthOverlayReport *report, const GstDepthOverlayFrame *frame, gboolean warning, guint64 interval);

G_END_DECLS

#endif
