/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Buffers that lie, for every element: frames whose GstVideoMeta says anything of where their samples lie, metadata with
 * numbers of every size and pictures that lie as well, and memory for the output that lies. Each memory ends at a page
 * that faults, so that one byte read or written too far ends the process. An element refuses such a buffer with an error
 * that says why, or makes something of it; it neither crashes nor stands still. Repeatable: STEREO_TEST_SEED, and
 * STEREO_FUZZ_ITERATIONS for more of it; under libFuzzer its bytes come first.
 */
#include <glib/gstdio.h>

#include "tests/fuzz/fuzz.h"
#include "gst/meta/gststereometa.h"
#include "tests/fuzz/lies.h"

enum
{
  REFUSED,
  PASSED,
  MOST_BUFFERS = 3,
  WIDTH = 32, /* of a view, where a calibration has to know it */
  HEIGHT = 24,
  PATIENCE = 120 /* s, until an element is said to stand still */
};

/* What goes into a pad. */
typedef enum
{
  NOTHING,
  VIEW,
  VIEWS, /* side by side */
  LIVE,
  DEPTH
} Kind;

typedef struct
{
  const char *element, *properties;
  struct
  {
    const char *pad;
    Kind kind;
  } inputs[2];
} Target;

static const Target targets[] = {
  { "stereomatch", "backend=cpu threads=1 num-disparities=8 method=bm", { { "sink", VIEWS } } },
  { "stereomatch", "backend=cpu threads=1 num-disparities=8 method=sgm",
      { { "sink_left", VIEW }, { "sink_right", VIEW } } },
  { "stereorectify", "backend=cpu", { { "sink", VIEWS } } },
  { "stereorectify", "backend=cpu", { { "sink_left", VIEW }, { "sink_right", VIEW } } },
  { "stereoconfidence", "", { { "sink", DEPTH } } },
  { "stereoground", "", { { "sink", DEPTH } } },
  { "stereonearest", "", { { "sink", DEPTH } } },
  { "stereonearest", "nearest=obstacle warn-distance=2000", { { "sink", DEPTH } } },
  { "stereopoints", "", { { "sink", DEPTH } } },
  { "depthoverlay", "", { { "sink", LIVE }, { "sink_depth", DEPTH } } },
  { "depthoverlay", "nearest=obstacle warn-distance=2000", { { "sink", LIVE }, { "sink_depth", DEPTH } } },
  { "depthoverlay", "", { { "sink_depth", DEPTH } } },
  { "stereotestsrc", "num-buffers=2", { { NULL, NOTHING } } },
};
static const char *const view_formats[] = { "GRAY8", "I420", "NV12", "YUY2", "UYVY", "RGB", "BGRx", "RGBA" };
static const char *const live_formats[] = { "RGB", "I420", "NV12", "YUY2", "UYVY", "Y42B", "Y444", "RGBx", "ARGB",
  "BGRA", "GRAY8" };

/* ---- one run of an element --------------------------------------------------------------- */

typedef struct
{
  GMutex lock;
  GCond changed;
  gboolean ended, failed;
  Random *random; /* for memory of the output; NULL: downstream offers none */
} Run;

static void
note (Run *run, gboolean failed)
{
  g_mutex_lock (&run->lock);
  run->ended = TRUE;
  run->failed |= failed;
  g_cond_signal (&run->changed);
  g_mutex_unlock (&run->lock);
}

static GstBusSyncReply
take_message (GstBus *bus, GstMessage *message, gpointer data)
{
  Run *run = data;
  GError *error = NULL;

  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR) {
    gst_message_parse_error (message, &error, NULL);
    CHECK (strlen (error->message) > 20, "an error that says nothing: '%s'", error->message);
    g_error_free (error);
    note (run, TRUE);
  }
  gst_message_unref (message);
  return GST_BUS_DROP;
}

static GstFlowReturn
take_buffer (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  gst_buffer_unref (buffer);
  return GST_FLOW_OK;
}

static gboolean
take_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS)
    note (gst_pad_get_element_private (pad), FALSE);
  gst_event_unref (event);
  return TRUE;
}

