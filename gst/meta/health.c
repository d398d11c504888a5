/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The one table of the faults of the input. The checks read a fault's name, its least duration, its words and its advice here. Readers of
 * the meta learn here whether depth is reliable. docs/reliability.md is made from this table.
 */
#include "gst/meta/gststereohealth.h"

#define MS(n) ((n) *GST_MSECOND)
#define OF_VIEW(name) GST_STEREO_HEALTH_##name##_LEFT, GST_STEREO_HEALTH_##name##_RIGHT
#define OF_PAIR(name) GST_STEREO_HEALTH_##name, GST_STEREO_HEALTH_##name

/* The order is that of messages: a cause stands before its consequences. */
static const GstStereoHealthKind kinds[] = {
  { "silent", OF_VIEW (SILENT), TRUE, 0, "silent", "no frame has come for silence-timeout in a live pipeline",
      "Look at the cable and the power of that camera, and at its driver." },
  { "black", OF_VIEW (BLACK), TRUE, MS (800), "black", "98 % of the pixels show no light",
      "Look for a lens cap, no light, or too short an exposure, and whether the camera is connected." },
  { "blown-out", OF_VIEW (BLOWN_OUT), TRUE, MS (800), "blown out", "half of the pixels are white",
      "Lower the exposure or the gain of that camera: what is white shows nothing that could be matched." },
  { "covered", OF_VIEW (COVERED), TRUE, MS (800), "covered",
      "a sixteenth of it and more is even where the other view has texture", "Take away what lies before the lens." },
  { "frozen", OF_VIEW (FROZEN), TRUE, MS (400), "frozen",
      "it repeats, or shows nothing new but noise, where the other view moves; of both views, no pixel changes for 0.6 s",
      "Restart that camera, and look at its cable and at what repeats frames on the way. Until then the values of "
      "what moves are wrong." },
  { "blurred", OF_VIEW (BLURRED), TRUE, MS (800), "blurred",
      "half as sharp as the other view; or both have texture without fine detail",
      "Clean the lens, take away what lies before it, or focus that camera." },
  { "dark", OF_VIEW (DARK), TRUE, MS (800), "dark", "less than two thirds of the other view's brightness",
      "Give both cameras the same exposure and gain, and switch off what sets these for each camera alone. Until "
      "then prefer cost=census-9x7 or method=bm cost=zncc: costs that compare grey levels fail." },
  { "same-view", OF_PAIR (SAME_VIEW), TRUE, 0, "both views come from one camera",
      "three fifths of the texture lie at disparity 0, as of one picture",
      "Look at which device each pad gets, at a tee before both, and at the channels of a capture card." },
  { "still-pattern", OF_PAIR (STILL_PATTERN), TRUE, MS (400), "still pattern on the lenses",
      "in a twelfth of it, texture is fixed at disparity 0 while the scene behind or around it moves",
      "Clean the lenses and what is before them: drops, dirt, a cracked screen, or something that is blended in, is "
      "matched in place of the scene, and seems to be far away." },
  { "swapped", OF_PAIR (SWAPPED), TRUE, 0, "views exchanged",
      "three quarters of the points have disparities of the wrong sign",
      "Exchange what is linked to sink_left and sink_right, or turn right-view-first in the caps' multiview-flags "
      "round. If they are not exchanged, set min-disparity to the smallest disparity of the scene." },
  { "shifted", OF_PAIR (SHIFTED), TRUE, MS (400), "views shifted sideways",
      "6 points, and 4 % of those that match, lie beyond infinity and the search range",
      "All is nearer than it seems. If a camera was turned, calibrate and rectify the views anew. If the principal "
      "points differ by that on purpose, set principal-offset to what the calibration says, and min-disparity to "
      "its negative." },
  { "out-of-step", OF_PAIR (OUT_OF_STEP), TRUE, 0, "views out of step",
      "timestamps are a quarter of a frame apart, or points that move up or down lie where they were before",
      "What moves gets a wrong disparity. Trigger the cameras together, and look at what delays or tears frames on "
      "the way." },
  { "focal", OF_PAIR (FOCAL), TRUE, MS (400), "focal lengths differ",
      "vertical offsets grow to the top and bottom of the picture, to 0.55 px and more",
      "Look whether both cameras have the same lens and the same zoom, or calibrate anew." },
  { "rows", OF_PAIR (ROWS), TRUE, 0, "rows of the views do not fit",
      "points lie 1 px and more higher or lower in the other view, or the sides differ by 1.5 px",
      "Put stereorectify with its calibration before stereomatch. If it is there, the calibration is not of these "
      "cameras as they stand now: look whether its pose is the other way round (R transposed; R and T take a point "
      "from the left camera to the right one), or calibrate anew. align=auto takes up to 3 px of it out, which is "
      "less exact." },
  { "mismatch", OF_PAIR (MISMATCH), TRUE, MS (400), "views do not match",
      "less than a seventh of the points is found in the other view",
      "Look whether both cameras see the same scene, whether one of them is mirrored or turned, and whether "
      "something is before a lens." },
  { "range", OF_PAIR (RANGE), TRUE, 0, "search range too small",
      "6 points, and 4 % of those that match, lie at the last disparity searched, or beyond",
      "Such near things get a wrong value or none." },
  { "still", OF_PAIR (STILL), TRUE, MS (1000), "picture never changed",
      "no pixel has changed since the start, and the source is not live; no message", "" },
  { "blank", OF_PAIR (BLANK), TRUE, MS (800), "no texture in either view", "both are even but for noise; no message",
      "" },
  { "behind", OF_PAIR (BEHIND), FALSE, 0, "source falls behind", "frames come later and later after their timestamps",
      "The depth is right, and old: look at what buffers frames before stereomatch." },
  { "drift", OF_PAIR (DRIFT), FALSE, 0, "clocks drift apart",
      "the difference of the timestamps has grown over four check-intervals, by a twentieth of a frame",
      "The cameras run at different rates: trigger them together, or let one clock stamp both." },
  { "slow", OF_PAIR (SLOW), FALSE, 0, "too slow for the stream",
      "for five seconds, a twentieth of the pairs was dropped", "Pairs that would come too late are dropped." },
};

