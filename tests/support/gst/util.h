/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the tests of elements with two views share: synthetic pairs of known disparity in any format and layout, and a
 * harness with two sink pads.
 */
#ifndef ELEMENTS_UTIL_H
#define ELEMENTS_UTIL_H

#include <gst/video/video.h>

#include "gst/meta/gststereometa.h"
#include "tests/support/gst/common.h"

#define VIEW_WIDTH 44
#define VIEW_HEIGHT 20
#define SHIFT 5 /* the disparity of synthetic pairs, px */
#define FRAME (GST_SECOND / 25)

/* Exact integer disparities: no finish that could move them. */
#define EXACT \
  "num-disparities=12 window=5 refine-iterations=0 subpixel=0 median=0 fill=keep " \
  "consistency=-1 backend=cpu threads=1 "

/* For caps: the bits of GstVideoMultiviewFlags, exactly. */
#define MULTIVIEW_FLAGS(bits) "multiview-flags=(GstVideoMultiviewFlagsSet)" bits ":ffffffff"
#define NO_FLAGS MULTIVIEW_FLAGS ("0")
#define RIGHT_FIRST MULTIVIEW_FLAGS ("1")
#define LEFT_FLOPPED MULTIVIEW_FLAGS ("4")
#define RIGHT_FLIPPED MULTIVIEW_FLAGS ("8")
#define HALF_ASPECT MULTIVIEW_FLAGS ("4000")

/* A texture that repeats nowhere: left (x, y) = texture (x, y), right (x, y) = texture (x + SHIFT, y). */
guint8 texture (guint seed, gint x, gint y);

/* Rows of @padding bytes more than their samples need, with a GstVideoMeta that says so. */
GstBuffer *new_frame (const GstVideoInfo *info, gint padding);
/* One view, rows padded by @padding bytes (0: GStreamer's default rows and no GstVideoMeta). */
GstBuffer *make_view (GstVideoFormat format, gint width, gint height, guint seed, gint shift, gint padding);
/* Both views in one frame: "side-by-side", "top-bottom", "row-interleaved", "column-interleaved". */
GstBuffer *make_packed (
    GstVideoFormat format, const gchar *layout, gint width, gint height, guint seed, gboolean right_first);
GstBuffer *stamp (GstBuffer *buffer, GstClockTime pts, GstClockTime duration);
/* video/x-raw of that size at 25/1; @extra (may be NULL) is appended. */
gchar *make_caps (GstVideoFormat format, gint width, gint height, const gchar *extra);
/* make_caps() of the input. */
void harness_set_caps (GstHarness *harness, GstVideoFormat format, gint width, gint height, const gchar *extra);

/* A sample of a GRAY8, GRAY16_LE or GRAY16_BE picture. */
guint sample_at (GstBuffer *buffer, const GstVideoInfo *info, gint x, gint y);
/* That every sample away from the border is @expected; names the first that is not. */
void check_interior (GstBuffer *buffer, const GstVideoInfo *info, guint expected);

/* stereomatch with sink_left and sink_right, playing, its messages on @bus. */
typedef struct
{
  GstElement *element;
  GstHarness *left, *right; /* output is pulled from left */
  GstBus *bus;
} Pair;

Pair *pair_new (const gchar *properties);
/* Upstream is not live: a pad takes one frame, and the next frames wait for it. */
Pair *pair_new_not_live (const gchar *properties);
/* Another element with such pads. */
Pair *pair_new_of (const gchar *factory, const gchar *properties);
/* On both pads. */
void pair_caps (Pair *pair, const gchar *caps);
void pair_set_caps (Pair *pair, GstVideoFormat format, gint width, gint height, const gchar *extra);
/* GRAY8 views of the default size. */
Pair *pair_new_gray (const gchar *properties);
void pair_push (Pair *pair, GstClockTime left, GstClockTime right);
void pair_push_left (Pair *pair, GstClockTime pts);
void pair_push_right (Pair *pair, GstClockTime pts);
/* To both pads. */
void pair_push_event (Pair *pair, GstEvent *event);
/* Flushes both streams, which go on with @segment; NULL: they begin anew at 0. */
void pair_flush (Pair *pair, const GstSegment *segment);
/* Pulls one and checks its timestamp; unref it. */
GstBuffer *pair_pull (Pair *pair, GstClockTime pts);
/* Both: a pair that comes out, with the time of its left frame. */
void pair_pass (Pair *pair, GstClockTime left, GstClockTime right);
void pair_eos (Pair *pair, gboolean left, gboolean right);
/* Waits for end of stream downstream. */
void pair_wait_eos (Pair *pair);
/* Nothing more comes within a moment. */
void pair_expect_nothing (Pair *pair);
void pair_free (Pair *pair);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Pair, pair_free)

guint64 stat_of (GstElement *element, const gchar *name);
GstVideoInfo output_info (GstHarness *harness);

/* stereomatch with one sink pad of both views: filter_free(). */
GstHarness *packed_new (const gchar *properties, GstBus **bus);

#endif
