/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/ground/objects.h"

#include "gst/meta/found.h"

#include <math.h>
#include <string.h>

/* ---- classes of samples ------------------------------------------------------------------ */

#define LOW (1 / 3.0) /* of the smallest obstacle's height: lower samples cannot be distinguished from the ground */
#define NOISE 1.0f    /* px: nor can samples that are nearer than the ground by less */
/* An object may be an obstacle if it has at least this part of the smallest obstacle's height, and is so many pixels of
 * disparity nearer than the ground. Patches of wrong disparities are nearer by less. */
#define TOP 0.8
#define OUT 2.7f
#define BELOW 1.5f       /* px: a sample that is farther than the ground by more is below it, */
#define BELOW_PART 0.06f /* and by more than this part of its disparity */

/* Rows of samples that something upright of @height mm is high in the picture, where its disparity is @d. */
static gdouble
rows_of (const GstStereoGroundScene *scene, gdouble height, gdouble d)
{
  return height * d / scene->camera.baseline * scene->camera.stretch / scene->grid->step;
}

void
gst_stereo_ground_classify (const GstStereoGroundScene *scene, guint8 *classes)
{
  const GstStereoGroundGrid *grid = scene->grid;
  const GstStereoGroundSizes *sizes = &scene->sizes;
  /* heights as shares of the disparity: height = camera_height * (1 - ground / d) */
  gfloat low = (gfloat) (LOW * sizes->min_height / scene->camera_height);
  gfloat top = (gfloat) (TOP * sizes->min_height / scene->camera_height);
  gfloat high = (gfloat) (sizes->max_height / scene->camera_height);
  gfloat far = (gfloat) gst_stereo_ground_scene_distance (scene, sizes->max_distance);
  gfloat slope = (gfloat) (scene->plane.across * grid->step);
  gint count = grid->columns;

  G_STATIC_ASSERT (GST_STEREO_GROUND_UNSEEN == 0);
  for (gint row = 0; row < grid->rows; row++) {
    gsize place = gst_stereo_ground_grid_at (grid, 0, row);
    const gfloat *restrict disparity = grid->disparity + place;
    gfloat start = (gfloat) gst_stereo_ground_scene_at (
        scene, gst_stereo_ground_grid_pixel (grid, 0), gst_stereo_ground_grid_pixel (grid, row));
    guint8 *restrict class = classes + place;

    for (gint i = 0; i < count; i++) {
      gfloat d = disparity[i], ground = start + slope * (gfloat) i, above = d - ground;
      /* no branch: it would depend on the picture, and be slow */
      gint stands = (above > NOISE) & (above > low * d);
      gint tall = stands & (above > OUT) & (above > top * d);
      gint below = (above < -BELOW) & (above < -BELOW_PART * ground);
      gint outside = (stands & (above > high * d)) | (d < far) | below;
      gint kind = GST_STEREO_GROUND_GROUND + stands * (GST_STEREO_GROUND_STANDING - GST_STEREO_GROUND_GROUND) +
          tall * (GST_STEREO_GROUND_TALL - GST_STEREO_GROUND_STANDING);

      kind += outside * (GST_STEREO_GROUND_OTHER - kind);
      class[i] = (guint8) (kind * (d > 0));
    }
  }
}

/* ---- objects in the u-disparity picture -------------------------------------------------- */

#define BIN 2 /* columns of samples in one of cells */
#define GAP 2 /* columns of cells from a cell to the next one of its object, at most */
#define MOST_LEVELS 256
#define LARGEST 2048 /* px; all larger disparities are on one level */
#define LINEAR 33    /* levels of a pixel each; above them, levels of 3 %: what a matcher errs by */
#define PART 0.03
#define NO_OBJECT G_MAXUINT32
#define OPEN (NO_OBJECT - 1) /* a filled cell that is of no object yet */

typedef struct
{
  guint16 standing, tall; /* samples */
} Cell;