/* ---- downstream's memory ------------------------------------------------------------------- */

typedef struct
{
  GstBufferPool parent;
  GstVideoInfo info;
  Random random;
} LyingPool;
typedef GstBufferPoolClass LyingPoolClass;

GType lying_pool_get_type (void);
G_DEFINE_TYPE (LyingPool, lying_pool, GST_TYPE_BUFFER_POOL)

static gboolean
lying_pool_set_config (GstBufferPool *pool, GstStructure *config)
{
  GstCaps *caps;

  return gst_buffer_pool_config_get_params (config, &caps, NULL, NULL, NULL) && caps &&
      gst_video_info_from_caps (&((LyingPool *) pool)->info, caps) &&
      GST_BUFFER_POOL_CLASS (lying_pool_parent_class)->set_config (pool, config);
}

static GstFlowReturn
lying_pool_alloc_buffer (GstBufferPool *pool, GstBuffer **buffer, GstBufferPoolAcquireParams *params)
{
  *buffer = lies_frame (&((LyingPool *) pool)->random, &((LyingPool *) pool)->info);
  return GST_FLOW_OK;
}

static void
lying_pool_class_init (LyingPoolClass *klass)
{
  klass->set_config = lying_pool_set_config;
  klass->alloc_buffer = lying_pool_alloc_buffer;
}

static void
lying_pool_init (LyingPool *pool)
{
}

static gboolean
answer_query (GstPad *pad, GstObject *parent, GstQuery *query)
{
  Run *run = gst_pad_get_element_private (pad);
  GstVideoInfo info;
  GstCaps *caps;

  if (GST_QUERY_TYPE (query) != GST_QUERY_ALLOCATION || !run->random)
    return gst_pad_query_default (pad, parent, query);
  gst_query_parse_allocation (query, &caps, NULL);
  if (!caps || !gst_video_info_from_caps (&info, caps))
    return FALSE;
  LyingPool *pool = g_object_new (lying_pool_get_type (), NULL);
  gst_object_ref_sink (pool);
  pool->random = *run->random;
  gst_query_add_allocation_pool (query, GST_BUFFER_POOL (pool), (guint) GST_VIDEO_INFO_SIZE (&info), 0, 0);
  gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  gst_object_unref (pool);
  return TRUE;
}

/* ---- inputs -------------------------------------------------------------------------------- */

typedef struct
{
  GstPad *pad;
  GstCaps *caps;
  GstBuffer *buffers[MOST_BUFFERS];
  gint count;
  GThread *thread;
} Source;

/* A thread of its own: an element with two pads may wait for the other one. */
static gpointer
push_all (gpointer data)
{
  Source *source = data;
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (source->pad, gst_event_new_stream_start (GST_PAD_NAME (source->pad)));
  gst_pad_push_event (source->pad, gst_event_new_caps (source->caps));
  gst_pad_push_event (source->pad, gst_event_new_segment (&segment));
  for (gint i = 0; i < source->count; i++)
    gst_pad_push (source->pad, source->buffers[i]);
  gst_pad_push_event (source->pad, gst_event_new_eos ());
  return NULL;
}

static GstCaps *
draw_caps (Random *random, Kind kind, int width, int height, gboolean *narrow)
{
  const char *format = view_formats[random_range (random, 0, G_N_ELEMENTS (view_formats) - 1)];

  *narrow = random_range (random, 0, 3) == 0;
  if (kind == LIVE)
    format = live_formats[random_range (random, 0, G_N_ELEMENTS (live_formats) - 1)];
  if (kind == DEPTH)
    format = *narrow ? "GRAY8" : "GRAY16_LE";
  g_autofree gchar *text = g_strdup_printf ("video/x-raw,format=%s,width=%d,height=%d,framerate=30/1%s", format,
      kind == VIEWS ? 2 * width : width, height, kind == VIEWS ? ",multiview-mode=(string)side-by-side" : "");
  return gst_caps_from_string (text);
}

