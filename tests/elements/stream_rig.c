/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stream_rig.h"

#include "numbered.h"

static const gchar *const view_names[2] = { "left", "right" };

/* ---- what comes out ---------------------------------------------------------------------- */

static GstFlowReturn
take_output (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  Rig *rig = g_object_get_data (G_OBJECT (pad), "rig");
  GstClockTime pts = GST_BUFFER_PTS (buffer);
  gboolean late;

  g_mutex_lock (&rig->lock);
  rig_judge_output (rig, buffer);
  rig->outputs++;
  late = rig->late_every && rig->outputs % rig->late_every == 0 && GST_CLOCK_TIME_IS_VALID (pts);
  rig->script->faults[FAULT_LATE] += late;
  g_cond_broadcast (&rig->changed);
  g_mutex_unlock (&rig->lock);
  gst_buffer_unref (buffer);
  if (late)
    gst_pad_push_event (pad, gst_event_new_qos (GST_QOS_TYPE_UNDERFLOW, 2, SCRIPT_FRAME, pts));
  return GST_FLOW_OK;
}

static gboolean
take_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  Rig *rig = g_object_get_data (G_OBJECT (pad), "rig");

  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS) {
    g_mutex_lock (&rig->lock);
    rig->eos = TRUE;
    g_cond_broadcast (&rig->changed);
    g_mutex_unlock (&rig->lock);
  }
  gst_event_unref (event);
  return TRUE;
}

/* Anything: a pad's own answer would be the caps that it has. */
static gboolean
take_query (GstPad *pad, GstObject *parent, GstQuery *query)
{
  GstCaps *filter, *any;

  switch (GST_QUERY_TYPE (query)) {
    case GST_QUERY_CAPS:
      gst_query_parse_caps (query, &filter);
      any = filter ? gst_caps_ref (filter) : gst_caps_new_any ();
      gst_query_set_caps_result (query, any);
      gst_caps_unref (any);
      return TRUE;
    case GST_QUERY_ACCEPT_CAPS:
      gst_query_set_accept_caps_result (query, TRUE);
      return TRUE;
    default:
      return gst_pad_query_default (pad, parent, query);
  }
}

/* ---- the cameras ------------------------------------------------------------------------- */

static gboolean
answer (GstPad *pad, GstObject *parent, GstQuery *query)
{
  RigCamera *camera = g_object_get_data (G_OBJECT (pad), "camera");

  if (GST_QUERY_TYPE (query) != GST_QUERY_LATENCY)
    return gst_pad_query_default (pad, parent, query);
  gst_query_set_latency (query, camera->rig->live, camera->rig->live ? SCRIPT_FRAME : 0, GST_CLOCK_TIME_NONE);
  return TRUE;
}

static GstEvent *
segment_event (GstClockTime start)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.start = segment.time = segment.position = start;
  return gst_event_new_segment (&segment);
}

static void
send_caps (RigCamera *camera, gint width)
{
  GstCaps *caps = gst_caps_new_simple ("video/x-raw", "format", G_TYPE_STRING, "GRAY8", "width", G_TYPE_INT, width,
      "height", G_TYPE_INT, NUMBERED_HEIGHT, "framerate", GST_TYPE_FRACTION, camera->rig->script->rate[camera->view], 1,
      NULL);

  gst_pad_push_event (camera->src, gst_event_new_caps (caps));
  gst_caps_unref (caps);
}

