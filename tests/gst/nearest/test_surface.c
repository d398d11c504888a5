/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The search for the nearest surface: pure logic, compared with slow plain twins. */
#include <math.h>

#include "gst/nearest/search.h"
#include "tests/support/random.h"
#include "tests/support/gst/suite.h"

#define SCALE 64 /* of disparities */
#define MOST_DISPARITY 128

static Random random_state;

static gint
random_in (gint low, gint high)
{
  return random_range (&random_state, low, high);
}

/* ---- the twin: flood fill at every threshold, sorting, no tables ---------------------------- */

#define NAIVE_MOST 64

typedef struct
{
  gboolean found;
  gdouble coverage;
  guint count; /* of surfaces that reach the threshold at once */
  struct
  {
    gdouble nearness; /* px */
    guint64 samples;  /* of its cells */
  } surfaces[NAIVE_MOST];
} NaiveSurface;

typedef struct
{
  const GstStereoDepthView *view;
  gint step, side, columns, rows;
  gint *ranks, *counts, *labels; /* per cell */
} Cells;

static guint
sample_of (const GstStereoDepthView *view, gint x, gint y)
{
  const guint8 *row = view->samples + y * view->stride;

  if (view->confidence && view->confidence[y * view->confidence_stride + x] < view->min_confidence)
    return 0;
  return view->wide ? GST_READ_UINT16_LE (row + 2 * x) : row[x];
}

static gboolean
is_excluded (const GstStereoDepthView *view, gint x, gint y)
{
  return view->mask && view->mask[y * view->mask_stride + x] == 0;
}

static gint
rank_of (const GstStereoDepthView *view, guint sample)
{
  return sample && view->meta->kind == GST_STEREO_OUTPUT_KIND_DEPTH ? 65536 - (gint) sample : (gint) sample;
}

/* Pixels of disparity; or, where that is not known, steps of 6 % of the distance. */
static gdouble
nearness_of (const GstStereoDepthView *view, gint rank)
{
  guint sample = (guint) (view->meta->kind == GST_STEREO_OUTPUT_KIND_DEPTH ? 65536 - rank : rank);
  gdouble disparity = gst_stereo_meta_get_disparity (view->meta, sample);

  return isnan (disparity) ? log (65536.0 / sample) / 0.06 : disparity;
}

/* Whether a farther pixel lies beside a nearer one on a surface. */
static gboolean
is_beside (const Cells *cells, gint near, gint far)
{
  gdouble most = 1 + 0.5 * (cells->step * cells->side);

  return near - far <= 1 || nearness_of (cells->view, far) >= nearness_of (cells->view, near) - most;
}

/* Whether a farther pixel is nearly as near: @times that by which a slanted surface may be said to be as near. */
static gboolean
is_alike (const Cells *cells, gint near, gint far, gint times)
{
  gboolean known = !isnan (gst_stereo_meta_get_disparity (cells->view->meta, 1));
  gdouble nearness = nearness_of (cells->view, near);
  gdouble most = known ? MIN (0.5, 0.015 * MAX (0, nearness + cells->view->meta->principal_offset)) : 0.25;

  return far >= near || nearness_of (cells->view, far) >= nearness - times * most;
}

static gint
compare (gconstpointer a, gconstpointer b)
{
  return *(const gint *) b - *(const gint *) a;
}

/* The ranks of a cell's samples, the nearest first; those that are not seen or excluded are 0. Returns how many there
 * are, and adds to @counting those that are not excluded. */
static gint
read_cell (const Cells *cells, gint column, gint row, gint ranks[9], guint64 *counting)
{
  const GstStereoDepthView *view = cells->view;
  gint count = 0;

  for (gint j = row * cells->side; j < (row + 1) * cells->side; j++)
    for (gint i = column * cells->side; i < (column + 1) * cells->side; i++)
      if (i * cells->step < view->width && j * cells->step < view->height) {
        gint x = view->x + i * cells->step, y = view->y + j * cells->step;

        ranks[count++] = is_excluded (view, x, y) ? 0 : rank_of (view, sample_of (view, x, y));
        *counting += !is_excluded (view, x, y);
      }
  qsort (ranks, (gsize) count, sizeof *ranks, compare);
  return count;
}

