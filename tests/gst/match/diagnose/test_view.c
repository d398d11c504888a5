/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is evidence in made views, and what is not: scenes that move and stand still, with something on the lenses, frozen and covered parts,
 * and saturated ones. */
#include "tests/support/gst/suite.h"

#include <math.h>
#include <string.h>

#include "gst/match/diagnose/view.h"
#include "tests/gst/match/diagnose/made.h"

#define WIDTH 480
#define HEIGHT 160
#define NEAR 11 /* px: disparity of the scene */
#define MOST 63
#define LOOKS 30
#define LEFT_SIDE 160 /* of the part that is changed */
#define RIGHT_SIDE 320
#define TOP 32
#define BOTTOM 128

static GstStereoViews *evidence;
static GstStereoViewFigures figures[2];
static GstStereoPairFigures pair;

/* What is before the lenses, or wrong with the views, in the part, or everywhere. */
typedef enum
{
  NOTHING,
  DIRT,     /* gives a share of the light, at the same place of both views */
  CAPTION,  /* hides all, at the same place of both views */
  COVER,    /* before the right lens */
  FROZEN,   /* part of the right view, under noise */
  REPEATED, /* the right view, in four looks of five, to the bit */
  OBJECT,   /* moves in the left view alone */
  EDGE,     /* moves at the left side of the left view, where the right view sees nothing of it */
  WHITE,    /* saturates the right view */
  SAME      /* the right view is the left one */
} Thing;

typedef struct
{
  const gchar *name;
  gint speed; /* px that the scene moves in a look */
  Thing thing;
  gdouble share; /* of the light that dirt gives */
  gboolean all;  /* it is everywhere */
  gint noise;
  gdouble dim; /* of the light, in a look: the exposure falls */
} World;

static gdouble
scene (const World *world, guint v, gint look, gint x, gint y)
{
  return surface (5, x + (gint) v * NEAR + world->speed * look, y);
}

static gdouble
level_at (const World *world, guint v, gint look, gint x, gint y)
{
  gboolean in = world->all || (x >= LEFT_SIDE && x < RIGHT_SIDE && y >= TOP && y < BOTTOM);
  gdouble level = scene (world, v, look, x, y);

  switch (in ? world->thing : NOTHING) {
    case DIRT:
      return (1 - world->share) * level + world->share * surface (77, x, y);
    case CAPTION:
      return (x / 6 + y / 6) % 2 ? 220 : 30;
    case COVER:
      return v ? 30 : level;
    case FROZEN:
      return v ? scene (world, v, 0, x, y) : level;
    case REPEATED:
      return v ? scene (world, v, look / 5 * 5, x, y) : level;
    case OBJECT:
      return v ? level : surface (33, x - 2 * look, y);
    case EDGE:
      return !v && x < MOST ? surface (33, x - 2 * look, y) : level;
    case WHITE:
      return v ? 255 : level;
    case SAME:
      return v ? scene (world, 0, look, x, y) : level;
    default:
      return level;
  }
}

static void
look_at (const World *world, gint look)
{
  static guint8 pixels[2][WIDTH * HEIGHT];
  static const StereoParams params = { .num_disparities = MOST + 1 };
  const GstStereoLookedPair views = { { { pixels[0], WIDTH, 1, 1, { 0 }, STEREO_MEMORY_HOST },
                                          { pixels[1], WIDTH, 1, 1, { 0 }, STEREO_MEMORY_HOST } },
    WIDTH, HEIGHT, { 0, 0 }, { 255, 255 }, &params };

  for (guint v = 0; v < 2; v++)
    for (gint y = 0; y < HEIGHT && !(v && world->thing == REPEATED && look % 5); y++)
      for (gint x = 0; x < WIDTH; x++) {
        gdouble level = level_at (world, v, look, x, y) * (1 - world->dim * look) +
            (world->noise ? draw (-world->noise, world->noise) : 0);
        pixels[v][y * WIDTH + x] = (guint8) CLAMP (level + 0.5, 0, 255);
      }
  fail_unless (gst_stereo_views_measure (evidence, &views, figures, &pair));
}

static void
look_for (const World *world, gint from, gint looks)
{
  for (gint look = from; look < from + looks; look++)
    look_at (world, look);
}

