/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is wrong with the input: the messages of the element, with the faults of stereotestsrc; and none without. */
#include "tests/support/gst/suite.h"
#include "tests/support/gst/util.h"

#include <string.h>

#define MATCH "stereomatch name=m method=bm cost=sad num-disparities=16 window=5 backend=cpu threads=1 "
#define SMALL "width=256,height=64,framerate=30/1"

/* Sets a property of the source when it has made so many frames. */
typedef struct
{
  guint frame;
  const gchar *property, *value;
} Step;

typedef struct
{
  GstElement *source;
  const Step *steps;
  guint frame;
} Script;

/* The frames, without the last one, whose right view is changed, and how: the first row of the right view, of a GRAY8 frame with
 * both views side by side. */
static guint changed_from, changed_to;
static void (*change_right) (guint8 *right, gint stride, gint width, gint height);

static void
mirror (guint8 *right, gint stride, gint width, gint height)
{
  for (gint y = 0; y < height; y++)
    for (gint x = 0; x < width / 2; x++) {
      guint8 *row = right + y * stride, level = row[x];
      row[x] = row[width - 1 - x];
      row[width - 1 - x] = level;
    }
}

/* Rows in the middle, a fifth of the height, stay as they were in the first of these frames. */
static guint8 *kept_rows; /* NULL before it */

static void
freeze_rows (guint8 *right, gint stride, gint width, gint height)
{
  gboolean first = !kept_rows;

  if (first)
    kept_rows = g_malloc ((gsize) (width * height));
  for (gint y = 2 * height / 5; y < 3 * height / 5; y++)
    memcpy (first ? kept_rows + y * width : right + y * stride, first ? right + y * stride : kept_rows + y * width,
        (gsize) width);
}

/* Something dark, with noise, lies before a quarter of the columns. */
static void
cover_columns (guint8 *right, gint stride, gint width, gint height)
{
  for (gint y = 0; y < height; y++)
    for (gint x = width / 4; x < width / 2; x++)
      right[y * stride + x] = (guint8) (30 + texture (right[y * stride + x], x, y) % 5);
}

static void
change_frame (GstPadProbeInfo *info, GstPad *pad)
{
  GstCaps *caps = gst_pad_get_current_caps (pad);
  GstBuffer *buffer = gst_buffer_make_writable (GST_PAD_PROBE_INFO_BUFFER (info));
  GstVideoFrame frame;
  GstVideoInfo video;

  fail_unless (gst_video_info_from_caps (&video, caps));
  fail_unless (gst_video_frame_map (&frame, &video, buffer, GST_MAP_READWRITE));
  change_right ((guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0) + video.width / 2,
      GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0), video.width / 2, video.height);
  gst_video_frame_unmap (&frame);
  GST_PAD_PROBE_INFO_DATA (info) = buffer;
  gst_caps_unref (caps);
}

static GstPadProbeReturn
follow_script (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Script *script = data;

  for (; script->steps && script->steps->property && script->steps->frame <= script->frame; script->steps++)
    gst_util_set_object_arg (G_OBJECT (script->source), script->steps->property, script->steps->value);
  if (script->frame >= changed_from && script->frame < changed_to)
    change_frame (info, pad);
  script->frame++;
  return GST_PAD_PROBE_OK;
}

/* Frames that came out, and the first of them whose depth is unreliable; 0 = none. */
static guint frames_out, first_unreliable;

static GstPadProbeReturn
read_health (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  const GstStereoMeta *meta = gst_buffer_get_stereo_meta (GST_PAD_PROBE_INFO_BUFFER (info));

  fail_unless (meta != NULL);
  if (!first_unreliable && !gst_stereo_health_is_reliable (meta->health))
    first_unreliable = frames_out;
  frames_out++;
  return GST_PAD_PROBE_OK;
}

