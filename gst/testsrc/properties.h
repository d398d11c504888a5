/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The properties of stereotestsrc that its pictures and their times depend on. */
#ifndef GST_STEREO_TEST_PROPERTIES_H
#define GST_STEREO_TEST_PROPERTIES_H

#include <gst/gst.h>

#include "gst/testsrc/rig.h"

G_BEGIN_DECLS

typedef struct
{
  GstStereoSceneParams scene; /* but for the size, which is that of the caps */
  GstStereoRigParams rig;
  gint64 timestamp_offset; /* ns */
} GstStereoTestSettings;

/* Their defaults. */
void gst_stereo_test_settings_init (GstStereoTestSettings *settings);

/* Installs them; their numbers begin with @first. */
void gst_stereo_test_properties_install (GObjectClass *klass, guint first);
/* FALSE where there is no such property; @id counts from 0. */
gboolean gst_stereo_test_properties_set (GstStereoTestSettings *settings, guint id, const GValue *value);
gboolean gst_stereo_test_properties_get (const GstStereoTestSettings *settings, guint id, GValue *value);

/* The value's name: "planes". */
const gchar *gst_stereo_test_pattern_name (GstStereoPattern pattern);
const gchar *gst_stereo_test_fault_name (GstStereoTestFault fault);

GType gst_stereo_test_pattern_get_type (void);
GType gst_stereo_test_fault_get_type (void);
GType gst_stereo_test_fault_view_get_type (void);
#define GST_TYPE_STEREO_TEST_PATTERN (gst_stereo_test_pattern_get_type ())
#define GST_TYPE_STEREO_TEST_FAULT (gst_stereo_test_fault_get_type ())
#define GST_TYPE_STEREO_TEST_FAULT_VIEW (gst_stereo_test_fault_view_get_type ())

G_END_DECLS

#endif
