/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Calibration files of made-up camera pairs, and frames of noise, for the tests of stereorectify. */
#ifndef ELEMENTS_CAMERAS_H
#define ELEMENTS_CAMERAS_H

#include "tests/support/gst/util.h"

/* A rectified pair of cameras as R1 R2 P1 P2 of an OpenCV file, without distortion. */
typedef struct
{
  gint width, height;                   /* 0: the file does not say */
  gdouble focal, cx, cy;                /* of both raw cameras, px */
  gdouble turn[2];                      /* of each view about its axis, radians */
  gdouble new_focal, new_cx[2], new_cy; /* of the rectified views */
  gdouble baseline;                     /* units */
  gdouble new_focal_y;                  /* of the rectified views; 0 = new_focal */
} Cameras;

/* Whose maps are the identity. */
Cameras cameras_straight (gint width, gint height);
/* To a new file; its name, to be unlinked and freed by calibration_free(). */
gchar *calibration_new (const Cameras *cameras);
void calibration_write (const gchar *name, const Cameras *cameras);
gchar *calibration_new_text (const gchar *text);
void calibration_free (gchar *name);
typedef gchar CalibrationFile; /* such a name */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CalibrationFile, calibration_free)
/* "calibration=NAME backend=CPU more"; STEREO_TEST_BACKEND names another backend. */
gchar *with_calibration (const gchar *name, const gchar *more);
/* stereorectify with these properties. */
Pair *rectify_new (const gchar *name, const gchar *more);

/* All samples of all components drawn from @seed, rows padded by @padding bytes. */
GstBuffer *noise_frame (const GstVideoInfo *info, guint seed, gint padding);
/* A sample of component @c. */
guint component_at (const GstVideoFrame *frame, guint c, gint x, gint y);
/* A property of stereorectify that is a number. */
gdouble number_of (GstElement *element, const gchar *property);

#endif
