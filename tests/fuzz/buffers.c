/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Buffers that lie, for every element: frames whose GstVideoMeta says anything of where their samples lie, metadata with
 * numbers of every size and pictures that lie as well, and memory for the output that lies. Each memory ends at a page
 * that faults, so that one byte read or written too far ends the process. An element refuses such a buffer with an error
 * that says why, or makes something of it; it neither crashes nor stands still. Repeatable: STEREO_TEST_SEED, and
 * STEREO_FUZZ_ITERATIONS for more of it; under libFuzzer its bytes come first.
 */
#include <glib/gstdio.h>
#include <gst/video/video.h>
#include <math.h>
#include <sys/mman.h>

#include "tests/fuzz/fuzz.h"
#include "gst/meta/gststereometa.h"
#include "tests/support/picture.h"

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

/* ---- memory ------------------------------------------------------------------------------ */

typedef struct
{
  void *mapping;
  size_t size;
} Mapping;

static void
unmap (gpointer data)
{
  g_autofree Mapping *mapping = data;

  munmap (mapping->mapping, mapping->size);
}

/* At least one byte. The byte behind it faults, or the byte before it. */
static GstMemory *
guarded_memory (Random *random, gsize size, gboolean read_only)
{
  Mapping *mapping = g_new (Mapping, 1);
  PictureGuard guard = random_range (random, 0, 3) ? PICTURE_GUARD_AFTER : PICTURE_GUARD_BEFORE;

  size = MAX (size, 1);
  guint8 *bytes = picture_guarded (size, guard, &mapping->mapping, &mapping->size);
  for (gsize i = 0; i < size; i++)
    bytes[i] = (guint8) (i * 37 + 11);
  return gst_memory_new_wrapped (read_only ? GST_MEMORY_FLAG_READONLY : 0, bytes, size, 0, size, mapping, unmap);
}

/* @size bytes in one memory, or in several. */
static GstBuffer *
guarded_buffer (Random *random, gsize size)
{
  GstBuffer *buffer = gst_buffer_new ();
  gboolean read_only = random_range (random, 0, 7) == 0;
  gint parts = random_range (random, 0, 5) ? 1 : random_range (random, 2, 4);

  for (gint part = 0; part < parts; part++) {
    gsize piece = part == parts - 1 ? size : (gsize) random_range (random, 0, (int) size);
    gst_buffer_append_memory (buffer, guarded_memory (random, piece, read_only));
    size -= piece;
  }
  return buffer;
}

/* ---- frames ------------------------------------------------------------------------------ */

static const GstVideoFormat formats[] = { GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_GRAY16_LE, GST_VIDEO_FORMAT_I420,
  GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_YUY2, GST_VIDEO_FORMAT_RGB, GST_VIDEO_FORMAT_RGBA, GST_VIDEO_FORMAT_Y444,
  GST_VIDEO_FORMAT_ENCODED, GST_VIDEO_FORMAT_v210 };

/* A stride or an offset in @size bytes. */
static gint64
lie (Random *random, gint64 truth, gsize size)
{
  switch (random_range (random, 0, 13)) {
    case 0:
      return -truth;
    case 1:
      return truth + random_range (random, -4, 8);
    case 2:
      return 0;
    case 3:
      return (gint64) random_next (random) << random_range (random, 0, 32);
    case 4:
      return truth * random_range (random, 2, 20);
    case 5:
      return (gint64) size - 1;
    case 6:
      return random_range (random, 0, (int) size + 8);
    case 7:
      return -1 - random_range (random, 0, 64);
    default:
      return truth;
  }
}

static guint
wild_integer (Random *random, gint usual)
{
  return random_range (random, 0, 5) ? (guint) random_range (random, 0, usual) : random_next (random);
}

