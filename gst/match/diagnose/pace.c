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
  advice.disparities = load->listed ? 0 : round_down (load->disparities * share);
  if (advice.disparities < MAX (needed, MIN_DISPARITIES))
    advice.disparities = 0;
  advice.smaller = scale (load, share, load->listed);
  return advice;
}

/* ---- the text ----------------------------------------------------------------------------- */

static void
add_choices (GString *text, const GstStereoAdvice *advice)
{
  g_string_append (text, " Lower the frame rate, or try method=bm, which takes about half the time of the default");
  if (advice->disparities)
    g_string_append_printf (text, ", or num-disparities=%d, if nothing is nearer", advice->disparities);
  if (advice->smaller.width)
    g_string_append_printf (text, ", or views of %dx%d pixels with num-disparities=%d", advice->smaller.width,
        advice->smaller.height, advice->smaller.disparities);
  g_string_append (text, ": as an estimate from that time.");
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
