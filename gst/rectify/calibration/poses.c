/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How the cameras stand to each other. OpenCV's R and T take a point from the left camera's frame to the right one's;
 * other formats have transformations of 4 x 4 between other frames, and T_a_b takes a point from frame b to frame a.
 */
#include "gst/rectify/calibration/private.h"

#include <math.h>
#include <string.h>

/* A rotation and a translation; the translation in the unit of the file. */
typedef struct
{
  gdouble r[9], t[3];
} Pose;

static const Pose nothing = { { 1, 0, 0, 0, 1, 0, 0, 0, 1 }, { 0, 0, 0 } };

/* First @b, then @a. */
static Pose
combine (const Pose *a, const Pose *b)
{
  Pose both;

  for (gint i = 0; i < 3; i++) {
    both.t[i] = a->t[i];
    for (gint j = 0; j < 3; j++) {
      both.t[i] += a->r[3 * i + j] * b->t[j];
      both.r[3 * i + j] = a->r[3 * i] * b->r[j] + a->r[3 * i + 1] * b->r[3 + j] + a->r[3 * i + 2] * b->r[6 + j];
    }
  }
  return both;
}

static Pose
inverse (const Pose *a)
{
  Pose back;

  for (gint i = 0; i < 3; i++) {
    back.t[i] = -(a->r[i] * a->t[0] + a->r[3 + i] * a->t[1] + a->r[6 + i] * a->t[2]);
    for (gint j = 0; j < 3; j++)
      back.r[3 * i + j] = a->r[3 * j + i];
  }
  return back;
}

/* 3 x 4, or 4 x 4 whose last row is 0 0 0 1. The inverse of a matrix that is no rotation would hide that it is none. */
static gboolean
take_transformation (GstStereoKeys *keys, const gchar *key, Pose *pose, gchar **message)
{
  gdouble m[16] = { 0 };
  gint count = gst_stereo_keys_numbers (keys, key, m, 16, message);

  if (count < 0)
    return FALSE;
  if (count != 12 && count != 16)
    return gst_stereo_keys_fail (keys, message, "%s has %d values, but needs 16 (4 x 4) or 12 (3 x 4).", key, count);
  if (count == 16 && (m[12] != 0 || m[13] != 0 || m[14] != 0 || fabs (m[15] - 1) > 1e-9))
    return gst_stereo_keys_fail (keys, message, "%s is no transformation: its last row is not 0 0 0 1.", key);
  for (gint i = 0; i < 3; i++) {
    memcpy (pose->r + 3 * i, m + 4 * i, 3 * sizeof *m);
    pose->t[i] = m[4 * i + 3];
  }
  for (gint i = 0; i < 3; i++)
    for (gint j = 0; j < 3; j++) {
      const gdouble *a = pose->r + 3 * i, *b = pose->r + 3 * j;
      if (fabs (a[0] * b[0] + a[1] * b[1] + a[2] * b[2] - (i == j)) > 1e-3)
        return gst_stereo_keys_fail (
            keys, message, "%s is no transformation: its first three columns are not a rotation.", key);
    }
  return TRUE;
}

/* @pose: from the left to the right camera. */
static gboolean
set_pose (GstStereoReading *r, const Pose *pose)
{
  memcpy (r->calibration->rotation, pose->r, sizeof pose->r);
  for (gint i = 0; i < 3; i++)
    r->calibration->translation[i] = pose->t[i] * r->unit_mm;
  return r->calibration->has_pose = TRUE;
}

void
gst_stereo_pose_from_vector (const gdouble *turn, gdouble *rotation)
{
  gdouble angle = sqrt (turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2]);
  gdouble axis[3] = { 1, 0, 0 }, c = cos (angle), s = sin (angle);

  for (gint i = 0; i < 3 && angle > 0; i++)
    axis[i] = turn[i] / angle;
  for (gint i = 0; i < 3; i++)
    for (gint j = 0; j < 3; j++)
      rotation[3 * i + j] = (1 - c) * axis[i] * axis[j] + (i == j ? c : 0);
  for (gint i = 0; i < 3; i++) {
    rotation[3 * ((i + 2) % 3) + (i + 1) % 3] += s * axis[i];
    rotation[3 * ((i + 1) % 3) + (i + 2) % 3] -= s * axis[i];
  }
}

