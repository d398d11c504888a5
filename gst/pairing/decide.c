/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/pairing/decide.h"

/* Whether the head of @other waits for nothing: no frame that can still come on the empty side is near enough. */
static gboolean
is_alone (const GstStereoStream *empty, const GstStereoStream *other, gint64 max_skew)
{
  return empty->ended ||
      (empty->gap_end != GST_STEREO_TIME_NONE && max_skew != GST_STEREO_TIME_NONE &&
          other->time != GST_STEREO_TIME_NONE && other->time + max_skew < empty->gap_end);
}

GstStereoPairing
gst_stereo_pairing_decide (const GstStereoStream *left, const GstStereoStream *right, gint64 max_skew)
{
  gboolean left_earlier = left->time < right->time;
  const GstStereoStream *earlier = left_earlier ? left : right;

  if (!left->has && !right->has)
    return left->ended && right->ended ? GST_STEREO_PAIRING_END : GST_STEREO_PAIRING_WAIT;
  if (!left->has)
    return is_alone (left, right, max_skew) ? GST_STEREO_PAIRING_DROP_RIGHT : GST_STEREO_PAIRING_WAIT;
  if (!right->has)
    return is_alone (right, left, max_skew) ? GST_STEREO_PAIRING_DROP_LEFT : GST_STEREO_PAIRING_WAIT;
  if (left->time == GST_STEREO_TIME_NONE || right->time == GST_STEREO_TIME_NONE)
    return GST_STEREO_PAIRING_PAIR;
  gint64 skew = ABS (left->time - right->time), next = MAX (earlier->spacing, earlier->interval);
  if ((max_skew != GST_STEREO_TIME_NONE && skew > max_skew) || (next && skew > next / 2))
    return left_earlier ? GST_STEREO_PAIRING_DROP_LEFT : GST_STEREO_PAIRING_DROP_RIGHT;
  return GST_STEREO_PAIRING_PAIR;
}
