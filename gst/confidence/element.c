/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-stereoconfidence
 * @title: stereoconfidence
 *
 * The confidence of a stereo matcher as a video stream: GRAY8, 0..255 for a confidence of 0..1, 0 where there is no
 * value.
 *
 * stereomatch keeps the confidence of every pixel in the #GstStereoMeta of its output buffers. Metadata stays behind
 * where a picture is encoded, written to a file or sent over a network: this element, put right after stereomatch on a
 * branch of its own, makes a picture of it that can be recorded and sent beside the disparity. Every buffer that comes
 * in gives one buffer of the same size and with the same timestamps, so the two streams stay in step.
 *
 * With #GstStereoConfidence:show set to `truth` it is the true disparity instead, where the source knew it
 * (stereotestsrc): GRAY16_LE, disparity times 64, 0 = unknown.
 *
 * The output has no #GstStereoMeta any more: that says what the samples mean in pixels and millimetres, and these mean
 * neither.
 * When a videoscale lies before it, the metadata was scaled with the picture, and it is of the new size.
 *
 * ## Example
 * |[
 * gst-launch-1.0 -e videotestsrc num-buffers=50 ! video/x-raw,width=640,height=240 ! stereomatch ! tee name=t \
 *     t. ! queue ! avenc_ffv1 ! matroskamux name=file ! filesink location=disparity.mkv \
 *     t. ! queue ! stereoconfidence ! avenc_ffv1 ! file.
 * ]|
 */
#include "gst/meta/gststereometa.h"
#include "gst/meta/map.h"
#include "gst/video/pool.h"
#include "gst/video/properties.h"
#include "gst/video/stream.h"

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>

GST_ELEMENT_REGISTER_DECLARE (stereoconfidence);
#define GST_TYPE_STEREO_CONFIDENCE (gst_stereo_confidence_get_type ())
G_DECLARE_FINAL_TYPE (GstStereoConfidence, gst_stereo_confidence, GST, STEREO_CONFIDENCE, GstBaseTransform)

GST_DEBUG_CATEGORY_STATIC (gst_stereo_confidence_debug);
#define GST_CAT_DEFAULT gst_stereo_confidence_debug

typedef enum
{
  SHOW_CONFIDENCE,
  SHOW_TRUTH
} Show;

struct _GstStereoConfidence
{
  GstBaseTransform parent;

  gint show; /* Show, protected by the object lock */

  GstVideoInfo info; /* of the output; of the streaming thread */
};

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_VIDEO_CAPS_MAKE ("{ GRAY16_LE, GRAY8 }")));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_VIDEO_CAPS_MAKE ("{ GRAY8, GRAY16_LE }")));

