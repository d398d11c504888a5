/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The one table of the faults of the input. The checks read a fault's name, its least duration and its words here. Readers of
 * the meta learn here whether depth is reliable. docs/reliability.md is made from this table.
 */
#include "gst/meta/gststereohealth.h"

#define MS(n) ((n) *GST_MSECOND)
#define OF_VIEW(name) GST_STEREO_HEALTH_##name##_LEFT, GST_STEREO_HEALTH_##name##_RIGHT
#define OF_PAIR(name) GST_STEREO_HEALTH_##name, GST_STEREO_HEALTH_##name

/* The order is that of messages: a cause stands before its consequences. */
static const GstStereoHealthKind kinds[] = {
  { "silent", OF_VIEW (SILENT), TRUE, 0, "silent", "no frame has come for silence-timeout in a live pipeline" },
  { "black", OF_VIEW (BLACK), TRUE, MS (800), "black", "98 % of the pixels show no light" },
  { "blown-out", OF_VIEW (BLOWN_OUT), TRUE, MS (800), "blown out", "half of the pixels are white" },
  { "covered", OF_VIEW (COVERED), TRUE, MS (800), "covered",
      "less than half as sharp as the other view, and nearly even all over, which the other view is not; or even in an "
      "eighth of the columns or rows, where the other view is not, whatever the disparity" },
  { "frozen", OF_VIEW (FROZEN), TRUE, MS (400), "frozen",
      "no pixel changes while the other view does; or in an eighth of the rows, where the other view moves, nothing but "
      "noise changes, while more of the other rows move; or in an eighth of the rows or columns no pixel changes, where the "
      "other view has noise, and so have more of the other rows or columns; or in three eighths, whatever the others do; "
      "or in an eighth of the rows of a scene that stands still, where something moves on at one place of the other view, "
      "nothing but noise changes, and this view has not moved alone anywhere for four looks; "
      "or, of both, no pixel changes at all for 0.6 s where pixels did before or the source is live. An "
      "encoder shows in bands where few pixels change. In a view that has such, equal pixels are no evidence until all bands "
      "have changed in five looks in a row; strong movement in the other view always is" },
  { "blurred", OF_VIEW (BLURRED), TRUE, MS (800), "blurred",
      "less than half as sharp as the other view, or as it used to be against it" },
  { "dark", OF_VIEW (DARK), TRUE, MS (800), "dark", "less than two thirds of the other view's brightness" },
  { "same-view", OF_PAIR (SAME_VIEW), TRUE, 0, "both views come from one camera",
      "three fifths of the textured parts of both views lie at the same place within a tenth of a pixel, and differ by "
      "nothing but exposure and noise" },
  { "still-pattern", OF_PAIR (STILL_PATTERN), TRUE, MS (400), "still pattern on the lenses",
      "likewise, and two scenes shine through; or in an eighth of the textured parts, and in eight at least, some of the "
      "texture lies at the same place within half a pixel, and within a quarter in the median of these parts, and the rest "
      "elsewhere; or a quarter of what moves has the texture that it had a third of a second ago, and that the other view "
      "has at the same place. Neither of the latter two counts where both views have an encoder's steps between blocks of 8 "
      "pixels" },
  { "swapped", OF_PAIR (SWAPPED), TRUE, 0, "views exchanged",
      "three quarters of the points match at disparities of the wrong sign" },
  { "shifted", OF_PAIR (SHIFTED), TRUE, MS (400), "views shifted sideways",
      "6 points, and 4 % of those that match, lie farther away than infinity and than the search range: more than 1 px below a "
      "disparity of 0, or of minus principal-offset, which needs something far away; or what the cameras drive towards "
      "grows as if infinity were more than 1 px elsewhere, surely so in five looks and more of six that agree: 2.5 to 6 s on "
      "a road; not where the focal lengths may differ" },
  { "out-of-step", OF_PAIR (OUT_OF_STEP), TRUE, MS (100), "views out of step",
      "timestamps a quarter of a frame apart, in the mean of a check-interval; or points of a view, or of its upper or lower "
      "half, lie higher or lower than in the other view, as they did one or two frames before, or where the scene moves slowly "
      "some more: in at least two frames, so much better explained by that than by any rig that chance cannot be; or rows lack a third of their usual "
      "matches, and the other view of one or two frames before has far more of them, in at least two frames. Needs "
      "something that moves up or down" },
  { "focal", OF_PAIR (FOCAL), TRUE, MS (400), "focal lengths differ",
      "vertical offsets that grow from the middle of the picture to its top and bottom, to 0.55 px and more, and to "
      "1.9 times what is left without them" },
  { "rows", OF_PAIR (ROWS), TRUE, 0, "rows of the views do not fit",
      "points lie more than 1 px higher or lower in the other view, or the two sides differ by more than 1.5 px, and "
      "neither other focal lengths nor other moments explain it; not while align=auto takes it out, but for 1 px" },
  { "mismatch", OF_PAIR (MISMATCH), TRUE, MS (400), "views do not match",
      "less than two fifths of the share of points is found in the other view that was found before, or less than a "
      "seventh of all; not where they repeat" },
  { "range", OF_PAIR (RANGE), TRUE, 0, "search range too small",
      "6 points, and 4 % of those that match, lie beyond the largest disparity that is searched" },
  { "still", OF_PAIR (STILL), TRUE, MS (1000), "picture never changed",
      "no pixel of either view has changed since the start, and the source is not live: a still picture. No message" },
  { "blank", OF_PAIR (BLANK), TRUE, MS (800), "nothing to be seen",
      "neither view shows more than noise, and both are even all over: covers on both lenses, or a wall without texture. No "
      "message" },
  { "behind", OF_PAIR (BEHIND), FALSE, 0, "source falls behind",
      "the frames of a live source come later and later after their timestamps" },
  { "drift", OF_PAIR (DRIFT), FALSE, 0, "clocks drift apart",
      "the difference of the timestamps has grown from each of four check-intervals to the next, by a twentieth of a frame in all" },
  { "slow", OF_PAIR (SLOW), FALSE, 0, "too slow for the stream",
      "late pairs are dropped: of those of five seconds a twentieth, over two seconds and more, or four fifths" },
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

static void
add_words (GString *text, const GstStereoHealthKind *kind, GstStereoHealthFlags flags)
{
  const gchar *whose = "";

  if (kind->left != kind->right)
    whose = !(flags & kind->right) ? "left camera " : !(flags & kind->left) ? "right camera " : "both cameras ";
  g_string_append_printf (text, "%s%s%s", text->len ? ", " : "", whose, kind->words);
}

gchar *
gst_stereo_health_get_reason (GstStereoHealthFlags flags)
{
  if (gst_stereo_health_is_reliable (flags))
    return NULL;
  GString *text = g_string_new (NULL);
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (kinds[i].unreliable && flags & (kinds[i].left | kinds[i].right))
      add_words (text, &kinds[i], flags);
  if (!text->len)
    g_string_append (text, "a fault that this version does not know");
  return g_string_free (text, FALSE);
}

gchar *
gst_stereo_health_to_string (GstStereoHealthFlags flags)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++) {
    const GstStereoHealthKind *kind = &kinds[i];
    gboolean left = (flags & kind->left) != 0, right = (flags & kind->right) != 0;
    if (left || right)
      g_string_append_printf (text, "%s%s%s", text->len ? ", " : "", kind->nick,
          kind->left == kind->right ? "" :
              left && right         ? "-both" :
              left                  ? "-left" :
                                      "-right");
  }
  return g_string_free (text->len ? text : g_string_append (text, "ok"), FALSE);
}
