/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * auto-align: a rig that drifts. stereotestsrc makes it drift by known amounts; how far the right view of the output is
 * off is measured against the output of a rig that does not drift, block by block, by trying all displacements.
 */
#include "tests/support/gst/calibration/cameras.h"
#include "tests/support/random.h"
#include "tests/support/gst/suite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define WIDTH 241 /* of a view */
#define HEIGHT 183
#define EVERY 30 /* frames from one measurement to the next */
#define FRAMES 180
#define MEASURED (FRAMES / EVERY)
#define MOST 12
#define DRAWS CLAMP (random_count ("STEREO_TEST_DRAWS", 60) / 10, 1, 6) /* a sanitizer makes it slow */

/* What the rig is at a frame. */
typedef void (*Drift) (guint frame, gdouble *offset, gdouble *roll);
/* What happens to a pair before it is rectified. */
typedef void (*Spoil) (guint8 *frame, gsize stride);
typedef struct Run Run;
/* What the test does to the element after a frame came out. In the streaming thread: see note(). */
typedef void (*Deed) (Run *run, guint frame);

struct Run
{
  const gchar *source, *rectify; /* further properties */
  guint frames;
  Drift drift;
  Spoil spoil;
  Deed deed;

  GstElement *element; /* stereorectify */
  GstBus *bus;
  gdouble last;   /* px that were taken out of the frame before */
  gchar *problem; /* the first one that was seen in the streaming thread */
  guint in, out;
  guint8 *before[MOST], *after[MOST]; /* right views of every EVERYth frame: as they go in, and as they come out */
};

/* A test fails in its own thread only. */
#define note(run, condition, ...) \
  G_STMT_START \
  { \
    if (!(condition) && !(run)->problem) \
      (run)->problem = g_strdup_printf (__VA_ARGS__); \
  } \
  G_STMT_END

/* ---- running ----------------------------------------------------------------------------- */

static void
set_rig (GstElement *source, Drift drift, guint frame)
{
  gdouble offset = 0, roll = 0;

  if (drift)
    drift (frame, &offset, &roll);
  g_object_set (source, "vertical-offset", offset, "roll", roll, NULL);
}

/* Keeps the right view, where it is the turn of the frame of this number. */
static void
keep_view (GstBuffer *buffer, guint frame, guint8 *views[MOST])
{
  guint n = frame / EVERY;
  GstMapInfo map;

  if (frame % EVERY != EVERY - 1 || n >= MOST)
    return;
  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
  views[n] = g_malloc (WIDTH * HEIGHT);
  for (gsize y = 0; y < HEIGHT; y++)
    memcpy (views[n] + y * WIDTH, map.data + y * (map.size / HEIGHT) + WIDTH, WIDTH);
  gst_buffer_unmap (buffer, &map);
}

/* A frame left the source: the next one is made after this. */
static GstPadProbeReturn
frame_in (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  g_autoptr (GstElement) source = gst_pad_get_parent_element (pad);
  Run *run = data;

  if (run->spoil) {
    GstBuffer *buffer = GST_PAD_PROBE_INFO_DATA (info) = gst_buffer_make_writable (GST_PAD_PROBE_INFO_BUFFER (info));
    GstMapInfo map;
    fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READWRITE));
    run->spoil (map.data, map.size / HEIGHT);
    gst_buffer_unmap (buffer, &map);
  }
  keep_view (GST_PAD_PROBE_INFO_BUFFER (info), run->in, run->before);
  set_rig (source, run->drift, ++run->in);
  return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn
frame_out (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Run *run = data;

  keep_view (GST_PAD_PROBE_INFO_BUFFER (info), run->out, run->after);
  run->out++;
  if (run->deed)
    run->deed (run, run->out);
  return GST_PAD_PROBE_OK;
}

static void
add_probe (GstElement *element, GstPadProbeCallback probe, Run *run)
{
  g_autoptr (GstPad) pad = gst_element_get_static_pad (element, "src");

  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, probe, run, NULL);
}

/* Whose maps are the identity. */
static gchar *
straight_calibration (gint width, gint height)
{
  Cameras cameras = cameras_straight (width, height);

  cameras.focal = cameras.new_focal = width;
  return calibration_new (&cameras);
}

