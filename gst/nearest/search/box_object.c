/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/nearest/search/box_object.h"

#include "gst/nearest/search/grid.h"
#include "gst/nearest/search/rank_table.h"

#include <math.h>
#include <stdlib.h>

#define MOST_SAMPLES 4096   /* of a box: every pixel of a small one */
#define LEAST_COVERAGE 0.05 /* of the box */
#define ERROR 1.0           /* px of disparity to each side of the interval's middle: error of a matcher */
#define DEPTH 0.04          /* and the depth of an object, as a share of its distance */

typedef struct
{
  guint16 rank;
  guint8 confidence;
  gfloat weight;
} Sample;

struct _GstStereoBoxObjectFinder
{
  GstStereoRankTable table;
  Sample samples[MOST_SAMPLES];
  guint count;
};

GstStereoBoxObjectFinder *
gst_stereo_box_object_finder_new (void)
{
  return g_new0 (GstStereoBoxObjectFinder, 1);
}

void
gst_stereo_box_object_finder_free (GstStereoBoxObjectFinder *finder)
{
  g_free (finder);
}

/* 1 in the middle of a side of @size pixels, near 0 at its ends. */
static gfloat
weight_at (gint at, gint size)
{
  gfloat from_middle = fabsf ((gfloat) (2 * at + 1 - size)) / (gfloat) size;

  return 1 - from_middle * from_middle;
}

/* Reads every pixel of a small box that counts, and pixels in even steps of a large one. Returns how many were read, with
 * those that do not count. */
static guint
read_samples (GstStereoBoxObjectFinder *finder, const GstStereoDepthView *view)
{
  gint step = 1;
  guint visited = 0;

  while (((gint64) view->width + step - 1) / step * (((gint64) view->height + step - 1) / step) > MOST_SAMPLES)
    step++;
  finder->count = 0;
  for (gint y = step / 2; y < view->height; y += step)
    for (gint x = step / 2; x < view->width; x += step) {
      gint px = view->x + x, py = view->y + y;
      guint rank = gst_stereo_grid_rank (view, px, py, finder->table.smaller_is_nearer);

      visited++;
      if (rank)
        finder->samples[finder->count++] = (Sample){ (guint16) rank,
          view->confidence ? view->confidence[(gssize) py * view->confidence_stride + px] : 255,
          weight_at (x, view->width) * weight_at (y, view->height) };
    }
  return visited;
}

static int
compare (gconstpointer a, gconstpointer b)
{
  return (int) ((const Sample *) a)->rank - (int) ((const Sample *) b)->rank;
}

/* Length of the interval for an object at @nearness, in the same unit. */
static gfloat
interval_at (const GstStereoBoxObjectFinder *finder, gfloat nearness)
{
  gdouble disparity = nearness + finder->table.meaning.principal_offset;
  gboolean known = finder->table.meaning.kind != GST_STEREO_OUTPUT_KIND_DEPTH ||
      (finder->table.meaning.focal_length > 0 && finder->table.meaning.baseline > 0);

  return known ? (gfloat) (2 * (ERROR + DEPTH * MAX (0, disparity))) : 2;
}

/* The interval [*from, *to) of sorted samples with the largest weight. Of equal ones it is the nearer one. */
static gdouble
heaviest (const GstStereoBoxObjectFinder *finder, guint *from, guint *to)
{
  const gfloat *nearness = finder->table.nearness;
  gdouble weight = 0, best = -1;

  for (guint first = 0, end = 0; first < finder->count; first++) {
    gfloat begin = nearness[finder->samples[first].rank];

    while (end < finder->count && nearness[finder->samples[end].rank] - begin <= interval_at (finder, begin))
      weight += finder->samples[end++].weight;
    if (weight >= best) {
      best = weight;
      *from = first;
      *to = end;
    }
    weight -= finder->samples[first].weight;
  }
  return best;
}

/* The sample of an interval below which the samples add up to @weight. */
static guint
quantile (const GstStereoBoxObjectFinder *finder, guint from, guint to, gdouble weight)
{
  guint at = from;

  while (at + 1 < to && (weight -= finder->samples[at].weight) > 0)
    at++;
  return gst_stereo_rank_sample (finder->samples[at].rank, finder->table.smaller_is_nearer);
}

gboolean
gst_stereo_box_object_find (GstStereoBoxObjectFinder *finder, const GstStereoDepthView *view, GstStereoBoxObject *object)
{
  gdouble all = 0, confidence = 0, best;
  guint visited, from = 0, to = 0;

  *object = (GstStereoBoxObject){ 0 };
  gst_stereo_rank_table_make (&finder->table, view->meta, 1);
  visited = read_samples (finder, view);
  object->coverage = visited ? (gdouble) finder->count / visited : 0;
  if (!finder->count || object->coverage < LEAST_COVERAGE)
    return FALSE;
  qsort (finder->samples, finder->count, sizeof *finder->samples, compare);
  best = heaviest (finder, &from, &to);
  for (guint i = 0; i < finder->count; i++)
    all += finder->samples[i].weight;
  for (guint i = from; i < to; i++)
    confidence += finder->samples[i].confidence;
  object->support = CLAMP (best / all, 0, 1);
  object->confidence = confidence / (255.0 * (to - from));
  object->sample = quantile (finder, from, to, best / 2);
  object->far = quantile (finder, from, to, best / 6);
  object->near = quantile (finder, from, to, best * 5 / 6);
  return TRUE;
}
