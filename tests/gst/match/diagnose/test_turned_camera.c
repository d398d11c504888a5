/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A made drive along a road between walls, through the element: a camera that has turned by so little that nothing lies beyond infinity
 * is told by the motion, whichever way it has turned; a sound rig, and cameras that stand still, are not. */
#include "tests/support/gst/suite.h"

#include <math.h>

#include "tests/gst/match/diagnose/made.h"
#include "tests/support/gst/util.h"

#define WIDTH 480
#define HEIGHT 200
#define FOCAL 300.0 /* px */
#define BASE 0.5    /* m */
#define LOW 1.5     /* m, of the cameras above the road */
#define ASIDE 6.0   /* m, to the walls */
#define END 45.0    /* m, to what the road ends at, which drives ahead */
#define SPEED 0.4   /* m in a frame */
#define FPS 5
#define FRAMES 20

/* The level of what the left camera sees in a direction, at a place @along the road: @x, @y: px from the middle of its view, with the
 * camera @right m to the right. Surfaces have texture of the size that the view shows. */
static gdouble
see (guint seed, gdouble x, gdouble y, gdouble right, gdouble along)
{
  gdouble across = x / FOCAL, down = y / FOCAL, z = END, u, v;
  guint surface_of = 0;

  if (down > 0 && LOW / down < z) {
    z = LOW / down;
    surface_of = 1;
  }
  if (across != 0 && (across > 0 ? ASIDE - right : -ASIDE - right) / across < z) {
    z = (across > 0 ? ASIDE - right : -ASIDE - right) / across;
    surface_of = across > 0 ? 2 : 3;
  }
  u = surface_of < 2 ? across * z + right : z + along;
  v = surface_of == 1 ? z + along : down * z;
  /* as large as a pixel or two where the place is first seen; the end stays as it is */
  gdouble size = surface_of ? 0.04 : END / FOCAL;
  return surface (seed + 100 * surface_of, u / size, v / size);
}

static GstBuffer *
view_of (guint seed, gdouble right, gdouble shift, gdouble along, GstClockTime time)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, WIDTH * HEIGHT, NULL);
  GstMapInfo map;

  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_WRITE));
  for (gint y = 0; y < HEIGHT; y++)
    for (gint x = 0; x < WIDTH; x++)
      map.data[y * WIDTH + x] = (guint8) CLAMP (
          see (seed, x - shift - WIDTH / 2.0, y - HEIGHT / 2.5, right, along) + gauss (), 0, 255);
  gst_buffer_unmap (buffer, &map);
  return stamp (buffer, time, GST_SECOND / FPS);
}

static const struct
{
  gdouble shift, speed; /* px; m in a frame */
  const gchar *words;   /* of the warning; NULL: there is none */
} cases[] = { { 0, SPEED, NULL }, { 2.5, SPEED, "nearer than it seems" }, { -3, SPEED, "farther away than it seems" },
  { 2.5, 0, NULL }, { -3, 0, NULL } };

TEST_LOOP (test_turned, 0, G_N_ELEMENTS (cases))
{
  g_autoptr (Pair) pair = pair_new ("method=bm num-disparities=48 backend=cpu threads=1");
  gint known = -1;

  generator.state = random_seed ();
  guint seed = random_next (&generator);
  pair_set_caps (pair, GST_VIDEO_FORMAT_GRAY8, WIDTH, HEIGHT, NULL);
  for (gint n = 0; n < FRAMES; n++) {
    GstClockTime time = (GstClockTime) n * GST_SECOND / FPS;
    for (guint v = 0; v < 2; v++)
      gst_harness_push (v ? pair->right : pair->left,
          view_of (seed, v ? BASE : 0, v ? cases[__i__].shift : 0, cases[__i__].speed * n, time));
    g_autoptr (GstBuffer) out = pair_pull (pair, time);
    GstStereoHealthFlags health = gst_buffer_get_stereo_meta (out)->health;
    fail_unless (!(health & ~GST_STEREO_HEALTH_SHIFTED), "frame %d: %s", n, gst_stereo_health_to_string (health));
    known = known < 0 && health ? n : known;
  }
  g_print ("shifted by %.1f px: known at frame %d\n", cases[__i__].shift, known);
  fail_unless ((known >= 0) == (cases[__i__].words != NULL), "frame %d", known);
  if (cases[__i__].words)
    expect_warning (pair->bus, "shifted sideways", cases[__i__].words, NULL);
  expect_no_message (pair->bus, GST_MESSAGE_WARNING);
}

SUITE (turned_camera)
{
}
