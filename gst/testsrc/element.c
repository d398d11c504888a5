/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-stereotestsrc
 * @title: stereotestsrc
 *
 * What two cameras see of a made scene, both views in one frame, and the true disparity of every pixel in the frame's
 * #GstStereoMeta: for trying out pipelines and for measuring what a stereo matcher makes of them. The picture of a
 * frame follows from the properties and the frame's number alone; it is the same on every machine.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 stereotestsrc ! stereomatch ! video/x-raw,format=GRAY8 ! videoconvert ! autovideosink
 * gst-launch-1.0 stereotestsrc ! video/x-raw,width=3840,height=1080,framerate=60/1 ! videoconvert ! autovideosink
 * ]|
 */
#include "gst/testsrc/element.h"

#include "gst/meta/gststereometa.h"
#include "gst/video/pool.h"

GST_DEBUG_CATEGORY_STATIC (gst_stereo_test_src_debug);
#define GST_CAT_DEFAULT gst_stereo_test_src_debug

/* The camera: focal length in widths of a view (a field of view of 58 degrees), and millimetres. */
#define FOCAL_LENGTH 0.9
#define BASELINE 120.0

enum
{
  PROP_0,
  PROP_PATTERN,
  PROP_SEED,
  PROP_IS_LIVE,
  PROP_MAX_DISPARITY,
  PROP_MOTION,
  PROP_NOISE,
  PROP_TIMESTAMP_OFFSET
};

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
    GST_STATIC_CAPS (GST_VIDEO_CAPS_MAKE (GST_STEREO_PAINT_FORMATS) ", "
        "multiview-mode = (string) { side-by-side, top-bottom, row-interleaved, column-interleaved }"));

G_DEFINE_TYPE (GstStereoTestSrc, gst_stereo_test_src, GST_TYPE_PUSH_SRC)
GST_ELEMENT_REGISTER_DEFINE (stereotestsrc, "stereotestsrc", GST_RANK_NONE, GST_TYPE_STEREO_TEST_SRC)

GType
gst_stereo_test_pattern_get_type (void)
{
  static gsize once = 0;
  static const GEnumValue values[] = {
    { GST_STEREO_PATTERN_PLANES, "Textured slanted planes, a disc moving before them", "planes" },
    { GST_STEREO_PATTERN_RANDOM_DOTS, "Random dots: a square moving before a wall, whole pixels of disparity",
        "random-dots" },
    { GST_STEREO_PATTERN_STRIPES, "Upright stripes 8 pixels apart: a square before a wall, ambiguous to a matcher",
        "stripes" },
    { GST_STEREO_PATTERN_FLAT, "The planes without any texture: nothing to match", "flat" },
    { 0, NULL, NULL }
  };

  if (g_once_init_enter (&once))
    g_once_init_leave (&once, g_enum_register_static ("GstStereoTestPattern", values));
  return once;
}

static void
gst_stereo_test_src_set_property (GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
  GstStereoTestSrc *self = GST_STEREO_TEST_SRC (object);

  if (id == PROP_IS_LIVE) {
    gst_base_src_set_live (GST_BASE_SRC (self), g_value_get_boolean (value));
    return;
  }
  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_PATTERN:
      self->settings.pattern = g_value_get_enum (value);
      break;
    case PROP_SEED:
      self->settings.seed = g_value_get_uint (value);
      break;
    case PROP_MAX_DISPARITY:
      self->settings.max_disparity = g_value_get_int (value);
      break;
    case PROP_MOTION:
      self->settings.motion = g_value_get_double (value);
      break;
    case PROP_NOISE:
      self->settings.noise = g_value_get_double (value);
      break;
    case PROP_TIMESTAMP_OFFSET:
      self->timestamp_offset = g_value_get_int64 (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, spec);
  }
  self->serial++;
  GST_OBJECT_UNLOCK (self);
}

static void
gst_stereo_test_src_get_property (GObject *object, guint id, GValue *value, GParamSpec *spec)
{
  GstStereoTestSrc *self = GST_STEREO_TEST_SRC (object);

  if (id == PROP_IS_LIVE) {
    g_value_set_boolean (value, gst_base_src_is_live (GST_BASE_SRC (self)));
    return;
  }
  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_PATTERN:
      g_value_set_enum (value, self->settings.pattern);
      break;
    case PROP_SEED:
      g_value_set_uint (value, self->settings.seed);
      break;
    case PROP_MAX_DISPARITY:
      g_value_set_int (value, self->settings.max_disparity);
      break;
    case PROP_MOTION:
      g_value_set_double (value, self->settings.motion);
      break;
    case PROP_NOISE:
      g_value_set_double (value, self->settings.noise);
      break;
    case PROP_TIMESTAMP_OFFSET:
      g_value_set_int64 (value, self->timestamp_offset);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, spec);
  }
  GST_OBJECT_UNLOCK (self);
}

