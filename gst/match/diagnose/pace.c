/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/diagnose/pace.h"

#include <math.h>

#define MIN_DROPPED 5 /* pairs in a span */
#define BAD 0.05      /* share of the pairs that were dropped */
#define MOST 0.8
#define SPREAD (G_GINT64_CONSTANT (2000000000)) /* ns from the first one dropped to the last one */
#define GOOD 0.01
#define FULL_LOAD 0.85 /* a pair that takes this share of a frame is what the stream waits for */
#define AIM 0.8        /* of a frame: times vary */
#define STEP 16        /* of sizes and disparities */
#define MIN_DISPARITIES 16
#define MIN_SIDE 64
#define MS(ns) ((gdouble) (ns) / 1e6)

/* Times as shares of those of method=asw with profile=balanced, the best quality first: with a full search, and from coarse to fine
 * among AMONG disparities. The latter's time does not grow with the range, and those of these settings do. quality and thesis take
 * longer than balanced, so that the shares are too large for them, and never too small. */
typedef struct
{
  const gchar *setting;
  gdouble full, listed;
} Cheaper;

#define AMONG 100

static const Cheaper cheaper_on_cpu[] = { { "method=sgm paths=4", 0.5, 0.8 }, { "method=bm", 0.4, 0.65 } };
static const Cheaper cheaper_on_device[] = { { "method=bm", 0.5, 0.7 } };

/* ---- the spans --------------------------------------------------------------------------- */

void
gst_stereo_pace_flush (GstStereoPace *pace)
{
  pace->begun = FALSE;
}

static void
begin_span (GstStereoPace *pace, gint64 time, const GstStereoPaceCounts *counts)
{
  pace->begun = TRUE;
  pace->begin = time;
  pace->first = *counts;
  pace->late = counts->late;
  pace->earliest = pace->latest = 0;
}

static void
note_dropped (GstStereoPace *pace, gint64 time, guint64 late)
{
  if (late == pace->late)
    return;
  pace->late = late;
  pace->latest = time;
  if (!pace->earliest)
    pace->earliest = time;
}

GstStereoEpisodeChange
gst_stereo_pace_add (GstStereoPace *pace, gint64 time, const GstStereoPaceCounts *counts)
{
  const GstStereoPaceCounts *first = &pace->first;

  if (!pace->begun)
    begin_span (pace, time, counts);
  note_dropped (pace, time, counts->late);
  if (time - pace->begin < GST_STEREO_PACE_SPAN)
    return GST_STEREO_EPISODE_GOES_ON;
  pace->dropped = counts->late - first->late;
  pace->computed = counts->pairs - first->pairs;
  gboolean spread = pace->latest - pace->earliest >= SPREAD;
  begin_span (pace, time, counts);
  gdouble share = (gdouble) pace->dropped / (gdouble) MAX (pace->dropped + pace->computed, 1);
  if (counts->behind && !pace->stands)
    return GST_STEREO_EPISODE_GOES_ON;
  if (!pace->stands && pace->dropped >= MIN_DROPPED && share >= (spread ? BAD : MOST)) {
    pace->stands = TRUE;
    return GST_STEREO_EPISODE_BEGINS;
  }
  if (pace->stands && pace->computed && share <= GOOD) {
    pace->stands = FALSE;
    return GST_STEREO_EPISODE_ENDS;
  }
  return GST_STEREO_EPISODE_GOES_ON;
}

/* ---- advice ------------------------------------------------------------------------------ */

static gint
round_down (gdouble value)
{
  return (gint) (value / STEP) * STEP;
}

/* Views that take @share of the present time: they have fewer rows, fewer columns and fewer disparities. @listed: the last do not make
 * them faster. */
static GstStereoSmaller
scale (const GstStereoLoad *load, gdouble share, gboolean listed)
{
  GstStereoSmaller smaller = { 0 };
  gdouble factor = listed ? sqrt (share) : cbrt (share);

  smaller.disparities = MAX (STEP, (gint) ceil (load->disparities * factor / STEP) * STEP);
  if (!listed)
    factor = sqrt (share * load->disparities / smaller.disparities);
  smaller.width = round_down (load->width * factor);
  smaller.height = (gint) (smaller.width * (gdouble) load->height / load->width) / 2 * 2;
  if (smaller.width < MIN_SIDE || smaller.height < MIN_SIDE)
    smaller.width = smaller.height = smaller.disparities = 0;
  return smaller;
}