static void
lie_with_meta (Random *random, GstBuffer *buffer, const GstVideoInfo *info)
{
  gint strides[GST_VIDEO_MAX_PLANES] = { 0 };
  gsize offsets[GST_VIDEO_MAX_PLANES] = { 0 };

  for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES (info); p++) {
    strides[p] = (gint) lie (random, GST_VIDEO_INFO_PLANE_STRIDE (info, p), GST_VIDEO_INFO_SIZE (info));
    offsets[p] = (gsize) lie (random, (gint64) GST_VIDEO_INFO_PLANE_OFFSET (info, p), GST_VIDEO_INFO_SIZE (info));
  }
  GstVideoMeta *meta = gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT (info),
      (guint) GST_VIDEO_INFO_WIDTH (info), (guint) GST_VIDEO_INFO_HEIGHT (info), GST_VIDEO_INFO_N_PLANES (info),
      offsets, strides);
  if (random_range (random, 0, 5) == 0)
    meta->format = formats[random_range (random, 0, G_N_ELEMENTS (formats) - 1)];
  if (random_range (random, 0, 5) == 0)
    meta->width = wild_integer (random, 80);
  if (random_range (random, 0, 5) == 0)
    meta->height = wild_integer (random, 80);
  if (random_range (random, 0, 5) == 0)
    meta->n_planes = wild_integer (random, 9);
}

/* A frame for @info, honest in two of three: else its GstVideoMeta says anything of offsets, strides, planes, format and size, its
 * memory is too small, in several parts, or may not be written. */
static GstBuffer *
lies_frame (Random *random, const GstVideoInfo *info)
{
  gsize size = GST_VIDEO_INFO_SIZE (info);
  GstBuffer *buffer;

  if (random_range (random, 0, 2)) {
    buffer = gst_buffer_new ();
    gst_buffer_append_memory (buffer, guarded_memory (random, size, FALSE));
    return buffer;
  }
  if (random_range (random, 0, 3) == 0)
    size = (gsize) random_range (random, 1, (int) size + 4);
  buffer = guarded_buffer (random, size);
  if (random_range (random, 0, 3))
    lie_with_meta (random, buffer, info);
  return buffer;
}

/* ---- metadata ---------------------------------------------------------------------------- */

/* Numbers of every size, often at the ends of the ranges that are allowed. */
static gdouble
wild_number (Random *random, gdouble likely)
{
  static const gdouble wild[] = { 0, -0.0, 1, -1, 1e-3, 1e-300, 4.9e-324, 1e5, -1e5, 1e6, -1e6, 65535, 1024, -1024,
    1e17, 1e300, -1e300, NAN, INFINITY, -INFINITY, 2147483648.0, 1e-9 };

  return random_range (random, 0, 2) ? likely : wild[random_range (random, 0, G_N_ELEMENTS (wild) - 1)];
}

static GstBuffer *
plane (Random *random, GstVideoFormat format, int width, int height)
{
  GstVideoInfo info;

  if (random_range (random, 0, 2) == 0)
    return NULL;
  gst_video_info_set_format (&info, format, (guint) width, (guint) height);
  return lies_frame (random, &info);
}

/* Adds a GstStereoMeta to @buffer that mostly fits @width x @height. Its numbers are of every size in one of three, and its
 * pictures lie as frames do. */
static void
lies_add_stereo_meta (Random *random, GstBuffer *buffer, int width, int height, gboolean narrow)
{
  GstBuffer *confidence = plane (random, GST_VIDEO_FORMAT_GRAY8, width, height);
  GstBuffer *truth = plane (random, GST_VIDEO_FORMAT_GRAY16_LE, width, height);
  GstBuffer *mask = plane (random, GST_VIDEO_FORMAT_GRAY8, width, height);
  GstStereoMeta *meta = gst_buffer_add_stereo_meta (buffer, (guint) width, (guint) height, confidence);
  gboolean wild = random_range (random, 0, 2) == 0;
  gdouble *const numbers[] = { &meta->disparity_scale, &meta->min_disparity, &meta->num_disparities,
    &meta->focal_length, &meta->baseline, &meta->principal_offset, &meta->depth_unit, &meta->principal_x,
    &meta->principal_y, &meta->focal_length_y, &meta->valid_ratio, &meta->mean_confidence };
  static const gdouble likely[] = { 16, 0, 32, 60, 100, 0, 1000, 15, 11, 0, 0.5, 0.5 };

  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    *numbers[i] = wild ? wild_number (random, likely[i]) : likely[i];
  meta->kind = narrow             ? GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE :
      random_range (random, 0, 1) ? GST_STEREO_OUTPUT_KIND_DEPTH :
                                    GST_STEREO_OUTPUT_KIND_DISPARITY;
  if (random_range (random, 0, 15) == 0)
    meta->kind = (GstStereoOutputKind) random_range (random, -1, 5);
  if (random_range (random, 0, 23) == 0)
    meta->width = random_range (random, 0, 1) ? random_next (random) : 0;
  if (random_range (random, 0, 23) == 0)
    meta->height = random_next (random);
  meta->pair_skew = random_range (random, 0, 3) ? 0 : (gint64) ((guint64) random_next (random) << 32);
  gst_stereo_meta_set_truth (meta, truth);
  gst_stereo_meta_set_mask (meta, mask);
  gst_clear_buffer (&confidence);
  gst_clear_buffer (&truth);
  gst_clear_buffer (&mask);
}