/* ---- OpenCV, and KITTI's raw data ---- */

/* A rotation matrix, or a rotation vector. */
static gboolean
take_rotation_translation (GstStereoReading *r, const gchar *rotation, const gchar *translation, Pose *pose)
{
  GstStereoKeys *keys = r->keys[0];
  gdouble turn[3];

  if (gst_stereo_keys_numbers (keys, rotation, turn, 3, NULL) == 3) {
    if (!gst_stereo_keys_matrix (keys, rotation, 3, 1, turn, r->message))
      return FALSE;
    gst_stereo_pose_from_vector (turn, pose->r);
  } else if (!gst_stereo_keys_matrix (keys, rotation, 3, 3, pose->r, r->message)) {
    return FALSE;
  }
  return gst_stereo_keys_matrix (keys, translation, 3, 1, pose->t, r->message);
}

/* Not OpenCV's own keys: gst_stereo_calibration_save() writes them. */
static gboolean
take_rectified_size (GstStereoReading *r)
{
  static const gchar *const names[2] = { "rectified_width", "rectified_height" };
  gint *const sides[2] = { &r->calibration->rectified_width, &r->calibration->rectified_height };
  gdouble side;

  if (!gst_stereo_keys_has (r->keys[0], names[0]) && !gst_stereo_keys_has (r->keys[0], names[1]))
    return TRUE;
  for (gint k = 0; k < 2; k++)
    if (!gst_stereo_keys_matrix (r->keys[0], names[k], 1, 1, &side, r->message) ||
        !gst_stereo_take_side (r->keys[0], names[k], side, sides[k], r->message))
      return FALSE;
  return TRUE;
}

gboolean
gst_stereo_pose_opencv (GstStereoReading *r)
{
  Pose pose;

  if (!gst_stereo_keys_has (r->keys[0], "R") || !gst_stereo_keys_has (r->keys[0], "T"))
    return r->calibration->has_rectification ?
        take_rectified_size (r) :
        gst_stereo_reading_fail (r, 0, "the pose of the cameras relative to each other");
  return take_rotation_translation (r, "R", "T", &pose) && set_pose (r, &pose) && take_rectified_size (r);
}

/* R_01 and T_01 take a point from camera 0 to camera 1. */
gboolean
gst_stereo_pose_kitti (GstStereoReading *r)
{
  Pose pose[2] = { nothing, nothing }, back;
  gdouble size[2][2];

  for (gint v = 0; v < 2; v++) {
    gchar *keys[3] = { g_strconcat ("R_", r->at[v], NULL), g_strconcat ("T_", r->at[v], NULL),
      g_strconcat ("S_rect_", r->at[v], NULL) };
    gboolean has = gst_stereo_keys_has (r->keys[0], keys[0]) && gst_stereo_keys_has (r->keys[0], keys[1]), ok;
    r->calibration->has_pose |= v && has;
    ok = (!has || take_rotation_translation (r, keys[0], keys[1], &pose[v])) &&
        gst_stereo_keys_matrix (r->keys[0], keys[2], 1, 2, size[v], r->message) &&
        gst_stereo_take_side (r->keys[0], keys[2], size[v][0], &r->calibration->rectified_width, r->message) &&
        gst_stereo_take_side (r->keys[0], keys[2], size[v][1], &r->calibration->rectified_height, r->message);
    for (gint k = 0; k < 3; k++)
      g_free (keys[k]);
    if (!ok)
      return FALSE;
  }
  if (memcmp (size[0], size[1], sizeof size[0]) != 0)
    return gst_stereo_keys_fail (
        r->keys[0], r->message, "S_rect_%s and S_rect_%s differ: both cameras must have one size.", r->at[0], r->at[1]);
  if (!r->calibration->has_pose)
    return TRUE;
  back = inverse (&pose[0]);
  back = combine (&pose[1], &back);
  return set_pose (r, &back);
}

