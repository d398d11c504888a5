/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/ground/objects/tracks.h"

#include <math.h>

#include "gst/ground/objects/assign.h"
#include "gst/ground/objects/motion.h"

#define FRAMES 3    /* of which */
#define SEEN 2      /* have to show it */
#define KEPT 5      /* frames that an obstacle may be away and come back as the same */
#define STEP 0.1    /* s between two frames, where that is not known */
#define LONGEST 1.0 /* s: after more, a bound of speed is no bound */
/* Bounds of speed, mm/s: two vehicles on a road, and one that crosses it. */
#define CLOSING 30000.0
#define CROSSING 10000.0
/* A matcher errs by patches of up to 2 px, and the part of an obstacle that is seen changes. */
#define WRONG 2.0
#define PART 500.0
#define PART_OF 0.06
#define SHARED 0.3 /* of two boxes: they may be farther apart, and it is still one obstacle */
#define TOUCH 0.1  /* of two boxes: less is no sign that it is one obstacle */
#define MOST_OFF 9.0
#define BOX_COST 4.0
#define AWAY_COST 1.5 /* per frame that a track was away: another that was not is the better one */
#define MOST_COST 14.0
#define NEVER 1e6
#define WIDER 1.3 /* than itself: an obstacle that may hold a neighbour too */
#define HIDDEN 60 /* frames that an obstacle may be part of another */
#define MOST_TRACKS 1024

typedef struct
{
  guint id;
  guint history; /* a bit a frame, the last one lowest: seen */
  guint hidden;  /* frames in a row in which it was part of a wider one */
  gint column;   /* what it is in this frame; -1 = not seen */
  guint kept;    /* frames for which it is kept without being seen */
  gdouble away;  /* s since it was seen by itself */
  GstStereoGroundMotion distance, lateral;
  GstStereoObstacle obstacle; /* as it was seen */
  GstStereoObstacle own;      /* and by itself */
} Track;

struct _GstStereoGroundTracks
{
  GArray *all;     /* Track */
  GArray *costs;   /* gdouble, per track and obstacle */
  GArray *columns; /* gint, per track */
  GArray *taken;   /* guint8, per obstacle */
  GArray *reports; /* GstStereoGroundReport */
  guint next;
};

GstStereoGroundTracks *
gst_stereo_ground_tracks_new (void)
{
  GstStereoGroundTracks *tracks = g_new0 (GstStereoGroundTracks, 1);

  tracks->all = g_array_new (FALSE, FALSE, sizeof (Track));
  tracks->costs = g_array_new (FALSE, FALSE, sizeof (gdouble));
  tracks->columns = g_array_new (FALSE, FALSE, sizeof (gint));
  tracks->taken = g_array_new (FALSE, TRUE, sizeof (guint8));
  tracks->reports = g_array_new (FALSE, FALSE, sizeof (GstStereoGroundReport));
  tracks->next = 1;
  return tracks;
}

void
gst_stereo_ground_tracks_free (GstStereoGroundTracks *tracks)
{
  g_array_unref (tracks->all);
  g_array_unref (tracks->costs);
  g_array_unref (tracks->columns);
  g_array_unref (tracks->taken);
  g_array_unref (tracks->reports);
  g_free (tracks);
}

void
gst_stereo_ground_tracks_forget (GstStereoGroundTracks *tracks)
{
  g_array_set_size (tracks->all, 0);
}

/* ---- which is which ---------------------------------------------------------------------- */

/* Standard deviation of a distance: a pixel of disparity less what a fit over many gains, and the part that is seen. */
static gdouble
distance_error (const GstStereoGroundCamera *camera, gdouble distance)
{
  return 150 + 0.01 * distance + 0.5 * distance * distance / (camera->focal * camera->baseline);
}

static gdouble
lateral_error (const GstStereoObstacle *one)
{
  return 100 + 0.01 * one->distance + one->object_width / 8;
}

/* A box in the picture: left, top, right, bottom. */
typedef struct
{
  gdouble x0, y0, x1, y1;
} Box;

static Box
box_of (const GstStereoObstacle *one)
{
  Box box = { one->x, one->y, one->x + one->width, one->y + one->height };

  return box;
}

/* What a track would look like where its distance is @distance: larger, and moved to the side by what it is expected to. */
static Box
box_at (const Track *track, const GstStereoGroundCamera *camera, gdouble distance)
{
  Box box = box_of (&track->own);
  gdouble scale = track->own.distance / distance;
  gdouble aside = camera->focal * (track->lateral.at - track->own.lateral) / distance;

  box.x0 = camera->x + scale * (box.x0 - camera->x) + aside;
  box.x1 = camera->x + scale * (box.x1 - camera->x) + aside;
  box.y0 = camera->y + scale * (box.y0 - camera->y);
  box.y1 = camera->y + scale * (box.y1 - camera->y);
  return box;
}

