/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/ground/objects/tracks.h"

#include <math.h>

#define FRAMES 3     /* of which */
#define SEEN 2       /* have to show it */
#define KEPT 5       /* frames for which an obstacle may disappear and still be the same */
#define FAR 0.12     /* of the distance, and */
#define FAR_MM 500.0 /* more, between an obstacle and where it was expected */
#define SHARED 0.3   /* of two boxes: they may be farther apart, and it is still one obstacle */
#define MOST_COST 2.5
#define MOST_TRACKS 1024

typedef struct
{
  guint id;
  guint history;  /* a bit a frame, the last one lowest: seen */
  gdouble closer; /* distance now, as a share of that in the frame before; smoothed */
  GstStereoObstacle obstacle;
} Track;

typedef struct
{
  gdouble cost;
  guint track, obstacle;
} Match;

struct _GstStereoGroundTracks
{
  GArray *all;     /* Track */
  GArray *matches; /* Match */
  GArray *taken;   /* guint8, per obstacle */
  GArray *reports; /* GstStereoGroundReport */
  guint next;
};

GstStereoGroundTracks *
gst_stereo_ground_tracks_new (void)
{
  GstStereoGroundTracks *tracks = g_new0 (GstStereoGroundTracks, 1);

  tracks->all = g_array_new (FALSE, FALSE, sizeof (Track));
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
  g_array_unref (tracks->matches);
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

/* Intersection over union of two boxes. */
static gdouble
overlap (const GstStereoObstacle *a, const GstStereoObstacle *b)
{
  gdouble width = MIN (a->x + a->width, b->x + b->width) - MAX (a->x, b->x);
  gdouble height = MIN (a->y + a->height, b->y + b->height) - MAX (a->y, b->y);
  gdouble both = MAX (0, width) * MAX (0, height);
  gdouble all = (gdouble) a->width * a->height + (gdouble) b->width * b->height - both;

  return all > 0 ? both / all : 0;
}

/* The cost of taking @now for the obstacle of a track, 0..MOST_COST; above that it is another obstacle. The visible part of a
 * large obstacle changes, so its box counts as much as its place. Its distance is compared with the one expected of its motion
 * and with the last one, because a patch of wrong disparities may have looked like a motion. */
static gdouble
cost_of (const Track *track, const GstStereoObstacle *now)
{
  const GstStereoObstacle *then = &track->obstacle;
  gdouble expected = then->distance * track->closer, shared = overlap (then, now);
  gdouble off = MIN (fabs (now->distance - expected), fabs (now->distance - then->distance));
  gdouble away = off / (FAR * then->distance + FAR_MM);
  gdouble aside = fabs (now->lateral - then->lateral) /
      (FAR_MM + FAR * then->distance / 2 + MAX (then->object_width, now->object_width) / 2);

  if (shared < SHARED && (away > 1 || aside > 1))
    return G_MAXDOUBLE;
  return away + 1 - shared;
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
follow (Track *track, const GstStereoObstacle *now)
{
  if (track->history & 2)
    track->closer += 0.5 * (CLAMP (now->distance / track->obstacle.distance, 0.8, 1.25) - track->closer);
  track->obstacle = *now;
  track->history |= 1;
}

/* The best fits first: each track takes one obstacle at most. */
static void
match (GstStereoGroundTracks *tracks, const GstStereoObstacle *obstacles, guint count)
{
  g_array_set_size (tracks->matches, 0);
  for (guint t = 0; t < tracks->all->len; t++)
    for (guint o = 0; o < count; o++) {
      Match one = { cost_of (&g_array_index (tracks->all, Track, t), &obstacles[o]), t, o };

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
    follow (track, &obstacles[one->obstacle]);
  }
}

/* ---- frames ------------------------------------------------------------------------------ */

static void
begin_tracks (GstStereoGroundTracks *tracks, const GstStereoObstacle *obstacles, guint count)
{
  for (guint o = 0; o < count && tracks->all->len < MOST_TRACKS; o++) {
    Track track = { tracks->next, 1, 1, obstacles[o] };

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
by_distance (gconstpointer a, gconstpointer b)
{
  const GstStereoGroundReport *x = a, *y = b;

  if (x->obstacle.distance != y->obstacle.distance)
    return x->obstacle.distance < y->obstacle.distance ? -1 : 1;
  return x->id < y->id ? -1 : x->id > y->id;
}

const GstStereoGroundReport *
gst_stereo_ground_tracks_update (
    GstStereoGroundTracks *tracks, const GstStereoObstacle *obstacles, guint n_obstacles, guint *count)
{
  g_array_set_size (tracks->taken, 0);
  g_array_set_size (tracks->taken, n_obstacles);
  for (guint t = 0; t < tracks->all->len; t++)
    g_array_index (tracks->all, Track, t).history <<= 1;
  match (tracks, obstacles, n_obstacles);
  for (guint t = tracks->all->len; t-- > 0;)
    if (!(g_array_index (tracks->all, Track, t).history & ((1u << (KEPT + 1)) - 1)))
      g_array_remove_index (tracks->all, t);
  begin_tracks (tracks, obstacles, n_obstacles);
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
