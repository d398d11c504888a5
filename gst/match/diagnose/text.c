/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/diagnose/text.h"

#include <math.h>

#define VIEW(v) ((v) ? "right" : "left")
#define MS(ns) ((gdouble) (ns) / 1e6)

gchar *
gst_stereo_text_view_fault (GstStereoViewFault fault, guint v, const GstStereoViewFigures figures[2])
{
  const GstStereoViewFigures *own = &figures[v], *other = &figures[!v];

  switch (fault) {
    case GST_STEREO_VIEW_BLACK:
      return g_strdup_printf ("The %s view is black: %.0f %% of its pixels show no light. Look for a lens cap, no "
                              "light, or too short an exposure, and whether the camera is connected.",
          VIEW (v), 100 * own->black);
    case GST_STEREO_VIEW_BLOWN_OUT:
      return g_strdup_printf ("The %s view is blown out: %.0f %% of its pixels are white, and show nothing that could "
                              "be matched. Lower the exposure or the gain of that camera.",
          VIEW (v), 100 * own->white);
    case GST_STEREO_VIEW_COVERED:
      if (own->covered)
        return g_strdup_printf ("A part of the %s view is covered: %u sixteenths of its width or its height are even, "
                                "where the %s view shows something. Take away what lies before the lens.",
            VIEW (v), own->covered, VIEW (!v));
      return g_strdup_printf (
          "The %s view is covered: it is even all over (a contrast of %.1f grey levels, that of the %s view %.1f). "
          "Take away what lies before the lens.",
          VIEW (v), own->contrast, VIEW (!v), other->contrast);
    case GST_STEREO_VIEW_BLURRED:
      return g_strdup_printf (
          "The %s view is blurred: it has %.2f times the detail of the %s view, or both have lost theirs. Clean the "
          "lens, take away what lies before it, or focus that camera.",
          VIEW (v), own->sharpness / MAX (other->sharpness, 1e-9), VIEW (!v));
    case GST_STEREO_VIEW_DARK:
      return g_strdup_printf ("The %s view is darker than the %s one: its mean grey level is %.0f, that of the %s view "
                              "%.0f. Give both cameras the same exposure and gain, and switch off what sets these for "
                              "each camera alone. Until then prefer cost=census-9x7 or method=bm cost=zncc: costs that "
                              "compare grey levels fail.",
          VIEW (v), VIEW (!v), own->brightness, VIEW (!v), other->brightness);
    default:
      return g_strdup_printf (
          "The %s view is frozen: each frame, or a large part of it, is the same as the one before, while the %s view "
          "moves. Restart that camera, and look at its cable and at what repeats frames on the way. Until then the "
          "values of what moves are wrong.",
          VIEW (v), VIEW (!v));
  }
}

gchar *
gst_stereo_text_pair_fault (GstStereoPairFault fault, gboolean active)
{
  static const gchar *const texts[GST_STEREO_PAIR_FAULTS][2] = {
    [GST_STEREO_PAIR_FROZEN] = { "The two views are no longer frozen.",
        "Both views are frozen: no pixel changes from frame to frame, which no sensor gives. Restart the cameras, and "
        "look at what repeats frames on the way." },
    [GST_STEREO_PAIR_STILL] = { "The picture changes.", "The picture never changed." },
    [GST_STEREO_PAIR_SAME_VIEW] = { "The two views are no longer the same.",
        "Both views come from one camera: all that they show lies at the same place, so that everything seems to be "
        "far away. Look at which device each pad gets, at a tee before both, and at the channels of a capture card." },
    [GST_STEREO_PAIR_STILL_PATTERN] = { "The pattern on the lenses is gone.",
        "A still pattern lies over both views at the same place: drops, dirt or a cracked screen before both lenses, "
        "or something that is blended in. It is matched in place of the scene, and seems to be far away. Clean the "
        "lenses and what is before them." }
  };

  return g_strdup (texts[fault][active]);
}

/* ---- what matches ------------------------------------------------------------------------- */

gchar *
gst_stereo_text_out_of_step (guint view, gboolean active)
{
  if (!active)
    return g_strdup ("The views are in step again.");
  return g_strdup_printf (
      "The views are out of step: in the %s view, or in a part of it, points lie where they were some frames before. "
      "What moves gets a wrong disparity. Trigger the cameras together, and look at what delays or tears frames on the "
      "way of the %s one.",
      VIEW (view), VIEW (view));
}

gchar *
gst_stereo_text_focal (const GstStereoPairMatches *matches, gboolean active)
{
  if (!active)
    return g_strdup ("The focal lengths no longer differ.");
  return g_strdup_printf (
      "The focal lengths differ: the right view is %s, by %.1f px at its top and bottom. Look whether both cameras "
      "have the same lens and the same zoom, or calibrate anew.",
      matches->scale > 0 ? "larger" : "smaller", fabs (matches->scale));
}

