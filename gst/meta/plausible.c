/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/meta/plausible.h"

#define AT(member) .name = #member, .offset = G_STRUCT_OFFSET (GstStereoMeta, member)

/* Principal points have no property: calibrations put them far outside of some pictures. */
const GstStereoMetaRange gst_stereo_meta_ranges[] = { { AT (disparity_scale), .min = 1e-3, .max = 65535 },
  { AT (min_disparity), .min = -1024, .max = 1024 }, { AT (num_disparities), .min = 0, .max = 1024 },
  { AT (focal_length), .min = 0, .max = 1e6 }, { AT (baseline), .min = 0, .max = 1e6 },
  { AT (principal_offset), .min = -1e5, .max = 1e5 }, { AT (depth_unit), .min = 1e-3, .max = 1e6 },
  { AT (valid_ratio), .min = 0, .max = 1 }, { AT (mean_confidence), .min = 0, .max = 1 },
  { AT (principal_x), .min = -1e6, .max = 1e6 }, { AT (principal_y), .min = -1e6, .max = 1e6 },
  { AT (focal_length_y), .min = 0, .max = 1e6 }, { NULL } };

gchar *
gst_stereo_meta_problem (const GstStereoMeta *meta)
{
  if (meta->width < 1 || meta->height < 1 || meta->width > GST_STEREO_MAX_SIDE || meta->height > GST_STEREO_MAX_SIDE)
    return g_strdup_printf (
        "its picture is %ux%u, and the range of a side is 1 to %u", meta->width, meta->height, GST_STEREO_MAX_SIDE);
  if ((guint) meta->kind > GST_STEREO_OUTPUT_KIND_VIEWS)
    return g_strdup_printf ("kind is %d, which there is not", (gint) meta->kind);
  for (const GstStereoMetaRange *range = gst_stereo_meta_ranges; range->name; range++) {
    gdouble value = G_STRUCT_MEMBER (gdouble, meta, range->offset);
    /* not-a-number is in no range */
    if (!(value >= range->min && value <= range->max))
      return g_strdup_printf ("%s is %g, and its range is %g to %g", range->name, value, range->min, range->max);
  }
  return NULL;
}