/* ---- time ---------------------------------------------------------------------------------- */

GstClockTime
gst_stereo_test_src_time_of (const GstStereoTestSrc *self, gint64 frame)
{
  if (GST_VIDEO_INFO_FPS_N (&self->info) < 1)
    return 0;
  return gst_util_uint64_scale ((guint64) frame, GST_SECOND * (guint64) GST_VIDEO_INFO_FPS_D (&self->info),
      (guint64) GST_VIDEO_INFO_FPS_N (&self->info));
}

void
gst_stereo_test_src_go_to (GstStereoTestSrc *self, GstClockTime position)
{
  self->frames_before = 0;
  self->time_before = 0;
  self->frames = 0;
  /* times are rounded down: frame n must come of the time that it was given, so look for the last one that has begun */
  if (GST_VIDEO_INFO_FPS_N (&self->info) > 0 && GST_CLOCK_TIME_IS_VALID (position))
    self->frames = (gint64) gst_util_uint64_scale_ceil (position + 1, (guint64) GST_VIDEO_INFO_FPS_N (&self->info),
        GST_SECOND * (guint64) GST_VIDEO_INFO_FPS_D (&self->info)) - 1;
  /* backwards from the frame that ends there */
  if (self->backwards && self->frames > 0 && gst_stereo_test_src_time_of (self, self->frames) == position)
    self->frames--;
}

static gboolean
gst_stereo_test_src_do_seek (GstBaseSrc *base, GstSegment *segment)
{
  GstStereoTestSrc *self = GST_STEREO_TEST_SRC (base);

  segment->time = segment->start;
  self->backwards = segment->rate < 0;
  gst_stereo_test_src_go_to (self, segment->position);
  return TRUE;
}

static gboolean
gst_stereo_test_src_is_seekable (GstBaseSrc *base)
{
  return !gst_base_src_is_live (base);
}

static void
gst_stereo_test_src_get_times (GstBaseSrc *base, GstBuffer *buffer, GstClockTime *start, GstClockTime *end)
{
  *start = *end = GST_CLOCK_TIME_NONE;
  if (!gst_base_src_is_live (base) || !GST_BUFFER_PTS_IS_VALID (buffer))
    return;
  *start = GST_BUFFER_PTS (buffer);
  if (GST_BUFFER_DURATION_IS_VALID (buffer))
    *end = *start + GST_BUFFER_DURATION (buffer);
}

static gboolean
query_duration (GstStereoTestSrc *self, const GstVideoInfo *info, GstQuery *query)
{
  gint count = -1;
  GstFormat format;

  g_object_get (self, "num-buffers", &count, NULL);
  gst_query_parse_duration (query, &format, NULL);
  if (count < 0)
    return FALSE;
  if (format == GST_FORMAT_TIME && GST_VIDEO_INFO_FPS_N (info) > 0)
    gst_query_set_duration (query, format, (gint64) gst_util_uint64_scale ((guint64) count,
            GST_SECOND * (guint64) GST_VIDEO_INFO_FPS_D (info), (guint64) GST_VIDEO_INFO_FPS_N (info)));
  else if (format == GST_FORMAT_BYTES)
    gst_query_set_duration (query, format, (gint64) count * (gint64) GST_VIDEO_INFO_SIZE (info));
  else
    return FALSE;
  return TRUE;
}

static gboolean
gst_stereo_test_src_query (GstBaseSrc *base, GstQuery *query)
{
  GstStereoTestSrc *self = GST_STEREO_TEST_SRC (base);
  GstFormat from, to;
  gint64 value, result;
  GstVideoInfo info;

  GST_OBJECT_LOCK (self);
  info = self->info;
  GST_OBJECT_UNLOCK (self);
  if (GST_VIDEO_INFO_FORMAT (&info) != GST_VIDEO_FORMAT_UNKNOWN) {
    if (GST_QUERY_TYPE (query) == GST_QUERY_DURATION && query_duration (self, &info, query))
      return TRUE;
    if (GST_QUERY_TYPE (query) == GST_QUERY_LATENCY && GST_VIDEO_INFO_FPS_N (&info) > 0) {
      /* a frame is there when its time is over, as with a camera */
      GstClockTime latency = gst_util_uint64_scale (GST_SECOND, (guint64) GST_VIDEO_INFO_FPS_D (&info),
          (guint64) GST_VIDEO_INFO_FPS_N (&info));
      gst_query_set_latency (query, gst_base_src_is_live (base), latency, GST_CLOCK_TIME_NONE);
      return TRUE;
    }
    if (GST_QUERY_TYPE (query) == GST_QUERY_CONVERT) {
      gst_query_parse_convert (query, &from, &value, &to, NULL);
      if (gst_video_info_convert (&info, from, value, to, &result)) {
        gst_query_set_convert (query, from, value, to, result);
        return TRUE;
      }
    }
  }
  return GST_BASE_SRC_CLASS (gst_stereo_test_src_parent_class)->query (base, query);
}

