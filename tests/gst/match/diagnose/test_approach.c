/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An obstacle comes nearer while the cameras stand still, and a fault of the input begins: nearer than warn-distance, it is never
 * clear. Where the fault shows, the state is unknown, with a reason; else the obstacle is near. */
#include "tests/support/gst/suite.h"
#include "tests/support/gst/util.h"

#include <math.h>
#include <string.h>

#include "tests/support/random.h"

#define BEGIN 31      /* the first frame with the fault */
#define BEGIN_ROWS 21 /* of rows that are frozen under noise, which only the movement of the obstacle shows */
#define FRAMES 95
#define START 14000 /* mm */
#define STEP 100    /* mm in a frame */
#define WARN 10000  /* mm */
#define WIDTH 640   /* of a view */
#define HEIGHT 360
#define SPOTS 20000
#define MOST_DIRT 120 /* grey levels */
#define CONTRAST 10   /* of smooth dirt: that smoothing takes away */
#define KEY 40        /* frames */
#define LIMIT 400     /* mm below that, where a surface may be seen on either side */

/* ---- what JPEG, and encoders of video, leave of a view --------------------------------------- */

#define SIDE 8 /* of a block */

/* Steps for luma with quality 50: ITU-T T.81, table K.1. */
static const guint8 steps[SIDE][SIDE] = { { 16, 11, 10, 16, 24, 40, 51, 61 }, { 12, 12, 14, 19, 26, 58, 60, 55 },
  { 14, 13, 16, 24, 40, 57, 69, 56 }, { 14, 17, 22, 29, 51, 87, 80, 62 }, { 18, 22, 37, 56, 68, 109, 103, 77 },
  { 24, 35, 55, 64, 81, 104, 113, 92 }, { 49, 64, 78, 87, 103, 121, 120, 101 }, { 72, 92, 95, 98, 112, 100, 103, 99 } };

/* Row k: the cosine of that frequency, of length 1. */
static void
make_cosines (gdouble cosines[SIDE][SIDE])
{
  for (gint k = 0; k < SIDE; k++)
    for (gint x = 0; x < SIDE; x++)
      cosines[k][x] = sqrt ((k ? 2.0 : 1.0) / SIDE) * cos ((2 * x + 1) * k * G_PI / (2 * SIDE));
}

/* @to: m * from * m^T; with @back, m^T * from * m. */
static void
transform (gdouble m[SIDE][SIDE], gdouble from[SIDE][SIDE], gboolean back, gdouble to[SIDE][SIDE])
{
  gdouble half[SIDE][SIDE] = { { 0 } };

  for (gint i = 0; i < SIDE; i++)
    for (gint j = 0; j < SIDE; j++)
      for (gint k = 0; k < SIDE; k++)
        half[i][j] += (back ? m[k][i] : m[i][k]) * from[k][j];
  for (gint i = 0; i < SIDE; i++)
    for (gint j = 0; j < SIDE; j++) {
      to[i][j] = 0;
      for (gint k = 0; k < SIDE; k++)
        to[i][j] += half[i][k] * (back ? m[k][j] : m[j][k]);
    }
}

static void
compress_block (gdouble cosines[SIDE][SIDE], guint8 *pixels, gsize stride, gint quality)
{
  gdouble block[SIDE][SIDE], waves[SIDE][SIDE];

  for (gint y = 0; y < SIDE; y++)
    for (gint x = 0; x < SIDE; x++)
      block[y][x] = pixels[(gsize) y * stride + (gsize) x] - 128.0;
  transform (cosines, block, FALSE, waves);
  for (gint y = 0; y < SIDE; y++)
    for (gint x = 0; x < SIDE; x++) {
      gint step = MIN (255, (steps[y][x] * (5000 / quality) + 50) / 100);
      waves[y][x] = step * rint (waves[y][x] / step);
    }
  transform (cosines, waves, TRUE, block);
  for (gint y = 0; y < SIDE; y++)
    for (gint x = 0; x < SIDE; x++)
      pixels[(gsize) y * stride + (gsize) x] = (guint8) CLAMP (block[y][x] + 128.5, 0, 255);
}

