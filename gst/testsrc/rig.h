/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The two cameras of a scene, and their faults. A view goes through these steps: offset or roll of the right camera; a lens
 * that is blurred, covered, dirty or of another focal length; exposure; noise of the sensor. Faults of a camera do not change
 * the true disparity.
 */
#ifndef GST_STEREO_RIG_H
#define GST_STEREO_RIG_H

#include "gst/testsrc/scene.h"

G_BEGIN_DECLS

typedef enum
{
  GST_STEREO_TEST_FAULT_NONE,
  GST_STEREO_TEST_FAULT_FROZEN,
  GST_STEREO_TEST_FAULT_BLACK,
  GST_STEREO_TEST_FAULT_BLOWN_OUT,
  GST_STEREO_TEST_FAULT_DARK,
  GST_STEREO_TEST_FAULT_BLURRED,
  GST_STEREO_TEST_FAULT_COVERED,
  GST_STEREO_TEST_FAULT_SAME_VIEW,
  GST_STEREO_TEST_FAULT_LATE,
  GST_STEREO_TEST_FAULT_TORN,
  GST_STEREO_TEST_FAULT_HALF_FROZEN,
  GST_STEREO_TEST_FAULT_ZOOMED,
  GST_STEREO_TEST_FAULT_STILL_PATTERN
} GstStereoTestFault;

typedef enum
{
  GST_STEREO_TEST_FAULT_VIEW_LEFT,
  GST_STEREO_TEST_FAULT_VIEW_RIGHT,
  GST_STEREO_TEST_FAULT_VIEW_BOTH
} GstStereoTestFaultView;

#define GST_STEREO_RIG_MAX_OFFSET 100
#define GST_STEREO_RIG_MAX_GAIN 16
#define GST_STEREO_RIG_MAX_ROLL 5

typedef struct
{
  gdouble vertical_offset; /* of the right view, pixels down; steps of 1/256 */
  gdouble right_gain;      /* factor of the right view's grey levels */
  GstStereoTestFault fault;
  GstStereoTestFaultView fault_view;
  gdouble roll; /* of the right view, degrees clockwise about its middle */
} GstStereoRigParams;

typedef struct _GstStereoRig GstStereoRig;

/* The scene must outlive the cameras. Starts at frame 0. */
GstStereoRig *gst_stereo_rig_new (GstStereoScene *scene, const GstStereoRigParams *params);
void gst_stereo_rig_free (GstStereoRig *rig);
/* Makes @frame the frame of the scene too. */
void gst_stereo_rig_set_frame (GstStereoRig *rig, guint64 frame);
/* Row @y of a view of that frame, as gst_stereo_scene_row() gives it, with faults and noise. */
void gst_stereo_rig_row (GstStereoRig *rig, gboolean right, gint y, guint8 *level, guint8 *layer);

G_END_DECLS

#endif
