/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/diagnose/views/view_figures.h"

#include <math.h>
#include <string.h>

#define ROWS 32
#define APART 2 /* rows between the two that are multiplied: neighbours share what a camera's filters made of noise */
#define STEP 2  /* pixels to the neighbours that a pixel is compared with */
#define OVERLAP 2.0
#define RUN 16 /* pixels whose mean a blur leaves as it is */
#define BANDS GST_STEREO_VIEW_BANDS
#define CELLS GST_STEREO_VIEW_CELLS
#define MIN_WIDTH 16
#define MIN_HEIGHT 8

typedef struct
{
  guint64 measurement; /* of the sums */
  GstStereoChangeSums sums;
} Cell;

struct _GstStereoViewReader
{
  gint width, height, rows;
  guint64 measurements;                         /* so far */
  Cell *cells;                                  /* of each age, band and cell of a band */
  guint8 *history[GST_STEREO_VIEW_READER_AGES]; /* the rows of this measurement, of the last one, and so on */
  guint8 *below[GST_STEREO_VIEW_READER_AGES];   /* the rows that go with them */
  guint kept;                                   /* measurements whose rows are there */
};

/* Sums over all rows that are read, in samples as they are. */
typedef struct
{
  guint64 sum, black, white;
  gdouble runs, run_squares; /* of means over RUN pixels */
  guint64 run_count;
  gint64 products, squares;
} Sums;

GstStereoViewReader *
gst_stereo_view_reader_new (gint width, gint height)
{
  if (width < MIN_WIDTH || height < MIN_HEIGHT)
    return NULL;
  GstStereoViewReader *reader = g_new0 (GstStereoViewReader, 1);
  reader->width = width;
  reader->height = height;
  reader->rows = MIN (ROWS, height - APART);
  reader->cells = g_new0 (Cell, GST_STEREO_VIEW_READER_AGES * BANDS * CELLS);
  for (guint i = 0; i < GST_STEREO_VIEW_READER_AGES; i++) {
    gsize size = (gsize) reader->rows * (gsize) width + GST_STEREO_CHANGES_SLACK;
    reader->history[i] = g_malloc0 (size);
    reader->below[i] = g_malloc0 (size);
  }
  return reader;
}

void
gst_stereo_view_reader_free (GstStereoViewReader *reader)
{
  if (!reader)
    return;
  for (guint i = 0; i < GST_STEREO_VIEW_READER_AGES; i++) {
    g_free (reader->history[i]);
    g_free (reader->below[i]);
  }
  g_free (reader->cells);
  g_free (reader);
}

gboolean
gst_stereo_view_reader_is_for (const GstStereoViewReader *reader, gint width, gint height)
{
  return reader->width == width && reader->height == height;
}

void
gst_stereo_view_reader_forget (GstStereoViewReader *reader)
{
  reader->kept = 0;
}

const guint8 *
gst_stereo_view_reader_rows (const GstStereoViewReader *reader, guint age, gint *count)
{
  *count = reader->rows;
  return age < reader->kept ? reader->history[age] : NULL;
}

/* One function for each stride: compilers read several pixels at once where they know it. */
static inline void
gather (const guint8 *from, gint stride, gint width, guint8 *row)
{
  for (gint x = 0; x < width; x++)
    row[x] = from[(gssize) x * stride];
}