/* The views of a rig that does not drift. Clear it. */
static void
run_source (Run *run)
{
  g_autoptr (GstElement) pipeline = launch ("stereotestsrc name=s num-buffers=%u %s ! "
                                            "video/x-raw,format=GRAY8,width=%d,height=%d,framerate=30/1 ! fakesink",
      run->frames, run->source, 2 * WIDTH, HEIGHT);
  g_autoptr (GstElement) source = gst_bin_get_by_name (GST_BIN (pipeline), "s");

  gst_object_ref_sink (pipeline);
  add_probe (source, frame_in, run);
  gchar *error = play_to_end (pipeline);
  fail_unless (error == NULL, "%s", error);
}

/* To the end. Clear it. */
static void
run_all (Run *run)
{
  gchar *calibration = straight_calibration (WIDTH, HEIGHT), *error;
  g_autoptr (GstElement) pipeline = NULL, source = NULL;

  pipeline = launch ("stereotestsrc name=s num-buffers=%u %s ! "
                     "video/x-raw,format=GRAY8,width=%d,height=%d,framerate=30/1 ! stereorectify name=r "
                     "backend=cpu threads=1 calibration=%s %s ! fakesink",
      run->frames, run->source ? run->source : "", 2 * WIDTH, HEIGHT, calibration, run->rectify ? run->rectify : "");
  source = gst_bin_get_by_name (GST_BIN (pipeline), "s");
  run->element = gst_bin_get_by_name (GST_BIN (pipeline), "r");
  run->bus = gst_bus_new ();
  gst_object_ref_sink (pipeline);
  set_rig (source, run->drift, 0);
  add_probe (source, frame_in, run);
  add_probe (run->element, frame_out, run);
  gst_element_set_bus (run->element, run->bus);
  error = play_to_end (pipeline);
  fail_unless (error == NULL, "%s", error);
  fail_unless (run->problem == NULL, "%s", run->problem);
  fail_unless_equals_int (run->out, run->frames);
  calibration_free (calibration);
}

static void
run_clear (Run *run)
{
  for (guint i = 0; i < MOST; i++) {
    g_free (run->before[i]);
    g_free (run->after[i]);
  }
  gst_clear_object (&run->element);
  gst_clear_object (&run->bus);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Run, run_clear)

/* ---- what was in stats and messages ------------------------------------------------------ */

static gdouble
align_stat (GstElement *element, const gchar *name)
{
  g_autoptr (GstStructure) stats = NULL;
  gdouble number;

  g_object_get (element, "stats", &stats, NULL);
  fail_unless (gst_structure_get_double (stats, name, &number), "stats have no %s", name);
  return number;
}

static gboolean
is_aligned (GstElement *element)
{
  g_autoptr (GstStructure) stats = NULL;
  gboolean aligned;

  g_object_get (element, "stats", &stats, NULL);
  fail_unless (gst_structure_get_boolean (stats, "aligned", &aligned));
  return aligned;
}

/* Counts what came on the bus. @last gets the offset of the last message stereo-align. */
typedef struct
{
  guint follows, limit, warnings;
  gdouble last;
} Heard;

static void
hear (const GstStructure *fields, Heard *heard)
{
  const gchar *state = gst_structure_get_string (fields, "state");
  gdouble number;
  gint points;

  fail_unless (gst_structure_has_name (fields, "stereo-align") && state != NULL);
  fail_unless (gst_structure_get (fields, "align-offset", G_TYPE_DOUBLE, &heard->last, "align-offset-max",
      G_TYPE_DOUBLE, &number, "align-roll", G_TYPE_DOUBLE, &number, "align-left-over", G_TYPE_DOUBLE, &number,
      "align-points", G_TYPE_INT, &points, "limit", G_TYPE_DOUBLE, &number, NULL));
  fail_unless (points > 0 && gst_structure_get_string (fields, "text") != NULL);
  heard->follows += g_str_equal (state, "follows");
  heard->limit += g_str_equal (state, "limit");
}

static Heard
hear_all (GstBus *bus)
{
  const gchar *const words[] = { "more than 4.0 px", "calibrate the cameras anew", NULL };
  Heard heard = { 0 };
  GstMessage *message;

  while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT | GST_MESSAGE_WARNING))) {
    if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ELEMENT) {
      hear (gst_message_get_structure (message), &heard);
    } else {
      check_words (message, words);
      heard.warnings++;
    }
    gst_message_unref (message);
  }
  return heard;
}

/* ---- measuring --------------------------------------------------------------------------- */

#define BLOCK_WIDTH 48
#define BLOCK_HEIGHT 32
#define LARGEST 60 /* tenths of a pixel */