/* Share of the cells of a view that are without evidence, in the part and outside of it. */
static void
unmeasured (guint v, gdouble *inside, gdouble *outside)
{
  const GstStereoUnmeasured *found = gst_stereo_views_get_unmeasured (evidence);
  gdouble counts[2] = { 0, 0 }, marks[2] = { 0, 0 };

  *inside = *outside = 0;
  if (!found)
    return;
  for (gint y = 0; y < found->height; y++)
    for (gint x = 0; x < found->width; x++) {
      gint left = x * found->factor, top = y * found->factor;
      gboolean out = left < LEFT_SIDE || left >= RIGHT_SIDE || top < TOP || top >= BOTTOM;
      counts[out]++;
      marks[out] += found->marks[v][y * found->width + x];
    }
  *inside = marks[0] / counts[0];
  *outside = marks[1] / counts[1];
}

/* @least, @most: share of the part without evidence, in the worse view. */
static const struct
{
  World world;
  gdouble least, most;
} cases[] = {
  { { "still" }, 0, 0 },
  { { "still, noise", .noise = 8 }, 0, 0 },
  { { "drive", 6, .noise = 3 }, 0, 0.03 },
  { { "fast drive", 40, .noise = 3 }, 0, 0.03 },
  { { "slow drive", 1, .noise = 3 }, 0, 0.03 },
  { { "the exposure falls", .noise = 3, .dim = 0.02 }, 0, 0 },
  { { "dirt", 6, DIRT, 0.6, .noise = 3 }, 0.5, 1 },
  { { "weak dirt", 6, DIRT, 0.45, .noise = 3 }, 0.3, 1 },
  { { "dirt everywhere", 6, DIRT, 0.6, TRUE, 3 }, 0.5, 1 },
  { { "dirt before what stands still", 0, DIRT, 0.6, .noise = 3 }, 0, 0 },
  { { "caption", 6, CAPTION, .noise = 3 }, 0.5, 1 },
  { { "cover", 6, COVER, .noise = 2 }, 0.4, 1 },
  { { "cover before what stands still", 0, COVER, .noise = 2 }, 0.4, 1 },
  { { "frozen", 6, FROZEN, .noise = 3 }, 0.3, 1 },
  { { "saturated", 6, WHITE }, 0.99, 1 },
  { { "saturated, still", 0, WHITE }, 0.99, 1 },
};

TEST_LOOP (test_worlds, 0, G_N_ELEMENTS (cases))
{
  const World *world = &cases[__i__].world;
  gdouble worst = 0;

  evidence = gst_stereo_views_new (NULL, NULL);
  look_for (world, 0, LOOKS);
  for (guint v = 0; v < 2; v++) {
    gdouble inside, outside;
    unmeasured (v, &inside, &outside);
    worst = MAX (worst, inside);
    fail_unless (world->all || outside <= 0.06, "%s: %.2f outside", world->name, outside);
  }
  g_print ("%s: %.2f\n", world->name, worst);
  fail_unless (worst >= cases[__i__].least && worst <= cases[__i__].most, "%s: %.2f of the part", world->name, worst);
  gst_stereo_views_free (evidence);
}

/* What was learnt while things moved is kept while they stand still, and forgotten when the lens is clean. */
TEST (test_learnt)
{
  const World dirty = { "dirty", 6, DIRT, 0.6, .noise = 3 }, still = { "still", 0, DIRT, 0.6, .noise = 3 },
              clean = { "clean", 6, .noise = 3 };
  gdouble moving, standing, cleaned, outside;

  evidence = gst_stereo_views_new (NULL, NULL);
  look_for (&dirty, 0, LOOKS);
  unmeasured (0, &moving, &outside);
  look_for (&still, 0, 2 * LOOKS);
  unmeasured (0, &standing, &outside);
  look_for (&clean, 0, 2 * LOOKS);
  unmeasured (0, &cleaned, &outside);
  fail_unless (moving > 0.5 && standing > 0.9 * moving && cleaned < 0.05, "%.2f, %.2f, %.2f", moving, standing, cleaned);
  gst_stereo_views_free (evidence);
}

/* Dirt comes on both lenses while nothing moves: what lay nearer lies at disparity 0 all at once. */
TEST (test_splash)
{
  const World still = { "still", .noise = 3 }, dirty = { "dirty", 0, DIRT, 0.97, .noise = 3 };
  gdouble before, after, outside;

  evidence = gst_stereo_views_new (NULL, NULL);
  look_for (&still, 0, LOOKS);
  unmeasured (0, &before, &outside);
  look_for (&dirty, 0, 8);
  unmeasured (0, &after, &outside);
  fail_unless (before == 0 && after > 0.5 && outside < 0.06, "%.2f, %.2f, %.2f", before, after, outside);
  gst_stereo_views_free (evidence);
}

