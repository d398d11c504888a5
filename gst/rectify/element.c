/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-stereorectify
 * @title: stereorectify
 *
 * Rectifies a raw camera pair: undistorts both views and rotates them, so that a point lies in the same row of both.
 *
 * The views come as stereomatch takes them: on `sink_left` and `sink_right`, or both in one frame on `sink`. Both views
 * go out side by side in one frame (`multiview-mode=side-by-side`), with the timestamps of the left one. Frames are
 * paired, dropped and reported as by stereomatch.
 *
 * #GstStereoRectify:calibration names what measured the cameras: a file of OpenCV (YAML or XML with M1 D1 M2 D2 and R
 * T, or R1 R2 P1 P2; also two files, "intrinsics.yml,extrinsics.yml"), or a pair of ROS' camera_info
 * ("left.yaml,right.yaml"). `pipelines/calibration.py` makes OpenCV's file of other formats. The calibration is scaled to
 * frames of another size of the same aspect. What the rectified pair then is (#GstStereoRectify:focal-length,
 * #GstStereoRectify:baseline, #GstStereoRectify:principal-offset) goes with every buffer as a #GstStereoMeta of kind views,
 * from which stereomatch takes it: `output=depth` needs no further property. Numbers that make no sense, or are of other
 * pictures, are warned of on the bus; docs/calibrating.md has a table. `align=auto` of stereomatch follows a right view
 * that moves up or down against the left one, by heat or vibration.
 *
 * GRAY8 and the RGB formats come out as they went in; grey of more bits comes out as GRAY8, of the bits that the picture
 * uses (#GstStereoRectify:significant-bits). I420, NV12, YUY2 and UYVY come out as I420, or NV12 where
 * downstream wants that; chroma lies where the input's chroma-site says, or left and in between rows as MPEG-2 has it
 * where it says nothing. What the raw picture does not show is black. Frames are read from system memory.
 *
 * Properties take effect with the next pair, those set by one g_object_set() together; a calibration that cannot be
 * used is an error.
 *
 * ## Examples
 * |[
 * gst-launch-1.0 stereorectify name=r calibration=stereo.yml unit=25 ! stereomatch output=depth ! fakesink \
 *     v4l2src device=/dev/video0 ! videoconvert ! r.sink_left  v4l2src device=/dev/video2 ! videoconvert ! r.sink_right
 * gst-launch-1.0 v4l2src ! video/x-raw,width=2560,height=720 ! \
 *     stereorectify calibration=left.yaml,right.yaml alpha=0 ! videoconvert ! autovideosink
 * ]|
 */

#include <math.h>
#include <string.h>

#include "gst/meta/gststereometa.h"
#include "gst/meta/map.h"
#include "gst/pairing/aggregator.h"
#include "gst/rectify/maps.h"
#include "gst/video/params.h"
#include "gst/video/pool.h"

GST_ELEMENT_REGISTER_DECLARE (stereorectify);
#define GST_TYPE_STEREO_RECTIFY (gst_stereo_rectify_get_type ())
G_DECLARE_FINAL_TYPE (GstStereoRectify, gst_stereo_rectify, GST, STEREO_RECTIFY, GstStereoAggregator)

GST_DEBUG_CATEGORY (gst_stereo_rectify_debug);

struct _GstStereoRectify
{
  GstStereoAggregator parent;

  /* protected by the object lock */
  GstStereoRectifySettings pending; /* as set; becomes settings when a batch of properties is complete */
  GstStereoRectifySettings settings;
  guint serial;                    /* of settings: another one after each change */
  GstStereoRectifyResults results; /* of maps */

  GstStereoRectifyMaps *maps; /* from the calibration to remapped frames */

  /* of the source pad's task */
  GstStereoLayout layout; /* of the last pair: its raw views */
  GstVideoInfo input;     /* of that pair: its colours */
  gboolean negotiated;    /* the source pad has caps */
  GstVideoInfo out_info;
  gint out_par_n, out_par_d;
};

#define OUTPUT_FORMATS "{ I420, NV12, GRAY8, RGB, BGR, RGBx, BGRx, RGBA, BGRA }"

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
    GST_STATIC_CAPS (GST_VIDEO_CAPS_MAKE (OUTPUT_FORMATS) ", multiview-mode = (string) side-by-side"));

G_DEFINE_TYPE (GstStereoRectify, gst_stereo_rectify, GST_TYPE_STEREO_AGGREGATOR)
GST_ELEMENT_REGISTER_DEFINE (stereorectify, "stereorectify", GST_RANK_NONE, GST_TYPE_STEREO_RECTIFY)

/* ---- settings ---------------------------------------------------------------------------- */

/* A deep copy; clear it. */
static GstStereoRectifySettings
copy_settings (const GstStereoRectifySettings *settings)
{
  GstStereoRectifySettings copy = *settings;

  copy.calibration = g_strdup (settings->calibration);
  copy.save = g_strdup (settings->save);
  return copy;
}

static void
clear_settings (GstStereoRectifySettings *settings)
{
  g_clear_pointer (&settings->calibration, g_free);
  g_clear_pointer (&settings->save, g_free);
}

static gboolean
settings_are_equal (const GstStereoRectifySettings *a, const GstStereoRectifySettings *b)
{
  return g_strcmp0 (a->calibration, b->calibration) == 0 && g_strcmp0 (a->save, b->save) == 0 &&
      a->calibration_width == b->calibration_width && a->calibration_height == b->calibration_height &&
      a->alpha == b->alpha && a->unit == b->unit && a->width == b->width && a->height == b->height &&
      memcmp (&a->params, &b->params, sizeof a->params) == 0;
}

/* A copy to work with; clear it. */
static GstStereoRectifySettings
current_settings (GstStereoRectify *self, guint *serial)
{
  GstStereoRectifySettings settings;

  GST_OBJECT_LOCK (self);
  settings = copy_settings (&self->settings);
  *serial = self->serial;
  GST_OBJECT_UNLOCK (self);
  return settings;
}

/* ---- caps -------------------------------------------------------------------------------- */

static void
append_format (GstStereoRectify *self, GstCaps *caps, GstVideoFormat format)
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
append_formats (GstStereoRectify *self, GstCaps *caps, gboolean grey)
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

static GstFlowReturn
gst_stereo_rectify_update_src_caps (GstAggregator *aggregator, GstCaps *caps, GstCaps **result)
{
  GstStereoRectify *self = GST_STEREO_RECTIFY (aggregator);

  if (!gst_stereo_rectify_maps_rectification (self->maps))
    return GST_AGGREGATOR_FLOW_NEED_DATA;
  g_autoptr (GstCaps) ours = gst_caps_new_empty ();
  append_formats (self, ours, GST_VIDEO_INFO_IS_GRAY (&self->input));
  /* in the order of downstream, which is ours where downstream takes any format */
  *result = gst_caps_intersect_full (caps, ours, GST_CAPS_INTERSECT_FIRST);
  return gst_caps_is_empty (*result) ? GST_FLOW_NOT_NEGOTIATED : GST_FLOW_OK;
}

static gboolean
gst_stereo_rectify_negotiated_src_caps (GstAggregator *aggregator, GstCaps *caps)
{
  GstStereoRectify *self = GST_STEREO_RECTIFY (aggregator);

  self->negotiated = gst_video_info_from_caps (&self->out_info, caps);
  GST_DEBUG_OBJECT (self, "negotiated %" GST_PTR_FORMAT, caps);
  return self->negotiated;
}

static gboolean
out_is_for (GstStereoRectify *self, const GstStereoLayout *layout, const GstVideoInfo *input)
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
negotiate (GstStereoRectify *self, const GstStereoLayout *layout, const GstVideoInfo *input)
{
  const StereoRectification *rectification = gst_stereo_rectify_maps_rectification (self->maps);
  const gdouble *projection = rectification->projection[0];
  GstAggregator *aggregator = GST_AGGREGATOR (self);
  gboolean halved = !GST_VIDEO_INFO_IS_GRAY (input) && !GST_VIDEO_INFO_IS_RGB (input);

  if (self->negotiated && out_is_for (self, layout, input))
    return GST_FLOW_OK;
  if (halved && rectification->width % 2) {
    GST_ELEMENT_ERROR (self, CORE, NEGOTIATION,
        ("Rectified views of %dx%d pixels cannot lie side by side in I420 or NV12, where two columns share their "
         "colour: set width=%d, or put videoconvert ! video/x-raw,format=RGBx before.",
            rectification->width, rectification->height, rectification->width - 1),
        (NULL));
    return GST_FLOW_NOT_NEGOTIATED;
  }
  self->layout = *layout;
  self->input = *input;
  /* equal focal lengths along x and y mean that the pixels of a rectified view are square */
  gboolean square = fabs (projection[0] - projection[5]) < 1e-3 * projection[0];
  self->out_par_n = square ? 1 : layout->par_n;
  self->out_par_d = square ? 1 : layout->par_d;
  self->negotiated = FALSE;
  if (gst_aggregator_negotiate (aggregator) && self->negotiated)
    return GST_FLOW_OK;
  if (GST_PAD_IS_FLUSHING (aggregator->srcpad))
    return GST_FLOW_FLUSHING;
  GST_ELEMENT_ERROR (self, CORE, NEGOTIATION,
      ("What is linked downstream does not take two views side by side as %s of %dx%d pixels.",
          halved ? "I420 or NV12" : gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (input)),
          2 * rectification->width, rectification->height),
      (NULL));
  return GST_FLOW_NOT_NEGOTIATED;
}

