/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The stereotestsrc element. Its parts, of which none knows the element:
 *   timeline    which frame comes next, and when
 *   pictures    the scene in the negotiated format: scene (what there is to see), tile (its texture), rig and noise
 *               (what the cameras make of it), paint (formats)
 *   caps        what is preferred where downstream leaves the choice
 *   properties  all that the pictures depend on
 */
#ifndef GST_STEREO_TEST_SRC_H
#define GST_STEREO_TEST_SRC_H

#include <gst/base/gstpushsrc.h>

G_BEGIN_DECLS

#define GST_TYPE_STEREO_TEST_SRC (gst_stereo_test_src_get_type ())
G_DECLARE_FINAL_TYPE (GstStereoTestSrc, gst_stereo_test_src, GST, STEREO_TEST_SRC, GstPushSrc)
GST_ELEMENT_REGISTER_DECLARE (stereotestsrc);

G_END_DECLS

#endif
