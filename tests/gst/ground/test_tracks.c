/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Identities from frame to frame: obstacles that drive through the world, drawn anew at each turn. */
#include <gst/check/gstcheck.h>

#include <math.h>

#include "gst/ground/objects/tracks.h"
#include "tests/support/random.h"

#define TURNS 2000
#define CAMERA_HEIGHT 1650

static const GstStereoGroundCamera camera = { .focal = 720, .baseline = 540, .x = 620, .y = 187 };
static Random generator;

static gdouble
between (gdouble low, gdouble high)
{
  return low + (high - low) * random_unit (&generator);
}

/* An upright thing as the finder would tell it: a fit over many pixels errs by less than a pixel of disparity. */
static GstStereoObstacle
seen_at (gdouble distance, gdouble lateral, gdouble width, gdouble height)
{
  gdouble off = between (-0.3, 0.3) * distance * distance / (camera.focal * camera.baseline);
  gdouble scale = camera.focal / distance;
  GstStereoObstacle one = { .distance = distance + off,
    .lateral = lateral + between (-0.03, 0.03) * width,
    .object_width = width,
    .object_height = height,
    .probability = 0.9 };

  one.x = (gint) lrint (camera.x + scale * (lateral - width / 2) + between (-2, 2));
  one.y = (gint) lrint (camera.y + scale * (CAMERA_HEIGHT - height) + between (-2, 2));
  one.width = MAX (4, (gint) lrint (scale * width));
  one.height = MAX (4, (gint) lrint (scale * height));
  return one;
}

/* Two neighbours as one: a box around both, at the distance of the nearer. */
static GstStereoObstacle
joined (const GstStereoObstacle *a, const GstStereoObstacle *b)
{
  gdouble left = MIN (a->lateral - a->object_width / 2, b->lateral - b->object_width / 2);
  gdouble right = MAX (a->lateral + a->object_width / 2, b->lateral + b->object_width / 2);
  GstStereoObstacle both = *a;

  both.x = MIN (a->x, b->x);
  both.y = MIN (a->y, b->y);
  both.width = MAX (a->x + a->width, b->x + b->width) - both.x;
  both.height = MAX (a->y + a->height, b->y + b->height) - both.y;
  both.distance = MIN (a->distance, b->distance);
  both.lateral = (left + right) / 2;
  both.object_width = right - left;
  both.object_height = MAX (a->object_height, b->object_height);
  return both;
}

/* The identity that is reported of @one in this frame; 0 = none is. */
static guint
id_near (const GstStereoGroundReport *reports, guint count, const GstStereoObstacle *one)
{
  for (guint i = 0; i < count; i++)
    if (reports[i].seen && reports[i].obstacle.x == one->x && reports[i].obstacle.distance == one->distance)
      return reports[i].id;
  return 0;
}

static guint
step_to (GstStereoGroundTracks *tracks, gdouble seconds, const GstStereoObstacle *one)
{
  const GstStereoGroundStep step = { seconds, camera };
  const GstStereoGroundReport *reports;
  guint count;

  reports = gst_stereo_ground_tracks_update (tracks, &step, one, 1, &count);
  return id_near (reports, count, one);
}

/* ---- one that comes closer --------------------------------------------------------------- */

/* Whether it has one identity from its second frame until it is 1 m away. A share of @dropped of the frames does not come, two in a row at most. */
static gboolean
keeps_its_identity (gdouble from, gdouble speed, gdouble lateral, gdouble frame, gdouble dropped)
{
  GstStereoGroundTracks *tracks = gst_stereo_ground_tracks_new ();
  gdouble distance = from, width = between (400, 1800), height = between (800, 2000), seconds = 0;
  gboolean kept = TRUE;
  guint seen = 0;

  while (distance >= 1000) {
    GstStereoObstacle one = seen_at (distance, lateral, width, height);

    kept = kept && step_to (tracks, seconds, &one) == (seen++ ? 1 : 0);
    for (seconds = frame; seconds < 3 * frame && random_unit (&generator) < dropped;)
      seconds += frame;
    distance -= speed * seconds;
  }
  gst_stereo_ground_tracks_free (tracks);
  return kept;
}