static gdouble
read_cells (Cells *cells)
{
  guint64 seen = 0, counting = 0;

  for (gint row = 0; row < cells->rows; row++)
    for (gint column = 0; column < cells->columns; column++) {
      gint ranks[9], at = row * cells->columns + column, count = read_cell (cells, column, row, ranks, &counting);

      cells->ranks[at] = count >= cells->side ? ranks[cells->side - 1] : 0;
      cells->counts[at] = 0;
      for (gint i = 0; i < count; i++) {
        seen += ranks[i] > 0;
        cells->counts[at] += ranks[i] > 0 &&
            (ranks[i] >= cells->ranks[at] || is_beside (cells, cells->ranks[at], ranks[i]));
      }
    }
  return counting ? (gdouble) seen / (gdouble) counting : 0;
}

/* Labels all cells of at least @threshold that are connected with @start. Returns their samples. */
static guint64
fill (Cells *cells, gint start, gint threshold, gint label)
{
  GArray *todo = g_array_new (FALSE, FALSE, sizeof (gint));
  guint64 samples = 0;

  g_array_append_val (todo, start);
  cells->labels[start] = label;
  while (todo->len > 0) {
    gint at = g_array_index (todo, gint, todo->len - 1), row = at / cells->columns, column = at % cells->columns;

    g_array_set_size (todo, todo->len - 1);
    samples += (guint64) cells->counts[at];
    for (gint j = MAX (row - 1, 0); j <= MIN (row + 1, cells->rows - 1); j++)
      for (gint i = MAX (column - 1, 0); i <= MIN (column + 1, cells->columns - 1); i++) {
        gint other = j * cells->columns + i, a = cells->ranks[at], b = cells->ranks[other];

        if (b == 0 || b < threshold || cells->labels[other] == label || !is_beside (cells, MAX (a, b), MIN (a, b)))
          continue;
        cells->labels[other] = label;
        g_array_append_val (todo, other);
      }
  }
  g_array_free (todo, TRUE);
  return samples;
}

/* A cell of each part that is connected at @threshold and has enough samples. Returns how many there are. */
static guint
parts_at (Cells *cells, gint threshold, guint64 needed, gint starts[NAIVE_MOST])
{
  gint count = cells->columns * cells->rows, label = 0;
  guint found = 0;

  memset (cells->labels, 0, (gsize) count * sizeof *cells->labels);
  for (gint at = 0; at < count; at++)
    if (cells->ranks[at] >= threshold && cells->labels[at] == 0 && fill (cells, at, threshold, ++label) >= needed &&
        found < NAIVE_MOST)
      starts[found++] = at;
  return found;
}

/* Solves three linear equations. FALSE where they say the same. */
static gboolean
solve (gdouble rows[3][4])
{
  for (gint i = 0; i < 3; i++) {
    gint best = i;

    for (gint k = i + 1; k < 3; k++)
      if (fabs (rows[k][i]) > fabs (rows[best][i]))
        best = k;
    if (fabs (rows[best][i]) < 1e-9)
      return FALSE;
    for (gint c = 0; c < 4; c++) {
      gdouble value = rows[i][c];
      rows[i][c] = rows[best][c];
      rows[best][c] = value;
    }
    for (gint k = 0; k < 3; k++)
      for (gint c = 3; k != i && c >= i; c--)
        rows[k][c] -= rows[i][c] * rows[k][i] / rows[i][i];
  }
  for (gint i = 0; i < 3; i++)
    rows[i][3] /= rows[i][i];
  return TRUE;
}

/* Nearness at the place: of a plane through the points (x, y, nearness), or their mean where they lie on a line. The points of a
 * square of 16 pixels together bear witness once, of half a pixel, against a slope to the right of a twentieth. */