/* With the stream lock held. */
static void
send_frame (RigCamera *camera, const Step *step)
{
  Script *script = camera->rig->script;
  Frame *frame = &g_array_index (script->frames[camera->view], Frame, step->frame);
  GstBuffer *buffer = numbered_view (step->frame, camera->view == 1, frame->width);

  GST_BUFFER_PTS (buffer) = frame->pts;
  GST_BUFFER_DURATION (buffer) = script->duration[camera->view];
  g_mutex_lock (&camera->rig->lock);
  frame->pushed = TRUE;
  g_mutex_unlock (&camera->rig->lock);
  if (gst_pad_push (camera->src, buffer) == GST_FLOW_OK)
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
      gst_pad_push_event (camera->src, segment_event (step->start));
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
  gboolean go_on;

  g_mutex_lock (&rig->lock);
  g_atomic_int_set (&rig->cameras[view].at, (gint) rig->script->steps[view]->len - 1);
  g_cond_broadcast (&rig->changed);
  while (rig->hold_end && !rig->stop)
    g_cond_wait (&rig->changed, &rig->lock);
  go_on = !rig->stop;
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

static void
set_busy (Rig *rig, gboolean busy)
{
  g_mutex_lock (&rig->lock);
  rig->busy = busy;
  g_cond_broadcast (&rig->changed);
  g_mutex_unlock (&rig->lock);
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
  }
  return NULL;
}

/* ---- the rig ----------------------------------------------------------------------------- */

static const gchar *const pad_names[2] = { "sink_left", "sink_right" };

static void
link_camera (RigCamera *camera)
{
  GstPad *pad = gst_element_request_pad_simple (camera->rig->element, pad_names[camera->view]);

  g_assert (pad && gst_pad_link (camera->src, pad) == GST_PAD_LINK_OK);
  gst_object_unref (pad);
}

static void
new_camera (Rig *rig, guint view)
{
  RigCamera *camera = &rig->cameras[view];
  gchar *id = g_strdup_printf ("camera-%u", view);

  camera->rig = rig;
  camera->view = view;
  g_mutex_init (&camera->stream);
  camera->src = gst_object_ref_sink (gst_pad_new (view_names[view], GST_PAD_SRC));
  g_object_set_data (G_OBJECT (camera->src), "camera", camera);
  gst_pad_set_query_function (camera->src, answer);
  gst_pad_set_active (camera->src, TRUE);
  gst_pad_push_event (camera->src, gst_event_new_stream_start (id));
  link_camera (camera);
  g_free (id);
}

static GstBusSyncReply
take_message (GstBus *bus, GstMessage *message, gpointer data)
{
  GError *error = NULL;
  Rig *rig = data;

  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR) {
    gst_message_parse_error (message, &error, NULL);
    g_mutex_lock (&rig->lock);
    rig_complain (rig, "an error: %s", error->message);
    g_cond_broadcast (&rig->changed);
    g_mutex_unlock (&rig->lock);
    g_clear_error (&error);
  } else if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_QOS) {
    g_atomic_int_inc (&rig->complaints);
  }
  gst_message_unref (message);
  return GST_BUS_DROP;
}

static void
set_properties_of (GstElement *element, const gchar *properties)
{
  gchar **all = g_strsplit (properties, " ", -1);

  for (gchar **one = all; *one; one++) {
    gchar *value = strchr (*one, '=');
    if (value) {
      *value++ = 0;
      gst_util_set_object_arg (G_OBJECT (element), *one, value);
    }
  }
  g_strfreev (all);
}

static void
new_sink (Rig *rig)
{
  GstPad *src = gst_element_get_static_pad (rig->element, "src");

  rig->sink = gst_object_ref_sink (gst_pad_new ("sink", GST_PAD_SINK));
  g_object_set_data (G_OBJECT (rig->sink), "rig", rig);
  gst_pad_set_chain_function (rig->sink, take_output);
  gst_pad_set_event_function (rig->sink, take_event);
  gst_pad_set_query_function (rig->sink, take_query);
  gst_pad_set_active (rig->sink, TRUE);
  g_assert (gst_pad_link (src, rig->sink) == GST_PAD_LINK_OK);
  gst_object_unref (src);
}

