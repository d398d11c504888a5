/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A real drive through the element, ten frames a second, to and fro. Without a fault, no frame has one in its metadata. With each
 * fault of docs/reliability.md, the depth is unreliable within a second, for the reason that is expected. STEREO_DATA names the
 * folder of the pictures, which are not part of the project.
 */
#include "tests/support/gst/suite.h"
#include "tests/support/gst/util.h"

#include <string.h>

#include "tests/support/gst/real.h"
#include "tests/support/gst/views.h"

#define FPS 10
#define TURN 10  /* px */
#define BEGIN 31 /* the first frame with the fault: the usual figures are known by then */

/* The frame @number of a drive. */
static const RealView *
at (const RealSequence *drive, gint number, guint v)
{
  gint period = 2 * ((gint) drive->count - 1), place = number % period;

  return &drive->views[MIN (place, period - place)][v];
}

/* How the faulty views come about. The views of frame @n are copies, which may be changed. */
typedef void (*Change) (const RealSequence *drive, gint n, RealView views[2]);

static void
replace (RealView *view, RealView other)
{
  g_free (view->pixels);
  *view = other;
}

#define KIND(name, text) \
  static void name (const RealSequence *drive, gint n, RealView views[2]) \
  { \
    real_view_change (&views[1], text, (guint) n); \
  }
KIND (black, "black")
KIND (blown_out, "blown-out")
KIND (dark, "dark")
KIND (blurred, "blurred")
KIND (covered, "covered")

#define PART(name, statement) \
  static void name (const RealSequence *drive, gint n, RealView views[2]) \
  { \
    statement; \
  }
PART (frozen_stripe, real_view_freeze (&views[1], at (drive, BEGIN, 1), "stripe:55-75", (guint) n))
PART (frozen_third, real_view_freeze (&views[0], at (drive, BEGIN, 0), "stripe:33-67", (guint) n))
PART (noisy_third, real_view_freeze (&views[1], at (drive, BEGIN, 1), "noisy:66-100", (guint) n))
PART (half_frozen, real_view_freeze (&views[1], at (drive, BEGIN, 1), "stripe:50-100", (guint) n))
PART (noisy, real_view_freeze (&views[0], at (drive, BEGIN, 0), "noisy:0-100", (guint) n))
PART (covered_rows, real_view_cover (&views[0], "rows:50-95", (guint) n))
PART (covered_columns, real_view_cover (&views[1], "columns:30-50", (guint) n))
PART (frozen, replace (&views[1], real_view_copy (at (drive, BEGIN, 1))))
PART (same_view, replace (&views[1], real_view_copy (&views[0])))
PART (late, replace (&views[1], real_view_copy (at (drive, n - 1, 1))))
PART (late_left, replace (&views[0], real_view_copy (at (drive, n - 1, 0))))
PART (two_late, replace (&views[1], real_view_copy (at (drive, n - 2, 1))))
PART (zoomed, replace (&views[1], real_view_resampled (&views[1], 1.02, 0)))
PART (lower, replace (&views[1], real_view_resampled (&views[1], 1, 4)))

/* A camera that has turned: points lie farther to the right in the view. */
static void
turn (const RealView *view, gint by)
{
  for (gint y = 0; y < view->height; y++) {
    guint8 *row = view->pixels + y * view->width;
    memmove (row + by, row, (gsize) (view->width - by));
  }
}

PART (turned, turn (&views[1], TURN))

static void
frozen_both (const RealSequence *drive, gint n, RealView views[2])
{
  for (guint v = 0; v < 2; v++)
    replace (&views[v], real_view_copy (at (drive, BEGIN, v)));
}

static void
frozen_columns (const RealSequence *drive, gint n, RealView views[2])
{
  const guint8 *from = at (drive, BEGIN, 1)->pixels + views[1].width / 3;

  for (gint y = 0; y < views[1].height; y++)
    memcpy (views[1].pixels + y * views[1].width + views[1].width / 3, from + y * views[1].width,
        (gsize) views[1].width / 4);
}

