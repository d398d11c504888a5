/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is done to the element while the cameras run. */
#include "tests/support/streams/rig.h"

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
