/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/rectify/output.h"

#include <math.h>

#include "gst/meta/gststereometa.h"
#include "gst/meta/map.h"
#include "gst/pairing/frame.h"
#include "gst/rectify/debug.h"
#include "gst/video/pool.h"

struct _GstStereoRectifyOutput
{
  GstStereoAggregator *base; /* the element, which owns this */
  GstStereoRectifyMaps *maps;
  GstStereoDrift *drift;

  GstStereoLayout layout; /* of the last pair: its raw views */
  GstVideoInfo input;     /* of that pair: its colours */
  gboolean negotiated;    /* the source pad has caps */
  GstVideoInfo out_info;
  gint out_par_n, out_par_d;
};

GstStereoRectifyOutput *
gst_stereo_rectify_output_new (GstStereoAggregator *base, GstStereoRectifyMaps *maps, GstStereoDrift *drift)
{
  GstStereoRectifyOutput *self = g_new0 (GstStereoRectifyOutput, 1);

  self->base = base;
  self->maps = maps;
  self->drift = drift;
  return self;
}

void
gst_stereo_rectify_output_free (GstStereoRectifyOutput *self)
{
  g_free (self);
}

void
gst_stereo_rectify_output_stop (GstStereoRectifyOutput *self)
{
  self->negotiated = FALSE;
  gst_stereo_aggregator_set_negotiated (self->base, FALSE);
}

/* ---- caps -------------------------------------------------------------------------------- */

static void
append_format (GstStereoRectifyOutput *self, GstCaps *caps, GstVideoFormat format)
{
  const StereoRectification *rectification = gst_stereo_rectify_maps_rectification (self->maps);
  const GstStereoLayout *layout = &self->layout;
  GstVideoInfo info;

  if (!gst_video_info_set_format (&info, format, (guint) (2 * rectification->width), (guint) rectification->height))
    return;
  GST_VIDEO_INFO_PAR_N (&info) = self->out_par_n;
  GST_VIDEO_INFO_PAR_D (&info) = self->out_par_d;
  GST_VIDEO_INFO_FPS_N (&info) = layout->fps_n;
  GST_VIDEO_INFO_FPS_D (&info) = layout->fps_d;
  GST_VIDEO_INFO_MULTIVIEW_MODE (&info) = GST_VIDEO_MULTIVIEW_MODE_SIDE_BY_SIDE;
  GST_VIDEO_INFO_MULTIVIEW_FLAGS (&info) = GST_VIDEO_MULTIVIEW_FLAGS_NONE;
  if (GST_VIDEO_INFO_IS_YUV (&info) == GST_VIDEO_INFO_IS_YUV (&self->input))
    info.colorimetry = self->input.colorimetry;
  if (GST_VIDEO_INFO_IS_YUV (&info))
    info.chroma_site = self->input.chroma_site;
  gst_caps_append (caps, gst_video_info_to_caps (&info));
}

/* The formats in which a pair can be written, the preferred one first. */
static void
append_formats (GstStereoRectifyOutput *self, GstCaps *caps, gboolean grey)
{
  if (grey) {
    append_format (self, caps, GST_VIDEO_FORMAT_GRAY8);
  } else if (GST_VIDEO_INFO_IS_RGB (&self->input)) {
    append_format (self, caps, GST_VIDEO_INFO_FORMAT (&self->input));
  } else {
    append_format (self, caps, GST_VIDEO_FORMAT_I420);
    append_format (self, caps, GST_VIDEO_FORMAT_NV12);
  }
}

GstFlowReturn
gst_stereo_rectify_output_update_src_caps (GstStereoRectifyOutput *self, GstCaps *caps, GstCaps **result)
{
  if (!gst_stereo_rectify_maps_rectification (self->maps))
    return GST_AGGREGATOR_FLOW_NEED_DATA;
  g_autoptr (GstCaps) ours = gst_caps_new_empty ();
  append_formats (self, ours, GST_VIDEO_INFO_IS_GRAY (&self->input));
  /* in the order of downstream, which is ours where downstream takes any format */
  *result = gst_caps_intersect_full (caps, ours, GST_CAPS_INTERSECT_FIRST);
  return gst_caps_is_empty (*result) ? GST_FLOW_NOT_NEGOTIATED : GST_FLOW_OK;
}

gboolean
gst_stereo_rectify_output_negotiated_src_caps (GstStereoRectifyOutput *self, GstCaps *caps)
{
  self->negotiated = gst_video_info_from_caps (&self->out_info, caps);
  gst_stereo_aggregator_set_negotiated (self->base, self->negotiated);
  GST_DEBUG_OBJECT (self->base, "negotiated %" GST_PTR_FORMAT, caps);
  return self->negotiated;
}

