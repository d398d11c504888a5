/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-stereomatch
 * @title: stereomatch
 *
 * Disparity or depth, and the confidence of every pixel, from two rectified views.
 *
 * The views come on `sink_left` and `sink_right`, or both in one frame on `sink`. The output has the size
 * and the timestamps of the left view: GRAY16_LE (or GRAY8), where **0 means invalid**. Disparity is stored
 * times #GstStereoMatch:disparity-scale, depth in steps of #GstStereoMatch:depth-unit (millimetres). Every
 * output buffer carries a #GstStereoMeta with the confidence and all that is needed to interpret it.
 *
 * Depth needs #GstStereoMatch:focal-length and #GstStereoMatch:baseline, and #GstStereoMatch:principal-offset where the
 * principal points differ. Each of them that is left at 0 is taken from the views' own metadata: a #GstStereoMeta
 * of kind `views`, as stereorectify and stereotestsrc write it, on the frame that holds both views, or on the left one, else on
 * the right one. A property set by hand wins, and a contradiction is said once. The metadata may change from pair to
 * pair; what it says, and its true disparity if it has one, goes on to the output's metadata. A videoscale in between
 * scales it, and drops it when the shape of the picture changes.
 *
 * Frames of two pads are paired by running time. A left and a right frame are a pair when they are at most
 * #GstStereoMatch:max-skew apart and no other frame fits better; frames without a partner are dropped,
 * counted in #GstStereoMatch:stats and reported once a second. A frame without a timestamp pairs with
 * whatever is next on the other pad, and so keeps the order of arrival; a frame that goes back in time finds
 * a partner only if the other stream goes back with it. When one view ends, the output ends: one second of the other
 * view, and what was taken in with it, is still dropped and counted. A seek without a flush leaves two sources with
 * running times of their own: from there on frames are paired by the time since that seek.
 *
 * When nothing has come on one view pad of a live pipeline for two seconds, and frames of the other one have, a warning names
 * the pad, and a message on the bus (info) says when it is back. PAUSED does not count. When nothing comes on either, nothing
 * is said: whoever stops both cameras may mean it, and a `watchdog` behind them tells. In other pipelines a view may take
 * all the time it likes.
 *
 * The caps of both views may change at any time, one pad after the other; two frames that are a pair and
 * differ in size, or of which one is colour and the other is not, are an error. A view pad whose partner
 * is not linked two seconds after its stream started is an error too. Properties take effect with the next
 * pair, those set by one g_object_set() together.
 *
 * The latency reported is a frame, half a frame or #GstStereoMatch:max-skew for the partner, and more once a pair took
 * longer than half a frame to compute: what the slowest one took, an eighth of that, and half a frame. In live pipelines
 * pairs that would come later are dropped before they are computed (#GstAggregator's `latency` gives them more time,
 * #GstStereoMatch:qos=false computes all), and a message on the bus tells of each. So those that are computed come in
 * time; where one takes longer than any before it, the latency is raised before it is pushed, which takes a
 * `gst_bin_recalculate_latency()` of the application to reach the sinks. It is lowered again when pairs have taken less
 * for some time. When frames are later than upstream reports, and so would all be dropped, that becomes part of the
 * latency after half a second.
 *
 * A sink that keeps to the clock keeps the element's thread waiting too, until the latency is over. Put a `queue` before
 * it, and the next pair is computed in that time: where there is more to do than the machine can, more pairs come out.
 *
 * While the next pair is waiting already, a pair is computed in the time that the next one takes to be copied, and is
 * pushed after that; it is pushed at once where nothing waits, and in live pipelines.
 *
 * Every #GstStereoMatch:check-interval one pair is looked at, a few hundred points of it, for the usual mistakes: left
 * and right exchanged, views that are not rectified, frames of a pair that are not of the same moment. What is found
 * stands in #GstStereoMatch:stats, and a warning says it once, and again only after it was gone for a while. Without
 * enough texture nothing is said. Timestamps tell only what their makers put into them: two cameras that are stamped on
 * arrival and read out late look in step; a moving scene then shows as rows that do not fit.
 *
 * Put a `queue` before each pad when one thread feeds both (after a tee or a demuxer), and when the two
 * cameras of a live pipeline differ in latency.
 *
 * ## Example
 * |[
 * gst-launch-1.0 stereomatch name=m num-disparities=64 ! video/x-raw,format=GRAY8 ! videoconvert ! autovideosink \
 *     v4l2src device=/dev/video0 ! m.sink_left  v4l2src device=/dev/video2 ! m.sink_right
 * ]|
 * GRAY8 is for the eye: of GRAY16_LE a converter to 8 bits shows the high byte alone, which is nearly black.
 */
#include "gst/match/element.h"

#include "gst/video/properties.h"

#define GST_CAT_DEFAULT gst_stereo_match_debug
GST_DEBUG_CATEGORY (gst_stereo_match_debug);

enum
{
  PROP_0,
  PROP_CHECK_INTERVAL,
  PROP_ACTIVE_BACKEND,
  PROP_STATS,
  PROP_SETTINGS,
  PROP_TABLE                    /* the first of the engine's */
};

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
    GST_STATIC_CAPS (GST_VIDEO_CAPS_MAKE ("{ GRAY16_LE, GRAY8 }") ", multiview-mode = (string) mono"));

