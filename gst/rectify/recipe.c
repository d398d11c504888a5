/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/rectify/recipe.h"

#include <math.h>
#include <string.h>

#define VIEWS 2

struct _GstStereoRecipeJob
{
  GstStereoRecipe recipe;
  GThread *thread;
  gint done; /* atomic */
  StereoRemap *remap;
  StereoError error;
  guint64 ns;
};

/* Puts a turn and a shift of the finished picture behind the right view's projection. */
static void
correct_projection (StereoRectification *rectification, const GstStereoCorrection *correction)
{
  gdouble *p = rectification->projection[1], cosine = cos (correction->roll), sine = sin (correction->roll);
  /* the turn is about the principal point, which stays in its column; the offset is that of the picture's middle */
  gdouble x = p[2], y = p[6], down = correction->offset + correction->roll * (x - rectification->width / 2.0);

  for (guint i = 0; i < 3; i++) {
    gdouble across = p[i] - x * p[8 + i], along = p[4 + i] - y * p[8 + i];
    p[i] = cosine * across + sine * along + x * p[8 + i];
    p[4 + i] = cosine * along - sine * across + (y - down) * p[8 + i];
  }
}

/* Fills in the maps of both views. They lie in the memory that is returned (g_free), those of the left view first, for
 * each view x then y. NULL: no memory. */
static gfloat *
compute_maps (const GstStereoRecipe *recipe, StereoRemapMap *maps)
{
  StereoRectification rectification = recipe->rectification;
  gint width = rectification.width, height = rectification.height;
  gsize pixels = (gsize) width * (gsize) height;
  gfloat *memory = g_try_new (gfloat, 2 * VIEWS * pixels);

  if (!memory)
    return NULL;
  if (recipe->correction.offset != 0 || recipe->correction.roll != 0)
    correct_projection (&rectification, &recipe->correction);
  for (gint v = 0; v < VIEWS; v++) {
    gfloat *x = memory + (gsize) (2 * v) * pixels, *y = x + pixels;
    stereo_rectify_map (&recipe->calibration, &rectification, v, x, y, width, 0, height);
    maps[v] = (StereoRemapMap){ width, height, recipe->raw_width, recipe->raw_height, x, y, width };
  }
  return memory;
}

StereoRemap *
gst_stereo_recipe_make (const GstStereoRecipe *recipe, StereoError *error)
{
  StereoRemapMap maps[VIEWS];
  StereoRemapParams params = { .maps = maps,
    .map_count = VIEWS,
    .planes = recipe->planes,
    .plane_count = recipe->plane_count,
    .backend = recipe->backend,
    .cuda_device_id = recipe->cuda_device_id,
    .threads = recipe->threads };
  gfloat *memory = compute_maps (recipe, maps);

  if (!memory) {
    error->status = STEREO_ERROR_MEMORY;
    g_snprintf (error->message, sizeof error->message, "There is no memory for the maps of views of %dx%d pixels.",
        recipe->rectification.width, recipe->rectification.height);
    return NULL;
  }
  StereoRemap *remap = stereo_remap_new (&params, error);
  g_free (memory);
  return remap;
}

/* ---- in a thread ------------------------------------------------------------------------- */

static gpointer
run_job (gpointer data)
{
  GstStereoRecipeJob *job = data;
  gint64 begin = g_get_monotonic_time ();

  job->remap = gst_stereo_recipe_make (&job->recipe, &job->error);
  job->ns = (guint64) (g_get_monotonic_time () - begin) * 1000;
  g_atomic_int_set (&job->done, 1);
  return NULL;
}

GstStereoRecipeJob *
gst_stereo_recipe_job_start (const GstStereoRecipe *recipe)
{
  GstStereoRecipeJob *job = g_new0 (GstStereoRecipeJob, 1);

  job->recipe = *recipe;
  job->thread = g_thread_try_new ("stereorectify-maps", run_job, job, NULL);
  if (!job->thread)
    g_clear_pointer (&job, g_free);
  return job;
}

gboolean
gst_stereo_recipe_job_is_done (GstStereoRecipeJob *job)
{
  return g_atomic_int_get (&job->done);
}

StereoRemap *
gst_stereo_recipe_job_finish (GstStereoRecipeJob *job, guint64 *ns, StereoError *error)
{
  StereoRemap *remap;

  g_thread_join (job->thread);
  remap = job->remap;
  if (error)
    *error = job->error;
  if (ns)
    *ns = job->ns;
  g_free (job);
  return remap;
}