static gdouble
fit (const GArray *points, gint pitch)
{
  const gdouble (*p)[3] = (gpointer) points->data;
  gdouble mean[3] = { 0 }, xx = 0, xy = 0, yy = 0, rows[3][4] = { { 0 } };
  guint n = points->len / 3;

  for (guint i = 0; i < n; i++)
    for (gint k = 0; k < 3; k++)
      mean[k] += p[i][k] / n;
  for (guint i = 0; i < n; i++) {
    const gdouble terms[3] = { 1, p[i][0], p[i][1] };

    xx += (p[i][0] - mean[0]) * (p[i][0] - mean[0]) / n;
    xy += (p[i][0] - mean[0]) * (p[i][1] - mean[1]) / n;
    yy += (p[i][1] - mean[1]) * (p[i][1] - mean[1]) / n;
    for (gint k = 0; k < 9; k++)
      rows[k / 3][k % 3] += terms[k / 3] * terms[k % 3];
    for (gint k = 0; k < 3; k++)
      rows[k][3] += terms[k] * p[i][2];
  }
  rows[1][1] += 100.0 * (16 * 16) / (pitch * pitch);
  if (xx < 1 || yy < 1 || xy * xy >= 0.99 * xx * yy || !solve (rows))
    return mean[2];
  return rows[0][3];
}

/* The whole surface that @start is part of, and how near it is at @x, @y. */
static void
add_surface (NaiveSurface *naive, Cells *cells, gint start, gint threshold, guint64 needed, gint x, gint y)
{
  gint most = (gint) ceil (2 * sqrt ((gdouble) needed)) * cells->step, pitch = cells->step * cells->side;
  GArray *points = g_array_new (FALSE, FALSE, sizeof (gdouble));
  const GstStereoDepthView *view = cells->view;

  memset (cells->labels, 0, (gsize) (cells->columns * cells->rows) * sizeof *cells->labels);
  naive->surfaces[naive->count].samples = fill (cells, start, 1, 1);
  for (gint row = 0; row < cells->rows; row++)
    for (gint column = 0; column < cells->columns; column++) {
      gint at = row * cells->columns + column, rank;
      gint left = view->x + column * pitch + cells->side / 2 * cells->step;
      gint top = view->y + row * pitch + cells->side / 2 * cells->step;
      gdouble point[3] = { left - x, top - y, 0 };

      if (cells->labels[at] != 1 || left >= view->x + view->width || top >= view->y + view->height ||
          fabs (point[0]) > most || fabs (point[1]) > most || is_excluded (view, left, top))
        continue;
      rank = rank_of (view, sample_of (view, left, top));
      point[2] = rank ? nearness_of (view, rank) : 0;
      if (rank && is_alike (cells, threshold, cells->ranks[at], 6) && is_alike (cells, threshold, rank, 6) &&
          is_alike (cells, rank, threshold, 6))
        g_array_append_vals (points, point, 3);
    }
  naive->surfaces[naive->count].nearness = points->len ? fit (points, pitch) : nearness_of (view, threshold);
  naive->count++;
  g_array_free (points, TRUE);
}

/* A surface among the samples that lie @step pixels apart, with cells of @side by @side; a surface has @needed samples. How near it is
 * is asked for at @x, @y. */
static void
naive_surface_find (
    NaiveSurface *naive, const GstStereoDepthView *view, gint step, gint side, guint64 needed, gint x, gint y)
{
  gint pitch = step * side, columns = (view->width + pitch - 1) / pitch, rows = (view->height + pitch - 1) / pitch;
  gint starts[NAIVE_MOST], low = 0, high = 65536;
  Cells cells = { view, step, side, columns, rows, g_new (gint, columns * rows), g_new (gint, columns * rows),
    g_new (gint, columns * rows) };

  memset (naive, 0, sizeof *naive);
  naive->coverage = read_cells (&cells);
  /* what is connected at a threshold is so at a smaller one */
  while (high - low > 1) {
    gint middle = (low + high) / 2;

    if (parts_at (&cells, middle, needed, starts) > 0)
      low = middle;
    else
      high = middle;
  }
  naive->found = low > 0;
  guint count = naive->found ? parts_at (&cells, low, needed, starts) : 0;
  for (guint i = 0; i < count; i++)
    add_surface (naive, &cells, starts[i], low, needed, x, y);
  g_free (cells.ranks);
  g_free (cells.counts);
  g_free (cells.labels);
}

/* Nearness of a sample, in pixels of disparity or what takes their place. */
static gdouble
naive_surface_nearness (const GstStereoDepthView *view, guint sample)
{
  return nearness_of (view, rank_of (view, sample));
}

/* ---- pictures ---------------------------------------------------------------------------- */

/* A picture in memory of its own, exactly as large as its padded rows. */
typedef struct
{
  GstBuffer *buffer; /* has the meta */
  GstStereoMeta *meta;
  guint8 *samples, *confidence, *mask; /* mask: NULL = none */
  GstStereoDepthView view;
} Picture;