/* The messages of a stream, one line each: "begin frozen right", "end frozen right", "warning". */
static gchar *
messages_of (const gchar *line, const Step *steps, guint64 *looks)
{
  GstElement *pipeline = gst_parse_launch (line, NULL), *source, *match;
  GstBus *bus = gst_element_get_bus (pipeline);
  GString *lines = g_string_new (NULL);
  Script script = { NULL, steps, 0 };
  gboolean over = FALSE;
  GstPad *pad;

  source = script.source = gst_bin_get_by_name (GST_BIN (pipeline), "s");
  match = gst_bin_get_by_name (GST_BIN (pipeline), "m");
  pad = gst_element_get_static_pad (source, "src");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, follow_script, &script, NULL);
  gst_object_unref (pad);
  pad = gst_element_get_static_pad (match, "src");
  frames_out = first_unreliable = 0;
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, read_health, NULL, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  while (!over) {
    GstMessage *message = gst_bus_timed_pop (bus, PATIENCE);
    const GstStructure *told = message ? gst_message_get_structure (message) : NULL;
    gboolean active;
    fail_unless (message != NULL, "%s: no end", line);
    fail_if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR, "%s: an error", line);
    over = GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS;
    if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_WARNING)
      g_string_append (lines, "warning\n");
    if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ELEMENT && gst_structure_has_name (told, "stereo-health")) {
      fail_unless (gst_structure_get_boolean (told, "active", &active));
      fail_unless (gst_structure_has_field_typed (told, "value", G_TYPE_DOUBLE));
      fail_unless (gst_structure_has_field_typed (told, "text", G_TYPE_STRING));
      g_string_append_printf (lines, "%s %s %s\n", active ? "begin" : "end", gst_structure_get_string (told, "kind"),
          gst_structure_get_string (told, "view"));
    }
    gst_message_unref (message);
  }
  if (looks)
    *looks = stat_of (match, "health-looks");
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pad);
  gst_object_unref (match);
  gst_object_unref (source);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
  return g_string_free (lines, FALSE);
}

/* "focal both": its begin, with a warning, and its end; NULL: nothing. */
static gchar *
said_of (const gchar *fault)
{
  return fault ? g_strdup_printf ("begin %s\nwarning\nend %s\n", fault, fault) : g_strdup ("");
}

static const gchar *const faults[] = { "frozen", "black", "blown-out", "dark", "blurred", "covered" };

/* A fault for three seconds, twice: each time one warning, one message when it begins and one when
 * it ends; of that fault, in that view, and of nothing else. */
static void
check_fault (guint fault, const gchar *view, const gchar *caps, const gchar *properties)
{
  const Step steps[] = { { 15, "fault", faults[fault] }, { 60, "fault", "none" }, { 90, "fault", faults[fault] },
    { 135, "fault", "none" }, { 0, NULL, NULL } };
  g_autofree gchar *which = g_strconcat (faults[fault], " ", view, NULL), *once = said_of (which);
  gchar *line = g_strdup_printf (
      "stereotestsrc name=s fault-view=%s num-buffers=165 max-disparity=12 %s ! video/x-raw,%s ! " MATCH
      "! fakesink sync=false",
      view, properties, caps);
  gchar *expected = g_strconcat (once, once, NULL), *found = messages_of (line, steps, NULL);

  fail_unless (!strcmp (found, expected), "%s, %s: %s", which, line, found);
  g_free (line);
  g_free (expected);
  g_free (found);
}

TEST_LOOP (test_faults, 0, G_N_ELEMENTS (faults))
{
  static const gchar *const formats[] = { "GRAY8", "RGB", "NV12" };

  for (guint f = 0; f < G_N_ELEMENTS (formats); f++) {
    gchar *caps = g_strdup_printf ("format=%s,width=256,height=64,framerate=15/1", formats[f]);
    check_fault (__i__, f % 2 ? "left" : "right", caps, "noise=5");
    check_fault (__i__, f % 2 ? "right" : "left", caps, "noise=0");
    g_free (caps);
  }
  check_fault (__i__, "right", "format=BGRx,width=201,height=180,framerate=10/1,multiview-mode=top-bottom", "noise=1");
}

#define WIDE "width=960,height=240,framerate=30/1"
#define BOARD "pattern=road obstacle-height=6000 obstacle-distance=18000 obstacle-approach=230 "

/* A fault of stereotestsrc, or a change of the right view, in the frames @from to @to - 1: known within a second, as what it is and as
 * nothing else, and over when it is over.  */
