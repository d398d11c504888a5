/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The stereotestsrc element: what gststereoscene draws, in time.
 *   gststereotestsrc.c       properties, time, frames
 *   gststereotestsrc-caps.c  what one caps and property set needs
 */
#ifndef GST_STEREO_TEST_SRC_H
#define GST_STEREO_TEST_SRC_H

#include <gst/base/gstpushsrc.h>

#include "gst/testsrc/paint.h"

G_BEGIN_DECLS

#define GST_TYPE_STEREO_TEST_PATTERN (gst_stereo_test_pattern_get_type ())
GType gst_stereo_test_pattern_get_type (void);

#define GST_TYPE_STEREO_TEST_SRC (gst_stereo_test_src_get_type ())
G_DECLARE_FINAL_TYPE (GstStereoTestSrc, gst_stereo_test_src, GST, STEREO_TEST_SRC, GstPushSrc)
GST_ELEMENT_REGISTER_DECLARE (stereotestsrc);

struct _GstStereoTestSrc
{
  GstPushSrc parent;

  /* protected by the object lock */
  GstStereoSceneParams settings;        /* the size is of no meaning here */
  guint serial;                 /* of settings */
  gint64 timestamp_offset;
  GstVideoInfo info;

  /* of the streaming thread */
  GstStereoLayout layout;
  GstStereoScene *scene;
  GstStereoPainter *painter;
  guint scene_serial;
  GstVideoInfo truth_info;
  GstBufferPool *truth_pool;
  gint64 frames;                /* of this segment and caps */
  gint64 frames_before;         /* of the caps before */
  GstClockTime time_before;
  gboolean backwards;
};

/* gststereotestsrc.c: when frame @frame of these caps begins. */
GstClockTime gst_stereo_test_src_time_of (const GstStereoTestSrc *self, gint64 frame);
/* The next frame is the one at @position. */
void gst_stereo_test_src_go_to (GstStereoTestSrc *self, GstClockTime position);

/* gststereotestsrc-caps.c */
GstCaps *gst_stereo_test_src_fixate (GstBaseSrc *base, GstCaps *caps);
gboolean gst_stereo_test_src_set_caps (GstBaseSrc *base, GstCaps *caps);
gboolean gst_stereo_test_src_decide_allocation (GstBaseSrc *base, GstQuery *query);
/* A scene of the negotiated size with the properties as they are now. FALSE after an error was posted. */
gboolean gst_stereo_test_src_make_scene (GstStereoTestSrc *self);
/* Nothing of the caps is left. */
void gst_stereo_test_src_release (GstStereoTestSrc *self);

G_END_DECLS

#endif