static Picture
picture_new (gint width, gint height, GstStereoOutputKind kind)
{
  gboolean wide = kind != GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE;
  gint stride = width * (wide ? 2 : 1) + random_in (0, 9), confidence_stride = width + random_in (0, 9);
  Picture picture = { .buffer = gst_buffer_new () };

  picture.meta = gst_buffer_add_stereo_meta (picture.buffer, (guint) width, (guint) height, NULL);
  picture.meta->kind = kind;
  picture.meta->disparity_scale = wide ? SCALE : 254.0 / (MOST_DISPARITY - 1);
  picture.meta->num_disparities = MOST_DISPARITY;
  picture.meta->focal_length = 700;
  picture.meta->baseline = 120;
  picture.samples = g_malloc0 ((gsize) (stride * height));
  picture.confidence = g_malloc ((gsize) (confidence_stride * height));
  memset (picture.confidence, 255, (gsize) (confidence_stride * height));
  picture.view = (GstStereoDepthView){ .samples = picture.samples,
    .stride = stride,
    .wide = wide,
    .confidence = picture.confidence,
    .confidence_stride = confidence_stride,
    .width = width,
    .height = height,
    .meta = picture.meta };
  return picture;
}

static void
picture_free (Picture *picture)
{
  gst_buffer_unref (picture->buffer);
  g_free (picture->samples);
  g_free (picture->confidence);
  g_free (picture->mask);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Picture, picture_free)

/* From here on every pixel of @picture counts that is not excluded later. */
static void
add_mask (Picture *picture)
{
  GstStereoDepthView *view = &picture->view;

  view->mask_stride = view->width + random_in (0, 9);
  picture->mask = g_malloc ((gsize) (view->mask_stride * view->height));
  memset (picture->mask, 255, (gsize) (view->mask_stride * view->height));
  view->mask = picture->mask;
}

static void
exclude (Picture *picture, gint left, gint top, gint width, gint height)
{
  for (gint y = top; y < top + height; y++)
    memset (picture->mask + y * picture->view.mask_stride + left, 0, (gsize) width);
}

/* Excludes a box, everything, or pixels anywhere, whose samples stay as they are. */
static void
exclude_anything (Picture *picture)
{
  gint width = picture->view.width, height = picture->view.height, kind = random_in (0, 7);
  gint x = random_in (0, width - 1), y = random_in (0, height - 1);

  add_mask (picture);
  if (kind == 0)
    exclude (picture, 0, 0, width, height);
  else if (kind < 5)
    exclude (picture, x, y, random_in (1, width - x), random_in (1, height - y));
  else
    for (gint i = 0; i < picture->view.mask_stride * height; i++)
      picture->mask[i] = random_in (0, 1) ? 0 : 255;
}

static void
set_sample (Picture *picture, gint x, gint y, guint sample)
{
  guint8 *row = picture->samples + y * picture->view.stride;

  if (picture->view.wide)
    GST_WRITE_UINT16_LE (row + 2 * x, sample);
  else
    row[x] = (guint8) sample;
}

/* @disparity: pixels */
static void
set_disparity (Picture *picture, gint x, gint y, gdouble disparity)
{
  gdouble sample;

  disparity = CLAMP (disparity, 0.5, MOST_DISPARITY - 1);
  if (picture->meta->kind == GST_STEREO_OUTPUT_KIND_DEPTH)
    sample = picture->meta->focal_length * picture->meta->baseline / disparity;
  else if (picture->meta->kind == GST_STEREO_OUTPUT_KIND_DISPARITY)
    sample = disparity * SCALE;
  else
    sample = 1 + disparity * picture->meta->disparity_scale;
  set_sample (picture, x, y, (guint) CLAMP (round (sample), 1, picture->view.wide ? 65535 : 255));
}

static gboolean
find (const Picture *picture, gdouble percentage, GstStereoNearestFound *nearest)
{
  g_autoptr (GstStereoNearestFinder) finder = gst_stereo_nearest_finder_new ();

  return gst_stereo_nearest_find (finder, &picture->view, percentage, nearest);
}

/* ---- the same grid: equal ---------------------------------------------------------------- */