/* As libjpeg encodes luma with that @quality, 1..50, and decodes it again: blocks of 8x8 pixels, whose cosines are rounded to multiples of a
 * step. Columns and rows beyond the last whole block stay as they are. */
static void
compress_view (guint8 *pixels, gsize stride, gint width, gint height, gint quality)
{
  gdouble cosines[SIDE][SIDE];

  make_cosines (cosines);
  for (gint y = 0; y + SIDE <= height; y += SIDE)
    for (gint x = 0; x + SIDE <= width; x += SIDE)
      compress_block (cosines, pixels + (gsize) y * stride + (gsize) x, stride, quality);
}

/* As MPEG-4 and its like: a block is shown again, to the bit, where its pixels differ by less than @least grey levels in the mean from what
 * was @shown last: width * height pixels, which are kept up to date. */
static void
repeat_blocks (guint8 *pixels, gsize stride, gint width, gint height, guint8 *shown, gint least)
{
  for (gint y = 0; y < height; y += SIDE)
    for (gint x = 0; x < width; x += SIDE) {
      gint rows = MIN (SIDE, height - y), columns = MIN (SIDE, width - x), difference = 0;
      for (gint i = 0; i < rows * columns; i++)
        difference += ABS (pixels[(gsize) (y + i / columns) * stride + (gsize) (x + i % columns)] -
            shown[(y + i / columns) * width + x + i % columns]);
      for (gint row = y; row < y + rows; row++) {
        guint8 *now = pixels + (gsize) row * stride + (gsize) x, *before = shown + row * width + x;
        if (difference < least * rows * columns)
          memcpy (now, before, (gsize) columns);
        else
          memcpy (before, now, (gsize) columns);
      }
    }
}

/* ---- the drive ------------------------------------------------------------------------------ */

/* Views that a scene that hardly moves shows to be late, or not. */
typedef enum
{
  UNKNOWN,
  NEAR,
  EITHER
} State;

/* "frozen-rows": the rows @from to @to are those of an earlier frame, under new noise. "shifted": the right view is shifted to the right by so many px. "compressed": from the first frame on, as a JPEG of that @quality;
 * "repeated": by an encoder that repeats blocks, with a key frame every KEY frames.
 * "dirt": from the first frame on, both lenses have a pattern, which gives @light percent of the light, and which may be @smooth. */
static const struct
{
  const gchar *fault, *view;
  State state;
  gint from, to, light, shift, quality, least;
  gboolean smooth;
} cases[] = { { "none", "right", NEAR }, { "frozen", "left", UNKNOWN }, { "frozen", "right", UNKNOWN },
  { "frozen", "both", UNKNOWN }, { "half-frozen", "right", UNKNOWN }, { "black", "left", UNKNOWN },
  { "blown-out", "right", UNKNOWN }, { "dark", "right", UNKNOWN }, { "blurred", "left", UNKNOWN },
  { "blurred", "both", UNKNOWN }, { "covered", "right", UNKNOWN }, { "same-view", "right", UNKNOWN },
  { "same-view", "left", UNKNOWN }, { "still-pattern", "both", UNKNOWN }, { "zoomed", "right", UNKNOWN },
  { "late", "right", EITHER }, { "late", "left", EITHER }, { "torn", "right", EITHER },
  { "frozen-rows", "right", UNKNOWN, 0, HEIGHT }, { "frozen-rows", "left", EITHER, 0, HEIGHT },
  { "frozen-rows", "right", UNKNOWN, 120, 240 }, { "frozen-rows", "left", EITHER, 120, 240 },
  { "frozen-rows", "right", EITHER, 150, 210 }, { "dirt", "both", UNKNOWN, .light = 50 },
  { "dirt", "both", EITHER, .light = 33 }, { "dirt", "both", EITHER, .light = 25 },
  { "dirt", "both", EITHER, .light = 33, .smooth = TRUE }, { "dirt", "both", UNKNOWN, .light = 45, .smooth = TRUE },
  { "shifted", "right", UNKNOWN, .shift = 3 }, { "shifted", "right", UNKNOWN, .shift = 7 },
  { "shifted", "right", UNKNOWN, .shift = 12 }, { "compressed", "left", NEAR, .quality = 3 },
  { "compressed", "right", NEAR, .quality = 10 }, { "compressed", "both", NEAR, .quality = 10 },
  { "repeated", "left", NEAR, .least = 3 }, { "repeated", "right", NEAR, .least = 4 },
  { "repeated", "both", NEAR, .least = 4 } };