static const struct
{
  const gchar *name, *view, *source; /* the fault, and further properties of stereotestsrc */
  const gchar *said;
  const gchar *caps;
  guint from, to, frames, within;
  void (*change) (guint8 *right, gint stride, gint width, gint height);
  guint still;        /* the frame from which on nothing moves; 0 = none */
  const gchar *match; /* further properties of stereomatch */
} cases[] = {
#define FOR_THREE_SECONDS(name, view, source, said) \
  { name, view, source, said, "format=GRAY8," WIDE, 31, 121, 181, 30 }, \
      { name, view, source " pattern=road", said, "format=RGB," WIDE, 31, 121, 181, 30 }, \
  { \
    name, view, source, said, "format=NV12," WIDE, 31, 121, 181, 30 \
  }
  FOR_THREE_SECONDS ("frozen", "both", "noise=1 motion=4", "frozen both"),
  FOR_THREE_SECONDS ("same-view", "right", "noise=3", "same-view both"),
  FOR_THREE_SECONDS ("same-view", "left", "right-gain=0.8", "same-view both"),
  FOR_THREE_SECONDS ("still-pattern", "both", "noise=1", "still-pattern both"),
  FOR_THREE_SECONDS ("half-frozen", "right", "noise=2", "frozen right"),
  FOR_THREE_SECONDS ("half-frozen", "left", "noise=2", "frozen left"),
  FOR_THREE_SECONDS ("zoomed", "right", "noise=2", "focal both"),
  FOR_THREE_SECONDS ("zoomed", "left", "noise=2", "focal both"),
/* a view, or the half of it, freezes, and lives again when nothing moves any more: its noise is enough to say so within a second */
#define AWAKE(name, view) \
  { \
    name, view, "noise=2 motion=4", "frozen " view, "format=GRAY8," WIDE, 31, 121, 154, 30, NULL, 75 \
  }
  AWAKE ("frozen", "left"),
  AWAKE ("frozen", "right"),
  AWAKE ("half-frozen", "left"),
  AWAKE ("half-frozen", "right"),
/* another focal length from the first frame on, which is looked at in all respects at once: it is never taken for rows that do not fit,
 * however often these are looked at */
#define ZOOMED(view, pattern, interval) \
  { \
    "zoomed", view, "noise=2 pattern=" pattern, "focal both", "format=GRAY8,width=960,height=360,framerate=30/1", 0, \
        61, 121, 30, NULL, 0, "check-interval=" interval \
  }
  ZOOMED ("left", "planes", "5000000000"),
  ZOOMED ("left", "planes", "100000000"),
  ZOOMED ("left", "road", "5000000000"),
  ZOOMED ("left", "road", "100000000"),
  ZOOMED ("right", "planes", "5000000000"),
  ZOOMED ("right", "planes", "100000000"),
  ZOOMED ("right", "road", "5000000000"),
  ZOOMED ("right", "road", "100000000"),
/* a view of the frame before, while a board comes nearer, whatever the size, the shape and the noise of the views; and none */
#define MOMENTS(name, view, board, said) \
  { name, view, BOARD board " noise=2", said, "format=GRAY8,width=960,height=240,framerate=10/1", 21, 36, 60, 10 }, \
      { name, view, BOARD board " noise=2", said, "format=GRAY8,width=1480,height=370,framerate=10/1", 21, 36, 60, \
        10 }, \
  { \
    name, view, BOARD board " noise=15", said, "format=GRAY8,width=1280,height=480,framerate=10/1", 21, 36, 60, 10 \
  }
  MOMENTS ("late", "right", "obstacle-width=5000", "out-of-step both"),
  MOMENTS ("late", "left", "obstacle-width=5000", "out-of-step both"),
  MOMENTS ("none", "right", "obstacle-width=5000", NULL),
  MOMENTS ("none", "right", "obstacle-width=9000", NULL),
  /* a mirrored right view, from the start and after sound views; and for a moment */
  { NULL, "right", "", "mismatch both", "format=GRAY8," WIDE, 0, 60, 210, 30, mirror },
  { NULL, "right", "", "mismatch both", "format=GRAY8," WIDE, 75, 135, 210, 30, mirror },
  { NULL, "right", "", NULL, "format=GRAY8," WIDE, 75, 80, 210, 0, mirror },
  /* a part of the right view, whether the scene moves or has noise */
  { NULL, "right", "motion=4 noise=2", "frozen right", "format=GRAY8," WIDE, 31, 121, 181, 30, freeze_rows },
  { NULL, "right", "pattern=road noise=2", "frozen right", "format=GRAY8," WIDE, 31, 121, 181, 30, freeze_rows },
  { NULL, "right", "noise=2", "covered right", "format=GRAY8," WIDE, 31, 121, 181, 30, cover_columns },
  { NULL, "right", "pattern=road noise=2 obstacle-width=5000 obstacle-height=3000 obstacle-distance=18000",
      "covered right", "format=GRAY8," WIDE, 31, 121, 181, 30, cover_columns },
};

