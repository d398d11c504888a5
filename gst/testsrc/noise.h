/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The noise of an image sensor: noise of its electronics, which does not depend on the light, and shot noise, whose variance
 * grows with the light. At mid grey each has half of the variance, and the deviation is the given one. At black the deviation
 * is 0.71 times the given one, near white 1.22 times. A pixel of level 255 is saturated and has no noise.
 */
#ifndef GST_STEREO_NOISE_H
#define GST_STEREO_NOISE_H

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  gboolean active;
  gint factor[256]; /* of a level: 16.16 per step of the random sum */
} GstStereoNoise;

/* @deviation: standard deviation at mid grey, grey levels; 0 = no noise. */
void gst_stereo_noise_init (GstStereoNoise *noise, gdouble deviation);
/* Adds noise to row @y of a view: a draw that depends on @seed, @frame, the view and the row alone. */
void gst_stereo_noise_add (
    const GstStereoNoise *noise, guint seed, guint64 frame, gboolean right, gint y, gint width, guint8 *level);

G_END_DECLS

#endif
