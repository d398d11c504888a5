/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/ground/objects/motion.h"

/* Speed wanders by 5 m/s in a second: hard braking. (mm/s)^2 a second */
#define WANDER 25e6

GstStereoGroundMotion
gst_stereo_ground_motion_begin (gdouble at, gdouble error, gdouble speed)
{
  GstStereoGroundMotion motion = { at, 0, error * error, 0, speed * speed };

  return motion;
}

void
gst_stereo_ground_motion_pass (GstStereoGroundMotion *motion, gdouble seconds)
{
  gdouble s = seconds;

  motion->at += s * motion->speed;
  motion->place += s * (2 * motion->both + s * motion->rate) + WANDER * s * s * s / 3;
  motion->both += s * motion->rate + WANDER * s * s / 2;
  motion->rate += WANDER * s;
}

void
gst_stereo_ground_motion_see (GstStereoGroundMotion *motion, gdouble at, gdouble error)
{
  gdouble all = motion->place + error * error, off = at - motion->at;
  gdouble place = motion->place / all, rate = motion->both / all;

  motion->at += place * off;
  motion->speed += rate * off;
  motion->rate -= rate * motion->both;
  motion->both *= 1 - place;
  motion->place *= 1 - place;
}

gdouble
gst_stereo_ground_motion_off (const GstStereoGroundMotion *motion, gdouble at, gdouble error)
{
  gdouble off = at - motion->at;

  return off * off / (motion->place + error * error);
}
