/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/ground/analysis.h"

#include "gst/meta/found.h"

#include <string.h>

struct _GstStereoGroundAnalysis
{
  GstStereoGroundGrid grid;
  GstStereoGroundFinder *planes;
  GstStereoObstacleFinder *obstacles;
  GstStereoGroundTracks *tracks;
  gdouble *free_distances;
  guint room;
};

GstStereoGroundAnalysis *
gst_stereo_ground_analysis_new (void)
{
  GstStereoGroundAnalysis *analysis = g_new0 (GstStereoGroundAnalysis, 1);

  analysis->planes = gst_stereo_ground_finder_new ();
  analysis->obstacles = gst_stereo_obstacle_finder_new ();
  analysis->tracks = gst_stereo_ground_tracks_new ();
  return analysis;
}

void
gst_stereo_ground_analysis_free (GstStereoGroundAnalysis *analysis)
{
  gst_stereo_ground_grid_clear (&analysis->grid);
  gst_stereo_ground_finder_free (analysis->planes);
  gst_stereo_obstacle_finder_free (analysis->obstacles);
  gst_stereo_ground_tracks_free (analysis->tracks);
  g_free (analysis->free_distances);
  g_free (analysis);
}

void
gst_stereo_ground_analysis_forget (GstStereoGroundAnalysis *analysis)
{
  gst_stereo_ground_finder_forget (analysis->planes);
  gst_stereo_ground_tracks_forget (analysis->tracks);
}

/* Nothing is known yet. */
static void
begin (GstStereoGroundAnalysis *analysis, const GstStereoGroundTask *task, GstStereoGroundResult *result)
{
  memset (result, 0, sizeof *result);
  if (task->columns > analysis->room) {
    analysis->free_distances = g_renew (gdouble, analysis->free_distances, task->columns);
    analysis->room = task->columns;
  }
  for (guint i = 0; i < task->columns; i++)
    analysis->free_distances[i] = GST_STEREO_GROUND_UNKNOWN;
  result->free_distances = analysis->free_distances;
  result->n_free_distances = task->columns;
}

void
gst_stereo_ground_analysis_skip (
    GstStereoGroundAnalysis *analysis, const GstStereoGroundTask *task, GstStereoGroundResult *result)
{
  gst_stereo_ground_analysis_forget (analysis);
  begin (analysis, task, result);
}

/* The distance of the ground in the lowest row of which the mask leaves half: before it the vehicle is blind. */
static gdouble
ground_from (const GstStereoGroundScene *scene)
{
  const GstStereoGroundGrid *grid = scene->grid;

  for (gint row = grid->rows - 1; row >= 0; row--) {
    gint y = row == grid->rows - 1 ? grid->height - 1 : gst_stereo_ground_grid_pixel (grid, row), excluded = 0;
    gdouble ground = gst_stereo_ground_scene_at (scene, scene->camera.x, y);

    for (gint i = 0; i < grid->columns; i++)
      excluded += grid->excluded[gst_stereo_ground_grid_at (grid, i, row)];
    if (2 * excluded <= grid->columns)
      return ground > 0 ? gst_stereo_ground_scene_distance (scene, ground) : 0;
  }
  return 0;
}

void
gst_stereo_ground_analysis_run (GstStereoGroundAnalysis *analysis, const GstStereoDepthView *view,
    const GstStereoGroundTask *task, GstStereoGroundResult *result)
{
  const GstStereoGroundGrid *grid = &analysis->grid;
  GstStereoGroundScene scene = { grid, gst_stereo_ground_camera (view->meta) };
  guint count;

  begin (analysis, task, result);
  gst_stereo_ground_grid_read (&analysis->grid, view);
  result->judged = (gdouble) grid->sure / (gdouble) MAX (grid->asked_for, 1);
  result->valid = gst_stereo_ground_find (analysis->planes, grid, &scene.camera, &task->limits, &result->fit);
  if (!result->valid) {
    memset (&result->fit, 0, sizeof result->fit);
    /* the frame passes for the obstacles too; none is reported without a ground */
    gst_stereo_ground_tracks_update (analysis->tracks, NULL, 0, task->corridor, &count);
    return;
  }
  scene.plane = result->fit.plane;
  scene.camera_height = result->fit.pose.height;
  scene.sizes = task->sizes;
  result->ground_from = ground_from (&scene);
  result->plane[0] = gst_stereo_ground_scene_at (&scene, 0, 0) - scene.camera.offset;
  result->plane[1] = scene.plane.across;
  result->plane[2] = scene.plane.down;
  const GstStereoObstacle *found = gst_stereo_obstacle_find (analysis->obstacles, &scene, &count);
  result->obstacles = gst_stereo_ground_tracks_update (
      analysis->tracks, found, count, task->corridor, &result->n_obstacles);
  gst_stereo_ground_free_distances (&scene, analysis->obstacles, analysis->free_distances, result->n_free_distances);
}