G_DEFINE_TYPE (GstStereoMatch, gst_stereo_match, GST_TYPE_STEREO_AGGREGATOR)
GST_ELEMENT_REGISTER_DEFINE (stereomatch, "stereomatch", GST_RANK_NONE, GST_TYPE_STEREO_MATCH)

/* ---- start, stop, flush ------------------------------------------------------------------ */

static GstFlowReturn
gst_stereo_match_flush (GstAggregator *aggregator)
{
  GstStereoMatch *self = GST_STEREO_MATCH (aggregator);

  gst_stereo_match_abandon (self);
  gst_stereo_match_reset_checks (self, FALSE);
  self->landed = GST_FLOW_OK;
  return GST_AGGREGATOR_CLASS (gst_stereo_match_parent_class)->flush (aggregator);
}

static gboolean
gst_stereo_match_start (GstAggregator *aggregator)
{
  GstStereoMatch *self = GST_STEREO_MATCH (aggregator);
  gchar reason[256];
  gint backend, device;

  GST_OBJECT_LOCK (self);
  memset (&self->stats, 0, sizeof self->stats);
  self->stats.vertical_offset = -1;
  self->backend = NULL;
  backend = self->params.backend;
  device = self->params.cuda_device_id;
  GST_OBJECT_UNLOCK (self);
  gst_stereo_match_reset_checks (self, TRUE);
  self->landed = GST_FLOW_OK;
  if (!GST_AGGREGATOR_CLASS (gst_stereo_match_parent_class)->start (aggregator))
    return FALSE;
  if (backend == STEREO_BACKEND_CUDA &&
      !stereo_backend_available (STEREO_BACKEND_CUDA, device, reason, sizeof reason)) {
    GST_ELEMENT_ERROR (self, RESOURCE, NOT_FOUND,
        ("backend=cuda was asked for, and cannot be had: %s", reason), ("Set backend=cpu, or auto."));
    return FALSE;
  }
  gst_stereo_match_look_for_device (self);
  return TRUE;
}

/* The context may come before the element starts, and stays until it is in NULL again. */
static GstStateChangeReturn
gst_stereo_match_change_state (GstElement *element, GstStateChange transition)
{
  GstStateChangeReturn result = GST_ELEMENT_CLASS (gst_stereo_match_parent_class)->change_state (element, transition);

  if (transition == GST_STATE_CHANGE_READY_TO_NULL)
    gst_stereo_match_share_context (GST_STEREO_MATCH (element), NULL);
  return result;
}

/* ---- properties -------------------------------------------------------------------------- */

static GstStructure *
make_stats (GstStereoMatch *self)
{
  GstStereoMatchStats own;
  GstStereoPairStats stats;

  GST_OBJECT_LOCK (self);
  own = self->stats;
  stats = self->parent.stats;
  GST_OBJECT_UNLOCK (self);
  return gst_structure_new ("stereomatch-stats",
      "pairs", G_TYPE_UINT64, stats.pairs, "dropped-left", G_TYPE_UINT64, stats.dropped_left,
      "dropped-right", G_TYPE_UINT64, stats.dropped_right, "late", G_TYPE_UINT64, stats.late,
      "overlapped", G_TYPE_UINT64, own.overlapped,
      "compute-time", G_TYPE_UINT64, stats.compute_last,
      "compute-time-mean", G_TYPE_UINT64, stats.pairs ? stats.compute_total / stats.pairs : (guint64) 0,
      "steps-time-mean", G_TYPE_UINT64, stats.pairs ? own.steps_total / stats.pairs : (guint64) 0,
      "valid-ratio", G_TYPE_DOUBLE, own.valid_ratio, "mean-confidence", G_TYPE_DOUBLE, own.mean_confidence,
      "checks", G_TYPE_UINT64, own.checks, "check-matches", G_TYPE_UINT64, own.check_matches,
      "exchanged", G_TYPE_BOOLEAN, own.exchanged, "vertical-offset", G_TYPE_DOUBLE, own.vertical_offset,
      "skew-mean", G_TYPE_UINT64, own.skew_mean, "skew-drift", G_TYPE_DOUBLE, own.skew_drift, NULL);
}