typedef struct
{
  GstElement *source;
  const gchar *fault;
  gint from, to, side; /* of the rows that are frozen */
  guint8 *kept;
  guint8 *dirt;    /* before a lens */
  gint light;      /* that it gives, in percent */
  gint shift;      /* of the right view, px: a camera that has turned */
  gint quality;    /* of a view that is compressed, */
  gint least;      /* of one whose blocks are repeated, in grey levels; */
  gint first, end; /* of these views */
  guint8 *shown[2];
  Random noise;
  guint made, found; /* frames */
  State expected;
} Drive;

/* Both views, side by side. */
#define SIZE (2 * WIDTH * HEIGHT)

static void
freeze_rows (Drive *drive, guint8 *pixels)
{
  if (!drive->kept)
    drive->kept = g_memdup2 (pixels, SIZE);
  for (gint y = drive->from; y < drive->to; y++)
    for (gint x = 0; x < WIDTH; x++) {
      gsize at = (gsize) (2 * y + drive->side) * WIDTH + (gsize) x;
      gint level = drive->kept[at] + random_range (&drive->noise, -3, 3);
      pixels[at] = (guint8) CLAMP (level, 0, 255);
    }
}

/* Spots of some pixels. */
static guint8 *
make_dirt (Random *random)
{
  guint8 *dirt = g_malloc0 (WIDTH * HEIGHT);

  for (guint spot = 0; spot < SPOTS; spot++) {
    gint size = random_range (random, 3, 6), x = random_range (random, 0, WIDTH - size);
    gint y = random_range (random, 0, HEIGHT - size), level = random_range (random, 0, MOST_DIRT);
    for (gint row = y; row < y + size; row++)
      memset (dirt + row * WIDTH + x, level, (gsize) size);
  }
  return dirt;
}

/* A mean over 5 pixels, first along the rows and then along the columns. */
static void
smooth (guint8 *picture)
{
  for (gint pass = 0; pass < 2; pass++) {
    g_autofree guint8 *from = g_memdup2 (picture, WIDTH * HEIGHT);
    for (gint y = 0; y < HEIGHT; y++)
      for (gint x = 0; x < WIDTH; x++) {
        gint sum = 2;
        for (gint i = -2; i <= 2; i++)
          sum += pass ? from[CLAMP (y + i, 0, HEIGHT - 1) * WIDTH + x] : from[y * WIDTH + CLAMP (x + i, 0, WIDTH - 1)];
        picture[y * WIDTH + x] = (guint8) (sum / 5);
      }
  }
}

/* A pattern out of focus: noise, three times smoothed. */
static guint8 *
make_smooth_dirt (Random *random)
{
  guint8 *dirt = g_malloc (WIDTH * HEIGHT);

  for (gint i = 0; i < WIDTH * HEIGHT; i++)
    dirt[i] = (guint8) random_next (random);
  for (guint i = 0; i < 3; i++)
    smooth (dirt);
  for (gint i = 0; i < WIDTH * HEIGHT; i++)
    dirt[i] = (guint8) CLAMP (64 + CONTRAST * (dirt[i] - 128), 0, 127);
  return dirt;
}