/* ---- Kalibr, EuRoC, ORB-SLAM ---- */

/* From the first camera to camera @number, along the chain. */
static gboolean
follow_chain (GstStereoReading *r, gint number, Pose *pose)
{
  *pose = nothing;
  for (gint n = 1; n <= number; n++) {
    gchar *key = g_strdup_printf ("cam%d.T_cn_cnm1", n);
    Pose step;
    gboolean has = gst_stereo_keys_has (r->keys[0], key),
             ok = has ? take_transformation (r->keys[0], key, &step, r->message) : gst_stereo_reading_fail (r, 0, key);
    g_free (key);
    if (!ok)
      return FALSE;
    *pose = combine (&step, pose);
  }
  return TRUE;
}

/* The camera in another frame: @back: the key takes a point from the camera to that frame. FALSE without a message: no key. */
static gboolean
take_in_frame (GstStereoReading *r, gint v, const gchar *name, gboolean back, Pose *pose, gboolean *failed)
{
  const gchar *key = gst_stereo_reading_find (r, v, name);

  if (!key || *failed)
    return FALSE;
  *failed = !take_transformation (r->keys[v], key, pose, r->message);
  if (back)
    *pose = inverse (pose);
  return !*failed;
}

static gboolean
set_between (GstStereoReading *r, const Pose *left, const Pose *right)
{
  Pose back = inverse (left), between = combine (right, &back);

  return set_pose (r, &between);
}

/* A chain, or each camera to the inertial sensor (Kalibr), also backwards (OpenVINS). */
gboolean
gst_stereo_pose_kalibr (GstStereoReading *r)
{
  gint last = MAX (r->number[0], r->number[1]);
  gchar *key = g_strdup_printf ("cam%d.T_cn_cnm1", last);
  gboolean chain = gst_stereo_keys_has (r->keys[0], key), failed = FALSE;
  Pose pose[2];

  g_free (key);
  if (chain)
    return follow_chain (r, r->number[0], &pose[0]) && follow_chain (r, r->number[1], &pose[1]) &&
        set_between (r, &pose[0], &pose[1]);
  for (gint v = 0; v < 2; v++)
    if (!take_in_frame (r, v, "@.T_cam_imu", FALSE, &pose[v], &failed) &&
        !take_in_frame (r, v, "@.T_imu_cam", TRUE, &pose[v], &failed))
      return failed ? FALSE : gst_stereo_reading_fail (r, v, "T_cn_cnm1 of the second camera");
  return set_between (r, &pose[0], &pose[1]);
}

/* T_BS: from the camera (sensor) to the body. */
gboolean
gst_stereo_pose_euroc (GstStereoReading *r)
{
  Pose pose[2];

  for (gint v = 0; v < 2; v++) {
    if (!gst_stereo_keys_has (r->keys[v], "T_BS"))
      return gst_stereo_reading_fail (r, v, "T_BS");
    if (!take_transformation (r->keys[v], "T_BS", &pose[v], r->message))
      return FALSE;
    pose[v] = inverse (&pose[v]);
  }
  return set_between (r, &pose[0], &pose[1]);
}

/* From the right camera to the left one. */
gboolean
gst_stereo_pose_orbslam (GstStereoReading *r)
{
  const gchar *key = gst_stereo_reading_find (r, 0, "Stereo.T_c1_c2|Tlr");
  Pose pose;

  if (!key)
    return gst_stereo_reading_fail (r, 0, "Stereo.T_c1_c2");
  if (!take_transformation (r->keys[0], key, &pose, r->message))
    return FALSE;
  pose = inverse (&pose);
  return set_pose (r, &pose);
}
