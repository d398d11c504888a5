/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The nearest surface in a depth picture, what that means for who drives, and the message about it on the bus. */
#ifndef GST_DEPTH_OVERLAY_REPORT_H
#define GST_DEPTH_OVERLAY_REPORT_H

#include "gst/overlay/search/nearest.h"
#include "gst/overlay/picture.h"
#include "gst/overlay/sync.h"

G_BEGIN_DECLS

typedef struct _GstDepthOverlayReport GstDepthOverlayReport;

/* Where the nearest surface is looked for, and how. */
typedef struct
{
  gdouble region[4];  /* x, y, width, height: fractions of the picture */
  gdouble percentile; /* 0..100, of the region's pixels: the smallest surface */
} GstDepthOverlaySearch;

/* What the nearest distance is about. */
typedef enum
{
  GST_DEPTH_OVERLAY_NEAREST_SURFACE,
  GST_DEPTH_OVERLAY_NEAREST_OBSTACLE /* of stereoground */
} GstDepthOverlayNearestOf;

GType gst_depth_overlay_nearest_of_get_type (void);
#define GST_TYPE_DEPTH_OVERLAY_NEAREST_OF (gst_depth_overlay_nearest_of_get_type ())

/* By what the nearest surface is judged. */
typedef struct
{
  gdouble warn_distance; /* mm; 0 = every surface is near */
  gdouble max_unknown;   /* share of the region's pixels, 0..1 */
} GstDepthOverlayLimits;

typedef enum
{
  GST_DEPTH_OVERLAY_UNKNOWN, /* too little of the region is seen, no surface is found in it, or its distance is not known */
  GST_DEPTH_OVERLAY_NEAR, /* a surface is nearer than warn_distance */
  GST_DEPTH_OVERLAY_CLEAR /* enough of the region is seen, and the nearest surface is not that near */
} GstDepthOverlayVerdict;

/* A part of a picture, pixels. */
typedef struct
{
  gint x, y, width, height;
} GstDepthOverlayRegion;

typedef struct
{
  GstDepthOverlayVerdict verdict;
  gboolean warning;       /* the verdict is near by warn_distance */
  gboolean valid;         /* a surface or an obstacle was found: all below is known */
  gboolean empty;         /* the ground is known, and no obstacle stands on it */
  gboolean doubtful;      /* the ground ends too near for that in some place, and nobody knows why */
  gboolean metric;        /* distances are known */
  gdouble value;          /* mm, or px when distances are not known */
  gdouble disparity;      /* px, or not-a-number */
  GstStereoNearest found; /* in the depth picture; its coverage is known, and its support 0, where nothing was found */
  gint x, y;              /* in the output */
} GstDepthOverlayNearest;

GstDepthOverlayReport *gst_depth_overlay_report_new (GstElement *owner);
void gst_depth_overlay_report_free (GstDepthOverlayReport *report);
/* After a flush: the next message is due at once. */
void gst_depth_overlay_report_reset (GstDepthOverlayReport *report);

/* The region of a picture @width pixels wide and @height high, at least a pixel. */
GstDepthOverlayRegion gst_depth_overlay_search_region (const GstDepthOverlaySearch *search, gint width, gint height);

/* Looks for the nearest surface in @depth, which is mapped as @picture and lies over @view. */
void gst_depth_overlay_report_search (GstDepthOverlayReport *report, const GstDepthOverlaySearch *search,
    const GstStereoJoined *depth, const GstDepthOverlayPicture *picture, const GstStereoLiveView *view);
/* The same where somebody else found it. */
void gst_depth_overlay_report_set (GstDepthOverlayReport *report, const GstDepthOverlayNearest *nearest);
/* There is no depth to look in, or none that can be relied on, and why. */
void gst_depth_overlay_report_clear (GstDepthOverlayReport *report, const gchar *reason);
/* After one of the three above: the verdict, its reason and the warning. */
void gst_depth_overlay_report_judge (GstDepthOverlayReport *report, const GstDepthOverlayLimits *limits);
/* Why the verdict is unknown; empty where it is not. */
const gchar *gst_depth_overlay_report_reason (const GstDepthOverlayReport *report);
const GstDepthOverlayNearest *gst_depth_overlay_report_nearest (const GstDepthOverlayReport *report);

/* Posts the message `stereo-nearest` about @frame, if @interval (ns) passed since the last one, or `state`, `reason`,
 * `valid` or `warning` is another than in that. */
void gst_depth_overlay_report_post (GstDepthOverlayReport *report, const GstDepthOverlayFrame *frame, guint64 interval);

G_END_DECLS

#endif
