/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/cameras.h"

#include <math.h>

#include "gst/match/debug.h"
#include "gst/meta/map.h"

/* A property and the metadata that differ by more than this share are contradictory. */
#define SAME 1e-3
#define MOST_DISPARITIES 1024 /* of min-disparity and num-disparities */
#define MOST_OBLONG 100.0     /* no pixel is longer than that: its caps say nothing */
#define NEAR_INFINITY \
  1 /* px, by which a search may miss infinity: what is missed is farther than all that can be told apart */

struct _GstStereoCameras
{
  GstElement *element;
  /* warnings were posted: the properties or the size contradict the metadata, or its numbers cannot be right */
  gboolean warned_geometry, warned_size, warned_numbers;
  gboolean warned_far, warned_negative; /* of the search range */
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
  *cameras = (GstStereoCameras){ cameras->element };
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

/* 0: pixels are square, as far as is known. A pixel that is twice as wide as high has twice the focal length in rows. */
static gdouble
focal_ratio (const GstStereoMeta *meta, const GstStereoLayout *layout)
{
  gdouble ratio = meta && meta->focal_length > 0 ? meta->focal_length_y / meta->focal_length : 0;

  if (ratio == 0 && layout->par_n != layout->par_d)
    ratio = (gdouble) layout->par_n / layout->par_d;
  return ratio > 1 / MOST_OBLONG && ratio < MOST_OBLONG ? ratio : 0;
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
  geometry->focal_ratio = focal_ratio (meta, &left->layout);
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

static void
warn_of_far (GstStereoCameras *cameras, const StereoParams *params, const GstStereoGeometry *geometry)
{
  gint least = (gint) floor (-geometry->principal_offset), more = params->min_disparity - least;
  gdouble far = geometry->focal_length * geometry->baseline / (params->min_disparity + geometry->principal_offset);
  g_autofree gchar *distance = far > 0 ? g_strdup_printf ("farther than %.1f m", far / 1000) : g_strdup ("far away");

  GST_ELEMENT_WARNING (cameras->element, LIBRARY, SETTINGS,
      ("What is %s is not searched: with principal-offset=%g, infinity has a disparity of %g px, and the search begins at "
       "min-disparity=%d. Set min-disparity=%d, and num-disparities=%d for what is near; or set min-disparity=%d by hand, "
       "where that is enough.",
          distance, geometry->principal_offset, -geometry->principal_offset, params->min_disparity,
          MAX (least, -MOST_DISPARITIES), MIN (params->num_disparities + more, MOST_DISPARITIES), params->min_disparity),
      (NULL));
}

void
gst_stereo_cameras_check_range (
    GstStereoCameras *cameras, const StereoParams *params, const GstStereoGeometry *geometry, StereoSample sample)
{
  if (!cameras->warned_far && params->min_disparity + geometry->principal_offset > NEAR_INFINITY &&
      !stereo_param_is_set (params, stereo_param_find ("min-disparity"))) {
    cameras->warned_far = TRUE;
    warn_of_far (cameras, params, geometry);
  }
  if (!cameras->warned_negative && params->min_disparity < 0 && params->output == STEREO_OUTPUT_DISPARITY &&
      sample == STEREO_SAMPLE_U16) {
    cameras->warned_negative = TRUE;
    GST_ELEMENT_WARNING (cameras->element, LIBRARY, SETTINGS,
        ("Disparities below 0 have no value in the output: min-disparity=%d searches for them, and output=disparity has no "
         "samples for them. Set output=depth, which has, and needs focal-length and baseline.",
            params->min_disparity),
        (NULL));
  }
}