gchar *
gst_stereo_text_shifted (const GstStereoPairMatches *matches, gboolean active)
{
  if (!active)
    return g_strdup ("The views are no longer shifted sideways.");
  return g_strdup_printf (
      "The views are shifted sideways: %u of %u points that match lie beyond infinity, at disparities of %.1f px and less. "
      "All is nearer than it seems. If a camera was turned, calibrate and rectify the views anew. If the principal points differ by "
      "that on purpose, set principal-offset to what the calibration says, and min-disparity to its negative.",
      matches->few, matches->sure, matches->lowest);
}

static gchar *
describe_mismatch (const GstStereoPairMatches *matches, gboolean active, const gchar *than)
{
  if (!active)
    return g_strdup ("The two views match again.");
  return g_strdup_printf ("The two views do not match: of %u points of the left view, %u are found in the right one%s. "
                          "Look whether both cameras see the same scene, whether one of them is mirrored or turned, "
                          "and whether something is before a lens.",
      matches->points, matches->matches, than);
}

gchar *
gst_stereo_text_mismatch (const GstStereoPairMatches *matches, gboolean active)
{
  return describe_mismatch (matches, active, "");
}

gchar *
gst_stereo_text_fewer_matches (const GstStereoPairMatches *matches, gboolean active)
{
  return describe_mismatch (matches, active, ", much less than before");
}

gchar *
gst_stereo_text_exchanged (const GstStereoPairMatches *matches, const GstStereoLayout *layout)
{
  const gchar *remedy = layout->packing == GST_STEREO_PACKING_AUTO ?
      "exchange what is linked to sink_left and sink_right" :
      "turn right-view-first in the caps' multiview-flags round";

  return g_strdup_printf ("Left and right look exchanged: %u of %u points match at disparities below those searched "
                          "(median of all: %.1f px). If they are, %s; if they are not, set min-disparity to about %d.",
      matches->backward, matches->forward + matches->backward, matches->disparity, remedy,
      (gint) (1.5 * matches->disparity));
}

gchar *
gst_stereo_text_rows (const GstStereoPairMatches *matches, const StereoParams *params, gboolean rectified)
{
  const gchar *remedy = rectified ?
      "The views come rectified, by a calibration that is not of these cameras as they stand now: look whether its pose "
      "is the other way round (R transposed; R and T take a point from the left camera to the right one), or calibrate "
      "anew. If it is right, the views" :
      "Rectify the views: put stereorectify with its calibration before stereomatch, or calibrate anew. If they are "
      "rectified, they";

  return g_strdup_printf (
      "The rows of the two views do not fit: a point lies %.1f px higher or lower in the right view than in the left "
      "one (median of %u; the left half of the picture is off by %.1f px, the right one by %.1f px, down is positive). "
      "%s were not taken at the same moment. %s",
      matches->vertical, matches->placed, matches->vertical_left, matches->vertical_right, remedy,
      params->align ? "Up to 3 px are taken out while stats say aligned, which is less exact." :
                      "align=auto takes up to 3 px of it out, which is less exact.");
}

/* ---- timestamps --------------------------------------------------------------------------- */

gchar *
gst_stereo_text_apart (const GstStereoSkew *skew, gint64 frame)
{
  return g_strdup_printf ("The views are out of step: the two frames of a pair are %.1f ms apart on average, of %.1f "
                          "ms from frame to frame. What moves gets a wrong disparity. Trigger the cameras together, or "
                          "start them together.",
      MS (skew->mean), MS (frame));
}

gchar *
gst_stereo_text_drift (const GstStereoSkew *skew)
{
  return g_strdup_printf ("The timestamps of the two views drift apart, by %.3f ms in a second: the cameras run at "
                          "different rates. Trigger them together, or let one clock stamp both.",
      MS (skew->drift));
}

/* ---- the search range, and the pace ------------------------------------------------------- */

gchar *
gst_stereo_text_range (const GstStereoPairMatches *matches, const StereoParams *params, gint wanted)
{
  gint last = params->min_disparity + params->num_disparities - 1;

  if (wanted <= params->num_disparities)
    return g_strdup_printf (
        "The search range is too small: %u of %u points that match lie beyond its last disparity, %d px, up to about "
        "%.0f px, and more than %d disparities cannot be searched. Use smaller views, or move the "
        "cameras closer together.",
        matches->beyond, matches->beyond + matches->forward, last, matches->farthest, params->num_disparities);
  return g_strdup_printf ("The search range is too small: %u of %u points that match lie beyond its last disparity, %d "
                          "px, up to about %.0f px. What is that near gets a wrong value or none. Set "
                          "num-disparities=%d, or more if something comes nearer.",
      matches->beyond, matches->beyond + matches->forward, last, matches->farthest, wanted);
}

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
gst_stereo_text_slow (const GstStereoPace *pace, const GstStereoLoad *load, const GstStereoAdvice *advice)
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
