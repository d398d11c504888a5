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
 * T, or R1 R2 P1 P2; also two files, "intrinsics.yml,extrinsics.yml"), of ROS (a pair of camera_info files or messages,
 * "left.yaml,right.yaml", or ost.txt), Kalibr, EuRoC ("cam0.yaml,cam1.yaml"), ORB-SLAM, ZED, KITTI or Middlebury. Lenses
 * are pinhole models (plumb_bob, rational_polynomial) or equidistant (fisheye). The calibration is scaled to frames of
 * another size of the same aspect, from #GstStereoRectify:calibration-width x #GstStereoRectify:calibration-height where
 * these are set. What the rectified pair then is (#GstStereoRectify:focal-length, #GstStereoRectify:baseline,
 * #GstStereoRectify:principal-offset) goes with every buffer as a #GstStereoMeta of kind views, from which stereomatch
 * takes it: `output=depth` needs no further property. A baseline or a focal length that makes no sense, as of lengths
 * that were counted in squares of a chessboard, is warned of on the bus, with the #GstStereoRectify:unit that would make
 * sense. So are numbers that are of pictures of another size, and lens models that do not hold up to the corners of the
 * picture. #GstStereoRectify:save writes the calibration with the rectification in force to a file of OpenCV (M1 D1 M2 D2
 * R T R1 R2 P1 P2 Q, millimetres), which this element and `cv::FileStorage` read.
 *
 * GRAY8 and the RGB formats come out as they went in; grey of more bits comes out as GRAY8, of the bits that the picture
 * uses (#GstStereoRectify:significant-bits). I420, NV12, YUY2 and UYVY come out as I420, or NV12 where
 * downstream wants that; chroma lies where the input's chroma-site says, or left and in between rows as MPEG-2 has it
 * where it says nothing. What the raw picture does not show is black. Frames are read from system memory.
 *
 * A calibration is for cameras that stay as they were measured. With #GstStereoRectify:auto-align the element follows the
 * right view where it moves up or down against the left one, or turns, slowly: by heat, by vibration. Points of each pair
 * that goes out are matched, a row of them in each pair, by the estimator of stereomatch align=auto. What they are off by
 * is taken out by new maps, in steps of at most 1/4 px that are at least 8 pairs apart. In a live pipeline these are made
 * in a thread of their own, while frames go through the maps at hand. At most 4 px or 1/120 of the height are taken out,
 * whichever is more; beyond that a warning asks for another calibration. Nothing is done where too few points are found,
 * where they contradict each other, and below about 0.1 px. What was found stays over flushes, seeks, discontinuities,
 * PAUSED and scenes without texture. It goes when another property of the element is set (not those of pairing), when
 * frames of another size come, when auto-align is turned off, and at the stop. The message `stereo-align` tells when 0.1
 * px more or less are taken out: `state` (`follows`, `limit`), `align-offset`, `align-offset-max`, `align-roll`,
 * `align-left-over` and `align-points` as in #GstStereoRectify:stats, `limit` (px) and `text`. A file of
 * #GstStereoRectify:save has the calibration without what auto-align takes out.
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
#include "gst/rectify/element.h"

#include "gst/pairing/deep.h"
#include "gst/rectify/debug.h"
#include "gst/rectify/drift.h"
#include "gst/rectify/maps.h"
#include "gst/rectify/output.h"
#include "gst/video/pool.h"
#include "gst/video/params.h"

GST_DEBUG_CATEGORY (gst_stereo_rectify_debug);

struct _GstStereoRectify
{
  GstStereoAggregator parent;

  /* protected by the object lock */
  GstStereoRectifySettings pending; /* as set; becomes settings when a batch of properties is complete */
  GstStereoRectifySettings settings;
  guint serial; /* of settings: another one after each change */
  gboolean auto_align;
  GstStereoRectifyResults results; /* of maps */

  GstStereoRectifyMaps *maps;     /* from the calibration to remapped frames */
  GstStereoDrift *drift;          /* auto-align */
  GstStereoRectifyOutput *output; /* from a pair to an output buffer */
};

#define OUTPUT_FORMATS "{ I420, NV12, GRAY8, RGB, BGR, RGBx, BGRx, RGBA, BGRA }"

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
    GST_STATIC_CAPS (GST_VIDEO_CAPS_MAKE (OUTPUT_FORMATS) ", multiview-mode = (string) side-by-side"));

G_DEFINE_TYPE (GstStereoRectify, gst_stereo_rectify, GST_TYPE_STEREO_AGGREGATOR)
GST_ELEMENT_REGISTER_DEFINE (stereorectify, "stereorectify", GST_RANK_NONE, GST_TYPE_STEREO_RECTIFY)