/* Intersection over union. */
static gdouble
overlap (Box a, Box b)
{
  gdouble width = MIN (a.x1, b.x1) - MAX (a.x0, b.x0), height = MIN (a.y1, b.y1) - MAX (a.y0, b.y0);
  gdouble both = MAX (0, width) * MAX (0, height);
  gdouble all = (a.x1 - a.x0) * (a.y1 - a.y0) + (b.x1 - b.x0) * (b.y1 - b.y0) - both;

  return all > 0 ? both / all : 0;
}

/* Whether a thing can have moved so far in the time. Where its speed is known, from where it is expected. */
static gboolean
is_within_reach (const Track *track, const GstStereoGroundCamera *camera, const GstStereoObstacle *now)
{
  gdouble time = MIN (track->away, LONGEST), far = MAX (track->own.distance, now->distance);
  gdouble wrong = PART + WRONG * far * far / (camera->focal * camera->baseline);
  gdouble aside = PART + PART_OF * far + MAX (track->own.object_width, now->object_width) / 2 + CROSSING * time;

  return fabs (now->distance - track->own.distance) <= wrong + CLOSING * time &&
      fabs (now->lateral - track->own.lateral) <= aside;
}

static guint
frames_away (const Track *track)
{
  guint frames = 0;

  while (frames < KEPT && !(track->history >> (frames + 1) & 1))
    frames++;
  return frames;
}

/* How badly @now fits a track; above MOST_COST it is another obstacle. A large obstacle is seen in parts that change, so
 * its box counts as much as its place. */
static gdouble
cost_of (const Track *track, const GstStereoGroundCamera *camera, const GstStereoObstacle *now)
{
  gdouble still = overlap (box_of (&track->obstacle), box_of (now));
  gdouble shared = MAX (still, overlap (box_at (track, camera, now->distance), box_of (now)));
  gdouble off = gst_stereo_ground_motion_off (&track->distance, now->distance, distance_error (camera, now->distance));
  gdouble aside = gst_stereo_ground_motion_off (&track->lateral, now->lateral, lateral_error (now));

  if (still < SHARED && (shared < TOUCH || !is_within_reach (track, camera, now)))
    return NEVER;
  /* the box alone says that it is the same: a matcher's patches may be on it */
  return MIN (MIN (off, MOST_OFF) + MIN (aside, MOST_OFF) + BOX_COST * (1 - shared) + AWAY_COST * frames_away (track),
      still < SHARED ? NEVER : MOST_COST - 1);
}

/* ---- parts of a wider one ---------------------------------------------------------------- */

/* Whether the middle of what @track would look like there is in @now, at about its distance. */
static gboolean
is_part_of (const Track *track, const GstStereoGroundCamera *camera, const GstStereoObstacle *now)
{
  Box box = box_at (track, camera, now->distance);
  gdouble middle = (box.x0 + box.x1) / 2;

  return track->own.object_width * WIDER < now->object_width && middle > now->x && middle < now->x + now->width &&
      is_within_reach (track, camera, now);
}

/* Neighbours that are seen as one keep their own places and sizes, to be told from each other where they part. */
static gboolean
hide_in (GstStereoGroundTracks *tracks, const GstStereoGroundCamera *camera, const GstStereoObstacle *now, guint holder)
{
  gboolean any = FALSE;

  if (!is_part_of (&g_array_index (tracks->all, Track, holder), camera, now))
    return FALSE;
  for (guint t = 0; t < tracks->all->len; t++) {
    Track *track = &g_array_index (tracks->all, Track, t);

    if (t == holder || track->column >= 0 || track->hidden > HIDDEN || !is_part_of (track, camera, now))
      continue;
    any = TRUE;
    track->hidden++;
    track->kept = KEPT + 1;
    gst_stereo_ground_motion_see (&track->distance, now->distance, distance_error (camera, now->distance) + PART);
  }
  return any;
}

/* ---- a frame's obstacles and the tracks -------------------------------------------------- */

static void
follow (Track *track, const GstStereoGroundCamera *camera, const GstStereoObstacle *now, gboolean joined)
{
  gdouble error = distance_error (camera, now->distance);

  track->obstacle = *now;
  track->history |= 1;
  track->kept = KEPT + 1;
  gst_stereo_ground_motion_see (&track->distance, now->distance, joined ? error + PART : error);
  if (joined && track->hidden++ <= HIDDEN)
    return;
  gst_stereo_ground_motion_see (&track->lateral, now->lateral, lateral_error (now));
  track->own = *now;
  track->away = 0;
  track->hidden = 0;
}