/* No other sample is closer to @nearness. */
static gboolean
is_closest (const GstStereoDepthView *view, guint sample, gdouble nearness)
{
  guint most = view->meta->kind == GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE ? 255 : 65535;
  gdouble off = fabs (naive_surface_nearness (view, sample) - nearness), slack = 1e-6 * (1 + fabs (nearness));

  return (sample == 1 || off <= fabs (naive_surface_nearness (view, sample - 1) - nearness) + slack) &&
      (sample == most || off <= fabs (naive_surface_nearness (view, sample + 1) - nearness) + slack);
}

static void
check_like_naive (
    const GstStereoDepthView *view, gdouble percentage, const GstStereoNearestFound *nearest, gboolean found)
{
  guint64 pixels = (guint64) view->width * (guint64) view->height, samples;
  gint width = view->x + view->width;
  GstStereoGrid grid = { 0 };
  gboolean like = FALSE;
  NaiveSurface naive;

  gst_stereo_grid_shape (&grid, view->width, view->height, percentage);
  samples = (guint64) grid.across * (guint64) grid.down;
  fail_unless (grid.needed >= 1 && (gdouble) grid.needed >= (gdouble) samples * percentage / 100 - 1e-6);
  naive_surface_find (&naive, view, grid.step, grid.side, grid.needed, nearest->x, nearest->y);
  fail_unless_equals_float (nearest->coverage, naive.coverage);
  fail_unless_equals_int (found, naive.found);
  /* where several surfaces reach the threshold at once, each is the nearest */
  for (guint i = 0; i < naive.count; i++)
    like = like ||
        (is_closest (view, nearest->sample, naive.surfaces[i].nearness) &&
            nearest->support == naive.surfaces[i].samples * pixels / samples);
  fail_unless (like || !found,
      "%g px, support %" G_GUINT64_FORMAT "; the first of %u naive ones: %g px, %" G_GUINT64_FORMAT,
      naive_surface_nearness (view, nearest->sample), nearest->support, naive.count, naive.surfaces[0].nearness,
      naive.surfaces[0].samples);
  if (found) {
    fail_unless (nearest->x >= view->x && nearest->x < width);
    fail_unless (nearest->y >= view->y && nearest->y < view->y + view->height);
    fail_unless (nearest->confidence >= view->min_confidence / 255.0 - 1e-9 && nearest->confidence <= 1);
  } else {
    fail_unless_equals_uint64 (nearest->support, 0);
  }
  gst_stereo_grid_clear (&grid);
}

/* Slopes, steps, noise and holes, or bytes of no sense. */
static void
paint_anything (Picture *picture, gint width, gint height)
{
  gint noise = random_in (0, 3), holes = random_in (0, 2) * 15, kind = random_in (0, 3);
  gdouble dx = random_unit (&random_state) - 0.5, dy = random_unit (&random_state) - 0.5;

  for (gint y = 0; y < height; y++)
    for (gint x = 0; x < width; x++) {
      gdouble disparity = 30 + dx * x + dy * y + 12 * ((x / 17 + y / 13) % 3);

      if (random_in (0, 99) < holes)
        continue;
      if (kind == 0)
        set_sample (picture, x, y, random_next (&random_state) & (picture->view.wide ? 65535 : 255));
      else if (kind == 1)
        set_sample (picture, x, y, random_next (&random_state) & 3);
      else
        set_disparity (picture, x, y, disparity + noise * (random_unit (&random_state) - 0.5));
    }
}

static void
check_random (GstStereoNearestFinder *finder, gint width, gint height)
{
  static const GstStereoOutputKind kinds[] = { GST_STEREO_OUTPUT_KIND_DISPARITY, GST_STEREO_OUTPUT_KIND_DEPTH,
    GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE };
  g_auto (Picture) picture = picture_new (width, height, kinds[random_in (0, 2)]);
  gdouble percentage = random_in (0, 3) ? random_unit (&random_state) * 10 : random_unit (&random_state) * 100;
  GstStereoDepthView *view = &picture.view;
  GstStereoNearestFound nearest;

  if (random_in (0, 3) == 0)
    picture.meta->focal_length = 0;
  picture.meta->principal_offset = random_in (-5, 5);
  paint_anything (&picture, width, height);
  for (gint i = 0; i < view->confidence_stride * height; i++)
    picture.confidence[i] = (guint8) random_next (&random_state);
  if (random_in (0, 2) == 0)
    view->confidence = NULL;
  else
    view->min_confidence = (guint) random_in (0, random_in (0, 3) ? 40 : 255);
  if (random_in (0, 1))
    exclude_anything (&picture);
  view->x = random_in (0, width / 2);
  view->y = random_in (0, height / 2);
  view->width = random_in (1, width - view->x);
  view->height = random_in (1, height - view->y);
  gboolean found = gst_stereo_nearest_find (finder, view, percentage, &nearest);
  check_like_naive (view, percentage, &nearest, found);
}

