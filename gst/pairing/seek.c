/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Seeks on their way upstream; what becomes of them there is in gststereopad-seeks.c. */
#include "gst/pairing/aggregator.h"

/* The pads of two views. Unref them. */
static void
view_pads (GstStereoAggregator *self, GstStereoPad *pads[2])
{
  GST_OBJECT_LOCK (self);
  pads[0] = self->left ? gst_object_ref (self->left) : NULL;
  pads[1] = self->right ? gst_object_ref (self->right) : NULL;
  GST_OBJECT_UNLOCK (self);
}

/* Both views' frames are numbered by the seeks that they come after, in the order in which those came by. A flush makes
 * that needless. */
gboolean
gst_stereo_aggregator_seek (GstStereoAggregator *self, GstEvent *event)
{
  guint32 seqnum = gst_event_get_seqnum (event);
  gpointer parent = g_type_class_peek (GST_TYPE_AGGREGATOR);
  GstStereoPad *pads[2];
  gboolean again, sent;
  GstSeekFlags flags;
  guint generation;

  gst_event_parse_seek (event, NULL, NULL, &flags, NULL, NULL, NULL, NULL);
  GST_OBJECT_LOCK (self);
  /* several sinks send the same one */
  again = self->last_seek == seqnum;
  self->last_seek = seqnum;
  generation = self->seeks += !again;
  GST_OBJECT_UNLOCK (self);
  view_pads (self, pads);
  for (guint i = 0; i < 2; i++)
    if (pads[i] && !again && !(flags & GST_SEEK_FLAG_FLUSH))
      gst_stereo_pad_expect (pads[i], generation, seqnum);
  sent = GST_AGGREGATOR_CLASS (parent)->src_event (GST_AGGREGATOR (self), event);
  for (guint i = 0; i < 2; i++) {
    if (pads[i] && !sent && !again)
      gst_stereo_pad_expect_no_more (pads[i], generation);
    gst_clear_object (&pads[i]);
  }
  return sent;
}