/* First seen at 4 m, where a step of a tenth of a second is a quarter of the distance. */
GST_START_TEST (test_close_and_fast)
{
  guint kept = 0;

  for (guint turn = 0; turn < TURNS; turn++)
    kept += keeps_its_identity (4000, between (8000, 12000), between (-1500, 1500), 0.1, 0);
  printf ("close and fast: %u of %d\n", kept, TURNS);
  fail_unless (kept == TURNS, "%u of %d kept their identity", kept, TURNS);
}
GST_END_TEST;

GST_START_TEST (test_dropped_frames)
{
  guint kept = 0;

  for (guint turn = 0; turn < TURNS; turn++)
    kept += keeps_its_identity (
        between (15000, 30000), between (5000, 20000), between (-2000, 2000), between (0.033, 0.12), 0.3);
  printf ("dropped frames: %u of %d\n", kept, TURNS);
  fail_unless (kept == TURNS, "%u of %d kept their identity", kept, TURNS);
}
GST_END_TEST;

/* ---- neighbours -------------------------------------------------------------------------- */

/* Two that come closer side by side and are seen as one for some frames. Whether each has its own identity again. */
static gboolean
part_as_they_were (void)
{
  GstStereoGroundTracks *tracks = gst_stereo_ground_tracks_new ();
  gdouble speed = between (2000, 12000), distance = between (22000, 30000), deeper = between (-600, 600);
  gdouble width[2] = { between (500, 1800), between (500, 1800) }, gap = between (300, 1200);
  gdouble middle = between (-2500, 2500), side = (width[0] + width[1]) / 4 + gap / 2;
  guint from = (guint) random_range (&generator, 4, 7), to = from + (guint) random_range (&generator, 1, 8);
  guint before[2] = { 0, 0 }, after[2] = { 0, 0 };

  for (guint frame = 0; frame < to + 3; frame++, distance -= speed * 0.1) {
    const GstStereoGroundStep step = { 0.1, camera };
    GstStereoObstacle two[2] = { seen_at (distance, middle - side, width[0], 1500),
      seen_at (distance + deeper, middle + side, width[1], 1500) };
    GstStereoObstacle one = joined (&two[0], &two[1]);
    gboolean apart = frame < from || frame >= to;
    const GstStereoGroundReport *reports;
    guint count, *ids = frame < from ? before : after;

    reports = gst_stereo_ground_tracks_update (tracks, &step, apart ? two : &one, apart ? 2 : 1, &count);
    for (guint i = 0; i < 2 && apart; i++)
      ids[i] = id_near (reports, count, &two[i]);
  }
  gst_stereo_ground_tracks_free (tracks);
  return before[0] && before[1] && before[0] == after[0] && before[1] == after[1];
}

GST_START_TEST (test_neighbours)
{
  guint kept = 0;

  for (guint turn = 0; turn < TURNS; turn++)
    kept += part_as_they_were ();
  printf ("neighbours: %u of %d\n", kept, TURNS);
  fail_unless (kept == TURNS, "%u of %d pairs kept their identities", kept, TURNS);
}
GST_END_TEST;

static Suite *
ground_tracks_suite (void)
{
  Suite *suite = suite_create ("ground_tracks");
  TCase *tcase = tcase_create ("general");

  generator.state = random_seed ();
  suite_add_tcase (suite, tcase);
  tcase_set_timeout (tcase, 120);
  tcase_add_test (tcase, test_close_and_fast);
  tcase_add_test (tcase, test_dropped_frames);
  tcase_add_test (tcase, test_neighbours);
  return suite;
}

GST_CHECK_MAIN (ground_tracks)
