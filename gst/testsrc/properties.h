/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The properties of stereotestsrc. */
#ifndef GST_STEREO_TEST_PROPERTIES_H
#define GST_STEREO_TEST_PROPERTIES_H

#include "gst/testsrc/rig.h"
#include "gst/video/properties.h"

G_BEGIN_DECLS

/* What the pictures and their times depend on. */
typedef struct
{
  GstStereoSceneParams scene; /* but for the size, which is that of the caps */
  GstStereoRigParams rig;
  gint64 timestamp_offset; /* ns */
} GstStereoTestSettings;

/* Of GstStereoTestSettings. */
extern const GstStereoProperty gst_stereo_test_properties[];

/* The value's name: "planes". */
const gchar *gst_stereo_test_pattern_name (GstStereoPattern pattern);
const gchar *gst_stereo_test_fault_name (GstStereoTestFault fault);

G_END_DECLS

#endif
