/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/nearest/search/reach.h"

#include <math.h>
#include <string.h>

#define BESIDE 1.0 /* px */
#define SLOPE 0.5  /* px of disparity per pixel */
#define ALIKE 0.5  /* px */
#define ALIKE_PART 0.015
#define AROUND 6        /* times as much */
#define PIXEL_PART 0.06 /* of a distance, where disparities are not known */

/* How near a sample is, in pixels of disparity, or in steps of PIXEL_PART. */
static gdouble
nearness_of (const GstStereoMeta *meta, guint sample)
{
  gdouble disparity = gst_stereo_meta_get_disparity (meta, sample);

  return isnan (disparity) ? log ((gdouble) GST_STEREO_RANKS / sample) / PIXEL_PART : disparity;
}

/* How far below @nearness something is as near, in the same unit. */
static gdouble
alike_below (const GstStereoMeta *meta, gdouble nearness)
{
  if (isnan (gst_stereo_meta_get_disparity (meta, 1)))
    return ALIKE_PART / PIXEL_PART;
  return MIN (ALIKE, ALIKE_PART * MAX (0, nearness + meta->principal_offset));
}

/* All bytes are set, so that two keys can be compared with memcmp(). */
static void
init_key (GstStereoReachKey *key, const GstStereoMeta *meta, gint pitch)
{
  memset (key, 0, sizeof *key);
  key->kind = meta->kind;
  key->disparity_scale = meta->disparity_scale;
  key->min_disparity = meta->min_disparity;
  key->focal_length = meta->focal_length;
  key->baseline = meta->baseline;
  key->principal_offset = meta->principal_offset;
  key->depth_unit = meta->depth_unit;
  key->pitch = pitch;
}

void
gst_stereo_reach_make (GstStereoReach *reach, const GstStereoMeta *meta, gint pitch)
{
  guint ranks = meta->kind == GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE ? 256 : GST_STEREO_RANKS;
  gboolean smaller = meta->kind == GST_STEREO_OUTPUT_KIND_DEPTH;
  gdouble beside_below = BESIDE + SLOPE * pitch;
  guint beside = 1, alike = 1, around = 1;
  GstStereoReachKey key;

  init_key (&key, meta, pitch);
  if (reach->made && memcmp (&key, &reach->key, sizeof key) == 0)
    return;
  memset (reach, 0, sizeof *reach);
  reach->key = key;
  reach->made = TRUE;
  reach->smaller_is_nearer = smaller;
  reach->ranks = ranks;
  for (guint rank = 1; rank < ranks; rank++)
    reach->nearness[rank] = (gfloat) nearness_of (meta, gst_stereo_reach_sample (rank, smaller));
  for (guint rank = 1; rank < ranks; rank++) {
    const gfloat *nearness = reach->nearness;
    gdouble below = alike_below (meta, nearness[rank]);

    while (beside < rank && nearness[beside] < nearness[rank] - beside_below)
      beside++;
    while (alike < rank && nearness[alike] < nearness[rank] - below)
      alike++;
    while (around < rank && nearness[around] < nearness[rank] - AROUND * below)
      around++;
    /* coarse samples may be more than that apart */
    reach->beside[rank] = (guint16) MIN (beside, MAX (1, rank - 1));
    reach->alike[rank] = (guint16) alike;
    reach->around[rank] = (guint16) around;
  }
}

guint
gst_stereo_reach_closest (const GstStereoReach *reach, gdouble nearness)
{
  guint low = 1, high = reach->ranks - 1;

  while (high - low > 1) {
    guint middle = (low + high) / 2;

    if (reach->nearness[middle] < nearness)
      low = middle;
    else
      high = middle;
  }
  return nearness - reach->nearness[low] <= reach->nearness[high] - nearness ? low : high;
}
