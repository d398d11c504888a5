/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The depthoverlay element. One object, eight files:
 *   gstdepthoverlay.c         properties, start and stop
 *   gstdepthoverlay-pads.c    pads, events, queries
 *   gstdepthoverlay-caps.c    what the output is like, and where it comes from
 *   gstdepthoverlay-sync.c    aggregate(): which depth goes with a frame of the live view
 *   gstdepthoverlay-frame.c   a frame and its depth become an output buffer
 *   gstdepthoverlay-nearest.c the nearest distance, and saying it on the bus
 *   gstdepthoverlay-text.c    legend, read-out, marker and warning, kept until they change
 *   gstdepthoverlay-draw.c    and drawn
 */
#ifndef GST_DEPTH_OVERLAY_H
#define GST_DEPTH_OVERLAY_H

#include <gst/base/gstaggregator.h>

#include "gst/overlay/text.h"
#include "gst/overlay/blend.h"
#include "gst/overlay/nearest.h"

G_BEGIN_DECLS

GST_DEBUG_CATEGORY_EXTERN (gst_depth_overlay_debug);

#define GST_TYPE_DEPTH_OVERLAY (gst_depth_overlay_get_type ())
G_DECLARE_FINAL_TYPE (GstDepthOverlay, gst_depth_overlay, GST, DEPTH_OVERLAY, GstAggregator)
GST_ELEMENT_REGISTER_DECLARE (depthoverlay);

#define GST_DEPTH_OVERLAY_TIME_NONE G_MININT64

/* The properties, as one frame takes them. */
typedef struct
{
  gdouble alpha, near, far, min_confidence, warn_distance, percentile;
  gdouble region[4];            /* x, y, width, height: fractions of the picture */
  guint64 max_age, message_interval;
  GstStereoColormap colormap;
  gboolean legend, text;
} GstDepthOverlaySettings;

/* What there is to show over a frame. */
typedef enum
{
  GST_DEPTH_OVERLAY_CURRENT,
  GST_DEPTH_OVERLAY_UNLINKED,   /* no sink_depth */
  GST_DEPTH_OVERLAY_WAITING,    /* none came yet */
  GST_DEPTH_OVERLAY_STALE,      /* older than max-age */
  GST_DEPTH_OVERLAY_ENDED
} GstDepthOverlayState;

/* The latest depth that is not newer than the frames so far. */
typedef struct
{
  GstBuffer *buffer;            /* NULL: none */
  GstVideoInfo info;
  gint64 time;                  /* running time, or GST_DEPTH_OVERLAY_TIME_NONE */
  guint serial;                 /* another for every buffer */
} GstDepthOverlayDepth;

typedef struct
{
  gboolean valid;               /* all below is known */
  gdouble value;                /* mm, or px when distances are not known */
  gdouble disparity;            /* px, or not-a-number */
  GstStereoNearest found;       /* in the depth picture */
  gint x, y;                    /* in the output */
} GstDepthOverlayNearest;

struct _GstDepthOverlay
{
  GstAggregator parent;

  GstAggregatorPad *live;       /* always there */

  /* protected by the object lock */
  GstAggregatorPad *depth;      /* request pad, not owned */
  GMutex depth_lock;            /* around what touches that pad's queue: it may be on its way out */
  GstDepthOverlaySettings settings;

  gint forget;                  /* atomic: sink_depth was flushed */
  gint failed;                  /* atomic: an error was posted that no frame can mend */

  /* of the source pad's task */
  GstVideoInfo live_info, depth_info;   /* of what is at the pads' heads */
  gboolean have_live_info, have_depth_info;
  GstDepthOverlayDepth held;
  gint64 gap_end;               /* no depth earlier than this will come */
  gboolean said_ended, said_unlinked, said_disparity, said_near_far;

  /* negotiation */
  GstVideoInfo view_info;       /* of the output */
  gint view_x, view_y;          /* in the live frame */
  gboolean have_view, negotiated, cropped;
  gboolean padded;              /* downstream takes rows as a GstVideoMeta says */
  guint view_depth_width, view_depth_height;    /* of the depth the view was chosen with; 0 = none */
  GstVideoInfo view_live_info;  /* it was chosen from */
  GstSegment segment;           /* of the source pad */
  gboolean have_segment;

  /* colours */
  GstStereoBlender *blender;
  GstStereoColormap blender_map;
  gdouble blender_alpha;
  gboolean have_colors;         /* for view_info */
  GstStereoScale scale;
  gboolean have_scale;
  guint8 *codes;                /* of all samples */

  /* nearest */
  GstStereoNearestFinder *finder;
  GstDepthOverlayNearest nearest;
  guint nearest_serial;         /* of the depth it was found in; 0 = none */
  GstDepthOverlaySettings nearest_settings;
  gboolean posted, posted_valid, posted_warning;        /* the last message */
  gint64 posted_time;

  GstDepthOverlayText *text;
};

/* gstdepthoverlay-pads.c */
void gst_depth_overlay_add_pads (GstDepthOverlay *self);
GstAggregatorPad *gst_depth_overlay_create_new_pad (GstAggregator *aggregator, GstPadTemplate *template,
    const gchar *name, const GstCaps *caps);
void gst_depth_overlay_release_pad (GstElement *element, GstPad *pad);
gboolean gst_depth_overlay_sink_event (GstAggregator *aggregator, GstAggregatorPad *pad, GstEvent *event);
gboolean gst_depth_overlay_sink_query (GstAggregator *aggregator, GstAggregatorPad *pad, GstQuery *query);
gboolean gst_depth_overlay_src_query (GstAggregator *aggregator, GstQuery *query);

/* gstdepthoverlay-caps.c: which part of the live frame is shown, and the output's caps. */
GstFlowReturn gst_depth_overlay_prepare (GstDepthOverlay *self);
GstFlowReturn gst_depth_overlay_update_src_caps (GstAggregator *aggregator, GstCaps *caps, GstCaps **result);
gboolean gst_depth_overlay_negotiated_src_caps (GstAggregator *aggregator, GstCaps *caps);
gboolean gst_depth_overlay_decide_allocation (GstAggregator *aggregator, GstQuery *query);
GstFlowReturn gst_depth_overlay_acquire (GstDepthOverlay *self, GstBuffer **output);
/* That the depth at hand fits the view; an error is posted otherwise. */
gboolean gst_depth_overlay_check_size (GstDepthOverlay *self);

/* gstdepthoverlay-sync.c */
GstFlowReturn gst_depth_overlay_aggregate (GstAggregator *aggregator, gboolean timeout);
GstClockTime gst_depth_overlay_next_time (GstAggregator *aggregator);
void gst_depth_overlay_forget (GstDepthOverlay *self);

/* gstdepthoverlay-frame.c: @live (transfer full) and the depth held, when @state is CURRENT. @time: running time. */
GstFlowReturn gst_depth_overlay_process (GstDepthOverlay *self, GstBuffer *live, const GstSegment *segment,
    gint64 time, GstDepthOverlayState state);

/* gstdepthoverlay-nearest.c: in the depth held, which is mapped at @depth. */
void gst_depth_overlay_find_nearest (GstDepthOverlay *self, const GstDepthOverlaySettings *settings,
    const GstStereoBlendDepth *depth);
/* Below warn-distance. */
gboolean gst_depth_overlay_warns (GstDepthOverlay *self, const GstDepthOverlaySettings *settings);
/* The message, when it is time. */
void gst_depth_overlay_post_nearest (GstDepthOverlay *self, const GstDepthOverlaySettings *settings,
    const GstSegment *segment, GstBuffer *live, gint64 time);

G_END_DECLS

#endif