/* ---- frames -------------------------------------------------------------------------------- */

static GstBuffer *
make_truth (GstStereoTestSrc *self)
{
  GstBuffer *truth = NULL;
  GstVideoFrame frame;

  if (gst_buffer_pool_acquire_buffer (self->truth_pool, &truth, NULL) != GST_FLOW_OK)
    return NULL;
  if (!gst_video_frame_map (&frame, &self->truth_info, truth, GST_MAP_WRITE)) {
    gst_buffer_unref (truth);
    return NULL;
  }
  gst_stereo_pool_clear_padding (&frame);
  for (gint y = 0; y < self->layout.height; y++) {
    guint16 *row = (guint16 *) ((guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0) +
        (gsize) y * (gsize) GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0));
    gst_stereo_scene_truth (self->scene, y, row);
    for (gint x = 0; G_BYTE_ORDER == G_BIG_ENDIAN && x < self->layout.width; x++)
      row[x] = GUINT16_TO_LE (row[x]);
  }
  gst_video_frame_unmap (&frame);
  return truth;
}

static void
add_meta (GstStereoTestSrc *self, GstBuffer *buffer, GstBuffer *truth)
{
  GstStereoMeta *meta = gst_buffer_add_stereo_meta (buffer, (guint) self->layout.width, (guint) self->layout.height,
      NULL);

  meta->kind = GST_STEREO_OUTPUT_KIND_VIEWS;
  meta->num_disparities = gst_stereo_scene_params (self->scene)->max_disparity + 1;
  meta->focal_length = FOCAL_LENGTH * self->layout.width;
  meta->baseline = BASELINE;
  gst_stereo_meta_set_truth (meta, truth);
}

/* Timestamps, and on to the next frame. */
static void
stamp (GstStereoTestSrc *self, GstBuffer *buffer)
{
  GstClockTime begin = gst_stereo_test_src_time_of (self, self->frames);
  GstClockTime end = gst_stereo_test_src_time_of (self, self->frames + 1);
  gint64 offset;

  GST_OBJECT_LOCK (self);
  offset = self->timestamp_offset;
  GST_OBJECT_UNLOCK (self);
  /* an offset must not take a time below 0, where GST_CLOCK_TIME_NONE lies */
  GST_BUFFER_PTS (buffer) = (GstClockTime) MAX (0, (gint64) (self->time_before + begin) + offset);
  GST_BUFFER_DTS (buffer) = GST_CLOCK_TIME_NONE;
  GST_BUFFER_DURATION (buffer) = GST_VIDEO_INFO_FPS_N (&self->info) > 0 ? end - begin : GST_CLOCK_TIME_NONE;
  GST_BUFFER_OFFSET (buffer) = (guint64) (self->frames_before + self->frames);
  GST_BUFFER_OFFSET_END (buffer) = GST_BUFFER_OFFSET (buffer) + 1;
  self->frames += self->backwards ? -1 : 1;
}

static GstFlowReturn
gst_stereo_test_src_fill (GstPushSrc *push, GstBuffer *buffer)
{
  GstStereoTestSrc *self = GST_STEREO_TEST_SRC (push);
  GstVideoFrame frame;
  GstBuffer *truth;

  /* a still picture; or played back to the beginning */
  if ((GST_VIDEO_INFO_FPS_N (&self->info) == 0 && self->frames > 0) || self->frames < 0)
    return GST_FLOW_EOS;
  if (!gst_stereo_test_src_make_scene (self))
    return GST_FLOW_ERROR;
  if (!gst_video_frame_map (&frame, &self->info, buffer, GST_MAP_WRITE)) {
    GST_ELEMENT_ERROR (self, RESOURCE, WRITE, ("The buffer that downstream gave for a frame cannot be written."),
        (NULL));
    return GST_FLOW_ERROR;
  }
  gst_stereo_scene_set_frame (self->scene, (guint64) (self->frames_before + self->frames));
  gst_stereo_pool_clear_padding (&frame);
  gst_stereo_painter_paint (self->painter, &frame);
  gst_video_frame_unmap (&frame);
  if (!(truth = make_truth (self))) {
    GST_ELEMENT_ERROR (self, RESOURCE, FAILED, ("There is no memory for the true disparity of a frame."), (NULL));
    return GST_FLOW_ERROR;
  }
  add_meta (self, buffer, truth);
  gst_buffer_unref (truth);
  stamp (self, buffer);
  return GST_FLOW_OK;
}

