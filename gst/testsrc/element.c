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
 * what estimates the ground and finds obstacles. The road can have a ramp, a kerb, and an obstacle that comes nearer.
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
#include "gst/testsrc/paint.h"
#include "gst/testsrc/pictures.h"
#include "gst/testsrc/properties.h"
#include "gst/testsrc/timeline.h"
#include "gst/video/ranges.h"

GST_DEBUG_CATEGORY_STATIC (gst_stereo_test_src_debug);
#define GST_CAT_DEFAULT gst_stereo_test_src_debug

struct _GstStereoTestSrc
{
  GstPushSrc parent;

  /* protected by the object lock */
  GstStereoTestSettings settings;
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
  const GstStereoSceneParams *params;
  gchar *message = NULL;

  if (!gst_stereo_pictures_set_scene (self->pictures, wanted, &message)) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT, ("%s", message), (NULL));
    g_free (message);
    return FALSE;
  }
  params = gst_stereo_pictures_params (self->pictures);
  GST_DEBUG_OBJECT (self,
      "made a scene: pattern %s, seed %u, views of %dx%d pixels, disparities up to %d px, motion %g px "
      "per frame, noise %g grey levels",
      gst_stereo_test_pattern_name (params->pattern), params->seed, params->width, params->height,
      params->max_disparity, params->motion, params->noise);
  return TRUE;
}

/* Makes the scene and the rig that the properties ask for now, unless they are there already. FALSE after an error
 * was posted. */
static gboolean
ensure_scene (GstStereoTestSrc *self)
{
  GstStereoTestSettings settings;

  GST_OBJECT_LOCK (self);
  settings = self->settings;
  GST_OBJECT_UNLOCK (self);
  if (!gst_stereo_pictures_have_scene (self->pictures, &settings.scene) && !make_scene (self, &settings.scene))
    return FALSE;
  if (gst_stereo_pictures_set_rig (self->pictures, &settings.rig))
    GST_DEBUG_OBJECT (self, "made a rig: the right camera %g px lower, exposure %g; fault %s",
        settings.rig.vertical_offset, settings.rig.right_gain, gst_stereo_test_fault_name (settings.rig.fault));
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
  meta->focal_length = GST_STEREO_SCENE_FOCAL_LENGTH * params->width;
  meta->baseline = GST_STEREO_SCENE_BASELINE;
  meta->principal_x = (params->width - 1) / 2.0;
  meta->principal_y = (params->height - 1) / 2.0;
  gst_stereo_meta_set_truth (meta, truth);
}

static void
set_times (GstStereoTestSrc *self, GstBuffer *buffer)
{
  gint64 offset;

  GST_OBJECT_LOCK (self);
  offset = self->settings.timestamp_offset;
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
gst_stereo_test_src_class_init (GstStereoTestSrcClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSrcClass *base_class = GST_BASE_SRC_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (gst_stereo_test_src_debug, "stereotestsrc", 0, "stereo test source");

  object_class->finalize = gst_stereo_test_src_finalize;
  gst_stereo_properties_install (object_class, gst_stereo_test_properties, G_STRUCT_OFFSET (GstStereoTestSrc, settings));

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
