/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/support/streams/rig.h"

/* ---- what comes out ---------------------------------------------------------------------- */

static GstFlowReturn
take_output (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  Rig *rig = gst_pad_get_element_private (pad);

  g_mutex_lock (&rig->lock);
  rig_judge_output (rig, buffer);
  rig->outputs++;
  GstClockTime time = gst_segment_to_running_time (&rig->segment, GST_FORMAT_TIME, GST_BUFFER_PTS (buffer));
  gboolean late = rig->late_every && rig->outputs % rig->late_every == 0 && GST_CLOCK_TIME_IS_VALID (time);
  rig->script->faults[FAULT_LATE] += late;
  g_cond_broadcast (&rig->changed);
  g_mutex_unlock (&rig->lock);
  gst_buffer_unref (buffer);
  if (late)
    gst_pad_push_event (pad, gst_event_new_qos (GST_QOS_TYPE_UNDERFLOW, 2, SCRIPT_FRAME, time));
  return GST_FLOW_OK;
}

static gboolean
take_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  Rig *rig = gst_pad_get_element_private (pad);

  g_mutex_lock (&rig->lock);
  if (GST_EVENT_TYPE (event) == GST_EVENT_SEGMENT)
    gst_event_copy_segment (event, &rig->segment);
  rig->eos |= GST_EVENT_TYPE (event) == GST_EVENT_EOS;
  g_cond_broadcast (&rig->changed);
  g_mutex_unlock (&rig->lock);
  gst_event_unref (event);
  return TRUE;
}

/* ---- the pad behind the element ----------------------------------------------------------- */

#define CAPS_KEY "sink-pad-caps"

/* The default handler would answer with the current caps, so that no caps could follow them. */
static gboolean
answer_query (GstPad *pad, GstObject *parent, GstQuery *query)
{
  GstCaps *caps = g_object_get_data (G_OBJECT (pad), CAPS_KEY), *filter, *answer;

  switch (GST_QUERY_TYPE (query)) {
    case GST_QUERY_CAPS:
      gst_query_parse_caps (query, &filter);
      answer = filter ? gst_caps_intersect (filter, caps) : gst_caps_ref (caps);
      gst_query_set_caps_result (query, answer);
      gst_caps_unref (answer);
      return TRUE;
    case GST_QUERY_ACCEPT_CAPS:
      gst_query_set_accept_caps_result (query, TRUE);
      return TRUE;
    default:
      return gst_pad_query_default (pad, parent, query);
  }
}

/* Links a new active pad behind the pad src of @element, which accepts all caps and answers caps queries with @caps (takes them). */
static GstPad *
sink_pad_new (GstElement *element, GstCaps *caps, GstPadChainFunction chain, GstPadEventFunction event, gpointer data)
{
  g_autoptr (GstPad) src = gst_element_get_static_pad (element, "src");
  GstPad *pad = gst_object_ref_sink (gst_pad_new ("sink", GST_PAD_SINK));

  gst_pad_set_element_private (pad, data);
  g_object_set_data_full (G_OBJECT (pad), CAPS_KEY, caps, (GDestroyNotify) gst_caps_unref);
  gst_pad_set_chain_function (pad, chain);
  gst_pad_set_event_function (pad, event);
  gst_pad_set_query_function (pad, answer_query);
  gst_pad_set_active (pad, TRUE);
  g_assert (gst_pad_link (src, pad) == GST_PAD_LINK_OK);
  return pad;
}

/* ---- the rig ----------------------------------------------------------------------------- */

static GstBusSyncReply
take_message (GstBus *bus, GstMessage *message, gpointer data)
{
  GError *error = NULL;
  Rig *rig = data;

  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR && GST_MESSAGE_SRC (message) != GST_OBJECT (rig->element)) {
    g_atomic_int_inc (&rig->camera_errors);
  } else if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR) {
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

Rig *
rig_new (const RigKind *kind, Script *script, gboolean live)
{
  Rig *rig = g_new0 (Rig, 1);

  rig->kind = kind;
  rig->script = script;
  gst_segment_init (&rig->segment, GST_FORMAT_UNDEFINED);
  rig->live = live;
  rig->deeds = g_string_new (live ? "live" : "");
  rig->hold_end = TRUE;
  g_mutex_init (&rig->lock);
  g_cond_init (&rig->changed);
  rig->element = rig_kind_make (kind);
  rig->bus = gst_bus_new ();
  gst_bus_set_sync_handler (rig->bus, take_message, rig, NULL);
  gst_element_set_bus (rig->element, rig->bus);
  rig->sink = sink_pad_new (rig->element,
      gst_caps_new_simple ("video/x-raw", "format", G_TYPE_STRING, gst_video_format_to_string (kind->out), NULL),
      take_output, take_event, rig);
  for (guint view = 0; view < 2; view++)
    camera_init (&rig->cameras[view], rig, view);
  return rig;
}

void
rig_play (Rig *rig)
{
  gst_element_set_state (rig->element, GST_STATE_PLAYING);
  for (guint view = 0; view < 2; view++)
    camera_start (&rig->cameras[view]);
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

/* ---- what is done to the element while the cameras run ------------------------------------- */

static void
set_busy (Rig *rig, gboolean busy)
{
  g_mutex_lock (&rig->lock);
  rig->busy = busy;
  g_cond_broadcast (&rig->changed);
  g_mutex_unlock (&rig->lock);
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
    camera_send_segment_again (&rig->cameras[view]);
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
    camera_introduce (&rig->cameras[view]);
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
  GstPad *pad = gst_pad_get_peer (camera->out);

  set_busy (rig, TRUE);
  gst_element_release_request_pad (rig->element, pad);
  g_mutex_lock (&camera->stream);
  gst_pad_unlink (camera->out, pad);
  gst_object_unref (pad);
  lose (rig, view ? "right-pad" : "left-pad", FALSE);
  g_mutex_unlock (&camera->stream);
}

void
rig_give_pad (Rig *rig, guint view)
{
  RigCamera *camera = &rig->cameras[view];

  g_mutex_lock (&camera->stream);
  camera_link (camera);
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
  for (guint view = 0; view < 2; view++)
    camera_clear (&rig->cameras[view]);
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

void
rig_warm_up (const RigKind *kind)
{
  Script *script = script_new (NULL);

  gst_object_unref (gst_system_clock_obtain ());
  script_begin (script);
  script_frames (script, 0, 0, 2);
  script_frames (script, 1, 1, 2);
  script_end (script);
  g_autoptr (Rig) rig = rig_new (kind, script, FALSE);
  rig_insert (rig, 0, "identity");
  rig_play (rig);
  g_free (rig_end (rig));
}
