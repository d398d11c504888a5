/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Warnings of depthoverlay behind stereomatch: each true one comes, and no other. An obstacle that a test paints comes
 * closer, with noise and with weak texture; roads are those of STEREO_DATA, which are not part of the project.
 */
#include <math.h>

#include <gst/video/video.h>

#include "tests/support/gst/common.h"
#include "tests/support/gst/real.h"
#include "tests/support/gst/views.h"
#include "tests/support/random.h"
#include "tests/support/gst/suite.h"

#define WIDTH 480
#define HEIGHT 320
#define FOCAL 500.0    /* px */
#define BASELINE 120.0 /* mm */
#define NOISE 5.0      /* standard deviation, grey levels */
#define SHARE 0.005    /* of the picture: depthoverlay's smallest surface */
#define WARN 1500.0    /* mm */
#define WALL 8000.0    /* mm, behind the obstacle */
#define FIRST 4000.0   /* mm, of the obstacle */
#define CLOSER 0.93    /* from frame to frame */
#define FRAMES 20
#define MOST_FRAMES MAX (FRAMES, REAL_FRAMES)
/* What docs/reliability.md advises for warnings: what is weakly textured or narrow is less likely than the default asks for,
 * and wrong pixels seldom lie on one surface. */
#define WARY "confidence-threshold=0.33"
#define LATTICE 512 /* points of a texture across and down */

static Random random_state;

/* ---- pictures ---------------------------------------------------------------------------- */

static gdouble
normal (void)
{
  gdouble sum = 0;

  for (guint i = 0; i < 12; i++)
    sum += random_unit (&random_state);
  return sum - 6;
}

/* Grey levels between the points of a lattice, which repeats. */
typedef struct
{
  gfloat points[LATTICE][LATTICE];
} Texture;

static Texture *
texture_new (gdouble contrast)
{
  Texture *texture = g_new (Texture, 1);

  for (guint y = 0; y < LATTICE; y++)
    for (guint x = 0; x < LATTICE; x++)
      texture->points[y][x] = (gfloat) (128 + contrast * normal ());
  return texture;
}

static gdouble
texture_at (const Texture *texture, gdouble x, gdouble y)
{
  gint left = (gint) floor (x), top = (gint) floor (y);
  gdouble dx = x - left, dy = y - top;
  const gfloat *above = texture->points[top & (LATTICE - 1)], *below = texture->points[(top + 1) & (LATTICE - 1)];
  gint right = (left + 1) & (LATTICE - 1);

  left &= LATTICE - 1;
  return (1 - dy) * ((1 - dx) * above[left] + dx * above[right]) + dy * ((1 - dx) * below[left] + dx * below[right]);
}

/* An upright rectangle, and a wall behind it. */
typedef struct
{
  Texture *wall, *obstacle;
  gdouble width, height; /* mm */
  gdouble x, y;          /* mm, of its middle, from the left view's axis */
} Scene;

typedef struct
{
  gdouble left, top, right, bottom; /* in the left view, px */
} Box;

static Box
box_of (const Scene *scene, gdouble distance)
{
  gdouble scale = FOCAL / distance;
  Box box = { WIDTH / 2 + (scene->x - scene->width / 2) * scale, HEIGHT / 2 + (scene->y - scene->height / 2) * scale,
    WIDTH / 2 + (scene->x + scene->width / 2) * scale, HEIGHT / 2 + (scene->y + scene->height / 2) * scale };

  return box;
}

/* Pixels of the box that both views see. */
static gdouble
area_of (const Box *box, gdouble disparity)
{
  gdouble width = MIN (box->right, WIDTH) - MAX (box->left, disparity);
  gdouble height = MIN (box->bottom, HEIGHT) - MAX (box->top, 0);

  return MAX (0, width) * MAX (0, height);
}

/* What the left or the right camera sees at @x, @y. @distance 0: the wall alone. The points of the wall's lattice are two
 * pixels apart, and so are the obstacle's where it starts. */
static gdouble
grey_at (const Scene *scene, gdouble distance, gboolean right, gint x, gint y)
{
  gdouble shift = right ? FOCAL * BASELINE / WALL : 0, closer = 1;
  const Texture *texture = scene->wall;

  if (distance > 0) {
    gdouble disparity = right ? FOCAL * BASELINE / distance : 0;
    Box box = box_of (scene, distance);

    if (x + disparity >= box.left && x + disparity < box.right && y >= box.top && y < box.bottom) {
      texture = scene->obstacle;
      shift = disparity;
      closer = FIRST / distance;
    }
  }
  return texture_at (texture, (x + shift - WIDTH / 2) / closer / 2, (y - HEIGHT / 2) / closer / 2);
}

/* ---- streams ----------------------------------------------------------------------------- */

/* Both views side by side, GRAY8. */
typedef struct
{
  gint width, height; /* of a view */
  gdouble focal, baseline, warn;
  guint count;
  guint8 *frames[MOST_FRAMES];
} Pairs;

