/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/diagnose/text.h"

#define VIEW(v) ((v) ? "right" : "left")
#define MS(ns) ((gdouble) (ns) / 1e6)

gchar *
gst_stereo_health_describe_fault (GstStereoViewFault fault, guint v, const GstStereoViewLook looks[2])
{
  const GstStereoViewLook *look = &looks[v], *other = &looks[!v];

  switch (fault) {
    case GST_STEREO_VIEW_BLACK:
      return g_strdup_printf ("The %s view is black: %.0f %% of its pixels show no light. Look for a lens cap, no "
                              "light, or too short an exposure, and whether the camera is connected.",
          VIEW (v), 100 * look->black);
    case GST_STEREO_VIEW_BLOWN_OUT:
      return g_strdup_printf ("The %s view is blown out: %.0f %% of its pixels are white, and show nothing that could "
                              "be matched. Lower the exposure or the gain of that camera.",
          VIEW (v), 100 * look->white);
    case GST_STEREO_VIEW_COVERED:
      return g_strdup_printf (
          "The %s view is covered: it is even all over (a contrast of %.1f grey levels, that of the %s view %.1f). "
          "Take away what lies before the lens.",
          VIEW (v), look->contrast, VIEW (!v), other->contrast);
    case GST_STEREO_VIEW_BLURRED:
      return g_strdup_printf (
          "The %s view is blurred: it has %.2f times the detail of the %s view, or both have lost theirs. Clean the "
          "lens, take away what lies before it, or focus that camera.",
          VIEW (v), look->sharpness / MAX (other->sharpness, 1e-9), VIEW (!v));
    case GST_STEREO_VIEW_DARK:
      return g_strdup_printf ("The %s view is darker than the %s one: its mean grey level is %.0f, that of the %s view "
                              "%.0f. Give both cameras the same exposure and gain, and switch off what sets these for "
                              "each camera alone. Until then prefer cost=census-9x7 or method=bm cost=zncc: costs that "
                              "compare grey levels fail.",
          VIEW (v), VIEW (!v), look->brightness, VIEW (!v), other->brightness);
    default:
      return g_strdup_printf (
          "The %s view is frozen: each frame, or a large part of it, is the same as the one before, while the %s view "
          "moves. Restart that camera, and look at its cable and at what repeats frames on the way. Until then the "
          "values of what moves are wrong.",
          VIEW (v), VIEW (!v));
  }
}

gchar *
gst_stereo_health_describe_pair (GstStereoPairFault fault, gboolean active)
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

gchar *
gst_stereo_health_describe_range (const GstStereoPairMatches *result, const StereoParams *params, gint wanted)
{
  gint last = params->min_disparity + params->num_disparities - 1;

  if (wanted <= params->num_disparities)
    return g_strdup_printf (
        "The search range is too small: %u of %u points that match lie beyond its last disparity, %d px, up to about "
        "%.0f px, and more than %d disparities cannot be searched. Use smaller views, or move the "
        "cameras closer together.",
        result->beyond, result->beyond + result->forward, last, result->farthest, params->num_disparities);
  return g_strdup_printf ("The search range is too small: %u of %u points that match lie beyond its last disparity, %d "
                          "px, up to about %.0f px. What is that near gets a wrong value or none. Set "
                          "num-disparities=%d, or more if something comes nearer.",
      result->beyond, result->beyond + result->forward, last, result->farthest, wanted);
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
gst_stereo_health_describe_slow (const GstStereoPace *pace, const GstStereoLoad *load, const GstStereoAdvice *advice)
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
          "behind stereomatch, or make less of what follows.");
    else
      add_choices (text, advice);
  }
  return g_string_free (text, FALSE);
}
