/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/pairing/decide.h"

static gint64
distance (gint64 a, gint64 b)
{
  return a > b ? a - b : b - a;
}

/* One queue is empty. The other queue's head is dropped when no frame that can still come is near enough. */
static GstStereoPairing
decide_without (const GstStereoStream *empty, const GstStereoStream *other, gint64 max_skew, GstStereoPairing wait,
    GstStereoPairing drop)
{
  if (other->count == 0)
    return empty->ended && other->ended ? GST_STEREO_PAIRING_END : wait;
  if (empty->ended)
    return drop;
  if (empty->gap_end != GST_STEREO_TIME_NONE && max_skew != GST_STEREO_TIME_NONE &&
      other->time[0] != GST_STEREO_TIME_NONE && other->time[0] + max_skew < empty->gap_end)
    return drop;
  return wait;
}

GstStereoPairing
gst_stereo_pairing_decide (const GstStereoStream *left, const GstStereoStream *right, gint64 max_skew)
{
  if (left->count == 0 && !(right->count == 0 && left->ended))
    return decide_without (left, right, max_skew, GST_STEREO_PAIRING_WAIT_LEFT, GST_STEREO_PAIRING_DROP_RIGHT);
  if (right->count == 0)
    return decide_without (right, left, max_skew, GST_STEREO_PAIRING_WAIT_RIGHT, GST_STEREO_PAIRING_DROP_LEFT);
  if (left->time[0] == GST_STEREO_TIME_NONE || right->time[0] == GST_STEREO_TIME_NONE)
    return GST_STEREO_PAIRING_PAIR;

  gboolean left_earlier = left->time[0] < right->time[0];
  const GstStereoStream *earlier = left_earlier ? left : right;
  const GstStereoStream *later = left_earlier ? right : left;
  GstStereoPairing drop = left_earlier ? GST_STEREO_PAIRING_DROP_LEFT : GST_STEREO_PAIRING_DROP_RIGHT;
  GstStereoPairing wait = left_earlier ? GST_STEREO_PAIRING_WAIT_LEFT : GST_STEREO_PAIRING_WAIT_RIGHT;

  gint64 skew = distance (left->time[0], right->time[0]);
  if (max_skew != GST_STEREO_TIME_NONE && skew > max_skew)
    return drop;
  if (skew <= earlier->soonest / 2)
    return GST_STEREO_PAIRING_PAIR;
  if (earlier->count < 2)
    return earlier->ended ? GST_STEREO_PAIRING_PAIR : wait;
  if (earlier->time[1] != GST_STEREO_TIME_NONE && distance (earlier->time[1], later->time[0]) < skew)
    return drop;
  return GST_STEREO_PAIRING_PAIR;
}

GstStereoPairing
gst_stereo_pairing_bundle (guint count, const gboolean first[2], gboolean marked, gboolean lost, gboolean ended)
{
  if (count == 0)
    return ended ? GST_STEREO_PAIRING_END : GST_STEREO_PAIRING_WAIT_LEFT;
  if (marked && !first[0])
    return GST_STEREO_PAIRING_DROP_LEFT;
  if (count == 1)
    return ended ? GST_STEREO_PAIRING_DROP_LEFT : GST_STEREO_PAIRING_WAIT_LEFT;
  return (marked ? first[1] : lost) ? GST_STEREO_PAIRING_DROP_LEFT : GST_STEREO_PAIRING_PAIR;
}

gint64
gst_stereo_pairing_steps (gint64 interval, gint64 usual)
{
  if (interval <= 0 || usual <= 0)
    return 0;
  gint64 steps = (interval + usual / 2) / usual;
  return distance (interval, steps * usual) <= usual / 4 ? steps : 0;
}

gboolean
gst_stereo_pairing_lost (gint64 before, gint64 within, gint64 usual, gboolean discont)
{
  gint64 steps = gst_stereo_pairing_steps (before, usual), next = gst_stereo_pairing_steps (within, usual);

  /* an even number of steps leads from the second frame of a bundle to another second one */
  return (steps && steps % 2 == 0) || next >= 2 || (discont && next != 1);
}