/* The messages of a whole stream, in order. */
static GPtrArray *
play (const Pairs *pairs, const gchar *match)
{
  GstElement *pipeline = launch (
      "appsrc name=source format=time block=true max-buffers=2 caps=video/x-raw,format=GRAY8,width=%d,height=%d,"
      "framerate=30/1 ! stereomatch packing=side-by-side backend=cpu focal-length=%g baseline=%g " WARY
      " %s ! o.sink_depth depthoverlay name=o message-interval=0 warn-distance=%g ! fakesink sync=false",
      2 * pairs->width, pairs->height, pairs->focal, pairs->baseline, match, pairs->warn);
  g_autoptr (GstElement) source = gst_bin_get_by_name (GST_BIN (pipeline), "source");
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  gsize size = (gsize) (2 * pairs->width * pairs->height);
  GstFlowReturn flow;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (guint i = 0; i < pairs->count; i++) {
    GstBuffer *buffer = gst_buffer_new_wrapped_full (
        GST_MEMORY_FLAG_READONLY, pairs->frames[i], size, 0, size, NULL, NULL);

    GST_BUFFER_PTS (buffer) = i * GST_SECOND / 30;
    GST_BUFFER_DURATION (buffer) = GST_SECOND / 30;
    g_signal_emit_by_name (source, "push-buffer", buffer, &flow);
    gst_buffer_unref (buffer);
    fail_unless_equals_int (flow, GST_FLOW_OK);
  }
  g_signal_emit_by_name (source, "end-of-stream", &flow);
  GPtrArray *posted = messages_to_end (bus, "stereo-nearest");
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
  fail_unless_equals_int (posted->len, pairs->count);
  return posted;
}

static void
pairs_clear (Pairs *pairs)
{
  for (guint i = 0; i < pairs->count; i++)
    g_free (pairs->frames[i]);
}

/* The obstacle comes closer from FIRST; or never is there. */
static Pairs
paint (const Scene *scene, gboolean obstacle)
{
  Pairs pairs = { WIDTH, HEIGHT, FOCAL, BASELINE, WARN, obstacle ? FRAMES : 4 };

  for (guint i = 0; i < pairs.count; i++) {
    guint8 *pixel = pairs.frames[i] = g_malloc (2 * WIDTH * HEIGHT);

    for (gint y = 0; y < HEIGHT; y++)
      for (gint x = 0; x < 2 * WIDTH; x++) {
        gdouble grey = grey_at (scene, obstacle ? FIRST * pow (CLOSER, i) : 0, x >= WIDTH, x % WIDTH, y);
        *pixel++ = (guint8) CLAMP (lround (grey + NOISE * normal ()), 0, 255);
      }
  }
  return pairs;
}

/* ---- an obstacle comes closer ------------------------------------------------------------ */

static const gchar *
state_of (const GstStructure *posted)
{
  return gst_structure_get_string (posted, "state");
}

/* The obstacle is large enough: it is the nearest surface, at its distance and place. */
static void
check_seen (const GstStructure *posted, const Box *box, gdouble distance, const gchar *name)
{
  gdouble reported;
  gint x, y;

  fail_unless (
      gst_structure_get (posted, "distance", G_TYPE_DOUBLE, &reported, "x", G_TYPE_INT, &x, "y", G_TYPE_INT, &y, NULL),
      "%s: at %g mm nothing is found", name, distance);
  fail_unless (fabs (reported / distance - 1) <= 0.02, "%s: %g mm, truly %g", name, reported, distance);
  fail_unless (x >= box->left - 1 && x <= box->right + 1 && y >= box->top - 1 && y <= box->bottom + 1,
      "%s: at %g mm it is marked at %d,%d", name, distance, x, y);
}

static void
check_approach (const GPtrArray *all, const Scene *scene, const gchar *name)
{
  gint late = -1; /* frames since the obstacle is nearer than WARN, large enough, and not said to be */
  guint seen = 0;

  for (guint i = 0; i < all->len; i++) {
    const GstStructure *posted = g_ptr_array_index (all, i);
    gdouble distance = FIRST * pow (CLOSER, i);
    gboolean near = g_str_equal (state_of (posted), "near");
    Box box = box_of (scene, distance);
    gboolean large = area_of (&box, FOCAL * BASELINE / distance) >= 1.5 * SHARE * WIDTH * HEIGHT;

    fail_if (near && distance > 1.02 * WARN, "%s: a false alarm at %g mm", name, distance);
    fail_unless (near || distance > 1.02 * WARN || !large || ++late < 2, "%s: no alarm at %g mm", name, distance);
    if (large)
      check_seen (posted, &box, distance, name);
    seen += large;
  }
  g_print ("%s: found in all of %u frames\n", name, seen);
  fail_unless (seen > FRAMES / 4);
}

static const struct
{
  const gchar *name;
  gdouble contrast; /* standard deviation of its texture, grey levels */
  gdouble width, height, x, y;
} obstacles[] = {
  { "a post", 30, 80, 900, -150, 0 },
  { "a child", 30, 300, 600, 100, 100 },
  { "a box, weakly textured", 10, 500, 400, -100, 150 },
  { "a car's rear, weakly textured", 10, 1500, 1000, 200, 0 },
};