static void
add_dirt (Drive *drive, guint8 *pixels)
{
  for (gint y = 0; y < 2 * HEIGHT; y++)
    for (gint x = 0; x < WIDTH; x++)
      pixels[y * WIDTH + x] = (guint8) MIN (255,
          ((100 - drive->light) * pixels[y * WIDTH + x] + 2 * drive->light * drive->dirt[y / 2 * WIDTH + x]) / 100);
}

static void
shift_view (Drive *drive, guint8 *pixels)
{
  for (gint y = 0; y < HEIGHT; y++) {
    guint8 *row = pixels + (2 * y + 1) * WIDTH;
    memmove (row + drive->shift, row, (gsize) (WIDTH - drive->shift));
  }
}

static void
compress (Drive *drive, guint8 *pixels)
{
  for (gint v = drive->first; v < drive->end; v++) {
    if (drive->quality) {
      compress_view (pixels + v * WIDTH, 2 * WIDTH, WIDTH, HEIGHT, drive->quality);
      continue;
    }
    /* the two views have their key frames at other times */
    if ((drive->made + (guint) v * KEY / 2) % KEY == 1)
      g_clear_pointer (&drive->shown[v], g_free);
    if (!drive->shown[v])
      drive->shown[v] = g_malloc0 (WIDTH * HEIGHT);
    repeat_blocks (pixels + v * WIDTH, 2 * WIDTH, WIDTH, HEIGHT, drive->shown[v], drive->least);
  }
}

static GstPadProbeReturn
begin_fault (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Drive *drive = data;
  const gboolean begun = drive->to ? drive->made >= BEGIN_ROWS : drive->shift ? drive->made >= BEGIN : TRUE;
  void (*change) (Drive *, guint8 *) = drive->to ? freeze_rows :
      drive->dirt                                ? add_dirt :
      drive->shift                               ? shift_view :
      drive->quality || drive->least             ? compress :
                                                   NULL;
  GstMapInfo map;

  drive->made++;
  if (change && begun) {
    GST_PAD_PROBE_INFO_DATA (info) = gst_buffer_make_writable (GST_PAD_PROBE_INFO_BUFFER (info));
    fail_unless (gst_buffer_map (GST_PAD_PROBE_INFO_BUFFER (info), &map, GST_MAP_READWRITE));
    fail_unless_equals_uint64 (map.size, SIZE);
    change (drive, map.data);
    gst_buffer_unmap (GST_PAD_PROBE_INFO_BUFFER (info), &map);
  } else if (!change && drive->made == BEGIN) {
    gst_util_set_object_arg (G_OBJECT (drive->source), "fault", drive->fault);
  }
  return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn
check_state (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Drive *drive = data;
  const GstStructure *meta = found_of (GST_PAD_PROBE_INFO_BUFFER (info), "GstStereoNearestMeta");
  const gchar *state = meta ? gst_structure_get_string (meta, "state") : NULL;
  gint frame = (gint) drive->found++, truth = START - STEP * frame;

  fail_unless (meta != NULL);
  if (truth > WARN - LIMIT)
    return GST_PAD_PROBE_OK;
  fail_if (!strcmp (state, "clear"), "%s, frame %d: clear at %d mm", drive->fault, frame, truth);
  if (drive->expected == NEAR)
    fail_unless (!strcmp (state, "near"), "%s, frame %d: not near", drive->fault, frame);
  if (drive->expected == UNKNOWN && frame > BEGIN + 12)
    fail_unless (!g_strcmp0 (state, "unknown") && gst_structure_has_field (meta, "reason"), "%s, frame %d: not unknown",
        drive->fault, frame);
  return GST_PAD_PROBE_OK;
}

static void
probe (GstElement *element, GstPadProbeCallback callback, Drive *drive)
{
  GstPad *pad = gst_element_get_static_pad (element, "src");

  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, callback, drive, NULL);
  gst_object_unref (pad);
}

