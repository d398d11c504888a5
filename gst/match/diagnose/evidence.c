/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/diagnose/evidence.h"

#include <math.h>
#include <string.h>

#define ACROSS 320  /* cells, about */
#define SIDE 8      /* cells of a block */
#define RADIUS 8    /* cells around one that its local mean is of */
#define LOOKS 8     /* that the mean is of */
#define LATELY 3    /* looks that movement is averaged over */
#define LEVEL 100.0 /* mean brightness that both pictures are brought to */
#define DARKEST 20.0
#define MIN_WIDTH 16
#define MIN_HEIGHT 8
#define ROWS 32 /* that are read at full size, with those BELOW them */
#define BELOW 2
#define STEP 2
#define BLACK 16 /* levels up to this one are black: room for the noise of a sensor without light */
#define WHITE 250
#define CORE 6 /* saturated cells of 9 */

#define TEXTURE 4.0 /* squared grey levels of a cell: texture */
#define NOISE 25.0  /* squared grey levels of a cell that are no more than noise */
#define EVEN 0.3    /* no texture */
#define MOVES 1.0   /* something moves, */
#define SHARED 0.25 /* and neighbours share so much of it */
#define LIVE 0.3    /* of the texture, or */
#define FOLLOWS 0.3 /* correlation with the look before: it is no flicker */
#define COMPANY 4   /* patterns of a block and the eight around it that are no chance, */
#define GROWS 2     /* and around one that is fixed too */
#define JUMP 0.2
#define STILL 0.4 /* nothing moves */
#define KEPT 0.6  /* of what is fixed: still there in this look */
#define LOST 0.4
#define ALIKE 0.6    /* correlation of the views at disparity 0 */
#define APART 0.5    /* of what moves: it lies elsewhere */
#define AT_ZERO 0.1  /* cells: of one picture */
#define BEYOND 2     /* search ranges in which what moves in one view has to move in the other, */
#define LEAST_PART 4 /* and at least this part of the width */
#define ONE 0.5      /* share of the blocks at disparity 0 */
#define SURE 0.8
#define FAR_FROM_ZERO 0.5 /* cells */
#define CALM 0.5          /* share of the blocks that do not move */
#define NEAR_ZERO 0.2     /* of the mean, in which some of the scene is left */
#define AROUND 0.6        /* share of the blocks around a fixed one that move */
#define VOTES 3           /* looks that show a pattern */
#define MOST_VOTES 24     /* looks that have to show it to be gone, at most */

enum
{
  LEFT,
  RIGHT,
  VIEWS
};

/* Means over a block of products of the structure now (h), its mean before (m), the rest (r), that of the look before (p), and the
 * difference of this look and the one before (d). */
typedef struct
{
  gfloat hh, hn, hm, mm, mn, rr, rn, rp, dd, dn; /* n: the neighbour to the right */
} Sums;

/* Looks that were as before, to the bit, and looks since that were not. */
typedef struct
{
  guint8 same, changed;
} Repeats;

typedef struct
{
  gfloat moving, moved; /* means over the last looks of rn, and of rr */
  gfloat kept;          /* of hm / mm */
  gfloat follows;       /* of rp / rr */
  guint8 is_moving, is_still, is_live, is_textured, is_even;
  guint8 stopped, stale, even; /* looks in a row */
  Repeats repeats;
} Block;

typedef struct
{
  guint16 *cells, *before; /* sums of pixels */
  gfloat *high, *mean, *rest, *past;
  gfloat *level; /* of each block */
  Sums *sums;
  Block *blocks;
  gfloat brightness;
  gdouble lost; /* share of the texture that usually is another one than in the mean */
  Repeats repeats;
} View;

struct _GstStereoEvidence
{
  gint width, height, factor, rows; /* of the views; pixels of a cell each way; rows of a cell that are read */
  gint w, h, across, down;          /* cells, and blocks */
  guint looks;
  View views[VIEWS];
  guint8 *votes; /* of each block, for a pattern */
  guint8 *near;  /* of each block: looks in a calm scene in which it did not lie at disparity 0 */
  gboolean one;  /* the last look showed one picture in both views */
  guint calm;    /* looks in a row in which most of the scene stood still */
  guint8 *line;
  guint32 *integral;
};

