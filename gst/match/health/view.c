/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/health/view.h"

#include <math.h>
#include <string.h>

#include "gst/match/check/place.h"

#define ROWS 32
#define APART 2 /* rows between the two that are multiplied: neighbours share what a camera's filters made of noise */
#define STEP 2  /* pixels to the neighbours that a pixel is compared with */
#define OVERLAP 2.0
#define MIN_WIDTH 16
#define MIN_HEIGHT 8

struct _GstStereoViewer
{
  gint width, height, rows;
  guint8 *now, *before; /* the rows of this look and of the last one */
  guint8 *below;        /* scratch: the row that goes with one of them */
  gboolean seen;
};

/* Sums over all rows of a look, in samples as they are. */
typedef struct
{
  guint64 sum, black, white, moved;
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
  viewer->now = g_malloc ((gsize) viewer->rows * (gsize) width);
  viewer->before = g_malloc ((gsize) viewer->rows * (gsize) width);
  viewer->below = g_malloc ((gsize) width);
  return viewer;
}

void
gst_stereo_viewer_free (GstStereoViewer *viewer)
{
  if (!viewer)
    return;
  g_free (viewer->now);
  g_free (viewer->before);
  g_free (viewer->below);
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
  viewer->seen = FALSE;
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
  const guint8 *from = gst_stereo_check_samples (image, 0, y);

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

static void
compare (const GstStereoViewer *viewer, gint scale, GstStereoViewLook *look)
{
  gsize count = (gsize) viewer->rows * (gsize) viewer->width;
  guint64 moved = 0;

  look->compared = viewer->seen;
  if (!viewer->seen)
    return;
  look->same = !memcmp (viewer->now, viewer->before, count);
  for (gint i = 0; i < viewer->rows && !look->same; i++) {
    gsize at = (gsize) i * (gsize) viewer->width;
    moved += count_moved (viewer->now + at, viewer->before + at, viewer->width, GST_STEREO_LOOK_MOVED * scale / 255 + 1);
  }
  look->moved = (gdouble) moved / (gdouble) count;
}

void
gst_stereo_viewer_look (
    GstStereoViewer *viewer, const StereoImage *image, gint offset, gint scale, GstStereoViewLook *look)
{
  gint black = offset + GST_STEREO_LOOK_BLACK * scale / 255, white = offset + GST_STEREO_LOOK_WHITE * scale / 255;
  gdouble count = (gdouble) viewer->rows * viewer->width, bends = (gdouble) viewer->rows * (viewer->width - 2 * STEP);
  guint8 *swap = viewer->before;
  Sums sums = { 0 };

  viewer->before = viewer->now;
  viewer->now = swap;
  for (gint i = 0; i < viewer->rows; i++) {
    gint y = (gint) ((gint64) (2 * i + 1) * (viewer->height - APART) / (2 * viewer->rows));
    guint8 *row = viewer->now + (gsize) i * (gsize) viewer->width;
    read_row (viewer, image, y, row);
    read_row (viewer, image, y + APART, viewer->below);
    add_row (row, viewer->below, viewer->width, black, white, &sums);
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
  compare (viewer, scale, look);
  viewer->seen = TRUE;
}