const GstStereoHealthKind *
gst_stereo_health_kind (guint index)
{
  return index < G_N_ELEMENTS (kinds) ? &kinds[index] : NULL;
}

/* Its names are made from that of the row: the left view's "blown-out" is GST_STEREO_HEALTH_BLOWN_OUT_LEFT. */
static GFlagsValue
value_of (GstStereoHealthFlags flag)
{
  g_autofree gchar *nick = gst_stereo_health_to_string (flag), *upper = g_ascii_strup (nick, -1);
  g_autofree gchar *name = g_strconcat ("GST_STEREO_HEALTH_", g_strdelimit (upper, "-", '_'), NULL);

  return (GFlagsValue){ flag, g_intern_string (name), g_intern_string (nick) };
}

GType
gst_stereo_health_flags_get_type (void)
{
  static GFlagsValue values[2 * G_N_ELEMENTS (kinds) + 2]; /* GST_STEREO_HEALTH_OK, and zeros behind the last one */
  static gsize once = 0;

  if (g_once_init_enter (&once)) {
    guint known = 0, count = 0;

    for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
      known |= kinds[i].left | kinds[i].right;
    values[count++] = value_of (GST_STEREO_HEALTH_OK);
    for (guint flag = 1; flag; flag <<= 1)
      if (known & flag)
        values[count++] = value_of (flag);
    g_once_init_leave (&once, g_flags_register_static ("GstStereoHealthFlags", values));
  }
  return once;
}

gboolean
gst_stereo_health_is_reliable (GstStereoHealthFlags flags)
{
  guint harmless = 0;

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (!kinds[i].unreliable)
      harmless |= kinds[i].left | kinds[i].right;
  return !((guint) flags & ~harmless);
}

/* Nicks of all kinds that @flags has, or the words of those that make depth unreliable, and whose view each is about. */
static GString *
list_kinds (GstStereoHealthFlags flags, gboolean words)
{
  static const gchar *const places[2][4] = { { "", "-left", "-right", "-both" },
    { "", "left camera ", "right camera ", "both cameras " } };
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++) {
    const GstStereoHealthKind *kind = &kinds[i];
    guint views = (flags & kind->left ? 1 : 0) | (flags & kind->right ? 2 : 0);
    const gchar *place = places[words][kind->left == kind->right ? 0 : views];
    if (views && (kind->unreliable || !words))
      g_string_append_printf (
          text, "%s%s%s", text->len ? ", " : "", words ? place : kind->nick, words ? kind->words : place);
  }
  return text;
}

gchar *
gst_stereo_health_get_reason (GstStereoHealthFlags flags)
{
  if (gst_stereo_health_is_reliable (flags))
    return NULL;
  GString *text = list_kinds (flags, TRUE);
  return g_string_free (text->len ? text : g_string_append (text, "a fault that this version does not know"), FALSE);
}

gchar *
gst_stereo_health_to_string (GstStereoHealthFlags flags)
{
  GString *text = list_kinds (flags, FALSE);

  return g_string_free (text->len ? text : g_string_append (text, "ok"), FALSE);
}
