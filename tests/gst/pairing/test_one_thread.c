/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One thread, which is not live, feeds both pads of an element through queues, and stereomatch drops pairs as late. The
 * thread then asks for memory: the question waits in a queue behind live frames, which are taken only once it is known
 * that they get no depth. Nothing may wait for that thread.
 */
#include "tests/support/gst/guard.h"
#include "tests/support/gst/util.h"
#include "tests/support/gst/suite.h"

enum
{
  FRAMES = 40,
  FIRST = 10, /* whose pairs are dropped */
  LAST = 20
};

#define PIPELINE \
  "stereotestsrc name=source num-buffers=40 ! video/x-raw,format=GRAY8,width=64,height=24,framerate=30/1 ! tee name=t  " \
  "t. ! queue ! stereomatch name=match method=bm num-disparities=8 backend=cpu threads=1 ! queue ! o.sink_depth  t. ! " \
  "queue ! depthoverlay name=o ! fakesink sync=false"

typedef struct
{
  GstPad *match; /* the source pad of stereomatch */
  guint frame;
  gint late; /* atomic */
} Rig;

/* In the thread of the source: a sink says that frames up to LAST are late, and the source has to ask anew. */
static GstPadProbeReturn
pass_frame (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Rig *rig = data;

  rig->frame++;
  if (rig->frame == FIRST)
    gst_pad_send_event (rig->match, gst_event_new_qos (GST_QOS_TYPE_UNDERFLOW, 0.5, 0, LAST * (GST_SECOND / 30)));
  if (rig->frame >= FIRST && rig->frame < LAST)
    gst_pad_mark_reconfigure (pad);
  return GST_PAD_PROBE_OK;
}

static GstBusSyncReply
count_late (GstBus *bus, GstMessage *message, gpointer data)
{
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_QOS)
    g_atomic_int_inc (&((Rig *) data)->late);
  return GST_BUS_PASS;
}

TEST (test_late_pairs)
{
  GstElement *pipeline = launch (PIPELINE), *element;
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  Rig rig = { NULL };

  element = gst_bin_get_by_name (GST_BIN (pipeline), "match");
  rig.match = gst_element_get_static_pad (element, "src");
  gst_object_unref (element);
  element = gst_bin_get_by_name (GST_BIN (pipeline), "source");
  g_autoptr (GstPad) pad = gst_element_get_static_pad (element, "src");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, pass_frame, &rig, NULL);
  gst_bus_set_sync_handler (bus, count_late, &rig, NULL);
  guard_begin (PIPELINE, 60);
  gchar *text = play_to_end (pipeline);
  guard_end ();
  fail_unless (text == NULL, "%s", text);
  fail_unless_equals_int (rig.frame, FRAMES);
  fail_unless (g_atomic_int_get (&rig.late) >= 2, "%d pairs were late", rig.late);
  gst_bus_set_sync_handler (bus, NULL, NULL, NULL);
  gst_object_unref (element);
  gst_object_unref (rig.match);
  gst_object_unref (pipeline);
}

/* A query that comes in line with the frames does not wait for the other pad. */
TEST (test_serialized_queries)
{
  static const gchar *const elements[][2] = { { "depthoverlay", "sink" }, { "depthoverlay", "sink_depth" },
    { "stereomatch", "sink_left" }, { "stereomatch", "sink_right" } };

  for (guint i = 0; i < G_N_ELEMENTS (elements); i++) {
    GstElement *element = gst_element_factory_make (elements[i][0], NULL);

    if (!element)
      continue;
    g_autoptr (GstHarness) harness = gst_harness_new_with_element (element, elements[i][1], NULL);
    gst_harness_set_src_caps_str (harness,
        g_str_equal (elements[i][1], "sink_depth") ? "video/x-raw,format=GRAY8,width=16,height=8,framerate=30/1" :
                                                     "video/x-raw,format=RGB,width=16,height=8,framerate=30/1");
    guard_begin (elements[i][0], 60);
    gst_harness_push (harness, stamp (gst_buffer_new_allocate (NULL, 16 * 8 * 3, NULL), 0, FRAME));
    GstQuery *query = gst_query_new_drain ();
    gst_pad_peer_query (harness->srcpad, query);
    gst_query_unref (query);
    query = gst_query_new_allocation (NULL, FALSE);
    fail_unless (gst_pad_peer_query (harness->srcpad, query));
    gst_query_unref (query);
    guard_end ();
    gst_object_unref (element);
  }
}

SUITE (one_thread)
{
}