/* How much lower a block of @ideal lies in @view, px: of all displacements the one with the least squares. */
static gdouble
displacement (const guint8 *view, const guint8 *ideal, gint left, gint top)
{
  gdouble least = G_MAXDOUBLE, best = 0;

  for (gint tenths = -LARGEST; tenths <= LARGEST; tenths++) {
    gint whole = (gint) floor (tenths / 10.0);
    gdouble part = tenths / 10.0 - whole, sum = 0;
    for (gint y = top; y < top + BLOCK_HEIGHT; y++)
      for (gint x = left; x < left + BLOCK_WIDTH; x++) {
        const guint8 *at = view + (y + whole) * WIDTH + x;
        gdouble error = (1 - part) * at[0] + part * at[WIDTH] - ideal[y * WIDTH + x];
        sum += error * error;
      }
    if (sum < least) {
      least = sum;
      best = tenths / 10.0;
    }
  }
  return best;
}

/* Root mean square over blocks all over the picture. */
static gdouble
vertical_error (const guint8 *view, const guint8 *ideal)
{
  gdouble squares = 0;
  guint count = 0;

  for (gint top = 10; top + BLOCK_HEIGHT + 10 < HEIGHT; top += 60)
    for (gint left = 8; left + BLOCK_WIDTH < WIDTH; left += 84, count++)
      squares += pow (displacement (view, ideal, left, top), 2);
  return sqrt (squares / count);
}

/* ---- drifts ------------------------------------------------------------------------------ */

static void
offset_down (guint frame, gdouble *offset, gdouble *roll)
{
  *offset = MIN (frame * 0.012, 1.7);
}

static void
offset_up (guint frame, gdouble *offset, gdouble *roll)
{
  *offset = -MIN (frame * 0.008, 1.1);
}

static void
roll_over (guint frame, gdouble *offset, gdouble *roll)
{
  *roll = MIN (frame * 0.0035, 0.5);
}

static void
both_ways (guint frame, gdouble *offset, gdouble *roll)
{
  *offset = 1.2 * sin (frame / 100.0);
  *roll = -0.4 * sin (frame / 120.0);
}

static void
offset_at_once (guint frame, gdouble *offset, gdouble *roll)
{
  *offset = 1.5;
  *roll = 0.2;
}

static void
offset_without_end (guint frame, gdouble *offset, gdouble *roll)
{
  *offset = frame * 0.028;
}

TEST_LOOP (test_follows, 0, DRAWS)
{
  static const struct
  {
    Drift drift;
    const gchar *scene, *source;
    gdouble end; /* px that may be left at the end */
  } cases[] = {
    { offset_down, "", "noise=1", 0.15 },
    { offset_up, "", "noise=6", 0.2 },
    { roll_over, "pattern=random-dots", "noise=1", 0.15 },
    { roll_over, "right-gain=0.7", "noise=4", 0.2 },
    { both_ways, "", "noise=2", 0.4 },
    { offset_at_once, "", "noise=2", 0.15 },
  };
  Random random = { random_seed () + (guint) __i__ };
  g_autofree gchar *scene = g_strdup_printf ("%s noise=0 seed=%u", cases[__i__].scene, random_next (&random));
  g_autofree gchar *source = g_strdup_printf ("%s %s", scene, cases[__i__].source);
  g_auto (Run) ideal = { .source = scene, .frames = FRAMES };
  g_auto (Run) run = { .source = source, .frames = FRAMES, .drift = cases[__i__].drift, .rectify = "auto-align=true" };
  guint better = 0;

  run_source (&ideal);
  run_all (&run);
  for (guint n = 0; n < MEASURED; n++) {
    gdouble without = vertical_error (run.before[n], ideal.before[n]);
    gdouble with = vertical_error (run.after[n], ideal.before[n]);
    GST_INFO ("frame %u: %.2f px without, %.2f px with", n * EVERY, without, with);
    fail_unless (with <= without + 0.1, "frame %u: %.2f px without, %.2f px with", n * EVERY, without, with);
    better += with < without / 2;
    if (n == MEASURED - 1)
      fail_unless (with <= cases[__i__].end, "%.2f px are left at the end", with);
  }
  fail_unless (better >= MEASURED / 2, "better at %u of %u frames", better, MEASURED);
  Heard heard = hear_all (run.bus);
  fail_unless (heard.follows > 0 && !heard.limit && !heard.warnings);
}

/* ---- what must not be followed ----------------------------------------------------------- */

static void
exchange_views (guint8 *frame, gsize stride)
{
  for (gsize y = 0; y < HEIGHT; y++)
    for (gsize x = 0; x < WIDTH; x++) {
      guint8 *left = frame + y * stride + x, kept = *left;
      *left = left[WIDTH];
      left[WIDTH] = kept;
    }
}