GstStereoEvidence *
gst_stereo_evidence_new (gint width, gint height)
{
  gint factor = MAX (1, (width + ACROSS / 2) / ACROSS), w = width / factor, h = height / factor;

  if (w < MIN_WIDTH || h < MIN_HEIGHT)
    return NULL;
  GstStereoEvidence *evidence = g_new0 (GstStereoEvidence, 1);
  *evidence = (GstStereoEvidence){ .width = width,
    .height = height,
    .factor = factor,
    .rows = MIN (2, factor),
    .w = w,
    .h = h,
    .across = w / SIDE,
    .down = h / SIDE };
  gsize cells = (gsize) w * (gsize) h, blocks = (gsize) evidence->across * (gsize) evidence->down;
  for (guint v = 0; v < VIEWS; v++)
    evidence->views[v] = (View){ g_new0 (guint16, cells), g_new0 (guint16, cells), g_new0 (gfloat, cells),
      g_new0 (gfloat, cells), g_new0 (gfloat, cells), g_new0 (gfloat, cells), g_new0 (gfloat, blocks),
      g_new0 (Sums, blocks), g_new0 (Block, blocks), 0, 0, { 0 } };
  evidence->votes = g_malloc0 (blocks);
  evidence->near = g_malloc0 (blocks);
  evidence->line = g_malloc0 (2 * (gsize) width);
  evidence->integral = g_new0 (guint32, (gsize) (w + 1) * (gsize) (h + 1));
  return evidence;
}

void
gst_stereo_evidence_free (GstStereoEvidence *evidence)
{
  if (!evidence)
    return;
  for (guint v = 0; v < VIEWS; v++) {
    View *view = &evidence->views[v];
    g_free (view->cells);
    g_free (view->before);
    g_free (view->high);
    g_free (view->mean);
    g_free (view->rest);
    g_free (view->past);
    g_free (view->level);
    g_free (view->sums);
    g_free (view->blocks);
  }
  g_free (evidence->votes);
  g_free (evidence->near);
  g_free (evidence->line);
  g_free (evidence->integral);
  g_free (evidence);
}

gboolean
gst_stereo_evidence_is_for (const GstStereoEvidence *evidence, gint width, gint height)
{
  return evidence->width == width && evidence->height == height;
}

void
gst_stereo_evidence_forget (GstStereoEvidence *evidence)
{
  evidence->looks = 0;
}

/* ---- rows at full size --------------------------------------------------------------------- */

#define GATHER(stride) \
  for (gint x = 0; x < width; x++) \
  row[x] = from[(gssize) x * (stride)]

/* One loop for each stride: compilers read several pixels at once where they know the stride. */
static void
read_row (const StereoImage *image, gint y, gint width, guint8 *row)
{
  /* luma, or green, which stands for luma */
  const guint8 *from = image->data + y * image->stride + image->offset[image->channels == 3];

  switch (image->pixel_stride) {
    case 1:
      memcpy (row, from, (gsize) width);
      break;
    case 2:
      GATHER (2);
      break;
    case 3:
      GATHER (3);
      break;
    case 4:
      GATHER (4);
      break;
    default:
      GATHER (image->pixel_stride);
  }
}

/* How much a row bends at x: twice the pixel less its neighbours two pixels away. */
#define BEND(row, x) (2 * (row)[x] - (row)[(x) -STEP] - (row)[(x) + STEP])

/* Brightness, and the texture that the cells are too coarse for, from some rows. Texture is alike two rows apart, and noise is not. */
static void
read_figures (
    GstStereoEvidence *evidence, const StereoImage *image, gint black, gint scale, GstStereoViewFigures *figures)
{
  gint width = evidence->width, rows = MIN (ROWS, evidence->height - BELOW);
  gint dark = black + BLACK * scale / 255, bright = black + WHITE * scale / 255;
  gdouble count = (gdouble) rows * width, bends = (gdouble) rows * (width - 2 * STEP);
  guint64 sum = 0, darks = 0, brights = 0;
  gint64 products = 0, squares = 0;

  for (gint i = 0; i < rows; i++) {
    gint y = (gint) ((gint64) (2 * i + 1) * (evidence->height - BELOW) / (2 * rows));
    const guint8 *row = evidence->line, *below = row + width;
    guint32 levels = 0, blacks = 0, whites = 0;
    read_row (image, y, width, evidence->line);
    read_row (image, y + BELOW, width, evidence->line + width);
    for (gint x = 0; x < width; x++) {
      levels += row[x];
      blacks += row[x] <= dark;
      whites += row[x] >= bright;
    }
    /* a product is at most 510^2: 32 bits hold the sum of 8192 */
    for (gint from = STEP; from < width - STEP; from += 8192) {
      gint32 product = 0, square = 0;
      for (gint x = from; x < MIN (from + 8192, width - STEP); x++) {
        product += BEND (row, x) * BEND (below, x);
        square += BEND (row, x) * BEND (row, x);
      }
      products += product;
      squares += square;
    }
    sum += levels;
    darks += blacks;
    brights += whites;
  }
  figures->brightness = MAX (0, ((gdouble) sum / count - black) * 255 / scale);
  figures->black = (gdouble) darks / count;
  figures->white = (gdouble) brights / count;
  figures->detail = sqrt ((gdouble) MAX (0, products) / bends) * 255 / scale;
  figures->roughness = sqrt ((gdouble) squares / bends) * 255 / scale;
  /* neighbouring products share samples: as if there were half as many */
  figures->doubt = figures->roughness * figures->roughness * sqrt (2 / bends);
}