static gboolean
gst_stereo_rectify_decide_allocation (GstAggregator *aggregator, GstQuery *query)
{
  return gst_stereo_pool_decide (query, NULL);
}

/* ---- pairs ------------------------------------------------------------------------------- */

/* FALSE after an error was posted: a chroma sample on the border of the two views belongs to both of them. */
static gboolean
can_be_split (GstStereoRectify *self, const GstStereoFrame *frame)
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
  GST_ELEMENT_ERROR (self, CORE, NEGOTIATION,
      ("Frames of two views of %dx%d pixels cannot be split in %s, where pixels on the border of the views share their "
       "colour: put videoconvert ! video/x-raw,format=RGBx before.",
          layout->width, layout->height, gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (&frame->info))),
      (NULL));
  return FALSE;
}

static GstFlowReturn
prepare (GstStereoRectify *self, const GstStereoRectifySettings *settings, guint serial, const GstStereoFrame *left,
    const GstStereoFrame *right)
{
  GstStereoRectifyFormats formats = { GST_VIDEO_INFO_FORMAT (&left->info), GST_VIDEO_INFO_FORMAT (&right->info) };
  /* the input is grey where either view is */
  const GstVideoInfo *input = GST_VIDEO_INFO_IS_GRAY (&right->info) ? &right->info : &left->info;
  GstFlowReturn flow;

  if (!gst_stereo_rectify_maps_load (self->maps, settings, serial))
    return GST_FLOW_ERROR;
  if (!can_be_split (self, left))
    return GST_FLOW_NOT_NEGOTIATED;
  if ((flow = gst_stereo_rectify_maps_rectify (self->maps, settings, &left->layout)) != GST_FLOW_OK)
    return flow;
  if ((flow = negotiate (self, &left->layout, input)) != GST_FLOW_OK)
    return flow;
  formats.out = GST_VIDEO_INFO_FORMAT (&self->out_info);
  formats.site = GST_VIDEO_INFO_CHROMA_SITE (&left->info);
  formats.full_range = GST_VIDEO_INFO_COLORIMETRY (&left->info).range == GST_VIDEO_COLOR_RANGE_0_255;
  return gst_stereo_rectify_maps_prepare (self->maps, settings, &left->layout, &formats);
}