TEST_LOOP (test_within_a_second, 0, G_N_ELEMENTS (cases))
{
  const guint from = cases[__i__].from, to = cases[__i__].to, still = cases[__i__].still;
  const gchar *fault = cases[__i__].name;
  const Step steps[] = { { from, fault ? "fault" : NULL, fault },
    { still ? still : to, still ? "motion" : "fault", still ? "0" : "none" },
    { still ? to : 0, still ? "fault" : NULL, "none" }, { 0, NULL, NULL } };
  gchar *line = g_strdup_printf (
      "stereotestsrc name=s fault=%s fault-view=%s num-buffers=%u max-disparity=30 %s ! video/x-raw,%s "
      "! stereomatch name=m method=bm cost=sad num-disparities=32 window=5 backend=cpu %s ! "
      "fakesink sync=false",
      fault && !from ? fault : "none", cases[__i__].view, cases[__i__].frames, cases[__i__].source, cases[__i__].caps,
      cases[__i__].match ? cases[__i__].match : "");
  gchar *expected = said_of (cases[__i__].said), *found;

  change_right = cases[__i__].change;
  changed_from = change_right ? from : 0;
  changed_to = change_right ? to : 0;
  found = messages_of (line, steps, NULL);
  changed_from = changed_to = 0;
  fail_unless (!strcmp (found, expected), "%s: %s", line, found);
  fail_unless (!*found || ((first_unreliable > from || !from) && first_unreliable <= from + cases[__i__].within),
      "%s: frame %u", line, first_unreliable);
  g_clear_pointer (&kept_rows, g_free);
  g_free (line);
  g_free (expected);
  g_free (found);
}

/* In both views at once, as at night or with the sun in front. */
TEST (test_both_views)
{
  const Step steps[] = { { 30, "fault", "black" }, { 120, "fault", "none" }, { 0, NULL, NULL } };
  gchar *found = messages_of ("stereotestsrc name=s fault-view=both num-buffers=180 ! video/x-raw,format=GRAY8," SMALL
                              " ! " MATCH "! fakesink sync=false",
      steps, NULL);

  fail_unless_equals_string (
      found, "begin black left\nwarning\nbegin black right\nwarning\nend black left\nend black right\n");
  g_free (found);
}

/* What lasts less than a second is no fault, nor is anything while check-interval is 0. */
TEST (test_silence_about_trifles)
{
  const Step passing[] = { { 30, "fault", "covered" }, { 54, "fault", "none" }, { 80, "fault", "black" },
    { 104, "fault", "none" }, { 0, NULL, NULL } };
  gchar *found = messages_of ("stereotestsrc name=s num-buffers=180 ! video/x-raw,format=GRAY8," SMALL " ! " MATCH
                              "! fakesink sync=false",
      passing, NULL);
  guint64 looks;

  fail_unless_equals_string (found, "");
  g_free (found);
  found = messages_of ("stereotestsrc name=s fault=black num-buffers=180 ! video/x-raw,format=GRAY8," SMALL " ! " MATCH
                       "check-interval=0 ! fakesink sync=false",
      NULL, &looks);
  fail_unless_equals_string (found, "");
  fail_unless_equals_uint64 (looks, 0);
  g_free (found);
}

#define LARGE "seed=7 " /* of a size at which points are matched */

/* A thousand frames of sound cameras: noisy or not, moving or not, without texture, and not quite alike. */
TEST_LOOP (test_silence_about_sound_views, 0, 17)
{
  static const gchar *const sources[] = { "noise=5", "noise=0", "noise=5 motion=0", "noise=0 motion=0",
    "noise=5 motion=17 right-gain=0.85", "noise=2 right-gain=1.2 vertical-offset=0.4", "noise=5 pattern=random-dots",
    "noise=5 pattern=stripes", "noise=5 pattern=flat", "noise=0 pattern=flat", LARGE "noise=3",
    LARGE "noise=15 motion=5", LARGE "noise=3 pattern=random-dots", LARGE "noise=3 pattern=stripes",
    LARGE "noise=3 pattern=flat", LARGE "noise=3 pattern=road",
    LARGE "noise=3 pattern=road obstacle-width=5000 obstacle-height=6000 obstacle-distance=60000 obstacle-approach=50" };
  static const gchar *const formats[] = { "GRAY8", "RGB", "NV12" };
  gboolean large = g_str_has_prefix (sources[__i__], LARGE);

  gchar *line = g_strdup_printf ("stereotestsrc name=s num-buffers=1000 max-disparity=12 %s ! "
                                 "video/x-raw,format=%s,%s ! " MATCH "! fakesink sync=false",
      sources[__i__], formats[__i__ % 3], large ? "width=1280,height=320,framerate=30/1" : SMALL);
  guint64 looks;
  gchar *found = messages_of (line, NULL, &looks);

  fail_unless (!*found, "%s: %s", line, found);
  fail_unless (looks > 320 && looks < 340, "%u looks", (guint) looks);
  g_free (found);
  g_free (line);
}