/* ---- cells --------------------------------------------------------------------------------- */

static void
read_cells (GstStereoEvidence *evidence, View *view, const StereoImage *image)
{
  gint f = evidence->factor, w = evidence->w;
  guint16 *before = view->before;

  view->before = view->cells;
  view->cells = before;
  for (gint y = 0; y < evidence->h; y++) {
    guint16 *cells = view->cells + (gsize) y * (gsize) w;
    memset (cells, 0, (gsize) w * sizeof *cells);
    for (gint row = 0; row < evidence->rows; row++) {
      read_row (image, y * f + row * f / 2, evidence->width, evidence->line);
      const guint8 *line = evidence->line;
      if (f == 1)
        for (gint x = 0; x < w; x++)
          cells[x] = line[x];
      else if (f == 2)
        for (gint x = 0; x < w; x++)
          cells[x] = (guint16) (cells[x] + line[2 * x] + line[2 * x + 1]);
      else
        for (gint x = 0; x < w; x++)
          for (gint i = 0; i < f; i++)
            cells[x] = (guint16) (cells[x] + line[x * f + i]);
    }
  }
}

static void
integrate (GstStereoEvidence *evidence, const View *view)
{
  gsize stride = (gsize) evidence->w + 1;

  for (gint y = 0; y < evidence->h; y++) {
    const guint16 *cells = view->cells + (gsize) y * (gsize) evidence->w;
    guint32 *above = evidence->integral + (gsize) y * stride, *row = above + stride, sum = 0;
    for (gint x = 0; x < evidence->w; x++) {
      sum += cells[x];
      row[x + 1] = above[x + 1] + sum;
    }
  }
}

/* The sum over a rectangle of cells. */
static inline guint32
sum_of (const GstStereoEvidence *evidence, gint left, gint top, gint right, gint bottom)
{
  gsize stride = (gsize) evidence->w + 1;
  const guint32 *first = evidence->integral + (gsize) top * stride, *last = evidence->integral + (gsize) bottom * stride;

  return last[right] - last[left] - first[right] + first[left];
}

/* The cells less their local mean, at one brightness. */
static void
find_structure (GstStereoEvidence *evidence, View *view, gint black, gint scale)
{
  gint w = evidence->w, h = evidence->h, pixels = evidence->factor * evidence->rows;
  gfloat unit = 255.0f / (gfloat) (scale * pixels);
  gfloat *past = view->past;

  integrate (evidence, view);
  view->brightness = (gfloat) sum_of (evidence, 0, 0, w, h) / (gfloat) (w * h) * unit -
      (gfloat) black * 255 / (gfloat) scale;
  gfloat gain = unit * (gfloat) LEVEL / MAX (view->brightness, (gfloat) DARKEST);
  for (gint y = 0; y < h; y++) {
    gint top = MAX (0, y - RADIUS), bottom = MIN (h, y + RADIUS + 1);
    const guint16 *cells = view->cells + (gsize) y * (gsize) w;
    gfloat *high = view->high + (gsize) y * (gsize) w;
    for (gint x = 0; x < w; x++) {
      gint left = MAX (0, x - RADIUS), right = MIN (w, x + RADIUS + 1);
      gfloat count = (gfloat) ((right - left) * (bottom - top));
      high[x] = gain * ((gfloat) cells[x] - (gfloat) sum_of (evidence, left, top, right, bottom) / count);
    }
  }
  for (gint by = 0; by < evidence->down; by++)
    for (gint bx = 0; bx < evidence->across; bx++)
      view->level[by * evidence->across + bx] = unit / (SIDE * SIDE) *
          (gfloat) sum_of (evidence, bx * SIDE, by * SIDE, (bx + 1) * SIDE, (by + 1) * SIDE);
  view->past = view->rest;
  view->rest = past;
}