static GstClockTime
draw_time (Random *random, gint number)
{
  switch (random_range (random, 0, 15)) {
    case 0:
      return GST_CLOCK_TIME_NONE;
    case 1:
      return (GstClockTime) random_next (random) << random_range (random, 0, 31);
    default:
      return (GstClockTime) number * GST_SECOND / 30;
  }
}

static void
source_init (Source *source, Random *random, GstElement *element, const char *name, Kind kind, int width, int height)
{
  GstPad *sink = gst_element_get_static_pad (element, name);
  GstVideoInfo info;
  gboolean narrow;

  if (!sink)
    sink = gst_element_request_pad_simple (element, name);
  source->pad = gst_object_ref_sink (gst_pad_new (name, GST_PAD_SRC));
  gst_pad_link_full (source->pad, sink, GST_PAD_LINK_CHECK_NOTHING);
  gst_object_unref (sink);
  gst_pad_set_active (source->pad, TRUE);
  source->caps = draw_caps (random, kind, width, height, &narrow);
  gst_video_info_from_caps (&info, source->caps);
  source->count = random_range (random, 1, MOST_BUFFERS);
  for (gint i = 0; i < source->count; i++) {
    GstBuffer *buffer = lies_frame (random, &info);

    GST_BUFFER_PTS (buffer) = draw_time (random, i);
    GST_BUFFER_DURATION (buffer) = random_range (random, 0, 15) ? GST_SECOND / 30 : draw_time (random, i);
    if (kind == DEPTH ? random_range (random, 0, 15) : random_range (random, 0, 3) == 0)
      lies_add_stereo_meta (random, buffer, width, height, narrow);
    if (kind == VIEW || kind == VIEWS)
      if (gst_buffer_get_stereo_meta (buffer))
        gst_buffer_get_stereo_meta (buffer)->kind = GST_STEREO_OUTPUT_KIND_VIEWS;
    if (random_range (random, 0, 1))
      lies_add_finds (random, buffer);
    source->buffers[i] = buffer;
  }
}

static void
source_clear (Source *source)
{
  if (!source->pad)
    return;
  gst_pad_set_active (source->pad, FALSE);
  gst_object_unref (source->pad);
  gst_caps_unref (source->caps);
}

/* ---- an input -------------------------------------------------------------------------------- */

static gchar *calibration;

static void
remove_calibration (void)
{
  g_unlink (calibration);
  g_free (calibration);
}

/* The elements, and the calibration that stereorectify has to have. */
static void
start (void)
{
  static const char *const plugins[] = { STEREO_TEST_PLUGINS };
  GError *error = NULL;

  g_setenv ("GST_REGISTRY_DISABLE", "yes", TRUE);
  gst_init (NULL, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (plugins); i++) {
    GstPlugin *plugin = gst_plugin_load_file (plugins[i], &error);
    CHECK (plugin, "%s: %s", plugins[i], error->message);
    gst_object_unref (plugin);
  }
  gst_debug_set_default_threshold (GST_LEVEL_NONE);
  /* what GStreamer takes for a mistake in an element ends programs that make such warnings fatal */
  g_log_set_always_fatal (G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING | G_LOG_FATAL_MASK);
  gint file = g_file_open_tmp ("fuzz-XXXXXX.yml", &calibration, NULL);
  atexit (remove_calibration);
  CHECK (file >= 0 && g_close (file, NULL) &&
          g_file_set_contents (calibration,
              "image_width: 32\nimage_height: 24\nM1: [30, 0, 15, 0, 30, 12, 0, 0, 1]\nD1: []\n"
              "M2: [30, 0, 16, 0, 30, 12, 0, 0, 1]\nD2: []\nR: [1, 0, 0, 0, 1, 0, 0, 0, 1]\nT: [-100, 0, 0]\n",
              -1, NULL),
      "no calibration could be written");
}

