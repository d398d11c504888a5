/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/diagnose/view.h"

#include <math.h>
#include <string.h>

#include "gst/match/debug.h"

#define INTERVAL (100 * GST_MSECOND) /* of stream time from one look to the next */
#define ACROSS 320                   /* cells, about */
#define SIDE 8                       /* cells of a block */
#define RADIUS 8                     /* cells around one that its local mean is of */
#define LOOKS 8                      /* that the mean is of */
#define LATELY 3                     /* looks that movement is averaged over */
#define LEVEL 100.0f                 /* local mean that both pictures are brought to */
#define DARKEST 20.0f
#define MIN_WIDTH 16
#define MIN_HEIGHT 8
#define ROWS 32 /* that are read at full size, with those BELOW them */
#define BELOW 2
#define STEP 2
#define DETAILED_ENOUGH 1.5 /* grey levels: fog has 2.5 */
#define BEYOND_DOUBT 2.5    /* times the standard deviation of what pure noise gives */
#define BLACK 16            /* levels up to this one are black: room for the noise of a sensor without light */
#define WHITE 250
#define CORE 6 /* saturated cells of 9 */

#define TEXTURE 4.0f /* squared grey levels of a cell: texture */
#define NOISE 25.0f  /* squared grey levels of a cell that are no more than noise */
#define NOTHING 0.3f /* no texture */
#define MOVES 1.0f   /* something moves, */
#define SHARED 0.25f /* and neighbours share so much of it */
#define LIVE 0.3f    /* of the texture, or */
#define FOLLOWS 0.3f /* correlation with the look before: it is no flicker */
#define COMPANY 4    /* patterns of a block and the eight around it that are no chance, */
#define GROWS 2      /* and around one that is fixed too */
#define JUMP 0.2
#define STILL 0.4f /* nothing moves */
#define KEPT 0.6f  /* of what is fixed: still there in this look */
#define LOST 0.4f
#define ALIKE 0.6f         /* correlation of the views at disparity 0 */
#define APART 0.5f         /* of what moves: it lies elsewhere */
#define AT_ZERO 0.1f       /* cells: of one picture */
#define NEAR_ZERO 0.2f     /* of the mean, in which some of the scene is left */
#define FAR_FROM_ZERO 0.5f /* cells */
#define BEYOND 2           /* search ranges in which what moves in one view has to move in the other, */
#define LEAST_PART 4       /* and at least this part of the width */
#define ONE 0.4            /* share of the blocks at disparity 0 */
#define REST_PATTERN 0.004 /* share of the texture that noise does not explain: two scenes behind one pattern */
#define SURE 0.8f
#define CALM 0.5      /* share of the blocks that do not move */
#define AROUND 0.6    /* share of the blocks around a fixed one that move */
#define VOTES 3       /* looks that show a pattern */
#define MOST_VOTES 24 /* looks that have to show it to be gone, at most */

enum
{
  LEFT,
  RIGHT,
  VIEWS
};

/* What speaks against a block. */
enum
{
  STALE,   /* it stands still where the other view moves */
  EVEN,    /* it has no texture where the other view has some */
  ALONE,   /* it moves where the other view stands still: that view speaks against itself */
  PATTERN, /* the left view's block, and the right view's at the same place, show what lies on the lenses */
  DOUBTS
};

typedef struct
{
  gfloat moving, moved; /* means over the last looks of the energy of the rest, shared by neighbours, and of all of it */
  gfloat kept;          /* of the mean, how much is in this look */
  gfloat follows;       /* correlation of the rest with that of the look before */
  gfloat texture;       /* energy of the mean */
  gboolean is_moving, is_live, is_textured, is_even;
  guint8 stopped, same; /* looks in a row in which it stood still, and was as before to the bit */
  guint8 apart;         /* of the left view: looks in a calm scene in which it did not lie at disparity 0 */
  guint8 votes[DOUBTS];
} Block;

typedef struct
{
  gpointer memory;         /* of all these */
  guint16 *cells, *before; /* sums of pixels */
  gfloat *high, *mean, *rest, *past;
  Block *blocks;
  gdouble lost; /* share of the texture that usually is another one than in the mean */
} View;

struct _GstStereoViews
{
  GstElement *element;
  GstStereoFaults *faults;

  /* protected by the element's object lock; written in one thread */
  guint64 count;                       /* of looks */
  GstStereoViewFigures figures[VIEWS]; /* of the last one, */
  GstStereoPairFigures pair;

  /* of the source pad's task: what is known from earlier ones */
  gint64 last; /* time of the last look, ns */
  GstStereoUnmeasured *unmeasured;
  gdouble repeats[VIEWS]; /* share of the last looks in which a view was the same to the bit, and the other view was not */
  guint changed[VIEWS];   /* looks in a row in which a view changed */
  guint raw[VIEWS];       /* looks in which all of a view changed, at most RAW_LOOKS */
  gboolean stands[VIEWS]; /* something moved in the other view alone, and nothing in this one since then */
  gboolean lively;        /* pixels have changed, or a sensor gives the frames: no two are equal to the bit */
  guint coded;            /* looks for which a view counts as from an encoder that repeats what hardly changes */

  gint width, height, factor, rows; /* of the views; pixels of a cell each way; rows of a cell that are read */
  gint w, h, across, down;          /* cells, and blocks; 0: the views are too small */
  guint looks;
  View views[VIEWS];
  gboolean one; /* the last look showed one picture in both views */
  guint calm;   /* looks in a row in which most of the scene stood still */
  guint8 *line;
  guint16 *sums; /* of the rows of a cell */
  guint32 *integral;
};

GstStereoViews *
gst_stereo_views_new (GstElement *element, GstStereoFaults *faults)
{
  GstStereoViews *views = g_new0 (GstStereoViews, 1);

  *views = (GstStereoViews){ .element = element, .faults = faults, .last = G_MAXINT64 };
  return views;
}

