/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds the depth for a frame of the live view (gst/video/join.h), or the reason why there is none.
 *
 * Where the live frame or the depth has no timestamp, depth ages by the clock. Without a live view depth is alone: each depth
 * picture is a frame. Functions whose comment does not mention threads belong to the source pad's task.
 */
#ifndef GST_DEPTH_OVERLAY_SYNC_H
#define GST_DEPTH_OVERLAY_SYNC_H

#include "gst/video/join.h"

G_BEGIN_DECLS

typedef struct _GstDepthOverlaySync GstDepthOverlaySync;

/* The state of the depth for a frame. */
typedef enum
{
  GST_DEPTH_OVERLAY_CURRENT,
  GST_DEPTH_OVERLAY_UNLINKED, /* there is no sink_depth */
  GST_DEPTH_OVERLAY_WAITING,  /* no depth came yet */
  GST_DEPTH_OVERLAY_STALE,    /* it is older than allowed */
  GST_DEPTH_OVERLAY_ENDED
} GstDepthOverlayState;

/* A live frame and the state of its depth; or depth alone. */
typedef struct
{
  GstStereoJoinFrame live; /* the depth, where depth is alone */
  gboolean alone;
  GstDepthOverlayState state; /* CURRENT: gst_stereo_join_held() */
} GstDepthOverlayFrame;

/* @owner: the element; @join: of the live view and its depth. Both must outlive it. */
GstDepthOverlaySync *gst_depth_overlay_sync_new (GstElement *owner, GstStereoJoin *join);
void gst_depth_overlay_sync_free (GstDepthOverlaySync *sync);
void gst_depth_overlay_sync_reset (GstDepthOverlaySync *sync);

/* From any thread: there is no live view, now or later, until the reset. */
void gst_depth_overlay_sync_set_alone (GstDepthOverlaySync *sync);
gboolean gst_depth_overlay_sync_is_alone (GstDepthOverlaySync *sync);

/* Takes the next live frame off its pad, or the next depth when depth is alone. @timeout: stop waiting for its depth.
 * @max_age, ns: older depth is stale. */
GstFlowReturn gst_depth_overlay_sync_next (
    GstDepthOverlaySync *sync, gboolean timeout, guint64 max_age, GstDepthOverlayFrame *frame);
/* With a live source: the running time at which to stop waiting for the depth of the next frame; GST_CLOCK_TIME_NONE
 * when there is no frame. */
GstClockTime gst_depth_overlay_sync_deadline (GstDepthOverlaySync *sync);

G_END_DECLS

#endif
