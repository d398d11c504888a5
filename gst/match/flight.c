/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pairs in flight: submitted to the plan, not pushed yet.
 *
 * While the next pair is waiting already, one stays in flight when aggregate() returns, so that its computation and
 * the next pair's copies overlap. It stays only if aggregate() is sure to be called again at once: nothing is held
 * back that somebody could be waiting for. A live pipeline holds nothing back at all: a pair is late soon enough.
 */
#include "gst/match/element.h"

#include "gst/video/pool.h"

#define GST_CAT_DEFAULT gst_stereo_match_debug

static void
unmap_inputs (GstStereoFlight *flight)
{
  for (guint i = 0; i < G_N_ELEMENTS (flight->input); i++) {
    if (flight->input[i].buffer)
      gst_video_frame_unmap (&flight->input[i]);
    flight->input[i].buffer = NULL;
    gst_clear_buffer (&flight->input_buffer[i]);
  }
}

static void
unmap_outputs (GstStereoFlight *flight)
{
  if (flight->out_frame.buffer)
    gst_video_frame_unmap (&flight->out_frame);
  if (flight->confidence_frame.buffer)
    gst_video_frame_unmap (&flight->confidence_frame);
  flight->out_frame.buffer = flight->confidence_frame.buffer = NULL;
}

void
gst_stereo_flight_free (GstStereoFlight *flight)
{
  unmap_inputs (flight);
  unmap_outputs (flight);
  gst_clear_buffer (&flight->out);
  gst_clear_buffer (&flight->confidence);
  gst_clear_buffer (&flight->truth);
  g_free (flight);
}

static gboolean
map_outputs (GstStereoMatch *self, GstStereoFlight *flight, StereoOutput *output)
{
  const GstMapFlags flags = GST_MAP_WRITE | GST_VIDEO_FRAME_MAP_FLAG_NO_REF;

  if (!gst_video_frame_map (&flight->out_frame, &self->out_info, flight->out, flags))
    flight->out_frame.buffer = NULL;
  if (!gst_video_frame_map (&flight->confidence_frame, &self->confidence_info, flight->confidence, flags))
    flight->confidence_frame.buffer = NULL;
  if (!flight->out_frame.buffer || !flight->confidence_frame.buffer) {
    GST_ELEMENT_ERROR (self, RESOURCE, WRITE, ("An output buffer could not be written to."), (NULL));
    return FALSE;
  }
  gst_stereo_pool_clear_padding (&flight->out_frame);
  gst_stereo_pool_clear_padding (&flight->confidence_frame);
  output->data = GST_VIDEO_FRAME_PLANE_DATA (&flight->out_frame, 0);
  output->stride = GST_VIDEO_FRAME_PLANE_STRIDE (&flight->out_frame, 0);
  output->sample = GST_VIDEO_INFO_FORMAT (&self->out_info) == GST_VIDEO_FORMAT_GRAY8 ? STEREO_SAMPLE_U8 :
      STEREO_SAMPLE_U16;
  output->confidence = GST_VIDEO_FRAME_PLANE_DATA (&flight->confidence_frame, 0);
  output->confidence_stride = GST_VIDEO_FRAME_PLANE_STRIDE (&flight->confidence_frame, 0);
  return TRUE;
}

/* The plan cannot be used any more. */
static GstFlowReturn
fail (GstStereoMatch *self, const StereoError *error)
{
  gst_stereo_match_post_error (self, error, stereo_plan_params (self->plan));
  gst_stereo_match_abandon (self);
  gst_stereo_match_drop_plan (self);
  return GST_FLOW_ERROR;
}