static gdouble
share_of (const GstStereoLoad *load, const Cheaper *cheaper)
{
  return load->listed ? cheaper->listed * load->disparities / AMONG : cheaper->full;
}

/* @share: of the present time that a pair may take. The first setting that is cheap enough, or the cheapest one with
 * smaller views. */
static void
advise_setting (const GstStereoLoad *load, gdouble share, GstStereoAdvice *advice)
{
  const Cheaper *cheaper = load->on_device ? cheaper_on_device : cheaper_on_cpu;
  guint last = (load->on_device ? G_N_ELEMENTS (cheaper_on_device) : G_N_ELEMENTS (cheaper_on_cpu)) - 1, i = 0;

  /* of the other methods no shares are known */
  if (load->method != STEREO_METHOD_ASW || load->profile == STEREO_PROFILE_ROAD)
    return;
  while (i < last && share_of (load, &cheaper[i]) > share)
    i++;
  gdouble own = share_of (load, &cheaper[i]);
  if (own >= 1)
    return;
  advice->setting_time = own * load->compute;
  if (own > share) {
    advice->with = scale (load, share / own, FALSE);
    advice->setting_time = AIM * load->frame;
    if (!advice->with.width)
      return;
  }
  advice->setting = cheaper[i].setting;
}

GstStereoAdvice
gst_stereo_pace_advise (const GstStereoLoad *load, gint needed)
{
  GstStereoAdvice advice = { 0 };

  if (load->compute <= 0 || load->frame <= 0)
    return advice;
  if (load->compute < FULL_LOAD * load->frame) {
    advice.elsewhere = TRUE;
    return advice;
  }
  gdouble share = AIM * load->frame / load->compute;
  advise_setting (load, share, &advice);
  advice.disparities = load->listed ? 0 : round_down (load->disparities * share);
  if (advice.disparities < MAX (needed, MIN_DISPARITIES))
    advice.disparities = 0;
  advice.smaller = scale (load, share, load->listed);
  return advice;
}

/* ---- the text ----------------------------------------------------------------------------- */

static void
add_smaller (GString *text, const GstStereoSmaller *smaller)
{
  g_string_append_printf (
      text, " views of %dx%d pixels with num-disparities=%d", smaller->width, smaller->height, smaller->disparities);
}

static void
add_choices (GString *text, const GstStereoAdvice *advice)
{
  const gchar *separator = "";

  if (!advice->setting && !advice->disparities && !advice->smaller.width) {
    g_string_append (text, " Nothing that is known of would keep up: lower the frame rate.");
    return;
  }
  g_string_append (text, " One of these should keep up, as an estimate from that time:");
  if (advice->setting) {
    g_string_append_printf (text, " %s (about %.0f ms)", advice->setting, MS (advice->setting_time));
    if (advice->with.width) {
      g_string_append (text, " and");
      add_smaller (text, &advice->with);
    }
    separator = ";";
  }
  if (advice->disparities) {
    g_string_append_printf (text, "%s num-disparities=%d, if nothing is nearer", separator, advice->disparities);
    separator = ";";
  }
  if (advice->smaller.width) {
    g_string_append (text, separator);
    add_smaller (text, &advice->smaller);
  }
  g_string_append (text, ". Or lower the frame rate.");
}

gchar *
gst_stereo_pace_describe (const GstStereoPace *pace, const GstStereoLoad *load, const GstStereoAdvice *advice)
{
  GString *text = g_string_new (NULL);

  g_string_printf (text,
      "Too slow for the stream: %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " pairs of the last seconds were dropped, "
      "because they would have come too late.",
      pace->dropped, pace->dropped + pace->computed);
  if (load->compute > 0 && load->frame > 0) {
    g_string_append_printf (
        text, " A pair takes %.1f ms, and one comes every %.1f ms.", MS (load->compute), MS (load->frame));
    if (advice->elsewhere)
      g_string_append (text,
          " Matching is fast enough: what follows stereomatch is not, or other work takes the processor. Put a queue "
          "behind stereomatch, or make less of what follows. A program of one's own has to call "
          "gst_bin_recalculate_latency() when the bus has a LATENCY message: gst-launch-1.0 does that by itself.");
    else
      add_choices (text, advice);
  }
  return g_string_free (text, FALSE);
}
