/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/nearest/search/thing.h"

#include "gst/nearest/search/grid.h"
#include "gst/nearest/search/reach.h"

#include <math.h>
#include <stdlib.h>

#define MOST_SAMPLES 4096   /* of a box: every pixel of a small one */
#define LEAST_COVERAGE 0.05 /* of the box */
#define ERROR 1.0           /* px of disparity, to each side of the interval's middle: what a matcher errs by, */
#define DEPTH 0.04          /* and how deep things are, as a share of their distance */

typedef struct
{
  guint16 rank;
  guint8 confidence;
  gfloat weight;
} Sample;

struct _GstStereoThingFinder
{
  GstStereoReach reach;
  Sample samples[MOST_SAMPLES];
  guint count;
};

GstStereoThingFinder *
gst_stereo_thing_finder_new (void)
{
  return g_new0 (GstStereoThingFinder, 1);
}

void
gst_stereo_thing_finder_free (GstStereoThingFinder *finder)
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

/* Reads every pixel of the box that counts, or of a large one some in even steps. Returns how many it looked at. */
static guint
read_samples (GstStereoThingFinder *finder, const GstStereoDepthView *view)
{
  gint step = 1;
  guint looked = 0;

  while (((gint64) view->width + step - 1) / step * (((gint64) view->height + step - 1) / step) > MOST_SAMPLES)
    step++;
  finder->count = 0;
  for (gint y = step / 2; y < view->height; y += step)
    for (gint x = step / 2; x < view->width; x += step) {
      gint px = view->x + x, py = view->y + y;
      guint rank = gst_stereo_grid_rank (view, px, py, finder->reach.smaller_is_nearer);

      looked++;
      if (rank)
        finder->samples[finder->count++] = (Sample){ (guint16) rank,
          view->confidence ? view->confidence[(gssize) py * view->confidence_stride + px] : 255,
          weight_at (x, view->width) * weight_at (y, view->height) };
    }
  return looked;
}

static int
compare (gconstpointer a, gconstpointer b)
{
  return (int) ((const Sample *) a)->rank - (int) ((const Sample *) b)->rank;
}

/* How far apart the nearest and the farthest pixels of a thing at @nearness may be, in its unit. */
static gfloat
interval_at (const GstStereoThingFinder *finder, gfloat nearness)
{
  gdouble disparity = nearness + finder->reach.key.principal_offset;
  gboolean known = finder->reach.key.kind != GST_STEREO_OUTPUT_KIND_DEPTH ||
      (finder->reach.key.focal_length > 0 && finder->reach.key.baseline > 0);

  return known ? (gfloat) (2 * (ERROR + DEPTH * MAX (0, disparity))) : 2;
}

/* The interval of sorted samples that has most of the weight: [*from, *to). Of equal ones the nearer. */
static gdouble
heaviest (const GstStereoThingFinder *finder, guint *from, guint *to)
{
  const gfloat *nearness = finder->reach.nearness;
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

/* The sample below which there is that share of the weight in an interval. */
static guint
quantile (const GstStereoThingFinder *finder, guint from, guint to, gdouble weight)
{
  guint at = from;

  while (at + 1 < to && (weight -= finder->samples[at].weight) > 0)
    at++;
  return gst_stereo_reach_sample (finder->samples[at].rank, finder->reach.smaller_is_nearer);
}

gboolean
gst_stereo_thing_find (GstStereoThingFinder *finder, const GstStereoDepthView *view, GstStereoThing *thing)
{
  gdouble all = 0, confidence = 0, best;
  guint looked, from = 0, to = 0;

  *thing = (GstStereoThing){ 0 };
  gst_stereo_reach_make (&finder->reach, view->meta, 1);
  looked = read_samples (finder, view);
  thing->coverage = looked ? (gdouble) finder->count / looked : 0;
  if (!finder->count || thing->coverage < LEAST_COVERAGE)
    return FALSE;
  qsort (finder->samples, finder->count, sizeof *finder->samples, compare);
  best = heaviest (finder, &from, &to);
  for (guint i = 0; i < finder->count; i++)
    all += finder->samples[i].weight;
  for (guint i = from; i < to; i++)
    confidence += finder->samples[i].confidence;
  thing->support = CLAMP (best / all, 0, 1);
  thing->confidence = confidence / (255.0 * (to - from));
  thing->sample = quantile (finder, from, to, best / 2);
  thing->far = quantile (finder, from, to, best / 6);
  thing->near = quantile (finder, from, to, best * 5 / 6);
  return TRUE;
}
