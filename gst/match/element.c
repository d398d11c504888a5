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

#include "gst/match/checks.h"
#include "gst/match/debug.h"
#include "gst/match/decorate.h"
#include "gst/match/device.h"
#include "gst/match/flight.h"
#include "gst/match/settings.h"
#include "gst/video/properties.h"

struct _GstStereoMatch
{
  GstStereoAggregator parent;

  GstStereoSettings *settings;
  GstStereoCameras *cameras;
  GstStereoDevice *device;
  GstStereoPlanner *planner;
  GstStereoChecks *checks;
  GstStereoMatchOutput *output;
  GstStereoFlights *flights;

  GstFlowReturn drained; /* what became of pairs that were pushed while caps were negotiated */
};

enum
{
  PROP_0,
  PROP_CHECK_INTERVAL,
  PROP_ACTIVE_BACKEND,
  PROP_STATS,
  PROP_SETTINGS,
  PROP_TABLE                    /* the first of the engine's */
};

G_DEFINE_TYPE (GstStereoMatch, gst_stereo_match, GST_TYPE_STEREO_AGGREGATOR)
GST_ELEMENT_REGISTER_DEFINE (stereomatch, "stereomatch", GST_RANK_NONE, GST_TYPE_STEREO_MATCH)

/* ---- the way of a pair: collect, decorate, push ------------------------------------------- */

static GstFlowReturn
fail_plan (GstStereoMatch *self, const StereoError *error)
{
  gst_stereo_planner_post_error (self->planner, error);
  gst_stereo_flights_abandon (self->flights);
  gst_stereo_planner_drop (self->planner);
  gst_stereo_flights_unmap_refused (self->flights);
  return GST_FLOW_ERROR;
}

/* The oldest pair in flight. */
static GstFlowReturn
push_pair (GstStereoMatch *self)
{
  GstStereoMatchPair pair;
  StereoStats stats;
  StereoError error;
  GstFlowReturn flow = gst_stereo_flights_collect (self->flights, &pair, &stats, &error);

  if (flow == GST_STEREO_FLOW_PLAN_FAILED)
    return fail_plan (self, &error);
  gst_stereo_match_decorate (&pair, gst_stereo_match_output_format (self->output),
      gst_stereo_planner_params (self->planner), &stats);
  flow = gst_stereo_aggregator_finish (&self->parent, &pair.segment, g_steal_pointer (&pair.out), stats.compute_ns);
  gst_stereo_match_pair_clear (&pair);
  return flow;
}

/* Pushes pairs in flight until no more than @rest are left. */
static GstFlowReturn
drain_down_to (GstStereoMatch *self, guint rest)
{
  GstFlowReturn flow = GST_FLOW_OK;

  while (flow == GST_FLOW_OK && gst_stereo_flights_count (self->flights) > rest)
    flow = push_pair (self);
  /* nobody downstream takes the others either */
  if (flow != GST_FLOW_OK)
    gst_stereo_flights_abandon (self->flights);
  return flow;
}

static GstFlowReturn
gst_stereo_match_drain (GstStereoAggregator *base, gboolean keep_one)
{
  GstStereoMatch *self = GST_STEREO_MATCH (base);

  return drain_down_to (self, keep_one && !gst_stereo_match_output_is_limited (self->output) ? 1 : 0);
}

/* ---- the way of a pair: up to its submission ---------------------------------------------- */

static GstFlowReturn
make_plan (GstStereoMatch *self, const GstStereoPlanRequest *request)
{
  GstFlowReturn flow = drain_down_to (self, 0);

  if (flow == GST_FLOW_OK)
    flow = gst_stereo_planner_make (self->planner, request);
  if (flow != GST_FLOW_OK || !gst_stereo_planner_is_on_cpu (self->planner))
    return flow;
  gst_stereo_device_leave_context (self->device);
  if (request->params.backend == STEREO_BACKEND_AUTO && gst_stereo_device_rule_out (self->device))
    gst_stereo_aggregator_reconfigure (&self->parent);
  return GST_FLOW_OK;
}

