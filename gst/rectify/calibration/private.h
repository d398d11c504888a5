/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calibration files are read in two steps. A reader makes a table of keys and texts from the text of a file, by how it is
 * written. A format then searches its keys in the table: formats.c has the table of formats. Every function that can fail
 * sets a message (g_free it) that starts with the name of the file.
 */
#ifndef GST_STEREO_CALIBRATION_PRIVATE_H
#define GST_STEREO_CALIBRATION_PRIVATE_H

#include "gst/rectify/calibration/calibration.h"

G_BEGIN_DECLS

/* How a text is written. */
typedef enum
{
  GST_STEREO_MAPPING,     /* YAML (and JSON, which is YAML), or XML of OpenCV */
  GST_STEREO_LINES,       /* KITTI: "key: numbers", or rows of 12 numbers */
  GST_STEREO_ASSIGNMENTS, /* Middlebury: "key=number" */
  GST_STEREO_SECTIONS     /* INI */
} GstStereoWriting;

typedef struct
{
  gchar *rows, *cols; /* of a matrix, as the file has them; NULL: the file does not have them */
  GString *text;      /* all values, blanks between them */
} GstStereoValue;

/* The values of a file, or of a pair of files, by key. A key in a mapping of a key is "outer.inner", also in a section. */
typedef struct _GstStereoKeys GstStereoKeys;

/* ---- keys.c ---- */
/* @name: of the file, for messages. */
GstStereoKeys *gst_stereo_keys_new (const gchar *name);
void gst_stereo_keys_free (GstStereoKeys *keys);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstStereoKeys, gst_stereo_keys_free)
const gchar *gst_stereo_keys_name (const GstStereoKeys *keys);
/* Adds an empty value; it replaces an earlier one of that key. */
GstStereoValue *gst_stereo_keys_add (GstStereoKeys *keys, const gchar *key);
/* The value of a key, which is added where there is none. */
GstStereoValue *gst_stereo_keys_value (GstStereoKeys *keys, const gchar *key);
void gst_stereo_value_append (GstStereoValue *value, const gchar *text, gssize length);
/* Moves the values that @keys has not from @from, and drops the others: @from is empty then. */
void gst_stereo_keys_merge (GstStereoKeys *keys, GstStereoKeys *from);
gboolean gst_stereo_keys_has (GstStereoKeys *keys, const gchar *key);
/* NULL: there is no such key. */
const gchar *gst_stereo_keys_text (GstStereoKeys *keys, const gchar *key);
/* The names of the first keys, for messages; g_free. */
gchar *gst_stereo_keys_list (GstStereoKeys *keys);
/* The start of a text from a file, which may be long and of any bytes, for messages; g_free. */
gchar *gst_stereo_keys_shorten (const gchar *text);
/* How many numbers a key has, of which the first @most are written; -1 and a message where it has something else. */
gint gst_stereo_keys_numbers (GstStereoKeys *keys, const gchar *key, gdouble *numbers, gint most, gchar **message);
/* The same where rows or cols have to be 1, if the file has them. */
gint gst_stereo_keys_vector (GstStereoKeys *keys, const gchar *key, gdouble *numbers, gint most, gchar **message);
/* Exactly rows x cols; vectors may lie or stand. */
gboolean gst_stereo_keys_matrix (
    GstStereoKeys *keys, const gchar *key, gint rows, gint cols, gdouble *numbers, gchar **message);
gboolean gst_stereo_keys_fail (GstStereoKeys *keys, gchar **message, const gchar *format, ...) G_GNUC_PRINTF (3, 4);

/* ---- readers: yaml.c, xml.c, lines.c, sections.c. @text is UTF-8. ---- */
#define GST_STEREO_KEYS_DEPTH 32 /* nested deeper than this is no calibration */
gboolean gst_stereo_keys_read_yaml (GstStereoKeys *keys, const gchar *text, gchar **message);
gboolean gst_stereo_keys_read_xml (GstStereoKeys *keys, const gchar *text, gchar **message);
gboolean gst_stereo_keys_are_lines (const gchar *text);
gboolean gst_stereo_keys_read_lines (GstStereoKeys *keys, const gchar *text, gchar **message);
gboolean gst_stereo_keys_are_assignments (const gchar *text);
gboolean gst_stereo_keys_read_assignments (GstStereoKeys *keys, const gchar *text, gchar **message);
/* Sections and keys become small letters. In ROS' files a heading and lines of numbers follow each other instead of
 * "key=number"; of two cameras in one file the keys start with "left." and "right.". */
gboolean gst_stereo_keys_are_sections (const gchar *text);
gboolean gst_stereo_keys_read_sections (GstStereoKeys *keys, const gchar *text, gchar **message);

/* ---- formats.c ---- */
typedef struct _GstStereoFormat GstStereoFormat;

/* A calibration that is being read. */
typedef struct
{
  GstStereoKeys *keys[2]; /* with the left and the right camera; the same where one file has both */
  const GstStereoFormat *format[2];
  const gchar *at[2]; /* what the cameras are called in the keys of one file */
  gint number[2];     /* of the cameras, where a file may have more than two */
  gdouble unit_mm;
  GstStereoCalibration *out;
  StereoCalibration *calibration; /* the first one of it */
  gchar **message;
} GstStereoReading;

