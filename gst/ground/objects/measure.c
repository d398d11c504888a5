/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/ground/objects/measure.h"

#include <math.h>

#define MOST 512 /* samples that are measured: an object's are taken evenly */
#define LEAST 5
#define LEAST_PART 12    /* one in so many samples of a square of the smallest height */
#define TOP_QUANTILE 0.9 /* of the heights, that has to be as high as an obstacle */
#define FULL 0.9         /* of the smallest obstacle's height, that the top has to reach */
#define FRONT 0.95       /* quantile of the disparities at the front, */
#define DEEP 1.25f       /* px that belong to it, or */
#define DEEP_PART 0.03f  /* that part of the disparity */
#define EDGE 0.02        /* quantiles of the sides and the top: a few samples are wrong */
#define BORDER 4         /* px: at the border of an object, a matcher mixes its disparity with that of what is behind */
#define SIDE_PART 8      /* one in so many columns tells the distance of a side */

typedef struct
{
  guint count;
  gfloat d[MOST];   /* disparity */
  gfloat out[MOST]; /* of the ground, px */
  gfloat height[MOST];
  gfloat column[MOST], row[MOST];
  gdouble confidence; /* mean, 0..1 */
} Taken;

gfloat
gst_stereo_ground_quantile (gfloat *values, guint count, gdouble part)
{
  gint low = 0, high = (gint) count - 1, wanted = (gint) (part * (count - 1) + 0.5);

  /* Hoare's selection */
  while (low < high) {
    gfloat pivot = values[(low + high) / 2];
    gint i = low, j = high;

    while (i <= j) {
      while (values[i] < pivot)
        i++;
      while (values[j] > pivot)
        j--;
      if (i <= j) {
        gfloat swapped = values[i];
        values[i++] = values[j];
        values[j--] = swapped;
      }
    }
    if (wanted <= j)
      high = j;
    else if (wanted >= i)
      low = i;
    else
      break;
  }
  return values[wanted];
}

static void
take (const GstStereoGroundScene *scene, const GstStereoGroundSample *samples, guint count, Taken *taken)
{
  const GstStereoGroundGrid *grid = scene->grid;
  guint64 confidence = 0;

  taken->count = MIN (count, MOST);
  for (guint i = 0; i < taken->count; i++) {
    const GstStereoGroundSample *one = &samples[(guint64) i * count / taken->count];
    gsize place = gst_stereo_ground_grid_at (grid, one->column, one->row);
    gdouble x = gst_stereo_ground_grid_pixel (grid, one->column), y = gst_stereo_ground_grid_pixel (grid, one->row);
    gdouble d = grid->disparity[place], ground = gst_stereo_ground_scene_at (scene, x, y);

    taken->column[i] = (gfloat) one->column;
    taken->row[i] = (gfloat) one->row;
    taken->d[i] = (gfloat) d;
    taken->out[i] = (gfloat) (d - ground);
    taken->height[i] = (gfloat) gst_stereo_ground_scene_height (scene, d, ground);
    confidence += grid->confidence[place];
  }
  taken->confidence = (gdouble) confidence / 255 / taken->count;
}

/* The mean disparity of the nearest part. */
static gdouble
front_of (Taken *taken)
{
  gfloat near = gst_stereo_ground_quantile (taken->d, taken->count, FRONT), sum = 0;
  gfloat from = near - MAX (DEEP, DEEP_PART * near), to = near + MAX (DEEP, DEEP_PART * near);
  guint count = 0;

  for (guint i = 0; i < taken->count; i++)
    if (taken->d[i] >= from && taken->d[i] <= to) {
      sum += taken->d[i];
      count++;
    }
  return sum / (gfloat) count;
}

