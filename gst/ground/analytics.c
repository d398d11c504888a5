/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/ground/analytics.h"

#ifdef HAVE_GST_ANALYTICS

#include <gst/analytics/analytics.h>

/* A meta that an element before this one made is shared: its objects stay. */
void
gst_stereo_ground_analytics_attach (GstBuffer *buffer, const GstStereoGroundReport *reports, guint count)
{
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta (buffer);
  GQuark type = g_quark_from_static_string (GST_STEREO_GROUND_OBSTACLE);

  if (count > 0 && !relations)
    relations = gst_buffer_add_analytics_relation_meta (buffer);
  for (guint i = 0; i < count; i++) {
    const GstStereoObstacle *one = &reports[i].obstacle;
    GstAnalyticsODMtd object;

    if (!gst_analytics_relation_meta_add_od_mtd (
            relations, type, one->x, one->y, one->width, one->height, (gfloat) one->probability, &object))
      GST_WARNING ("obstacle %u could not be added to the relation metadata", reports[i].id);
  }
}

#else

void
gst_stereo_ground_analytics_attach (GstBuffer *buffer, const GstStereoGroundReport *reports, guint count)
{
  (void) buffer;
  (void) reports;
  (void) count;
}

#endif