/* A copy to work with; clear it. */
static GstStereoRectifySettings
current_settings (GstStereoRectify *self, guint *serial)
{
  GstStereoRectifySettings settings;

  GST_OBJECT_LOCK (self);
  settings = gst_stereo_rectify_settings_copy (&self->settings);
  *serial = self->serial;
  GST_OBJECT_UNLOCK (self);
  return settings;
}

/* ---- caps, pairs ------------------------------------------------------------------------- */

static GstFlowReturn
gst_stereo_rectify_update_src_caps (GstAggregator *aggregator, GstCaps *caps, GstCaps **result)
{
  return gst_stereo_rectify_output_update_src_caps (GST_STEREO_RECTIFY (aggregator)->output, caps, result);
}

static gboolean
gst_stereo_rectify_negotiated_src_caps (GstAggregator *aggregator, GstCaps *caps)
{
  return gst_stereo_rectify_output_negotiated_src_caps (GST_STEREO_RECTIFY (aggregator)->output, caps);
}

static gboolean
gst_stereo_rectify_decide_allocation (GstAggregator *aggregator, GstQuery *query)
{
  return gst_stereo_pool_decide (query, NULL);
}

static GstFlowReturn
gst_stereo_rectify_process (GstStereoAggregator *base, GstStereoFrame *left, GstStereoFrame *right)
{
  GstStereoRectify *self = GST_STEREO_RECTIFY (base);
  const GstStereoFrame *timed = GST_BUFFER_PTS_IS_VALID (left->buffer) ? left : right;
  guint serial;

  gst_stereo_follow_controls (self, &timed->segment, GST_BUFFER_PTS (timed->buffer));
  GstStereoRectifySettings settings = current_settings (self, &serial);
  GstFlowReturn flow = gst_stereo_rectify_output_process (self->output, &settings, serial, left, right);
  gst_stereo_rectify_settings_clear (&settings);
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

  gst_stereo_rectify_maps_reset_results (self->maps);
  if (!GST_AGGREGATOR_CLASS (gst_stereo_rectify_parent_class)->start (aggregator))
    return FALSE;
  GstStereoRectifySettings settings = current_settings (self, &serial);
  if (settings.params.backend == STEREO_BACKEND_CUDA &&
      !stereo_backend_available (STEREO_BACKEND_CUDA, settings.params.cuda_device_id, reason, sizeof reason))
    GST_ELEMENT_ERROR (self, RESOURCE, NOT_FOUND, ("backend=cuda was asked for, and cannot be had: %s", reason),
        ("Set backend=cpu, or auto."));
  else
    loaded = gst_stereo_rectify_maps_load (self->maps, &settings, serial);
  gst_stereo_rectify_settings_clear (&settings);
  return loaded;
}

static GstStructure *
make_stats (GstStereoRectify *self)
{
  GstStereoPairStats stats;

  gst_stereo_aggregator_get_stats (&self->parent, &stats);
  GstStructure *made = gst_structure_new ("stereorectify-stats", "pairs", G_TYPE_UINT64, stats.pairs, "dropped-left",
      G_TYPE_UINT64, stats.dropped_left, "dropped-right", G_TYPE_UINT64, stats.dropped_right, "late", G_TYPE_UINT64,
      stats.late, "pairing-clock", G_TYPE_STRING, stats.pairing_clock, "compute-time", G_TYPE_UINT64, stats.compute_last,
      "compute-time-mean", G_TYPE_UINT64, stats.pairs ? stats.compute_total / stats.pairs : (guint64) 0, NULL);
  gst_stereo_drift_add_stats (self->drift, made);
  return made;
}