/* Output of stereomatch: with holes, with gaps filled. */
static const gchar *const matches[] = { "", "profile=road fill=none", "profile=road" };

/* Alone the wall is clear. */
TEST_LOOP (test_approach, 0, G_N_ELEMENTS (matches) * G_N_ELEMENTS (obstacles))
{
  Scene scene = { texture_new (30), texture_new (obstacles[__i__ / G_N_ELEMENTS (matches)].contrast),
    obstacles[__i__ / G_N_ELEMENTS (matches)].width, obstacles[__i__ / G_N_ELEMENTS (matches)].height,
    obstacles[__i__ / G_N_ELEMENTS (matches)].x, obstacles[__i__ / G_N_ELEMENTS (matches)].y };
  g_autofree gchar *name = g_strconcat (
      obstacles[__i__ / G_N_ELEMENTS (matches)].name, " ", matches[__i__ % G_N_ELEMENTS (matches)], NULL);
  for (gint obstacle = 0; obstacle < 2; obstacle++) {
    Pairs pairs = paint (&scene, obstacle);
    g_autofree gchar *match = g_strconcat ("num-disparities=64 ", matches[__i__ % G_N_ELEMENTS (matches)], NULL);
    g_autoptr (GPtrArray) posted = play (&pairs, match);

    for (guint i = 0; i < posted->len && !obstacle; i++)
      fail_unless_equals_string (state_of (g_ptr_array_index (posted, i)), "clear");
    if (obstacle)
      check_approach (posted, &scene, name);
    pairs_clear (&pairs);
  }
  g_free (scene.wall);
  g_free (scene.obstacle);
}

/* ---- roads ------------------------------------------------------------------------------- */

/* Whether a pixel of the mask that goes with a frame is white: that is sky, surely. FALSE where there is no mask. */
static gboolean
is_sky (const gchar *road, guint frame, gint x, gint y)
{
  gchar *name = g_strdup_printf ("%s/sky/%06u.png", road, frame);
  GstSample *sample = real_picture (name, "GRAY8");
  GstVideoFrame mask;
  GstVideoInfo info;

  g_free (name);
  if (!sample)
    return FALSE;
  fail_unless (gst_video_info_from_caps (&info, gst_sample_get_caps (sample)));
  fail_unless (gst_video_frame_map (&mask, &info, gst_sample_get_buffer (sample), GST_MAP_READ));
  gboolean sky = ((guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&mask, 0))[y * GST_VIDEO_FRAME_PLANE_STRIDE (&mask, 0) + x] ==
      255;
  gst_video_frame_unmap (&mask);
  gst_sample_unref (sample);
  return sky;
}

static const struct
{
  const gchar *name;
  guint frames;
  gdouble focal, baseline, warn;
} roads[] = { { "road", 12, 707.0912, 537.15, 3000 }, { "street", 5, 721.5377, 537.15, 3000 },
  { "fog", 4, 337, 120, 1500 } };

/* Nothing in these pictures is that near: no alarm, and the nearest surface is not the sky. */
TEST_LOOP (test_roads, 0, G_N_ELEMENTS (matches) * G_N_ELEMENTS (roads))
{
  guint r = (guint) __i__ / G_N_ELEMENTS (matches);
  const gchar *match = matches[__i__ % G_N_ELEMENTS (matches)];
  g_auto (RealSequence) real;

  if (!real_sequence_load (&real, roads[r].name, "GRAY8"))
    return;
  Pairs pairs = { real.views[0][0].width, real.views[0][0].height, roads[r].focal, roads[r].baseline, roads[r].warn,
    real.count };
  for (guint i = 0; i < pairs.count; i++) {
    pairs.frames[i] = g_malloc ((gsize) (2 * pairs.width * pairs.height));
    for (gint y = 0; y < 2 * pairs.height; y++)
      memcpy (pairs.frames[i] + y * pairs.width, real.views[i][y % 2].pixels + y / 2 * pairs.width, (gsize) pairs.width);
  }
  fail_unless (pairs.count >= roads[r].frames);
  g_autoptr (GPtrArray) posted = play (&pairs, match);
  for (guint i = 0; i < posted->len; i++) {
    const GstStructure *one = g_ptr_array_index (posted, i);
    gint x = 0, y = 0;

    fail_if (g_str_equal (state_of (one), "near"), "%s %s, frame %u: %s", roads[r].name, match, i,
        gst_structure_to_string (one));
    if (gst_structure_get (one, "x", G_TYPE_INT, &x, "y", G_TYPE_INT, &y, NULL))
      fail_if (is_sky (roads[r].name, i, x, y), "%s %s, frame %u: the sky is the nearest: %s", roads[r].name, match, i,
          gst_structure_to_string (one));
  }
  pairs_clear (&pairs);
}

SUITE (overlay_alarms)
{
  random_state.state = random_seed ();
  tcase_set_timeout (tcase, 300);
}
