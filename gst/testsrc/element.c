/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-stereotestsrc
 * @title: stereotestsrc
 *
 * Renders a synthetic scene as two cameras see it. Both views come in one frame, with the true disparity of every pixel
 * in the frame's #GstStereoMeta: for trying out pipelines, and for measuring how good a stereo matcher is. A frame
 * depends only on the properties and its number, and is the same on every machine. The cameras can have what real ones
 * have: noise, a vertical offset, another exposure on the right, and faults.
 *
 * pattern=road shows a road whose ground is known, from a camera at a height, pitch and roll that are set: for proving
 * what estimates the ground and finds obstacles. The road can have a ramp, a kerb, an obstacle that comes nearer, and thin
 * posts and bars.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 stereotestsrc ! stereomatch ! video/x-raw,format=GRAY8 ! videoconvert ! autovideosink
 * gst-launch-1.0 stereotestsrc noise=5 vertical-offset=1.5 fault=blurred fault-view=left ! videoconvert ! autovideosink
 * gst-launch-1.0 stereotestsrc pattern=road camera-pitch=3 obstacle-height=900 obstacle-distance=20000 obstacle-approach=150 kerb-height=150 ! stereomatch ! depthoverlay ! videoconvert ! autovideosink
 * gst-launch-1.0 stereotestsrc ! video/x-raw,width=3840,height=1080,framerate=60/1 ! videoconvert ! autovideosink
 * ]|
 */
#include "gst/testsrc/element.h"

#include "gst/meta/gststereometa.h"
#include "gst/testsrc/caps.h"
#include "gst/testsrc/choices.h"
#include "gst/testsrc/paint.h"
#include "gst/testsrc/pictures.h"
#include "gst/testsrc/timeline.h"
#include "gst/video/properties.h"
#include "gst/video/stream.h"

GST_DEBUG_CATEGORY_STATIC (gst_stereo_test_src_debug);
#define GST_CAT_DEFAULT gst_stereo_test_src_debug

/* What the pictures and their times depend on. */
typedef struct
{
  GstStereoSceneParams scene; /* without the size, which is that of the caps */
  GstStereoRigParams rig;
  gint64 timestamp_offset; /* ns */
} Settings;

struct _GstStereoTestSrc
{
  GstPushSrc parent;

  /* protected by the object lock */
  Settings settings;
  GstVideoInfo info; /* of the frames */

  /* of the streaming thread */
  GstStereoTimeline *timeline;
  GstStereoPictures *pictures;
};

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
    GST_STATIC_CAPS (
        GST_VIDEO_CAPS_MAKE (GST_STEREO_PAINT_FORMATS) ", multiview-mode = (string) { side-by-side, top-bottom, "
                                                       "row-interleaved, column-interleaved }"));

G_DEFINE_TYPE (GstStereoTestSrc, gst_stereo_test_src, GST_TYPE_PUSH_SRC)
GST_ELEMENT_REGISTER_DEFINE (stereotestsrc, "stereotestsrc", GST_RANK_NONE, GST_TYPE_STEREO_TEST_SRC)

/* ---- caps ---------------------------------------------------------------------------------- */

static GstCaps *
gst_stereo_test_src_fixate (GstBaseSrc *base, GstCaps *caps)
{
  caps = gst_stereo_test_caps_prefer (caps);
  return GST_BASE_SRC_CLASS (gst_stereo_test_src_parent_class)->fixate (base, caps);
}

static gboolean
make_scene (GstStereoTestSrc *self, const GstStereoSceneParams *wanted)
{
  gchar *message = NULL;

  if (!gst_stereo_pictures_set_scene (self->pictures, wanted, &message)) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT, ("%s", message), (NULL));
    g_free (message);
    return FALSE;
  }
  const GstStereoSceneParams *params = gst_stereo_pictures_params (self->pictures);
  GST_DEBUG_OBJECT (self,
      "made a scene: pattern %s, seed %u, views of %dx%d pixels, disparities up to %d px, motion %g px per frame, "
      "noise %g grey levels",
      gst_stereo_choice_name (gst_stereo_test_patterns, (gint) params->pattern), params->seed, params->width,
      params->height, params->max_disparity, params->motion, params->noise);
  return TRUE;
}