/* A clock runs in the corner of a view that is frozen. */
static void
frozen_with_clock (const RealSequence *drive, gint n, RealView views[2])
{
  replace (&views[1], real_view_copy (at (drive, BEGIN, 1)));
  for (gint y = 4; y < 24; y++)
    for (gint x = 8; x < 120; x++)
      views[1].pixels[y * views[1].width + x] = texture ((guint) n, x / 8, y / 8) < 128 ? 0 : 255;
}

static void
swapped (const RealSequence *drive, gint n, RealView views[2])
{
  RealView left = views[0];

  views[0] = views[1];
  views[1] = left;
}

static void
mirrored (const RealSequence *drive, gint n, RealView views[2])
{
  RealView *view = &views[1];

  for (gint y = 0; y < view->height; y++)
    for (gint x = 0; x < view->width / 2; x++) {
      guint8 *row = view->pixels + y * view->width, level = row[x];
      row[x] = row[view->width - 1 - x];
      row[view->width - 1 - x] = level;
    }
}

/* Half of the light comes from dirt on both lenses, at the same place. */
static void
still_pattern (const RealSequence *drive, gint n, RealView views[2])
{
  for (guint v = 0; v < 2; v++)
    for (gint y = 0; y < views[v].height; y++)
      for (gint x = 0; x < views[v].width; x++) {
        guint8 *level = &views[v].pixels[y * views[v].width + x];
        *level = (guint8) (*level / 2 + texture (9, x / 6, y / 6) / 2);
      }
}

static const struct
{
  const gchar *name;
  Change change;
  const gchar *health; /* what it begins with */
  gboolean long_drives; /* of five frames, to and fro, each fourth is that of two frames before; and nothing in them is far away */
  gint seconds; /* until it is found, at most; 0 = one */
} faults[] = { { "frozen", frozen, "frozen-right" }, { "frozen under noise", noisy, "frozen-left" },
  { "frozen beside a clock", frozen_with_clock, "frozen-right" }, { "lower half frozen", half_frozen, "frozen-right" },
  { "a third frozen", frozen_third, "frozen-left" }, { "a third frozen under noise", noisy_third, "frozen-right" },
  { "a fifth frozen", frozen_stripe, "frozen-right" }, { "columns frozen", frozen_columns, "frozen-right" },
  { "both frozen", frozen_both, "frozen-both" }, { "black", black, "black-right" },
  { "blown out", blown_out, "blown-out-right" }, { "dark", dark, "dark-right" },
  { "blurred", blurred, "blurred-right" }, { "covered", covered, "covered-right" },
  { "rows covered", covered_rows, "covered-left" }, { "columns covered", covered_columns, "covered-right" },
  { "same view", same_view, "same-view" }, { "swapped", swapped, "swapped" }, { "late", late, "out-of-step" },
  { "left view late", late_left, "out-of-step" }, { "two frames late", two_late, "out-of-step", TRUE },
  { "zoomed", zoomed, "focal" }, { "lower", lower, "rows" }, { "turned", turned, "shifted", TRUE },
  { "mirrored", mirrored, "mismatch" }, { "still pattern", still_pattern, "still-pattern" } };

static const gchar *const drives[] = { "road", "street" };

static GstBuffer *
buffer_of (const RealView *view)
{
  gint stride = GST_ROUND_UP_4 (view->width);
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, (gsize) (stride * view->height), NULL);
  GstMapInfo map;

  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_WRITE));
  for (gint y = 0; y < view->height; y++)
    memcpy (map.data + y * stride, view->pixels + y * view->width, (gsize) view->width);
  gst_buffer_unmap (buffer, &map);
  return buffer;
}

static GstStereoHealthFlags
push (Pair *pair, const RealView views[2], gint n)
{
  GstClockTime time = (GstClockTime) n * GST_SECOND / FPS;
  GstStereoHealthFlags health;
  GstBuffer *out;

  for (guint v = 0; v < 2; v++)
    gst_harness_push (v ? pair->right : pair->left, stamp (buffer_of (&views[v]), time, GST_SECOND / FPS));
  out = pair_pull (pair, time);
  health = gst_buffer_get_stereo_meta (out)->health;
  gst_buffer_unref (out);
  return health;
}

