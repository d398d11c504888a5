/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the tests of depthoverlay share: frames of random contents, depth with metadata, a harness with both pads. */
#ifndef ELEMENTS_OVERLAY_H
#define ELEMENTS_OVERLAY_H

#include <gst/video/video.h>

#include "gst/meta/gststereometa.h"
#include "tests/support/gst/common.h"
#include "tests/support/random.h"

#define TICK (GST_SECOND / 30)

/* Rows padded by up to @padding pixels more than GStreamer's own, with a GstVideoMeta; 0: without. */
GstBuffer *random_frame (Random *random, const GstVideoInfo *info, guint padding);
/* All bytes are @value. */
GstBuffer *plain_frame (const GstVideoInfo *info, guint8 value);

/* A depth picture: millimetres as GRAY16, everything @sample and confidence 255; focal length 100 px, baseline 100 mm,
 * 64 steps per pixel of disparity, search range 0..63. */
GstBuffer *new_depth (gint width, gint height, GstStereoOutputKind kind, guint sample);
/* Its samples, mapped one at a time. */
void set_depth (GstBuffer *depth, gint x, gint y, guint sample);
void set_confidence (GstBuffer *depth, gint x, gint y, guint8 confidence);
void fill_depth (GstBuffer *depth, gint x, gint y, gint width, gint height, guint sample);

/* Adds the meta of stereoground: its plane is a row of 10 px of disparity at row 0, and @count columns are free as said. */
GstStructure *add_ground (GstBuffer *depth, gboolean valid, const gdouble *free, guint count);

typedef struct
{
  GstElement *element;
  GstHarness *live, *depth; /* output is pulled from live; depth may be NULL */
  GstBus *bus;
  GQueue messages;   /* read from the bus, not looked at yet */
  GstVideoInfo info; /* of the live view */
} Overlay;

/* Not live; @depth_format NULL: without sink_depth. @properties: "key=value key=value" */
Overlay *overlay_new (const gchar *properties, GstVideoFormat format, gint width, gint height,
    const gchar *depth_format, gint depth_width, gint depth_height);
void overlay_live_caps (Overlay *overlay, GstVideoFormat format, gint width, gint height, const gchar *extra);
void overlay_depth_caps (Overlay *overlay, const gchar *format, gint width, gint height);
void overlay_free (Overlay *overlay);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Overlay, overlay_free)

void overlay_push_live (Overlay *overlay, GstBuffer *buffer, GstClockTime pts);
void overlay_push_depth (Overlay *overlay, GstBuffer *buffer, GstClockTime pts);
/* Checks the timestamp; unref it. */
GstBuffer *overlay_pull (Overlay *overlay, GstClockTime pts);
/* What becomes of a live frame and its depth, both of that time, which are taken; unref it. */
GstBuffer *overlay_show (Overlay *overlay, GstBuffer *depth, GstBuffer *live, GstClockTime pts);
void overlay_eos (Overlay *overlay, gboolean live, gboolean depth);
void overlay_wait_eos (Overlay *overlay);

/* Waits for one, whose text has all the words. */
void overlay_expect (Overlay *overlay, GstMessageType type, ...) G_GNUC_NULL_TERMINATED;
void overlay_expect_none (Overlay *overlay, GstMessageType type);
/* The next stereo-nearest there is, or NULL (a frame's is posted before the frame comes out);
 * gst_structure_free() it. */
GstStructure *overlay_nearest (Overlay *overlay);

#endif