/* The right view upside down. */
static void
unrelated_views (guint8 *frame, gsize stride)
{
  for (gsize y = 0; y < HEIGHT / 2; y++)
    for (gsize x = WIDTH; x < 2 * WIDTH; x++) {
      guint8 *upper = frame + y * stride + x, *lower = frame + (HEIGHT - 1 - y) * stride + x, kept = *upper;
      *upper = *lower;
      *lower = kept;
    }
}

TEST_LOOP (test_does_nothing, 0, DRAWS + 2)
{
  static const struct
  {
    const gchar *source;
    Drift drift;
    Spoil spoil;
  } cases[] = {
    { "noise=1", NULL, NULL },
    { "noise=12 seed=5", NULL, NULL },
    { "pattern=random-dots", NULL, NULL },
    { "pattern=flat noise=3", offset_down, NULL },
    { "noise=2", offset_at_once, exchange_views },
    { "noise=2 seed=8 pattern=random-dots", offset_at_once, exchange_views },
    { "noise=2", NULL, unrelated_views },
    { "noise=2 seed=4 pattern=random-dots", NULL, unrelated_views },
  };
  g_auto (Run) run = { .source = cases[__i__].source,
    .rectify = "auto-align=true",
    .frames = 120,
    .drift = cases[__i__].drift,
    .spoil = cases[__i__].spoil };

  run_all (&run);
  for (guint n = 0; n < 4; n++)
    fail_unless (!memcmp (run.before[n], run.after[n], WIDTH * HEIGHT), "frame %u differs", n * EVERY);
  fail_unless (!is_aligned (run.element));
  Heard heard = hear_all (run.bus);
  fail_unless (!heard.follows && !heard.limit && !heard.warnings);
}

static void
note_offset (Run *run, guint frame)
{
  gdouble offset = align_stat (run->element, "align-offset");

  note (run, fabs (offset - 1.5) < 0.15, "frame %u: %.3f px are taken out", frame, offset);
}

/* In steps of at most 1/4 px anywhere in the picture, and not beyond what is there. Then the texture goes: what was found
 * stays. */
static void
cover_after_100 (Run *run, guint frame)
{
  gdouble offset = align_stat (run->element, "align-offset"), now = align_stat (run->element, "align-offset-max");

  note (run, fabs (now - run->last) < 0.251, "frame %u: from %.3f to %.3f px at once", frame, run->last, now);
  note (run, offset < 1.6, "frame %u: %.3f px are taken out", frame, offset);
  run->last = now;
  if (frame == 100) {
    GstObject *pipeline = gst_object_get_parent (GST_OBJECT (run->element));
    g_autoptr (GstElement) source = gst_bin_get_by_name (GST_BIN (pipeline), "s");
    gst_util_set_object_arg (G_OBJECT (source), "pattern", "flat");
    gst_object_unref (pipeline);
  }
  if (frame >= 100)
    note_offset (run, frame);
}

TEST (test_holds_without_texture)
{
  g_auto (Run) run = { .source = "noise=2", .rectify = "auto-align=true", .frames = 200, .drift = offset_at_once };

  run.deed = cover_after_100;
  run_all (&run);
}

/* ---- the limit --------------------------------------------------------------------------- */

static void
stays_within_4_px (Run *run, guint frame)
{
  gdouble most = align_stat (run->element, "align-offset-max");

  note (run, most < 4.001, "frame %u: %.3f px are taken out", frame, most);
}

TEST (test_limit)
{
  g_auto (Run) run = { .source = "noise=1", .rectify = "auto-align=true", .frames = FRAMES, .drift = offset_without_end };

  run.deed = stays_within_4_px;
  run_all (&run);
  Heard heard = hear_all (run.bus);
  fail_unless_equals_int (heard.warnings, 1);
  fail_unless (heard.limit > 0 && heard.last > 3.7 && heard.last < 4.001, "%g px", heard.last);
}

/* ---- dropped and kept -------------------------------------------------------------------- */

static void
turn_off_after_100 (Run *run, guint frame)
{
  if (frame == 100) {
    note (run, is_aligned (run->element), "nothing was taken out");
    g_object_set (run->element, "auto-align", FALSE, NULL);
  }
  if (frame > 100)
    note (run, !is_aligned (run->element), "frame %u: still taken out", frame);
}