static void
clear (GstStereoViews *views)
{
  for (guint v = 0; v < VIEWS; v++) {
    g_free (views->views[v].memory);
    views->views[v] = (View){ 0 };
  }
  g_clear_pointer (&views->line, g_free);
  g_clear_pointer (&views->sums, g_free);
  g_clear_pointer (&views->integral, g_free);
  g_clear_pointer (&views->unmeasured, g_atomic_rc_box_release);
}

void
gst_stereo_views_free (GstStereoViews *views)
{
  clear (views);
  g_free (views);
}

void
gst_stereo_views_flush (GstStereoViews *views)
{
  views->last = G_MAXINT64;
  views->looks = 0;
}

gboolean
gst_stereo_views_are_due (const GstStereoViews *views, gint64 time)
{
  return time < views->last || time - views->last >= (gint64) INTERVAL;
}

/* FALSE for views that are too small. */
static gboolean
prepare (GstStereoViews *views, gint width, gint height)
{
  gint factor = MAX (1, (width + ACROSS / 2) / ACROSS), w = width / factor, h = height / factor;
  gsize cells = (gsize) w * (gsize) h;

  if (views->width == width && views->height == height)
    return views->w > 0;
  clear (views);
  views->looks = 0;
  views->width = width;
  views->height = height;
  views->w = 0;
  if (w < MIN_WIDTH || h < MIN_HEIGHT)
    return FALSE;
  views->factor = factor;
  views->rows = MIN (2, factor);
  views->w = w;
  views->h = h;
  views->across = w / SIDE;
  views->down = h / SIDE;
  gsize blocks = (gsize) views->across * (gsize) views->down;
  for (guint v = 0; v < VIEWS; v++) {
    gfloat *planes = g_malloc0 (cells * (4 * sizeof (gfloat) + 2 * sizeof (guint16)) + blocks * sizeof (Block));
    Block *all = (Block *) (planes + 4 * cells);
    guint16 *sums = (guint16 *) (all + blocks);
    views->views[v] = (View){ planes, sums, sums + cells, planes, planes + cells, planes + 2 * cells,
      planes + 3 * cells, all, 0 };
  }
  views->line = g_malloc0 (2 * (gsize) width);
  views->sums = g_new0 (guint16, (gsize) width);
  views->integral = g_new0 (guint32, (gsize) (w + 1) * (gsize) (h + 1));
  return TRUE;
}

/* ---- rows at full size --------------------------------------------------------------------- */

static void
read_row (const StereoImage *image, gint y, gint width, guint8 *row)
{
  /* luma, or green, which stands for luma */
  const guint8 *from = image->data + y * image->stride + image->offset[image->channels == 3];
  gint step = image->pixel_stride;

  if (step == 1)
    memcpy (row, from, (gsize) width);
  else
    for (gint x = 0; x < width; x++)
      row[x] = from[(gssize) x * step];
}

/* How much a row bends at x: twice the pixel less its neighbours two pixels away. */
#define BEND(row, x) (2 * (row)[x] - (row)[(x) -STEP] - (row)[(x) + STEP])