/* Makes the scene and the rig that the properties ask for now, unless they are there already. FALSE after an error
 * was posted. */
static gboolean
ensure_scene (GstStereoTestSrc *self)
{
  Settings settings;

  GST_OBJECT_LOCK (self);
  settings = self->settings;
  GST_OBJECT_UNLOCK (self);
  if (!gst_stereo_pictures_have_scene (self->pictures, &settings.scene) && !make_scene (self, &settings.scene))
    return FALSE;
  if (gst_stereo_pictures_set_rig (self->pictures, &settings.rig))
    GST_DEBUG_OBJECT (self, "made a rig: the right camera %g px lower, exposure %g; fault %s",
        settings.rig.vertical_offset, settings.rig.right_gain,
        gst_stereo_choice_name (gst_stereo_test_faults, (gint) settings.rig.fault));
  return TRUE;
}

static gboolean
gst_stereo_test_src_set_caps (GstBaseSrc *base, GstCaps *caps)
{
  GstStereoTestSrc *self = GST_STEREO_TEST_SRC (base);
  gchar *message = NULL, *views;
  GstVideoInfo info;

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
  gboolean first = GST_VIDEO_INFO_FORMAT (&self->info) == GST_VIDEO_FORMAT_UNKNOWN;
  GST_OBJECT_LOCK (self);
  self->info = info;
  GST_OBJECT_UNLOCK (self);
  gst_stereo_timeline_set_rate (self->timeline, GST_VIDEO_INFO_FPS_N (&info), GST_VIDEO_INFO_FPS_D (&info));
  /* before the frame rate is known, a seek cannot be converted to a frame number */
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
  meta->focal_length = GST_STEREO_SCENE_FOCAL_LENGTH * params->width;
  meta->baseline = GST_STEREO_SCENE_BASELINE;
  meta->principal_x = (params->width - 1) / 2.0;
  meta->principal_y = (params->height - 1) / 2.0;
  gst_stereo_meta_set_truth (meta, truth);
}

