/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A place along one axis that moves: a Kalman filter of place and speed. mm and seconds. */
#ifndef GST_STEREO_GROUND_MOTION_H
#define GST_STEREO_GROUND_MOTION_H

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  gdouble at, speed;
  gdouble place, both, rate; /* variances of the two, and what they share */
} GstStereoGroundMotion;

/* At rest as far as is known; @error and @speed are standard deviations. */
GstStereoGroundMotion gst_stereo_ground_motion_begin (gdouble at, gdouble error, gdouble speed);
void gst_stereo_ground_motion_pass (GstStereoGroundMotion *motion, gdouble seconds);
void gst_stereo_ground_motion_see (GstStereoGroundMotion *motion, gdouble at, gdouble error);
/* How far @at is from where it is expected, as the square of standard deviations. */
gdouble gst_stereo_ground_motion_off (const GstStereoGroundMotion *motion, gdouble at, gdouble error);

G_END_DECLS

#endif