G_DEFINE_TYPE (GstStereoConfidence, gst_stereo_confidence, GST_TYPE_BASE_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE (stereoconfidence, "stereoconfidence", GST_RANK_NONE, GST_TYPE_STEREO_CONFIDENCE)

/* ---- caps -------------------------------------------------------------------------------- */

/* Everything stays the same but the format, and colorimetry and chroma-site, which depend on it. */
static GstCaps *
gst_stereo_confidence_transform_caps (GstBaseTransform *base, GstPadDirection direction, GstCaps *caps, GstCaps *filter)
{
  GstStereoConfidence *self = GST_STEREO_CONFIDENCE (base);
  GstCaps *other = gst_caps_copy (caps), *formats, *passed;
  gint show;

  GST_OBJECT_LOCK (self);
  show = self->show;
  GST_OBJECT_UNLOCK (self);
  for (guint i = 0; i < gst_caps_get_size (other); i++)
    gst_structure_remove_fields (gst_caps_get_structure (other, i), "format", "colorimetry", "chroma-site", NULL);
  formats = direction == GST_PAD_SRC ?
      gst_static_pad_template_get_caps (&sink_template) :
      gst_caps_new_simple ("video/x-raw", "format", G_TYPE_STRING, show == SHOW_TRUTH ? "GRAY16_LE" : "GRAY8", NULL);
  passed = gst_caps_intersect_full (other, formats, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref (formats);
  gst_caps_unref (other);
  if (!filter)
    return passed;
  other = passed;
  passed = gst_caps_intersect_full (filter, other, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref (other);
  return passed;
}

static gboolean
gst_stereo_confidence_set_caps (GstBaseTransform *base, GstCaps *in, GstCaps *out)
{
  GST_DEBUG_OBJECT (base, "negotiated %" GST_PTR_FORMAT " from %" GST_PTR_FORMAT, out, in);
  return gst_video_info_from_caps (&GST_STEREO_CONFIDENCE (base)->info, out);
}

/* However the rows of the other side are padded. */
static gboolean
gst_stereo_confidence_transform_size (
    GstBaseTransform *base, GstPadDirection direction, GstCaps *caps, gsize size, GstCaps *other, gsize *other_size)
{
  GstVideoInfo info;

  if (!gst_video_info_from_caps (&info, other))
    return FALSE;
  *other_size = GST_VIDEO_INFO_SIZE (&info);
  return TRUE;
}

/* The samples of the input are not read, so any layout of its rows will do. */
static gboolean
gst_stereo_confidence_propose_allocation (GstBaseTransform *base, GstQuery *decide, GstQuery *query)
{
  gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  return TRUE;
}

/* ---- a frame ----------------------------------------------------------------------------- */

static void
post_missing (GstStereoConfidence *self, const GstStereoMeta *meta, gboolean truth)
{
  if (!meta)
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("A picture without stereo metadata came: put stereoconfidence right after stereomatch, before anything that "
         "converts, crops, encodes or sends the picture."),
        (NULL));
  else if (!truth)
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("The metadata of a picture holds no confidence: put stereoconfidence right after stereomatch, not before it."),
        (NULL));
  else
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("show=truth is set, but the metadata has no true disparity: feed stereomatch from stereotestsrc, or set "
         "show=confidence."),
        (NULL));
}

/* The picture to show, of the caps' size; NULL after an error was posted. */
static GstBuffer *
plane_of (GstStereoConfidence *self, GstBuffer *in)
{
  const GstStereoMeta *meta = gst_buffer_get_stereo_meta (in);
  gboolean truth = GST_VIDEO_INFO_FORMAT (&self->info) == GST_VIDEO_FORMAT_GRAY16_LE;
  GstBuffer *plane = !meta ? NULL : truth ? meta->truth : meta->confidence;

  if (!plane) {
    post_missing (self, meta, truth);
    return NULL;
  }
  if (meta->width != (guint) GST_VIDEO_INFO_WIDTH (&self->info) ||
      meta->height != (guint) GST_VIDEO_INFO_HEIGHT (&self->info)) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("The metadata is about a picture of %ux%u pixels, but this one has %dx%d: put stereoconfidence right after "
         "stereomatch, before anything that changes the size.",
            meta->width, meta->height, GST_VIDEO_INFO_WIDTH (&self->info), GST_VIDEO_INFO_HEIGHT (&self->info)),
        (NULL));
    return NULL;
  }
  return plane;
}

static gboolean
gst_stereo_confidence_copy_metadata (GstBaseTransform *base, GstBuffer *in, GstBuffer *out)
{
  gst_buffer_copy_into (out, in, GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS, 0, (gsize) -1);
  gst_stereo_copy_metas (out, in, TRUE, FALSE);
  return TRUE;
}