Rig *
rig_new (Script *script, const gchar *properties, gboolean live)
{
  const gchar *backend = g_getenv ("STEREO_BACKEND");
  Rig *rig = g_new0 (Rig, 1);

  rig->script = script;
  rig->live = live;
  rig->deeds = g_string_new (live ? "live" : "");
  rig->hold_end = TRUE;
  g_mutex_init (&rig->lock);
  g_cond_init (&rig->changed);
  rig->element = gst_object_ref_sink (gst_element_factory_make ("stereomatch", NULL));
  rig->bus = gst_bus_new ();
  gst_bus_set_sync_handler (rig->bus, take_message, rig, NULL);
  gst_element_set_bus (rig->element, rig->bus);
  set_properties_of (rig->element, NUMBERED_EXACT);
  gst_util_set_object_arg (G_OBJECT (rig->element), "backend", backend ? backend : "cpu");
  if (properties)
    set_properties_of (rig->element, properties);
  new_sink (rig);
  for (guint view = 0; view < 2; view++)
    new_camera (rig, view);
  return rig;
}

void
rig_play (Rig *rig)
{
  gst_element_set_state (rig->element, GST_STATE_PLAYING);
  for (guint view = 0; view < 2; view++)
    rig->cameras[view].thread = g_thread_new (view_names[view], run_camera, &rig->cameras[view]);
}

/* One that has nothing more to send may be all that the other one waits for. */
static gboolean
at_the_end (Rig *rig)
{
  for (guint view = 0; view < 2; view++)
    if (g_atomic_int_get (&rig->cameras[view].at) + 1 == (gint) rig->script->steps[view]->len)
      return TRUE;
  return FALSE;
}

void
rig_wait (Rig *rig, guint outputs)
{
  g_mutex_lock (&rig->lock);
  while (rig->outputs < outputs && !rig->eos && !rig->failure && !at_the_end (rig))
    g_cond_wait (&rig->changed, &rig->lock);
  g_mutex_unlock (&rig->lock);
}

/* The segment that the camera is in. */
static GstClockTime
segment_of (const RigCamera *camera)
{
  GstClockTime start = 0;

  for (gint i = 0; i <= g_atomic_int_get (&camera->at); i++) {
    const Step *step = &g_array_index (camera->rig->script->steps[camera->view], Step, i);
    if (step->kind == STEP_SEGMENT)
      start = step->start;
  }
  return start;
}

static void
send_segment_again (RigCamera *camera)
{
  /* a camera that has not begun sends its first one after its caps */
  if (gst_pad_has_current_caps (camera->src))
    gst_pad_push_event (camera->src, segment_event (segment_of (camera)));
}

/* What an element that starts has to be told again. */
static void
introduce (RigCamera *camera)
{
  GstEvent *caps = gst_pad_get_sticky_event (camera->src, GST_EVENT_CAPS, 0);

  gst_pad_push_event (camera->src, gst_event_new_stream_start ("again"));
  if (caps)
    gst_pad_push_event (camera->src, caps);
  send_segment_again (camera);
}

static void
lose (Rig *rig, const gchar *deed, gboolean restarted)
{
  g_mutex_lock (&rig->lock);
  g_string_append_printf (rig->deeds, " %s@%u", deed, rig->outputs);
  rig->lossy = TRUE;
  if (restarted) {
    rig->restarted = rig->outputs;
    rig->cameras[0].sent = rig->cameras[1].sent = 0;
  }
  g_mutex_unlock (&rig->lock);
}

void
rig_flush (Rig *rig)
{
  GstEvent *start = gst_event_new_flush_start (), *stop = gst_event_new_flush_stop (TRUE);

  set_busy (rig, TRUE);
  gst_event_set_seqnum (stop, gst_event_get_seqnum (start));
  for (guint view = 0; view < 2; view++)
    gst_pad_push_event (rig->cameras[view].src, gst_event_ref (start));
  for (guint view = 0; view < 2; view++)
    g_mutex_lock (&rig->cameras[view].stream);
  lose (rig, "flush", FALSE);
  for (guint view = 0; view < 2; view++)
    gst_pad_push_event (rig->cameras[view].src, gst_event_ref (stop));
  for (guint view = 0; view < 2; view++) {
    send_segment_again (&rig->cameras[view]);
    g_mutex_unlock (&rig->cameras[view].stream);
  }
  gst_event_unref (start);
  gst_event_unref (stop);
  set_busy (rig, FALSE);
  rig->script->faults[FAULT_FLUSH]++;
}