static GstElement *
make_element (const Target *target)
{
  GstElement *element = gst_element_factory_make (target->element, NULL);
  gchar **settings = g_strsplit (target->properties, " ", -1);

  for (guint i = 0; element && settings[i] && *settings[i]; i++) {
    gchar **setting = g_strsplit (settings[i], "=", 2);
    gst_util_set_object_arg (G_OBJECT (element), setting[0], setting[1]);
    g_strfreev (setting);
  }
  g_strfreev (settings);
  if (element && g_str_equal (target->element, "stereorectify"))
    g_object_set (element, "calibration", calibration, NULL);
  return element;
}

static GstPad *
link_sink (GstElement *element, Run *run)
{
  g_autoptr (GstPad) src = gst_element_get_static_pad (element, "src");
  GstPad *pad = gst_object_ref_sink (gst_pad_new ("sink", GST_PAD_SINK));

  gst_pad_set_element_private (pad, run);
  gst_pad_set_chain_function (pad, take_buffer);
  gst_pad_set_event_function (pad, take_event);
  gst_pad_set_query_function (pad, answer_query);
  gst_pad_set_active (pad, TRUE);
  gst_pad_link_full (src, pad, GST_PAD_LINK_CHECK_NOTHING);
  return pad;
}

static void
wait_for_end (Run *run, const char *element)
{
  gint64 end = g_get_monotonic_time () + PATIENCE * G_USEC_PER_SEC;

  g_mutex_lock (&run->lock);
  while (!run->ended)
    if (!g_cond_wait_until (&run->changed, &run->lock, end)) {
      fprintf (stderr, "STANDS STILL: %s\n", element);
      abort ();
    }
  g_mutex_unlock (&run->lock);
}

/* Lets @element run until it has passed on all that came, or posted an error. */
static void
play (GstElement *element, const Target *target, Source sources[2], Run *run)
{
  if (gst_element_set_state (element, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE)
    note (run, TRUE);
  for (guint i = 0; i < 2; i++)
    if (sources[i].pad)
      sources[i].thread = g_thread_new (target->inputs[i].pad, push_all, &sources[i]);
  wait_for_end (run, target->element);
  gst_element_set_state (element, GST_STATE_NULL);
  for (guint i = 0; i < 2; i++)
    if (sources[i].thread)
      g_thread_join (sources[i].thread);
}

static int
run_element (Random *random, GstElement *element, const Target *target)
{
  gboolean sized = g_str_equal (target->element, "stereorectify");
  int width = sized ? WIDTH : random_range (random, 1, 80), height = sized ? HEIGHT : random_range (random, 1, 80);
  Run run = { .random = random_range (random, 0, 2) ? NULL : random };
  g_autoptr (GstBus) bus = gst_bus_new ();
  Source sources[2] = { 0 };

  g_mutex_init (&run.lock);
  g_cond_init (&run.changed);
  gst_bus_set_sync_handler (bus, take_message, &run, NULL);
  gst_element_set_bus (element, bus);
  GstPad *sink = link_sink (element, &run);
  for (guint i = 0; i < 2 && target->inputs[i].kind != NOTHING; i++)
    source_init (&sources[i], random, element, target->inputs[i].pad, target->inputs[i].kind, width, height);
  play (element, target, sources, &run);
  for (guint i = 0; i < 2; i++)
    source_clear (&sources[i]);
  gst_pad_set_active (sink, FALSE);
  gst_object_unref (sink);
  gst_element_set_bus (element, NULL);
  g_mutex_clear (&run.lock);
  g_cond_clear (&run.changed);
  return run.failed ? REFUSED : PASSED;
}

static int
draw (Random *random)
{
  static gsize once = 0;

  if (g_once_init_enter (&once)) {
    start ();
    g_once_init_leave (&once, 1);
  }
  const Target *target = &targets[random_range (random, 0, G_N_ELEMENTS (targets) - 1)];
  GstElement *element = make_element (target);
  if (!element)
    return PASSED; /* this build has no such element */
  int outcome = run_element (random, element, target);
  gst_object_unref (element);
  return outcome;
}

const FuzzTarget fuzz_target = { 400, { { "refused", 20 }, { "passed", 5 } }, draw, NULL, NULL };