/* The rest of this look, and the mean with it. */
static void
find_rest (View *view, gint count, guint looks)
{
  if (!looks)
    memcpy (view->mean, view->high, (gsize) count * sizeof *view->mean);
  for (gint i = 0; i < count; i++)
    view->rest[i] = view->high[i] - view->mean[i];
}

static void
update_mean (View *view, gint count, guint looks)
{
  gfloat share = 1.0f / (gfloat) MIN (looks + 1, LOOKS);

  for (gint i = 0; i < count; i++)
    view->mean[i] += share * view->rest[i];
}

/* ---- blocks -------------------------------------------------------------------------------- */

/* Columns of a block add up one by one, which compilers do at once. */
#define ADD(sum, value) \
  for (gint i = 0; i < SIDE; i++) \
  (sum)[i] += (value)

static inline gfloat
total (const gfloat *columns)
{
  gfloat sum = 0;

  for (gint i = 0; i < SIDE; i++)
    sum += columns[i];
  return sum / (SIDE * SIDE);
}

static Sums
sum_block (const GstStereoEvidence *evidence, const View *view, gint bx, gint by)
{
  gfloat hh[SIDE] = { 0 }, hn[SIDE] = { 0 }, hm[SIDE] = { 0 }, mm[SIDE] = { 0 }, mn[SIDE] = { 0 }, rr[SIDE] = { 0 },
         rn[SIDE] = { 0 }, rp[SIDE] = { 0 }, dd[SIDE] = { 0 }, dn[SIDE] = { 0 };
  /* of the rest of the look before, the mean has taken its share */
  gfloat left = 1 - 1.0f / (gfloat) MIN (MAX (1, evidence->looks), LOOKS);
  /* the last column has no neighbour inside the picture */
  gint next = (bx + 1) * SIDE < evidence->w ? 1 : -1;

  for (gint y = by * SIDE; y < (by + 1) * SIDE; y++) {
    gsize at = (gsize) y * (gsize) evidence->w + (gsize) (bx * SIDE);
    const gfloat *h = view->high + at, *m = view->mean + at, *r = view->rest + at, *p = view->past + at;
    gfloat d[SIDE + 1];
    for (gint i = 0; i <= SIDE; i++) {
      gint x = i < SIDE ? i : SIDE - 1 + next;
      d[i] = r[x] - left * p[x];
    }
    ADD (hh, h[i] * h[i]);
    ADD (hn, h[i] * h[i + (i < SIDE - 1 ? 1 : next)]);
    ADD (hm, h[i] * m[i]);
    ADD (mm, m[i] * m[i]);
    ADD (mn, m[i] * m[i + (i < SIDE - 1 ? 1 : next)]);
    ADD (rr, r[i] * r[i]);
    ADD (rn, r[i] * r[i + (i < SIDE - 1 ? 1 : next)]);
    ADD (rp, r[i] * p[i]);
    ADD (dd, d[i] * d[i]);
    ADD (dn, d[i] * d[i + 1]);
  }
  return (Sums){ total (hh), total (hn), total (hm), total (mm), total (mn), total (rr), total (rn), total (rp),
    total (dd), total (dn) };
}

/* How a picture and the other view's fit at disparity 0. */
typedef struct
{
  gfloat alike; /* correlation */
  gfloat shift; /* cells */
  gfloat rest;  /* share of the structure that neither exposure nor the shift explains, without noise */
} Fit;

static Fit
fit_block (const GstStereoEvidence *evidence, const gfloat *left, const gfloat *right, gint bx, gint by)
{
  gfloat ll[SIDE] = { 0 }, lr[SIDE] = { 0 }, rr[SIDE] = { 0 }, gg[SIDE] = { 0 }, gl[SIDE] = { 0 }, gr[SIDE] = { 0 };
  gint before = bx ? 1 : 0, after = (bx + 1) * SIDE < evidence->w ? 1 : 0;
  Fit fit = { 0 };

  for (gint y = by * SIDE; y < (by + 1) * SIDE; y++) {
    gsize at = (gsize) y * (gsize) evidence->w + (gsize) (bx * SIDE);
    const gfloat *l = left + at, *r = right + at;
    gfloat g[SIDE];
    for (gint i = 0; i < SIDE; i++)
      g[i] = (l[i + (i < SIDE - 1 ? 1 : after)] - l[i - (i ? 1 : before)]) / 2;
    ADD (ll, l[i] * l[i]);
    ADD (lr, l[i] * r[i]);
    ADD (rr, r[i] * r[i]);
    ADD (gg, g[i] * g[i]);
    ADD (gl, g[i] * l[i]);
    ADD (gr, g[i] * r[i]);
  }
  gfloat product = total (ll) * total (rr), gain = total (lr) / MAX (total (ll), 1e-6f), slope = total (gg);
  fit.alike = product > 0 ? total (lr) / sqrtf (product) : 0;
  fit.shift = gain > 0 && slope > 0 ? (total (gr) / gain - total (gl)) / slope : (gfloat) SIDE;
  fit.rest = 0;
  if (fit.alike > (gfloat) ALIKE && gain > 0) {
    gfloat sum = 0;
    for (gint y = by * SIDE; y < (by + 1) * SIDE; y++) {
      gsize at = (gsize) y * (gsize) evidence->w + (gsize) (bx * SIDE);
      const gfloat *l = left + at, *r = right + at;
      for (gint i = 0; i < SIDE - 1; i++)
        sum += (r[i] - gain * l[i]) * (r[i + 1] - gain * l[i + 1]);
    }
    fit.rest = sum / (SIDE * (SIDE - 1)) / MAX (total (rr), 1e-6f);
  }
  return fit;
}