/* The box of the samples, down to the ground where the object stands on it. */
static void
frame (const GstStereoGroundScene *scene, Taken *taken, gdouble front, gboolean stands, GstStereoObstacle *obstacle)
{
  const GstStereoGroundGrid *grid = scene->grid;
  gint left = (gint) gst_stereo_ground_quantile (taken->column, taken->count, EDGE);
  gint right = (gint) gst_stereo_ground_quantile (taken->column, taken->count, 1 - EDGE);
  gint top = (gint) gst_stereo_ground_quantile (taken->row, taken->count, EDGE);
  gint bottom = (gint) gst_stereo_ground_quantile (taken->row, taken->count, 1 - EDGE);

  obstacle->x = left * grid->step;
  obstacle->y = top * grid->step;
  obstacle->width = MIN (grid->width, (right + 1) * grid->step) - obstacle->x;
  obstacle->height = MIN (grid->height, (bottom + 1) * grid->step) - obstacle->y;
  gdouble middle = obstacle->x + obstacle->width / 2.0;
  gdouble foot = (front - gst_stereo_ground_scene_at (scene, middle, 0)) / scene->plane.down;
  if (stands)
    obstacle->height = (gint) CLAMP (foot - obstacle->y, obstacle->height, grid->height - obstacle->y);
}

/* Where the object ends, mm to the right, at @x: a side of its box, from which the object goes @inwards. The distance is that of
 * the median disparity of the columns behind the border. A single sample may be far off, and the farthest would be the widest. */
static gdouble
side_of (const GstStereoGroundScene *scene, const GstStereoGroundSample *samples, guint count, gint x, gint inwards,
    const GstStereoObstacle *obstacle)
{
  const GstStereoGroundGrid *grid = scene->grid;
  gfloat d[MOST] = { 0 };
  guint taken = MIN (count, MOST), beside = 0;
  gint from = MIN (BORDER, obstacle->width / 3), to = from + MAX (grid->step, obstacle->width / SIDE_PART);

  for (guint i = 0; i < taken; i++) {
    const GstStereoGroundSample *one = &samples[(guint64) i * count / taken];
    gint inside = (gst_stereo_ground_grid_pixel (grid, one->column) - x) * inwards;

    if (inside >= from && inside <= to)
      d[beside++] = grid->disparity[gst_stereo_ground_grid_at (grid, one->column, one->row)];
  }
  gdouble distance = beside ? gst_stereo_ground_scene_distance (scene, gst_stereo_ground_quantile (d, beside, 0.5)) :
                              obstacle->distance;
  return (x - scene->camera.x) * distance / scene->camera.focal;
}

gboolean
gst_stereo_ground_measure (
    const GstStereoGroundScene *scene, const GstStereoGroundSample *samples, guint count, GstStereoObstacle *obstacle)
{
  gdouble least = scene->sizes.min_height, front, area, left, right;
  Taken taken;

  if (count < LEAST)
    return FALSE;
  gsize place = gst_stereo_ground_grid_at (scene->grid, samples->column, samples->row);
  area = gst_stereo_ground_scene_rows (scene, least, scene->grid->disparity[place]) / scene->grid->step;
  if (count < area * area / LEAST_PART)
    return FALSE;
  take (scene, samples, count, &taken);
  if (gst_stereo_ground_quantile (taken.height, taken.count, TOP_QUANTILE) < GST_STEREO_GROUND_TOP * least ||
      gst_stereo_ground_quantile (taken.out, taken.count, TOP_QUANTILE) < GST_STEREO_GROUND_OUT)
    return FALSE;
  front = front_of (&taken);
  frame (scene, &taken, front, gst_stereo_ground_quantile (taken.height, taken.count, EDGE) < least, obstacle);
  obstacle->distance = gst_stereo_ground_scene_distance (scene, front);
  left = side_of (scene, samples, count, obstacle->x, 1, obstacle);
  right = side_of (scene, samples, count, obstacle->x + obstacle->width, -1, obstacle);
  obstacle->lateral = (left + right) / 2;
  /* a wall along the road is about as far to the right at either end */
  obstacle->object_width = fabs (right - left);
  /* a sample stands for the pixels around it */
  obstacle->object_height = gst_stereo_ground_quantile (taken.height, taken.count, 1 - EDGE) +
      scene->grid->step / 2.0 * scene->camera.baseline / front;
  if (obstacle->object_height < FULL * least)
    return FALSE;
  /* a third of the pixels of a square of the smallest height is half sure */
  area = gst_stereo_ground_scene_rows (scene, least, front) / scene->grid->step;
  obstacle->probability = taken.confidence * count / (count + MAX (LEAST, area * area / 3));
  return TRUE;
}
