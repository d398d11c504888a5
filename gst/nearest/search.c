/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/nearest/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- ranks ------------------------------------------------------------------------------- */

/*
 * Which samples of a depth picture may lie side by side on one surface.
 *
 * A rank is a sample in the order of nearness: 0 = invalid, and a larger rank is nearer. A matcher errs by fractions of
 * a pixel of disparity at every distance, and the disparity of a slanted surface changes with every pixel. Neighbours
 * therefore lie on one surface where their disparities differ by at most 1 px, and half a pixel more for every pixel
 * between them. Where the disparity of a depth is not known, 6 % of the distance stand for a pixel.
 */

#define RANKS 65536

typedef struct
{
  gboolean made; /* for samples of this meaning, and for this distance between neighbours, in pixels */
  GstStereoSampleMeaning meaning;
  gint pitch;
  guint ranks;                /* with 0: 256 or 65536 */
  gboolean smaller_is_nearer; /* samples are depth */
  /* nearness of each rank: pixels of disparity, or steps of 6 % of the distance; it grows with the rank */
  gfloat nearness[RANKS];
  /* for each rank, the smallest rank that may lie beside it on one surface */
  guint16 beside[RANKS];
  /* the smallest rank that counts as equally near: at most half a pixel of disparity and 1.5 % of the distance farther */
  guint16 alike[RANKS];
  /* the smallest rank that the matcher's errors may move here from the same surface: six times these limits */
  guint16 around[RANKS];
} RankTable;

static inline guint
sample_rank (guint sample, gboolean smaller_is_nearer)
{
  return smaller_is_nearer ? -sample & (RANKS - 1) : sample;
}

/* The same formula turns a rank into its sample. */
#define rank_sample sample_rank

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

  return isnan (disparity) ? log ((gdouble) RANKS / sample) / PIXEL_PART : disparity;
}

/* By how much less than @nearness still counts as equally near, in the same unit. */
static gdouble
alike_below (const GstStereoMeta *meta, gdouble nearness)
{
  if (isnan (gst_stereo_meta_get_disparity (meta, 1)))
    return ALIKE_PART / PIXEL_PART;
  return MIN (ALIKE, ALIKE_PART * MAX (0, nearness + meta->principal_offset));
}