/* Equal focal lengths along x and y mean that the pixels of a rectified view are square. */
static void
choose_aspect (GstStereoRectifyOutput *self, const GstStereoLayout *layout)
{
  const gdouble *projection = gst_stereo_rectify_maps_rectification (self->maps)->projection[0];

  self->out_par_n = layout->par_n;
  self->out_par_d = layout->par_d;
  if (fabs (projection[0] - projection[5]) < 1e-3 * projection[0])
    self->out_par_n = self->out_par_d = 1;
}

/* The input is grey where either view is. */
static void
describe_input (GstVideoInfo *input, const GstStereoFrame *left, const GstStereoFrame *right)
{
  *input = GST_VIDEO_INFO_IS_GRAY (&right->info) ? right->info : left->info;
}

static gboolean
out_is_for (GstStereoRectifyOutput *self, const GstStereoLayout *layout, const GstVideoInfo *input)
{
  const StereoRectification *rectification = gst_stereo_rectify_maps_rectification (self->maps);
  const GstVideoInfo *out = &self->out_info;
  gboolean grey = GST_VIDEO_INFO_IS_GRAY (input), rgb = GST_VIDEO_INFO_IS_RGB (input);

  return GST_VIDEO_INFO_WIDTH (out) == 2 * rectification->width &&
      GST_VIDEO_INFO_HEIGHT (out) == rectification->height && self->layout.fps_n == layout->fps_n &&
      self->layout.fps_d == layout->fps_d && self->layout.par_n == layout->par_n &&
      self->layout.par_d == layout->par_d && GST_VIDEO_INFO_IS_GRAY (out) == grey &&
      (!rgb || GST_VIDEO_INFO_FORMAT (out) == GST_VIDEO_INFO_FORMAT (input)) && GST_VIDEO_INFO_IS_RGB (out) == rgb &&
      gst_video_colorimetry_is_equal (&self->input.colorimetry, &input->colorimetry) &&
      self->input.chroma_site == input->chroma_site;
}

static GstFlowReturn
negotiate (GstStereoRectifyOutput *self, const GstStereoLayout *layout, const GstVideoInfo *input)
{
  const StereoRectification *rectification = gst_stereo_rectify_maps_rectification (self->maps);
  GstAggregator *aggregator = GST_AGGREGATOR (self->base);
  gboolean halved = !GST_VIDEO_INFO_IS_GRAY (input) && !GST_VIDEO_INFO_IS_RGB (input);

  if (self->negotiated && out_is_for (self, layout, input))
    return GST_FLOW_OK;
  if (halved && rectification->width % 2) {
    GST_ELEMENT_ERROR (self->base, CORE, NEGOTIATION,
        ("Rectified views of %dx%d pixels cannot lie side by side in I420 or NV12, where two columns share their "
         "colour: set width=%d, or put videoconvert ! video/x-raw,format=RGBx before.",
            rectification->width, rectification->height, rectification->width - 1),
        (NULL));
    return GST_FLOW_NOT_NEGOTIATED;
  }
  self->layout = *layout;
  self->input = *input;
  choose_aspect (self, layout);
  self->negotiated = FALSE;
  gst_stereo_aggregator_set_negotiated (self->base, FALSE);
  if (gst_aggregator_negotiate (aggregator) && self->negotiated)
    return GST_FLOW_OK;
  if (GST_PAD_IS_FLUSHING (aggregator->srcpad))
    return GST_FLOW_FLUSHING;
  GST_ELEMENT_ERROR (self->base, CORE, NEGOTIATION,
      ("What is linked downstream does not take two views side by side as %s of %dx%d pixels.",
          halved ? "I420 or NV12" : gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (input)),
          2 * rectification->width, rectification->height),
      (NULL));
  return GST_FLOW_NOT_NEGOTIATED;
}

/* ---- pairs ------------------------------------------------------------------------------- */

/* Two views become one frame: colours need one format. */
static gboolean
comparable (const GstStereoFrame *a, const GstStereoFrame *b)
{
  return !GST_VIDEO_INFO_IS_RGB (&a->info) || GST_VIDEO_INFO_FORMAT (&a->info) == GST_VIDEO_INFO_FORMAT (&b->info);
}