/* For a level of disparity. */
typedef struct
{
  guint needed;  /* samples that stand in a cell and its two neighbours in disparity */
  guint tall;    /* samples that are tall in these, and those around them up to GAP columns aside */
  gint farthest; /* level that an object whose nearest cell is here may reach */
} Rule;

typedef struct
{
  gint columns, levels;
  Cell *all;        /* level after level in a column */
  guint32 *objects; /* of which object a cell is */
  guint32 *queue;
  guint count; /* of objects */
  gsize room;
} Cells;

typedef struct
{
  gint count;
  guint8 of[LARGEST]; /* of each whole disparity */
  gdouble middle[MOST_LEVELS];
} Levels;

static const Levels *
get_levels (void)
{
  static gsize once = 0;
  static Levels made;

  if (g_once_init_enter (&once)) {
    gint last = 0, first = 0;

    for (gint d = 0; d < LARGEST; d++) {
      gint level = d < LINEAR ? d : LINEAR + (gint) (log ((gdouble) d / LINEAR) / log (1 + PART));

      if (level > last) {
        last++; /* no level is left out */
        first = d;
      }
      made.of[d] = (guint8) last;
      made.middle[last] = (first + d + 1) / 2.0;
    }
    made.count = last + 1;
    g_once_init_leave (&once, 1);
  }
  return &made;
}

/* @disparity is not below 0. */
static inline gint
level_of (const Levels *levels, gfloat disparity)
{
  return levels->of[disparity < LARGEST ? (gint) disparity : LARGEST - 1];
}

static inline gsize
cell_at (const Cells *cells, gint column, gint level)
{
  return (gsize) (column / BIN) * (gsize) cells->levels + (gsize) level;
}

/* Empties the cells for so many columns of samples. */
static void
start_cells (Cells *cells, gint columns)
{
  cells->columns = (columns + BIN - 1) / BIN;
  cells->levels = get_levels ()->count;
  gsize all = (gsize) cells->columns * (gsize) cells->levels;
  if (all > cells->room) {
    g_free (cells->objects);
    cells->objects = g_malloc (all * (2 * sizeof (guint32) + sizeof (Cell)));
    cells->queue = cells->objects + all;
    cells->all = (Cell *) (cells->queue + all);
    cells->room = all;
  }
  memset (cells->all, 0, all * sizeof *cells->all);
  cells->count = 0;
}

/* ---- connected cells --------------------------------------------------------------------- */

static gboolean
is_filled (const Cells *cells, gint column, gint level, const Rule *rule)
{
  const Cell *one = cells->all + (gsize) column * (gsize) cells->levels;
  gint low = MAX (0, level - 1), high = MIN (cells->levels - 1, level + 1);
  guint standing = 0, tall = 0;

  if (one[level].standing == 0)
    return FALSE;
  for (gint at = low; at <= high; at++)
    standing += one[at].standing;
  if (standing < rule->needed)
    return FALSE;
  for (gint beside = MAX (0, column - GAP); beside <= MIN (cells->columns - 1, column + GAP); beside++)
    for (gint at = low; at <= high; at++)
      tall += cells->all[(gsize) beside * (gsize) cells->levels + (gsize) at].tall;
  return tall >= rule->tall;
}

/* Gives @first and all open cells that are connected with it to the next object, down to the level @farthest. */
static void
grow (Cells *cells, guint32 first, gint farthest)
{
  guint length = 1;

  cells->objects[first] = cells->count;
  cells->queue[0] = first;
  for (guint i = 0; i < length; i++) {
    gint column = (gint) cells->queue[i] / cells->levels, level = (gint) cells->queue[i] % cells->levels;

    for (gint beside = MAX (0, column - GAP); beside <= MIN (cells->columns - 1, column + GAP); beside++)
      for (gint at = MAX (farthest, level - 1); at <= MIN (cells->levels - 1, level + 1); at++) {
        guint32 other = (guint32) (beside * cells->levels + at);

        if (cells->objects[other] != OPEN)
          continue;
        cells->objects[other] = cells->count;
        cells->queue[length++] = other;
      }
  }
  cells->count++;
}