static gboolean
gst_stereo_match_stop (GstAggregator *aggregator)
{
  GstStereoMatch *self = GST_STEREO_MATCH (aggregator);
  GstStructure *stats;

  gst_stereo_match_release (self);
  stats = make_stats (self);
  GST_INFO_OBJECT (self, "%" GST_PTR_FORMAT, stats);
  gst_structure_free (stats);
  return GST_AGGREGATOR_CLASS (gst_stereo_match_parent_class)->stop (aggregator);
}

/* Of the plan at work; before there is one, of the properties as they stand. NULL when those cannot work. */
static GstStructure *
make_settings (GstStereoMatch *self)
{
  StereoParams params;
  gboolean planned;
  gint output;

  GST_OBJECT_LOCK (self);
  planned = self->backend != NULL;
  params = planned ? self->in_force : self->params;
  GST_OBJECT_UNLOCK (self);
  /* what depth lacks, the views may yet bring along */
  output = params.output;
  params.output = STEREO_OUTPUT_DISPARITY;
  if (!planned && stereo_params_resolve (&params, &params, NULL) != STEREO_OK)
    return NULL;
  params.output = output;
  return gst_stereo_props_settings (&params);
}

static void
gst_stereo_match_set_property (GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
  GstStereoMatch *self = GST_STEREO_MATCH (object);

  GST_OBJECT_LOCK (self);
  if (id == PROP_CHECK_INTERVAL)
    self->check_interval = g_value_get_uint64 (value);
  else if (id >= PROP_TABLE && stereo_param_info ((gint) (id - PROP_TABLE)))
    gst_stereo_props_set (&self->pending, id - PROP_TABLE, value);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, spec);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_stereo_match_get_property (GObject *object, guint id, GValue *value, GParamSpec *spec)
{
  GstStereoMatch *self = GST_STEREO_MATCH (object);

  switch (id) {
    case PROP_STATS:
      g_value_take_boxed (value, make_stats (self));
      return;
    case PROP_SETTINGS:
      g_value_take_boxed (value, make_settings (self));
      return;
    default:
      break;
  }
  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_CHECK_INTERVAL:
      g_value_set_uint64 (value, self->check_interval);
      break;
    case PROP_ACTIVE_BACKEND:
      g_value_set_static_string (value, self->backend);
      break;
    default:
      if (stereo_param_info ((gint) (id - PROP_TABLE)))
        gst_stereo_props_get (&self->pending, id - PROP_TABLE, value);
      else
        G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, spec);
  }
  GST_OBJECT_UNLOCK (self);
}

/* Runs once when a g_object_set() of several properties is through: output=depth and the focal length
 * that goes with it take effect together, never one frame apart. */
static void
gst_stereo_match_dispatch_properties_changed (GObject *object, guint count, GParamSpec **specs)
{
  GstStereoMatch *self = GST_STEREO_MATCH (object);
  gboolean other_backend;

  GST_OBJECT_LOCK (self);
  other_backend = self->params.backend != self->pending.backend;
  if (memcmp (&self->params, &self->pending, sizeof self->params) != 0) {
    self->params = self->pending;
    self->serial++;
  }
  GST_OBJECT_UNLOCK (self);
  if (other_backend)
    gst_stereo_match_offer_again (self);
  G_OBJECT_CLASS (gst_stereo_match_parent_class)->dispatch_properties_changed (object, count, specs);
}

static void
gst_stereo_match_dispose (GObject *object)
{
  GstStereoMatch *self = GST_STEREO_MATCH (object);

  gst_stereo_match_release (self);
  gst_stereo_match_share_context (self, NULL);
  G_OBJECT_CLASS (gst_stereo_match_parent_class)->dispose (object);
}