static gboolean
gst_stereo_test_src_start (GstBaseSrc *base)
{
  GstStereoTestSrc *self = GST_STEREO_TEST_SRC (base);

  self->frames = self->frames_before = 0;
  self->time_before = 0;
  self->backwards = FALSE;
  GST_OBJECT_LOCK (self);
  gst_video_info_init (&self->info);
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

static gboolean
gst_stereo_test_src_stop (GstBaseSrc *base)
{
  GstStereoTestSrc *self = GST_STEREO_TEST_SRC (base);

  gst_stereo_test_src_release (self);
  return TRUE;
}

static void
install_properties (GObjectClass *klass)
{
  const GParamFlags rw = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS, live = rw | GST_PARAM_MUTABLE_PLAYING;

  g_object_class_install_property (klass, PROP_PATTERN, g_param_spec_enum ("pattern", "pattern",
          "What the scene is", GST_TYPE_STEREO_TEST_PATTERN, GST_STEREO_PATTERN_PLANES, live));
  g_object_class_install_property (klass, PROP_SEED, g_param_spec_uint ("seed", "seed",
          "Another number gives other textures and noise; the same one gives the same pictures", 0, G_MAXUINT, 0,
          live));
  g_object_class_install_property (klass, PROP_IS_LIVE, g_param_spec_boolean ("is-live", "is-live",
          "Frames come when their time has come, as from a camera; such a source cannot be sought in", FALSE, rw));
  g_object_class_install_property (klass, PROP_MAX_DISPARITY, g_param_spec_int ("max-disparity", "max-disparity",
          "Pixels: no disparity of the scene is above this; at most half the width of a view. 0 = a tenth of that "
          "width, 120 at most", 0, GST_STEREO_SCENE_MAX_DISPARITY, 0, live));
  g_object_class_install_property (klass, PROP_MOTION, g_param_spec_double ("motion", "motion",
          "Pixels that the foreground moves to the right in a frame (it turns back at the sides); 0 = it stands still",
          -1000, 1000, 2, live));
  g_object_class_install_property (klass, PROP_NOISE, g_param_spec_double ("noise", "noise",
          "Grey levels of noise (standard deviation), drawn anew for each view and frame; 0 = none", 0, 64, 1, live));
  g_object_class_install_property (klass, PROP_TIMESTAMP_OFFSET, g_param_spec_int64 ("timestamp-offset",
          "timestamp-offset", "Nanoseconds added to the timestamps; none comes before 0", G_MININT64 / 4,
          G_MAXINT64 / 4, 0, live));
}

static void
gst_stereo_test_src_class_init (GstStereoTestSrcClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSrcClass *base_class = GST_BASE_SRC_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (gst_stereo_test_src_debug, "stereotestsrc", 0, "stereo test source");

  object_class->set_property = gst_stereo_test_src_set_property;
  object_class->get_property = gst_stereo_test_src_get_property;
  install_properties (object_class);

  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Stereo test source", "Source/Video/Stereo",
      "Makes both views of a moving scene in one frame, with the true disparity of every pixel in its GstStereoMeta",
      "gst-stereo");
  gst_type_mark_as_plugin_api (GST_TYPE_STEREO_TEST_PATTERN, 0);

  base_class->fixate = gst_stereo_test_src_fixate;
  base_class->set_caps = gst_stereo_test_src_set_caps;
  base_class->decide_allocation = gst_stereo_test_src_decide_allocation;
  base_class->do_seek = gst_stereo_test_src_do_seek;
  base_class->is_seekable = gst_stereo_test_src_is_seekable;
  base_class->get_times = gst_stereo_test_src_get_times;
  base_class->query = gst_stereo_test_src_query;
  base_class->start = gst_stereo_test_src_start;
  base_class->stop = gst_stereo_test_src_stop;
  GST_PUSH_SRC_CLASS (klass)->fill = gst_stereo_test_src_fill;
}

static void
gst_stereo_test_src_init (GstStereoTestSrc *self)
{
  self->settings.pattern = GST_STEREO_PATTERN_PLANES;
  self->settings.motion = 2;
  self->settings.noise = 1;
  gst_video_info_init (&self->info);
  gst_base_src_set_format (GST_BASE_SRC (self), GST_FORMAT_TIME);
  gst_base_src_set_live (GST_BASE_SRC (self), FALSE);
}
