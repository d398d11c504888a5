/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* When a fault begins and ends, by verdicts on single pairs. */
#include "tests/support/gst/suite.h"

#include "tests/gst/match/diagnose/made.h"

#define MS G_GINT64_CONSTANT (1000000)

/* A fault that one verdict shows begins once, and ends after three that do not show it. */
TEST (test_said_once)
{
  static const struct
  {
    GstStereoVerdict verdict;
    GstStereoEpisodeChange change;
  } begin[] = { { UNKNOWN, GST_STEREO_EPISODE_GOES_ON }, { GOOD, GST_STEREO_EPISODE_GOES_ON },
    { BAD, GST_STEREO_EPISODE_BEGINS }, { BAD, GST_STEREO_EPISODE_GOES_ON } },
    end[] = { { BAD, GST_STEREO_EPISODE_GOES_ON }, { GOOD, GST_STEREO_EPISODE_GOES_ON },
      { UNKNOWN, GST_STEREO_EPISODE_GOES_ON }, { GOOD, GST_STEREO_EPISODE_GOES_ON }, { GOOD, GST_STEREO_EPISODE_ENDS },
      { GOOD, GST_STEREO_EPISODE_GOES_ON }, { BAD, GST_STEREO_EPISODE_BEGINS } };
  GstStereoEpisode episode = { 0 };

  for (guint i = 0; i < G_N_ELEMENTS (begin); i++)
    fail_unless_equals_int (gst_stereo_episode_update (&episode, begin[i].verdict, 0, 0), begin[i].change);
  /* coming and going */
  for (guint i = 0; i < 10; i++) {
    fail_if (gst_stereo_episode_update (&episode, i % 3 ? GOOD : BAD, 0, 0));
    fail_if (gst_stereo_episode_update (&episode, UNKNOWN, 0, 0));
  }
  for (guint i = 0; i < G_N_ELEMENTS (end); i++)
    fail_unless_equals_int (gst_stereo_episode_update (&episode, end[i].verdict, 0, 0), end[i].change);
}

/* What @count looks, 200 ms apart from @from on, make of an episode. */
static GstStereoEpisodeChange
add_looks (GstStereoEpisode *episode, GstStereoVerdict verdict, gint64 *time, guint count)
{
  GstStereoEpisodeChange found = GST_STEREO_EPISODE_GOES_ON;

  for (guint i = 0; i < count; i++, *time += 200 * MS) {
    GstStereoEpisodeChange change = gst_stereo_episode_update (episode, verdict, *time, 1000 * MS);
    fail_if (found && change);
    found = found ? found : change;
  }
  return found;
}

TEST (test_episodes)
{
  GstStereoEpisode episode = { 0 };
  gint64 time = 0;

  /* a hand passes the lens, again and again */
  for (guint i = 0; i < 10; i++) {
    fail_unless_equals_int (add_looks (&episode, BAD, &time, 5), GST_STEREO_EPISODE_GOES_ON);
    fail_unless_equals_int (add_looks (&episode, GOOD, &time, 1), GST_STEREO_EPISODE_GOES_ON);
  }
  fail_unless_equals_int (add_looks (&episode, BAD, &time, 5), GST_STEREO_EPISODE_GOES_ON);
  fail_unless_equals_int (add_looks (&episode, UNKNOWN, &time, 8), GST_STEREO_EPISODE_GOES_ON);
  fail_unless_equals_int (add_looks (&episode, BAD, &time, 5), GST_STEREO_EPISODE_GOES_ON);
  fail_unless_equals_int (add_looks (&episode, UNKNOWN, &time, 7), GST_STEREO_EPISODE_GOES_ON);
  fail_unless_equals_int (add_looks (&episode, BAD, &time, 1), GST_STEREO_EPISODE_BEGINS);
  fail_unless_equals_int (add_looks (&episode, BAD, &time, 50), GST_STEREO_EPISODE_GOES_ON);
  /* it comes and goes: one episode */
  for (guint i = 0; i < 10; i++) {
    fail_unless_equals_int (add_looks (&episode, GOOD, &time, 5), GST_STEREO_EPISODE_GOES_ON);
    fail_unless_equals_int (add_looks (&episode, BAD, &time, 2), GST_STEREO_EPISODE_GOES_ON);
  }
  fail_unless_equals_int (add_looks (&episode, GOOD, &time, 6), GST_STEREO_EPISODE_ENDS);
  /* while a fault is suspected, looks come twice as fast */
  fail_unless_equals_int (add_looks (&episode, BAD, &time, 5), GST_STEREO_EPISODE_GOES_ON);
  for (guint i = 0; i < 12; i++, time += 100 * MS)
    fail_unless_equals_int (gst_stereo_episode_update (&episode, UNKNOWN, time, 1000 * MS), GST_STEREO_EPISODE_GOES_ON);
  fail_unless_equals_int (add_looks (&episode, BAD, &time, 1), GST_STEREO_EPISODE_BEGINS);
  fail_unless_equals_int (add_looks (&episode, GOOD, &time, 6), GST_STEREO_EPISODE_ENDS);
  /* rare frames: four of them, however long that takes */
  time += 60000 * MS;
  for (guint i = 0; i < 4; i++, time += 5000 * MS)
    fail_unless_equals_int (gst_stereo_episode_update (&episode, BAD, time, 1000 * MS),
        i < 3 ? GST_STEREO_EPISODE_GOES_ON : GST_STEREO_EPISODE_BEGINS);
}

SUITE (fault_episodes)
{
}
