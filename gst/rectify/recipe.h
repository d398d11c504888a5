/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The input for making a remap, in one structure without pointers. A remap can therefore be made at once, or in a thread
 * while frames use the old one.
 */
#ifndef GST_STEREO_RECTIFY_RECIPE_H
#define GST_STEREO_RECTIFY_RECIPE_H

#include <glib.h>

#include "stereo/rectify.h"
#include "stereo/remap.h"

G_BEGIN_DECLS

/* The error of the calibration for the right view: a shift down and a roll. */
typedef struct
{
  gdouble offset; /* px that a point in the middle of the rectified right view lies too low */
  gdouble roll;   /* radians that the view is turned clockwise by: right of the middle points lie lower */
} GstStereoCorrection;

typedef struct
{
  StereoCalibration calibration; /* for raw views of this size: */
  gint raw_width, raw_height;
  StereoRectification rectification;
  GstStereoCorrection correction; /* in the maps */
  StereoRemapPlane planes[STEREO_REMAP_MAX_PLANES];
  gint plane_count;
  gint backend, cuda_device_id, threads;
} GstStereoRecipe;

/* NULL: see @error. */
StereoRemap *gst_stereo_recipe_make (const GstStereoRecipe *recipe, StereoError *error);

/* The same in a thread of its own. */
typedef struct _GstStereoRecipeJob GstStereoRecipeJob;

/* Copies @recipe. NULL: no thread could be started. */
GstStereoRecipeJob *gst_stereo_recipe_job_start (const GstStereoRecipe *recipe);
gboolean gst_stereo_recipe_job_is_done (GstStereoRecipeJob *job);
/* Waits for the job and frees it. @ns (may be NULL): time that it took. NULL: it failed, see @error. */
StereoRemap *gst_stereo_recipe_job_finish (GstStereoRecipeJob *job, guint64 *ns, StereoError *error);

G_END_DECLS

#endif
