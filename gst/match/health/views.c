/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/health/views.h"

#include <math.h>
#include <string.h>

/* Between the two figures of a fault, a look tells nothing: what stands at one look does not flicker. */
#define BLACK_BAD 0.98 /* share of black pixels: a picture of the night has lamps */
#define BLACK_GOOD 0.9
#define WHITE_BAD 0.5 /* twice what fog and sky give */
#define WHITE_GOOD 0.4
#define BLURRED_BAD 0.5 /* of the sharpness expected; the worst healthy pair has 0.82 */
#define BLURRED_GOOD 0.65
#define DARK_BAD (1 / 1.5) /* of the other view's brightness; the worst healthy pair has 0.93 */
#define DARK_GOOD (1 / 1.3)
#define BRIGHT_ENOUGH 20.0  /* levels of the other view: less tells nothing about exposure */
#define DETAILED_ENOUGH 1.5 /* grey levels of the other view: fog has 2.5 */
#define BEYOND_DOUBT 2.5    /* times what noise gives by chance */
#define ROUGHER 0.8         /* a view that is less sharp has less of detail and noise together, too */
#define MOVES 0.01          /* share of the other view's pixels */
#define PAST_LOOKS 25       /* before the past counts: five seconds */
#define PAST_WEIGHT 100     /* looks that the mean is of, at most: twenty seconds */
#define PAST_MAX 0.40546511 /* ln 1.5: dirt that comes slowly must not become what is expected */

/* ---- episodes ---------------------------------------------------------------------------- */

void
gst_stereo_episode_flush (GstStereoEpisode *episode)
{
  episode->count = episode->unknown = 0;
}

GstStereoEpisodeChange
gst_stereo_episode_update (GstStereoEpisode *episode, GstStereoVerdict verdict, gint64 time)
{
  gboolean bad = verdict == GST_STEREO_VERDICT_BAD;

  if (verdict == GST_STEREO_VERDICT_UNKNOWN && ++episode->unknown < GST_STEREO_EPISODE_PATIENCE)
    return GST_STEREO_EPISODE_GOES_ON;
  episode->unknown = 0;
  if (verdict == GST_STEREO_VERDICT_UNKNOWN || bad == episode->stands) {
    episode->count = 0;
    return GST_STEREO_EPISODE_GOES_ON;
  }
  if (!episode->count++ || time < episode->since)
    episode->since = time;
  if (episode->count < GST_STEREO_EPISODE_LOOKS || time - episode->since < GST_STEREO_EPISODE_HOLD)
    return GST_STEREO_EPISODE_GOES_ON;
  episode->stands = bad;
  episode->count = 0;
  return bad ? GST_STEREO_EPISODE_BEGINS : GST_STEREO_EPISODE_ENDS;
}

/* ---- verdicts ---------------------------------------------------------------------------- */

/* @value grows as the fault does. */
static GstStereoVerdict
above (gdouble value, gdouble bad, gdouble good)
{
  return value >= bad ? GST_STEREO_VERDICT_BAD : value <= good ? GST_STEREO_VERDICT_GOOD : GST_STEREO_VERDICT_UNKNOWN;
}

static GstStereoVerdict
below (gdouble value, gdouble bad, gdouble good)
{
  return above (-value, -bad, -good);
}

static GstStereoVerdict
judge_blurred (const GstStereoViewLook *look, const GstStereoViewLook *other, gdouble expected)
{
  GstStereoVerdict verdict;

  if (other->detail < DETAILED_ENOUGH || other->detail * other->detail < BEYOND_DOUBT * other->doubt)
    return GST_STEREO_VERDICT_UNKNOWN;
  verdict = below (look->sharpness / other->sharpness / expected, BLURRED_BAD, BLURRED_GOOD);
  /* texture whose rows have nothing in common is taken for noise; and in fog there may be little else than noise */
  if (verdict == GST_STEREO_VERDICT_BAD && look->roughness > ROUGHER * other->roughness)
    return GST_STEREO_VERDICT_UNKNOWN;
  return verdict;
}

static GstStereoVerdict
judge_dark (const GstStereoViewLook *look, const GstStereoViewLook *other)
{
  if (other->brightness < BRIGHT_ENOUGH)
    return GST_STEREO_VERDICT_UNKNOWN;
  return below (look->brightness / other->brightness, DARK_BAD, DARK_GOOD);
}

static GstStereoVerdict
judge_frozen (const GstStereoViewLook *look, const GstStereoViewLook *other)
{
  if (!look->compared || !other->compared)
    return GST_STEREO_VERDICT_UNKNOWN;
  if (!look->same)
    return GST_STEREO_VERDICT_GOOD;
  return other->moved >= MOVES ? GST_STEREO_VERDICT_BAD : GST_STEREO_VERDICT_UNKNOWN;
}

