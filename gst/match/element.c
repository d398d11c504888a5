/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-stereomatch
 * @title: stereomatch
 *
 * Disparity or depth, and the confidence of every pixel, from two rectified views.
 *
 * The views come on `sink_left` and `sink_right`, or both in one frame on `sink`. The output has the size
 * and the timestamps of the left view: GRAY16_LE, GRAY16_BE (as pngenc takes it) or GRAY8, where **0 means invalid**. Disparity is stored
 * times #GstStereoMatch:disparity-scale, depth in steps of #GstStereoMatch:depth-unit (millimetres). Every
 * output buffer carries a #GstStereoMeta with the confidence and the units of the samples.
 *
 * Depth needs #GstStereoMatch:focal-length and #GstStereoMatch:baseline, and #GstStereoMatch:principal-offset where the
 * principal points differ. Each of them that is left at 0 is taken from the metadata of the views: a #GstStereoMeta
 * of kind `views`, as stereorectify and stereotestsrc write it, on the frame that holds both views, or on the left
 * frame, or else on the right frame. A property set by hand wins, and a warning says once that the two differ. The
 * metadata may change from pair to pair. Its numbers, and its true disparity if it has one, are copied to the output's
 * metadata. A videoscale in between scales the metadata, and drops it when the shape of the picture changes.
 *
 * Frames of two pads are paired by running time, or by their capture timestamps (#GstReferenceTimestampMeta) where both
 * views have them with equal reference caps: see #GstStereoMatch:pairing-clock. #GstStereoMatch:stats name the clock that
 * paired the last pair. A left and a right frame are a pair when they are at most #GstStereoMatch:max-skew apart and no
 * other frame fits better. Frames without a partner are dropped, counted in `stats` and reported once a second. A frame
 * without a timestamp pairs with the next frame of the other pad: the order of arrival decides. A frame that goes back in
 * time finds a partner only if the other stream goes back too. When one view ends, the output ends: up to one second of
 * the other view is still received, dropped and counted. In a live pipeline the other view goes on, without depth, and the
 * output ends when both have ended. Seek with a flush: without one, sources that were at different places stay apart.
 *
 * When no frame has come on a pad of a live pipeline for #GstStereoMatch:silence-timeout, or one view has ended, the camera is
 * silent: a warning, the message `stereo-health` of kind `silent`, and an event `GstStereoHealth` downstream say so. Frames of
 * the other view are dropped meanwhile, and pairs come again by themselves. Time in PAUSED does not count. A pad that never
 * had a frame is silent when the other one gets frames. In pipelines that are not live a view may take any time. When frames come
 * later and later after their timestamps, the source falls `behind`.
 *
 * The caps of both views may change at any time, one pad after the other. Two frames that belong together and differ in
 * size, or of which one is colour and the other is not, are dropped, counted and reported; they are an error where no pair
 * came before them, or none for two seconds. A view pad whose partner is not linked two seconds after its stream started
 * is an error too.
 *
 * Properties take effect with the next pair. Those that one g_object_set() sets (in Python set_properties()), or a preset, take
 * effect together. While the stream runs, parameters that do not fit give one warning, and the settings before stay in force until
 * they fit; at the start they are an error. A value out of range is refused by GObject, and the property keeps its value.
 * A property set by hand wins over #GstStereoMatch:profile, also where its value is the default;
 * #GstStereoMatch:settings show what is in force, and in `set-by-hand` which properties were set.
 *
 * The element reports a latency of one frame, and the wait for the partner: half a frame, or #GstStereoMatch:max-skew.
 * Once a pair took longer than half a frame to compute, the frame is replaced by the time of the slowest pair, an
 * eighth of that, and half a frame. In live pipelines pairs that would come later are dropped before they are
 * computed, and a QoS message on the bus reports each of them; one a second is computed however late it is. (#GstAggregator's `latency` gives them more time,
 * #GstStereoMatch:qos=false computes all.) A pair that is computed therefore comes in time. Where one takes longer
 * than all before it, the latency is raised before that pair is pushed; the sinks learn of it when the application
 * calls `gst_bin_recalculate_latency()`. The latency is lowered again when pairs have taken less for some time. When
 * all frames come later than upstream reports, and would all be dropped, their delay becomes part of the latency after
 * half a second.
 *
 * A sink that renders by the clock makes the element's thread wait until the latency is over. With a `queue` before the
 * sink the next pair is computed in that time: an overloaded machine then outputs more pairs.
 *
 * While the next pair is waiting already, it is copied in the time in which the present pair is computed, and the
 * present pair is pushed after that. Where no pair waits, and in live pipelines, each pair is pushed at once.
 *
 * Three times a second a few hundred points of a pair are checked for the usual mistakes: left and right exchanged,
 * views that are not rectified, frames of a pair that are not of the same moment. Timestamps, and views in device memory,
 * are checked every #GstStereoMatch:check-interval. The findings are in #GstStereoMatch:stats. A warning reports each finding once, and again only after it was gone for a while. A
 * picture without enough texture gives no finding. Timestamps can hide a mistake: two cameras whose frames are stamped
 * on arrival, and read out late, look in step. Where the scene moves up or down, its motion shows which view is late.
 *
 * Ten times a second both views are checked, reduced to a quarter, for faults of a camera: a view that is `black`, `blown-out`,
 * `covered`, `dark`, `blurred` or `frozen`, the `same-view` on both pads, a `still-pattern` on both lenses. The
 * points also show views that do not match (`mismatch`), are `out-of-step`, `shifted` sideways or differ in their `focal` length. A
 * search `range` that is too small, and pairs that come
 * faster than they are computed (`slow`), are found too. docs/reliability.md has the table of all faults. #GstStereoMeta.health of
 * each frame has the current ones. Pixels without evidence have no value and no confidence: they are saturated in either view, or
 * show what is fixed while the scene moves, such as dirt, or a part that is frozen or covered.
 * When a fault begins, a warning gives advice. When it begins and when it ends, there is an element message
 * `stereo-health` with the fields `kind`, `view`, `active`, `text` and `value`.
 *
 * Luma of more than 8 bits is read at the 8 bits that the picture uses: GRAY16 of a camera with 10 or 12 bits
 * (#GstStereoMatch:significant-bits), and formats of 10 bits, of which colour is left out. That is done on the CPU.
 *
 * #GstStereoMatch:mask excludes pixels that the left camera always sees and that do not belong to the scene: a bonnet, a
 * crane's arm, a time stamp. Excluded pixels have no value, and do not count in #GstStereoMeta.valid_ratio and
 * #GstStereoMeta.mean_confidence, nor in the check of the input. Rows above and below all other pixels cost no time.
 *
 * Both views are averaged over time where they stand still (#GstStereoMatch:temporal). The frames before are forgotten
 * after a flush, a seek, a gap, a buffer with DISCONT, other caps or properties, and half a second without a pair that
 * was computed.
 *
 * Put a `queue` before each pad when one thread feeds both (after a tee or a demuxer), and when the two
 * cameras of a live pipeline differ in latency.
 *
 * A preset (#GstPreset) has the settings of the matcher: all parameters except those of the rig (focal length, baseline,
 * principal offset), of the output (its kind, scale and unit) and of the machine (backend, device, threads, memory).
 * `stereomatch @preset=NAME` loads one. The page of `pipelines/web.sh` makes presets.
 *
 * ## Example
 * |[
 * gst-launch-1.0 stereomatch name=m num-disparities=64 ! video/x-raw,format=GRAY8 ! videoconvert ! autovideosink \
 *     v4l2src device=/dev/video0 ! m.sink_left  v4l2src device=/dev/video2 ! m.sink_right
 * ]|
 * GRAY8 is for display: a converter from GRAY16_LE to 8 bits keeps the high byte only, which is nearly black.
 */

#include "gst/match/cameras.h"
#include "gst/match/debug.h"
#include "gst/match/device.h"
#include "gst/match/diagnose/diagnosis.h"
#include "gst/match/flight.h"
#include "gst/match/mask.h"
#include "gst/match/output.h"
#include "gst/match/planner.h"
#include "gst/match/settings.h"
#include "gst/meta/gststereometa.h"
#include "gst/pairing/aggregator.h"

GST_ELEMENT_REGISTER_DECLARE (stereomatch);
#define GST_TYPE_STEREO_MATCH (gst_stereo_match_get_type ())
G_DECLARE_FINAL_TYPE (GstStereoMatch, gst_stereo_match, GST, STEREO_MATCH, GstStereoAggregator)

#define LONGEST_PAUSE (500 * (gint64) GST_MSECOND) /* without a computed pair, until the stream breaks */

/* element.c leads a pair through the parts of this folder. One object each. A part knows only the parts that its constructor takes. */
typedef struct
{
  GstStereoSettings *settings;
  GstStereoCameras *cameras;
  GstStereoMasks *masks;
  GstStereoDevice *device;
  GstStereoPlanner *planner;
  GstStereoDiagnosis *diagnosis;
  GstStereoMatchOutput *output;
  GstStereoFlights *flights;
} GstStereoMatchParts;

/* Finds where a stream breaks. temporal averages the frames of one stretch only: the frames before a break are no history of the
 * frames after it. A flush and a new plan clear the history by themselves. Zeroed: the next pair is the first. */
typedef struct
{
  gboolean known;        /* all below are set */
  gboolean broken;       /* before the next pair that is computed */
  GstVideoInfo info[2];  /* of the last pair */
  GstSegment segment[2]; /* of the last pair */
  gint64 time, computed; /* of the last pair, of the last one that was computed; or GST_STEREO_TIME_NONE */
} History;

struct _GstStereoMatch
{
  GstStereoAggregator parent;

  GstStereoMatchParts parts;
  History history;

  GstFlowReturn drained; /* what became of pairs that were pushed while caps were negotiated */
};

/* ---- presets ------------------------------------------------------------------------------ */

static gboolean (*load_one_by_one) (GstPreset *preset, const gchar *name);

/* All parameters but those of the rig, the reader's expectations and the machine: a preset made with one camera on one machine would
 * otherwise break a pipeline with another. */
static gchar **
get_property_names (GstPreset *preset)
{
  static const gchar *const of_the_place[] = { "focal-length", "baseline", "principal-offset", "output",
    "disparity-scale", "depth-unit", "backend", "cuda-device-id", "threads", "scratch-layers", "memory-limit", NULL };
  GPtrArray *names = g_ptr_array_new ();
  const StereoParamInfo *info;

  for (gint row = 0; (info = stereo_param_info (row)); row++)
    if (!g_strv_contains (of_the_place, info->name))
      g_ptr_array_add (names, g_strdup (info->name));
  g_ptr_array_add (names, NULL);
  return (gchar **) g_ptr_array_free (names, FALSE);
}

/* One by one, values of the old and of the new preset could contradict each other for a moment. */
static gboolean
load_together (GstPreset *preset, const gchar *name)
{
  g_object_freeze_notify (G_OBJECT (preset));
  gboolean loaded = load_one_by_one (preset, name);
  g_object_thaw_notify (G_OBJECT (preset));
  return loaded;
}

static void
gst_stereo_match_presets_init (gpointer interface, gpointer data)
{
  GstPresetInterface *presets = interface;

  load_one_by_one = presets->load_preset;
  presets->load_preset = load_together;
  presets->get_property_names = get_property_names;
}

G_DEFINE_TYPE_WITH_CODE (GstStereoMatch, gst_stereo_match, GST_TYPE_STEREO_AGGREGATOR,
    G_IMPLEMENT_INTERFACE (GST_TYPE_PRESET, gst_stereo_match_presets_init))
GST_ELEMENT_REGISTER_DEFINE (stereomatch, "stereomatch", GST_RANK_NONE, GST_TYPE_STEREO_MATCH)

/* ---- the way of a pair: collect, decorate, push ------------------------------------------- */

static GstFlowReturn
fail_plan (GstStereoMatch *self, const StereoError *error)
{
  gst_stereo_planner_post_error (self->parts.planner, error);
  gst_stereo_flights_abandon (self->parts.flights);
  gst_stereo_planner_drop (self->parts.planner);
  gst_stereo_flights_unmap_failed (self->parts.flights);
  return GST_FLOW_ERROR;
}

static void
decorate (const GstStereoMatchPair *pair, const GstStereoOutputFormat *format, const StereoParams *params,
    const StereoStats *stats)
{
  GstStereoMeta *meta = gst_buffer_add_stereo_meta (
      pair->out, (guint) pair->width, (guint) pair->height, pair->confidence);

  /* readers of a buffer do not see its caps, and expect GRAY16_LE */
  if (format->format == GST_VIDEO_FORMAT_GRAY16_BE && !gst_buffer_get_video_meta (pair->out))
    gst_buffer_add_video_meta (
        pair->out, GST_VIDEO_FRAME_FLAG_NONE, format->format, (guint) pair->width, (guint) pair->height);
  gst_stereo_match_pair_set_units (pair, format, params, meta);
  meta->pair_skew = pair->skew;
  meta->valid_ratio = stats->valid_ratio;
  meta->mean_confidence = stats->mean_confidence;
  meta->health = pair->health;
  gst_stereo_meta_set_truth (meta, pair->truth);
  gst_stereo_meta_set_mask (meta, pair->mask ? pair->mask->buffer : NULL);
}

/* The oldest pair in flight. */
static GstFlowReturn
push_pair (GstStereoMatch *self)
{
  GstStereoMatchPair pair;
  StereoStats stats;
  StereoError error;
  GstFlowReturn flow = gst_stereo_flights_collect (self->parts.flights, &pair, &stats, &error);

  if (flow == GST_STEREO_FLOW_PLAN_FAILED)
    return fail_plan (self, &error);
  decorate (&pair, gst_stereo_match_output_format (self->parts.output),
      stereo_plan_params (gst_stereo_planner_plan (self->parts.planner)), &stats);
  flow = gst_stereo_aggregator_finish (&self->parent, &pair.segment, g_steal_pointer (&pair.out), stats.compute_ns);
  gst_stereo_match_pair_clear (&pair);
  return flow;
}

/* Pushes pairs in flight until no more than @rest are left. */
static GstFlowReturn
drain_down_to (GstStereoMatch *self, guint rest)
{
  GstFlowReturn flow = GST_FLOW_OK;

  while (flow == GST_FLOW_OK && gst_stereo_flights_count (self->parts.flights) > rest)
    flow = push_pair (self);
  /* the flow that refused a pair would refuse the remaining pairs, too */
  if (flow != GST_FLOW_OK)
    gst_stereo_flights_abandon (self->parts.flights);
  return flow;
}

static GstFlowReturn
gst_stereo_match_drain (GstStereoAggregator *base, gboolean one_may_stay)
{
  GstStereoMatch *self = GST_STEREO_MATCH (base);

  return drain_down_to (self, one_may_stay && !gst_stereo_match_output_is_limited (self->parts.output) ? 1 : 0);
}

/* ---- the way of a pair: up to its submission ---------------------------------------------- */

static GstFlowReturn
make_plan (GstStereoMatch *self, const GstStereoPlanRequest *request)
{
  GstFlowReturn flow = drain_down_to (self, 0);

  if (flow == GST_FLOW_OK)
    flow = gst_stereo_planner_make (self->parts.planner, request);
  if (flow != GST_FLOW_OK || !gst_stereo_planner_is_on_cpu (self->parts.planner))
    return flow;
  gst_stereo_device_leave_context (self->parts.device);
  if (request->params.backend == STEREO_BACKEND_AUTO && gst_stereo_device_rule_out (self->parts.device))
    gst_stereo_aggregator_reconfigure (&self->parent);
  return GST_FLOW_OK;
}

/* Makes a plan for the pair, from the current parameters and the geometry in the metadata of its views. */
static GstFlowReturn
ensure_plan (GstStereoMatch *self, GstStereoMatchPair *pair, const GstStereoFrame *left, const GstStereoFrame *right)
{
  GstStereoPlanRequest request = { .width = pair->width, .height = pair->mask ? pair->mask->rows : pair->height };
  GstFlowReturn flow;

  do {
    request.serial = gst_stereo_settings_read (self->parts.settings, &request.set);
    request.params = request.set;
    gst_stereo_cameras_read (self->parts.cameras, left, right, &request.params);
    request.sample = gst_stereo_match_output_sample (self->parts.output, request.set.output == STEREO_OUTPUT_DEPTH);
    if (!gst_stereo_planner_takes (self->parts.planner, &request))
      gst_stereo_cameras_read (self->parts.cameras, left, right, &request.params);
    request.context = gst_stereo_device_choose_context (self->parts.device, &request.set, left->buffer, right->buffer);
    flow = gst_stereo_planner_has_plan_for (self->parts.planner, &request) ? GST_FLOW_OK : make_plan (self, &request);
  } while (flow == GST_STEREO_FLOW_REFUSED);
  if (flow == GST_FLOW_OK)
    gst_stereo_planner_set_geometry (self->parts.planner, &request.params);
  return flow;
}

static GstFlowReturn
ensure_caps (GstStereoMatch *self, const GstStereoLayout *layout)
{
  gboolean depth = gst_stereo_planner_makes_depth (self->parts.planner);
  GstFlowReturn flow;

  if (gst_stereo_match_output_fits (self->parts.output, layout, depth))
    return GST_FLOW_OK;
  if ((flow = drain_down_to (self, 0)) != GST_FLOW_OK)
    return flow;
  return gst_stereo_match_output_negotiate (self->parts.output, layout, depth);
}

static GstFlowReturn
submit_pair (GstStereoMatch *self, GstStereoMatchPair *pair, const GstStereoFrame *left, const GstStereoFrame *right)
{
  StereoError error;
  GstFlowReturn flow = gst_stereo_flights_submit (self->parts.flights, pair, left, right, &error);

  if (flow != GST_STEREO_FLOW_PLAN_FAILED)
    return flow;
  /* the pairs before it are complete, or one of them reports why there are no more */
  flow = drain_down_to (self, 0);
  if (flow == GST_FLOW_OK)
    return fail_plan (self, &error);
  gst_stereo_flights_unmap_failed (self->parts.flights);
  return flow;
}

static GstStereoHealthFlags
check_pair (GstStereoMatch *self, const GstStereoFrame *left, const GstStereoFrame *right, GstStereoMatchPair *checked)
{
  GstStereoFlightsStats flights;
  GstStereoPairStats stats;
  StereoParams params = *stereo_plan_params (gst_stereo_planner_plan (self->parts.planner));
  GstStereoDiagnosedPair pair = { .left = left, .right = right, .mask = checked->mask, .params = &params };

  /* a plan for disparities stays where the cameras change */
  params.principal_offset = gst_stereo_planner_geometry (self->parts.planner).principal_offset;
  gst_stereo_aggregator_get_stats (&self->parent, &stats);
  pair.counts = (GstStereoPaceCounts){ stats.pairs, stats.late, stats.compute_recent,
    stats.sources & GST_STEREO_HEALTH_BEHIND };
  gst_stereo_flights_get_stats (self->parts.flights, &flights);
  pair.live = GST_CLOCK_TIME_IS_VALID (gst_aggregator_get_latency (GST_AGGREGATOR (self)));
  pair.alignment = &flights.alignment;
  return gst_stereo_diagnosis_add_pair (self->parts.diagnosis, &pair, &checked->unmeasured);
}

/* Why the stream broke before this pair, which is computed or not; NULL: it did not. Where one frame has both views, @right is
 * @left. */
static const gchar *
history_add (History *history, const GstStereoFrame *left, const GstStereoFrame *right)
{
  const GstStereoFrame *frames[2] = { left, right };
  gint64 time = left->time == GST_STEREO_TIME_NONE ? right->time : left->time;
  gboolean timed = history->known && time != GST_STEREO_TIME_NONE;
  const gchar *why = NULL;

  if (timed && history->time != GST_STEREO_TIME_NONE && time < history->time)
    why = "time that goes backwards";
  else if (timed && history->computed != GST_STEREO_TIME_NONE && time - history->computed > LONGEST_PAUSE)
    why = "a pause";
  for (guint view = 0; view < 2; view++) {
    const GstStereoFrame *frame = frames[view];

    if (GST_BUFFER_FLAG_IS_SET (frame->buffer, GST_BUFFER_FLAG_DISCONT))
      why = "a discontinuity";
    else if (frame->after_gap)
      why = "a gap";
    else if (history->known && !gst_segment_is_equal (&frame->segment, &history->segment[view]))
      why = "a new segment";
    else if (history->known && !gst_video_info_is_equal (&frame->info, &history->info[view]))
      why = "other caps";
    history->info[view] = frame->info;
    history->segment[view] = frame->segment;
  }
  if (!history->known)
    history->computed = GST_STEREO_TIME_NONE;
  history->known = TRUE;
  history->time = time;
  history->broken |= why != NULL;
  return why;
}

/* There are a plan and caps for it. */
static GstFlowReturn
match_pair (GstStereoMatch *self, GstStereoMatchPair *pair, const GstStereoFrame *left, const GstStereoFrame *right)
{
  GstFlowReturn flow;
  const gchar *why;

  pair->health = check_pair (self, left, right, pair);
  /* the frames before a break have no part in those after */
  if ((why = history_add (&self->history, left, right)))
    GST_DEBUG_OBJECT (self, "%s: the frames before are forgotten", why);
  if ((flow = gst_stereo_match_output_acquire (self->parts.output, &pair->out, &pair->confidence)) != GST_FLOW_OK ||
      gst_stereo_aggregator_drop_if_late (&self->parent, left, right, &flow))
    return flow;
  gst_stereo_aggregator_decorate (&self->parent, pair->out, left, right, TRUE);
  pair->truth = gst_stereo_cameras_get_truth (left);
  pair->forget = self->history.broken;
  self->history.broken = FALSE;
  self->history.computed = self->history.time;
  pair->geometry = gst_stereo_planner_geometry (self->parts.planner);
  gst_stereo_cameras_read_left_view (self->parts.cameras, left, right, &pair->geometry);
  gst_stereo_cameras_check_range (self->parts.cameras,
      stereo_plan_params (gst_stereo_planner_plan (self->parts.planner)), &pair->geometry,
      gst_stereo_match_output_format (self->parts.output)->sample);
  return submit_pair (self, pair, left, right);
}

static GstFlowReturn
gst_stereo_match_process (GstStereoAggregator *base, GstStereoFrame *left, GstStereoFrame *right)
{
  GstStereoMatch *self = GST_STEREO_MATCH (base);
  GstStereoMatchPair pair = { .width = left->layout.width,
    .height = left->layout.height,
    .segment = left->segment,
    .skew = gst_stereo_frame_skew (left, right) };
  GstStereoMask *mask = NULL;
  GstFlowReturn flow = self->drained;

  self->drained = GST_FLOW_OK;
  gst_stereo_follow_controls (self, &left->segment, GST_BUFFER_PTS (left->buffer));
  if (flow == GST_FLOW_OK && !gst_stereo_masks_choose (self->parts.masks, pair.width, pair.height, &mask))
    flow = GST_FLOW_ERROR;
  pair.mask = flow == GST_FLOW_OK && mask ? gst_stereo_mask_ref (mask) : NULL;
  if (flow == GST_FLOW_OK && (flow = ensure_plan (self, &pair, left, right)) == GST_FLOW_OK &&
      (flow = ensure_caps (self, &left->layout)) == GST_FLOW_OK)
    flow = match_pair (self, &pair, left, right);
  gst_stereo_match_pair_clear (&pair);
  return flow;
}

/* ---- sources ------------------------------------------------------------------------------ */

/* A camera that is silent gives no pairs that could tell: downstream learns of it by an event. */
static void
gst_stereo_match_silence (GstStereoAggregator *base, GstStereoHealthFlags sources, const gchar *text)
{
  GstStereoMatch *self = GST_STEREO_MATCH (base);
  const GstStereoHealthFlags all = GST_STEREO_HEALTH_SILENT_LEFT | GST_STEREO_HEALTH_SILENT_RIGHT |
      GST_STEREO_HEALTH_BEHIND;
  g_autofree gchar *reason = gst_stereo_health_get_reason (sources);

  gst_stereo_diagnosis_set (self->parts.diagnosis, all, sources);
  GstStructure *event = gst_structure_new ("GstStereoHealth", "health", GST_TYPE_STEREO_HEALTH_FLAGS,
      sources & ~GST_STEREO_HEALTH_BEHIND, "reason", G_TYPE_STRING, reason ? reason : "", NULL);
  gst_pad_push_event (GST_AGGREGATOR_SRC_PAD (base), gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM, event));
}

/* ---- caps --------------------------------------------------------------------------------- */

static GstCaps *
gst_stereo_match_input_caps (GstStereoAggregator *base)
{
  return gst_stereo_device_input_caps (GST_STEREO_MATCH (base)->parts.device);
}

/* GstAggregator negotiates before the first pair too, and fails without a message where downstream takes no grey: a source
 * that has sent its last frame by then would never learn of it. */
static gboolean
gst_stereo_match_negotiate (GstAggregator *aggregator)
{
  GstStereoMatch *self = GST_STEREO_MATCH (aggregator);
  StereoParams params;

  if (GST_AGGREGATOR_CLASS (gst_stereo_match_parent_class)->negotiate (aggregator))
    return TRUE;
  gst_stereo_settings_read (self->parts.settings, &params);
  gst_stereo_match_output_post_refusal (self->parts.output, params.output == STEREO_OUTPUT_DEPTH);
  return FALSE;
}

static GstFlowReturn
gst_stereo_match_update_src_caps (GstAggregator *aggregator, GstCaps *caps, GstCaps **result)
{
  GstStereoMatch *self = GST_STEREO_MATCH (aggregator);

  if (!gst_stereo_match_output_has_layout (self->parts.output))
    return GST_AGGREGATOR_FLOW_NEED_DATA;
  /* downstream may have asked for other caps: pairs in flight are pushed before them */
  if (self->drained == GST_FLOW_OK)
    self->drained = drain_down_to (self, 0);
  *result = gst_stereo_match_output_choose (
      self->parts.output, caps, gst_stereo_planner_makes_depth (self->parts.planner));
  return gst_caps_is_empty (*result) ? GST_FLOW_NOT_NEGOTIATED : GST_FLOW_OK;
}

static gboolean
gst_stereo_match_negotiated_src_caps (GstAggregator *aggregator, GstCaps *caps)
{
  return gst_stereo_match_output_set_caps (GST_STEREO_MATCH (aggregator)->parts.output, caps);
}

static gboolean
gst_stereo_match_decide_allocation (GstAggregator *aggregator, GstQuery *query)
{
  return gst_stereo_match_output_decide_allocation (GST_STEREO_MATCH (aggregator)->parts.output, query);
}

/* ---- contexts that elements share --------------------------------------------------------- */

static void
gst_stereo_match_set_context (GstElement *element, GstContext *context)
{
  gst_stereo_device_read_context (GST_STEREO_MATCH (element)->parts.device, context);
  GST_ELEMENT_CLASS (gst_stereo_match_parent_class)->set_context (element, context);
}

static gboolean
answer_context (GstAggregator *aggregator, GstQuery *query)
{
  return GST_QUERY_TYPE (query) == GST_QUERY_CONTEXT &&
      gst_stereo_device_answer (GST_STEREO_MATCH (aggregator)->parts.device, query);
}

static gboolean
gst_stereo_match_src_query (GstAggregator *aggregator, GstQuery *query)
{
  return answer_context (aggregator, query) ||
      gst_stereo_match_output_answer_inactive (GST_STEREO_MATCH (aggregator)->parts.output, query) ||
      GST_AGGREGATOR_CLASS (gst_stereo_match_parent_class)->src_query (aggregator, query);
}

static gboolean
gst_stereo_match_sink_query (GstAggregator *aggregator, GstAggregatorPad *pad, GstQuery *query)
{
  return answer_context (aggregator, query) ||
      GST_AGGREGATOR_CLASS (gst_stereo_match_parent_class)->sink_query (aggregator, pad, query);
}

/* ---- values of properties ------------------------------------------------------------------ */

static GstStructure *
make_stats (GstStereoAggregator *aggregator, GstStereoMatchParts *parts)
{
  GstStereoFlightsStats flights;
  GstStereoPairStats pairs;

  gst_stereo_aggregator_get_stats (aggregator, &pairs);
  guint64 count = MAX (pairs.pairs, 1);
  gst_stereo_flights_get_stats (parts->flights, &flights);
  GstStructure *stats = gst_structure_new ("stereomatch-stats", "pairs", G_TYPE_UINT64, pairs.pairs, "dropped-left",
      G_TYPE_UINT64, pairs.dropped_left, "dropped-right", G_TYPE_UINT64, pairs.dropped_right, "late", G_TYPE_UINT64,
      pairs.late, "pairing-clock", G_TYPE_STRING, pairs.pairing_clock, "overlapped", G_TYPE_UINT64, flights.overlapped,
      "compute-time", G_TYPE_UINT64, pairs.compute_last, "compute-time-mean", G_TYPE_UINT64, pairs.compute_total / count,
      "steps-time-mean", G_TYPE_UINT64, pairs.pairs ? flights.steps_total / count : (guint64) 0, "valid-ratio",
      G_TYPE_DOUBLE, flights.valid_ratio, "mean-confidence", G_TYPE_DOUBLE, flights.mean_confidence, "aligned",
      G_TYPE_BOOLEAN, flights.alignment.active, "align-offset", G_TYPE_DOUBLE, flights.alignment.coefficients[0],
      "align-offset-max", G_TYPE_DOUBLE, flights.alignment.max, NULL);
  gst_stereo_diagnosis_add_stats (parts->diagnosis, stats);
  return stats;
}

/* Every parameter by name; enumerations as their names. `set-by-hand` has the names of those that were set, with commas. */
static GstStructure *
describe (const StereoParams *params)
{
  GstStructure *settings = gst_structure_new_empty ("stereomatch-settings");
  g_autoptr (GString) by_hand = g_string_new (NULL);
  const StereoParamInfo *info;
  gchar text[64];

  for (gint i = 0; (info = stereo_param_info (i)); i++) {
    gdouble number = stereo_param_get (params, info);

    if (params->set >> i & 1)
      g_string_append_printf (by_hand, "%s%s", by_hand->len ? "," : "", info->name);
    switch (info->type) {
      case STEREO_PARAM_ENUM:
        gst_structure_set (
            settings, info->name, G_TYPE_STRING, stereo_param_format (params, info, text, sizeof text), NULL);
        break;
      case STEREO_PARAM_DOUBLE:
        gst_structure_set (settings, info->name, G_TYPE_DOUBLE, number, NULL);
        break;
      case STEREO_PARAM_SIZE:
        gst_structure_set (settings, info->name, G_TYPE_UINT64, (guint64) number, NULL);
        break;
      default:
        gst_structure_set (settings, info->name, G_TYPE_INT, (gint) number, NULL);
    }
  }
  gst_structure_set (settings, "set-by-hand", G_TYPE_STRING, by_hand->str, NULL);
  return settings;
}

/* Settings of the plan at work; before there is one, of the properties as they stand. NULL when those cannot work. */
static GstStructure *
make_settings (GstStereoMatchParts *parts)
{
  StereoParams params;
  gint output;

  gst_stereo_settings_read (parts->settings, &params);
  guint64 set = params.set;
  if (gst_stereo_planner_get_in_force (parts->planner, &params)) {
    params.set = set;
    return describe (&params);
  }
  /* what depth lacks, the views may yet bring along */
  output = params.output;
  params.output = STEREO_OUTPUT_DISPARITY;
  if (stereo_params_resolve (&params, &params, NULL) != STEREO_OK)
    return NULL;
  params.output = output;
  return describe (&params);
}

static void
get_stats (GstElement *element, gpointer parts, GValue *value)
{
  g_value_take_boxed (value, make_stats (GST_STEREO_AGGREGATOR (element), parts));
}

static void
get_settings (GstElement *element, gpointer parts, GValue *value)
{
  g_value_take_boxed (value, make_settings (parts));
}

static void
get_active_backend (GstElement *element, gpointer parts, GValue *value)
{
  StereoParams params;

  g_value_set_static_string (value, gst_stereo_planner_get_in_force (((GstStereoMatchParts *) parts)->planner, &params));
}

static const GstStereoProperty properties[] = {
  { .name = "active-backend",
      .kind = GST_STEREO_STRING,
      .flags = G_PARAM_READABLE,
      .get = get_active_backend,
      .blurb = "The backend at work: cpu or cuda; NULL before the first pair" },
  { .name = "stats",
      .kind = GST_STEREO_STRUCTURE,
      .flags = G_PARAM_READABLE,
      .get = get_stats,
      .blurb = "What was counted and measured since the start, and what is wrong with the input now; docs/streams.md "
               "has a table of the fields" },
  { .name = "settings",
      .kind = GST_STEREO_STRUCTURE,
      .flags = G_PARAM_READABLE,
      .get = get_settings,
      .blurb = "All parameters in force; set-by-hand names those that were set. NULL when they contradict each "
               "other before the first pair" },
  { .name = NULL },
};

static void
install_properties (GObjectClass *klass, gssize parts)
{
  gst_stereo_properties_install (
      klass, gst_stereo_diagnosis_properties, parts + G_STRUCT_OFFSET (GstStereoMatchParts, diagnosis), TRUE);
  gst_stereo_properties_install (
      klass, gst_stereo_masks_properties, parts + G_STRUCT_OFFSET (GstStereoMatchParts, masks), TRUE);
  gst_stereo_properties_install (klass, properties, parts, FALSE);
  gst_stereo_properties_install (
      klass, gst_stereo_settings_properties (), parts + G_STRUCT_OFFSET (GstStereoMatchParts, settings), TRUE);
}

/* ---- start, stop, flush ------------------------------------------------------------------ */

static GstFlowReturn
gst_stereo_match_flush (GstAggregator *aggregator)
{
  GstStereoMatch *self = GST_STEREO_MATCH (aggregator);

  gst_stereo_flights_abandon (self->parts.flights);
  gst_stereo_diagnosis_flush (self->parts.diagnosis);
  self->history = (History){ .broken = TRUE };
  self->drained = GST_FLOW_OK;
  return GST_AGGREGATOR_CLASS (gst_stereo_match_parent_class)->flush (aggregator);
}

static gboolean
gst_stereo_match_start (GstAggregator *aggregator)
{
  GstStereoMatch *self = GST_STEREO_MATCH (aggregator);
  StereoParams params;
  gchar reason[256];

  gst_stereo_planner_start (self->parts.planner);
  gst_stereo_flights_start (self->parts.flights);
  gst_stereo_diagnosis_start (self->parts.diagnosis);
  self->history = (History){ .broken = TRUE };
  self->drained = GST_FLOW_OK;
  gst_stereo_settings_read (self->parts.settings, &params);
  if (!GST_AGGREGATOR_CLASS (gst_stereo_match_parent_class)->start (aggregator))
    return FALSE;
  if (params.backend == STEREO_BACKEND_CUDA &&
      !stereo_backend_available (STEREO_BACKEND_CUDA, params.cuda_device_id, reason, sizeof reason)) {
    GST_ELEMENT_ERROR (self, RESOURCE, NOT_FOUND, ("backend=cuda was asked for, and cannot be had: %s", reason),
        ("Set backend=cpu, or auto."));
    return FALSE;
  }
  if (gst_stereo_device_probe (self->parts.device))
    gst_stereo_aggregator_reconfigure (&self->parent);
  return TRUE;
}

/* The context may come before the element starts, and stays until it is in NULL again. */
static GstStateChangeReturn
gst_stereo_match_change_state (GstElement *element, GstStateChange transition)
{
  GstStateChangeReturn result = GST_ELEMENT_CLASS (gst_stereo_match_parent_class)->change_state (element, transition);

  if (transition == GST_STATE_CHANGE_READY_TO_NULL)
    gst_stereo_device_unshare (GST_STEREO_MATCH (element)->parts.device);
  return result;
}

static void
release (GstStereoMatch *self)
{
  gst_stereo_flights_abandon (self->parts.flights);
  gst_stereo_planner_release (self->parts.planner);
  gst_stereo_flights_unmap_failed (self->parts.flights);
  gst_stereo_device_release (self->parts.device);
  gst_stereo_match_output_release (self->parts.output);
  gst_stereo_cameras_reset (self->parts.cameras);
  gst_stereo_masks_release (self->parts.masks);
}

static gboolean
gst_stereo_match_stop (GstAggregator *aggregator)
{
  GstStereoMatch *self = GST_STEREO_MATCH (aggregator);

  release (self);
  g_autoptr (GstStructure) stats = make_stats (&self->parent, &self->parts);
  GST_INFO_OBJECT (self, "%" GST_PTR_FORMAT, stats);
  return GST_AGGREGATOR_CLASS (gst_stereo_match_parent_class)->stop (aggregator);
}

/* ---- properties -------------------------------------------------------------------------- */

/* Runs once when a g_object_set() of several properties is through: output=depth and the focal length
 * that goes with it take effect together, never one frame apart. */
static void
gst_stereo_match_dispatch_properties_changed (GObject *object, guint count, GParamSpec **specs)
{
  GstStereoMatch *self = GST_STEREO_MATCH (object);

  /* another backend may want frames in other memory */
  if (gst_stereo_settings_commit (self->parts.settings) && gst_stereo_cuda_built ())
    gst_stereo_aggregator_reconfigure (&self->parent);
  G_OBJECT_CLASS (gst_stereo_match_parent_class)->dispatch_properties_changed (object, count, specs);
}

/* ---- the class ---------------------------------------------------------------------------- */

static void
gst_stereo_match_dispose (GObject *object)
{
  GstStereoMatch *self = GST_STEREO_MATCH (object);

  release (self);
  gst_stereo_device_unshare (self->parts.device);
  G_OBJECT_CLASS (gst_stereo_match_parent_class)->dispose (object);
}

static void
gst_stereo_match_finalize (GObject *object)
{
  GstStereoMatchParts *parts = &GST_STEREO_MATCH (object)->parts;

  gst_stereo_flights_free (parts->flights);
  gst_stereo_match_output_free (parts->output);
  gst_stereo_diagnosis_free (parts->diagnosis);
  gst_stereo_planner_free (parts->planner);
  gst_stereo_device_free (parts->device);
  gst_stereo_masks_free (parts->masks);
  gst_stereo_cameras_free (parts->cameras);
  gst_stereo_settings_free (parts->settings);
  G_OBJECT_CLASS (gst_stereo_match_parent_class)->finalize (object);
}

static void
add_pad_templates (GstElementClass *klass)
{
  g_autoptr (GstCaps) caps = gst_stereo_output_format_template_caps ();

  gst_stereo_aggregator_class_add_templates (klass, gst_stereo_device_input_caps (NULL));
  gst_element_class_add_pad_template (
      klass, gst_pad_template_new_with_gtype ("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps, GST_TYPE_AGGREGATOR_PAD));
}

static void
gst_stereo_match_class_init (GstStereoMatchClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstAggregatorClass *aggregator_class = GST_AGGREGATOR_CLASS (klass);
  GstStereoAggregatorClass *base_class = GST_STEREO_AGGREGATOR_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (gst_stereo_match_debug, "stereomatch", 0, "stereo matcher");

  object_class->dispatch_properties_changed = gst_stereo_match_dispatch_properties_changed;
  object_class->dispose = gst_stereo_match_dispose;
  object_class->finalize = gst_stereo_match_finalize;
  install_properties (object_class, G_STRUCT_OFFSET (GstStereoMatch, parts));

  element_class->set_context = gst_stereo_match_set_context;
  element_class->change_state = gst_stereo_match_change_state;
  add_pad_templates (element_class);
  gst_element_class_set_static_metadata (element_class, "Stereo matcher", "Filter/Analyzer/Video/Stereo",
      "Makes disparity or depth, and the confidence of every pixel, from two rectified views: one each on sink_left "
      "and sink_right, or both in one frame on sink. Output of 16 bits: disparity times disparity-scale, or depth in "
      "millimetres; 0 = invalid",
      "gst-stereo");

  aggregator_class->src_query = gst_stereo_match_src_query;
  aggregator_class->sink_query = gst_stereo_match_sink_query;
  aggregator_class->start = gst_stereo_match_start;
  aggregator_class->stop = gst_stereo_match_stop;
  aggregator_class->flush = gst_stereo_match_flush;
  aggregator_class->negotiate = gst_stereo_match_negotiate;
  aggregator_class->update_src_caps = gst_stereo_match_update_src_caps;
  aggregator_class->negotiated_src_caps = gst_stereo_match_negotiated_src_caps;
  aggregator_class->decide_allocation = gst_stereo_match_decide_allocation;

  base_class->input_caps = gst_stereo_match_input_caps;
  base_class->process = gst_stereo_match_process;
  base_class->drain = gst_stereo_match_drain;
  base_class->silence = gst_stereo_match_silence;
}

static void
gst_stereo_match_init (GstStereoMatch *self)
{
  GstStereoMatchParts *parts = &self->parts;
  GstAggregator *aggregator = GST_AGGREGATOR (self);
  GstElement *element = GST_ELEMENT (self);

  parts->settings = gst_stereo_settings_new (element);
  parts->cameras = gst_stereo_cameras_new (element);
  parts->masks = gst_stereo_masks_new (element);
  parts->device = gst_stereo_device_new (element, parts->settings);
  parts->planner = gst_stereo_planner_new (element);
  parts->diagnosis = gst_stereo_diagnosis_new (element);
  parts->output = gst_stereo_match_output_new (aggregator);
  parts->flights = gst_stereo_flights_new (element, parts->planner, parts->output);
  gst_stereo_properties_init (G_OBJECT (self));
}
