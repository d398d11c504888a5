/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/pairing/arrival.h"

#define FRAMES 10                                 /* of each view, before it is judged */
#define MOST_APART ((gint64) (500 * GST_MSECOND)) /* of the delays of both views */

/* FALSE where the branch is not live. */
static gboolean
reported_latency (GstStereoPad *pad, gint64 *latency)
{
  GstQuery *query = gst_query_new_latency ();
  GstClockTime least = 0;
  gboolean live = FALSE;

  if (gst_pad_peer_query (GST_PAD (pad), query))
    gst_query_parse_latency (query, &live, &least, NULL);
  gst_query_unref (query);
  *latency = (gint64) least;
  return live;
}

static void
warn (GstElement *element, GstStereoPad *const pads[2], const gint64 delay[2])
{
  guint late = delay[1] > delay[0];

  GST_ELEMENT_WARNING (element, STREAM, FAILED,
      ("The frames of %s come %.1f s after their timestamps, those of %s %.1f s: that camera counts its time from a moment of "
       "its own, so that a pair shows two moments %.1f s apart. Let its source stamp frames by the pipeline's clock "
       "(do-timestamp=true), or shift the view: the offset of its pad, in nanoseconds.",
          GST_PAD_NAME (pads[late]), delay[late] / 1e9, GST_PAD_NAME (pads[!late]), delay[!late] / 1e9,
          (delay[late] - delay[!late]) / 1e9),
      (NULL));
}

void
gst_stereo_arrival_check (GstStereoArrival *self, GstElement *element, GstStereoPad *const pads[2])
{
  gint64 delay[2], latency[2];

  if (self->judged || pads[0] == pads[1] || !gst_stereo_pad_get_delay (pads[0], FRAMES, &delay[0]) ||
      !gst_stereo_pad_get_delay (pads[1], FRAMES, &delay[1]))
    return;
  self->judged = TRUE;
  if (ABS (delay[1] - delay[0]) <= MOST_APART)
    return;
  for (guint i = 0; i < 2; i++) {
    if (!reported_latency (pads[i], &latency[i]))
      return;
    delay[i] -= latency[i];
  }
  if (ABS (delay[1] - delay[0]) > MOST_APART)
    warn (element, pads, delay);
}
