/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/ground/analysis.h"

#include <math.h>
#include <string.h>

#include "gst/meta/found.h"

/* ---- tracks ------------------------------------------------------------------------------- */

#define FRAMES 3 /* of which */
#define SEEN 2   /* have to show it */
#define KEPT 5   /* frames for which an obstacle may disappear and still be the same */
/* Between where an obstacle is and where it was expected: */
#define OFF 0.06     /* of the distance, and */
#define OFF_MM 400.0 /* more */
#define ASIDE_MM 500.0
#define ASIDE 0.03 /* of the distance */
#define MOST_COST 2.0
#define LAG \
  0.5 /* of what a measured distance is off: a matcher errs, and the parts of an object that are seen change */
#define MOST_TRACKS 1024
/* Steps of the vehicle in a frame that are looked for, mm, and how far apart two obstacles may say them. */
#define MOST_BACK 1000.0
#define MOST_STEP 5000.0
#define LIKE 0.015 /* of the distance, and */
#define LIKE_MM 60.0
#define VOTES 3

typedef struct
{
  guint id;
  guint history; /* a bit a frame, the last one lowest: seen */
  guint sightings;
  gdouble measured; /* its distance when it was seen last */
  gdouble step;     /* mm by which it comes nearer in a frame, smoothed */
  GstStereoObstacle obstacle;
} Track;

typedef struct
{
  gdouble cost;
  guint track, obstacle;
} Match;

typedef struct
{
  gdouble step, error; /* mm */
} Vote;

struct _GstStereoGroundTracks
{
  GArray *all;      /* Track */
  GArray *votes;    /* Vote */
  GArray *matches;  /* Match */
  GArray *taken;    /* guint8, per obstacle */
  GArray *reports;  /* GstStereoGroundReport */
  gdouble step;     /* mm that the vehicle drives in a frame, smoothed */
  gboolean stepped; /* it is known */
  guint next;
};

GstStereoGroundTracks *
gst_stereo_ground_tracks_new (void)
{
  GstStereoGroundTracks *tracks = g_new0 (GstStereoGroundTracks, 1);

  tracks->all = g_array_new (FALSE, FALSE, sizeof (Track));
  tracks->votes = g_array_new (FALSE, FALSE, sizeof (Vote));
  tracks->matches = g_array_new (FALSE, FALSE, sizeof (Match));
  tracks->taken = g_array_new (FALSE, TRUE, sizeof (guint8));
  tracks->reports = g_array_new (FALSE, FALSE, sizeof (GstStereoGroundReport));
  tracks->next = 1;
  return tracks;
}

void
gst_stereo_ground_tracks_free (GstStereoGroundTracks *tracks)
{
  g_array_unref (tracks->all);
  g_array_unref (tracks->votes);
  g_array_unref (tracks->matches);
  g_array_unref (tracks->taken);
  g_array_unref (tracks->reports);
  g_free (tracks);
}

void
gst_stereo_ground_tracks_forget (GstStereoGroundTracks *tracks)
{
  g_array_set_size (tracks->all, 0);
  tracks->step = 0;
  tracks->stepped = FALSE;
}

/* ---- which is which ---------------------------------------------------------------------- */

/* How far apart two obstacles are to the side: 1 = as far as one may move. Of a large one, the part that is seen changes. */
static gdouble
apart (const GstStereoObstacle *then, const GstStereoObstacle *now)
{
  gdouble most = ASIDE_MM + ASIDE * then->distance + ABS (then->object_width - now->object_width) / 2;

  return fabs (now->lateral - then->lateral) / most;
}

/* What does not move comes nearer by what the vehicle drives: the step that most obstacles agree on. Where they are too few
 * to tell, it is the last one. */
static void
estimate_step (GstStereoGroundTracks *tracks, const GstStereoObstacle *obstacles, guint count)
{
  gdouble best = VOTES - 0.5, agreed = tracks->step;

  g_array_set_size (tracks->votes, 0);
  for (guint t = 0; t < tracks->all->len; t++)
    for (guint o = 0; o < count; o++) {
      const Track *track = &g_array_index (tracks->all, Track, t);
      gdouble step = track->obstacle.distance - obstacles[o].distance;
      Vote vote = { step, LIKE_MM + LIKE * obstacles[o].distance };

      if (track->history & 2 && step >= -MOST_BACK && step <= MOST_STEP && apart (&track->obstacle, &obstacles[o]) <= 0.5)
        g_array_append_val (tracks->votes, vote);
    }
  for (guint i = 0; i < tracks->votes->len; i++) {
    const Vote *one = &g_array_index (tracks->votes, Vote, i);
    gdouble sum = 0, weights = 0, votes = 0;

    for (guint j = 0; j < tracks->votes->len; j++) {
      const Vote *other = &g_array_index (tracks->votes, Vote, j);
      gdouble off = fabs (other->step - one->step) / (one->error + other->error),
              weight = 1 / (other->error * other->error);

      if (off > 1)
        continue;
      votes += 1 - off;
      sum += weight * other->step;
      weights += weight;
    }
    /* a vehicle does not jump */
    votes -= 0.5 * MIN (1, fabs (one->step - tracks->step) / MOST_BACK);
    if (votes > best) {
      best = votes;
      agreed = sum / weights;
    }
  }
  tracks->step += (tracks->stepped ? LAG : 1) * (agreed - tracks->step);
  tracks->stepped |= best >= VOTES;
}

/* Where the obstacle of a track is expected that is seen at @distance: it stands still, or it moves as it did. */
static gdouble
expected_near (const GstStereoGroundTracks *tracks, const Track *track, gdouble distance)
{
  gdouble still = track->obstacle.distance - tracks->step, moving = track->obstacle.distance - track->step;

  return fabs (distance - still) <= fabs (distance - moving) ? still : moving;
}

