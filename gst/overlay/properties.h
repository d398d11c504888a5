/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The properties of depthoverlay. A new one is a member, a row of the table, and its use in show.c. */
#ifndef GST_DEPTH_OVERLAY_PROPERTIES_H
#define GST_DEPTH_OVERLAY_PROPERTIES_H

#include "gst/nearest/report.h"
#include "gst/video/properties.h"

G_BEGIN_DECLS

typedef struct
{
  gdouble alpha, min_confidence;
  gdouble near, far;                /* mm; 0 = as the metadata says */
  GstStereoNearestSettings nearest; /* where the depth does not come from stereonearest */
  guint64 max_age;
  gint colormap; /* GstStereoColormap */
  gint curve;    /* GstStereoCurve */
  gboolean legend, text;
} GstDepthOverlaySettings;

extern const GstStereoProperty gst_depth_overlay_properties[];

G_END_DECLS

#endif