/* One finder: nothing remains of the picture before. */
TEST (test_like_the_naive_twin)
{
  g_autoptr (GstStereoNearestFinder) finder = gst_stereo_nearest_finder_new ();

  for (gint i = 0; i < random_count ("STEREO_TEST_COUNT", 200); i++)
    check_random (finder, random_in (1, 90), random_in (1, 120));
}

/* Large enough that rows and columns are skipped. */
TEST_LOOP (test_like_the_naive_twin_when_large, 0, 2)
{
  g_autoptr (GstStereoNearestFinder) finder = gst_stereo_nearest_finder_new ();
  g_auto (Picture) picture = picture_new (1021, 577, GST_STEREO_OUTPUT_KIND_DISPARITY);
  GstStereoNearestFound nearest;

  paint_anything (&picture, 1021, 577);
  if (__i__)
    exclude_anything (&picture);
  gboolean found = gst_stereo_nearest_find (finder, &picture.view, 0.5, &nearest);
  check_like_naive (&picture.view, 0.5, &nearest, found);
}

/* ---- scenes: every obstacle is found, and nothing else ----------------------------------- */

#define PERCENTAGE 0.5
#define FAR_MOST 12.0 /* px of disparity, of the background */
#define SLOTS 5       /* across and down */
#define GAP 7         /* pixels; more than two cells */

typedef struct
{
  gint x, y, width, height;
  gdouble disparity, slope; /* in its middle; px per pixel to the right */
} Obstacle;

static gdouble
noise_of (gdouble most)
{
  return most * (random_unit (&random_state) + random_unit (&random_state) - 1);
}

/* A slope far away, with noise, holes and wrong pixels, in a part of the picture. @holes: percent */
static void
paint_background (Picture *picture, gint left, gint top, gint right, gint bottom, gint holes)
{
  for (gint y = MAX (top, 0); y < MIN (bottom, picture->view.height); y++)
    for (gint x = MAX (left, 0); x < MIN (right, picture->view.width); x++) {
      gint chance = random_in (0, 99);

      if (chance < 3)
        set_disparity (picture, x, y, random_unit (&random_state) * MOST_DISPARITY);
      else if (chance < 3 + holes)
        set_sample (picture, x, y, 0);
      else
        set_disparity (picture, x, y, 5 + (FAR_MOST - 6) * y / picture->view.height + noise_of (0.5));
    }
}

/* Wrong surfaces, which do not touch one another, of up to half the pixels that count. */
static void
paint_blobs (Picture *picture)
{
  gint across = picture->view.width / SLOTS, down = picture->view.height / SLOTS;
  gint most = (gint) sqrt (picture->view.width * picture->view.height * PERCENTAGE / 100 / 2);

  for (gint i = 0; i < SLOTS * SLOTS; i++) {
    gint width = random_in (1, MIN (most, across - GAP)), height = random_in (1, MIN (most, down - GAP));
    gint left = i % SLOTS * across + 3, top = i / SLOTS * down + 3;
    gdouble disparity = 20 + random_unit (&random_state) * 100;

    for (gint y = top; y < top + height; y++)
      for (gint x = left; x < left + width; x++)
        set_disparity (picture, x, y, disparity + noise_of (0.3));
  }
}

/* On background, so that no wrong surface touches it. */
static void
paint_obstacle (Picture *picture, const Obstacle *obstacle, gint holes)
{
  paint_background (picture, obstacle->x - GAP, obstacle->y - GAP, obstacle->x + obstacle->width + GAP,
      obstacle->y + obstacle->height + GAP, 10);
  for (gint y = obstacle->y; y < obstacle->y + obstacle->height; y++)
    for (gint x = obstacle->x; x < obstacle->x + obstacle->width; x++) {
      gdouble away = x - obstacle->x - (obstacle->width - 1) / 2.0;

      if (random_in (0, 99) < holes)
        set_sample (picture, x, y, 0);
      else
        set_disparity (picture, x, y, obstacle->disparity + obstacle->slope * away + noise_of (0.5));
    }
}

