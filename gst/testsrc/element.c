/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-stereotestsrc
 * @title: stereotestsrc
 *
 * Renders a synthetic scene as two cameras see it. Both views come in one frame, with the true disparity of every pixel
 * in the frame's #GstStereoMeta: for trying out pipelines, and for measuring how good a stereo matcher is. A frame
 * depends only on the properties and its number, and is the same on every machine.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 stereotestsrc ! stereomatch ! video/x-raw,format=GRAY8 ! videoconvert ! autovideosink
 * gst-launch-1.0 stereotestsrc ! video/x-raw,width=3840,height=1080,framerate=60/1 ! videoconvert ! autovideosink
 * ]|
 */
#include "gst/testsrc/element.h"

#include <string.h>

#include "gst/meta/gststereometa.h"
#include "gst/testsrc/caps.h"
#include "gst/testsrc/paint.h"
#include "gst/testsrc/pictures.h"
#include "gst/testsrc/timeline.h"
#include "gst/video/ranges.h"

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

struct _GstStereoTestSrc
{
  GstPushSrc parent;

  /* protected by the object lock */
  GstStereoSceneParams settings; /* but for the size, which is that of the caps */
  guint serial;                  /* of settings: another one after each change */
  gint64 timestamp_offset;
  GstVideoInfo info; /* of the frames */

  /* of the streaming thread */
  GstStereoTimeline *timeline;
  GstStereoPictures *pictures;
};

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
    GST_STATIC_CAPS (
        GST_VIDEO_CAPS_MAKE (GST_STEREO_PAINT_FORMATS) ", "
                                                       "multiview-mode = (string) { side-by-side, top-bottom, "
                                                       "row-interleaved, column-interleaved }"));

G_DEFINE_TYPE (GstStereoTestSrc, gst_stereo_test_src, GST_TYPE_PUSH_SRC)
GST_ELEMENT_REGISTER_DEFINE (stereotestsrc, "stereotestsrc", GST_RANK_NONE, GST_TYPE_STEREO_TEST_SRC)

GType
gst_stereo_test_pattern_get_type (void)
{
  static gsize once = 0;
  static const GEnumValue values[] = { { GST_STEREO_PATTERN_PLANES,
                                           "Textured slanted planes with a disc moving in front of them", "planes" },
    { GST_STEREO_PATTERN_RANDOM_DOTS, "Random dots: a square moving in front of a wall, disparities are whole pixels",
        "random-dots" },
    { GST_STEREO_PATTERN_STRIPES,
        "Vertical stripes 8 pixels apart: a square in front of a wall, ambiguous for a "
        "matcher",
        "stripes" },
    { GST_STEREO_PATTERN_FLAT, "The planes without texture: nothing to match", "flat" }, { 0, NULL, NULL } };

  if (g_once_init_enter (&once))
    g_once_init_leave (&once, g_enum_register_static ("GstStereoTestPattern", values));
  return once;
}