/* A plan for the pair, with the parameters as they are now and what its views tell of the cameras. */
static GstFlowReturn
ensure_plan (GstStereoMatch *self, const GstStereoFrame *left, const GstStereoFrame *right)
{
  GstStereoPlanRequest request = { .width = left->layout.width, .height = left->layout.height };
  GstFlowReturn flow = GST_FLOW_OK;

  request.serial = gst_stereo_settings_read (self->settings, &request.params);
  request.context = gst_stereo_device_choose_context (self->device, &request.params, left->buffer, right->buffer);
  gst_stereo_cameras_read (self->cameras, left, right, &request.params);
  if (!gst_stereo_planner_has_plan_for (self->planner, &request))
    flow = make_plan (self, &request);
  if (flow == GST_FLOW_OK)
    gst_stereo_planner_set_geometry (self->planner, &request.params);
  return flow;
}

static GstFlowReturn
ensure_caps (GstStereoMatch *self, const GstStereoLayout *layout)
{
  gboolean depth = gst_stereo_planner_makes_depth (self->planner);
  GstFlowReturn flow;

  if (gst_stereo_match_output_fits (self->output, layout, depth))
    return GST_FLOW_OK;
  if ((flow = drain_down_to (self, 0)) != GST_FLOW_OK)
    return flow;
  gst_stereo_aggregator_set_negotiated (&self->parent, FALSE);
  return gst_stereo_match_output_negotiate (self->output, layout, depth);
}

static gboolean
are_comparable (const GstStereoFrame *a, const GstStereoFrame *b)
{
  return a->layout.width == b->layout.width && a->layout.height == b->layout.height &&
      GST_VIDEO_INFO_IS_RGB (&a->info) == GST_VIDEO_INFO_IS_RGB (&b->info);
}

static GstFlowReturn
submit_pair (GstStereoMatch *self, GstStereoMatchPair *pair, const GstStereoFrame *first, const GstStereoFrame *second)
{
  StereoError error;
  GstFlowReturn flow = gst_stereo_flights_submit (self->flights, pair, first, second, &error);

  if (flow != GST_STEREO_FLOW_PLAN_FAILED)
    return flow;
  /* the pairs ahead of it are whole; or one of them tells why there can be no more */
  flow = drain_down_to (self, 0);
  return flow == GST_FLOW_OK ? fail_plan (self, &error) : flow;
}

static GstFlowReturn
gst_stereo_match_process (GstStereoAggregator *base, GstStereoFrame *first, GstStereoFrame *second)
{
  GstStereoMatch *self = GST_STEREO_MATCH (base);
  gboolean swap = first->layout.right_first;
  GstStereoFrame *left = swap ? second : first, *right = swap ? first : second;
  GstStereoMatchPair pair = { .width = left->layout.width, .height = left->layout.height, .segment = left->segment,
    .skew = gst_stereo_frame_skew (left, right) };
  GstFlowReturn flow = self->drained;

  if (!are_comparable (first, second))
    return gst_stereo_post_mismatch (GST_ELEMENT (self), left, right);
  self->drained = GST_FLOW_OK;
  if (flow != GST_FLOW_OK || (flow = ensure_plan (self, left, right)) != GST_FLOW_OK ||
      (flow = ensure_caps (self, &left->layout)) != GST_FLOW_OK)
    return flow;
  gst_stereo_checks_add_pair (self->checks, first, second, gst_stereo_planner_params (self->planner));
  if ((flow = gst_stereo_match_output_acquire (self->output, &pair.out, &pair.confidence)) != GST_FLOW_OK)
    return flow;
  if (!gst_stereo_aggregator_drop_if_late (base, left->time == GST_STEREO_TIME_NONE ? right : left)) {
    gst_stereo_aggregator_decorate (base, pair.out, left, right, TRUE);
    pair.truth = gst_stereo_cameras_get_truth (left);
    pair.geometry = gst_stereo_planner_geometry (self->planner);
    flow = submit_pair (self, &pair, first, second);
  }
  gst_stereo_match_pair_clear (&pair);
  return flow;
}

/* ---- caps --------------------------------------------------------------------------------- */

static GstCaps *
gst_stereo_match_input_caps (GstStereoAggregator *base)
{
  GstStereoMatch *self = GST_STEREO_MATCH (base);
  StereoParams params;

  gst_stereo_settings_read (self->settings, &params);
  return gst_stereo_device_input_caps (self->device, &params);
}

