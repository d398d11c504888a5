/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The stereotestsrc element: what gststereoscene draws, in time. */
#ifndef GST_STEREO_TEST_SRC_H
#define GST_STEREO_TEST_SRC_H

#include <gst/base/gstpushsrc.h>

#include "gst/gststereopaint.h"

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

G_END_DECLS

#endif