static void
read_row (const GstStereoViewReader *reader, const StereoImage *image, gint y, guint8 *row)
{
  /* luma, or green, which stands for it */
  const guint8 *from = image->data + y * image->stride + image->offset[image->channels == 3];

  switch (image->pixel_stride) {
    case 1:
      memcpy (row, from, (gsize) reader->width);
      break;
    case 2:
      gather (from, 2, reader->width, row);
      break;
    case 3:
      gather (from, 3, reader->width, row);
      break;
    case 4:
      gather (from, 4, reader->width, row);
      break;
    default:
      gather (from, image->pixel_stride, reader->width, row);
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

/* What has changed in a cell. It is read once in a measurement, when somebody asks. */
static const GstStereoChangeSums *
sums_of (const GstStereoViewReader *reader, guint age, gint band, gint at)
{
  Cell *cell = &reader->cells[((gint) age * BANDS + band) * CELLS + at];
  gint first = at * reader->width / CELLS, end = (at + 1) * reader->width / CELLS;

  if (cell->measurement == reader->measurements)
    return &cell->sums;
  *cell = (Cell){ .measurement = reader->measurements };
  for (gint i = band * reader->rows / BANDS; i < (band + 1) * reader->rows / BANDS; i++) {
    gsize place = (gsize) i * (gsize) reader->width + (gsize) first;
    gst_stereo_changes_add (&cell->sums, reader->history[0] + place, reader->history[age] + place,
        reader->below[0] + place, reader->below[age] + place, end - first);
  }
  return &cell->sums;
}

GstStereoViewChange
gst_stereo_view_reader_compare (const GstStereoViewReader *reader, guint age, const GstStereoViewPart *part)
{
  GstStereoChangeSums sums = { 0 };

  for (gint band = part->from; band < part->to; band++)
    for (gint cell = part->first; cell < part->end; cell++)
      gst_stereo_changes_join (&sums, sums_of (reader, age, band, cell));
  return gst_stereo_changes_mean (&sums);
}

static GstStereoBandFigures
compare_part (const GstStereoViewReader *reader, const GstStereoViewPart *part, gint offset, gint scale)
{
  GstStereoViewChange change = gst_stereo_view_reader_compare (reader, 1, part);
  gdouble unit = 255.0 * 255 / scale / scale;

  return (GstStereoBandFigures){ change.product * unit, change.square * unit * sqrt (OVERLAP / change.count),
    change.other, (change.level - offset) * 255 / scale };
}

static void
compare (const GstStereoViewReader *reader, gint offset, gint scale, gint first, gint end, GstStereoViewFigures *figures)
{
  gsize count = (gsize) reader->rows * (gsize) reader->width;
  guint64 moved = 0;

  figures->compared = reader->kept > 1;
  if (!figures->compared)
    return;
  figures->same = !memcmp (reader->history[0], reader->history[1], count) &&
      !memcmp (reader->below[0], reader->below[1], count);
  for (gint i = 0; i < reader->rows; i++) {
    gsize at = (gsize) i * (gsize) reader->width;
    moved += count_moved (
        reader->history[0] + at, reader->history[1] + at, reader->width, GST_STEREO_LEVEL_MOVED * scale / 255 + 1);
  }
  figures->moved = (gdouble) moved / (gdouble) count;
  for (gint band = 0; band < BANDS; band++) {
    GstStereoViewPart strip = { 0, BANDS, band * CELLS / BANDS, (band + 1) * CELLS / BANDS };
    /* the cells that lie inside as a whole */
    GstStereoViewPart part = { band, band + 1, (first * CELLS + reader->width - 1) / reader->width,
      end * CELLS / reader->width };
    figures->bands[band] = compare_part (reader, &part, offset, scale);
    figures->strips[band] = compare_part (reader, &strip, offset, scale);
  }
}

/* The oldest rows give their place to those of this measurement. */
static void
turn_over (guint8 *ages[GST_STEREO_VIEW_READER_AGES])
{
  guint8 *oldest = ages[GST_STEREO_VIEW_READER_AGES - 1];

  memmove (ages + 1, ages, (GST_STEREO_VIEW_READER_AGES - 1) * sizeof *ages);
  ages[0] = oldest;
}

void
gst_stereo_view_reader_read (GstStereoViewReader *reader, const StereoImage *image, gint offset, gint scale, gint first,
    gint end, GstStereoViewFigures *figures)
{
  gint black = offset + GST_STEREO_LEVEL_BLACK * scale / 255, white = offset + GST_STEREO_LEVEL_WHITE * scale / 255;
  gdouble count = (gdouble) reader->rows * reader->width, bends = (gdouble) reader->rows * (reader->width - 2 * STEP);
  Sums sums = { 0 };

  turn_over (reader->history);
  turn_over (reader->below);
  reader->kept = MIN (reader->kept + 1, GST_STEREO_VIEW_READER_AGES);
  reader->measurements++;
  for (gint i = 0; i < reader->rows; i++) {
    gint y = (gint) ((gint64) (2 * i + 1) * (reader->height - APART) / (2 * reader->rows));
    guint8 *row = reader->history[0] + (gsize) i * (gsize) reader->width;
    guint8 *below = reader->below[0] + (gsize) i * (gsize) reader->width;
    read_row (reader, image, y, row);
    read_row (reader, image, y + APART, below);
    add_row (row, below, reader->width, black, white, &sums);
    add_runs (row, reader->width, &sums);
  }
  *figures = (GstStereoViewFigures){ 0 };
  figures->brightness = MAX (0, ((gdouble) sums.sum / count - offset) * 255 / scale);
  figures->black = (gdouble) sums.black / count;
  figures->white = (gdouble) sums.white / count;
  figures->detail = sqrt ((gdouble) MAX (0, sums.products) / bends) * 255 / scale;
  figures->roughness = sqrt ((gdouble) sums.squares / bends) * 255 / scale;
  /* neighbouring products share samples: as if there were OVERLAP times fewer of them */
  figures->doubt = figures->roughness * figures->roughness * sqrt (OVERLAP / bends);
  figures->sharpness = figures->detail / MAX (figures->brightness, 1);
  gdouble runs = (gdouble) MAX (1, sums.run_count);
  gdouble mean = sums.runs / runs;
  figures->contrast = sqrt (MAX (0, sums.run_squares / runs - mean * mean)) / RUN * 255 / scale;
  compare (reader, offset, scale, first, end, figures);
}

/* ---- detail and noise ---------------------------------------------------------------------- */

#define DETAILED_ENOUGH 1.5 /* grey levels: fog has 2.5 */
#define BEYOND_DOUBT 2.5    /* times what noise gives by chance */
#define SOMETHING_THERE 8.0 /* grey levels of contrast: a blank wall has less, and is not blurred */
#define SMOOTH 0.5          /* roughness of a blurred view, of its contrast */
#define ROUNDED \
  0.75 /* of the pixels that noise changes in the other view: twice the noise changes so many more, or fewer */

gboolean
gst_stereo_view_has_detail (const GstStereoViewFigures *own)
{
  return own->detail >= DETAILED_ENOUGH && own->detail * own->detail >= BEYOND_DOUBT * own->doubt;
}

gboolean
gst_stereo_band_is_rounded (const GstStereoBandFigures *band, const GstStereoBandFigures *other)
{
  return band->other < ROUNDED * other->other;
}

gdouble
gst_stereo_view_noise (const GstStereoViewFigures *own)
{
  /* twice a pixel less two neighbours has six times the variance of its noise */
  return sqrt (MAX (0, own->roughness * own->roughness - own->detail * own->detail) / 6);
}

gboolean
gst_stereo_view_has_no_detail (const GstStereoViewFigures *own)
{
  return own->contrast >= SOMETHING_THERE && own->roughness < SMOOTH * own->contrast &&
      own->detail * own->detail < BEYOND_DOUBT * own->doubt;
}