static GstFlowReturn
gst_stereo_match_update_src_caps (GstAggregator *aggregator, GstCaps *caps, GstCaps **result)
{
  GstStereoMatch *self = GST_STEREO_MATCH (aggregator);

  if (!gst_stereo_match_output_has_layout (self->output))
    return GST_AGGREGATOR_FLOW_NEED_DATA;
  /* downstream may have asked for other caps: what is in flight goes before those */
  if (self->drained == GST_FLOW_OK)
    self->drained = drain_down_to (self, 0);
  *result = gst_stereo_match_output_choose (self->output, caps, gst_stereo_planner_makes_depth (self->planner));
  return gst_caps_is_empty (*result) ? GST_FLOW_NOT_NEGOTIATED : GST_FLOW_OK;
}

static gboolean
gst_stereo_match_negotiated_src_caps (GstAggregator *aggregator, GstCaps *caps)
{
  GstStereoMatch *self = GST_STEREO_MATCH (aggregator);
  gboolean negotiated = gst_stereo_match_output_set_caps (self->output, caps);

  gst_stereo_aggregator_set_negotiated (&self->parent, negotiated);
  return negotiated;
}

static gboolean
gst_stereo_match_decide_allocation (GstAggregator *aggregator, GstQuery *query)
{
  return gst_stereo_match_output_decide_allocation (GST_STEREO_MATCH (aggregator)->output, query);
}

/* ---- contexts that elements share --------------------------------------------------------- */

static void
gst_stereo_match_set_context (GstElement *element, GstContext *context)
{
  GstStereoMatch *self = GST_STEREO_MATCH (element);
  StereoParams params;

  gst_stereo_settings_read (self->settings, &params);
  gst_stereo_device_read_context (self->device, &params, context);
  GST_ELEMENT_CLASS (gst_stereo_match_parent_class)->set_context (element, context);
}

static gboolean
answer_context (GstAggregator *aggregator, GstQuery *query)
{
  GstStereoMatch *self = GST_STEREO_MATCH (aggregator);
  StereoParams params;

  if (GST_QUERY_TYPE (query) != GST_QUERY_CONTEXT)
    return FALSE;
  gst_stereo_settings_read (self->settings, &params);
  return gst_stereo_device_answer (self->device, &params, query);
}

static gboolean
gst_stereo_match_src_query (GstAggregator *aggregator, GstQuery *query)
{
  return answer_context (aggregator, query) ||
      GST_AGGREGATOR_CLASS (gst_stereo_match_parent_class)->src_query (aggregator, query);
}

static gboolean
gst_stereo_match_sink_query (GstAggregator *aggregator, GstAggregatorPad *pad, GstQuery *query)
{
  return answer_context (aggregator, query) ||
      GST_AGGREGATOR_CLASS (gst_stereo_match_parent_class)->sink_query (aggregator, pad, query);
}

/* ---- start, stop, flush ------------------------------------------------------------------ */

static GstFlowReturn
gst_stereo_match_flush (GstAggregator *aggregator)
{
  GstStereoMatch *self = GST_STEREO_MATCH (aggregator);

  gst_stereo_flights_abandon (self->flights);
  gst_stereo_checks_flush (self->checks);
  self->drained = GST_FLOW_OK;
  return GST_AGGREGATOR_CLASS (gst_stereo_match_parent_class)->flush (aggregator);
}

static gboolean
gst_stereo_match_start (GstAggregator *aggregator)
{
  GstStereoMatch *self = GST_STEREO_MATCH (aggregator);
  StereoParams params;
  gchar reason[256];

  gst_stereo_planner_start (self->planner);
  gst_stereo_flights_start (self->flights);
  gst_stereo_checks_start (self->checks);
  self->drained = GST_FLOW_OK;
  gst_stereo_settings_read (self->settings, &params);
  if (!GST_AGGREGATOR_CLASS (gst_stereo_match_parent_class)->start (aggregator))
    return FALSE;
  if (params.backend == STEREO_BACKEND_CUDA &&
      !stereo_backend_available (STEREO_BACKEND_CUDA, params.cuda_device_id, reason, sizeof reason)) {
    GST_ELEMENT_ERROR (self, RESOURCE, NOT_FOUND,
        ("backend=cuda was asked for, and cannot be had: %s", reason), ("Set backend=cpu, or auto."));
    return FALSE;
  }
  if (gst_stereo_device_look (self->device, &params))
    gst_stereo_aggregator_reconfigure (&self->parent);
  return TRUE;
}

