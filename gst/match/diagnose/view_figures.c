/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/diagnose/view_figures.h"

#include <math.h>
#include <string.h>

#define ROWS 32
#define APART 2 /* rows between the two that are multiplied: neighbours share what a camera's filters made of noise */
#define STEP 2  /* pixels to the neighbours that a pixel is compared with */
#define OVERLAP 2.0
#define RUN 16 /* pixels whose mean a blur leaves as it is */
#define MIN_WIDTH 16
#define MIN_HEIGHT 8

struct _GstStereoViewer
{
  gint width, height, rows;
  guint8 *past[GST_STEREO_VIEWER_AGES]; /* the rows of this look, of the last one, and so on */
  guint8 *below[2];                     /* the rows that go with those of this look and of the last one */
  guint looks;                          /* that are kept */
};

/* Sums over all rows of a look, in samples as they are. */
typedef struct
{
  guint64 sum, black, white;
  gdouble runs, run_squares; /* of means over RUN pixels */
  guint64 run_count;
  gint64 products, squares;
} Sums;

GstStereoViewer *
gst_stereo_viewer_new (gint width, gint height)
{
  GstStereoViewer *viewer;

  if (width < MIN_WIDTH || height < MIN_HEIGHT)
    return NULL;
  viewer = g_new0 (GstStereoViewer, 1);
  viewer->width = width;
  viewer->height = height;
  viewer->rows = MIN (ROWS, height - APART);
  for (guint i = 0; i < GST_STEREO_VIEWER_AGES; i++)
    viewer->past[i] = g_malloc ((gsize) viewer->rows * (gsize) width);
  for (guint i = 0; i < 2; i++)
    viewer->below[i] = g_malloc ((gsize) viewer->rows * (gsize) width);
  return viewer;
}

void
gst_stereo_viewer_free (GstStereoViewer *viewer)
{
  if (!viewer)
    return;
  for (guint i = 0; i < GST_STEREO_VIEWER_AGES; i++)
    g_free (viewer->past[i]);
  for (guint i = 0; i < 2; i++)
    g_free (viewer->below[i]);
  g_free (viewer);
}

gboolean
gst_stereo_viewer_is_for (const GstStereoViewer *viewer, gint width, gint height)
{
  return viewer->width == width && viewer->height == height;
}

void
gst_stereo_viewer_forget (GstStereoViewer *viewer)
{
  viewer->looks = 0;
}

const guint8 *
gst_stereo_viewer_rows (const GstStereoViewer *viewer, guint age, gint *count)
{
  *count = viewer->rows;
  return age < viewer->looks ? viewer->past[age] : NULL;
}

/* One function for each stride: compilers read several pixels at once where they know it. */
static inline void
gather (const guint8 *from, gint stride, gint width, guint8 *row)
{
  for (gint x = 0; x < width; x++)
    row[x] = from[(gssize) x * stride];
}

static void
read_row (const GstStereoViewer *viewer, const StereoImage *image, gint y, guint8 *row)
{
  /* luma, or green, which stands for it */
  const guint8 *from = image->data + y * image->stride + image->offset[image->channels == 3];

  switch (image->pixel_stride) {
    case 1:
      memcpy (row, from, (gsize) viewer->width);
      break;
    case 2:
      gather (from, 2, viewer->width, row);
      break;
    case 3:
      gather (from, 3, viewer->width, row);
      break;
    case 4:
      gather (from, 4, viewer->width, row);
      break;
    default:
      gather (from, image->pixel_stride, viewer->width, row);
  }
}

static void
add_runs (const guint8 *row, gint width, Sums *sums)
{
  for (gint from = 0; from + RUN <= width; from += RUN) {
    gint sum = 0;
    for (gint x = 0; x < RUN; x++)
      sum += row[from + x];
    sums->runs += sum;
    sums->run_squares += (gdouble) sum * sum;
    sums->run_count++;
  }
}

/* How much row @from bends at @x: twice the pixel less its neighbours two pixels away. */
#define BEND(from, x) (2 * (from)[x] - (from)[(x) -STEP] - (from)[(x) + STEP])

static void
add_row (const guint8 *row, const guint8 *below, gint width, gint black, gint white, Sums *sums)
{
  guint32 sum = 0, dark = 0, bright = 0;
  gint64 products = 0, squares = 0;

  for (gint x = 0; x < width; x++) {
    sum += row[x];
    dark += row[x] <= black;
    bright += row[x] >= white;
  }
  /* a product is at most 510^2: 32 bits hold the sum of 8192 */
  for (gint from = STEP; from < width - STEP; from += 8192) {
    gint32 part = 0, square = 0;
    for (gint x = from; x < MIN (from + 8192, width - STEP); x++) {
      part += BEND (row, x) * BEND (below, x);
      square += BEND (row, x) * BEND (row, x);
    }
    products += part;
    squares += square;
  }
  sums->sum += sum;
  sums->black += dark;
  sums->white += bright;
  sums->products += products;
  sums->squares += squares;
}

static guint32
count_moved (const guint8 *row, const guint8 *before, gint width, gint least)
{
  guint32 count = 0;

  for (gint x = 0; x < width; x++)
    count += ABS (row[x] - before[x]) >= least;
  return count;
}

