/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The texts of calibrations that programs of robotics, and makers of cameras, write. */
#ifndef CALIBRATION_ROBOTS_H
#define CALIBRATION_ROBOTS_H

#include <glib.h>

#include "tests/support/random.h"
#include "stereo/rectify.h"

/* A rotation and a translation, as a matrix of 4 x 4. */
typedef struct
{
  gdouble m[16];
} Frame;

Frame frame_multiply (const Frame *a, const Frame *b);
Frame frame_invert (const Frame *a);
/* Turned by up to @angle about each axis. Translations are @near to @far long along x. */
Frame frame_draw (Random *random, gdouble angle, gdouble near, gdouble far);

/* Cameras with a distortion of @lens values, of a fisheye lens if that is asked for; numbers may be any. */
StereoCalibration calibration_draw_cameras (Random *random, gint lens, gboolean rectification, gboolean fisheye);
/* Takes the text; g_free what comes back. */
gchar *calibration_replaced (gchar *text, const gchar *from, const gchar *to);

/* Texts; g_free them. Lengths are millimetres in @c, and metres in all of these but ZED's. @lens: values of a distortion. */

/* What `ros2 topic echo` prints of a camera_info; @ros1: `rostopic echo`. */
gchar *calibration_message (const StereoCalibration *c, gint v, gint lens, gboolean ros1);
/* ost.txt of one camera; [narrow_stereo/@side]. */
gchar *calibration_ost (const StereoCalibration *c, gint v, const gchar *side);
/* @count cameras, which follow each other by @steps: camera n has that of @c->camera[n % 2]. */
gchar *calibration_kalibr (const StereoCalibration *c, gint lens, const Frame *steps, gint count);
/* Without a chain: @frames are those of the cameras, called @name. */
gchar *calibration_kalibr_frames (const StereoCalibration *c, const Frame *frames, const gchar *name);
gchar *calibration_euroc (const StereoCalibration *c, gint v, const Frame *body);
gchar *calibration_orbslam2 (const StereoCalibration *c, gint lens);
/* @left_right: takes a point from the right camera to the left one. @old: as before release 1.0. */
gchar *calibration_orbslam3 (const StereoCalibration *c, const Frame *left_right, gboolean old);
/* Of rectified views: the first camera of @c, and the length @key: Camera.bf or Stereo.b. */
gchar *calibration_orbslam_rectified (const StereoCalibration *c, const gchar *key, gdouble length);
/* Modes of the cameras, by name; the distortion in sections of its own, or not. @turn: rotation vector. */
gchar *calibration_zed (
    const StereoCalibration *modes, const gchar *const *names, gint count, const gdouble *turn, gboolean disto);

#endif