/* Covers on both lenses, from the first frame on, are told from a wall by nothing: the depth is unreliable, without a message. */
TEST (test_covers_from_the_start)
{
  gchar *found = messages_of (
      "stereotestsrc name=s fault=covered fault-view=both num-buffers=30 pattern=road noise=2 ! "
      "video/x-raw,format=GRAY8,width=1280,height=360,framerate=10/1,multiview-mode=side-by-side "
      "! stereomatch name=m method=bm cost=sad num-disparities=64 window=5 backend=cpu ! fakesink "
      "sync=false",
      NULL, NULL);

  fail_unless_equals_string (found, "");
  fail_unless (first_unreliable && first_unreliable <= 10, "frame %u", first_unreliable);
  g_free (found);
}

/* ---- the search range -------------------------------------------------------------------- */

/* The warning names a range that does, and the end is told when that is set. */
TEST (test_range)
{
  GstElement *pipeline = gst_parse_launch (
      "stereotestsrc max-disparity=57 ! video/x-raw,format=GRAY8,width=640,height=160,framerate=30/1 ! stereomatch "
      "name=m method=bm cost=sad num-disparities=32 backend=cpu check-interval=200000000 ! fakesink sync=false",
      NULL);
  GstElement *match = gst_bin_get_by_name (GST_BIN (pipeline), "m");
  GstBus *bus = gst_element_get_bus (pipeline);
  gint wanted = 0;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (guint turn = 0; turn < 2; turn++) {
    GstMessage *message;
    const GstStructure *told;
    gboolean active;
    do
      message = gst_bus_timed_pop_filtered (bus, PATIENCE, GST_MESSAGE_ELEMENT | GST_MESSAGE_ERROR);
    while (message && !gst_message_has_name (message, "stereo-health"));
    fail_unless (message != NULL, "turn %u", turn);
    told = gst_message_get_structure (message);
    fail_unless_equals_string (gst_structure_get_string (told, "kind"), "range");
    fail_unless (gst_structure_get_boolean (told, "active", &active));
    fail_unless_equals_int (active, !turn);
    if (active) {
      fail_unless (gst_structure_get_int (told, "num-disparities", &wanted));
      fail_unless (wanted >= 58 && wanted <= 80, "num-disparities=%d", wanted);
      expect_warning (bus, "Search range too small", "31 px", "num-disparities=", NULL);
      g_object_set (match, "num-disparities", wanted, NULL);
    }
    gst_message_unref (message);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (match);
  gst_object_unref (pipeline);
}

/* ---- the pace ---------------------------------------------------------------------------- */

/* A stream that no CPU keeps up with: the figures come with advice, and the advice is about less work. */
TEST (test_too_slow)
{
  GstElement *pipeline = gst_parse_launch (
      "stereotestsrc is-live=true ! video/x-raw,format=GRAY8,width=1280,height=480,framerate=60/1 ! queue ! "
      "stereomatch name=m num-disparities=64 backend=cpu threads=1 ! fakesink sync=false",
      NULL);
  GstElement *match = gst_bin_get_by_name (GST_BIN (pipeline), "m");
  GstBus *bus = gst_element_get_bus (pipeline);
  GstStructure *stats;
  GstMessage *message;
  const GstStructure *told;
  guint64 compute, frame, dropped;
  gint width;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  do
    message = gst_bus_timed_pop_filtered (bus, PATIENCE, GST_MESSAGE_ELEMENT | GST_MESSAGE_ERROR);
  while (message && !gst_message_has_name (message, "stereo-health"));
  fail_unless (message != NULL);
  told = gst_message_get_structure (message);
  fail_unless_equals_string (gst_structure_get_string (told, "kind"), "slow");
  fail_unless (gst_structure_get_uint64 (told, "compute-time", &compute) &&
      gst_structure_get_uint64 (told, "frame-time", &frame) && gst_structure_get_uint64 (told, "dropped", &dropped) &&
      gst_structure_get_int (told, "scaled-width", &width));
  fail_unless (compute > frame && dropped >= 5, "compute %u ns, %u dropped", (guint) compute, (guint) dropped);
  fail_unless (frame >= GST_SECOND / 60 && frame <= GST_SECOND / 60 + 1);
  /* under a sanitizer nothing of use may be left */
  fail_unless ((width > 0 || compute > 200 * frame) && width < 640, "width %d", width);
  expect_warning (
      bus, "Too slow for the stream", "one comes every 16.7 ms", "estimate", "method=bm", "num-disparities", NULL);
  g_object_get (match, "stats", &stats, NULL);
  fail_unless_equals_string (gst_structure_get_string (stats, "health"), "slow");
  gst_structure_free (stats);
  gst_message_unref (message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (match);
  gst_object_unref (pipeline);
}

SUITE (faults_stream)
{
  tcase_set_timeout (tcase, 120);
}