/* Numbers the objects, the nearest first. @rules: one for each level. */
static void
connect_cells (Cells *cells, const Rule *rules)
{
  for (gint column = 0; column < cells->columns; column++)
    for (gint level = 0; level < cells->levels; level++)
      cells->objects[column * cells->levels + level] = is_filled (cells, column, level, &rules[level]) ? OPEN :
                                                                                                         NO_OBJECT;
  cells->count = 0;
  for (gint level = cells->levels - 1; level >= 0; level--)
    for (gint column = 0; column < cells->columns; column++) {
      guint32 cell = (guint32) (column * cells->levels + level);

      if (cells->objects[cell] == OPEN)
        grow (cells, cell, rules[level].farthest);
    }
}

/* ---- the size of an object --------------------------------------------------------------- */

/* A sample of an object. */
typedef struct
{
  gint column, row;
} Sample;

#define MOST 512 /* samples that are measured: an object's are taken evenly */
#define LEAST 5
#define LEAST_PART 12         /* one in so many samples of a square of the smallest height */
#define TOP_QUANTILE 0.9      /* of the heights, that has to be as high as an obstacle */
#define FULL 0.9              /* of the smallest obstacle's height, that the top has to reach */
#define FRONT 0.95            /* quantile of the disparities at the front, */
#define FRONT_DEEP 1.25f      /* px that belong to it, or */
#define FRONT_DEEP_PART 0.03f /* that part of the disparity */
#define EDGE 0.02             /* quantiles of the sides and the top: a few samples are wrong */
#define BORDER 4    /* px: at the border of an object, a matcher mixes its disparity with that of what is behind */
#define SIDE_PART 8 /* one in so many columns tells the distance of a side */

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
take (const GstStereoGroundScene *scene, const Sample *samples, guint count, Taken *taken)
{
  const GstStereoGroundGrid *grid = scene->grid;
  guint64 confidence = 0;

  taken->count = MIN (count, MOST);
  for (guint i = 0; i < taken->count; i++) {
    const Sample *one = &samples[(guint64) i * count / taken->count];
    gsize place = gst_stereo_ground_grid_at (grid, one->column, one->row);
    gdouble x = gst_stereo_ground_grid_pixel (grid, one->column), y = gst_stereo_ground_grid_pixel (grid, one->row);
    gdouble d = grid->disparity[place], ground = gst_stereo_ground_scene_at (scene, x, y);

    taken->column[i] = (gfloat) one->column;
    taken->row[i] = (gfloat) one->row;
    taken->d[i] = (gfloat) d;
    taken->out[i] = (gfloat) (d - ground);
    taken->height[i] = (gfloat) (scene->camera_height * (1 - ground / d));
    confidence += grid->confidence[place];
  }
  taken->confidence = (gdouble) confidence / 255 / taken->count;
}