/* Only a picture that is there gets memory: caps and metadata may name any size. */
static GstFlowReturn
gst_stereo_confidence_prepare_output_buffer (GstBaseTransform *base, GstBuffer *in, GstBuffer **out)
{
  GstStereoConfidence *self = GST_STEREO_CONFIDENCE (base);
  GstBuffer *plane = plane_of (self, in);
  GstVideoFrame from, to;

  if (!plane)
    return GST_FLOW_ERROR;
  if (!gst_stereo_map (&from, &self->info, plane, GST_MAP_READ)) {
    GST_ELEMENT_ERROR (self, RESOURCE, READ,
        ("The picture in the metadata could not be read: it is smaller than the metadata says."), (NULL));
    return GST_FLOW_ERROR;
  }
  GstFlowReturn flow = GST_BASE_TRANSFORM_CLASS (gst_stereo_confidence_parent_class)->prepare_output_buffer (base, in, out);
  if (flow == GST_FLOW_OK && gst_stereo_map (&to, &self->info, *out, GST_MAP_WRITE)) {
    gst_stereo_pool_clear_padding (&to);
    gst_video_frame_copy (&to, &from);
    gst_video_frame_unmap (&to);
  } else if (flow == GST_FLOW_OK) {
    GST_ELEMENT_ERROR (self, RESOURCE, WRITE, ("An output buffer could not be written to."), (NULL));
    gst_clear_buffer (out);
    flow = GST_FLOW_ERROR;
  }
  gst_video_frame_unmap (&from);
  return flow;
}

/* Empty: prepare_output_buffer() did the work. Without this function the base class would pass its input on. */
static GstFlowReturn
gst_stereo_confidence_transform (GstBaseTransform *base, GstBuffer *in, GstBuffer *out)
{
  return GST_FLOW_OK;
}

/* ---- properties -------------------------------------------------------------------------- */

/* Caps depend on it. */
static void
set_show (GstElement *element, gpointer instance, const GValue *value)
{
  GST_OBJECT_LOCK (element);
  GST_STEREO_CONFIDENCE (element)->show = g_value_get_enum (value);
  GST_OBJECT_UNLOCK (element);
  gst_base_transform_reconfigure_src (GST_BASE_TRANSFORM (element));
}

static const GEnumValue shows[] = {
  { SHOW_CONFIDENCE, "Confidence: GRAY8, 0..255 for 0..1, 0 where there is no value", "confidence" },
  { SHOW_TRUTH, "True disparity, where the source knew it: GRAY16_LE, disparity times 64, 0 = unknown", "truth" },
  { 0, NULL, NULL },
};

static const GstStereoProperty properties[] = {
  { .name = "show",
      .kind = GST_STEREO_ENUM,
      .flags = GST_STEREO_PLAYING,
      .offset = G_STRUCT_OFFSET (GstStereoConfidence, show),
      .type = "GstStereoConfidenceShow",
      .choices = shows,
      .initial = SHOW_CONFIDENCE,
      .set = set_show,
      .blurb = "Which picture of the metadata to send; the format of the output depends on it" },
  { .name = NULL },
};

static void
gst_stereo_confidence_class_init (GstStereoConfidenceClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *base_class = GST_BASE_TRANSFORM_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (gst_stereo_confidence_debug, "stereoconfidence", 0, "confidence of a stereo matcher");

  gst_stereo_properties_install (object_class, properties, 0, FALSE);

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Stereo confidence", "Filter/Analyzer/Video/Stereo",
      "Makes a video stream of the confidence that stereomatch keeps in the metadata of its output: GRAY8, 0..255 for "
      "0..1, 0 where there is no value",
      "gst-stereo");

  base_class->transform_caps = gst_stereo_confidence_transform_caps;
  base_class->set_caps = gst_stereo_confidence_set_caps;
  base_class->transform_size = gst_stereo_confidence_transform_size;
  base_class->propose_allocation = gst_stereo_confidence_propose_allocation;
  base_class->copy_metadata = gst_stereo_confidence_copy_metadata;
  base_class->prepare_output_buffer = gst_stereo_confidence_prepare_output_buffer;
  base_class->transform = gst_stereo_confidence_transform;
}

static void
gst_stereo_confidence_init (GstStereoConfidence *self)
{
  gst_stereo_properties_init (G_OBJECT (self));
}