/* A row of the table of formats. Names of keys are written as gst_stereo_reading_find() takes them. */
struct _GstStereoFormat
{
  const gchar *name;
  GstStereoWriting writing;
  const gchar *mark;      /* a file is of the first format of which it has one of these keys; NULL: of any */
  gboolean one_each;      /* a file for each camera */
  gdouble unit_mm;        /* of lengths */
  const gchar *called[2]; /* the cameras, in keys */
  const gchar *numbered;  /* they are called this and a number instead, … */
  const gchar *probe;     /* … and a camera has this key */
  const gchar *width, *height, *size;
  const gchar *matrix, *intrinsics, *scalars; /* one of these; scalars: what fx, k1 … start with */
  const gchar *distortion;
  const gchar *model; /* all of these that the file has */
  const gchar *rectifying, *projection;
  gboolean rectified;                     /* it has these always, and no pose */
  const gchar *needed;                    /* for messages */
  gboolean (*pose) (GstStereoReading *r); /* NULL: it has none */
  gboolean (*read) (GstStereoReading *r); /* reads everything instead of the above */
};

/* @second: NULL where there is one file. @writing: of each. */
gboolean gst_stereo_formats_read (GstStereoCalibration *out, GstStereoKeys *first, GstStereoKeys *second,
    const GstStereoWriting *writing, const GstStereoCalibrationOptions *options, gchar **message);
/* "@missing is missing", and what is needed. */
gboolean gst_stereo_reading_fail (const GstStereoReading *r, gint v, const gchar *missing);
/* The names of all formats, for messages. */
#define GST_STEREO_FORMAT_NAMES "OpenCV, ROS, Kalibr, EuRoC, ORB-SLAM, ZED, KITTI or Middlebury"

/* ---- values.c: what several formats have. FALSE and a message where a value makes no sense. ---- */
/* The first of some names that the file of camera @v has; NULL: none. @names: a bar between them; in a name @ becomes what
 * the camera is called, $ left or right, % LEFT or RIGHT. */
const gchar *gst_stereo_reading_find (const GstStereoReading *r, gint v, const gchar *names);
/* The first of the names, for messages. */
const gchar *gst_stereo_reading_first (const GstStereoReading *r, gint v, const gchar *names);
gboolean gst_stereo_take_side (GstStereoKeys *keys, const gchar *key, gdouble value, gint *side, gchar **message);
/* A camera matrix, 3 x 3; fx fy cx cy. */
gboolean gst_stereo_take_matrix (GstStereoKeys *keys, const gchar *key, StereoCamera *camera, gchar **message);
gboolean gst_stereo_take_intrinsics (GstStereoKeys *keys, const gchar *key, StereoCamera *camera, gchar **message);
gboolean gst_stereo_take_distortion (GstStereoKeys *keys, const gchar *key, StereoCamera *camera, gchar **message);
/* Keys that are @prefix with fx fy cx cy after it; with k1 k2 p1 p2 k3 …. */
gboolean gst_stereo_take_scalars (GstStereoKeys *keys, const gchar *prefix, StereoCamera *camera, gchar **message);
gboolean gst_stereo_take_lens (GstStereoKeys *keys, const gchar *prefix, StereoCamera *camera, gchar **message);
gboolean gst_stereo_take_projection (
    GstStereoKeys *keys, const gchar *key, gdouble unit_mm, gdouble *p, gchar **message);
/* One number; @value stays where there is no such key. */
gboolean gst_stereo_take_number (GstStereoKeys *keys, const gchar *key, gdouble *value, gchar **message);
/* P of views that are rectified already, @baseline_mm apart; R is the identity. */
void gst_stereo_take_rectified (StereoCalibration *calibration, gdouble baseline_mm);

/* ---- cameras.c ---- */
/* Of all formats but those of special.c. */
gboolean gst_stereo_read_cameras (GstStereoReading *r);
/* Reads the size of the pictures; it stays 0 x 0 where the file does not say. */
gboolean gst_stereo_take_size (const GstStereoReading *r, gint v, gint size[2]);

/* ---- poses.c: how the cameras stand to each other ---- */
gboolean gst_stereo_pose_opencv (GstStereoReading *r);
gboolean gst_stereo_pose_kalibr (GstStereoReading *r);
gboolean gst_stereo_pose_euroc (GstStereoReading *r);
gboolean gst_stereo_pose_orbslam (GstStereoReading *r);
gboolean gst_stereo_pose_kitti (GstStereoReading *r);
/* @turn: rotation vector, whose length is the angle, rad. */
void gst_stereo_pose_from_vector (const gdouble *turn, gdouble *rotation);

/* ---- special.c: formats that have no table of keys for each camera ---- */
gboolean gst_stereo_read_kitti (GstStereoReading *r);
gboolean gst_stereo_read_middlebury (GstStereoReading *r);
gboolean gst_stereo_read_zed (GstStereoReading *r);
gboolean gst_stereo_read_orbslam_rectified (GstStereoReading *r);

G_END_DECLS

#endif