static gboolean
gst_stereo_rectify_stop (GstAggregator *aggregator)
{
  GstStereoRectify *self = GST_STEREO_RECTIFY (aggregator);
  g_autoptr (GstStructure) stats = make_stats (self);

  gst_stereo_rectify_maps_clear (self->maps);
  gst_stereo_drift_stop (self->drift);
  gst_stereo_rectify_output_stop (self->output);
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
      .blurb = "File with the calibration of both cameras (OpenCV, ROS, Kalibr, ORB-SLAM, ZED, KITTI or Middlebury), or "
               "one for each as left,right (ROS, EuRoC); must be set. docs/calibrating.md has a table of the formats" },
  { ROW ("cameras", STRING, pending.cameras), .flags = GST_STEREO_PLAYING,
      .blurb = "Numbers of the left and the right camera in a file that has more than two (KITTI, Kalibr): 2,3 is KITTI's "
               "colour pair; NULL = the first two" },
  { ROW ("calibration-width", INT, pending.calibration_width), .flags = GST_STEREO_PLAYING, .max = STEREO_REMAP_MAX_SIDE,
      .blurb = "Width in pixels of the pictures that the calibration was made of, where the file does not say it or says "
               "another one; the calibration is scaled from there to the frames; 0 = as the file says, or that of the "
               "frames" },
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
      .blurb = "Millimetres per unit of length in the calibration: 1000 for metres, or the side of a chessboard square "
               "where lengths are counted in squares; 0 = default of the format: 1 for OpenCV, ZED and "
               "Middlebury, 1000 for the others" },
  { ROW ("save", STRING, pending.save), .flags = GST_STEREO_PLAYING,
      .blurb = "File to write the calibration to, with the rectification in force (R1 R2 P1 P2 Q, millimetres), as "
               "YAML of OpenCV; NULL = none" },
  { ROW ("auto-align", BOOLEAN, auto_align), .flags = GST_STEREO_PLAYING,
      .blurb = "Follow a slow vertical offset and roll of the right view against the left one (vibration, heat), and "
               "take it out by other maps: by at most 4 pixels or 1/120 of the height, whichever is more, and in steps "
               "of at most a quarter of a pixel. See stats and the message stereo-align" },
  { ROW ("active-backend", STRING, results.backend), .flags = G_PARAM_READABLE,
      .blurb = "Backend in use: cpu or cuda; NULL before the first pair" },
  { .name = "stats",
      .kind = GST_STEREO_STRUCTURE,
      .flags = G_PARAM_READABLE,
      .get = get_stats,
      .blurb = "What was counted and measured since the start, and what auto-align takes out now; docs/streams.md has "
               "a table of the fields" },
  { ROW ("focal-length", DOUBLE, results.focal_length), .flags = G_PARAM_READABLE, .max = G_MAXDOUBLE,
      .blurb = "Horizontal focal length of the rectified views in pixels; 0 before the first pair" },
  { ROW ("baseline", DOUBLE, results.baseline), .flags = G_PARAM_READABLE, .max = G_MAXDOUBLE,
      .blurb = "Distance between the cameras in millimetres; 0 before the first pair" },
  { ROW ("principal-offset", DOUBLE, results.principal_offset), .flags = G_PARAM_READABLE, .min = -G_MAXDOUBLE,
      .max = G_MAXDOUBLE,
      .blurb = "Pixels to add to a disparity before it becomes depth: x of the right "
               "principal point minus the left's" },
  { .name = NULL },
};

static void
install_properties (GObjectClass *klass)
{
  static const gchar *const of_engine[] = { "backend", "cuda-device-id", "threads", NULL };

  gst_stereo_properties_install (klass, properties, 0);
  gst_stereo_properties_install (klass,
      gst_stereo_params_rows (of_engine, G_STRUCT_OFFSET (GstStereoRectify, pending.params), GST_STEREO_PLAYING), 0);
}

/* Runs once when a g_object_set() of several properties is through: a calibration and the unit that goes with it take
 * effect together. */
static void
gst_stereo_rectify_dispatch_properties_changed (GObject *object, guint count, GParamSpec **specs)
{
  GstStereoRectify *self = GST_STEREO_RECTIFY (object);

  GST_OBJECT_LOCK (self);
  if (!gst_stereo_rectify_settings_equal (&self->pending, &self->settings)) {
    gst_stereo_rectify_settings_clear (&self->settings);
    self->settings = gst_stereo_rectify_settings_copy (&self->pending);
    self->serial++;
  }
  GST_OBJECT_UNLOCK (self);
  G_OBJECT_CLASS (gst_stereo_rectify_parent_class)->dispatch_properties_changed (object, count, specs);
}

static void
gst_stereo_rectify_finalize (GObject *object)
{
  GstStereoRectify *self = GST_STEREO_RECTIFY (object);

  gst_stereo_rectify_output_free (self->output);
  gst_stereo_drift_free (self->drift);
  gst_stereo_rectify_maps_free (self->maps);
  gst_stereo_rectify_settings_clear (&self->pending);
  gst_stereo_rectify_settings_clear (&self->settings);
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
  self->drift = gst_stereo_drift_new (GST_ELEMENT (self), &self->auto_align);
  self->output = gst_stereo_rectify_output_new (GST_STEREO_AGGREGATOR (self), self->maps, self->drift);
}
