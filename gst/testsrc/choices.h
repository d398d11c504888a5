/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names and texts of enumerations that are properties. */
#ifndef GST_STEREO_TEST_CHOICES_H
#define GST_STEREO_TEST_CHOICES_H

#include <glib-object.h>

G_BEGIN_DECLS

extern const GEnumValue gst_stereo_test_patterns[];    /* GstStereoPattern */
extern const GEnumValue gst_stereo_test_faults[];      /* GstStereoTestFault */
extern const GEnumValue gst_stereo_test_fault_views[]; /* GstStereoTestFaultView */

G_END_DECLS

#endif