/* FALSE after an error was posted: a chroma sample on the border of the two views belongs to both of them. */
static gboolean
can_be_split (GstStereoRectifyOutput *self, const GstStereoFrame *frame)
{
  const GstVideoFormatInfo *format = frame->info.finfo;
  const GstStereoLayout *layout = &frame->layout;
  gboolean grey = GST_VIDEO_FORMAT_INFO_N_COMPONENTS (format) < 2;

  if (grey ||
      !((layout->packing == GST_STEREO_PACKING_SIDE_BY_SIDE && GST_VIDEO_FORMAT_INFO_W_SUB (format, 1) &&
            layout->width % 2) ||
          (layout->packing == GST_STEREO_PACKING_TOP_BOTTOM && GST_VIDEO_FORMAT_INFO_H_SUB (format, 1) &&
              layout->height % 2)))
    return TRUE;
  GST_ELEMENT_ERROR (self->base, CORE, NEGOTIATION,
      ("Frames of two views of %dx%d pixels cannot be split in %s, where pixels on the border of the views share their "
       "colour: put videoconvert ! video/x-raw,format=RGBx before.",
          layout->width, layout->height, gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (&frame->info))),
      (NULL));
  return FALSE;
}

static GstFlowReturn
prepare (GstStereoRectifyOutput *self, const GstStereoRectifySettings *settings, guint serial,
    const GstStereoFrame *left, const GstStereoFrame *right)
{
  GstStereoRectifyFormats formats = { GST_VIDEO_INFO_FORMAT (&left->info), GST_VIDEO_INFO_FORMAT (&right->info) };
  GstVideoInfo input;
  GstFlowReturn flow;

  if (!gst_stereo_rectify_maps_load (self->maps, settings, serial))
    return GST_FLOW_ERROR;
  if (!can_be_split (self, left))
    return GST_FLOW_NOT_NEGOTIATED;
  if ((flow = gst_stereo_rectify_maps_rectify (self->maps, settings, &left->layout)) != GST_FLOW_OK)
    return flow;
  describe_input (&input, left, right);
  if ((flow = negotiate (self, &left->layout, &input)) != GST_FLOW_OK)
    return flow;
  formats.out = GST_VIDEO_INFO_FORMAT (&self->out_info);
  formats.site = GST_VIDEO_INFO_CHROMA_SITE (&left->info);
  formats.full_range = GST_VIDEO_INFO_COLORIMETRY (&left->info).range == GST_VIDEO_COLOR_RANGE_0_255;
  if (!gst_stereo_drift_prepare (self->drift, serial, gst_stereo_rectify_maps_rectification (self->maps),
          left->layout.width, left->layout.height))
    gst_stereo_rectify_maps_forget_correction (self->maps);
  return gst_stereo_rectify_maps_prepare (self->maps, settings, &left->layout, &formats);
}

static GstFlowReturn
acquire (GstStereoRectifyOutput *self, GstBuffer **out)
{
  GstBufferPool *pool = gst_aggregator_get_buffer_pool (GST_AGGREGATOR (self->base));
  GstFlowReturn flow = GST_FLOW_ERROR;

  if (pool && gst_buffer_pool_set_active (pool, TRUE))
    flow = gst_buffer_pool_acquire_buffer (pool, out, NULL);
  if (flow == GST_FLOW_ERROR)
    GST_ELEMENT_ERROR (self->base, RESOURCE, NO_SPACE_LEFT,
        ("There is no memory for an output buffer of %dx%d pixels.", GST_VIDEO_INFO_WIDTH (&self->out_info),
            GST_VIDEO_INFO_HEIGHT (&self->out_info)),
        (NULL));
  gst_clear_object (&pool);
  return flow;
}

static void
add_meta (GstStereoRectifyOutput *self, GstBuffer *out, gint64 skew)
{
  const StereoRectification *rectification = gst_stereo_rectify_maps_rectification (self->maps);
  GstStereoMeta *meta = gst_buffer_add_stereo_meta (
      out, (guint) rectification->width, (guint) rectification->height, NULL);

  meta->kind = GST_STEREO_OUTPUT_KIND_VIEWS;
  meta->disparity_scale = 1;
  meta->depth_unit = 1000;
  meta->focal_length = rectification->focal_length;
  if (rectification->projection[0][5] != rectification->focal_length)
    meta->focal_length_y = rectification->projection[0][5];
  meta->baseline = rectification->baseline;
  meta->principal_offset = rectification->principal_offset;
  meta->principal_x = rectification->projection[0][2];
  meta->principal_y = rectification->projection[0][6];
  meta->pair_skew = skew;
}