/* The rows of a band, from column @first to @end. */
static GstStereoLookBand
compare_band (const GstStereoViewer *viewer, guint band, gint first, gint end, gint offset, gint scale)
{
  gint from = (gint) band * viewer->rows / GST_STEREO_LOOK_BANDS;
  gint to = ((gint) band + 1) * viewer->rows / GST_STEREO_LOOK_BANDS;
  gdouble products = 0, squares = 0, others = 0, sums = 0, count = (gdouble) MAX (1, (to - from) * (end - first));
  gdouble unit = 255.0 * 255 / scale / scale;

  for (gint i = from; i < to; i++) {
    gsize at = (gsize) i * (gsize) viewer->width;
    const guint8 *now = viewer->past[0] + at, *before = viewer->past[1] + at;
    const guint8 *below = viewer->below[0] + at, *below_before = viewer->below[1] + at;
    gint64 product = 0, square = 0;
    guint32 other = 0, sum = 0;

    for (gint x = first; x < end; x++) {
      gint difference = now[x] - before[x];
      product += difference * (below[x] - below_before[x]);
      square += difference * difference;
      other += difference != 0;
      sum += now[x];
    }
    others += other;
    sums += sum;
    products += (gdouble) product;
    squares += (gdouble) square;
  }
  return (GstStereoLookBand){ products / count * unit, squares / count * unit * sqrt (OVERLAP / count), others / count,
    (sums / count - offset) * 255 / scale };
}

static void
compare (const GstStereoViewer *viewer, gint offset, gint scale, gint first, gint end, GstStereoViewLook *look)
{
  gsize count = (gsize) viewer->rows * (gsize) viewer->width;
  guint64 moved = 0;

  look->compared = viewer->looks > 1;
  if (!look->compared)
    return;
  look->same = !memcmp (viewer->past[0], viewer->past[1], count) && !memcmp (viewer->below[0], viewer->below[1], count);
  if (look->same)
    return;
  for (gint i = 0; i < viewer->rows; i++) {
    gsize at = (gsize) i * (gsize) viewer->width;
    moved += count_moved (
        viewer->past[0] + at, viewer->past[1] + at, viewer->width, GST_STEREO_LOOK_MOVED * scale / 255 + 1);
  }
  look->moved = (gdouble) moved / (gdouble) count;
  for (guint band = 0; band < GST_STEREO_LOOK_BANDS; band++)
    look->bands[band] = compare_band (viewer, band, first, end, offset, scale);
}

/* The oldest rows give their place to those of this look. */
static void
turn_over (GstStereoViewer *viewer)
{
  guint8 *oldest = viewer->past[GST_STEREO_VIEWER_AGES - 1], *below = viewer->below[1];

  memmove (viewer->past + 1, viewer->past, (GST_STEREO_VIEWER_AGES - 1) * sizeof *viewer->past);
  viewer->past[0] = oldest;
  viewer->below[1] = viewer->below[0];
  viewer->below[0] = below;
  viewer->looks = MIN (viewer->looks + 1, GST_STEREO_VIEWER_AGES);
}

void
gst_stereo_viewer_look (GstStereoViewer *viewer, const StereoImage *image, gint offset, gint scale, gint first,
    gint end, GstStereoViewLook *look)
{
  gint black = offset + GST_STEREO_LOOK_BLACK * scale / 255, white = offset + GST_STEREO_LOOK_WHITE * scale / 255;
  gdouble count = (gdouble) viewer->rows * viewer->width, bends = (gdouble) viewer->rows * (viewer->width - 2 * STEP);
  gdouble mean, runs;
  Sums sums = { 0 };

  turn_over (viewer);
  for (gint i = 0; i < viewer->rows; i++) {
    gint y = (gint) ((gint64) (2 * i + 1) * (viewer->height - APART) / (2 * viewer->rows));
    guint8 *row = viewer->past[0] + (gsize) i * (gsize) viewer->width;
    guint8 *below = viewer->below[0] + (gsize) i * (gsize) viewer->width;
    read_row (viewer, image, y, row);
    read_row (viewer, image, y + APART, below);
    add_row (row, below, viewer->width, black, white, &sums);
    add_runs (row, viewer->width, &sums);
  }
  *look = (GstStereoViewLook){ 0 };
  look->brightness = MAX (0, ((gdouble) sums.sum / count - offset) * 255 / scale);
  look->black = (gdouble) sums.black / count;
  look->white = (gdouble) sums.white / count;
  look->detail = sqrt ((gdouble) MAX (0, sums.products) / bends) * 255 / scale;
  look->roughness = sqrt ((gdouble) sums.squares / bends) * 255 / scale;
  /* neighbouring products share samples: as if there were OVERLAP times fewer of them */
  look->doubt = look->roughness * look->roughness * sqrt (OVERLAP / bends);
  look->sharpness = look->detail / MAX (look->brightness, 1);
  runs = (gdouble) MAX (1, sums.run_count);
  mean = sums.runs / runs;
  look->contrast = sqrt (MAX (0, sums.run_squares / runs - mean * mean)) / RUN * 255 / scale;
  compare (viewer, offset, scale, first, end, look);
}