static void
add_ground (Random *random, GstBuffer *buffer)
{
  gint count = random_range (random, 0, random_range (random, 0, 7) ? 64 : 20000);
  GstStructure *ground = gst_custom_meta_get_structure (gst_buffer_add_custom_meta (buffer, "GstStereoGroundMeta"));
  GValue free = G_VALUE_INIT, one = G_VALUE_INIT;

  g_value_init (&free, GST_TYPE_ARRAY);
  g_value_init (&one, random_range (random, 0, 15) ? G_TYPE_DOUBLE : G_TYPE_FLOAT);
  for (gint i = 0; i < count; i++) {
    if (G_VALUE_HOLDS_DOUBLE (&one))
      g_value_set_double (&one, wild_number (random, 3000));
    gst_value_array_append_value (&free, &one);
  }
  g_value_unset (&one);
  if (random_range (random, 0, 7))
    gst_structure_take_value (ground, "free-distances", &free);
  else
    g_value_unset (&free);
  gst_structure_set (ground, "ground", G_TYPE_BOOLEAN, random_range (random, 0, 3) != 0, "plane-offset", G_TYPE_DOUBLE,
      wild_number (random, -2), "plane-across", G_TYPE_DOUBLE, wild_number (random, 0.01), NULL);
  if (random_range (random, 0, 7))
    gst_structure_set (ground, "plane-down", G_TYPE_DOUBLE, wild_number (random, 0.5), NULL);
}

static void
add_nearest (Random *random, GstBuffer *buffer)
{
  static const gchar *const states[] = { "near", "clear", "unknown", "lost", NULL };
  GstStructure *nearest = gst_custom_meta_get_structure (gst_buffer_add_custom_meta (buffer, "GstStereoNearestMeta"));

  gst_structure_set (nearest, "state", G_TYPE_STRING, states[random_range (random, 0, 4)], "valid", G_TYPE_BOOLEAN,
      random_range (random, 0, 3) != 0, "warning", G_TYPE_BOOLEAN, random_range (random, 0, 1), "distance",
      G_TYPE_DOUBLE, wild_number (random, 1200), "disparity", G_TYPE_DOUBLE, wild_number (random, 20), "x", G_TYPE_INT,
      wild_integer (random, 8), "y", G_TYPE_INT, wild_integer (random, 8), "coverage", G_TYPE_DOUBLE,
      wild_number (random, 0.7), "warn-distance", G_TYPE_DOUBLE, wild_number (random, 1500), "region-x", G_TYPE_INT,
      wild_integer (random, 4), "region-y", G_TYPE_INT, wild_integer (random, 4), "region-width", G_TYPE_INT,
      1 + wild_integer (random, 8), NULL);
  if (random_range (random, 0, 7))
    gst_structure_set (nearest, "region-height", G_TYPE_INT, 1 + wild_integer (random, 8), "reason", G_TYPE_STRING,
        "left camera", NULL);
}