static void
set_times (GstStereoTestSrc *self, GstBuffer *buffer)
{
  GST_OBJECT_LOCK (self);
  gint64 offset = self->settings.timestamp_offset;
  GST_OBJECT_UNLOCK (self);
  /* an offset must not take a time below 0, where GST_CLOCK_TIME_NONE lies */
  GST_BUFFER_PTS (buffer) = (GstClockTime) MAX (0, (gint64) gst_stereo_timeline_begin (self->timeline) + offset);
  GST_BUFFER_DTS (buffer) = GST_CLOCK_TIME_NONE;
  GST_BUFFER_DURATION (buffer) = gst_stereo_timeline_duration (self->timeline);
  GST_BUFFER_OFFSET (buffer) = gst_stereo_timeline_number (self->timeline);
  GST_BUFFER_OFFSET_END (buffer) = GST_BUFFER_OFFSET (buffer) + 1;
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
  gst_stereo_follow_controls (self, &GST_BASE_SRC (self)->segment, gst_stereo_timeline_begin (self->timeline));
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

/* ---- properties ---------------------------------------------------------------------------- */

/* The base class has the value. */
static void
set_is_live (GstElement *element, gpointer instance, const GValue *value)
{
  gst_base_src_set_live (GST_BASE_SRC (element), g_value_get_boolean (value));
}

static void
get_is_live (GstElement *element, gpointer instance, GValue *value)
{
  g_value_set_boolean (value, gst_base_src_is_live (GST_BASE_SRC (element)));
}

#define ROW(name_, kind_, member) \
  .name = name_, .kind = GST_STEREO_##kind_, .flags = GST_STEREO_CONTROLLED, \
  .offset = G_STRUCT_OFFSET (GstStereoTestSrc, settings.member)
#define RANGE(min_, max_, initial_) .min = min_, .max = max_, .initial = initial_

static const GstStereoProperty properties[] = {
  { .name = "is-live",
      .kind = GST_STEREO_BOOLEAN,
      .flags = G_PARAM_READWRITE,
      .set = set_is_live,
      .get = get_is_live,
      .blurb = "Send each frame when its time has come, as a camera does; a live source cannot seek" },
  { ROW ("pattern", ENUM, scene.pattern), .type = "GstStereoTestPattern", .choices = gst_stereo_test_patterns,
      .initial = GST_STEREO_PATTERN_PLANES, .blurb = "The scene to show" },
  { ROW ("seed", UINT, scene.seed), .blurb = "Seed of textures and noise: the same seed gives the same pictures" },
  { ROW ("max-disparity", INT, scene.max_disparity), RANGE (0, GST_STEREO_SCENE_MAX_DISPARITY, 0),
      .blurb = "Largest disparity of the scene in pixels, at most half the width of a view; 0 = a tenth of that width, "
               "at most 120, or with pattern=road more where something on it is nearer than that" },
  { ROW ("motion", DOUBLE, scene.motion), RANGE (-1000, 1000, 2),
      .blurb = "Pixels that the foreground moves to the right per frame (it turns back at the sides); 0 = it does not "
               "move. Without effect on pattern=road" },
  { ROW ("noise", DOUBLE, scene.noise), RANGE (0, 64, 1),
      .blurb = "Noise of the sensors: its standard deviation at mid grey, in grey levels, different in each view and "
               "frame. Half of the variance is the same at all levels, the other half is shot noise and grows with the "
               "level; 0 = no noise" },
  { ROW ("vertical-offset", DOUBLE, rig.vertical_offset),
      RANGE (-GST_STEREO_RIG_MAX_OFFSET, GST_STEREO_RIG_MAX_OFFSET, 0),
      .blurb = "Pixels by which a point lies lower in the right view than in the left one; fractions too" },
  { ROW ("roll", DOUBLE, rig.roll), RANGE (-GST_STEREO_RIG_MAX_ROLL, GST_STEREO_RIG_MAX_ROLL, 0),
      .blurb = "Degrees by which the right view is turned clockwise, about its middle; the true "
               "disparity stays that of the scene" },
  { ROW ("right-gain", DOUBLE, rig.right_gain), RANGE (0, GST_STEREO_RIG_MAX_GAIN, 1),
      .blurb = "Exposure of the right view: what its grey levels are multiplied with, before noise" },
  { ROW ("fault", ENUM, rig.fault), .type = "GstStereoTestFault", .choices = gst_stereo_test_faults,
      .initial = GST_STEREO_TEST_FAULT_NONE,
      .blurb = "What is wrong with a camera; the true disparity stays that of the scene" },
  { ROW ("fault-view", ENUM, rig.fault_view), .type = "GstStereoTestFaultView", .choices = gst_stereo_test_fault_views,
      .initial = GST_STEREO_TEST_FAULT_VIEW_RIGHT, .blurb = "Which view has the fault" },
  { ROW ("timestamp-offset", INT64, timestamp_offset),
      .blurb = "Nanoseconds to add to the timestamps; no timestamp goes below 0" },
  { ROW ("camera-height", DOUBLE, scene.road.camera_height), RANGE (200, 20000, 1650),
      .blurb = "pattern=road: height of the camera above the ground, in millimetres" },
  { ROW ("camera-pitch", DOUBLE, scene.road.camera_pitch), RANGE (-20, 20, 0),
      .blurb = "pattern=road: angle by which the camera looks down, in degrees: above 0, the horizon lies above the "
               "middle of the picture" },
  { ROW ("camera-roll", DOUBLE, scene.road.camera_roll), RANGE (-20, 20, 0),
      .blurb = "pattern=road: angle by which the camera is turned about its optical axis, in degrees: above 0, it is "
               "turned clockwise as seen from behind it, its right side is lower, and the horizon rises to the right" },
  { ROW ("obstacle-height", DOUBLE, scene.road.obstacle_height), RANGE (0, 10000, 0),
      .blurb = "pattern=road: height of an obstacle, in millimetres: a board, parallel to the picture, that stands on "
               "the ground; 0 = there is none" },
  { ROW ("obstacle-width", DOUBLE, scene.road.obstacle_width), RANGE (10, 20000, 600),
      .blurb = "pattern=road: width of the obstacle, in millimetres" },
  { ROW ("obstacle-distance", DOUBLE, scene.road.obstacle_distance), RANGE (300, 79000, 10000),
      .blurb = "pattern=road: distance of the obstacle in frame 0, along the optical axis, in millimetres; its "
               "disparity is at most max-disparity" },
  { ROW ("obstacle-lateral", DOUBLE, scene.road.obstacle_lateral), RANGE (-40000, 40000, 0),
      .blurb = "pattern=road: how far the middle of the obstacle is to the right of the optical axis, in millimetres" },
  { ROW ("obstacle-approach", DOUBLE, scene.road.obstacle_approach), RANGE (0, 10000, 0),
      .blurb = "pattern=road: millimetres that the obstacle comes nearer per frame, until its disparity is "
               "max-disparity; 0 = it stands still" },
  { ROW ("ramp-slope", DOUBLE, scene.road.ramp_slope), RANGE (0, 45, 0),
      .blurb = "pattern=road: slope of a ramp that rises out of the ground, in degrees; 0 = there is none" },
  { ROW ("ramp-distance", DOUBLE, scene.road.ramp_distance), RANGE (500, 79000, 15000),
      .blurb = "pattern=road: where the ramp begins: distance along the ground from the point below "
               "the camera, in millimetres" },
  { ROW ("kerb-height", DOUBLE, scene.road.kerb_height), RANGE (0, 1000, 0),
      .blurb = "pattern=road: how much higher the ground is on the right of a kerb, in millimetres, at least 200 less "
               "than camera-height; 0 = there is none" },
  { ROW ("kerb-distance", DOUBLE, scene.road.kerb_distance), RANGE (200, 20000, 2500),
      .blurb = "pattern=road: how far the kerb is to the right of the camera, along the ground, in "
               "millimetres; it has a vertical face" },
  { ROW ("thin-count", INT, scene.road.thin_count), RANGE (0, GST_STEREO_SCENE_THIN_THINGS, 0),
      .blurb = "pattern=road: number of thin things: posts, level bars and slanted bars in turn, 5 to 40 metres away, at "
               "places that follow from seed; they do not move" },
  { ROW ("thin-width", INT, scene.road.thin_width), RANGE (1, 8, 3),
      .blurb = "pattern=road: pixels across each thin thing, whatever its distance" },
  { ROW ("thin-contrast", DOUBLE, scene.road.thin_contrast), RANGE (0, 1, 1),
      .blurb = "pattern=road: contrast of the texture of thin things: 1 = as of everything else, 0 = they are plain, "
               "dark and bright in turn" },
  { .name = NULL },
};

/* ---- object -------------------------------------------------------------------------------- */

static void
gst_stereo_test_src_finalize (GObject *object)
{
  GstStereoTestSrc *self = GST_STEREO_TEST_SRC (object);

  gst_stereo_pictures_free (self->pictures);
  gst_stereo_timeline_free (self->timeline);
  G_OBJECT_CLASS (gst_stereo_test_src_parent_class)->finalize (object);
}

static void
gst_stereo_test_src_class_init (GstStereoTestSrcClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSrcClass *base_class = GST_BASE_SRC_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (gst_stereo_test_src_debug, "stereotestsrc", 0, "stereo test source");

  object_class->finalize = gst_stereo_test_src_finalize;
  gst_stereo_properties_install (object_class, properties, 0);

  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Stereo test source", "Source/Video/Stereo",
      "Makes both views of a moving scene in one frame, with the true disparity of every pixel in its GstStereoMeta",
      "gst-stereo");

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
  gst_stereo_properties_init (G_OBJECT (self));
  self->timeline = gst_stereo_timeline_new ();
  self->pictures = gst_stereo_pictures_new ();
  gst_video_info_init (&self->info);
  gst_base_src_set_format (GST_BASE_SRC (self), GST_FORMAT_TIME);
  gst_base_src_set_live (GST_BASE_SRC (self), FALSE);
}
