/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A camera of the rig: a thread that follows its script. */
#include "tests/support/streams/rig.h"

#include "tests/support/gst/numbered.h"

static const gchar *const view_names[2] = { "left", "right" };
static const gchar *const pad_names[2] = { "sink_left", "sink_right" };

static gboolean
answer (GstPad *pad, GstObject *parent, GstQuery *query)
{
  RigCamera *camera = g_object_get_data (G_OBJECT (pad), "camera");

  if (GST_QUERY_TYPE (query) != GST_QUERY_LATENCY)
    return gst_pad_query_default (pad, parent, query);
  gst_query_set_latency (query, camera->rig->live, camera->rig->live ? SCRIPT_FRAME : 0, GST_CLOCK_TIME_NONE);
  return TRUE;
}

void
camera_link (RigCamera *camera)
{
  g_autoptr (GstPad) pad = gst_element_request_pad_simple (camera->rig->element, pad_names[camera->view]);

  g_assert (pad && gst_pad_link (camera->out, pad) == GST_PAD_LINK_OK);
}

void
camera_init (RigCamera *camera, Rig *rig, guint view)
{
  g_autofree gchar *id = g_strdup_printf ("camera-%u", view);

  camera->rig = rig;
  camera->view = view;
  g_mutex_init (&camera->stream);
  camera->src = gst_object_ref_sink (gst_pad_new (view_names[view], GST_PAD_SRC));
  camera->out = gst_object_ref (camera->src);
  g_object_set_data (G_OBJECT (camera->src), "camera", camera);
  gst_pad_set_query_function (camera->src, answer);
  gst_pad_set_active (camera->src, TRUE);
  gst_pad_push_event (camera->src, gst_event_new_stream_start (id));
  camera_link (camera);
}

void
rig_insert (Rig *rig, guint view, const gchar *description)
{
  RigCamera *camera = &rig->cameras[view];
  g_autoptr (GstPad) pad = gst_pad_get_peer (camera->src), sink = NULL;

  camera->filter = gst_object_ref_sink (gst_parse_launch (description, NULL));
  gst_element_set_bus (camera->filter, rig->bus);
  gst_object_unref (camera->out);
  camera->out = gst_element_get_static_pad (camera->filter, "src");
  sink = gst_element_get_static_pad (camera->filter, "sink");
  gst_pad_unlink (camera->src, pad);
  g_assert (gst_pad_link (camera->src, sink) == GST_PAD_LINK_OK && gst_pad_link (camera->out, pad) == GST_PAD_LINK_OK);
  gst_element_set_state (camera->filter, GST_STATE_PLAYING);
}

static void
send_caps (RigCamera *camera, gint width)
{
  g_autoptr (GstCaps) caps = gst_caps_new_simple ("video/x-raw", "format", G_TYPE_STRING,
      gst_video_format_to_string (camera->rig->kind->in), "width", G_TYPE_INT, width, "height", G_TYPE_INT,
      NUMBERED_HEIGHT, "framerate", GST_TYPE_FRACTION, camera->rig->script->rate[camera->view], 1, NULL);

  gst_pad_push_event (camera->src, gst_event_new_caps (caps));
}

/* With the stream lock held. */
static void
send_frame (RigCamera *camera, const Step *step)
{
  Script *script = camera->rig->script;
  Frame *frame = &g_array_index (script->frames[camera->view], Frame, step->frame);
  GstBuffer *buffer = numbered_view_as (camera->rig->kind->in, step->frame, camera->view == 1, frame->width);

  GST_BUFFER_PTS (buffer) = frame->pts;
  GST_BUFFER_DURATION (buffer) = frame->duration;
  g_mutex_lock (&camera->rig->lock);
  frame->pushed = TRUE;
  g_mutex_unlock (&camera->rig->lock);
  camera->flow = gst_pad_push (camera->src, buffer);
  if (camera->flow == GST_FLOW_OK && !frame->outside)
    camera->sent++;
}

