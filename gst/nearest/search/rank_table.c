/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/nearest/search/rank_table.h"

#include <math.h>
#include <string.h>

#define BESIDE 1.0 /* px */
#define SLOPE 0.5  /* px of disparity per pixel */
#define ALIKE 0.5  /* px */
#define ALIKE_PART 0.015
#define AROUND 6        /* limit of `around`, in limits of `alike` */
#define PIXEL_PART 0.06 /* of a distance, where disparities are not known */

/* How near a sample is, in pixels of disparity, or in steps of PIXEL_PART. */
static gdouble
nearness_of (const GstStereoMeta *meta, guint sample)
{
  gdouble disparity = gst_stereo_meta_get_disparity (meta, sample);

  return isnan (disparity) ? log ((gdouble) GST_STEREO_RANKS / sample) / PIXEL_PART : disparity;
}

/* By how much less than @nearness still counts as equally near, in the same unit. */
static gdouble
alike_below (const GstStereoMeta *meta, gdouble nearness)
{
  if (isnan (gst_stereo_meta_get_disparity (meta, 1)))
    return ALIKE_PART / PIXEL_PART;
  return MIN (ALIKE, ALIKE_PART * MAX (0, nearness + meta->principal_offset));
}

void
gst_stereo_rank_table_make (GstStereoRankTable *table, const GstStereoMeta *meta, gint pitch)
{
  guint ranks = meta->kind == GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE ? 256 : GST_STEREO_RANKS;
  gboolean smaller = meta->kind == GST_STEREO_OUTPUT_KIND_DEPTH;
  gdouble beside_below = BESIDE + SLOPE * pitch;
  guint beside = 1, alike = 1, around = 1;
  GstStereoSampleMeaning meaning;

  gst_stereo_sample_meaning_init (&meaning, meta);
  if (table->made && table->pitch == pitch && memcmp (&meaning, &table->meaning, sizeof meaning) == 0)
    return;
  memset (table, 0, sizeof *table);
  table->meaning = meaning;
  table->pitch = pitch;
  table->made = TRUE;
  table->smaller_is_nearer = smaller;
  table->ranks = ranks;
  for (guint rank = 1; rank < ranks; rank++)
    table->nearness[rank] = (gfloat) nearness_of (meta, gst_stereo_rank_sample (rank, smaller));
  for (guint rank = 1; rank < ranks; rank++) {
    const gfloat *nearness = table->nearness;
    gdouble below = alike_below (meta, nearness[rank]);

    while (beside < rank && nearness[beside] < nearness[rank] - beside_below)
      beside++;
    while (alike < rank && nearness[alike] < nearness[rank] - below)
      alike++;
    while (around < rank && nearness[around] < nearness[rank] - AROUND * below)
      around++;
    /* neighbouring values of coarse samples may differ by more */
    table->beside[rank] = (guint16) MIN (beside, MAX (1, rank - 1));
    table->alike[rank] = (guint16) alike;
    table->around[rank] = (guint16) around;
  }
}

guint
gst_stereo_rank_table_closest (const GstStereoRankTable *table, gdouble nearness)
{
  guint low = 1, high = table->ranks - 1;

  while (high - low > 1) {
    guint middle = (low + high) / 2;

    if (table->nearness[middle] < nearness)
      low = middle;
    else
      high = middle;
  }
  return nearness - table->nearness[low] <= table->nearness[high] - nearness ? low : high;
}