static void
update_block (Block *block, const Sums *sums, guint looks)
{
  gfloat share = 1.0f / (gfloat) MIN (MAX (1, looks), LATELY);

  block->is_textured = sums->mn > (gfloat) TEXTURE;
  if (!looks) {
    block->moving = block->moved = block->follows = 0;
    block->kept = 1;
  } else {
    block->moving += share * (sums->rn - block->moving);
    block->moved += share * (sums->rr - block->moved);
    block->kept += share * (CLAMP (sums->hm / MAX (sums->mm, 0.1f), -2.0f, 2.0f) - block->kept);
    block->follows += share * (sums->rp / MAX (sums->rr, 0.1f) - block->follows);
  }
  block->is_moving = block->moving > (gfloat) MOVES && block->moving > (gfloat) SHARED * block->moved;
  block->is_still = block->moving < (gfloat) STILL || block->moving < (gfloat) SHARED / 2 * block->moved;
  /* after a single change the mean follows for a while: noise by chance must not seem to go on with it */
  gfloat noise = block->stopped > 1 ? (gfloat) MOVES : (gfloat) STILL;
  gboolean stopped = looks && sums->dn < MAX (noise, (gfloat) SHARED * sums->dd);
  block->stopped = stopped ? MIN (block->stopped + 1, MOST_VOTES) : 0;
  /* no more than noise */
  block->is_even = sums->hh < (gfloat) NOISE && sums->hn < MAX ((gfloat) EVEN, (gfloat) SHARED * sums->hh);
  /* an encoder's flicker keeps what it flickers around, and is another one in each look; and where something has stopped, or was
   * uncovered, the mean follows for a while */
  block->is_live = block->is_moving && block->stopped < 2 &&
      (block->moving > (gfloat) LIVE * sums->mn || block->follows > (gfloat) FOLLOWS);
}

static gboolean
is_same (const GstStereoEvidence *evidence, const View *view, gint bx, gint by)
{
  for (gint y = by * SIDE; y < (by + 1) * SIDE; y++) {
    gsize at = (gsize) y * (gsize) evidence->w + (gsize) (bx * SIDE);
    if (memcmp (view->cells + at, view->before + at, SIDE * sizeof *view->cells))
      return FALSE;
  }
  return TRUE;
}

/* Whether what repeated lives again: its pixels change, though nothing may move there. An encoder changes what it repeats now and
 * then. */
static gboolean
wakes (Repeats *repeats, gboolean same)
{
  gboolean woken = FALSE;

  if (same) {
    repeats->same = MIN (repeats->same + 1, VOTES);
    repeats->changed = 0;
  } else if (++repeats->changed >= VOTES) {
    woken = repeats->same == VOTES;
    *repeats = (Repeats){ 0 };
  }
  return woken;
}

static void
forget_stale (View *view, gint blocks)
{
  for (gint b = 0; b < blocks; b++)
    view->blocks[b].stale = 0;
}

/* Another picture: what was fixed so far is not fixed any more, and one view says nothing of the other one any more. */
static void
restart (GstStereoEvidence *evidence)
{
  gint count = evidence->w * evidence->h;

  for (guint v = 0; v < VIEWS; v++) {
    View *view = &evidence->views[v];
    memcpy (view->mean, view->high, (gsize) count * sizeof *view->mean);
    memset (view->rest, 0, (gsize) count * sizeof *view->rest);
    forget_stale (view, evidence->across * evidence->down);
  }
  evidence->looks = 0;
}

/* ---- one view beside the other -------------------------------------------------------------- */