static GstFlowReturn
acquire (GstStereoRectify *self, GstBuffer **out)
{
  GstBufferPool *pool = gst_aggregator_get_buffer_pool (GST_AGGREGATOR (self));
  GstFlowReturn flow = GST_FLOW_ERROR;

  if (pool && gst_buffer_pool_set_active (pool, TRUE))
    flow = gst_buffer_pool_acquire_buffer (pool, out, NULL);
  if (flow == GST_FLOW_ERROR)
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
        ("There is no memory for an output buffer of %dx%d pixels.", GST_VIDEO_INFO_WIDTH (&self->out_info),
            GST_VIDEO_INFO_HEIGHT (&self->out_info)),
        (NULL));
  gst_clear_object (&pool);
  return flow;
}

static void
add_meta (GstStereoRectify *self, GstBuffer *out, gint64 skew)
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

/* @right is @left where one frame holds both views. */
static GstFlowReturn
remap_pair (GstStereoRectify *self, const GstStereoFrame *left, const GstStereoFrame *right, GstBuffer *out,
    guint64 *compute_time)
{
  GstElement *element = GST_ELEMENT (self);
  GstFlowReturn flow = GST_FLOW_ERROR;
  GstVideoFrame in[2], mapped;

  if (!gst_stereo_map_input (element, &in[0], left, NULL))
    return GST_FLOW_ERROR;
  if (left == right || gst_stereo_map_input (element, &in[1], right, NULL)) {
    if (gst_stereo_map (&mapped, &self->out_info, out, GST_MAP_WRITE | GST_VIDEO_FRAME_MAP_FLAG_NO_REF)) {
      gst_stereo_pool_clear_padding (&mapped);
      flow = gst_stereo_rectify_maps_run (
          self->maps, &left->layout, &in[0], left == right ? &in[0] : &in[1], &mapped, compute_time);
      gst_video_frame_unmap (&mapped);
    } else {
      GST_ELEMENT_ERROR (self, RESOURCE, WRITE, ("An output buffer could not be written to."), (NULL));
    }
    if (left != right)
      gst_video_frame_unmap (&in[1]);
  }
  gst_video_frame_unmap (&in[0]);
  return flow;
}

