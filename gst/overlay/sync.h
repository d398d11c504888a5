/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which depth goes with a frame of the live view: the two sink pads, their caps and queues.
 *
 * A live frame goes with the latest depth whose running time is not later than its own. Where one of the two has no
 * timestamp, the order of arrival decides, and depth ages by the clock. Without a live view depth is
 * alone: each depth picture is a frame. Functions without a word on threads belong to the source pad's task.
 */
#ifndef GST_DEPTH_OVERLAY_SYNC_H
#define GST_DEPTH_OVERLAY_SYNC_H

#include <gst/base/gstaggregator.h>
#include <gst/video/video.h>

G_BEGIN_DECLS

#define GST_DEPTH_OVERLAY_TIME_NONE G_MININT64

typedef struct _GstDepthOverlaySync GstDepthOverlaySync;

/* What there is to show over a frame. */
typedef enum
{
  GST_DEPTH_OVERLAY_CURRENT,
  GST_DEPTH_OVERLAY_UNLINKED, /* there is no sink_depth */
  GST_DEPTH_OVERLAY_WAITING,  /* no depth came yet */
  GST_DEPTH_OVERLAY_STALE,    /* it is older than allowed */
  GST_DEPTH_OVERLAY_ENDED
} GstDepthOverlayState;

/* The latest depth that is not newer than the frames so far. */
typedef struct
{
  GstBuffer *buffer; /* NULL: none */
  GstVideoInfo info;
  gint64 time;          /* running time, or GST_DEPTH_OVERLAY_TIME_NONE */
  GstClockTime arrival; /* running time by the clock when it was taken; GST_CLOCK_TIME_NONE without a clock */
  guint serial;         /* another one for every buffer, never 0 */
} GstDepthOverlayDepth;

/* A live frame, and what there is to show over it; or depth alone. */
typedef struct
{
  GstBuffer *buffer; /* of depth alone: the depth */
  gboolean alone;
  gboolean gap; /* the live view has nothing at that time: the buffer is empty */
  GstSegment segment;
  gint64 time;                /* running time, or GST_DEPTH_OVERLAY_TIME_NONE */
  GstDepthOverlayState state; /* CURRENT: gst_depth_overlay_sync_depth() */
} GstDepthOverlayFrame;

typedef enum
{
  GST_DEPTH_OVERLAY_SYNC_FRAME, /* here is the next frame */
  GST_DEPTH_OVERLAY_SYNC_WAIT,  /* a frame, or the depth that goes with it, may still come */
  GST_DEPTH_OVERLAY_SYNC_EOS,   /* the live view ended */
  GST_DEPTH_OVERLAY_SYNC_FAILED /* after an error was posted */
} GstDepthOverlaySyncResult;

/* @owner: the element, which owns the pads and this; @live: its pad for the live view. */
GstDepthOverlaySync *gst_depth_overlay_sync_new (GstElement *owner, GstAggregatorPad *live);
void gst_depth_overlay_sync_free (GstDepthOverlaySync *sync);

/* From any thread. FALSE when there is a depth pad already. */
gboolean gst_depth_overlay_sync_add_depth_pad (GstDepthOverlaySync *sync, GstAggregatorPad *pad);
void gst_depth_overlay_sync_remove_depth_pad (GstDepthOverlaySync *sync, GstAggregatorPad *pad);
gboolean gst_depth_overlay_sync_has_depth_pad (GstDepthOverlaySync *sync);
/* From any thread: the depth that is held is forgotten before the next frame. */
void gst_depth_overlay_sync_request_forget (GstDepthOverlaySync *sync);

/* From any thread: there is no live view, now or later, until the reset. */
void gst_depth_overlay_sync_set_alone (GstDepthOverlaySync *sync);
gboolean gst_depth_overlay_sync_is_alone (GstDepthOverlaySync *sync);

/* Forgets the depth: after a flush. */
void gst_depth_overlay_sync_forget (GstDepthOverlaySync *sync);
/* Forgets everything but the pads. */
void gst_depth_overlay_sync_reset (GstDepthOverlaySync *sync);
/* What comes on @pad from now on. FALSE after an error was posted. */
gboolean gst_depth_overlay_sync_set_caps (GstDepthOverlaySync *sync, GstAggregatorPad *pad, GstCaps *caps);
/* How long a live frame lasts, ns; 0 = not known. */
GstClockTime gst_depth_overlay_sync_frame_time (const GstDepthOverlaySync *sync);
/* Of the live frames. NULL before there were caps. */
const GstVideoInfo *gst_depth_overlay_sync_live_info (const GstDepthOverlaySync *sync);

/* Takes the next live frame off its pad, or the next depth when depth is alone. @timeout: stop waiting for its depth. @max_age, ns: older depth is stale. The
 * caller unrefs the frame's buffer; once upstream has let go of it, that is the only reference. */
GstDepthOverlaySyncResult gst_depth_overlay_sync_next (
    GstDepthOverlaySync *sync, gboolean timeout, guint64 max_age, GstDepthOverlayFrame *frame);
/* With a live source: the running time at which to stop waiting for the depth of the next frame; GST_CLOCK_TIME_NONE
 * when there is no frame. */
GstClockTime gst_depth_overlay_sync_deadline (GstDepthOverlaySync *sync);
/* The depth that is held, valid until the next call of gst_depth_overlay_sync_next(). */
const GstDepthOverlayDepth *gst_depth_overlay_sync_depth (const GstDepthOverlaySync *sync);

G_END_DECLS

#endif