/* The context may come before the element starts, and stays until it is in NULL again. */
static GstStateChangeReturn
gst_stereo_match_change_state (GstElement *element, GstStateChange transition)
{
  GstStateChangeReturn result = GST_ELEMENT_CLASS (gst_stereo_match_parent_class)->change_state (element, transition);

  if (transition == GST_STATE_CHANGE_READY_TO_NULL)
    gst_stereo_device_unshare (GST_STEREO_MATCH (element)->device);
  return result;
}

static void
release (GstStereoMatch *self)
{
  gst_stereo_flights_abandon (self->flights);
  gst_stereo_planner_release (self->planner);
  gst_stereo_flights_unmap_refused (self->flights);
  gst_stereo_device_release (self->device);
  gst_stereo_match_output_release (self->output);
  gst_stereo_aggregator_set_negotiated (&self->parent, FALSE);
  gst_stereo_cameras_reset (self->cameras);
  gst_stereo_checks_release (self->checks);
}

static GstStructure *
make_stats (GstStereoMatch *self)
{
  GstStereoPairStats pairs;
  GstStereoFlightsStats flights;
  GstStereoChecksStats checks;
  guint64 count;

  gst_stereo_flights_get_stats (self->flights, &flights);
  gst_stereo_checks_get_stats (self->checks, &checks);
  gst_stereo_aggregator_get_stats (&self->parent, &pairs);
  count = MAX (pairs.pairs, 1);
  return gst_structure_new ("stereomatch-stats",
      "pairs", G_TYPE_UINT64, pairs.pairs, "dropped-left", G_TYPE_UINT64, pairs.dropped_left,
      "dropped-right", G_TYPE_UINT64, pairs.dropped_right, "late", G_TYPE_UINT64, pairs.late,
      "overlapped", G_TYPE_UINT64, flights.overlapped,
      "compute-time", G_TYPE_UINT64, pairs.compute_last, "compute-time-mean", G_TYPE_UINT64, pairs.compute_total / count,
      "steps-time-mean", G_TYPE_UINT64, pairs.pairs ? flights.steps_total / count : (guint64) 0,
      "valid-ratio", G_TYPE_DOUBLE, flights.valid_ratio, "mean-confidence", G_TYPE_DOUBLE, flights.mean_confidence,
      "checks", G_TYPE_UINT64, checks.checks, "check-matches", G_TYPE_UINT64, checks.matches,
      "exchanged", G_TYPE_BOOLEAN, checks.exchanged, "vertical-offset", G_TYPE_DOUBLE, checks.vertical_offset,
      "skew-mean", G_TYPE_UINT64, checks.skew_mean, "skew-drift", G_TYPE_DOUBLE, checks.skew_drift, NULL);
}

static gboolean
gst_stereo_match_stop (GstAggregator *aggregator)
{
  GstStereoMatch *self = GST_STEREO_MATCH (aggregator);
  GstStructure *stats;

  release (self);
  stats = make_stats (self);
  GST_INFO_OBJECT (self, "%" GST_PTR_FORMAT, stats);
  gst_structure_free (stats);
  return GST_AGGREGATOR_CLASS (gst_stereo_match_parent_class)->stop (aggregator);
}

/* ---- properties -------------------------------------------------------------------------- */

/* Of the plan at work; before there is one, of the properties as they stand. NULL when those cannot work. */
static GstStructure *
make_settings (GstStereoMatch *self)
{
  StereoParams params;
  gint output;

  if (gst_stereo_planner_get_in_force (self->planner, &params))
    return gst_stereo_props_settings (&params);
  gst_stereo_settings_read (self->settings, &params);
  /* what depth lacks, the views may yet bring along */
  output = params.output;
  params.output = STEREO_OUTPUT_DISPARITY;
  if (stereo_params_resolve (&params, &params, NULL) != STEREO_OK)
    return NULL;
  params.output = output;
  return gst_stereo_props_settings (&params);
}

static void
gst_stereo_match_set_property (GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
  GstStereoMatch *self = GST_STEREO_MATCH (object);

  if (id == PROP_CHECK_INTERVAL)
    gst_stereo_checks_set_interval (self->checks, g_value_get_uint64 (value));
  else if (id >= PROP_TABLE && stereo_param_info ((gint) (id - PROP_TABLE)))
    gst_stereo_settings_set (self->settings, id - PROP_TABLE, value);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, spec);
}