static Pair *
start (const RealSequence *drive)
{
  const RealView *view = &drive->views[0][0];
  gchar *properties = g_strdup_printf (
      "method=bm cost=sad window=5 backend=cpu num-disparities=%d", 16 * (view->width / 160));
  gchar *caps = g_strdup_printf (
      "video/x-raw,format=GRAY8,width=%d,height=%d,framerate=%d/1", view->width, view->height, FPS);
  Pair *pair = pair_new (properties);

  gst_harness_set_src_caps_str (pair->left, caps);
  gst_harness_set_src_caps_str (pair->right, caps);
  g_free (properties);
  g_free (caps);
  return pair;
}

/* At half the size, or at full size. */
static gboolean
load (RealSequence *drive, const gchar *name, gboolean half)
{
  if (!real_sequence_load (drive, name, "GRAY8"))
    return FALSE;
  for (guint i = 0; half && i < drive->count; i++)
    for (guint v = 0; v < 2; v++)
      replace (&drive->views[i][v], real_view_halved (&drive->views[i][v]));
  return TRUE;
}

/* For four seconds, nothing but that is said of a view that is frozen under noise. */
static void
check_fault (const RealSequence *drive, const gchar *name, guint fault)
{
  gboolean lasts = faults[fault].change == noisy;
  gint seconds = MAX (1, faults[fault].seconds);
  Pair *pair = start (drive);
  gint first = 0;

  for (gint n = 0; n < BEGIN + (lasts ? 4 : seconds) * FPS && (lasts || !first); n++) {
    RealView views[] = { real_view_copy (at (drive, n, 0)), real_view_copy (at (drive, n, 1)) };
    GstStereoHealthFlags health;
    gchar *words;

    if (n >= BEGIN)
      faults[fault].change (drive, n, views);
    health = push (pair, views, n);
    words = gst_stereo_health_to_string (health);
    if (!gst_stereo_health_is_reliable (health)) {
      fail_unless (n >= BEGIN, "%s, %s: %s before the fault", name, faults[fault].name, words);
      fail_unless (g_str_has_prefix (words, faults[fault].health), "%s, %s: %s", name, faults[fault].name, words);
      fail_unless (!lasts || !strcmp (words, faults[fault].health), "%s, frame %d: %s", name, n - BEGIN, words);
      if (!first)
        g_print ("%s, %s: after %d frames\n", name, faults[fault].name, n - BEGIN);
      first = first ? first : n;
    }
    fail_unless (first || n < BEGIN + seconds * FPS - 1, "%s, %s: not within %d s", name, faults[fault].name, seconds);
    g_free (words);
    g_free (views[0].pixels);
    g_free (views[1].pixels);
  }
  pair_free (pair);
}

TEST_LOOP (test_faults, 0, G_N_ELEMENTS (faults))
{
  RealSequence drive;

  for (guint k = 0; k < 2 * G_N_ELEMENTS (drives); k++) {
    if (!load (&drive, drives[k / 2], k % 2))
      return;
    if (!faults[__i__].long_drives || drive.count > 5)
      check_fault (&drive, drives[k / 2], (guint) __i__);
    real_sequence_clear (&drive);
  }
}

/* For twenty seconds. */
TEST_LOOP (test_silence, 0, 2 * G_N_ELEMENTS (drives))
{
  RealSequence drive;
  Pair *pair;

  if (!load (&drive, drives[__i__ / 2], __i__ % 2))
    return;
  pair = start (&drive);
  for (gint n = 0; n < 20 * FPS; n++) {
    const RealView views[] = { *at (&drive, n, 0), *at (&drive, n, 1) };
    GstStereoHealthFlags health = push (pair, views, n);
    fail_unless (!health, "%s, frame %d: %s", drives[__i__ / 2], n, gst_stereo_health_to_string (health));
  }
  pair_free (pair);
  real_sequence_clear (&drive);
}

SUITE_IF (faults_drive, real_is_there ())
{
  tcase_set_timeout (tcase, 240);
}
