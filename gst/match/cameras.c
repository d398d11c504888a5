/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/cameras.h"

#include <math.h>

#include "gst/match/debug.h"
#include "gst/meta/plausible.h"

/* A property and the metadata that differ by more than this share are contradictory. */
#define SAME 1e-3

struct _GstStereoCameras
{
  GstElement *element;
  /* warnings were posted: the properties or the size contradict the metadata, or its numbers cannot be right */
  gboolean warned_geometry, warned_size, warned_numbers;
};

GstStereoCameras *
gst_stereo_cameras_new (GstElement *element)
{
  GstStereoCameras *cameras = g_new0 (GstStereoCameras, 1);

  cameras->element = element;
  return cameras;
}

void
gst_stereo_cameras_free (GstStereoCameras *cameras)
{
  g_free (cameras);
}

void
gst_stereo_cameras_reset (GstStereoCameras *cameras)
{
  cameras->warned_geometry = cameras->warned_size = cameras->warned_numbers = FALSE;
}

static const GstStereoMeta *
meta_of_views (const GstStereoFrame *frame)
{
  const GstStereoMeta *meta = gst_buffer_get_stereo_meta (frame->buffer);

  return meta && meta->kind == GST_STEREO_OUTPUT_KIND_VIEWS ? meta : NULL;
}

static const GstStereoMeta *
meta_of_pair (const GstStereoFrame *left, const GstStereoFrame *right)
{
  const GstStereoMeta *meta = meta_of_views (left);

  return meta ? meta : meta_of_views (right);
}

static gboolean
has_size (const GstStereoMeta *meta, const GstStereoLayout *layout)
{
  return meta->width == (guint) layout->width && meta->height == (guint) layout->height;
}

static void
warn_of_size (GstStereoCameras *cameras, const GstStereoMeta *meta, const GstStereoLayout *layout)
{
  if (!cameras->warned_size)
    GST_ELEMENT_WARNING (cameras->element, STREAM, FORMAT,
        ("The metadata that came with the views is of views of %ux%u pixels, and these have %dx%d: it is not used. Set "
         "focal-length and baseline, or let nothing change the size after the element that wrote it.",
            meta->width, meta->height, layout->width, layout->height),
        (NULL));
  cameras->warned_size = TRUE;
}

/* FALSE, and a warning once. Without this check, a wrong number in foreign metadata would make the plan fail. */
static gboolean
is_plausible (GstStereoCameras *cameras, const GstStereoMeta *meta)
{
  gchar *problem = gst_stereo_meta_problem (meta);

  if (problem && !cameras->warned_numbers) {
    cameras->warned_numbers = TRUE;
    GST_ELEMENT_WARNING (cameras->element, STREAM, FORMAT,
        ("The metadata that came with the views cannot be right: %s. It is not used. Look at what made it, or set "
         "focal-length and baseline.",
            problem),
        (NULL));
  }
  g_free (problem);
  return problem == NULL;
}

static void
fill_in (GstStereoCameras *cameras, const gchar *property, gdouble *set, gdouble known)
{
  if (*set == 0) {
    *set = known;
  } else if (fabs (*set - known) > SAME * MAX (fabs (*set), fabs (known)) && !cameras->warned_geometry) {
    cameras->warned_geometry = TRUE;
    GST_ELEMENT_WARNING (cameras->element, LIBRARY, SETTINGS,
        ("%s=%g was set, and the metadata that came with the views says %g: what was set is used. "
         "Leave %s at 0 to take theirs.",
            property, *set, known, property),
        (NULL));
  }
}

GstBuffer *
gst_stereo_cameras_get_truth (const GstStereoFrame *left)
{
  const GstStereoMeta *meta = meta_of_views (left);

  return meta && meta->truth && has_size (meta, &left->layout) ? gst_buffer_ref (meta->truth) : NULL;
}

/* 0: focal_length_y is not known. */
static gdouble
focal_ratio (const GstStereoMeta *meta)
{
  gdouble ratio = meta->focal_length > 0 ? meta->focal_length_y / meta->focal_length : 0;

  return isfinite (ratio) ? ratio : 0;
}

void
gst_stereo_cameras_read_left_view (
    GstStereoCameras *cameras, const GstStereoFrame *left, const GstStereoFrame *right, GstStereoGeometry *geometry)
{
  const GstStereoMeta *meta = meta_of_pair (left, right);

  if (meta && (!has_size (meta, &left->layout) || !is_plausible (cameras, meta)))
    meta = NULL;
  geometry->principal_x = meta ? meta->principal_x : 0;
  geometry->principal_y = meta ? meta->principal_y : 0;
  geometry->focal_ratio = meta ? focal_ratio (meta) : 0;
}

void
gst_stereo_cameras_read (
    GstStereoCameras *cameras, const GstStereoFrame *left, const GstStereoFrame *right, StereoParams *params)
{
  const GstStereoMeta *meta = meta_of_pair (left, right);

  if (!meta)
    return;
  if (!has_size (meta, &left->layout)) {
    warn_of_size (cameras, meta, &left->layout);
    return;
  }
  if (!is_plausible (cameras, meta))
    return;
  if (meta->focal_length > 0)
    fill_in (cameras, "focal-length", &params->focal_length, meta->focal_length);
  if (meta->baseline > 0)
    fill_in (cameras, "baseline", &params->baseline, meta->baseline);
  /* where another value is known, a principal offset of 0 is known, too */
  if (meta->focal_length > 0 || meta->principal_offset != 0)
    fill_in (cameras, "principal-offset", &params->principal_offset, meta->principal_offset);
}