/* Returns at once where neither the meta's values nor @pitch changed. @table is zeroed before the first call. */
static void
rank_table_make (RankTable *table, const GstStereoMeta *meta, gint pitch)
{
  guint ranks = meta->kind == GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE ? 256 : RANKS;
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
    table->nearness[rank] = (gfloat) nearness_of (meta, rank_sample (rank, smaller));
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

/* The rank whose nearness is closest to @nearness. */
static guint
rank_table_closest (const RankTable *table, gdouble nearness)
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

/* ---- the grid of cells ------------------------------------------------------------------- */

static inline gint
grid_pitch (const GstStereoGrid *grid)
{
  return grid->step * grid->side;
}

/* The rank of a pixel of @view, 0 where it is not seen or excluded. */
static inline guint
grid_rank (const GstStereoDepthView *view, gint x, gint y, gboolean smaller_is_nearer)
{
  const guint8 *row = view->samples + (gssize) y * view->stride;
  guint sample = view->wide ? (guint) row[2 * x] | (guint) row[2 * x + 1] << 8 : row[x];

  if (view->confidence && view->confidence[(gssize) y * view->confidence_stride + x] < view->min_confidence)
    return 0;
  if (view->mask && !view->mask[(gssize) y * view->mask_stride + x])
    return 0;
  return sample_rank (sample, smaller_is_nearer);
}

/* Most samples of a grid: rows and columns are skipped until no more remain. Cells of one sample cost more for each
 * sample than large cells. */
#define MOST_SAMPLES (1 << 19)
#define SURFACE_CELLS 16 /* that the smallest surface has: cells are no larger than that allows */

void
gst_stereo_grid_clear (GstStereoGrid *grid)
{
  g_free (grid->ranks);
  g_free (grid->counts);
  g_free (grid->planes[0]);
  memset (grid, 0, sizeof *grid);
}

static gint
parts (gint length, gint part)
{
  return (length + part - 1) / part;
}

/* Grows the memory, and never shrinks it: regions may change with every frame. */
static void
grid_ensure_room (GstStereoGrid *grid)
{
  guint planes = G_N_ELEMENTS (grid->planes), all = planes + G_N_ELEMENTS (grid->rows_nearest);

  if (grid->cells > grid->room) {
    g_free (grid->ranks);
    g_free (grid->counts);
    grid->ranks = g_new (guint16, grid->cells);
    grid->counts = g_new (guint8, grid->cells);
    grid->room = grid->cells;
  }
  if (grid->columns > grid->row_room) {
    g_free (grid->planes[0]);
    grid->row_room = grid->columns;
    guint16 *memory = g_new (guint16, all * (gsize) grid->row_room);
    for (guint i = 0; i < all; i++, memory += grid->row_room)
      *(i < planes ? &grid->planes[i] : &grid->rows_nearest[i - planes]) = memory;
  }
}

void
gst_stereo_grid_shape (GstStereoGrid *grid, gint width, gint height, gdouble percentage)
{
  grid->step = 1;
  while ((gint64) parts (width, grid->step) * parts (height, grid->step) > MOST_SAMPLES)
    grid->step++;
  grid->across = parts (width, grid->step);
  grid->down = parts (height, grid->step);
  grid->needed = (guint64) MAX (1, ceil ((gdouble) grid->across * grid->down * percentage / 100));
  grid->side = GST_STEREO_GRID_SIDE;
  while (grid->side > 1 && (guint64) (grid->side * grid->side * SURFACE_CELLS) > grid->needed)
    grid->side--;
  grid->columns = parts (grid->across, grid->side);
  grid->rows = parts (grid->down, grid->side);
  grid->stride = grid->columns + 2;
  grid->cells = (gsize) grid->stride * (gsize) (grid->rows + 2);
  grid_ensure_room (grid);
}

/* ---- a row of cells ---------------------------------------------------------------------- */

/* Every @side-th sample of a row of them, from the one at @row on, as ranks. Returns how many are seen. */
static inline guint
read_plane (guint16 *plane, const guint8 *row, const guint8 *confidence, guint least, gint count, gint pitch,
    gboolean wide, gboolean smaller_is_nearer)
{
  guint seen = 0;

  for (gint i = 0; i < count; i++) {
    gint x = i * pitch;
    guint sample = wide ? (guint) row[2 * x] | (guint) row[2 * x + 1] << 8 : row[x];

    /* no branch: it would depend on the picture, and be slow */
    sample = confidence && confidence[x] < least ? 0 : sample;
    plane[i] = (guint16) sample_rank (sample, smaller_is_nearer);
    seen += sample != 0;
  }
  return seen;
}

/* Takes the excluded samples out of what read_plane() read. */
static void
exclude_samples (GstStereoGrid *grid, guint16 *plane, const guint8 *mask, gint count, gint pitch)
{
  guint seen = 0, excluded = 0;

  for (gint i = 0; i < count; i++) {
    gboolean out = mask[i * pitch] == 0;

    excluded += out;
    seen += out && plane[i];
    plane[i] = out ? 0 : plane[i];
  }
  grid->seen -= seen;
  grid->counting -= excluded;
}

/* One sample of each cell of a row: that at @i, @j in it. */
static void
read_samples (GstStereoGrid *grid, const GstStereoDepthView *view, gint row, gint i, gint j, gboolean smaller)
{
  guint16 *plane = grid->planes[j * grid->side + i];
  gint y = view->y + (row * grid->side + j) * grid->step, x = view->x + i * grid->step;
  gint count = row * grid->side + j < grid->down ? parts (grid->across - i, grid->side) : 0;
  gint pitch = grid_pitch (grid);

  if (count > 0) {
    const guint8 *samples = view->samples + (gssize) y * view->stride + (gssize) x * (view->wide ? 2 : 1);
    const guint8 *confidence = view->confidence && view->min_confidence ?
        view->confidence + (gssize) y * view->confidence_stride + x :
        NULL;
    guint least = view->min_confidence;

    if (view->wide && smaller)
      grid->seen += read_plane (plane, samples, confidence, least, count, pitch, TRUE, TRUE);
    else if (view->wide)
      grid->seen += read_plane (plane, samples, confidence, least, count, pitch, TRUE, FALSE);
    else
      grid->seen += read_plane (plane, samples, confidence, least, count, pitch, FALSE, smaller);
    if (view->mask)
      exclude_samples (grid, plane, view->mask + (gssize) y * view->mask_stride + x, count, pitch);
  }
  /* cells at the right and lower edge may lack samples */
  if (count < grid->columns)
    memset (plane + count, 0, (gsize) (grid->columns - count) * sizeof *plane);
}

/* The nearest three samples of each cell, sorted. */
static void
sort_row (GstStereoGrid *grid)
{
  guint16 *restrict first = grid->rows_nearest[0], *restrict second = grid->rows_nearest[1];
  guint16 *restrict third = grid->rows_nearest[2];

  for (gint i = 0; i < grid->side * grid->side; i++) {
    const guint16 *restrict plane = grid->planes[i];

    if (i == 0)
      memset (first, 0, 3 * (gsize) grid->row_room * sizeof *first);
    for (gint c = 0; c < grid->columns; c++) {
      guint16 value = plane[c], a = first[c], b = second[c], d = third[c];

      third[c] = MAX (d, MIN (b, value));
      second[c] = MAX (b, MIN (a, value));
      first[c] = MAX (a, value);
    }
  }
}

/* How many samples of each cell are about as near as the cell, or nearer. */
static void
count_row (GstStereoGrid *grid, const guint16 *restrict ranks, guint8 *restrict counts, const RankTable *table)
{
  guint16 *restrict least = grid->rows_nearest[0];

  for (gint c = 0; c < grid->columns; c++)
    least[c] = table->beside[ranks[c]];
  for (gint c = 0; c < grid->columns; c++)
    counts[c] = 0;
  for (gint i = 0; i < grid->side * grid->side; i++) {
    const guint16 *restrict plane = grid->planes[i];

    for (gint c = 0; c < grid->columns; c++)
      counts[c] = (guint8) (counts[c] + (plane[c] >= least[c]));
  }
}

/* Reads the region into the grid. @table was made for grid_pitch(). */
static void
grid_read (GstStereoGrid *grid, const GstStereoDepthView *view, const RankTable *table)
{
  grid->seen = 0;
  grid->counting = (guint64) grid->across * (guint64) grid->down;
  memset (grid->ranks, 0, (gsize) grid->stride * sizeof *grid->ranks);
  memset (grid->ranks + (gsize) grid->stride * (gsize) (grid->rows + 1), 0, (gsize) grid->stride * sizeof *grid->ranks);
  for (gint row = 0; row < grid->rows; row++) {
    gsize start = (gsize) grid->stride * (gsize) (row + 1);
    guint16 *ranks = grid->ranks + start;

    for (gint j = 0; j < grid->side; j++)
      for (gint i = 0; i < grid->side; i++)
        read_samples (grid, view, row, i, j, table->smaller_is_nearer);
    sort_row (grid);
    ranks[0] = ranks[grid->columns + 1] = 0;
    memcpy (ranks + 1, grid->rows_nearest[grid->side - 1], (gsize) grid->columns * sizeof *ranks);
    count_row (grid, ranks + 1, grid->counts + start + 1, table);
  }
}

/* ---- the nearest surface: its cells ------------------------------------------------------ */

typedef struct
{
  guint rank;      /* with the cells of this rank or nearer ones, enough samples are connected */
  guint32 *cells;  /* of the surface: places in the grid */
  guint count;     /* of cells */
  guint64 samples; /* in them */

  /*< private >*/
  guint32 starts[RANKS + 1]; /* per rank: first in @order; elsewhere 0 */
  guint32 *order;            /* cells, the farthest first */
  guint32 *parents;          /* per cell: of the same set, its own place at the root; NONE = in no set yet */
  guint32 *sums;             /* per root: samples of the set */
  gsize room;                /* cells that there is memory for */
} Surface;

#define NONE G_MAXUINT32
#define NEIGHBOURS 8

/* Sorts the cells that are seen by their ranks. Returns how many there are. */
static guint
sort_cells (Surface *surface, const GstStereoGrid *grid)
{
  guint32 *starts = surface->starts, sum = 0;

  memset (starts, 0, sizeof surface->starts);
  for (gsize i = 0; i < grid->cells; i++)
    starts[grid->ranks[i]]++;
  starts[0] = 0;
  for (guint rank = 1; rank < RANKS; rank++) {
    guint32 count = starts[rank];
    starts[rank] = sum;
    sum += count;
  }
  for (gsize i = 0; i < grid->cells; i++)
    if (grid->ranks[i])
      surface->order[starts[grid->ranks[i]]++] = (guint32) i;
  return sum;
}

static guint32
root_of (guint32 *parents, guint32 cell)
{
  while (parents[cell] != cell) {
    parents[cell] = parents[parents[cell]];
    cell = parents[cell];
  }
  return cell;
}

/* Adds a cell to the sets of its neighbours that are as near or nearer, which become one. Returns its samples. */
static guint32
add_cell (
    Surface *surface, const GstStereoGrid *grid, const RankTable *table, const gint32 offsets[NEIGHBOURS], guint32 cell)
{
  guint32 *parents = surface->parents, *sums = surface->sums, root = cell;
  guint rank = grid->ranks[cell];

  parents[cell] = cell;
  sums[cell] = grid->counts[cell];
  for (guint i = 0; i < NEIGHBOURS; i++) {
    guint32 neighbour = cell + (guint32) offsets[i], other;

    if (parents[neighbour] == NONE || table->beside[grid->ranks[neighbour]] > rank)
      continue;
    other = root_of (parents, neighbour);
    if (other == root)
      continue;
    if (sums[other] > sums[root]) {
      guint32 larger = other;
      other = root;
      root = larger;
    }
    parents[other] = root;
    sums[root] += sums[other];
  }
  return sums[root];
}

/* All that is connected with @start, be it nearer or farther. The sets of cells are lost. */
static void
flood (Surface *surface, const GstStereoGrid *grid, const RankTable *table, const gint32 offsets[NEIGHBOURS],
    guint32 start)
{
  const guint16 *ranks = grid->ranks;
  guint32 *taken = surface->parents;

  memset (taken, 0, grid->cells * sizeof *taken);
  surface->cells[0] = start;
  surface->count = 1;
  surface->samples = 0;
  taken[start] = 1;
  for (guint done = 0; done < surface->count; done++) {
    guint32 cell = surface->cells[done];
    guint rank = ranks[cell], least = table->beside[rank];

    surface->samples += grid->counts[cell];
    for (guint i = 0; i < NEIGHBOURS; i++) {
      guint32 neighbour = cell + (guint32) offsets[i];
      guint other = ranks[neighbour];

      if (!other || taken[neighbour] || (other < rank ? other < least : table->beside[other] > rank))
        continue;
      taken[neighbour] = 1;
      surface->cells[surface->count++] = neighbour;
    }
  }
}

/* FALSE when nowhere as many samples are connected as the grid needs. */
static gboolean
surface_find (Surface *surface, const GstStereoGrid *grid, const RankTable *table)
{
  const gint32 below = grid->stride;
  /* all eight: a thin slanted object is connected by corners alone */
  const gint32 offsets[NEIGHBOURS] = { -below - 1, -below, -below + 1, -1, 1, below - 1, below, below + 1 };

  if (grid->cells > surface->room) {
    g_free (surface->order);
    surface->order = g_new (guint32, 4 * grid->cells);
    surface->room = grid->cells;
    surface->parents = surface->order + surface->room;
    surface->sums = surface->parents + surface->room;
    surface->cells = surface->sums + surface->room;
  }
  guint count = sort_cells (surface, grid);
  memset (surface->parents, 0xFF, grid->cells * sizeof *surface->parents);
  while (count-- > 0) {
    guint32 cell = surface->order[count];

    if (add_cell (surface, grid, table, offsets, cell) < grid->needed)
      continue;
    surface->rank = grid->ranks[cell];
    flood (surface, grid, table, offsets, cell);
    return TRUE;
  }
  return FALSE;
}

/* ---- a plane through points, by least squares -------------------------------------------- */

/* Sums over the points. Zeroed before the first one. */
typedef struct
{
  gdouble count, x, y, z, xx, xy, yy, xz, yz;
} Plane;

static inline void
plane_add (Plane *plane, gdouble x, gdouble y, gdouble z)
{
  plane->count++;
  plane->x += x;
  plane->y += y;
  plane->z += z;
  plane->xx += x * x;
  plane->xy += x * y;
  plane->yy += y * y;
  plane->xz += x * z;
  plane->yz += y * z;
}

/*
 * The plane's z at the origin, of at least one point; points lie @pitch pixels apart. Their mean, where they lie nearly on a
 * line: a slope across it would be noise.
 *
 * Across a narrow object, the slope that fits best is noise too. A matcher errs by NOISE, and by about the same in all points
 * of a patch: n points are only as good as n / (PATCH / @pitch)^2 that err independently. Before a point is seen, slopes to
 * the right are spread by STEEP around 0. What is then most likely is the least-squares plane with one more term, the square
 * of that slope times (NOISE / STEEP)^2 (PATCH / @pitch)^2. Wide surfaces have points enough to outweigh the term. Slopes
 * downwards are spread much wider: a road's is a third of a pixel for each pixel, so that they have no such term.
 */
#define PLANE_NOISE 0.5  /* px of disparity */
#define PLANE_PATCH 16   /* px; its side */
#define PLANE_STEEP 0.05 /* px of disparity for each pixel: a wall that is turned by 45 degrees, 20 baselines away */

static inline gdouble
plane_at_origin (const Plane *plane, gint pitch)
{
  const gdouble weight = PLANE_NOISE / PLANE_STEEP * PLANE_PATCH / pitch;
  gdouble n = plane->count, x = plane->x / n, y = plane->y / n, z = plane->z / n;
  gdouble xx = plane->xx / n - x * x, xy = plane->xy / n - x * y, yy = plane->yy / n - y * y;
  gdouble xz = plane->xz / n - x * z, yz = plane->yz / n - y * z;

  if (xx * yy - xy * xy <= 0.01 * xx * yy || xx < 1 || yy < 1)
    return z;
  xx += weight * weight / n;
  return z - (x * (xz * yy - yz * xy) + y * (yz * xx - xz * xy)) / (xx * yy - xy * xy);
}

/* ---- the nearest surface: its pixels ----------------------------------------------------- */

#define BLOCKS 48        /* across and down, at most */
#define SMALLEST_BLOCK 8 /* pixels */
#define HOLE_SAMPLES 8   /* of a hole's side, that are looked at */
#define HOLE_SEEN 0.1    /* share of a hole that may be seen: wrong pixels */
#define RANGE_END 1.0    /* px of disparity */
#define AROUND_PLACE 2.0 /* sides of the smallest surface, to each side of the place */

typedef struct
{
  guint64 x, y, confidence; /* sums */
  guint count;
} Block;

typedef struct
{
  guint32 seen, counting;
} Sum;

struct _GstStereoNearestFinder
{
  RankTable table;
  GstStereoGrid grid;
  Surface surface;

  Block blocks[BLOCKS * BLOCKS]; /* of the surface's pixels that are not farther than its threshold */
  gint block;                    /* side, pixels */

  Sum *sums; /* of the samples above and to the left */
  gsize sums_room;
};

GstStereoNearestFinder *
gst_stereo_nearest_finder_new (void)
{
  return g_new0 (GstStereoNearestFinder, 1);
}

void
gst_stereo_nearest_finder_free (GstStereoNearestFinder *finder)
{
  gst_stereo_grid_clear (&finder->grid);
  g_free (finder->surface.order);
  g_free (finder->sums);
  g_free (finder);
}

/* ---- the pixels of a surface ------------------------------------------------------------- */

/* The samples of a cell that are at @least or nearer. */
static void
add_near_samples (GstStereoNearestFinder *finder, const GstStereoDepthView *view, guint32 cell, guint least)
{
  const GstStereoGrid *grid = &finder->grid;
  gint row = (gint) cell / grid->stride - 1, column = (gint) cell % grid->stride - 1;

  for (gint j = row * grid->side; j < MIN ((row + 1) * grid->side, grid->down); j++)
    for (gint i = column * grid->side; i < MIN ((column + 1) * grid->side, grid->across); i++) {
      gint x = view->x + i * grid->step, y = view->y + j * grid->step;

      if (grid_rank (view, x, y, finder->table.smaller_is_nearer) < least)
        continue;
      Block *block = &finder->blocks[(y - view->y) / finder->block * BLOCKS + (x - view->x) / finder->block];
      block->x += (guint64) x;
      block->y += (guint64) y;
      block->confidence += view->confidence ? view->confidence[(gssize) y * view->confidence_stride + x] : 255;
      block->count++;
    }
}

/* Reads the pixels of the surface that are not farther than its threshold. */
static void
add_surface (GstStereoNearestFinder *finder, const GstStereoDepthView *view)
{
  const Surface *surface = &finder->surface;
  guint least = finder->table.alike[surface->rank];
  gint side = MAX (view->width, view->height);

  finder->block = MAX (SMALLEST_BLOCK, (side + BLOCKS - 1) / BLOCKS);
  memset (finder->blocks, 0, sizeof finder->blocks);
  for (guint i = 0; i < surface->count; i++)
    if (finder->grid.ranks[surface->cells[i]] >= least)
      add_near_samples (finder, view, surface->cells[i], least);
}

static void
place (const GstStereoNearestFinder *finder, GstStereoNearestFound *nearest)
{
  const Block *best = finder->blocks;

  for (guint i = 1; i < BLOCKS * BLOCKS; i++)
    if (finder->blocks[i].count > best->count)
      best = &finder->blocks[i];
  nearest->x = (gint) ((best->x + best->count / 2) / best->count);
  nearest->y = (gint) ((best->y + best->count / 2) / best->count);
  nearest->confidence = (gdouble) best->confidence / (255.0 * best->count);
}

/* ---- distance ---------------------------------------------------------------------------- */

/* The sample in the middle of a cell, if it is part of the surface around the place. */
static void
add_middle (const GstStereoNearestFinder *finder, const GstStereoDepthView *view, guint32 cell, gint radius,
    const GstStereoNearestFound *nearest, Plane *plane)
{
  const GstStereoGrid *grid = &finder->grid;
  const RankTable *table = &finder->table;
  gint middle = grid->side / 2, row = (gint) cell / grid->stride - 1, column = (gint) cell % grid->stride - 1;
  gint i = column * grid->side + middle, j = row * grid->side + middle;
  gint x = view->x + i * grid->step, y = view->y + j * grid->step;

  if (i >= grid->across || j >= grid->down || ABS (x - nearest->x) > radius || ABS (y - nearest->y) > radius)
    return;
  guint rank = grid_rank (view, x, y, table->smaller_is_nearer);
  if (rank >= table->around[finder->surface.rank] && table->around[rank] <= finder->surface.rank)
    plane_add (plane, x - nearest->x, y - nearest->y, table->nearness[rank]);
}

/* The sample of the surface at its place: that of a plane through the surface around it. The threshold itself is nearer than
 * the truth, because it is found at the pixels whose errors make them near. */
static guint
sample_at_place (
    const GstStereoNearestFinder *finder, const GstStereoDepthView *view, const GstStereoNearestFound *nearest)
{
  const Surface *surface = &finder->surface;
  gint pixels = (gint) ceil (AROUND_PLACE * sqrt ((gdouble) finder->grid.needed)) * finder->grid.step;
  guint least = finder->table.around[surface->rank], rank = surface->rank;
  Plane plane = { 0 };

  for (guint i = 0; i < surface->count; i++)
    if (finder->grid.ranks[surface->cells[i]] >= least)
      add_middle (finder, view, surface->cells[i], pixels, nearest, &plane);
  if (plane.count > 0)
    rank = rank_table_closest (&finder->table, plane_at_origin (&plane, grid_pitch (&finder->grid)));
  return rank_sample (rank, finder->table.smaller_is_nearer);
}

/* ---- search ------------------------------------------------------------------------------ */

gboolean
gst_stereo_nearest_find (
    GstStereoNearestFinder *finder, const GstStereoDepthView *view, gdouble percentage, GstStereoNearestFound *nearest)
{
  GstStereoGrid *grid = &finder->grid;
  guint64 pixels = (guint64) view->width * (guint64) view->height, samples;

  gst_stereo_grid_shape (grid, view->width, view->height, percentage);
  rank_table_make (&finder->table, view->meta, grid_pitch (grid));
  grid_read (grid, view, &finder->table);
  memset (nearest, 0, sizeof *nearest);
  samples = (guint64) grid->across * (guint64) grid->down;
  nearest->coverage = grid->counting ? (gdouble) grid->seen / (gdouble) grid->counting : 0;
  if (!surface_find (&finder->surface, grid, &finder->table))
    return FALSE;
  add_surface (finder, view);
  nearest->support = finder->surface.samples * pixels / samples;
  place (finder, nearest);
  nearest->sample = sample_at_place (finder, view, nearest);
  return TRUE;
}

/* ---- holes ------------------------------------------------------------------------------- */

/* Adds up every @step-th sample of the region. */
static void
sum_samples (GstStereoNearestFinder *finder, const GstStereoDepthView *view, gint step, gint columns, gint rows)
{
  const GstStereoMeta *meta = view->meta;
  gboolean limited = meta->num_disparities > 0 && !isnan (gst_stereo_meta_get_disparity (meta, 1));
  gdouble largest = meta->min_disparity + meta->num_disparities - 1 - RANGE_END;
  guint end = limited ? rank_table_closest (&finder->table, largest) : G_MAXUINT;
  gsize stride = (gsize) columns + 1, all = stride * ((gsize) rows + 1);

  if (all > finder->sums_room) {
    finder->sums = g_renew (Sum, finder->sums, all);
    finder->sums_room = all;
  }
  memset (finder->sums, 0, stride * sizeof (Sum));
  for (gint j = 0; j < rows; j++) {
    Sum *row = finder->sums + ((gsize) j + 1) * stride, in_row = { 0 };
    gint y = view->y + j * step + step / 2;

    row[0] = in_row;
    for (gint i = 0; i < columns; i++) {
      gint x = view->x + i * step + step / 2;
      guint rank = grid_rank (view, x, y, finder->table.smaller_is_nearer);

      in_row.seen += rank > 0 && rank <= end;
      in_row.counting += !view->mask || view->mask[(gssize) y * view->mask_stride + x];
      row[i + 1].seen = row[i + 1 - (gssize) stride].seen + in_row.seen;
      row[i + 1].counting = row[i + 1 - (gssize) stride].counting + in_row.counting;
    }
  }
}

gboolean
gst_stereo_nearest_has_hole (
    GstStereoNearestFinder *finder, const GstStereoDepthView *view, gdouble width, gdouble height)
{
  gint step = MAX (1, (gint) MIN (MIN (width, height) / HOLE_SAMPLES, MIN (view->width, view->height)));
  gint columns = view->width / step, rows = view->height / step;
  gint across = CLAMP ((gint) (width / step), 1, columns), down = CLAMP ((gint) (height / step), 1, rows);

  sum_samples (finder, view, step, columns, rows);
  for (gint j = 0; j + down <= rows; j++)
    for (gint i = 0; i + across <= columns; i++) {
      const Sum *above = finder->sums + (gsize) j * ((gsize) columns + 1) + i;
      const Sum *below = above + (gsize) down * ((gsize) columns + 1);
      guint32 seen = below[across].seen - below[0].seen - above[across].seen + above[0].seen;
      guint32 counting = below[across].counting - below[0].counting - above[across].counting + above[0].counting;

      if (2 * counting >= (guint32) (across * down) && seen < HOLE_SEEN * counting)
        return TRUE;
    }
  return FALSE;
}

/* ---- the object in a box ----------------------------------------------------------------- */

#define MOST_BOX_SAMPLES 4096 /* of a box: every pixel of a small one */
#define LEAST_COVERAGE 0.05   /* of the box */
#define ERROR 1.0             /* px of disparity to each side of the interval's middle: error of a matcher */
#define DEPTH 0.04            /* and the depth of an object, as a share of its distance */

typedef struct
{
  guint16 rank;
  guint8 confidence;
  gfloat weight;
} BoxSample;

struct _GstStereoBoxObjectFinder
{
  RankTable table;
  BoxSample samples[MOST_BOX_SAMPLES];
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
read_box (GstStereoBoxObjectFinder *finder, const GstStereoDepthView *view)
{
  gint step = 1;
  guint visited = 0;

  while (((gint64) view->width + step - 1) / step * (((gint64) view->height + step - 1) / step) > MOST_BOX_SAMPLES)
    step++;
  finder->count = 0;
  for (gint y = step / 2; y < view->height; y += step)
    for (gint x = step / 2; x < view->width; x += step) {
      gint px = view->x + x, py = view->y + y;
      guint rank = grid_rank (view, px, py, finder->table.smaller_is_nearer);

      visited++;
      if (rank)
        finder->samples[finder->count++] = (BoxSample){ (guint16) rank,
          view->confidence ? view->confidence[(gssize) py * view->confidence_stride + px] : 255,
          weight_at (x, view->width) * weight_at (y, view->height) };
    }
  return visited;
}

static int
compare_ranks (gconstpointer a, gconstpointer b)
{
  return (int) ((const BoxSample *) a)->rank - (int) ((const BoxSample *) b)->rank;
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
  return rank_sample (finder->samples[at].rank, finder->table.smaller_is_nearer);
}

gboolean
gst_stereo_box_object_find (GstStereoBoxObjectFinder *finder, const GstStereoDepthView *view, GstStereoBoxObject *object)
{
  gdouble all = 0, confidence = 0, best;
  guint visited, from = 0, to = 0;

  *object = (GstStereoBoxObject){ 0 };
  rank_table_make (&finder->table, view->meta, 1);
  visited = read_box (finder, view);
  object->coverage = visited ? (gdouble) finder->count / visited : 0;
  if (!finder->count || object->coverage < LEAST_COVERAGE)
    return FALSE;
  qsort (finder->samples, finder->count, sizeof *finder->samples, compare_ranks);
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