static void
gst_stereo_test_src_set_property (GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
  GstStereoTestSrc *self = GST_STEREO_TEST_SRC (object);
  GstStereoSceneParams before;

  if (!gst_stereo_value_in_range (GST_ELEMENT (self), spec, value))
    return;
  if (id == PROP_IS_LIVE) {
    gst_base_src_set_live (GST_BASE_SRC (self), g_value_get_boolean (value));
    return;
  }
  GST_OBJECT_LOCK (self);
  before = self->settings;
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
  /* a control source sets the same value again for every frame */
  if (memcmp (&before, &self->settings, sizeof before) != 0)
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

/* ---- caps ---------------------------------------------------------------------------------- */

static GstCaps *
gst_stereo_test_src_fixate (GstBaseSrc *base, GstCaps *caps)
{
  caps = gst_stereo_test_caps_prefer (caps);
  return GST_BASE_SRC_CLASS (gst_stereo_test_src_parent_class)->fixate (base, caps);
}

static const gchar *
pattern_name (GstStereoPattern pattern)
{
  const GEnumValue *value = g_enum_get_value (g_type_class_peek (GST_TYPE_STEREO_TEST_PATTERN), (gint) pattern);

  return value ? value->value_nick : "?";
}

/* Makes the scene that the properties ask for now, unless it is there already. FALSE after an error was posted. */
static gboolean
ensure_scene (GstStereoTestSrc *self)
{
  GstStereoSceneParams params;
  gchar *message = NULL;
  guint serial;

  GST_OBJECT_LOCK (self);
  params = self->settings;
  serial = self->serial;
  GST_OBJECT_UNLOCK (self);
  if (gst_stereo_pictures_have_scene (self->pictures, serial))
    return TRUE;
  if (!gst_stereo_pictures_set_scene (self->pictures, &params, serial, &message)) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT, ("%s", message), (NULL));
    g_free (message);
    return FALSE;
  }
  params = *gst_stereo_pictures_params (self->pictures);
  GST_DEBUG_OBJECT (self,
      "made a scene (settings %u): pattern %s, seed %u, views of %dx%d pixels, disparities up to "
      "%d px, motion %g px per frame, noise %g grey levels",
      serial, pattern_name (params.pattern), params.seed, params.width, params.height, params.max_disparity,
      params.motion, params.noise);
  return TRUE;
}

static gboolean
gst_stereo_test_src_set_caps (GstBaseSrc *base, GstCaps *caps)
{
  GstStereoTestSrc *self = GST_STEREO_TEST_SRC (base);
  gchar *message = NULL, *views;
  GstVideoInfo info;
  gboolean first;

  if (!gst_video_info_from_caps (&info, caps))
    return FALSE;
  if (!gst_stereo_pictures_set_format (self->pictures, &info, &message)) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT, ("%s", message), ("caps %" GST_PTR_FORMAT, caps));
    g_free (message);
    return FALSE;
  }
  views = gst_stereo_pictures_describe (self->pictures);
  GST_DEBUG_OBJECT (self, "negotiated %" GST_PTR_FORMAT ": views of %s", caps, views);
  g_free (views);
  first = GST_VIDEO_INFO_FORMAT (&self->info) == GST_VIDEO_FORMAT_UNKNOWN;
  GST_OBJECT_LOCK (self);
  self->info = info;
  GST_OBJECT_UNLOCK (self);
  gst_stereo_timeline_set_rate (self->timeline, GST_VIDEO_INFO_FPS_N (&info), GST_VIDEO_INFO_FPS_D (&info));
  /* a seek before there was a frame rate could not tell which frame was meant */
  if (first)
    gst_stereo_timeline_seek (self->timeline, base->segment.position, base->segment.rate < 0);
  return ensure_scene (self);
}

static gboolean
gst_stereo_test_src_decide_allocation (GstBaseSrc *base, GstQuery *query)
{
  gst_stereo_test_caps_choose_pool (query, &GST_STEREO_TEST_SRC (base)->info);
  return GST_BASE_SRC_CLASS (gst_stereo_test_src_parent_class)->decide_allocation (base, query);
}

/* ---- time ---------------------------------------------------------------------------------- */