/* Another rectification: nothing is known of it. */
static void
set_unit_after_100 (Run *run, guint frame)
{
  if (frame == 100) {
    note_offset (run, frame);
    g_object_set (run->element, "unit", 2.0, NULL);
  }
  if (frame == 101)
    note (run, !is_aligned (run->element), "still taken out");
  /* and found again */
  if (frame == 199)
    note_offset (run, frame);
}

TEST_LOOP (test_dropped, 0, 2)
{
  g_auto (Run) run = { .source = "noise=2", .rectify = "auto-align=true", .frames = 200, .drift = offset_at_once };

  run.deed = __i__ ? set_unit_after_100 : turn_off_after_100;
  run_all (&run);
  for (guint n = 4; n < 6 && !__i__; n++)
    fail_unless (!memcmp (run.before[n], run.after[n], WIDTH * HEIGHT), "frame %u differs", n * EVERY);
}

/* A flush, a seek, a step of the timestamps say nothing of the cameras. */
static void
expect_offset (GstElement *rectify)
{
  fail_unless (fabs (align_stat (rectify, "align-offset") - 1.5) < 0.15);
}

TEST (test_kept)
{
  g_autoptr (CalibrationFile) calibration = straight_calibration (WIDTH, HEIGHT);

  g_autoptr (GstElement) pipeline = launch (
      "stereotestsrc name=s num-buffers=100 vertical-offset=1.5 ! "
      "video/x-raw,format=GRAY8,width=%d,height=%d,framerate=30/1 ! stereorectify name=r "
      "backend=cpu threads=1 calibration=%s auto-align=true ! fakesink",
      2 * WIDTH, HEIGHT, calibration);
  g_autoptr (GstElement) rectify = gst_bin_get_by_name (GST_BIN (pipeline), "r");
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  for (guint i = 0; i < 2; i++) {
    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    wait_for_message (bus, GST_MESSAGE_EOS);
    expect_offset (rectify);
    if (!i) {
      fail_unless (gst_element_seek_simple (pipeline, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, 0));
      gst_element_get_state (pipeline, NULL, NULL, GST_CLOCK_TIME_NONE);
      expect_offset (rectify);
    }
  }
  /* another start is another rig */
  gst_element_set_state (pipeline, GST_STATE_READY);
  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  gst_element_get_state (pipeline, NULL, NULL, GST_CLOCK_TIME_NONE);
  fail_unless (!is_aligned (rectify));
  gst_element_set_state (pipeline, GST_STATE_NULL);
}

/* ---- formats, sizes, live ---------------------------------------------------------------- */

TEST_LOOP (test_pipelines, 0, 7)
{
  static const gchar *const cases[] = {
    "stereotestsrc num-buffers=60 vertical-offset=1 ! video/x-raw,format=I420,width=640,height=240",
    "stereotestsrc num-buffers=60 vertical-offset=1 ! video/x-raw,format=NV12,width=640,height=240",
    "stereotestsrc num-buffers=60 vertical-offset=1 ! video/x-raw,format=RGBx,width=640,height=240",
    "stereotestsrc num-buffers=60 vertical-offset=1 ! video/x-raw,format=BGR,width=640,height=240",
    ("stereotestsrc num-buffers=30 is-live=true vertical-offset=1 ! "
     "video/x-raw,format=GRAY8,width=640,height=240,framerate=60/1"),
    /* too small to look at */
    "stereotestsrc num-buffers=10 vertical-offset=1 max-disparity=2 ! video/x-raw,format=GRAY8,width=32,height=8",
    "stereotestsrc num-buffers=10 max-disparity=1 ! video/x-raw,format=GRAY8,width=16,height=2",
  };
  gint width, height, matched = sscanf (strstr (cases[__i__], ",width="), ",width=%d,height=%d", &width, &height);
  gchar *calibration = straight_calibration (width / 2, height), *error;

  fail_unless_equals_int (matched, 2);
  g_autoptr (GstElement) pipeline = launch (
      "%s ! stereorectify name=r calibration=%s auto-align=true ! fakesink", cases[__i__], calibration);
  g_autoptr (GstElement) rectify = gst_bin_get_by_name (GST_BIN (pipeline), "r");
  error = play_to_end (pipeline);
  fail_unless (error == NULL, "%s", error);
  if (__i__ < 4)
    fail_unless (stat_of (rectify, "align-updates") > 0, "%s", cases[__i__]);
  if (__i__ > 4)
    fail_unless (stat_of (rectify, "align-updates") == 0);
  calibration_free (calibration);
}

SUITE (drift)
{
}
