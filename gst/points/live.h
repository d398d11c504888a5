/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The live view that gives points their colour: which of its frames goes with a depth picture, and where in it a pixel's
 * colour is. It is the latest frame whose running time is not later than the picture's: that of the same pair, unless it
 * was dropped. Functions without a word on threads belong to the source pad's task.
 */
#ifndef GST_STEREO_POINTS_LIVE_H
#define GST_STEREO_POINTS_LIVE_H

#include <gst/base/gstaggregator.h>

#include "gst/points/cloud.h"

G_BEGIN_DECLS

#define GST_STEREO_POINTS_NO_TIME G_MININT64

typedef struct _GstStereoPointsLive GstStereoPointsLive;

typedef enum
{
  GST_STEREO_POINTS_LIVE_FOUND, /* the frame that goes with the picture, or that there is none */
  GST_STEREO_POINTS_LIVE_WAIT,  /* it may still come */
  GST_STEREO_POINTS_LIVE_FAILED /* after an error was posted */
} GstStereoPointsLook;

GstStereoPointsLive *gst_stereo_points_live_new (GstElement *owner);
void gst_stereo_points_live_free (GstStereoPointsLive *live);

/* From any thread. FALSE where there is such a pad already. */
gboolean gst_stereo_points_live_add_pad (GstStereoPointsLive *live, GstAggregatorPad *pad);
void gst_stereo_points_live_remove_pad (GstStereoPointsLive *live, GstAggregatorPad *pad);

/* FALSE after an error was posted. */
gboolean gst_stereo_points_live_set_caps (GstStereoPointsLive *live, GstCaps *caps);
/* Forgets the frame. */
void gst_stereo_points_live_flush (GstStereoPointsLive *live);
/* Forgets the frame, the caps, and what was said. */
void gst_stereo_points_live_reset (GstStereoPointsLive *live);

/* A running time; it may be negative. */
gint64 gst_stereo_points_running_time (GstAggregatorPad *pad, GstBuffer *buffer);
/* Looks for the frame of a depth picture of that running time. @timeout: it has waited long enough. */
GstStereoPointsLook gst_stereo_points_live_find (GstStereoPointsLive *live, gint64 time, gboolean timeout);
/* Maps the frame that was found. @color is zeroed where there is none. FALSE after an error was posted. */
gboolean gst_stereo_points_live_map (
    GstStereoPointsLive *live, guint depth_width, guint depth_height, GstStereoPointsColor *color);
/* Whether mapped or not. */
void gst_stereo_points_live_unmap (GstStereoPointsLive *live);

G_END_DECLS

#endif