/* Adds regions, obstacles and a ground to @buffer, some of which are nowhere. */
static void
lies_add_finds (Random *random, GstBuffer *buffer)
{
  for (gint n = random_range (random, 0, 3); n > 0; n--) {
    GstVideoRegionOfInterestMeta *roi = gst_buffer_add_video_region_of_interest_meta (buffer, "thing",
        wild_integer (random, 40), wild_integer (random, 40), wild_integer (random, 40), wild_integer (random, 40));
    if (random_range (random, 0, 1))
      gst_video_region_of_interest_meta_add_param (roi,
          gst_structure_new ("stereo-obstacle", "distance", G_TYPE_DOUBLE, wild_number (random, 2000), "probability",
              G_TYPE_DOUBLE, wild_number (random, 0.7), NULL));
  }
  if (random_range (random, 0, 1))
    add_ground (random, buffer);
  if (random_range (random, 0, 2) == 0)
    add_nearest (random, buffer);
}

/* ---- one run of an element --------------------------------------------------------------- */

typedef struct
{
  GAsyncQueue *ends; /* of the stream, or an error: what becomes of the input, PASSED or REFUSED, and 1 */
  Random *random;    /* for memory of the output; NULL: downstream offers none */
} Run;

static void
note (Run *run, int outcome)
{
  g_async_queue_push (run->ends, GINT_TO_POINTER (1 + outcome));
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
    note (run, REFUSED);
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
    note (gst_pad_get_element_private (pad), PASSED);
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

/* Lets @element run until it has passed on all that came, or posted an error. */
static int
play (GstElement *element, const Target *target, Source sources[2], Run *run)
{
  if (gst_element_set_state (element, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE)
    note (run, REFUSED);
  for (guint i = 0; i < 2; i++)
    if (sources[i].pad)
      sources[i].thread = g_thread_new (target->inputs[i].pad, push_all, &sources[i]);
  gpointer end = g_async_queue_timeout_pop (run->ends, PATIENCE * G_USEC_PER_SEC);
  if (!end) {
    fprintf (stderr, "STANDS STILL: %s\n", target->element);
    abort ();
  }
  gst_element_set_state (element, GST_STATE_NULL);
  for (guint i = 0; i < 2; i++)
    if (sources[i].thread)
      g_thread_join (sources[i].thread);
  int outcome = GPOINTER_TO_INT (end) - 1;
  while ((end = g_async_queue_try_pop (run->ends)))
    outcome = MIN (outcome, GPOINTER_TO_INT (end) - 1);
  return outcome;
}

static int
run_element (Random *random, GstElement *element, const Target *target)
{
  gboolean sized = g_str_equal (target->element, "stereorectify");
  int width = sized ? WIDTH : random_range (random, 1, 80), height = sized ? HEIGHT : random_range (random, 1, 80);
  g_autoptr (GAsyncQueue) ends = g_async_queue_new ();
  Run run = { ends, random_range (random, 0, 2) ? NULL : random };
  g_autoptr (GstBus) bus = gst_bus_new ();
  Source sources[2] = { 0 };

  gst_bus_set_sync_handler (bus, take_message, &run, NULL);
  gst_element_set_bus (element, bus);
  GstPad *sink = link_sink (element, &run);
  for (guint i = 0; i < 2 && target->inputs[i].kind != NOTHING; i++)
    source_init (&sources[i], random, element, target->inputs[i].pad, target->inputs[i].kind, width, height);
  int outcome = play (element, target, sources, &run);
  for (guint i = 0; i < 2; i++)
    source_clear (&sources[i]);
  gst_pad_set_active (sink, FALSE);
  gst_object_unref (sink);
  gst_element_set_bus (element, NULL);
  return outcome;
}

static int
draw (Random *random)
{
  if (!calibration)
    start ();
  const Target *target = &targets[random_range (random, 0, G_N_ELEMENTS (targets) - 1)];
  GstElement *element = make_element (target);
  if (!element)
    return PASSED; /* this build has no such element */
  int outcome = run_element (random, element, target);
  gst_object_unref (element);
  return outcome;
}

const FuzzTarget fuzz_target = { 400, { { "refused", 20 }, { "passed", 5 } }, draw, NULL, NULL };