/* @times: how many times the pixels of the smallest surface it has */
static Obstacle
random_obstacle (gint width, gint height, gdouble times)
{
  gdouble pixels = width * height * PERCENTAGE / 100 * times, shape = exp (noise_of (1));
  Obstacle obstacle = { .width = CLAMP ((gint) (sqrt (pixels) * shape), 8, width - 1) };

  obstacle.height = CLAMP ((gint) ceil (pixels / obstacle.width), 8, height - 1);
  obstacle.x = random_in (0, width - obstacle.width);
  obstacle.y = random_in (0, height - obstacle.height);
  /* also its far end is nearer than the background by more than neighbours on a surface differ */
  obstacle.disparity = 35 + random_unit (&random_state) * 65;
  obstacle.slope = random_in (0, 1) ? 0 : noise_of (0.2);
  return obstacle;
}

/* Millimetres, or what is in their place: a disparity's reciprocal. */
static gdouble
distance_of (const Picture *picture, guint sample)
{
  gdouble depth = gst_stereo_meta_get_depth (picture->meta, sample);

  return isnan (depth) ? 1 / gst_stereo_meta_get_disparity (picture->meta, sample) : depth;
}

static void
check_obstacle (const Picture *picture, const Obstacle *obstacle, gint holes, const GstStereoNearestFound *nearest)
{
  gdouble distance = distance_of (picture, nearest->sample), true_distance = 700 * 120 / obstacle->disparity;
  gdouble seen = (gdouble) obstacle->width * obstacle->height * (1 - holes / 100.0);

  fail_unless (nearest->x >= obstacle->x && nearest->x < obstacle->x + obstacle->width && nearest->y >= obstacle->y &&
          nearest->y < obstacle->y + obstacle->height,
      "at %d,%d", nearest->x, nearest->y);
  /* cells at its edges are some other's, or its own */
  fail_unless ((gdouble) nearest->support >= 0.7 * seen && (gdouble) nearest->support <= 1.2 * seen,
      "support %" G_GUINT64_FORMAT " of %g", nearest->support, seen);
  if (obstacle->slope == 0)
    fail_unless (fabs (distance / true_distance - 1) < 0.02, "%g mm, truly %g", distance, true_distance);
}

TEST (test_obstacles)
{
  for (gint i = 0; i < random_count ("STEREO_TEST_COUNT", 12); i++) {
    gint width = random_in (150, 300), height = random_in (120, 240), holes = i % 3 * 20;
    g_auto (Picture) picture = picture_new (
        width, height, i % 2 ? GST_STEREO_OUTPUT_KIND_DISPARITY : GST_STEREO_OUTPUT_KIND_DEPTH);
    gdouble least = PERCENTAGE / 100 * width * height;
    Obstacle obstacle = random_obstacle (width, height, 1.6 / (1 - holes / 100.0) + random_unit (&random_state) * 20);
    GstStereoNearestFound nearest;

    paint_background (&picture, 0, 0, width, height, 10);
    paint_blobs (&picture);
    /* no obstacle yet: the nearest surface is that of the background, not a wrong one */
    fail_unless (find (&picture, PERCENTAGE, &nearest));
    fail_unless (distance_of (&picture, nearest.sample) > 700 * 120 / (FAR_MOST + 1), "%g mm: a false alarm",
        distance_of (&picture, nearest.sample));
    fail_unless (nearest.support > least && nearest.coverage > 0.85 && nearest.coverage < 0.98);
    paint_obstacle (&picture, &obstacle, holes);
    fail_unless (find (&picture, PERCENTAGE, &nearest));
    check_obstacle (&picture, &obstacle, holes, &nearest);
  }
}