/* The cost of taking @now for the obstacle of a track, 0..MOST_COST; above that it is another obstacle. Of one that was seen
 * once, no motion is known. */
static gdouble
cost_of (const GstStereoGroundTracks *tracks, const Track *track, const GstStereoObstacle *now)
{
  const GstStereoObstacle *then = &track->obstacle;
  gdouble most = (OFF * then->distance + OFF_MM) * (track->sightings == 1 ? 2 : 1);
  gdouble away = fabs (now->distance - expected_near (tracks, track, now->distance)) / most, aside = apart (then, now);

  return away > 1 || aside > 1 ? G_MAXDOUBLE : away + aside;
}

static gint
by_cost (gconstpointer a, gconstpointer b)
{
  const Match *x = a, *y = b;

  if (x->cost != y->cost)
    return x->cost < y->cost ? -1 : 1;
  return x->track != y->track ? (x->track < y->track ? -1 : 1) : x->obstacle < y->obstacle ? -1 : 1;
}

static void
follow (const GstStereoGroundTracks *tracks, Track *track, const GstStereoObstacle *now)
{
  gdouble expected = expected_near (tracks, track, now->distance);
  guint frames = 1; /* since it was seen */

  while (!(track->history >> frames & 1))
    frames++;
  track->step += 0.5 * ((track->measured - now->distance) / frames - track->step);
  track->obstacle = *now;
  track->measured = now->distance;
  if (track->sightings++ > 1)
    track->obstacle.distance -= LAG * (now->distance - expected);
  track->history |= 1;
}

/* The best fits first: each track takes one obstacle at most. */
static void
match (GstStereoGroundTracks *tracks, const GstStereoObstacle *obstacles, guint count)
{
  g_array_set_size (tracks->matches, 0);
  for (guint t = 0; t < tracks->all->len; t++)
    for (guint o = 0; o < count; o++) {
      Match one = { cost_of (tracks, &g_array_index (tracks->all, Track, t), &obstacles[o]), t, o };

      if (one.cost <= MOST_COST)
        g_array_append_val (tracks->matches, one);
    }
  g_array_sort (tracks->matches, by_cost);
  for (guint i = 0; i < tracks->matches->len; i++) {
    const Match *one = &g_array_index (tracks->matches, Match, i);
    Track *track = &g_array_index (tracks->all, Track, one->track);
    guint8 *taken = &g_array_index (tracks->taken, guint8, one->obstacle);

    if (*taken || track->history & 1)
      continue;
    *taken = TRUE;
    follow (tracks, track, &obstacles[one->obstacle]);
  }
}

/* ---- frames ------------------------------------------------------------------------------ */

static void
begin_tracks (GstStereoGroundTracks *tracks, const GstStereoObstacle *obstacles, guint count)
{
  for (guint o = 0; o < count && tracks->all->len < MOST_TRACKS; o++) {
    Track track = { .id = tracks->next,
      .history = 1,
      .sightings = 1,
      .measured = obstacles[o].distance,
      .step = tracks->step,
      .obstacle = obstacles[o] };

    if (g_array_index (tracks->taken, guint8, o))
      continue;
    tracks->next = MAX (1, tracks->next + 1);
    g_array_append_val (tracks->all, track);
  }
}

static guint
frames_seen (guint history)
{
  guint seen = 0;

  for (guint i = 0; i < FRAMES; i++)
    seen += history >> i & 1;
  return seen;
}

static gint
by_danger (gconstpointer a, gconstpointer b)
{
  const GstStereoGroundReport *x = a, *y = b;

  if (x->ahead != y->ahead)
    return x->ahead ? -1 : 1;
  if (x->obstacle.distance != y->obstacle.distance)
    return x->obstacle.distance < y->obstacle.distance ? -1 : 1;
  return x->id < y->id ? -1 : x->id > y->id;
}

const GstStereoGroundReport *
gst_stereo_ground_tracks_update (GstStereoGroundTracks *tracks, const GstStereoObstacle *obstacles, guint n_obstacles,
    gdouble corridor, guint *count)
{
  g_array_set_size (tracks->taken, 0);
  g_array_set_size (tracks->taken, n_obstacles);
  for (guint t = 0; t < tracks->all->len; t++)
    g_array_index (tracks->all, Track, t).history <<= 1;
  estimate_step (tracks, obstacles, n_obstacles);
  match (tracks, obstacles, n_obstacles);
  for (guint t = tracks->all->len; t-- > 0;) {
    Track *track = &g_array_index (tracks->all, Track, t);

    /* what is not seen comes nearer too */
    if (!(track->history & 1))
      track->obstacle.distance -= track->step;
    if (!(track->history & ((1u << (KEPT + 1)) - 1)) || track->obstacle.distance <= 0)
      g_array_remove_index (tracks->all, t);
  }
  begin_tracks (tracks, obstacles, n_obstacles);
  g_array_set_size (tracks->reports, 0);
  for (guint t = 0; t < tracks->all->len; t++) {
    const Track *track = &g_array_index (tracks->all, Track, t);
    gdouble beside = fabs (track->obstacle.lateral) - track->obstacle.object_width / 2 - corridor / 2;
    GstStereoGroundReport report = { track->id, track->obstacle, track->history & 1, !(corridor > 0) || beside <= 0 };

    if (frames_seen (track->history) >= SEEN && (report.ahead || beside <= corridor))
      g_array_append_val (tracks->reports, report);
  }
  g_array_sort (tracks->reports, by_danger);
  *count = tracks->reports->len;
  return (const GstStereoGroundReport *) tracks->reports->data;
}

/* ---- a frame ------------------------------------------------------------------------------ */

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