static void
take_step (RigCamera *camera, const Step *step)
{
  switch (step->kind) {
    case STEP_FRAME:
      send_frame (camera, step);
      break;
    case STEP_GAP:
      gst_pad_push_event (camera->src, gst_event_new_gap (step->start, step->duration));
      break;
    case STEP_CAPS:
      send_caps (camera, step->width);
      break;
    case STEP_SEGMENT:
      gst_pad_push_event (camera->src, gst_event_new_segment (&step->segment));
      break;
    case STEP_OFFSET:
      gst_pad_set_offset (camera->src, step->offset);
      break;
    case STEP_EVENT:
      gst_pad_push_event (camera->src,
          gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM, gst_structure_new_empty ("between-the-frames")));
      break;
    default:
      gst_pad_push_event (camera->src, gst_event_new_eos ());
  }
}

/* FALSE when the camera is to stop. */
static gboolean
may_end (Rig *rig, guint view)
{
  g_mutex_lock (&rig->lock);
  g_atomic_int_set (&rig->cameras[view].at, (gint) rig->script->steps[view]->len - 1);
  g_cond_broadcast (&rig->changed);
  while (rig->hold_end && !rig->stop)
    g_cond_wait (&rig->changed, &rig->lock);
  gboolean go_on = !rig->stop;
  g_mutex_unlock (&rig->lock);
  return go_on;
}

/* While the rig does something to the element, no camera goes on: it would only send into the void. */
static void
wait_for_turn (Rig *rig)
{
  g_mutex_lock (&rig->lock);
  while (rig->busy && !rig->stop)
    g_cond_wait (&rig->changed, &rig->lock);
  g_mutex_unlock (&rig->lock);
}

/* What is upstream met an error, and has said so: a source then ends its stream, or its thread is gone. */
static gpointer
end_after_error (RigCamera *camera)
{
  if (!camera->rig->dies)
    gst_pad_push_event (camera->src, gst_event_new_eos ());
  return NULL;
}

static gpointer
run_camera (gpointer data)
{
  RigCamera *camera = data;
  GArray *steps = camera->rig->script->steps[camera->view];

  for (guint i = 0; i < steps->len; i++) {
    const Step *step = &g_array_index (steps, Step, i);
    if (step->kind == STEP_EOS && !may_end (camera->rig, camera->view))
      break;
    wait_for_turn (camera->rig);
    g_mutex_lock (&camera->stream);
    g_atomic_int_set (&camera->at, (gint) i);
    take_step (camera, step);
    g_mutex_unlock (&camera->stream);
    if (camera->flow == GST_FLOW_ERROR)
      return end_after_error (camera);
  }
  return NULL;
}

void
camera_start (RigCamera *camera)
{
  camera->thread = g_thread_new (view_names[camera->view], run_camera, camera);
}

/* ---- beginning again, and the end -------------------------------------------------------- */

/* The segment that the camera is in; NULL before the first. */
static const GstSegment *
segment_of (const RigCamera *camera)
{
  const GstSegment *segment = NULL;

  for (gint i = 0; i <= g_atomic_int_get (&camera->at); i++) {
    const Step *step = &g_array_index (camera->rig->script->steps[camera->view], Step, i);
    if (step->kind == STEP_SEGMENT)
      segment = &step->segment;
  }
  return segment;
}

void
camera_send_segment_again (RigCamera *camera)
{
  const GstSegment *segment = segment_of (camera);

  /* a camera that has not begun sends its first one after its caps */
  if (gst_pad_has_current_caps (camera->src) && segment)
    gst_pad_push_event (camera->src, gst_event_new_segment (segment));
}

void
camera_introduce (RigCamera *camera)
{
  GstEvent *caps = gst_pad_get_sticky_event (camera->src, GST_EVENT_CAPS, 0);

  gst_pad_push_event (camera->src, gst_event_new_stream_start ("again"));
  if (caps)
    gst_pad_push_event (camera->src, caps);
  camera_send_segment_again (camera);
}

void
camera_clear (RigCamera *camera)
{
  GstPad *pad = gst_pad_get_peer (camera->out);

  if (camera->filter)
    gst_element_set_state (camera->filter, GST_STATE_NULL);
  if (camera->thread)
    g_thread_join (camera->thread);
  if (pad)
    gst_element_release_request_pad (camera->rig->element, pad);
  gst_clear_object (&pad);
  gst_pad_set_active (camera->src, FALSE);
  gst_clear_object (&camera->out);
  gst_clear_object (&camera->src);
  if (camera->filter)
    gst_element_set_bus (camera->filter, NULL);
  gst_clear_object (&camera->filter);
  g_mutex_clear (&camera->stream);
}
