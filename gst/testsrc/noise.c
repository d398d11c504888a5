/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/testsrc/noise.h"

#include "gst/testsrc/tile.h"

#include <math.h>

#define LANES 16            /* independent random numbers */
#define SUM_DEVIATION 147.8 /* of the sum of four random bytes */
#define SATURATED 255

void
gst_stereo_noise_init (GstStereoNoise *noise, gdouble deviation)
{
  noise->active = deviation > 0;
  for (gint level = 0; level < SATURATED; level++)
    noise->factor[level] = (gint) rint (deviation * sqrt (0.5 + level / 255.0) * 65536 / SUM_DEVIATION);
  noise->factor[SATURATED] = 0;
}

/* The sum of four random bytes is close to a normal distribution. There are LANES independent generators, so that the
 * compiler can compute that many pixels at once. */
void
gst_stereo_noise_add (
    const GstStereoNoise *noise, guint seed, guint64 frame, gboolean right, gint y, gint width, guint8 *level)
{
  guint32 key = gst_stereo_mix (gst_stereo_mix (seed, (guint32) frame), (guint32) (frame >> 32)), state[LANES];
  gint sum[LANES];

  key = gst_stereo_mix (key, (guint32) (2 * y + (right ? 1 : 0)));
  for (guint i = 0; i < LANES; i++)
    state[i] = gst_stereo_mix (key, i) | 1;
  for (gint x = 0; x < width; x += LANES) {
    gint count = MIN (LANES, width - x);
    for (guint i = 0; i < LANES; i++) {
      guint32 s = state[i];
      s ^= s << 13;
      s ^= s >> 17;
      s ^= s << 5;
      state[i] = s;
      sum[i] = (gint) ((s & 255) + (s >> 8 & 255) + (s >> 16 & 255) + (s >> 24)) - 510;
    }
    for (gint i = 0; i < count; i++) {
      gint more = (sum[i] * noise->factor[level[x + i]] + (1 << 15)) >> 16;
      level[x + i] = (guint8) CLAMP (level[x + i] + more, 0, 255);
    }
  }
}
