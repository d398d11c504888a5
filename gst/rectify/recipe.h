/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * All that a remap is made from, in one piece without pointers: so it can be made at once, or in a thread of its own
 * while frames go through the one before.
 */
#ifndef GST_STEREO_RECTIFY_RECIPE_H
#define GST_STEREO_RECTIFY_RECIPE_H

#include <glib.h>

#include "stereo/rectify.h"
#include "stereo/remap.h"

G_BEGIN_DECLS

/* How the right view lies otherwise than the calibration says: it is shifted down and turned. */
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
  GstStereoCorrection correction; /* is taken out */
  StereoRemapPlane planes[STEREO_REMAP_MAX_PLANES];
  gint plane_count;
  gint backend, cuda_device_id, threads;
} GstStereoRecipe;

/* NULL: @error says why. */
StereoRemap *gst_stereo_recipe_make (const GstStereoRecipe *recipe, StereoError *error);

/* The same in a thread of its own. */
typedef struct _GstStereoRecipeJob GstStereoRecipeJob;

/* With a copy of @recipe. NULL: there is no thread to be had. */
GstStereoRecipeJob *gst_stereo_recipe_job_start (const GstStereoRecipe *recipe);
gboolean gst_stereo_recipe_job_is_done (GstStereoRecipeJob *job);
/* Waits for it and frees it. @ns (may be NULL): how long it took. NULL: it failed, as @error says. */
StereoRemap *gst_stereo_recipe_job_finish (GstStereoRecipeJob *job, guint64 *ns, StereoError *error);

G_END_DECLS

#endif