/* Blocks of a row, of which one sees the same as a block of the other view. */
typedef struct
{
  gint first, last;
  gboolean whole; /* none of them would lie outside of the other view */
} Reach;

static Reach
reach_of (const GstStereoEvidence *evidence, guint v, gint bx, gint least, gint most)
{
  gint block = evidence->factor * SIDE, near = (most + block - 1) / block, far = (gint) floor ((gdouble) least / block);
  gint first = v == LEFT ? bx - near : bx + far, last = v == LEFT ? bx - far : bx + near;
  gint end = evidence->across - 1;

  return (Reach){ MAX (0, first), MIN (end, last), first >= 0 && last <= end && first <= last };
}

/* What a block lacks beside the other view. */
static void
compare_block (
    GstStereoEvidence *evidence, guint v, gint bx, gint by, Reach reach, Reach wide, GstStereoViewFigures *figures)
{
  const Block *row = evidence->views[!v].blocks + by * evidence->across;
  Block *block = &evidence->views[v].blocks[by * evidence->across + bx];
  /* the other view may see no such place */
  gboolean all_live = wide.whole, all_textured = reach.first <= reach.last;

  for (gint x = wide.first; x <= wide.last; x++)
    all_live = all_live && row[x].is_live && !row[x].stopped && row[x].is_textured;
  for (gint x = reach.first; x <= reach.last; x++)
    all_textured = all_textured && row[x].is_textured;
  gboolean stale = all_live && block->stopped > 1 && block->is_textured, even = all_textured && block->is_even;
  if (stale)
    block->stale = MIN (block->stale + 1, MOST_VOTES);
  else if (!block->stopped)
    block->stale = 0;
  else if (block->stale && block->stale < VOTES) /* a single change of the other view must not add up with the next one */
    block->stale--;
  block->even = even ? MIN (block->even + 1, MOST_VOTES) : 0;
  figures->stale += block->stale >= VOTES;
  figures->even += block->even >= 1;
}

/* Whether a view moves nowhere where the other view moves at that block: a view that has no such place may be sound. */
static gboolean
moves_alone (const GstStereoEvidence *evidence, guint v, gint by, Reach reach)
{
  if (!reach.whole)
    return FALSE;
  for (gint y = MAX (0, by - 1); y <= MIN (evidence->down - 1, by + 1); y++)
    for (gint x = reach.first; x <= reach.last; x++)
      if (!evidence->views[v].blocks[y * evidence->across + x].is_still)
        return FALSE;
  return TRUE;
}

/* ---- both views together --------------------------------------------------------------------- */

static gboolean
is_surrounded (const GstStereoEvidence *evidence, gint bx, gint by)
{
  guint live = 0, count = 0;

  for (gint y = MAX (0, by - 2); y <= MIN (evidence->down - 1, by + 2); y++)
    for (gint x = MAX (0, bx - 2); x <= MIN (evidence->across - 1, bx + 2); x++, count++)
      live += evidence->views[LEFT].blocks[y * evidence->across + x].is_live &&
          evidence->views[RIGHT].blocks[y * evidence->across + x].is_live;
  return live >= (guint) (AROUND * count);
}

/* Patterns of the block and of the eight blocks around. */
static guint
count_patterns (const GstStereoEvidence *evidence, gint bx, gint by)
{
  guint count = 0;

  for (gint y = MAX (0, by - 1); y <= MIN (evidence->down - 1, by + 1); y++)
    for (gint x = MAX (0, bx - 1); x <= MIN (evidence->across - 1, bx + 1); x++)
      count += evidence->votes[y * evidence->across + x] >= VOTES;
  return count;
}

/* Whether something has come before both lenses while the scene stood still: what lay nearer lies at disparity 0 all at once. */
static gboolean
is_splash (GstStereoEvidence *evidence, gint b, const Fit *now)
{
  guint8 *near = &evidence->near[b];

  if (evidence->calm < LOOKS)
    *near = 0;
  else if (now->alike < (gfloat) LOST || fabsf (now->shift) > (gfloat) FAR_FROM_ZERO)
    *near = (guint8) MIN (*near + 1, LOOKS);
  return *near == LOOKS && now->alike > (gfloat) SURE && fabsf (now->shift) < (gfloat) AT_ZERO;
}