/* A view that shows nothing, or too much light, says nothing about blur, exposure and movement of either view. */
static gboolean
shows_nothing (GstStereoViewVerdicts verdicts, guint v)
{
  return verdicts[GST_STEREO_VIEW_BLACK][v] == GST_STEREO_VERDICT_BAD ||
      verdicts[GST_STEREO_VIEW_BLOWN_OUT][v] == GST_STEREO_VERDICT_BAD;
}

void
gst_stereo_views_judge (const GstStereoViewLook looks[2], gdouble past, GstStereoViewVerdicts verdicts)
{
  gboolean nothing, blurred;

  memset (verdicts, 0, sizeof (GstStereoViewVerdicts));
  for (guint v = 0; v < 2; v++) {
    verdicts[GST_STEREO_VIEW_BLACK][v] = above (looks[v].black, BLACK_BAD, BLACK_GOOD);
    verdicts[GST_STEREO_VIEW_BLOWN_OUT][v] = above (looks[v].white, WHITE_BAD, WHITE_GOOD);
  }
  nothing = shows_nothing (verdicts, 0) || shows_nothing (verdicts, 1);
  for (guint v = 0; v < 2 && !nothing; v++) {
    gdouble expected = past <= 0 ? 1 : v ? 1 / past : past;
    verdicts[GST_STEREO_VIEW_BLURRED][v] = judge_blurred (&looks[v], &looks[!v], expected);
  }
  blurred = verdicts[GST_STEREO_VIEW_BLURRED][0] == GST_STEREO_VERDICT_BAD ||
      verdicts[GST_STEREO_VIEW_BLURRED][1] == GST_STEREO_VERDICT_BAD;
  for (guint v = 0; v < 2 && !nothing; v++) {
    /* what covers a lens is dark too, and does not move */
    if (!blurred)
      verdicts[GST_STEREO_VIEW_DARK][v] = judge_dark (&looks[v], &looks[!v]);
    if (verdicts[GST_STEREO_VIEW_BLURRED][v] != GST_STEREO_VERDICT_BAD)
      verdicts[GST_STEREO_VIEW_FROZEN][v] = judge_frozen (&looks[v], &looks[!v]);
  }
}

/* ---- looks ------------------------------------------------------------------------------- */

gdouble
gst_stereo_views_past (const GstStereoViews *views)
{
  return views->looks < PAST_LOOKS ? 0 : exp (CLAMP (views->past, -PAST_MAX, PAST_MAX));
}

/* Looks in which nothing is wrong with the sharpness of either view. */
static void
remember (GstStereoViews *views, const GstStereoViewLook looks[2], GstStereoViewVerdicts verdicts)
{
  if (verdicts[GST_STEREO_VIEW_BLURRED][0] != GST_STEREO_VERDICT_GOOD ||
      verdicts[GST_STEREO_VIEW_BLURRED][1] != GST_STEREO_VERDICT_GOOD)
    return;
  views->looks = MIN (views->looks + 1, PAST_WEIGHT);
  views->past += (log (looks[0].sharpness / looks[1].sharpness) - views->past) / views->looks;
}

void
gst_stereo_views_add (GstStereoViews *views, const GstStereoViewLook looks[2], gint64 time,
    GstStereoEpisodeChange changes[GST_STEREO_VIEW_FAULTS][2])
{
  GstStereoViewVerdicts verdicts;

  gst_stereo_views_judge (looks, gst_stereo_views_past (views), verdicts);
  remember (views, looks, verdicts);
  for (guint fault = 0; fault < GST_STEREO_VIEW_FAULTS; fault++)
    for (guint v = 0; v < 2; v++)
      changes[fault][v] = gst_stereo_episode_update (&views->episodes[fault][v], verdicts[fault][v], time);
}

void
gst_stereo_views_flush (GstStereoViews *views)
{
  for (guint fault = 0; fault < GST_STEREO_VIEW_FAULTS; fault++)
    for (guint v = 0; v < 2; v++)
      gst_stereo_episode_flush (&views->episodes[fault][v]);
}

gboolean
gst_stereo_views_are_sound (const GstStereoViews *views)
{
  for (guint fault = 0; fault < GST_STEREO_VIEW_FAULTS; fault++)
    for (guint v = 0; v < 2; v++)
      if (views->episodes[fault][v].stands || views->episodes[fault][v].count)
        return FALSE;
  return TRUE;
}
