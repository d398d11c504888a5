/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/flight.h"

#include "gst/match/debug.h"

#define NOTEWORTHY 0.1 /* px that an alignment changes by */
/* In a format whose samples are filled by the search range, 1 is its begin and 255 its end. */
#define RANGE_STEPS 254.0

typedef struct
{
  GstStereoMatchPair pair;
  GstStereoMappedOutput mapped; /* until it is collected */
  GstVideoFrame input[2];       /* mapped while the plan reads there; one frame for both views: the first alone */
  GstBuffer *input_buffer[2];
} Flight;

struct _GstStereoFlights
{
  GstElement *element;
  GstStereoPlanner *planner;
  GstStereoMatchOutput *output;

  /* of the source pad's task */
  GQueue queue;           /* of Flight, oldest first */
  GQueue failed;          /* of Flight: with a plan that was not dropped yet */
  StereoAlignment logged; /* the last one that was logged */

  GstStereoFlightsStats stats; /* protected by the element's object lock */
};

GstStereoFlights *
gst_stereo_flights_new (GstElement *element, GstStereoPlanner *planner, GstStereoMatchOutput *output)
{
  GstStereoFlights *flights = g_new0 (GstStereoFlights, 1);

  flights->element = element;
  flights->planner = planner;
  flights->output = output;
  g_queue_init (&flights->queue);
  g_queue_init (&flights->failed);
  return flights;
}

void
gst_stereo_flights_free (GstStereoFlights *flights)
{
  gst_stereo_flights_abandon (flights);
  gst_stereo_flights_unmap_failed (flights);
  g_free (flights);
}

void
gst_stereo_flights_start (GstStereoFlights *flights)
{
  GST_OBJECT_LOCK (flights->element);
  memset (&flights->stats, 0, sizeof flights->stats);
  GST_OBJECT_UNLOCK (flights->element);
  memset (&flights->logged, 0, sizeof flights->logged);
}

guint
gst_stereo_flights_count (const GstStereoFlights *flights)
{
  return flights->queue.length;
}

void
gst_stereo_flights_get_stats (GstStereoFlights *flights, GstStereoFlightsStats *stats)
{
  GST_OBJECT_LOCK (flights->element);
  *stats = flights->stats;
  GST_OBJECT_UNLOCK (flights->element);
}

void
gst_stereo_match_pair_set_units (const GstStereoMatchPair *pair, const GstStereoOutputFormat *format,
    const StereoParams *params, GstStereoMeta *meta)
{
  meta->kind = GST_STEREO_OUTPUT_KIND_DISPARITY;
  meta->disparity_scale = params->disparity_scale;
  if (params->output == STEREO_OUTPUT_DEPTH) {
    meta->kind = GST_STEREO_OUTPUT_KIND_DEPTH;
  } else if (format->is_range) {
    meta->kind = GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE;
    meta->disparity_scale = RANGE_STEPS / MAX (1, params->num_disparities - 1);
  }
  meta->min_disparity = params->min_disparity;
  meta->num_disparities = params->num_disparities;
  meta->focal_length = pair->geometry.focal_length;
  meta->focal_length_y = pair->geometry.focal_length * pair->geometry.focal_ratio;
  meta->baseline = pair->geometry.baseline;
  meta->principal_offset = pair->geometry.principal_offset;
  meta->principal_x = pair->geometry.principal_x;
  meta->principal_y = pair->geometry.principal_y;
  meta->depth_unit = params->depth_unit;
}

void
gst_stereo_match_pair_clear (GstStereoMatchPair *pair)
{
  gst_clear_buffer (&pair->out);
  gst_clear_buffer (&pair->confidence);
  gst_clear_buffer (&pair->truth);
  g_clear_pointer (&pair->mask, gst_stereo_mask_unref);
  g_clear_pointer (&pair->unmeasured, g_atomic_rc_box_release);
}

static void
unmap_inputs (Flight *flight)
{
  for (guint i = 0; i < G_N_ELEMENTS (flight->input); i++) {
    if (flight->input[i].buffer)
      gst_video_frame_unmap (&flight->input[i]);
    flight->input[i].buffer = NULL;
    gst_clear_buffer (&flight->input_buffer[i]);
  }
}