static void
match (GstStereoGroundTracks *tracks, const GstStereoGroundCamera *camera, const GstStereoObstacle *all, guint count)
{
  guint rows = tracks->all->len;
  const gint *columns;

  g_array_set_size (tracks->costs, rows * count);
  g_array_set_size (tracks->columns, rows);
  for (guint t = 0; t < rows; t++)
    for (guint o = 0; o < count; o++)
      g_array_index (tracks->costs, gdouble, t * count + o) = cost_of (
          &g_array_index (tracks->all, Track, t), camera, &all[o]);
  gst_stereo_ground_assign (
      (const gdouble *) tracks->costs->data, rows, count, MOST_COST, (gint *) tracks->columns->data);
  columns = (const gint *) tracks->columns->data;
  for (guint t = 0; t < rows; t++) {
    g_array_index (tracks->all, Track, t).column = columns[t];
    if (columns[t] >= 0)
      g_array_index (tracks->taken, guint8, columns[t]) = TRUE;
  }
  for (guint t = 0; t < rows; t++)
    if (columns[t] >= 0)
      follow (&g_array_index (tracks->all, Track, t), camera, &all[columns[t]],
          hide_in (tracks, camera, &all[columns[t]], t));
}

/* ---- frames ------------------------------------------------------------------------------ */

static void
begin_tracks (
    GstStereoGroundTracks *tracks, const GstStereoGroundCamera *camera, const GstStereoObstacle *obstacles, guint count)
{
  for (guint o = 0; o < count && tracks->all->len < MOST_TRACKS; o++) {
    const GstStereoObstacle *now = &obstacles[o];
    Track track = {
      .id = tracks->next, .history = 1, .kept = KEPT + 1, .column = (gint) o, .obstacle = *now, .own = *now
    };

    if (g_array_index (tracks->taken, guint8, o))
      continue;
    /* the bounds are two standard deviations */
    track.distance = gst_stereo_ground_motion_begin (now->distance, distance_error (camera, now->distance), CLOSING / 2);
    track.lateral = gst_stereo_ground_motion_begin (now->lateral, lateral_error (now), CROSSING / 2);
    tracks->next = MAX (1, tracks->next + 1);
    g_array_append_val (tracks->all, track);
  }
}

/* Time passes for all; what was away for long is forgotten, but not what a wider one hides. */
static void
pass (GstStereoGroundTracks *tracks, const GstStereoGroundStep *step)
{
  gdouble seconds = step->seconds > 0 ? step->seconds : STEP;

  for (guint t = 0; t < tracks->all->len; t++) {
    Track *track = &g_array_index (tracks->all, Track, t);

    track->history <<= 1;
    track->kept--;
    track->away += seconds;
    gst_stereo_ground_motion_pass (&track->distance, MIN (seconds, LONGEST));
    gst_stereo_ground_motion_pass (&track->lateral, MIN (seconds, LONGEST));
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
by_distance (gconstpointer a, gconstpointer b)
{
  const GstStereoGroundReport *x = a, *y = b;

  if (x->obstacle.distance != y->obstacle.distance)
    return x->obstacle.distance < y->obstacle.distance ? -1 : 1;
  return x->id < y->id ? -1 : x->id > y->id;
}

const GstStereoGroundReport *
gst_stereo_ground_tracks_update (GstStereoGroundTracks *tracks, const GstStereoGroundStep *step,
    const GstStereoObstacle *obstacles, guint n_obstacles, guint *count)
{
  g_array_set_size (tracks->taken, 0);
  g_array_set_size (tracks->taken, n_obstacles);
  pass (tracks, step);
  match (tracks, &step->camera, obstacles, n_obstacles);
  for (guint t = tracks->all->len; t-- > 0;)
    if (!g_array_index (tracks->all, Track, t).kept)
      g_array_remove_index (tracks->all, t);
  begin_tracks (tracks, &step->camera, obstacles, n_obstacles);
  g_array_set_size (tracks->reports, 0);
  for (guint t = 0; t < tracks->all->len; t++) {
    const Track *track = &g_array_index (tracks->all, Track, t);
    GstStereoGroundReport report = { track->id, track->obstacle, track->history & 1 };

    if (frames_seen (track->history) >= SEEN)
      g_array_append_val (tracks->reports, report);
  }
  g_array_sort (tracks->reports, by_distance);
  *count = tracks->reports->len;
  return (const GstStereoGroundReport *) tracks->reports->data;
}