GstFlowReturn
gst_stereo_match_submit (GstStereoMatch *self, GstStereoFlight *flight, const GstStereoLayout *layout)
{
  const GstVideoFrame *first = &flight->input[0], *second = flight->input[1].buffer ? &flight->input[1] : first;
  StereoImage left, right;
  StereoOutput output;
  StereoStatus status;
  StereoError error;
  GstFlowReturn flow;

  if (!map_outputs (self, flight, &output))
    return GST_FLOW_ERROR;
  gst_stereo_layout_images (layout, first, second, &left, &right);
  if (!gst_stereo_match_enter_context (self, self->plan_context))
    return GST_FLOW_ERROR;
  status = stereo_plan_submit (self->plan, &left, &right, &output, &error);
  gst_stereo_cuda_leave (self->plan_context);
  if (status != STEREO_OK) {
    /* those ahead are whole; or one of them tells why there can be no more */
    flow = gst_stereo_match_land (self);
    return flow == GST_FLOW_OK ? fail (self, &error) : flow;
  }
  /* what lies in device memory is read where it lies */
  if (left.memory == STEREO_MEMORY_HOST && right.memory == STEREO_MEMORY_HOST)
    unmap_inputs (flight);
  if (!g_queue_is_empty (&self->flights)) {
    GST_OBJECT_LOCK (self);
    self->stats.overlapped++;
    GST_OBJECT_UNLOCK (self);
  }
  g_queue_push_tail (&self->flights, flight);
  return GST_FLOW_OK;
}

/* A context that cannot be entered has nothing left to wait for: the plan says so then. */
static StereoStatus
wait_for_plan (GstStereoMatch *self, StereoStats *stats, StereoError *error)
{
  gboolean entered = gst_stereo_cuda_enter (self->plan_context);
  StereoStatus status = stereo_plan_collect (self->plan, stats, error);

  if (entered)
    gst_stereo_cuda_leave (self->plan_context);
  return status;
}

static GstFlowReturn
collect (GstStereoMatch *self)
{
  GstStereoFlight *flight = g_queue_pop_head (&self->flights);
  StereoStats stats;
  StereoError error;
  GstFlowReturn flow;

  if (wait_for_plan (self, &stats, &error) != STEREO_OK) {
    flow = fail (self, &error);
  } else {
    unmap_inputs (flight);
    unmap_outputs (flight);
    flow = gst_stereo_match_finish (self, flight, &stats);
  }
  gst_stereo_flight_free (flight);
  return flow;
}

static GstFlowReturn
collect_down_to (GstStereoMatch *self, guint rest)
{
  GstFlowReturn flow = GST_FLOW_OK;

  while (flow == GST_FLOW_OK && g_queue_get_length (&self->flights) > rest)
    flow = collect (self);
  /* nobody downstream takes the others either */
  if (flow != GST_FLOW_OK)
    gst_stereo_match_abandon (self);
  return flow;
}

GstFlowReturn
gst_stereo_match_land (GstStereoMatch *self)
{
  return collect_down_to (self, 0);
}

void
gst_stereo_match_abandon (GstStereoMatch *self)
{
  GstStereoFlight *flight;

  while ((flight = g_queue_pop_head (&self->flights))) {
    wait_for_plan (self, NULL, NULL);
    gst_stereo_flight_free (flight);
  }
}

/* Whether a frame waits on every pad, ahead of any event: aggregate() is called again at once, and only then does
 * anything else happen. */
static gboolean
more_waiting (GstStereoPad *const *pads, guint count)
{
  for (guint i = 0; i < count; i++)
    if (pads[i] && !gst_stereo_pad_has_buffer (pads[i]))
      return FALSE;
  return TRUE;
}

GstFlowReturn
gst_stereo_match_settle (GstStereoAggregator *base, GstStereoPad *const *pads, guint count, GstFlowReturn flow)
{
  GstStereoMatch *self = GST_STEREO_MATCH (base);
  gboolean live = GST_CLOCK_TIME_IS_VALID (gst_aggregator_get_latency (GST_AGGREGATOR (self)));
  gboolean stay = flow == GST_FLOW_OK && !live && !self->pool_limited && more_waiting (pads, count);
  GstFlowReturn landed = collect_down_to (self, stay ? 1 : 0);

  return landed == GST_FLOW_OK ? flow : landed;
}