static void
free_flight (Flight *flight)
{
  unmap_inputs (flight);
  gst_stereo_mapped_output_unmap (&flight->mapped);
  gst_stereo_match_pair_clear (&flight->pair);
  g_free (flight);
}

/* ---- map ---------------------------------------------------------------------------------- */

/* Device memory is read where it lies, for as long as the pair is in flight. */
static gboolean
map_inputs (GstStereoFlights *flights, Flight *flight, const GstStereoFrame *left, const GstStereoFrame *right)
{
  const GstStereoFrame *frames[2] = { left, right };

  for (guint i = 0; i < (left == right ? 1u : 2u); i++) {
    if (!gst_stereo_map_input (
            flights->element, &flight->input[i], frames[i], gst_stereo_planner_context (flights->planner))) {
      flight->input[i].buffer = NULL;
      return FALSE;
    }
    flight->input_buffer[i] = gst_buffer_ref (frames[i]->buffer);
  }
  return TRUE;
}

/* ---- submit ------------------------------------------------------------------------------- */

/* Says so when the plan begins to align the views, ends it, or aligns them otherwise than it last said. */
static void
note_alignment (GstStereoFlights *flights)
{
  StereoAlignment now, *logged = &flights->logged;
  gdouble change = 0;

  stereo_plan_alignment (gst_stereo_planner_plan (flights->planner), &now);
  GST_OBJECT_LOCK (flights->element);
  flights->stats.alignment = now;
  GST_OBJECT_UNLOCK (flights->element);
  for (guint i = 0; i < G_N_ELEMENTS (now.coefficients) && now.active; i++)
    change += ABS (now.coefficients[i] - logged->coefficients[i]) / (i == 0 ? 1 : i < 3 ? 2 : 4);
  if (now.active && (!logged->active || change > NOTEWORTHY))
    GST_INFO_OBJECT (flights->element,
        "the right view is aligned: it lies %.2f px lower in its middle, up to %.2f px off elsewhere; %d points are "
        "off by %.2f px without alignment and by %.2f px with it",
        now.coefficients[0], now.max, now.points, now.before, now.after);
  else if (now.active == logged->active)
    return;
  else if (!now.active)
    GST_INFO_OBJECT (flights->element, "the views are not aligned any more");
  *logged = now;
}

/* Inputs and outputs are mapped. */
static GstFlowReturn
submit (GstStereoFlights *flights, Flight *flight, const GstStereoLayout *layout, StereoOutput *target,
    const GstStereoMatchPair *pair, StereoError *error)
{
  StereoPlan *plan = gst_stereo_planner_plan (flights->planner);
  const GstVideoFrame *first = &flight->input[0], *second = flight->input[1].buffer ? &flight->input[1] : first;
  StereoImage left, right;
  StereoStatus status = STEREO_OK;

  gst_stereo_layout_images (layout, first, second, &left, &right);
  if (pair->mask) {
    const gint first_row = pair->mask->first_row;
    left.data += first_row * left.stride;
    right.data += first_row * right.stride;
    target->data = (guint8 *) target->data + first_row * target->stride;
    target->confidence += first_row * target->confidence_stride;
  }
  if (!gst_stereo_planner_enter (flights->planner))
    return GST_FLOW_ERROR;
  if (pair->forget)
    status = stereo_plan_forget (plan, error);
  if (status == STEREO_OK)
    status = stereo_plan_submit (plan, &left, &right, target, error);
  gst_stereo_planner_leave (flights->planner);
  if (status != STEREO_OK)
    return GST_STEREO_FLOW_PLAN_FAILED;
  note_alignment (flights);
  /* host memory was copied: upstream gets its buffers back */
  if (left.memory == STEREO_MEMORY_HOST && right.memory == STEREO_MEMORY_HOST)
    unmap_inputs (flight);
  return GST_FLOW_OK;
}