/* One camera on both pads, from the first look on; and a pattern before two scenes. */
TEST (test_same_place)
{
  static const struct
  {
    World world;
    gboolean zero, rest;
  } worlds[] = { { { "same view", 0, SAME, .all = TRUE, .noise = 2 }, TRUE, FALSE },
    { { "pattern", 0, DIRT, 0.9, TRUE, 2 }, TRUE, TRUE }, { { "two views", .noise = 2 }, FALSE, FALSE } };

  for (guint i = 0; i < G_N_ELEMENTS (worlds); i++) {
    evidence = gst_stereo_views_new (NULL, NULL);
    look_at (&worlds[i].world, 0);
    g_print ("%s: %u of %u, rest %.4f\n", worlds[i].world.name, pair.zero, pair.textured, pair.rest);
    fail_unless ((pair.zero > 0.6 * pair.textured) == worlds[i].zero, "%s", worlds[i].world.name);
    fail_unless ((pair.rest > 0.004) == worlds[i].rest || !worlds[i].zero, "%s: rest", worlds[i].world.name);
    gst_stereo_views_free (evidence);
  }
}

/* What moves in one view alone, what repeats, and a jump. */
TEST (test_views_beside_each_other)
{
  const World object = { "object", 0, OBJECT, .noise = 3 }, edge = { "edge", 0, EDGE, .all = TRUE, .noise = 3 },
              repeated = { "repeated", 2, REPEATED, .all = TRUE, .noise = 3 }, still = { "still", .noise = 3 };
  guint same = 0;

  evidence = gst_stereo_views_new (NULL, NULL);
  look_for (&still, 0, LOOKS);
  fail_unless (!figures[0].alone && !figures[1].alone && !figures[1].moving && !pair.jump);
  look_for (&object, 0, LOOKS);
  fail_unless (figures[1].alone > 10 && !figures[0].alone, "%u and %u blocks", figures[1].alone, figures[0].alone);
  gst_stereo_views_free (evidence);
  evidence = gst_stereo_views_new (NULL, NULL);
  look_for (&edge, 0, LOOKS);
  fail_unless (figures[0].moving > 10 && !figures[1].alone, "%u move, %u alone", figures[0].moving, figures[1].alone);
  for (gint look = 0; look < 10; look++) {
    look_at (&repeated, look);
    same += figures[1].same >= 1;
    fail_unless (figures[0].same < 0.01);
  }
  fail_unless_equals_int (same, 8);
  look_for (&still, 0, LOOKS);
  look_at (&still, 100);
  fail_unless (!pair.jump);
  look_at (&(World){ "elsewhere", 50 }, 100);
  fail_unless (pair.jump);
  gst_stereo_views_free (evidence);
}

/* Pixels without evidence in the left view, and those matched with such of the right view, get no value. */
TEST (test_apply)
{
  g_autoptr (GstStereoUnmeasured) unmeasured = gst_stereo_unmeasured_new (20, 4, 2);
  guint16 samples[8][40];
  guint8 confidence[8][40];
  const GstStereoMaskedPicture picture = { (guint8 *) samples, sizeof *samples, 2, *confidence, sizeof *confidence };
  GstStereoMeta units = { .kind = GST_STEREO_OUTPUT_KIND_DISPARITY, .disparity_scale = 10, .width = 40, .height = 8 };
  gdouble valid = 1, mean = 0.8;

  memset (confidence, 204, sizeof confidence);
  for (gint y = 0; y < 8; y++)
    for (gint x = 0; x < 40; x++)
      samples[y][x] = 60;                /* 6 px */
  unmeasured->marks[0][1 * 20 + 5] = 1;  /* x = 10, 11; y = 2, 3 */
  unmeasured->marks[1][3 * 20 + 10] = 1; /* x = 20, 21 of the right view: 26, 27 of the left one */
  gst_stereo_unmeasured_apply (unmeasured, &picture, &units, 8 * 40, &valid, &mean);
  for (gint y = 0; y < 8; y++)
    for (gint x = 0; x < 40; x++) {
      gboolean blind = (y / 2 == 1 && x / 2 == 5) || (y / 2 == 3 && x / 2 == 13);
      fail_unless (samples[y][x] == (blind ? 0 : 60) && confidence[y][x] == (blind ? 0 : 204), "at %d, %d", x, y);
    }
  fail_unless (fabs (valid - (1 - 8 / 320.0)) < 1e-9 && fabs (mean - 0.8 * (1 - 8 / 320.0)) < 1e-9);
}

SUITE (view)
{
  generator.state = random_seed ();
}