/* A vote on whether a block shows a pattern on the lenses. */
static void
judge_pattern (GstStereoEvidence *evidence, gint bx, gint by, const Fit *now, const Fit *mean)
{
  gint b = by * evidence->across + bx;
  const Block *left = &evidence->views[LEFT].blocks[b], *right = &evidence->views[RIGHT].blocks[b];
  guint8 *votes = &evidence->votes[b];
  gboolean fixed = left->kept > (gfloat) KEPT && right->kept > (gfloat) KEPT && mean->alike > (gfloat) ALIKE &&
      fabsf (mean->shift) < (gfloat) NEAR_ZERO;
  gboolean moves = left->is_moving && right->is_moving;

  /* of one camera on both pads, all lies at disparity 0 */
  if (evidence->looks < VOTES || evidence->one || !left->is_textured || !right->is_textured)
    return;
  if (is_splash (evidence, b, now)) {
    *votes = (guint8) MIN (*votes + 1, MOST_VOTES);
  } else if (fixed && moves) {
    Fit rest = fit_block (evidence, evidence->views[LEFT].rest, evidence->views[RIGHT].rest, bx, by);
    if (rest.alike < (gfloat) APART)
      *votes = (guint8) MIN (*votes + 1, MOST_VOTES);
  } else if (fixed &&
      (count_patterns (evidence, bx, by) >= GROWS ||
          (left->is_still && right->is_still && is_surrounded (evidence, bx, by)))) {
    *votes = (guint8) MIN (*votes + 1, MOST_VOTES);
  } else if (!fixed && moves && *votes) {
    (*votes)--;
  }
}

static void
compare_views (
    GstStereoEvidence *evidence, gint least, gint most, GstStereoViewFigures figures[2], GstStereoPairFigures *pair)
{
  /* what moves may be nearer than what is searched, and the views may be exchanged */
  gint far = MAX (BEYOND * most, evidence->width / LEAST_PART);
  gdouble rest = 0;

  for (gint by = 0; by < evidence->down; by++)
    for (gint bx = 0; bx < evidence->across; bx++) {
      gint b = by * evidence->across + bx;
      const Block *blocks[] = { &evidence->views[LEFT].blocks[b], &evidence->views[RIGHT].blocks[b] };
      for (guint v = 0; v < VIEWS; v++) {
        compare_block (evidence, v, bx, by, reach_of (evidence, v, bx, least, most),
            reach_of (evidence, v, bx, least, far), &figures[v]);
        figures[!v].alone += blocks[v]->is_live &&
            moves_alone (evidence, !v, by, reach_of (evidence, v, bx, least, far));
      }
      if (!blocks[0]->is_textured || !blocks[1]->is_textured)
        continue;
      Fit now = fit_block (evidence, evidence->views[LEFT].high, evidence->views[RIGHT].high, bx, by);
      Fit mean = fit_block (evidence, evidence->views[LEFT].mean, evidence->views[RIGHT].mean, bx, by);
      pair->textured++;
      if (now.alike > (gfloat) ALIKE && fabsf (now.shift) < (gfloat) AT_ZERO) {
        pair->zero++;
        rest += now.rest;
      }
      judge_pattern (evidence, bx, by, &now, &mean);
    }
  pair->rest = pair->zero ? rest / pair->zero : 0;
  evidence->one = pair->zero > ONE * pair->textured;
  for (gint by = 0; by < evidence->down; by++)
    for (gint bx = 0; bx < evidence->across; bx++)
      pair->pattern += evidence->votes[by * evidence->across + bx] >= VOTES &&
          count_patterns (evidence, bx, by) >= COMPANY;
}

static gdouble
contrast_of (const gfloat *level, gint blocks)
{
  gdouble sum = 0, square = 0;

  for (gint b = 0; b < blocks; b++) {
    sum += level[b];
    square += (gdouble) level[b] * level[b];
  }
  return sqrt (MAX (0, square / blocks - sum / blocks * sum / blocks));
}