static GstFlowReturn
rectify_pair (GstStereoRectify *self, const GstStereoRectifySettings *settings, guint serial, GstStereoFrame *left,
    GstStereoFrame *right)
{
  GstStereoAggregator *base = &self->parent;
  GstBuffer *out = NULL;
  guint64 compute_time = 0;
  GstFlowReturn flow;

  /* two views become one frame: colours need one format */
  if (GST_VIDEO_INFO_IS_RGB (&left->info) &&
      GST_VIDEO_INFO_FORMAT (&left->info) != GST_VIDEO_INFO_FORMAT (&right->info)) {
    g_autofree gchar *text = gst_stereo_describe_mismatch (left, right);
    GST_ELEMENT_ERROR (self, CORE, NEGOTIATION, ("%s", text), (NULL));
    return GST_FLOW_NOT_NEGOTIATED;
  }
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

static GstFlowReturn
gst_stereo_rectify_process (GstStereoAggregator *base, GstStereoFrame *left, GstStereoFrame *right)
{
  GstStereoRectify *self = GST_STEREO_RECTIFY (base);
  const GstStereoFrame *timed = GST_BUFFER_PTS_IS_VALID (left->buffer) ? left : right;
  guint serial;

  gst_stereo_follow_controls (self, &timed->segment, GST_BUFFER_PTS (timed->buffer));
  GstStereoRectifySettings settings = current_settings (self, &serial);
  GstFlowReturn flow = rectify_pair (self, &settings, serial, left, right);
  clear_settings (&settings);
  return flow;
}

/* ---- start, stop ------------------------------------------------------------------------- */

static gboolean
gst_stereo_rectify_start (GstAggregator *aggregator)
{
  GstStereoRectify *self = GST_STEREO_RECTIFY (aggregator);
  gboolean loaded = FALSE;
  gchar reason[256];
  guint serial;

  GST_OBJECT_LOCK (self);
  memset (&self->results, 0, sizeof self->results);
  GST_OBJECT_UNLOCK (self);
  if (!GST_AGGREGATOR_CLASS (gst_stereo_rectify_parent_class)->start (aggregator))
    return FALSE;
  GstStereoRectifySettings settings = current_settings (self, &serial);
  if (settings.params.backend == STEREO_BACKEND_CUDA &&
      !stereo_backend_available (STEREO_BACKEND_CUDA, settings.params.cuda_device_id, reason, sizeof reason))
    GST_ELEMENT_ERROR (self, RESOURCE, NOT_FOUND, ("backend=cuda was asked for, and cannot be had: %s", reason),
        ("Set backend=cpu, or auto."));
  else
    loaded = gst_stereo_rectify_maps_load (self->maps, &settings, serial);
  clear_settings (&settings);
  return loaded;
}

static GstStructure *
make_stats (GstStereoRectify *self)
{
  GstStereoPairStats stats;

  gst_stereo_aggregator_get_stats (&self->parent, &stats);
  return gst_structure_new ("stereorectify-stats", "pairs", G_TYPE_UINT64, stats.pairs, "dropped-left", G_TYPE_UINT64,
      stats.dropped_left, "dropped-right", G_TYPE_UINT64, stats.dropped_right, "late", G_TYPE_UINT64, stats.late,
      "pairing-clock", G_TYPE_STRING, stats.pairing_clock, "compute-time", G_TYPE_UINT64, stats.compute_last,
      "compute-time-mean", G_TYPE_UINT64, stats.pairs ? stats.compute_total / stats.pairs : (guint64) 0, NULL);
}

static gboolean
gst_stereo_rectify_stop (GstAggregator *aggregator)
{
  GstStereoRectify *self = GST_STEREO_RECTIFY (aggregator);
  g_autoptr (GstStructure) stats = make_stats (self);

  gst_stereo_rectify_maps_clear (self->maps);
  self->negotiated = FALSE;
  GST_INFO_OBJECT (self, "%" GST_PTR_FORMAT, stats);
  return GST_AGGREGATOR_CLASS (gst_stereo_rectify_parent_class)->stop (aggregator);
}

/* ---- properties -------------------------------------------------------------------------- */

static void
get_stats (GstElement *element, gpointer instance, GValue *value)
{
  g_value_take_boxed (value, make_stats (instance));
}

#define ROW(name_, kind_, member) \
  .name = name_, .kind = GST_STEREO_##kind_, .offset = G_STRUCT_OFFSET (GstStereoRectify, member)

static const GstStereoProperty properties[] = {
  { ROW ("calibration", STRING, pending.calibration), .flags = GST_STEREO_PLAYING,
      .blurb = "File with the calibration of both cameras (OpenCV, YAML or XML), or one for each as left,right "
               "(ROS' camera_info); must be set. calibration.py makes OpenCV's file of other formats: "
               "docs/calibrating.md" },
  { ROW ("calibration-width", INT, pending.calibration_width), .flags = GST_STEREO_PLAYING, .max = STEREO_REMAP_MAX_SIDE,
      .blurb = "Width in pixels of the pictures that the calibration was made of, from which it is scaled to the "
               "frames; 0 = as the file says, or that of the frames" },
  { ROW ("calibration-height", INT, pending.calibration_height), .flags = GST_STEREO_PLAYING,
      .max = STEREO_REMAP_MAX_SIDE,
      .blurb = "Height in pixels of the pictures that the calibration was made of; see calibration-width" },
  { ROW ("alpha", DOUBLE, pending.alpha), .flags = GST_STEREO_CONTROLLED, .min = -1, .max = 1, .initial = -1,
      .blurb = "How much of the raw pictures to show: 0 = only what both of them show (cropped), 1 = all of both (with "
               "black borders); -1 = as P1 and P2 of the calibration say, or 0 where it has none" },
  { ROW ("width", INT, pending.width), .flags = GST_STEREO_CONTROLLED, .max = STEREO_REMAP_MAX_SIDE / 2,
      .blurb = "Width of a rectified view in pixels; 0 = that of a raw view, or what the calibration says" },
  { ROW ("height", INT, pending.height), .flags = GST_STEREO_CONTROLLED, .max = STEREO_REMAP_MAX_SIDE / 2,
      .blurb = "Height of a rectified view in pixels; 0 = that of a raw view, or what the calibration says" },
  { ROW ("unit", DOUBLE, pending.unit), .flags = GST_STEREO_CONTROLLED, .max = 1e9,
      .blurb = "Millimetres per unit of length in the calibration, as a metre or a square of the chessboard; 0 = "
               "default of the format: 1 for OpenCV, 1000 for ROS" },
  { ROW ("save", STRING, pending.save), .flags = GST_STEREO_PLAYING,
      .blurb = "File to write the calibration to, with the rectification in force (R1 R2 P1 P2 Q, millimetres), as "
               "YAML of OpenCV; NULL = none" },
  { ROW ("active-backend", STRING, results.backend), .flags = G_PARAM_READABLE,
      .blurb = "Backend in use: cpu or cuda; NULL before the first pair" },
  { .name = "stats",
      .kind = GST_STEREO_STRUCTURE,
      .flags = G_PARAM_READABLE,
      .get = get_stats,
      .blurb = "What was counted and measured since the start; docs/streams.md has a table of the fields" },
  { ROW ("focal-length", DOUBLE, results.geometry[0]), .flags = G_PARAM_READABLE, .max = G_MAXDOUBLE,
      .blurb = "Horizontal focal length of the rectified views in pixels; 0 before the first pair" },
  { ROW ("baseline", DOUBLE, results.geometry[1]), .flags = G_PARAM_READABLE, .max = G_MAXDOUBLE,
      .blurb = "Distance between the cameras in millimetres; 0 before the first pair" },
  { ROW ("principal-offset", DOUBLE, results.geometry[2]), .flags = G_PARAM_READABLE, .min = -G_MAXDOUBLE,
      .max = G_MAXDOUBLE,
      .blurb = "Pixels to add to a disparity before it becomes depth: x of the right "
               "principal point minus the left's" },
  { .name = NULL },
};

static void
install_properties (GObjectClass *klass)
{
  static const gchar *const of_engine[] = { "backend", "cuda-device-id", "threads", NULL };

  gst_stereo_properties_install (klass, properties, 0, FALSE);
  gst_stereo_properties_install (klass,
      gst_stereo_params_rows (of_engine, G_STRUCT_OFFSET (GstStereoRectify, pending.params), GST_STEREO_PLAYING), 0,
      FALSE);
}

/* Runs once when a g_object_set() of several properties is through: a calibration and the unit that goes with it take
 * effect together. */
static void
gst_stereo_rectify_dispatch_properties_changed (GObject *object, guint count, GParamSpec **specs)
{
  GstStereoRectify *self = GST_STEREO_RECTIFY (object);

  GST_OBJECT_LOCK (self);
  if (!settings_are_equal (&self->pending, &self->settings)) {
    clear_settings (&self->settings);
    self->settings = copy_settings (&self->pending);
    self->serial++;
  }
  GST_OBJECT_UNLOCK (self);
  G_OBJECT_CLASS (gst_stereo_rectify_parent_class)->dispatch_properties_changed (object, count, specs);
}

static void
gst_stereo_rectify_finalize (GObject *object)
{
  GstStereoRectify *self = GST_STEREO_RECTIFY (object);

  gst_stereo_rectify_maps_free (self->maps);
  clear_settings (&self->pending);
  clear_settings (&self->settings);
  G_OBJECT_CLASS (gst_stereo_rectify_parent_class)->finalize (object);
}

static GstCaps *
gst_stereo_rectify_input_caps (GstStereoAggregator *base)
{
  GstCaps *caps = gst_caps_from_string (GST_VIDEO_CAPS_MAKE (GST_STEREO_FORMATS));

  /* not those of colour, which the output would lose: videoconvert makes 8 bits of them */
  gst_caps_append (caps, gst_caps_from_string (GST_VIDEO_CAPS_MAKE ("{ " GST_STEREO_DEEP_GRAYS " }")));
  return caps;
}

static void
gst_stereo_rectify_class_init (GstStereoRectifyClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstAggregatorClass *aggregator_class = GST_AGGREGATOR_CLASS (klass);
  GstStereoAggregatorClass *base_class = GST_STEREO_AGGREGATOR_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (gst_stereo_rectify_debug, "stereorectify", 0, "stereo rectification");

  object_class->dispatch_properties_changed = gst_stereo_rectify_dispatch_properties_changed;
  object_class->finalize = gst_stereo_rectify_finalize;
  install_properties (object_class);

  gst_stereo_aggregator_class_add_templates (element_class, gst_stereo_rectify_input_caps (NULL));
  gst_element_class_add_static_pad_template_with_gtype (element_class, &src_template, GST_TYPE_AGGREGATOR_PAD);
  gst_element_class_set_static_metadata (element_class, "Stereo rectifier", "Filter/Effect/Video/Stereo",
      "Undistorts and aligns the two views of a calibrated camera pair: one each on sink_left and sink_right, or both "
      "in one frame on sink. Output: both side by side, with the numbers that make disparity depth",
      "gst-stereo");

  aggregator_class->start = gst_stereo_rectify_start;
  aggregator_class->stop = gst_stereo_rectify_stop;
  aggregator_class->update_src_caps = gst_stereo_rectify_update_src_caps;
  aggregator_class->negotiated_src_caps = gst_stereo_rectify_negotiated_src_caps;
  aggregator_class->decide_allocation = gst_stereo_rectify_decide_allocation;
  base_class->input_caps = gst_stereo_rectify_input_caps;
  base_class->process = gst_stereo_rectify_process;
}

static void
gst_stereo_rectify_init (GstStereoRectify *self)
{
  stereo_params_init (&self->pending.params);
  gst_stereo_properties_init (G_OBJECT (self));
  self->settings = self->pending;
  self->serial = 1;
  self->maps = gst_stereo_rectify_maps_new (GST_ELEMENT (self), &self->results);
}