static void
install_own_properties (GObjectClass *klass)
{
  const GParamFlags ro = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;

  g_object_class_install_property (klass, PROP_CHECK_INTERVAL, g_param_spec_uint64 ("check-interval", "check-interval",
          "Nanoseconds of stream time from one look at the input to the next, whether left and right are exchanged, "
          "the rows of the views do not fit, or their timestamps are out of step: a warning says so once, and what to do; "
          "some 2 ms on the CPU each; 0 = never", 0, G_MAXUINT64, GST_STEREO_CHECK_INTERVAL,
          G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING));
  g_object_class_install_property (klass, PROP_ACTIVE_BACKEND, g_param_spec_string ("active-backend",
          "active-backend", "The backend at work: cpu or cuda; NULL before the first pair", NULL, ro));
  g_object_class_install_property (klass, PROP_STATS, g_param_spec_boxed ("stats", "stats",
          "Since the start: pairs computed, dropped-left and dropped-right (frames without a partner), late (pairs "
          "dropped for QoS), overlapped (pairs submitted while another was being computed), compute-time (ns from a "
          "pair's submission to its result, of the last pair) and compute-time-mean, steps-time-mean (of that, the "
          "backend's work by its own clock, without copies to a device and from it); of the last pair: valid-ratio "
          "and mean-confidence (0..1); checks (looks at the input, see check-interval), check-matches (points found in "
          "both views at the last one), exchanged (left and right look so), vertical-offset (pixels by which the rows "
          "differ, median; below 0 = not known), skew-mean (ns between the frames of a pair) and skew-drift (ns that "
          "it grows by in a second)", GST_TYPE_STRUCTURE, ro));
  g_object_class_install_property (klass, PROP_SETTINGS, g_param_spec_boxed ("settings", "settings",
          "Every parameter in force, each own value replaced by what profile and method call for; NULL when they "
          "contradict each other", GST_TYPE_STRUCTURE, ro));
}

static GstCaps *
gst_stereo_match_base_caps (GstStereoAggregator *base)
{
  return gst_stereo_match_input_caps (GST_STEREO_MATCH (base));
}

static GstFlowReturn
gst_stereo_match_base_land (GstStereoAggregator *base)
{
  return gst_stereo_match_land (GST_STEREO_MATCH (base));
}

static void
gst_stereo_match_class_init (GstStereoMatchClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstAggregatorClass *aggregator_class = GST_AGGREGATOR_CLASS (klass);
  GstStereoAggregatorClass *base_class = GST_STEREO_AGGREGATOR_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (gst_stereo_match_debug, "stereomatch", 0, "stereo matcher");

  object_class->set_property = gst_stereo_match_set_property;
  object_class->get_property = gst_stereo_match_get_property;
  object_class->dispatch_properties_changed = gst_stereo_match_dispatch_properties_changed;
  object_class->dispose = gst_stereo_match_dispose;
  install_own_properties (object_class);
  gst_stereo_props_install (object_class, PROP_TABLE);

  element_class->set_context = gst_stereo_match_set_context;
  element_class->change_state = gst_stereo_match_change_state;
  gst_stereo_aggregator_class_add_templates (element_class, gst_stereo_match_input_caps (NULL));
  gst_element_class_add_static_pad_template_with_gtype (element_class, &src_template, GST_TYPE_AGGREGATOR_PAD);
  gst_element_class_set_static_metadata (element_class, "Stereo matcher", "Filter/Analyzer/Video/Stereo",
      "Makes disparity or depth, and the confidence of every pixel, from two rectified views: one each on sink_left "
      "and sink_right, or both in one frame on sink. Output GRAY16_LE: disparity times disparity-scale, or depth in "
      "millimetres; 0 = invalid", "gst-stereo");

  aggregator_class->src_query = gst_stereo_match_src_query;
  aggregator_class->sink_query = gst_stereo_match_sink_query;
  aggregator_class->start = gst_stereo_match_start;
  aggregator_class->stop = gst_stereo_match_stop;
  aggregator_class->flush = gst_stereo_match_flush;
  aggregator_class->update_src_caps = gst_stereo_match_update_src_caps;
  aggregator_class->negotiated_src_caps = gst_stereo_match_negotiated_src_caps;
  aggregator_class->decide_allocation = gst_stereo_match_decide_allocation;

  base_class->input_caps = gst_stereo_match_base_caps;
  base_class->process = gst_stereo_match_process;
  base_class->land = gst_stereo_match_base_land;
  base_class->settle = gst_stereo_match_settle;
}

static void
gst_stereo_match_init (GstStereoMatch *self)
{
  stereo_params_init (&self->pending);
  self->params = self->pending;
  self->check_interval = GST_STEREO_CHECK_INTERVAL;
  self->chosen_backend = STEREO_BACKEND_AUTO;
}