/* Brightness, and the texture that the cells are too coarse for, from some rows. Texture is alike two rows apart, and noise is not. */
static void
read_figures (GstStereoViews *views, const GstStereoLookedPair *pair, guint v, GstStereoViewFigures *figures)
{
  gint width = views->width, rows = MIN (ROWS, views->height - BELOW), black = pair->black[v], scale = pair->scale[v];
  gint dark = black + BLACK * scale / 255, bright = black + WHITE * scale / 255;
  gdouble count = (gdouble) rows * width, bends = (gdouble) rows * (width - 2 * STEP);
  guint64 sum = 0, darks = 0, brights = 0;
  gint64 products = 0, squares = 0;

  for (gint i = 0; i < rows; i++) {
    gint y = (gint) ((gint64) (2 * i + 1) * (views->height - BELOW) / (2 * rows));
    const guint8 *row = views->line, *below = row + width;
    guint32 levels = 0, blacks = 0, whites = 0;
    read_row (&pair->images[v], y, width, views->line);
    read_row (&pair->images[v], y + BELOW, width, views->line + width);
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
  /* noise gives as much by chance; neighbouring products share samples: as if there were half as many */
  gboolean doubtful = (gdouble) products < BEYOND_DOUBT * (gdouble) squares * sqrt (2 / bends);
  gdouble detail = doubtful ? 0 : sqrt ((gdouble) products / bends) * 255 / scale;
  figures->detail = detail < DETAILED_ENOUGH ? 0 : detail;
  figures->roughness = sqrt ((gdouble) squares / bends) * 255 / scale;
}

/* ---- cells --------------------------------------------------------------------------------- */

/* Compilers add several cells at once where they know how many pixels each has. */
#define GATHER(f) \
  for (gint x = 0; x < w; x++) \
    for (gint i = 0; i < (f); i++) \
  cells[x] = (guint16) (cells[x] + sums[x * (f) + i])

/* The sums of cells, and their integral picture. */
static void
read_cells (GstStereoViews *views, View *view, const StereoImage *image)
{
  gint f = views->factor, w = views->w;
  guint16 *before = view->before, *sums = views->sums;

  view->before = view->cells;
  view->cells = before;
  for (gint y = 0; y < views->h; y++) {
    guint16 *cells = view->cells + (gsize) y * (gsize) w;
    guint32 *above = views->integral + (gsize) y * (gsize) (w + 1), *below = above + w + 1, sum = 0;
    memset (cells, 0, (gsize) w * sizeof *cells);
    memset (sums, 0, (gsize) views->width * sizeof *sums);
    for (gint row = 0; row < views->rows; row++) {
      read_row (image, y * f + row * f / 2, views->width, views->line);
      for (gint x = 0; x < views->width; x++)
        sums[x] = (guint16) (sums[x] + views->line[x]);
    }
    if (f == 4)
      GATHER (4);
    else
      GATHER (f);
    for (gint x = 0; x < w; x++) {
      sum += cells[x];
      below[x + 1] = above[x + 1] + sum;
    }
  }
}

/* The sum over a rectangle of cells. */
static inline guint32
sum_of (const GstStereoViews *views, gint left, gint top, gint right, gint bottom)
{
  gsize stride = (gsize) views->w + 1;
  const guint32 *first = views->integral + (gsize) top * stride, *last = views->integral + (gsize) bottom * stride;

  return last[right] - last[left] - first[right] + first[left];
}

/* The cells less their local mean, in parts of it; and what of that is not in the mean of the looks. */
static void
find_structure (GstStereoViews *views, View *view, gint black, gint scale)
{
  gint w = views->w, h = views->h;
  gfloat unit = 255.0f / (gfloat) (scale * views->factor * views->rows), *past = view->past;
  gfloat zero = (gfloat) (black * views->factor * views->rows), least = DARKEST / unit;
  view->past = view->rest;
  view->rest = past;
  for (gint y = 0; y < h; y++) {
    gint top = MAX (0, y - RADIUS), bottom = MIN (h, y + RADIUS + 1);
    gsize at = (gsize) y * (gsize) w;
    for (gint x = 0; x < w; x++) {
      gint left = MAX (0, x - RADIUS), right = MIN (w, x + RADIUS + 1);
      gfloat count = (gfloat) ((right - left) * (bottom - top));
      gfloat around = (gfloat) sum_of (views, left, top, right, bottom) / count;
      view->high[at + (gsize) x] = LEVEL * ((gfloat) view->cells[at + (gsize) x] - around) / MAX (around - zero, least);
    }
  }
  if (!views->looks)
    memcpy (view->mean, view->high, (gsize) (w * h) * sizeof *view->mean);
  for (gint i = 0; i < w * h; i++)
    view->rest[i] = view->high[i] - view->mean[i];
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

/* Means over a block of products of the structure now (h), its mean before (m), the rest (r), that of the look before (p), and the
 * difference of this look and the one before (d); n: the neighbour to the right. Returns whether the texture is lost. */
static gboolean
update_block (const GstStereoViews *views, View *view, gint bx, gint by, gfloat noise)
{
  gfloat hh[SIDE] = { 0 }, hn[SIDE] = { 0 }, hm[SIDE] = { 0 }, mm[SIDE] = { 0 }, mn[SIDE] = { 0 }, rr[SIDE] = { 0 },
         rn[SIDE] = { 0 }, rp[SIDE] = { 0 }, dd[SIDE] = { 0 }, dn[SIDE] = { 0 };
  guint looks = views->looks;
  gfloat share = 1.0f / (gfloat) MIN (MAX (1, looks), LATELY);
  /* of the rest of the look before, the mean has taken its share */
  gfloat left = 1 - 1.0f / (gfloat) MIN (MAX (1, looks), LOOKS);
  /* the last column has no neighbour inside the picture */
  gint next = (bx + 1) * SIDE < views->w ? 1 : -1;
  Block *block = &view->blocks[by * views->across + bx];

  for (gint y = by * SIDE; y < (by + 1) * SIDE; y++) {
    gsize at = (gsize) y * (gsize) views->w + (gsize) (bx * SIDE);
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
  block->texture = total (mn);
  block->is_textured = block->texture > TEXTURE;
  block->moving += share * (total (rn) - block->moving);
  block->moved += share * (total (rr) - block->moved);
  block->kept += share * (CLAMP (total (hm) / MAX (total (mm), 0.1f), -2.0f, 2.0f) - block->kept);
  block->follows += share * (total (rp) / MAX (total (rr), 0.1f) - block->follows);
  block->is_moving = block->moving > MOVES && block->moving > SHARED * block->moved;
  /* after a single change the mean follows for a while: noise by chance must not seem to go on with it */
  gboolean stopped = looks && total (dn) < MAX (block->stopped > 1 ? MOVES : STILL, SHARED * total (dd));
  block->stopped = (guint8) (stopped ? MIN (block->stopped + 1, MOST_VOTES) : 0);
  /* no more than noise */
  block->is_even = total (hh) < noise && total (hn) < MAX (NOTHING, SHARED * total (hh));
  /* an encoder's flicker keeps what it flickers around, and is another one in each look; and where something has stopped, or was
   * uncovered, the mean follows for a while */
  block->is_live = block->is_moving && block->stopped < 2 &&
      (block->moving > LIVE * block->texture || block->follows > FOLLOWS);
  return block->is_textured && total (hm) < LOST * total (mm);
}

static gboolean
is_same (const GstStereoViews *views, const View *view, gint bx, gint by)
{
  for (gint y = by * SIDE; y < (by + 1) * SIDE; y++) {
    gsize at = (gsize) y * (gsize) views->w + (gsize) (bx * SIDE);
    if (memcmp (view->cells + at, view->before + at, SIDE * sizeof *view->cells))
      return FALSE;
  }
  return TRUE;
}

/* All of one view. Returns whether it shows another picture than before, all at once. */
static gboolean
measure_view (GstStereoViews *views, const GstStereoLookedPair *pair, guint v, GstStereoViewFigures *figures)
{
  View *view = &views->views[v];
  guint lost = 0, same = 0, textured = 0, blocks = (guint) (views->across * views->down);

  *figures = (GstStereoViewFigures){ .compared = views->looks > 0 };
  read_figures (views, pair, v, figures);
  read_cells (views, view, &pair->images[v]);
  find_structure (views, view, pair->black[v], pair->scale[v]);
  /* noise grows as the structure of a dark picture does */
  gfloat gain = LEVEL / CLAMP ((gfloat) figures->brightness, LEVEL / 2, LEVEL);
  for (gint by = 0; by < views->down; by++)
    for (gint bx = 0; bx < views->across; bx++) {
      Block *block = &view->blocks[by * views->across + bx];
      lost += update_block (views, view, bx, by, NOISE * gain * gain);
      figures->moving += block->is_live;
      textured += block->is_textured;
      gboolean repeats = views->looks && is_same (views, view, bx, by);
      same += repeats;
      /* what repeated to the bit changes again: it lives, though nothing may move there */
      if (!repeats && block->same >= VOTES) {
        block->votes[STALE] = 0;
        figures->wakes = TRUE;
      }
      block->same = (guint8) (repeats ? MIN (block->same + 1, VOTES) : 0);
    }
  figures->same = same / (gdouble) blocks;
  gdouble share = lost / (gdouble) MAX (1, textured);
  gboolean jumped = share > JUMP + view->lost;
  view->lost += (share - view->lost) / 4;
  return jumped;
}

/* ---- one view beside the other -------------------------------------------------------------- */

/* Blocks of a row, of which one sees the same as a block of the other view. */
typedef struct
{
  gint first, last;
  gboolean whole; /* none of them would lie outside of the other view */
} Reach;

static Reach
reach_of (const GstStereoViews *views, guint v, gint bx, gint least, gint most)
{
  gint block = views->factor * SIDE, near = (most + block - 1) / block, far = (gint) floor ((gdouble) least / block);
  gint first = v == LEFT ? bx - near : bx + far, last = v == LEFT ? bx - far : bx + near, end = views->across - 1;

  return (Reach){ MAX (0, first), MIN (end, last), first >= 0 && last <= end && first <= last };
}

/* What a block lacks beside the other view. @wide: where what moves may lie. */
static void
compare_block (GstStereoViews *views, guint v, gint bx, gint by, Reach reach, Reach wide)
{
  const Block *row = views->views[!v].blocks + by * views->across;
  Block *block = &views->views[v].blocks[by * views->across + bx];
  gint stopped = 0, live = 0, count = wide.last - wide.first + 1;
  gboolean even = block->is_even && reach.first <= reach.last;
  guint8 *stale = &block->votes[STALE];

  for (gint x = wide.first; x <= wide.last; x++) {
    stopped += row[x].stopped > 0;
    live += row[x].is_live;
  }
  for (gint x = reach.first; x <= reach.last; x++)
    even = even && row[x].is_textured;
  block->votes[EVEN] = (guint8) (even ? MIN (block->votes[EVEN] + 1, MOST_VOTES) : 0);
  /* else the other view may see no such place */
  block->votes[ALONE] = wide.whole && block->is_live;
  for (gint y = by ? -1 : 0; y <= (by < views->down - 1 ? 1 : 0) && block->votes[ALONE]; y++)
    for (gint x = wide.first; x <= wide.last; x++)
      block->votes[ALONE] &= row[y * views->across + x].stopped > 1;
  if (wide.whole && block->stopped > 1 && block->is_textured && !stopped && 2 * live > count)
    *stale = (guint8) MIN (*stale + 1, MOST_VOTES);
  else if (!block->stopped)
    *stale = 0;
  else if (*stale && *stale < VOTES) /* a single change of the other view must not add up with the next one */
    (*stale)--;
}

/* Whether so many votes speak against a block, and against enough blocks around it: what an encoder makes flicker is scattered. */
static gboolean
has_company (const GstStereoViews *views, guint v, gint bx, gint by, guint doubt, guint least)
{
  const Block *blocks = views->views[v].blocks;
  guint company = 0;

  if (blocks[by * views->across + bx].votes[doubt] < least)
    return FALSE;
  for (gint y = MAX (0, by - 1); y <= MIN (views->down - 1, by + 1); y++)
    for (gint x = MAX (0, bx - 1); x <= MIN (views->across - 1, bx + 1); x++)
      company += blocks[y * views->across + x].votes[doubt] >= least;
  return company >= COMPANY;
}

/* ---- both views together --------------------------------------------------------------------- */

/* How a picture and the other view's fit at disparity 0. */
typedef struct
{
  gfloat alike; /* correlation */
  gfloat shift; /* cells */
  gfloat rest;  /* share of the structure that neither exposure nor the shift explains, without noise */
} Fit;

static Fit
fit_block (const GstStereoViews *views, const gfloat *left, const gfloat *right, gint bx, gint by)
{
  gfloat ll[SIDE] = { 0 }, lr[SIDE] = { 0 }, rr[SIDE] = { 0 }, gg[SIDE] = { 0 }, gl[SIDE] = { 0 }, gr[SIDE] = { 0 },
         sum = 0;
  gint before = bx ? 1 : 0, after = (bx + 1) * SIDE < views->w ? 1 : 0;
  Fit fit = { 0, SIDE, 0 };

  left += by * SIDE * views->w + bx * SIDE;
  right += by * SIDE * views->w + bx * SIDE;
  for (gint y = 0; y < SIDE; y++) {
    const gfloat *l = left + y * views->w, *r = right + y * views->w;
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
  if (product > 0)
    fit.alike = total (lr) / sqrtf (product);
  if (gain > 0 && slope > 0)
    fit.shift = (total (gr) / gain - total (gl)) / slope;
  if (fit.alike <= ALIKE || gain <= 0)
    return fit;
  for (gint y = 0; y < SIDE; y++) {
    const gfloat *l = left + y * views->w, *r = right + y * views->w;
    for (gint i = 0; i < SIDE - 1; i++)
      sum += (r[i] - gain * l[i]) * (r[i + 1] - gain * l[i + 1]);
  }
  fit.rest = sum / (SIDE * (SIDE - 1)) / MAX (total (rr), 1e-6f);
  return fit;
}

/* Patterns beside a block, and the share of the blocks around it that live. */
static void
look_around (const GstStereoViews *views, gint bx, gint by, guint *patterns, gdouble *live)
{
  guint alive = 0, count = 0;

  *patterns = 0;
  for (gint y = MAX (0, by - 2); y <= MIN (views->down - 1, by + 2); y++)
    for (gint x = MAX (0, bx - 2); x <= MIN (views->across - 1, bx + 2); x++, count++) {
      const Block *left = &views->views[LEFT].blocks[y * views->across + x];
      *patterns += ABS (x - bx) < 2 && ABS (y - by) < 2 && left->votes[PATTERN] >= VOTES;
      alive += left->is_live && views->views[RIGHT].blocks[y * views->across + x].is_live;
    }
  *live = alive / (gdouble) count;
}

/* A vote on whether a block shows a pattern on the lenses. */
static void
judge_pattern (GstStereoViews *views, gint bx, gint by, const Fit *now, const Fit *mean)
{
  Block *left = &views->views[LEFT].blocks[by * views->across + bx];
  const Block *right = &views->views[RIGHT].blocks[by * views->across + bx];
  guint8 *votes = &left->votes[PATTERN];
  gboolean moves = left->is_moving && right->is_moving, pattern = FALSE;
  gboolean fixed = left->kept > KEPT && right->kept > KEPT && mean->alike > ALIKE && fabsf (mean->shift) < NEAR_ZERO;
  guint patterns;
  gdouble live;

  /* of one camera on both pads, all lies at disparity 0 */
  if (views->looks < VOTES || views->one)
    return;
  /* something comes before both lenses while the scene stands still: what lay nearer lies at disparity 0 all at once */
  if (views->calm < LOOKS)
    left->apart = 0;
  else if (now->alike < LOST || fabsf (now->shift) > FAR_FROM_ZERO)
    left->apart = (guint8) MIN (left->apart + 1, LOOKS);
  if (left->apart == LOOKS && now->alike > SURE && fabsf (now->shift) < AT_ZERO) {
    pattern = TRUE;
  } else if (fixed && moves) {
    pattern = fit_block (views, views->views[LEFT].rest, views->views[RIGHT].rest, bx, by).alike < APART;
  } else if (fixed) {
    look_around (views, bx, by, &patterns, &live);
    pattern = patterns >= GROWS || (left->stopped > 1 && right->stopped > 1 && live >= AROUND);
  } else if (left->is_live && right->is_live && *votes) {
    (*votes)--;
  }
  if (pattern)
    *votes = (guint8) MIN (*votes + 1, MOST_VOTES);
}

/* ---- what is not measured -------------------------------------------------------------------- */

GstStereoUnmeasured *
gst_stereo_unmeasured_new (gint width, gint height, gint factor)
{
  gsize count = (gsize) width * (gsize) height;
  GstStereoUnmeasured *unmeasured = g_atomic_rc_box_alloc0 (sizeof *unmeasured + VIEWS * count);
  guint8 *marks = (guint8 *) (unmeasured + 1);

  *unmeasured = (GstStereoUnmeasured){ width, height, factor, { marks, marks + count } };
  return unmeasured;
}

void
gst_stereo_unmeasured_apply (const GstStereoUnmeasured *unmeasured, const GstStereoMaskedPicture *picture,
    const GstStereoMeta *units, guint64 counted, gdouble *valid_ratio, gdouble *mean_confidence)
{
  gint bytes = picture->sample_bytes, f = unmeasured->factor, last = unmeasured->width - 1;
  gsize width = (gsize) unmeasured->width;
  guint64 pixels = 0, lost = 0;

  for (gint y = 0; y < (gint) units->height; y++) {
    guint8 *row = picture->samples + (gssize) y * picture->stride;
    guint8 *confidence = picture->confidence + (gssize) y * picture->confidence_stride;
    gsize at = (gsize) MIN (y / f, unmeasured->height - 1) * width;
    const guint8 *left = unmeasured->marks[LEFT] + at, *right = unmeasured->marks[RIGHT] + at;
    gboolean in_right = memchr (right, 1, width) != NULL, in_left = memchr (left, 1, width) != NULL;
    for (gint x = 0; x < (gint) units->width && (in_left || in_right); x++) {
      guint sample = bytes == 1 ? row[x] : ((const guint16 *) (gconstpointer) row)[x];
      gboolean blind = left[MIN (x / f, last)];
      if (!blind && sample && in_right) {
        gdouble place = x - gst_stereo_meta_get_disparity (units, sample);
        blind = place >= 0 && place < units->width && right[MIN ((gint) place / f, last)];
      }
      if (!blind)
        continue;
      pixels += sample != 0;
      lost += confidence[x];
      memset (row + x * bytes, 0, (gsize) bytes);
      confidence[x] = 0;
    }
  }
  *valid_ratio = MAX (0, *valid_ratio - (gdouble) pixels / (gdouble) counted);
  *mean_confidence = MAX (0, *mean_confidence - (gdouble) lost / (255.0 * (gdouble) counted));
}

/* Cells that are saturated, as most of those around them are, and those around these, whose match takes part in them. A speck is texture. */
static void
mark_white (const GstStereoViews *views, const guint16 *cells, guint16 white, guint8 *marks)
{
  gint w = views->w;

  for (gint y = 1; y < views->h - 1; y++)
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

static GstStereoUnmeasured *
mark (const GstStereoViews *views, const GstStereoLookedPair *pair)
{
  g_autoptr (GstStereoUnmeasured) unmeasured = gst_stereo_unmeasured_new (views->w, views->h, views->factor);
  gboolean any = FALSE;

  for (guint v = 0; v < VIEWS; v++) {
    guint8 *marks = unmeasured->marks[v];
    gint white = (pair->black[v] + WHITE * pair->scale[v] / 255) * views->factor * views->rows;
    mark_white (views, views->views[v].cells, (guint16) white, marks);
    for (gint by = 0; by < views->down; by++)
      for (gint bx = 0; bx < views->across; bx++)
        if (has_company (views, v, bx, by, STALE, VOTES) || has_company (views, v, bx, by, EVEN, VOTES) ||
            has_company (views, LEFT, bx, by, PATTERN, VOTES))
          for (gint y = 0; y < SIDE; y++)
            memset (marks + (by * SIDE + y) * views->w + bx * SIDE, 1, SIDE);
    any = any || memchr (marks, 1, (gsize) (views->w * views->h));
  }
  return any ? g_steal_pointer (&unmeasured) : NULL;
}

gboolean
gst_stereo_views_measure (GstStereoViews *views, const GstStereoLookedPair *viewed, GstStereoViewFigures figures[2],
    GstStereoPairFigures *pair)
{
  View *left = &views->views[LEFT], *right = &views->views[RIGHT];
  gdouble rest = 0;

  if (!prepare (views, viewed->width, viewed->height))
    return FALSE;
  /* what moves may be nearer than what is searched */
  gint least = viewed->params->min_disparity, most = least + viewed->params->num_disparities - 1;
  gint far = MAX (BEYOND * most, views->width / LEAST_PART), blocks = views->across * views->down;
  *pair = (GstStereoPairFigures){ .blocks = (guint) blocks };
  gboolean jumps[] = { measure_view (views, viewed, LEFT, &figures[LEFT]),
    measure_view (views, viewed, RIGHT, &figures[RIGHT]) };
  pair->jump = (jumps[LEFT] || jumps[RIGHT]) && views->looks >= VOTES;
  /* another picture: what was fixed so far is not fixed any more */
  if (pair->jump)
    views->looks = 0;
  gboolean calm = MAX (figures[LEFT].moving, figures[RIGHT].moving) < (1 - CALM) * blocks;
  views->calm = calm && !pair->jump ? MIN (views->calm + 1, LOOKS) : 0;
  for (gint by = 0; by < views->down; by++)
    for (gint bx = 0; bx < views->across; bx++) {
      for (guint v = 0; v < VIEWS; v++)
        compare_block (views, v, bx, by, reach_of (views, v, bx, least, most), reach_of (views, v, bx, least, far));
      if (!left->blocks[by * views->across + bx].is_textured || !right->blocks[by * views->across + bx].is_textured)
        continue;
      Fit now = fit_block (views, left->high, right->high, bx, by),
          mean = fit_block (views, left->mean, right->mean, bx, by);
      pair->textured++;
      if (now.alike > ALIKE && fabsf (now.shift) < AT_ZERO) {
        pair->zero++;
        rest += now.rest;
      }
      judge_pattern (views, bx, by, &now, &mean);
    }
  pair->rest = pair->zero ? rest / pair->zero : 0;
  views->one = pair->zero > ONE * pair->textured;
  for (gint b = 0; b < blocks; b++) {
    gint bx = b % views->across, by = b / views->across;
    pair->pattern += has_company (views, LEFT, bx, by, PATTERN, VOTES);
    for (guint v = 0; v < VIEWS; v++) {
      figures[v].stale += has_company (views, v, bx, by, STALE, 1);
      figures[v].even += views->views[v].blocks[b].votes[EVEN] > 0;
      figures[!v].alone += has_company (views, v, bx, by, ALONE, 1);
    }
  }
  gfloat share = 1.0f / (gfloat) MIN (views->looks + 1, LOOKS);
  for (guint v = 0; v < VIEWS; v++)
    for (gint i = 0; i < views->w * views->h; i++)
      views->views[v].mean[i] += share * views->views[v].rest[i];
  views->looks++;
  g_clear_pointer (&views->unmeasured, g_atomic_rc_box_release);
  views->unmeasured = mark (views, viewed);
  return TRUE;
}

GstStereoUnmeasured *
gst_stereo_views_get_unmeasured (const GstStereoViews *views)
{
  return views->unmeasured;
}

/* ---- verdicts -------------------------------------------------------------------------------- */

#define SMOOTH 12.0     /* grey levels of roughness that are noise; texture that looks like noise has more */
#define BLURRED_BAD 2.0 /* times less sharp; the worst healthy pair has 1.2 */
#define BLURRED_GOOD 1.54
#define ROUGHER 0.8        /* a view that is less sharp has less of detail and noise together, too */
#define BRIGHT_ENOUGH 20.0 /* levels of the other view: a darker view shows nothing about exposure */
#define REPEATS 8          /* looks that their share is of */
#define REPEATS_BAD 0.35
#define STALE_BAD 0.05
#define RAW_LOOKS 10
/* of the blocks, to the bit, of a view all of which used to change, while the other view changes everywhere */
#define SAME_BAD 0.06
#define SAME_LEAST 0.02 /* share of the blocks that repeat: less is chance */
#define MUCH 0.15       /* of the blocks move: both views see some of it */
#define ALONE_LEAST 6   /* blocks in which the other view moves where this one does not, */
#define ALONE_OF 0.2    /* this share of all that moves there, */
#define ALONE_MORE 4    /* and so many times those the other way round */
#define CODED_LOOKS 20
#define MIN_TEXTURED 12 /* blocks of a pair: a view without detail is no evidence */
#define ZERO_BAD 0.6    /* share of the blocks with texture that lie at disparity 0; healthy pairs have up to 0.04 */
#define MIN_PATTERN 6

static gdouble
sharpness_of (const GstStereoViewFigures *figures)
{
  return figures->detail / MAX (figures->brightness, 1);
}

static gdouble
noise_of (const GstStereoViewFigures *own)
{
  /* twice a pixel less two neighbours has six times the variance of its noise */
  return sqrt (MAX (0, own->roughness * own->roughness - own->detail * own->detail) / 6);
}

/* How much sharper than the view the other one is. Both are out of focus where what has texture has no detail at all. */
static gdouble
blur_of (const GstStereoViews *views, guint v)
{
  const GstStereoViewFigures *own = &views->figures[v], *other = &views->figures[!v];
  gdouble blur = other->detail > 0 ? sharpness_of (other) / MAX (sharpness_of (own), 1e-9) : NAN;

  if (own->detail <= 0 && other->detail <= 0 && views->pair.textured >= MIN_TEXTURED)
    return MAX (own->roughness, other->roughness) < SMOOTH ? BLURRED_BAD : NAN;
  /* texture whose rows have nothing in common is taken for noise; and in fog there may be little else than noise */
  return blur >= BLURRED_BAD && own->roughness > ROUGHER * other->roughness ? NAN : blur;
}

/* Whether something moves in the other view alone. */
static gboolean
moves_beside (const GstStereoViews *views, guint v)
{
  const GstStereoViewFigures *own = &views->figures[v], *other = &views->figures[!v];

  return views->changed[v] >= VOTES && own->alone >= MAX (ALONE_LEAST, ALONE_OF * other->moving) &&
      own->alone >= ALONE_MORE * other->alone;
}

/* The view repeats, or is stale, or the other view moves where it does not. */
static gdouble
frost_of (const GstStereoViews *views, guint v)
{
  const GstStereoViewFigures *own = &views->figures[v], *other = &views->figures[!v];
  /* each of two views of different scenes stands still where the other one moves */
  gdouble stale = ((gdouble) own->stale - other->stale) / views->pair.blocks;
  gdouble frost = MAX (views->repeats[v] / REPEATS_BAD, stale / STALE_BAD);

  if (views->raw[v] == RAW_LOOKS && other->same < SAME_LEAST)
    frost = MAX (frost, own->same / SAME_BAD);
  if (moves_beside (views, v))
    return MAX (1, frost);
  return !own->compared || (views->stands[v] && frost < 1) ? NAN : frost;
}

/* ---- the table --------------------------------------------------------------------------------- */

#define OF_VIEW(name) \
  { \
    GST_STEREO_HEALTH_##name##_LEFT, GST_STEREO_HEALTH_##name##_RIGHT \
  }
#define EITHER(name) (GST_STEREO_HEALTH_##name##_LEFT | GST_STEREO_HEALTH_##name##_RIGHT)
#define SHOWS_NOTHING (EITHER (BLACK) | EITHER (BLOWN_OUT))
#define BOTH_FROZEN G_GINT64_CONSTANT (600000000) /* ns: encoders repeat a still scene */

/* What a fault of the view @v is judged by, which grows as the fault does; NAN: it is not known. */
static gdouble
value_of (const GstStereoViews *views, guint fault, guint v)
{
  const GstStereoViewFigures *own = &views->figures[v], *other = &views->figures[!v];
  const GstStereoPairFigures *pair = &views->pair;
  /* no pixel of either view changes */
  gdouble still = !own->compared ? NAN : MIN (own->same, other->same) >= 1;
  gdouble at_0 = pair->textured < MIN_TEXTURED ? NAN : pair->zero / (gdouble) pair->textured;
  /* healthy pairs have nowhere near so much at disparity 0: it is one picture, or, with a rest, lies behind one pattern */
  gboolean dirty = at_0 >= ONE && pair->rest >= REST_PATTERN;

  switch (fault) {
    case GST_STEREO_HEALTH_BLACK_LEFT:
      return own->black;
    case GST_STEREO_HEALTH_BLOWN_OUT_LEFT:
      return own->white;
    case GST_STEREO_HEALTH_COVERED_LEFT:
      return own->even / (gdouble) pair->blocks;
    case GST_STEREO_HEALTH_BLURRED_LEFT:
      return blur_of (views, v);
    case GST_STEREO_HEALTH_DARK_LEFT:
      return other->brightness < BRIGHT_ENOUGH ? NAN : other->brightness / MAX (own->brightness, 1e-9);
    case GST_STEREO_HEALTH_FROZEN_LEFT:
      return frost_of (views, v);
    case EITHER (FROZEN):
      return still == 1 && (!views->lively || views->coded) ? NAN : still;
    case GST_STEREO_HEALTH_STILL:
      return views->lively ? 0 : still;
    case GST_STEREO_HEALTH_BLANK: /* covers on both lenses, or a wall without texture */
      return own->detail <= 0 && other->detail <= 0 && pair->textured < MIN_TEXTURED;
    case GST_STEREO_HEALTH_SAME_VIEW:
      return dirty ? 0 : at_0;
    default: /* a pattern */
      return at_0 >= ONE ? dirty : pair->pattern < MIN_PATTERN ? 0 : pair->pattern / (gdouble) pair->blocks;
  }
}

typedef struct
{
  GstStereoHealthFlags flags[VIEWS]; /* of the left and the right view; a fault of both together has the first one alone */
  /* Faults of either view, and of the view itself, that explain it: its verdict is unknown. They stand before it in the table. */
  GstStereoHealthFlags unless, unless_own;
  gdouble bad, good; /* between the two the verdict is unknown, so that a fault near a threshold does not flicker */
  gint64 hold;       /* least duration, ns; 0 = that of its kind */
  gboolean silent;   /* it is noted in the metadata alone, and matches count nevertheless */
} Rule;

/* The order is that of messages: where two faults have one cause, the first one is BAD, and the other is UNKNOWN. */
static const Rule rules[] = {
  { OF_VIEW (BLACK), 0, 0, 0.98, 0.9 },    /* a picture of the night has lamps */
  { OF_VIEW (BLOWN_OUT), 0, 0, 0.5, 0.4 }, /* fog and sky give half of that */
  { OF_VIEW (COVERED), SHOWS_NOTHING, 0, 0.06, 0.03 },
  { OF_VIEW (BLURRED), SHOWS_NOTHING, EITHER (COVERED), BLURRED_BAD, BLURRED_GOOD },
  /* the worst healthy pair has 0.93 */
  { OF_VIEW (DARK), SHOWS_NOTHING | EITHER (COVERED) | EITHER (BLURRED), 0, 1.5, 1.3 },
  { OF_VIEW (FROZEN), SHOWS_NOTHING, EITHER (COVERED) | EITHER (BLURRED), 1, 0.5 },
  { { EITHER (FROZEN) }, SHOWS_NOTHING, 0, 1, 0, .hold = BOTH_FROZEN },
  { { GST_STEREO_HEALTH_STILL }, SHOWS_NOTHING, 0, 1, 0, .silent = TRUE },
  { { GST_STEREO_HEALTH_BLANK }, SHOWS_NOTHING | EITHER (COVERED) | EITHER (BLURRED), 0, 1, 0, .silent = TRUE },
  { { GST_STEREO_HEALTH_SAME_VIEW }, 0, 0, ZERO_BAD, 0.3 },
  { { GST_STEREO_HEALTH_STILL_PATTERN }, 0, 0, 0.08, 0.04 },
};

void
gst_stereo_views_value (const GstStereoViews *views, GstStereoLookedPair *pair)
{
  const GstStereoViewFigures *left = &views->figures[LEFT], *right = &views->figures[RIGHT];
  guint found = gst_stereo_faults_get (views->faults) | gst_stereo_faults_get_suspected (views->faults);

  pair->detailed = left->detail > 0 && right->detail > 0;
  pair->noise = MAX (noise_of (left), noise_of (right));
  pair->sound = TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (rules); i++)
    if (!rules[i].silent && found & (guint) (rules[i].flags[LEFT] | rules[i].flags[RIGHT]))
      pair->sound = FALSE;
}

/* ---- a look ---------------------------------------------------------------------------------- */

/* What this look adds to what is known from those before. */
static void
learn (GstStereoViews *views, gboolean live)
{
  views->lively = views->lively || live;
  views->coded -= views->coded > 0;
  for (guint v = 0; v < VIEWS; v++) {
    const GstStereoViewFigures *own = &views->figures[v], *other = &views->figures[!v];
    gboolean evident = own->same < 1 || other->same < SAME_LEAST || other->moving >= MUCH * views->pair.blocks;
    if (!own->compared)
      continue;
    views->lively = views->lively || own->same < 1;
    if (own->same >= SAME_LEAST && own->same < 1 - SAME_LEAST)
      views->coded = CODED_LOOKS;
    if (views->raw[v] < RAW_LOOKS)
      views->raw[v] = own->same < SAME_LEAST ? views->raw[v] + 1 : 0;
    views->changed[v] = own->same < 1 ? views->changed[v] + 1 : 0;
    views->stands[v] = moves_beside (views, v) || (views->stands[v] && !own->moving && !own->wakes);
    /* what repeated, and does so no more, has no part that is frozen */
    for (gint b = 0; b < views->across * views->down && views->changed[v] == VOTES && views->repeats[v] > 0; b++)
      views->views[v].blocks[b].votes[STALE] = 0;
    if (views->changed[v] >= VOTES)
      views->repeats[v] = 0;
    else if (evident)
      views->repeats[v] += ((own->same >= 1) - views->repeats[v]) / REPEATS;
  }
}

static void
add_figures (GstStructure *fields, const GstStereoViewFigures figures[VIEWS])
{
  gst_structure_set (fields, "brightness-left", G_TYPE_DOUBLE, figures[LEFT].brightness, "brightness-right",
      G_TYPE_DOUBLE, figures[RIGHT].brightness, "sharpness-left", G_TYPE_DOUBLE, sharpness_of (&figures[LEFT]),
      "sharpness-right", G_TYPE_DOUBLE, sharpness_of (&figures[RIGHT]), NULL);
}

static void
judge (GstStereoViews *views)
{
  guint bad[VIEWS] = { 0 }; /* of each view */

  for (guint i = 0; i < G_N_ELEMENTS (rules); i++) {
    const Rule *rule = &rules[i];
    gdouble values[VIEWS] = { NAN, NAN };
    for (guint v = 0; v < VIEWS && rule->flags[v]; v++)
      if (!((guint) rule->unless & (bad[LEFT] | bad[RIGHT])) && !((guint) rule->unless_own & bad[v]))
        values[v] = value_of (views, (guint) rule->flags[LEFT], v);
    for (guint v = 0; v < VIEWS && rule->flags[v]; v++) {
      GstStereoVerdict verdict = values[v] >= rule->bad ? GST_STEREO_VERDICT_BAD :
          values[v] <= rule->good                       ? GST_STEREO_VERDICT_GOOD :
                                                          GST_STEREO_VERDICT_UNKNOWN;
      gint64 hold = rule->hold ? rule->hold : (gint64) gst_stereo_kind_of (rule->flags[v])->hold;
      bad[v] |= verdict == GST_STEREO_VERDICT_BAD ? (guint) rule->flags[v] : 0;
      if (!gst_stereo_faults_judge (views->faults, rule->flags[v], 0, verdict, views->last, hold) || rule->silent)
        continue;
      GstStructure *fields = gst_structure_new ("stereo-health", "time", G_TYPE_INT64, views->last, NULL);
      add_figures (fields, views->figures);
      gst_stereo_faults_say (views->faults, rule->flags[v], NULL, values[v], fields);
    }
  }
}

gboolean
gst_stereo_views_look (GstStereoViews *views, const GstStereoLookedPair *looked)
{
  GstStereoViewFigures figures[VIEWS];
  GstStereoPairFigures pair;

  views->last = looked->time;
  if (!gst_stereo_views_measure (views, looked, figures, &pair))
    return FALSE;
  GST_OBJECT_LOCK (views->element);
  views->count++;
  memcpy (views->figures, figures, sizeof figures);
  views->pair = pair;
  GST_OBJECT_UNLOCK (views->element);
  learn (views, looked->live);
  for (guint v = 0; v < VIEWS; v++)
    GST_LOG_OBJECT (views->element,
        "%s view: of %u blocks %u move, %u stale, %u even, %u where the other view moves alone, %.3f the same; repeats %.2f; "
        "%u of %u at 0, %u patterns",
        v ? "right" : "left", pair.blocks, figures[v].moving, figures[v].stale, figures[v].even, figures[v].alone,
        figures[v].same, views->repeats[v], pair.zero, pair.textured, pair.pattern);
  judge (views);
  return pair.jump;
}

void
gst_stereo_views_add_stats (GstStereoViews *views, GstStructure *stats)
{
  gst_structure_set (stats, "health-looks", G_TYPE_UINT64, views->count, NULL);
  add_figures (stats, views->figures);
}