void
gst_stereo_evidence_add (GstStereoEvidence *evidence, const StereoImage images[2], const gint black[2],
    const gint scale[2], gint least, gint most, GstStereoViewFigures figures[2], GstStereoPairFigures *pair)
{
  gint count = evidence->w * evidence->h, blocks = evidence->across * evidence->down;
  gboolean jumped = FALSE;

  *pair = (GstStereoPairFigures){ .blocks = (guint) blocks };
  for (guint v = 0; v < VIEWS; v++) {
    View *view = &evidence->views[v];
    guint lost = 0, same = 0, textured = 0;
    figures[v] = (GstStereoViewFigures){ .compared = evidence->looks > 0 };
    read_figures (evidence, &images[v], black[v], scale[v], &figures[v]);
    read_cells (evidence, view, &images[v]);
    find_structure (evidence, view, black[v], scale[v]);
    find_rest (view, count, evidence->looks);
    for (gint by = 0; by < evidence->down; by++)
      for (gint bx = 0; bx < evidence->across; bx++) {
        gint b = by * evidence->across + bx;
        Sums *sums = &view->sums[b];
        *sums = sum_block (evidence, view, bx, by);
        update_block (&view->blocks[b], sums, evidence->looks);
        figures[v].moving += view->blocks[b].is_live;
        textured += view->blocks[b].is_textured;
        lost += view->blocks[b].is_textured && sums->hm < (gfloat) LOST * sums->mm;
        gboolean repeats = evidence->looks && is_same (evidence, view, bx, by);
        if (wakes (&view->blocks[b].repeats, repeats))
          view->blocks[b].stale = 0;
        same += repeats;
      }
    if (wakes (&view->repeats, same == (guint) blocks))
      forget_stale (view, blocks);
    figures[v].contrast = contrast_of (view->level, blocks);
    figures[v].same = same / (gdouble) blocks;
    gdouble share = lost / (gdouble) MAX (1, textured);
    jumped = jumped || share > JUMP + view->lost;
    view->lost += (share - view->lost) / 4;
  }
  pair->jump = jumped && evidence->looks >= VOTES;
  if (pair->jump)
    restart (evidence);
  gboolean calm = MAX (figures[LEFT].moving, figures[RIGHT].moving) < (1 - CALM) * blocks;
  evidence->calm = calm && !pair->jump ? MIN (evidence->calm + 1, LOOKS) : 0;
  compare_views (evidence, least, most, figures, pair);
  for (guint v = 0; v < VIEWS; v++)
    update_mean (&evidence->views[v], count, evidence->looks);
  evidence->looks++;
}

/* ---- what is not measured -------------------------------------------------------------------- */

/* Whether a look has shown a block to be without evidence, and most around it. */
static gboolean
is_blind (const GstStereoEvidence *evidence, guint v, gint bx, gint by)
{
  guint stale = 0, even = 0;

  if (evidence->votes[by * evidence->across + bx] >= VOTES && count_patterns (evidence, bx, by) >= COMPANY)
    return TRUE;
  for (gint y = MAX (0, by - 1); y <= MIN (evidence->down - 1, by + 1); y++)
    for (gint x = MAX (0, bx - 1); x <= MIN (evidence->across - 1, bx + 1); x++) {
      const Block *block = &evidence->views[v].blocks[y * evidence->across + x];
      stale += block->stale >= VOTES;
      even += block->even >= VOTES;
    }
  const Block *block = &evidence->views[v].blocks[by * evidence->across + bx];
  return (block->stale >= VOTES && stale >= COMPANY) || (block->even >= VOTES && even >= COMPANY);
}

/* Cells that are saturated, as most of those around them are, and those around these, whose match takes part in them. A speck is texture. */
static void
mark_white (const GstStereoEvidence *evidence, const guint16 *cells, guint16 white, guint8 *marks)
{
  gint w = evidence->w;

  for (gint y = 1; y < evidence->h - 1; y++)
    for (gint x = 1; x < w - 1; x++) {
      const guint16 *cell = cells + y * w + x;
      guint count = 0;

      if (*cell < white)
        continue;
      for (gint i = -1; i <= 1; i++)
        for (gint j = -1; j <= 1; j++)
          count += cell[i * w + j] >= white;
      for (gint i = -1; i <= 1 && count >= CORE; i++)
        memset (marks + (y + i) * w + x - 1, 1, 3);
    }
}

GstStereoUnmeasured *
gst_stereo_evidence_get_unmeasured (const GstStereoEvidence *evidence, const gint black[2], const gint scale[2])
{
  gsize count = (gsize) evidence->w * (gsize) evidence->h;
  g_autoptr (GstStereoUnmeasured) unmeasured = gst_stereo_unmeasured_new (evidence->w, evidence->h, evidence->factor);
  gboolean any = FALSE;

  for (guint v = 0; v < VIEWS; v++) {
    guint8 *marks = unmeasured->marks[v];
    gint white = (black[v] + WHITE * scale[v] / 255) * evidence->factor * evidence->rows;
    mark_white (evidence, evidence->views[v].cells, (guint16) white, marks);
    for (gint by = 0; by < evidence->down; by++)
      for (gint bx = 0; bx < evidence->across; bx++)
        for (gint y = 0; y < SIDE && is_blind (evidence, v, bx, by); y++)
          memset (marks + (by * SIDE + y) * evidence->w + bx * SIDE, 1, SIDE);
    any = any || memchr (marks, 1, count);
  }
  return any ? g_steal_pointer (&unmeasured) : NULL;
}