GstFlowReturn
gst_stereo_flights_submit (GstStereoFlights *flights, GstStereoMatchPair *pair, const GstStereoFrame *left,
    const GstStereoFrame *right, StereoError *error)
{
  Flight *flight = g_new0 (Flight, 1);
  GstFlowReturn flow = GST_FLOW_ERROR;
  StereoOutput target;

  if (map_inputs (flights, flight, left, right) &&
      gst_stereo_match_output_map (flights->output, &flight->mapped, pair->out, pair->confidence, &target))
    flow = submit (flights, flight, &left->layout, &target, pair, error);
  if (flow != GST_FLOW_OK && flow != GST_STEREO_FLOW_PLAN_FAILED) {
    free_flight (flight);
    return flow;
  }
  flight->pair = *pair;
  *pair = (GstStereoMatchPair){ 0 };
  if (flow == GST_STEREO_FLOW_PLAN_FAILED) {
    g_queue_push_tail (&flights->failed, flight);
    return flow;
  }
  GST_LOG_OBJECT (flights->element, "submitted, %u in flight before it", flights->queue.length);
  if (flights->queue.length) {
    GST_OBJECT_LOCK (flights->element);
    flights->stats.overlapped++;
    GST_OBJECT_UNLOCK (flights->element);
  }
  g_queue_push_tail (&flights->queue, flight);
  return GST_FLOW_OK;
}

/* ---- collect ------------------------------------------------------------------------------ */

/* Excludes what the mask excludes, and what has no evidence, before downstream sees the picture. */
static void
exclude (GstStereoFlights *flights, Flight *flight, StereoStats *stats)
{
  const GstVideoFrame *samples = &flight->mapped.frame, *confidence = &flight->mapped.confidence;
  const GstStereoMaskedPicture picture = { GST_VIDEO_FRAME_PLANE_DATA (samples, 0),
    GST_VIDEO_FRAME_PLANE_STRIDE (samples, 0), GST_VIDEO_FRAME_COMP_PSTRIDE (samples, 0),
    GST_VIDEO_FRAME_PLANE_DATA (confidence, 0), GST_VIDEO_FRAME_PLANE_STRIDE (confidence, 0) };
  const GstStereoMatchPair *pair = &flight->pair;
  GstStereoMeta units = { .width = (guint) pair->width, .height = (guint) pair->height };

  if (pair->mask)
    gst_stereo_mask_apply (pair->mask, &picture, &stats->valid_ratio, &stats->mean_confidence);
  if (!pair->unmeasured)
    return;
  gst_stereo_match_pair_set_units (pair, gst_stereo_match_output_format (flights->output),
      stereo_plan_params (gst_stereo_planner_plan (flights->planner)), &units);
  gst_stereo_unmeasured_apply (pair->unmeasured, &picture, &units,
      pair->mask ? pair->mask->count : (guint64) pair->width * (guint64) pair->height, &stats->valid_ratio,
      &stats->mean_confidence);
}

GstFlowReturn
gst_stereo_flights_collect (GstStereoFlights *flights, GstStereoMatchPair *pair, StereoStats *stats, StereoError *error)
{
  Flight *flight = g_queue_pop_head (&flights->queue);

  if (gst_stereo_planner_collect (flights->planner, stats, error) != STEREO_OK) {
    g_queue_push_tail (&flights->failed, flight);
    return GST_STEREO_FLOW_PLAN_FAILED;
  }
  exclude (flights, flight, stats);
  gst_stereo_mapped_output_order_bytes (&flight->mapped);
  GST_OBJECT_LOCK (flights->element);
  flights->stats.steps_total += stats->steps_ns;
  flights->stats.valid_ratio = stats->valid_ratio;
  flights->stats.mean_confidence = stats->mean_confidence;
  GST_OBJECT_UNLOCK (flights->element);
  gst_stereo_mapped_output_unmap (&flight->mapped);
  *pair = flight->pair;
  flight->pair = (GstStereoMatchPair){ 0 };
  free_flight (flight);
  return GST_FLOW_OK;
}

void
gst_stereo_flights_abandon (GstStereoFlights *flights)
{
  Flight *flight;

  while ((flight = g_queue_pop_head (&flights->queue))) {
    GST_DEBUG_OBJECT (flights->element, "a pair in flight is dropped");
    gst_stereo_planner_collect (flights->planner, NULL, NULL);
    free_flight (flight);
  }
}

void
gst_stereo_flights_unmap_failed (GstStereoFlights *flights)
{
  Flight *flight;

  while ((flight = g_queue_pop_head (&flights->failed)))
    free_flight (flight);
}