/* The mean disparity of the nearest part. */
static gdouble
front_of (Taken *taken)
{
  gfloat near = gst_stereo_ground_quantile (taken->d, taken->count, FRONT), sum = 0;
  gfloat from = near - MAX (FRONT_DEEP, FRONT_DEEP_PART * near), to = near + MAX (FRONT_DEEP, FRONT_DEEP_PART * near);
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
side_of (const GstStereoGroundScene *scene, const Sample *samples, guint count, gint x, gint inwards,
    const GstStereoObstacle *obstacle)
{
  const GstStereoGroundGrid *grid = scene->grid;
  gfloat d[MOST] = { 0 };
  guint taken = MIN (count, MOST), beside = 0;
  gint from = MIN (BORDER, obstacle->width / 3), to = from + MAX (grid->step, obstacle->width / SIDE_PART);

  for (guint i = 0; i < taken; i++) {
    const Sample *one = &samples[(guint64) i * count / taken];
    gint inside = (gst_stereo_ground_grid_pixel (grid, one->column) - x) * inwards;

    if (inside >= from && inside <= to)
      d[beside++] = grid->disparity[gst_stereo_ground_grid_at (grid, one->column, one->row)];
  }
  gdouble distance = beside ? gst_stereo_ground_scene_distance (scene, gst_stereo_ground_quantile (d, beside, 0.5)) :
                              obstacle->distance;
  return (x - scene->camera.x) * distance / scene->camera.focal;
}

/* FALSE where the object is no obstacle. */
static gboolean
measure (const GstStereoGroundScene *scene, const Sample *samples, guint count, GstStereoObstacle *obstacle)
{
  gdouble least = scene->sizes.min_height, front, area, left, right;
  Taken taken;

  if (count < LEAST)
    return FALSE;
  gsize place = gst_stereo_ground_grid_at (scene->grid, samples->column, samples->row);
  area = rows_of (scene, least, scene->grid->disparity[place]);
  if (count < area * area / scene->camera.stretch / LEAST_PART)
    return FALSE;
  take (scene, samples, count, &taken);
  if (gst_stereo_ground_quantile (taken.height, taken.count, TOP_QUANTILE) < TOP * least ||
      gst_stereo_ground_quantile (taken.out, taken.count, TOP_QUANTILE) < OUT)
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
      scene->grid->step / 2.0 * scene->camera.baseline / (front * scene->camera.stretch);
  if (obstacle->object_height < FULL * least)
    return FALSE;
  /* a third of the pixels of a square of the smallest height is half sure */
  area = rows_of (scene, least, front);
  obstacle->probability = taken.confidence * count / (count + MAX (LEAST, area * area / scene->camera.stretch / 3));
  return TRUE;
}

/* ---- obstacles --------------------------------------------------------------------------- */

#define ALIKE 1.0f /* px: disparities of neighbours on one object, or */
#define ALIKE_PART 0.03f
#define NEIGHBOURS 2 /* of eight: wrong samples seldom have as many */
#define NOWHERE -1e9f
#define LEAST_FILLED 2u /* samples of a cell, and */
#define FILLED 0.3      /* the share of those that the smallest obstacle has there */
#define PATCH 3         /* levels: patches of an object may be off by so many */
#define DEEP 4000.0     /* mm: an object is no deeper, or */
#define DEEP_PART 0.15  /* than that part of its distance, which a matcher may err by far away */

struct _GstStereoObstacleFinder
{
  gfloat *upright; /* disparities of the samples that stand; elsewhere NOWHERE */
  guint8 *classes;
  guint8 *alike; /* of one row: how many neighbours stand and are as near */
  gsize room;
  GArray *standing; /* Sample, with neighbours */
  Cells cells;
  Rule rules[MOST_LEVELS];
  guint *starts;  /* per object, and one more: its first sample */
  Sample *sorted; /* by object */
  guint starts_room, sorted_room;
  guint8 *is_obstacle; /* per object */
  gfloat *nearest;     /* per column of cells */
  guint columns_room;
  GArray *found; /* GstStereoObstacle */
};

GstStereoObstacleFinder *
gst_stereo_obstacle_finder_new (void)
{
  GstStereoObstacleFinder *finder = g_new0 (GstStereoObstacleFinder, 1);

  finder->standing = g_array_new (FALSE, FALSE, sizeof (Sample));
  finder->found = g_array_new (FALSE, FALSE, sizeof (GstStereoObstacle));
  return finder;
}

void
gst_stereo_obstacle_finder_free (GstStereoObstacleFinder *finder)
{
  g_free (finder->upright);
  g_array_unref (finder->standing);
  g_free (finder->cells.objects);
  g_free (finder->starts);
  g_free (finder->sorted);
  g_free (finder->nearest);
  g_array_unref (finder->found);
  g_free (finder);
}

/* ---- samples ----------------------------------------------------------------------------- */

static void
classify_all (GstStereoObstacleFinder *finder, const GstStereoGroundScene *scene)
{
  const GstStereoGroundGrid *grid = scene->grid;
  gsize all = (gsize) grid->stride * (gsize) (grid->rows + 2);

  if (all > finder->room) {
    g_free (finder->upright);
    finder->upright = g_malloc (all * (sizeof (gfloat) + 2));
    finder->classes = (guint8 *) (finder->upright + all);
    finder->alike = finder->classes + all;
    finder->room = all;
  }
  const gfloat *restrict disparity = grid->disparity;
  guint8 *restrict classes = finder->classes;
  gfloat *restrict upright = finder->upright;
  /* the frame around the samples is not seen */
  memset (classes, GST_STEREO_GROUND_UNSEEN, all);
  gst_stereo_ground_classify (scene, classes);
  for (gsize i = 0; i < all; i++) {
    gfloat d = disparity[i];

    upright[i] = classes[i] >= GST_STEREO_GROUND_STANDING ? d : NOWHERE;
  }
}

/* For a row of samples: how many of the eight neighbours stand and are as near. */
static void
count_alike (const gfloat *restrict row, gint stride, gint count, guint8 *restrict alike)
{
  const gfloat *restrict above = row - stride, *restrict below = row + stride;

  for (gint i = 0; i < count; i++) {
    gfloat d = row[i], tolerance = MAX (ALIKE, ALIKE_PART * d);

    alike[i] = (guint8) ((fabsf (above[i - 1] - d) <= tolerance) + (fabsf (above[i] - d) <= tolerance) +
        (fabsf (above[i + 1] - d) <= tolerance) + (fabsf (row[i - 1] - d) <= tolerance) +
        (fabsf (row[i + 1] - d) <= tolerance) + (fabsf (below[i - 1] - d) <= tolerance) +
        (fabsf (below[i] - d) <= tolerance) + (fabsf (below[i + 1] - d) <= tolerance));
  }
}

static void
gather (GstStereoObstacleFinder *finder, const GstStereoGroundGrid *grid)
{
  const Levels *levels = get_levels ();

  start_cells (&finder->cells, grid->columns);
  g_array_set_size (finder->standing, (guint) (grid->columns * grid->rows));
  Sample *last = (Sample *) finder->standing->data;
  for (gint row = 0; row < grid->rows; row++) {
    gsize place = gst_stereo_ground_grid_at (grid, 0, row);
    const gfloat *upright = finder->upright + place;

    count_alike (upright, grid->stride, grid->columns, finder->alike);
    for (gint column = 0; column < grid->columns; column++) {
      if (upright[column] <= 0 || finder->alike[column] < NEIGHBOURS)
        continue;
      *last++ = (Sample){ column, row };
      Cell *cell = &finder->cells.all[cell_at (&finder->cells, column, level_of (levels, upright[column]))];
      cell->standing++;
      cell->tall += finder->classes[place + (gsize) column] == GST_STEREO_GROUND_TALL;
    }
  }
  g_array_set_size (finder->standing, (guint) (last - (Sample *) finder->standing->data));
}

/* ---- objects ----------------------------------------------------------------------------- */

/* How many of @samples have to be filled. */
static guint
needed (gdouble samples)
{
  return MAX (LEAST_FILLED, (guint) MIN (samples * FILLED, G_MAXINT16));
}

/* How many samples the smallest obstacle has in a column of cells, of its part that counts, and how deep an object may
 * be. */
static void
make_rules (GstStereoObstacleFinder *finder, const GstStereoGroundScene *scene)
{
  const Levels *levels = get_levels ();

  for (gint level = 0; level < levels->count; level++) {
    gdouble d = levels->middle[level];
    gdouble distance = gst_stereo_ground_scene_distance (scene, d);
    gdouble rows = rows_of (scene, scene->sizes.min_height, d);
    gdouble standing = (1 - LOW) * rows * BIN;
    gdouble tall = (1 - TOP) * rows * BIN * (2 * GAP + 1);
    gdouble back = gst_stereo_ground_scene_distance (scene, distance + MAX (DEEP, DEEP_PART * distance));

    finder->rules[level].needed = needed (standing);
    finder->rules[level].tall = needed (tall);
    finder->rules[level].farthest = MAX (0, MIN (level_of (levels, (gfloat) back), level - PATCH));
  }
}

static guint32
object_of (
    const GstStereoObstacleFinder *finder, const GstStereoGroundGrid *grid, const Levels *levels, const Sample *sample)
{
  gfloat d = grid->disparity[gst_stereo_ground_grid_at (grid, sample->column, sample->row)];

  return finder->cells.objects[cell_at (&finder->cells, sample->column, level_of (levels, d))];
}

/* Puts the samples of each object side by side. */
static void
sort_samples (GstStereoObstacleFinder *finder, const GstStereoGroundGrid *grid)
{
  const Sample *all = (const Sample *) finder->standing->data;
  const Levels *levels = get_levels ();
  guint count = finder->cells.count;

  if (count + 2 > finder->starts_room) {
    finder->starts_room = count + 2;
    finder->starts = g_realloc (finder->starts, finder->starts_room * (sizeof (guint) + 1));
    finder->is_obstacle = (guint8 *) (finder->starts + finder->starts_room);
  }
  if (finder->standing->len > finder->sorted_room) {
    finder->sorted_room = finder->standing->len;
    finder->sorted = g_renew (Sample, finder->sorted, finder->sorted_room);
  }
  /* counts lie two places on: their sums are then the places of each object's next sample, one place on */
  memset (finder->starts, 0, (count + 2) * sizeof *finder->starts);
  for (guint i = 0; i < finder->standing->len; i++) {
    guint32 object = object_of (finder, grid, levels, &all[i]);

    if (object != NO_OBJECT)
      finder->starts[object + 2]++;
  }
  for (guint object = 0; object < count; object++)
    finder->starts[object + 2] += finder->starts[object + 1];
  for (guint i = 0; i < finder->standing->len; i++) {
    guint32 object = object_of (finder, grid, levels, &all[i]);

    if (object != NO_OBJECT)
      finder->sorted[finder->starts[object + 1]++] = all[i];
  }
}

static void
note_nearest (GstStereoObstacleFinder *finder)
{
  const Cells *cells = &finder->cells;

  if ((guint) cells->columns > finder->columns_room) {
    finder->columns_room = (guint) cells->columns;
    finder->nearest = g_renew (gfloat, finder->nearest, finder->columns_room);
  }
  for (gint column = 0; column < cells->columns; column++) {
    const guint32 *objects = cells->objects + (gsize) column * (gsize) cells->levels;
    gint level = cells->levels - 1;

    while (level >= 0 && (objects[level] == NO_OBJECT || !finder->is_obstacle[objects[level]]))
      level--;
    finder->nearest[column] = level < 0 ? 0 : (gfloat) get_levels ()->middle[level];
  }
}

static gint
by_distance (gconstpointer a, gconstpointer b)
{
  gdouble x = ((const GstStereoObstacle *) a)->distance, y = ((const GstStereoObstacle *) b)->distance;

  return x < y ? -1 : x > y;
}

const GstStereoObstacle *
gst_stereo_obstacle_find (GstStereoObstacleFinder *finder, const GstStereoGroundScene *scene, guint *count)
{
  const GstStereoGroundGrid *grid = scene->grid;

  classify_all (finder, scene);
  gather (finder, grid);
  make_rules (finder, scene);
  connect_cells (&finder->cells, finder->rules);
  sort_samples (finder, grid);
  g_array_set_size (finder->found, 0);
  for (guint object = 0; object < finder->cells.count; object++) {
    guint from = finder->starts[object], to = finder->starts[object + 1];
    GstStereoObstacle one;

    finder->is_obstacle[object] = measure (scene, finder->sorted + from, to - from, &one);
    if (finder->is_obstacle[object])
      g_array_append_val (finder->found, one);
  }
  note_nearest (finder);
  g_array_sort (finder->found, by_distance);
  *count = finder->found->len;
  return (const GstStereoObstacle *) finder->found->data;
}

/* ---- free distances ---------------------------------------------------------------------- */

#define SHOWN 3     /* a row shows the ground where one in so many of its samples do */
#define HIDES 0.5   /* of the rows of the smallest obstacle: fewer cannot hide it, for its upper half stands out */
#define LEAST_GAP 2 /* rows of samples */

/* The samples of one column of the picture. */
typedef struct
{
  gint from, to;
} Columns;

static Columns
columns_of (const GstStereoGroundGrid *grid, guint i, guint count)
{
  gint from = (gint) ((gint64) grid->columns * i / count), to = (gint) ((gint64) grid->columns * (i + 1) / count);
  Columns columns = { MIN (from, grid->columns - 1), MAX (from + 1, to) };

  return columns;
}

static gboolean
shows_ground (const GstStereoGroundGrid *grid, const guint8 *classes, Columns columns, gint row)
{
  gint ground = 0;

  for (gint i = columns.from; i < columns.to; i++)
    ground += classes[gst_stereo_ground_grid_at (grid, i, row)] == GST_STEREO_GROUND_GROUND;
  return ground > 0 && ground * SHOWN >= columns.to - columns.from;
}

/* The lowest row that the mask does not exclude: below it is the vehicle's own bonnet. What a mask excludes elsewhere may
 * hide something, and stays unseen. */
static gint
lowest_row (const GstStereoGroundGrid *grid, Columns columns)
{
  for (gint row = grid->rows - 1; row > 0; row--)
    for (gint i = columns.from; i < columns.to; i++)
      if (!grid->excluded[gst_stereo_ground_grid_at (grid, i, row)])
        return row;
  return 0;
}

/* The largest disparity at which something stands in these columns. */
static gdouble
obstacle_in (const GstStereoObstacleFinder *finder, Columns columns)
{
  gdouble nearest = 0;

  for (gint i = columns.from; i < columns.to; i++)
    nearest = MAX (nearest, finder->nearest[i / BIN]);
  return nearest;
}

static gdouble
free_distance (const GstStereoGroundScene *scene, const guint8 *classes, gdouble obstacle, Columns columns)
{
  const GstStereoGroundGrid *grid = scene->grid;
  gdouble middle = ((columns.from + columns.to) * grid->step - 1) / 2.0;
  gdouble far = gst_stereo_ground_scene_distance (scene, scene->sizes.max_distance), last = 0;
  gdouble low = MIN (0.9, LOW * scene->sizes.min_height / scene->camera_height);
  gint gap = 0;

  for (gint row = lowest_row (grid, columns); row >= 0; row--) {
    gdouble ground = gst_stereo_ground_scene_at (scene, middle, gst_stereo_ground_grid_pixel (grid, row));

    if (ground <= MAX (obstacle, far))
      break;
    if (shows_ground (grid, classes, columns, row)) {
      last = ground;
      gap = 0;
    } else if (++gap > MAX (LEAST_GAP, HIDES * rows_of (scene, scene->sizes.min_height, ground))) {
      /* an object may stand where the ground was seen last: its lowest part cannot be distinguished from the ground */
      last = last > 0 ? MAX (last + NOISE, last / (1 - low)) : 0;
      break;
    }
  }
  return last > 0 ? gst_stereo_ground_scene_distance (scene, last) : GST_STEREO_GROUND_UNKNOWN;
}

void
gst_stereo_ground_free_distances (
    const GstStereoGroundScene *scene, const GstStereoObstacleFinder *finder, gdouble *distances, guint count)
{
  for (guint i = 0; i < count; i++) {
    Columns columns = columns_of (scene->grid, i, count);

    distances[i] = free_distance (scene, finder->classes, obstacle_in (finder, columns), columns);
  }
}