/* Measures the drift of the pair in @out; the next pair may then have other maps. In a pipeline that is not live, we
 * wait for the maps, so that the same input gives the same output. */
static void
follow_drift (GstStereoRectifyOutput *self, const GstVideoFrame *out)
{
  gboolean live = GST_CLOCK_TIME_IS_VALID (gst_aggregator_get_latency (GST_AGGREGATOR (self->base)));
  const GstStereoLayout beside = { .packing = GST_STEREO_PACKING_SIDE_BY_SIDE,
    .width = GST_VIDEO_FRAME_WIDTH (out) / 2,
    .height = GST_VIDEO_FRAME_HEIGHT (out) };
  StereoImage left, right;
  guint64 ns;

  gst_stereo_layout_images (&beside, out, out, &left, &right);
  gst_stereo_drift_measure (self->drift, &left, &right);
  if (gst_stereo_rectify_maps_correct (self->maps, gst_stereo_drift_wanted (self->drift), !live, &ns))
    gst_stereo_drift_apply (self->drift, gst_stereo_rectify_maps_correction (self->maps), ns);
}

static GstFlowReturn
remap_mapped (GstStereoRectifyOutput *self, const GstStereoLayout *layout, const GstVideoFrame *first,
    const GstVideoFrame *second, GstBuffer *out, guint64 *compute_time)
{
  const gboolean follows = gst_stereo_drift_get_enabled (self->drift);
  const GstMapFlags access = follows ? GST_MAP_READWRITE : GST_MAP_WRITE;
  gint64 begin = g_get_monotonic_time ();
  GstVideoFrame mapped;

  if (!gst_stereo_map (&mapped, &self->out_info, out, access | GST_VIDEO_FRAME_MAP_FLAG_NO_REF)) {
    GST_ELEMENT_ERROR (self->base, RESOURCE, WRITE, ("An output buffer could not be written to."), (NULL));
    return GST_FLOW_ERROR;
  }
  gst_stereo_pool_clear_padding (&mapped);
  GstFlowReturn flow = gst_stereo_rectify_maps_run (self->maps, layout, first, second, &mapped, compute_time);
  if (flow == GST_FLOW_OK && follows) {
    follow_drift (self, &mapped);
    *compute_time = (guint64) (g_get_monotonic_time () - begin) * 1000;
  }
  gst_video_frame_unmap (&mapped);
  return flow;
}

static GstFlowReturn
remap_pair (GstStereoRectifyOutput *self, const GstStereoFrame *left, const GstStereoFrame *right, GstBuffer *out,
    guint64 *compute_time)
{
  GstVideoFrame mapped[2];
  GstFlowReturn flow = GST_FLOW_ERROR;

  if (!gst_stereo_map_input (GST_ELEMENT (self->base), &mapped[0], left, NULL))
    return GST_FLOW_ERROR;
  if (left == right) {
    flow = remap_mapped (self, &left->layout, &mapped[0], &mapped[0], out, compute_time);
  } else if (gst_stereo_map_input (GST_ELEMENT (self->base), &mapped[1], right, NULL)) {
    flow = remap_mapped (self, &left->layout, &mapped[0], &mapped[1], out, compute_time);
    gst_video_frame_unmap (&mapped[1]);
  }
  gst_video_frame_unmap (&mapped[0]);
  return flow;
}

GstFlowReturn
gst_stereo_rectify_output_process (GstStereoRectifyOutput *self, const GstStereoRectifySettings *settings, guint serial,
    GstStereoFrame *left, GstStereoFrame *right)
{
  GstStereoAggregator *base = self->base;
  GstBuffer *out = NULL;
  guint64 compute_time = 0;
  GstFlowReturn flow;

  if (!comparable (left, right))
    return gst_stereo_post_mismatch (GST_ELEMENT (base), left, right);
  if ((flow = prepare (self, settings, serial, left, right)) != GST_FLOW_OK ||
      (flow = acquire (self, &out)) != GST_FLOW_OK)
    return flow;
  if (gst_stereo_aggregator_drop_if_late (base, left, right, &flow)) {
    gst_buffer_unref (out);
    return flow;
  }
  gst_stereo_aggregator_decorate (base, out, left, right, FALSE);
  flow = remap_pair (self, left, right, out, &compute_time);
  if (flow != GST_FLOW_OK) {
    gst_buffer_unref (out);
    return flow;
  }
  add_meta (self, out, gst_stereo_frame_skew (left, right));
  return gst_stereo_aggregator_finish (base, &left->segment, out, compute_time);
}