void
rig_restart (Rig *rig)
{
  set_busy (rig, TRUE);
  gst_element_set_state (rig->element, GST_STATE_NULL);
  for (guint view = 0; view < 2; view++)
    g_mutex_lock (&rig->cameras[view].stream);
  lose (rig, "restart", TRUE);
  gst_element_set_state (rig->element, GST_STATE_PLAYING);
  for (guint view = 0; view < 2; view++) {
    introduce (&rig->cameras[view]);
    g_mutex_unlock (&rig->cameras[view].stream);
  }
  set_busy (rig, FALSE);
  rig->script->faults[FAULT_RESTART]++;
}

void
rig_pause (Rig *rig)
{
  gst_element_set_state (rig->element, GST_STATE_PAUSED);
  gst_element_set_state (rig->element, GST_STATE_PLAYING);
  rig->script->faults[FAULT_PAUSE]++;
}

void
rig_take_pad (Rig *rig, guint view)
{
  RigCamera *camera = &rig->cameras[view];
  GstPad *pad = gst_pad_get_peer (camera->src);

  set_busy (rig, TRUE);
  gst_element_release_request_pad (rig->element, pad);
  g_mutex_lock (&camera->stream);
  gst_pad_unlink (camera->src, pad);
  gst_object_unref (pad);
  lose (rig, view ? "right-pad" : "left-pad", FALSE);
  g_mutex_unlock (&camera->stream);
}

void
rig_give_pad (Rig *rig, guint view)
{
  RigCamera *camera = &rig->cameras[view];

  g_mutex_lock (&camera->stream);
  link_camera (camera);
  g_mutex_unlock (&camera->stream);
  set_busy (rig, FALSE);
  rig->script->faults[FAULT_REPAD]++;
}

void
rig_repad (Rig *rig, guint view)
{
  rig_take_pad (rig, view);
  rig_give_pad (rig, view);
}

/* ---- the end ----------------------------------------------------------------------------- */

gchar *
rig_end (Rig *rig)
{
  g_mutex_lock (&rig->lock);
  rig->hold_end = FALSE;
  g_cond_broadcast (&rig->changed);
  while (!rig->eos && !rig->failure)
    g_cond_wait (&rig->changed, &rig->lock);
  g_mutex_unlock (&rig->lock);
  for (guint view = 0; view < 2 && rig->eos; view++)
    g_thread_join (g_steal_pointer (&rig->cameras[view].thread));
  g_mutex_lock (&rig->lock);
  rig_judge_counts (rig);
  g_mutex_unlock (&rig->lock);
  if (!rig->failure)
    return NULL;
  return g_strdup_printf ("%s [%s]", rig->failure, rig->deeds->str);
}

void
rig_free (Rig *rig)
{
  g_mutex_lock (&rig->lock);
  rig->stop = TRUE;
  g_cond_broadcast (&rig->changed);
  g_mutex_unlock (&rig->lock);
  gst_element_set_state (rig->element, GST_STATE_NULL);
  for (guint view = 0; view < 2; view++) {
    RigCamera *camera = &rig->cameras[view];
    GstPad *pad = gst_pad_get_peer (camera->src);
    if (camera->thread)
      g_thread_join (camera->thread);
    if (pad)
      gst_element_release_request_pad (rig->element, pad);
    gst_clear_object (&pad);
    gst_pad_set_active (camera->src, FALSE);
    gst_object_unref (camera->src);
    g_mutex_clear (&camera->stream);
  }
  gst_pad_set_active (rig->sink, FALSE);
  gst_object_unref (rig->sink);
  gst_element_set_bus (rig->element, NULL);
  gst_bus_set_flushing (rig->bus, TRUE);
  gst_object_unref (rig->bus);
  gst_object_unref (rig->element);
  script_free (rig->script);
  g_mutex_clear (&rig->lock);
  g_cond_clear (&rig->changed);
  g_free (rig->failure);
  g_string_free (rig->deeds, TRUE);
  g_free (rig);
}