static void
gst_stereo_match_get_property (GObject *object, guint id, GValue *value, GParamSpec *spec)
{
  GstStereoMatch *self = GST_STEREO_MATCH (object);

  switch (id) {
    case PROP_STATS:
      g_value_take_boxed (value, make_stats (self));
      break;
    case PROP_SETTINGS:
      g_value_take_boxed (value, make_settings (self));
      break;
    case PROP_CHECK_INTERVAL:
      g_value_set_uint64 (value, gst_stereo_checks_get_interval (self->checks));
      break;
    case PROP_ACTIVE_BACKEND:
      g_value_set_static_string (value, gst_stereo_planner_get_backend (self->planner));
      break;
    default:
      if (stereo_param_info ((gint) (id - PROP_TABLE)))
        gst_stereo_settings_get (self->settings, id - PROP_TABLE, value);
      else
        G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, spec);
  }
}

/* Runs once when a g_object_set() of several properties is through: output=depth and the focal length
 * that goes with it take effect together, never one frame apart. */
static void
gst_stereo_match_dispatch_properties_changed (GObject *object, guint count, GParamSpec **specs)
{
  GstStereoMatch *self = GST_STEREO_MATCH (object);

  /* another backend may want frames in other memory */
  if (gst_stereo_settings_commit (self->settings) && gst_stereo_cuda_built ())
    gst_stereo_aggregator_reconfigure (&self->parent);
  G_OBJECT_CLASS (gst_stereo_match_parent_class)->dispatch_properties_changed (object, count, specs);
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

/* ---- the class ---------------------------------------------------------------------------- */

static void
gst_stereo_match_dispose (GObject *object)
{
  GstStereoMatch *self = GST_STEREO_MATCH (object);

  release (self);
  gst_stereo_device_unshare (self->device);
  G_OBJECT_CLASS (gst_stereo_match_parent_class)->dispose (object);
}

static void
gst_stereo_match_finalize (GObject *object)
{
  GstStereoMatch *self = GST_STEREO_MATCH (object);

  gst_stereo_flights_free (self->flights);
  gst_stereo_match_output_free (self->output);
  gst_stereo_checks_free (self->checks);
  gst_stereo_planner_free (self->planner);
  gst_stereo_device_free (self->device);
  gst_stereo_cameras_free (self->cameras);
  gst_stereo_settings_free (self->settings);
  G_OBJECT_CLASS (gst_stereo_match_parent_class)->finalize (object);
}

static void
add_pad_templates (GstElementClass *klass)
{
  GstCaps *caps = gst_stereo_output_format_template_caps ();

  gst_stereo_aggregator_class_add_templates (klass, gst_stereo_device_input_caps (NULL, NULL));
  gst_element_class_add_pad_template (
      klass, gst_pad_template_new_with_gtype ("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps, GST_TYPE_AGGREGATOR_PAD));
  gst_caps_unref (caps);
}

static void
gst_stereo_match_class_init (GstStereoMatchClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstAggregatorClass *aggregator_class = GST_AGGREGATOR_CLASS (klass);
  GstStereoAggregatorClass *base_class = GST_STEREO_AGGREGATOR_CLASS (klass);

  gst_stereo_match_debug_init ();

  object_class->set_property = gst_stereo_match_set_property;
  object_class->get_property = gst_stereo_match_get_property;
  object_class->dispatch_properties_changed = gst_stereo_match_dispatch_properties_changed;
  object_class->dispose = gst_stereo_match_dispose;
  object_class->finalize = gst_stereo_match_finalize;
  install_own_properties (object_class);
  gst_stereo_props_install (object_class, PROP_TABLE);

  element_class->set_context = gst_stereo_match_set_context;
  element_class->change_state = gst_stereo_match_change_state;
  add_pad_templates (element_class);
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

  base_class->input_caps = gst_stereo_match_input_caps;
  base_class->process = gst_stereo_match_process;
  base_class->drain = gst_stereo_match_drain;
}

static void
gst_stereo_match_init (GstStereoMatch *self)
{
  GstElement *element = GST_ELEMENT (self);

  self->settings = gst_stereo_settings_new (element);
  self->cameras = gst_stereo_cameras_new (element);
  self->device = gst_stereo_device_new (element);
  self->planner = gst_stereo_planner_new (element);
  self->checks = gst_stereo_checks_new (element);
  self->output = gst_stereo_match_output_new (GST_AGGREGATOR (self));
  self->flights = gst_stereo_flights_new (element, self->planner, self->output);
}