TEST_LOOP (test_never_clear, 0, G_N_ELEMENTS (cases))
{
  gchar *line = g_strdup_printf (
      "stereotestsrc name=s pattern=road fault-view=%s noise=2 obstacle-height=1800 obstacle-width=2500 "
      "obstacle-distance=%d obstacle-approach=%d num-buffers=%d ! video/x-raw,format=GRAY8,width=%d,height=%d,"
      "framerate=10/1,multiview-mode=side-by-side ! stereomatch method=bm cost=sad window=9 backend=cpu "
      "num-disparities=64 confidence-threshold=0.33 ! stereonearest name=n warn-distance=%d "
      "region=\"<0.35,0.25,0.3,0.35>\" ! fakesink sync=false",
      cases[__i__].view, START, STEP, FRAMES, 2 * WIDTH, HEIGHT, WARN);
  GstElement *pipeline = gst_parse_launch (line, NULL), *source = gst_bin_get_by_name (GST_BIN (pipeline), "s");
  GstElement *nearest = gst_bin_get_by_name (GST_BIN (pipeline), "n");
  Drive drive = { .source = source,
    .fault = cases[__i__].fault,
    .from = cases[__i__].from,
    .to = cases[__i__].to,
    .side = !strcmp (cases[__i__].view, "right"),
    .light = cases[__i__].light,
    .shift = cases[__i__].shift,
    .quality = cases[__i__].quality,
    .least = cases[__i__].least,
    .first = !strcmp (cases[__i__].view, "right"),
    .end = strcmp (cases[__i__].view, "left") ? 2 : 1,
    .noise = { .state = random_seed () },
    .expected = cases[__i__].state };

  if (!strcmp (drive.fault, "dirt"))
    drive.dirt = (cases[__i__].smooth ? make_smooth_dirt : make_dirt) (&drive.noise);
  probe (source, begin_fault, &drive);
  probe (nearest, check_state, &drive);
  fail_unless (play_to_end (pipeline) == NULL, "%s", line);
  fail_unless_equals_uint64 (drive.found, FRAMES);
  g_free (drive.dirt);
  g_free (drive.kept);
  for (guint v = 0; v < 2; v++)
    g_free (drive.shown[v]);
  gst_object_unref (nearest);
  gst_object_unref (source);
  gst_object_unref (pipeline);
  g_free (line);
}

static GstPadProbeReturn
check_unknown (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  const GstStructure *meta = found_of (GST_PAD_PROBE_INFO_BUFFER (info), "GstStereoNearestMeta");
  const gchar *state = meta ? gst_structure_get_string (meta, "state") : NULL;
  guint frame = ((Drive *) data)->found++;

  fail_unless (meta && !g_strcmp0 (state, "unknown") && gst_structure_has_field (meta, "reason"),
      "frame %u: not unknown", frame);
  return GST_PAD_PROBE_OK;
}

/* Both views of one camera: nothing is known, from the first frame on. */
TEST_LOOP (test_same_view, 0, 8)
{
  gchar *line = g_strdup_printf (
      "stereotestsrc pattern=road fault=same-view fault-view=%s noise=%d num-buffers=3 obstacle-height=1800 "
      "obstacle-width=2500 obstacle-distance=6000 ! video/x-raw,format=%s,width=1282,height=359,framerate=10/1,"
      "multiview-mode=side-by-side ! stereomatch method=bm cost=sad window=9 backend=cpu num-disparities=64 ! "
      "stereonearest name=n ! fakesink sync=false",
      __i__ % 2 ? "left" : "right", __i__ / 2 % 2 ? 3 : 0, __i__ / 4 ? "RGB" : "GRAY8");
  GstElement *pipeline = gst_parse_launch (line, NULL), *nearest = gst_bin_get_by_name (GST_BIN (pipeline), "n");
  Drive drive = { .found = 0 };

  probe (nearest, check_unknown, &drive);
  fail_unless (play_to_end (pipeline) == NULL, "%s", line);
  fail_unless_equals_uint64 (drive.found, 3);
  gst_object_unref (nearest);
  gst_object_unref (pipeline);
  g_free (line);
}

SUITE (approach)
{
  tcase_set_timeout (tcase, 120);
}