static gboolean
gst_stereo_test_src_do_seek (GstBaseSrc *base, GstSegment *segment)
{
  GstStereoTestSrc *self = GST_STEREO_TEST_SRC (base);

  segment->time = segment->start;
  gst_stereo_timeline_seek (self->timeline, segment->position, segment->rate < 0);
  GST_DEBUG_OBJECT (self, "sought to %" GST_TIME_FORMAT ", rate %g: next is frame %" G_GUINT64_FORMAT,
      GST_TIME_ARGS (segment->position), segment->rate, gst_stereo_timeline_number (self->timeline));
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
gst_stereo_test_src_query (GstBaseSrc *base, GstQuery *query)
{
  GstStereoTestSrc *self = GST_STEREO_TEST_SRC (base);
  GstVideoInfo info;
  gint count = -1;

  if (GST_QUERY_TYPE (query) == GST_QUERY_DURATION)
    g_object_get (self, "num-buffers", &count, NULL);
  GST_OBJECT_LOCK (self);
  info = self->info;
  GST_OBJECT_UNLOCK (self);
  if (gst_stereo_test_caps_answer (query, &info, count, gst_base_src_is_live (base)))
    return TRUE;
  return GST_BASE_SRC_CLASS (gst_stereo_test_src_parent_class)->query (base, query);
}

/* ---- frames -------------------------------------------------------------------------------- */

static void
add_meta (GstStereoTestSrc *self, GstBuffer *buffer, GstBuffer *truth)
{
  const GstStereoSceneParams *params = gst_stereo_pictures_params (self->pictures);
  GstStereoMeta *meta = gst_buffer_add_stereo_meta (buffer, (guint) params->width, (guint) params->height, NULL);

  meta->kind = GST_STEREO_OUTPUT_KIND_VIEWS;
  meta->num_disparities = params->max_disparity + 1;
  meta->focal_length = FOCAL_LENGTH * params->width;
  meta->baseline = BASELINE;
  gst_stereo_meta_set_truth (meta, truth);
}

static void
set_times (GstStereoTestSrc *self, GstBuffer *buffer)
{
  gint64 offset;

  GST_OBJECT_LOCK (self);
  offset = self->timestamp_offset;
  GST_OBJECT_UNLOCK (self);
  /* an offset must not take a time below 0, where GST_CLOCK_TIME_NONE lies */
  GST_BUFFER_PTS (buffer) = (GstClockTime) MAX (0, (gint64) gst_stereo_timeline_begin (self->timeline) + offset);
  GST_BUFFER_DTS (buffer) = GST_CLOCK_TIME_NONE;
  GST_BUFFER_DURATION (buffer) = gst_stereo_timeline_duration (self->timeline);
  GST_BUFFER_OFFSET (buffer) = gst_stereo_timeline_number (self->timeline);
  GST_BUFFER_OFFSET_END (buffer) = GST_BUFFER_OFFSET (buffer) + 1;
}

/* Properties that a control source drives. */
static void
follow_controls (GstStereoTestSrc *self)
{
  GstClockTime time = gst_segment_to_stream_time (
      &GST_BASE_SRC (self)->segment, GST_FORMAT_TIME, gst_stereo_timeline_begin (self->timeline));

  if (GST_CLOCK_TIME_IS_VALID (time))
    gst_object_sync_values (GST_OBJECT (self), time);
}

static GstFlowReturn
gst_stereo_test_src_fill (GstPushSrc *push, GstBuffer *buffer)
{
  GstStereoTestSrc *self = GST_STEREO_TEST_SRC (push);
  GstBuffer *truth;

  if (gst_stereo_timeline_is_over (self->timeline)) {
    GST_DEBUG_OBJECT (self, "end of stream: a still picture was sent, or frame 0 was reached backwards");
    return GST_FLOW_EOS;
  }
  follow_controls (self);
  if (!ensure_scene (self))
    return GST_FLOW_ERROR;
  if (!gst_stereo_pictures_paint (self->pictures, gst_stereo_timeline_number (self->timeline), buffer)) {
    GST_ELEMENT_ERROR (
        self, RESOURCE, WRITE, ("The buffer that downstream gave for a frame cannot be written."), (NULL));
    return GST_FLOW_ERROR;
  }
  if (!(truth = gst_stereo_pictures_make_truth (self->pictures))) {
    GST_ELEMENT_ERROR (self, RESOURCE, FAILED, ("There is no memory for the true disparity of a frame."), (NULL));
    return GST_FLOW_ERROR;
  }
  add_meta (self, buffer, truth);
  gst_buffer_unref (truth);
  set_times (self, buffer);
  GST_LOG_OBJECT (self, "frame %" G_GUINT64_FORMAT " at %" GST_TIME_FORMAT, GST_BUFFER_OFFSET (buffer),
      GST_TIME_ARGS (GST_BUFFER_PTS (buffer)));
  gst_stereo_timeline_advance (self->timeline);
  return GST_FLOW_OK;
}

static gboolean
gst_stereo_test_src_start (GstBaseSrc *base)
{
  GstStereoTestSrc *self = GST_STEREO_TEST_SRC (base);

  if (!gst_stereo_values_accepted (GST_ELEMENT (self)))
    return FALSE;
  gst_stereo_timeline_reset (self->timeline);
  GST_OBJECT_LOCK (self);
  gst_video_info_init (&self->info);
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

static gboolean
gst_stereo_test_src_stop (GstBaseSrc *base)
{
  gst_stereo_pictures_clear (GST_STEREO_TEST_SRC (base)->pictures);
  return TRUE;
}

static void
gst_stereo_test_src_finalize (GObject *object)
{
  GstStereoTestSrc *self = GST_STEREO_TEST_SRC (object);

  gst_stereo_pictures_free (self->pictures);
  gst_stereo_timeline_free (self->timeline);
  G_OBJECT_CLASS (gst_stereo_test_src_parent_class)->finalize (object);
}

static void
install_properties (GObjectClass *klass)
{
  const GParamFlags rw = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS,
                    live = rw | GST_PARAM_MUTABLE_PLAYING | GST_PARAM_CONTROLLABLE;

  g_object_class_install_property (klass, PROP_PATTERN,
      gst_stereo_unchecked_spec (g_param_spec_enum (
          "pattern", "pattern", "The scene to show", GST_TYPE_STEREO_TEST_PATTERN, GST_STEREO_PATTERN_PLANES, live)));
  g_object_class_install_property (klass, PROP_SEED,
      g_param_spec_uint (
          "seed", "seed", "Seed of textures and noise: the same seed gives the same pictures", 0, G_MAXUINT, 0, live));
  g_object_class_install_property (klass, PROP_IS_LIVE,
      g_param_spec_boolean ("is-live", "is-live",
          "Send each frame when its time has come, as a camera does; a live source cannot seek", FALSE, rw));
  g_object_class_install_property (klass, PROP_MAX_DISPARITY,
      gst_stereo_unchecked_spec (g_param_spec_int ("max-disparity", "max-disparity",
          "Largest disparity of the scene in pixels, at most half the width of a view; 0 = a tenth of that width, at "
          "most 120",
          0, GST_STEREO_SCENE_MAX_DISPARITY, 0, live)));
  g_object_class_install_property (klass, PROP_MOTION,
      gst_stereo_unchecked_spec (g_param_spec_double ("motion", "motion",
          "Pixels that the foreground moves to the right per frame (it turns back at the sides); 0 = it does not move",
          -1000, 1000, 2, live)));
  g_object_class_install_property (klass, PROP_NOISE,
      gst_stereo_unchecked_spec (g_param_spec_double ("noise", "noise",
          "Standard deviation of the noise in grey levels, different in each view and frame; 0 = no noise", 0, 64, 1,
          live)));
  g_object_class_install_property (klass, PROP_TIMESTAMP_OFFSET,
      gst_stereo_unchecked_spec (g_param_spec_int64 ("timestamp-offset", "timestamp-offset",
          "Nanoseconds to add to the timestamps; no timestamp goes below 0", G_MININT64 / 4, G_MAXINT64 / 4, 0, live)));
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
  object_class->finalize = gst_stereo_test_src_finalize;
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
  self->timeline = gst_stereo_timeline_new ();
  self->pictures = gst_stereo_pictures_new ();
  gst_video_info_init (&self->info);
  gst_base_src_set_format (GST_BASE_SRC (self), GST_FORMAT_TIME);
  gst_base_src_set_live (GST_BASE_SRC (self), FALSE);
}