/* A post two pixels wide has a third of every cell that it crosses, wherever it stands. */
TEST (test_thin_posts)
{
  for (gint i = 0; i < 12; i++) {
    g_auto (Picture) picture = picture_new (641, 479, GST_STEREO_OUTPUT_KIND_DISPARITY);
    gint x = random_in (0, 639);
    GstStereoNearestFound nearest;

    for (gint y = 0; y < 479; y++)
      for (gint k = 0; k < 641; k++)
        set_disparity (&picture, k, y, k == x || k == x + 1 ? 40 : 8);
    fail_unless (find (&picture, 0.2, &nearest));
    fail_unless_equals_int (nearest.sample, 40 * SCALE);
    fail_unless (nearest.x == x || nearest.x == x + 1, "at %d", nearest.x);
    fail_unless (nearest.support > 700 && nearest.support < 1200, "support %" G_GUINT64_FORMAT, nearest.support);
    /* a post of half the height is too small */
    for (gint y = 240; y < 479; y++) {
      set_disparity (&picture, x, y, 8);
      set_disparity (&picture, x + 1, y, 8);
    }
    fail_unless (find (&picture, 0.2, &nearest));
    fail_unless_equals_int (nearest.sample, 8 * SCALE);
  }
}

/* Exactly what is said, where a cell is a pixel. */
TEST (test_support_and_coverage)
{
  g_auto (Picture) picture = picture_new (100, 80, GST_STEREO_OUTPUT_KIND_DEPTH);
  GstStereoNearestFound nearest;

  fail_if (find (&picture, 0, &nearest));
  fail_unless_equals_float (nearest.coverage, 0);
  fail_unless_equals_uint64 (nearest.support, 0);
  set_sample (&picture, 7, 9, 300);
  fail_unless (find (&picture, 0, &nearest));
  fail_unless (nearest.sample == 300 && nearest.x == 7 && nearest.y == 9 && nearest.support == 1);
  fail_unless_equals_float (nearest.coverage, 1 / 8000.0);
  /* 40 pixels are half a percent; one more that touches them by a corner is part of the surface */
  for (gint x = 20; x < 59; x++)
    set_sample (&picture, x, 30, 900);
  fail_if (find (&picture, 0.5, &nearest));
  set_sample (&picture, 59, 31, 900);
  fail_unless (find (&picture, 0.5, &nearest));
  fail_unless (nearest.sample == 900 && nearest.support == 40);
  fail_unless_equals_float (nearest.coverage, 41 / 8000.0);
  /* pixels that are not sure are not seen */
  picture.view.min_confidence = 128;
  picture.confidence[30 * picture.view.confidence_stride + 40] = 127;
  fail_if (find (&picture, 0.5, &nearest));
  fail_unless_equals_float (nearest.coverage, 40 / 8000.0);
  picture.confidence[30 * picture.view.confidence_stride + 40] = 128;
  fail_unless (find (&picture, 0.5, &nearest));
}

/* Of large pictures not every pixel is a sample. */
TEST (test_support_of_samples)
{
  g_auto (Picture) picture = picture_new (1024, 768, GST_STEREO_OUTPUT_KIND_DISPARITY);
  GstStereoNearestFound nearest;

  for (gint y = 0; y < 768; y++)
    for (gint x = 0; x < 1024; x++)
      set_disparity (&picture, x, y, 8);
  fail_unless (find (&picture, 50, &nearest));
  fail_unless_equals_uint64 (nearest.support, 1024 * 768);
}

/* The middle of every cell is excluded, nearer than the others by a little, and not sure: neither distance nor confidence
 * is that of excluded pixels. */
TEST (test_excluded_middles)
{
  g_auto (Picture) picture = picture_new (99, 81, GST_STEREO_OUTPUT_KIND_DISPARITY);
  GstStereoNearestFound nearest;

  add_mask (&picture);
  for (gint y = 0; y < 81; y++)
    for (gint x = 0; x < 99; x++) {
      gboolean middle = x % GST_STEREO_GRID_SIDE == 1 && y % GST_STEREO_GRID_SIDE == 1;

      set_sample (&picture, x, y, 40 * SCALE + (middle ? SCALE / 4 : 0));
      picture.confidence[y * picture.view.confidence_stride + x] = middle ? 0 : 255;
      if (middle)
        exclude (&picture, x, y, 1, 1);
    }
  fail_unless (find (&picture, 50, &nearest));
  fail_unless_equals_int (nearest.sample, 40 * SCALE);
  fail_unless_equals_float (nearest.confidence, 1);
  fail_unless_equals_float (nearest.coverage, 1);
}

SUITE (nearest_surface)
{
  random_state.state = random_seed ();
}
