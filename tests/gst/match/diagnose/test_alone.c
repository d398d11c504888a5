/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A board comes nearer before cameras that stand still, under noise, in made pictures: where a part of one view is frozen, the other
 * view is found to move alone, until the part is live again. Sound views never are, whatever else is in one of them. */
#include "tests/support/gst/suite.h"

#include <math.h>
#include <string.h>

#include "gst/match/diagnose/views/alone.h"
#include "gst/match/diagnose/episodes.h"
#include "tests/gst/match/diagnose/compressed.h"
#include "tests/support/gst/util.h"
#include "tests/support/random.h"

#define TURNS 30
#define LOOKS 16
#define FIRST 4  /* look with the fault */
#define LATEST 8 /* looks after which it is known */
#define REACH 40 /* disparities that are searched */
#define ROWS_OF_A_BAND (HEIGHT / GST_STEREO_VIEW_BANDS)
#define LAMP 10 /* pixels */
#define WIDTH 480
#define HEIGHT 160

static Random generator;

/* ---- the scene --------------------------------------------------------------------------- */

typedef struct
{
  guint seed;
  gint noise;         /* grey levels, at most */
  gint far, near;     /* disparities of the background and of the board */
  gint x, y;          /* middle of the board in the left view */
  gint width, height; /* half of its size at first */
  gint growth;        /* pixels in a look */
  gint stop;          /* the look from which on it does not grow */
  gdouble gain;       /* of the left view's brightness, in a look */
  gint flakes;        /* in each view, at most, each in one look */
  gint quality;       /* of the left view, which is compressed; 0 = it is not */
  guint drop;         /* a bit for each look in which something lies on the left lens */
  guint cover;        /* and for each in which nothing else is seen of the left view */
  gboolean lamp;      /* at the left side of both views, which blinks */
} Scene;

typedef struct
{
  Scene scene;
  guint8 *background[2];
  guint8 *kept[2]; /* the views before the fault */
  guint8 *pixels;
  GstStereoViewReader *readers[2];
  GstStereoViewFigures figures[2];
  GstStereoAlone alone;
} Stream;

static Scene
make_scene (void)
{
  Scene scene = { .seed = random_next (&generator),
    .noise = random_range (&generator, 0, 5),
    .far = random_range (&generator, 0, 10),
    .near = random_range (&generator, 15, 30),
    .x = WIDTH / 2 + random_range (&generator, -60, 60),
    .y = HEIGHT / 2 + random_range (&generator, -15, 15),
    .width = random_range (&generator, 30, 60),
    .height = random_range (&generator, 25, 35),
    .growth = random_range (&generator, 2, 4),
    .stop = LOOKS,
    .gain = 1 };

  return scene;
}

static void
add_noise (guint8 *pixels, gint count, gint noise)
{
  for (gint i = 0; i < count; i++) {
    gint level = pixels[i] + random_range (&generator, -noise, noise); /* CLAMP() evaluates it more than once */
    pixels[i] = (guint8) CLAMP (level, 0, 255);
  }
}

static void
paint_square (guint8 *pixels, gint x, gint y, gint size)
{
  for (gint row = y; row < y + size; row++)
    memset (pixels + row * WIDTH + x, 240, (gsize) size);
}

static guint8 *
paint_background (const Scene *scene, guint v)
{
  guint8 *pixels = g_malloc (WIDTH * HEIGHT);

  for (gint y = 0; y < HEIGHT; y++)
    for (gint x = 0; x < WIDTH; x++)
      pixels[y * WIDTH + x] = 20 + texture (scene->seed + 1, (x + (v ? scene->far : 0)) / 4, y / 6) / 3;
  return pixels;
}

/* View @v at a look, without noise. */
static void
paint (const Stream *stream, gint look, guint v, guint8 *pixels)
{
  const Scene *scene = &stream->scene;
  gint growth = scene->growth * MIN (look, scene->stop), middle = scene->x - (v ? scene->near : 0);
  gint width = scene->width + growth, height = scene->height + growth;

  memcpy (pixels, stream->background[v], WIDTH * HEIGHT);
  for (gint y = MAX (0, scene->y - height); y < MIN (HEIGHT, scene->y + height); y++)
    for (gint x = MAX (0, middle - width); x < MIN (WIDTH, middle + width); x++)
      pixels[y * WIDTH + x] = 160 + texture (scene->seed, (x - middle + WIDTH) / 4, (y - scene->y + HEIGHT) / 6) / 3;
  for (gint i = 0; !v && scene->gain != 1 && i < WIDTH * HEIGHT; i++)
    pixels[i] = (guint8) MIN (255, pow (scene->gain, look) * pixels[i]);
  for (gint flake = 0; flake < scene->flakes; flake++)
    if (random_range (&generator, 0, 1)) {
      gint size = random_range (&generator, 3, 25), x = random_range (&generator, 0, WIDTH - size);
      paint_square (pixels, x, random_range (&generator, 0, HEIGHT - size), size);
    }
  if (scene->lamp && look / 2 % 2)
    for (gint y = 0; y < HEIGHT; y += LAMP)
      paint_square (pixels, 1, y, LAMP);
  if (!v && look < 32 && scene->drop >> look & 1)
    paint_square (pixels, 3 * WIDTH / 4, HEIGHT / 4, 40);
  if (!v && look < 32 && scene->cover >> look & 1)
    memset (pixels, 46, WIDTH * HEIGHT);
}

static Stream *
stream_new (Scene scene)
{
  Stream *stream = g_new0 (Stream, 1);

  stream->scene = scene;
  stream->pixels = g_malloc (WIDTH * HEIGHT);
  for (guint v = 0; v < 2; v++) {
    stream->kept[v] = g_malloc (WIDTH * HEIGHT);
    stream->readers[v] = gst_stereo_view_reader_new (WIDTH, HEIGHT);
    stream->background[v] = paint_background (&scene, v);
    paint (stream, FIRST, v, stream->kept[v]);
  }
  return stream;
}

static void
stream_free (Stream *stream)
{
  for (guint v = 0; v < 2; v++) {
    gst_stereo_view_reader_free (stream->readers[v]);
    g_free (stream->background[v]);
    g_free (stream->kept[v]);
  }
  g_free (stream->pixels);
  g_free (stream);
}

/* The rows @from to @to of view @frozen, but for a lamp, are those of the look FIRST, under new noise. */
static void
look_at (Stream *stream, gint look, guint frozen, gint from, gint to)
{
  const GstStereoViewReader *const readers[] = { stream->readers[0], stream->readers[1] };
  gint first = stream->scene.lamp ? 2 * LAMP : 0;

  for (guint v = 0; v < 2; v++) {
    StereoImage image = { stream->pixels, WIDTH, 1, 1, { 0 }, STEREO_MEMORY_HOST };
    paint (stream, look, v, stream->pixels);
    for (gint y = from; v == frozen && y < to; y++)
      memcpy (stream->pixels + y * WIDTH + first, stream->kept[v] + y * WIDTH + first, (gsize) (WIDTH - first));
    add_noise (stream->pixels, WIDTH * HEIGHT, stream->scene.noise);
    if (!v && stream->scene.quality)
      compress_view (stream->pixels, WIDTH, WIDTH, HEIGHT, stream->scene.quality);
    gst_stereo_view_reader_read (stream->readers[v], &image, 0, 255, 0, WIDTH, &stream->figures[v]);
  }
  gst_stereo_alone_measure (&stream->alone, readers, WIDTH, 1, REACH, stream->figures);
}

/* ---- frozen parts ------------------------------------------------------------------------ */

/* The whole view, or rows that hide the board or a part of it; or all but some columns, where both views show a lamp. */
TEST (test_frozen_views)
{
  for (guint turn = 0; turn < TURNS; turn++) {
    Scene scene = make_scene ();
    guint frozen = turn % 2;
    gint from = turn % 3 ? scene.y - 3 * ROWS_OF_A_BAND : 0, to = turn % 3 ? scene.y + 3 * ROWS_OF_A_BAND : HEIGHT;
    Stream *stream;

    scene.lamp = turn % 4 > 1;
    scene.growth = scene.lamp ? 2 : scene.growth;
    stream = stream_new (scene);

    for (gint look = 0; look < LOOKS; look++) {
      gboolean fault = look >= FIRST;
      look_at (stream, look, frozen, from, fault ? to : from);
      fail_unless (!stream->figures[!frozen].alone, "turn %u, look %d: the live view", turn, look);
      fail_unless (fault || !stream->figures[frozen].alone, "turn %u, look %d: before the fault", turn, look);
      fail_unless (look < FIRST + LATEST || stream->figures[frozen].alone >= 2, "turn %u, look %d: %u bands", turn,
          look, stream->figures[frozen].alone);
    }
    stream_free (stream);
  }
}

/* Nothing moves any more: what was frozen is not known to be live. Then it is live again, and shows the board where it is now. */
TEST (test_frozen_view_goes_on)
{
  for (guint turn = 0; turn < TURNS; turn++) {
    Stream *stream = stream_new (make_scene ());

    for (gint look = 0; look < 3 * LOOKS; look++) {
      look_at (stream, look, turn % 2, 0, look >= FIRST && look < 2 * LOOKS ? HEIGHT : 0);
      if (look >= LOOKS && look < 2 * LOOKS)
        fail_unless (stream->figures[turn % 2].alone >= 2, "turn %u, look %d: over", turn, look);
      if (look > 2 * LOOKS)
        fail_unless (!stream->figures[turn % 2].alone, "turn %u, look %d: not over", turn, look);
    }
    stream_free (stream);
  }
}

/* ---- sound views ------------------------------------------------------------------------- */

/* What does not last for as many looks as a fault has to is no fault. */
static void
check_silence (const Scene *scene, gint looks, const gchar *what)
{
  Stream *stream = stream_new (*scene);
  gint lasts[2] = { 0, 0 };

  for (gint look = 0; look < looks; look++) {
    look_at (stream, look, 0, 0, 0);
    for (guint v = 0; v < 2; v++) {
      lasts[v] = stream->figures[v].alone < 2 ? 0 : lasts[v] + 1;
      fail_unless (lasts[v] < GST_STEREO_EPISODE_VERDICTS, "%s, view %u, look %d: %u bands", what, v, look,
          stream->figures[v].alone);
    }
  }
  stream_free (stream);
}

TEST (test_sound_views)
{
  for (guint turn = 0; turn < TURNS; turn++) {
    Scene scene = make_scene ();
    check_silence (&scene, LOOKS, "a board");
  }
}

/* Near one lens, so that the other one does not see them: few or many. */
TEST (test_snow)
{
  for (guint turn = 0; turn < TURNS; turn++) {
    Scene scene = make_scene ();
    scene.growth = 0;
    scene.flakes = 1 << turn % 5;
    check_silence (&scene, 5 * LOOKS, "snow");
  }
}

/* Something hits one lens and stays there, or flashes twice at one place. */
TEST (test_drops)
{
  static const guint drops[] = { 0xfff0, 0x010, 0x050, 0x090, 0x110 };

  for (guint turn = 0; turn < TURNS; turn++) {
    Scene scene = make_scene ();
    scene.growth = 0;
    scene.drop = drops[turn % G_N_ELEMENTS (drops)];
    check_silence (&scene, LOOKS, "a drop");
  }
}

/* What covers a lens while the board comes nearer is taken away: then the view is live, though nothing moves any more. */
TEST (test_cover_is_taken_away)
{
  for (guint turn = 0; turn < TURNS; turn++) {
    Scene scene = make_scene ();
    Stream *stream;

    scene.cover = 0xfff0;
    stream = stream_new (scene);
    for (gint look = 0; look < 2 * LOOKS; look++) {
      look_at (stream, look, 0, 0, 0);
      fail_unless (look <= LOOKS || !stream->figures[0].alone, "turn %u, look %d: %u bands", turn, look,
          stream->figures[0].alone);
    }
    stream_free (stream);
  }
}

/* One camera alone opens or closes its iris. */
TEST (test_exposure)
{
  for (guint turn = 0; turn < TURNS; turn++) {
    Scene scene = make_scene ();
    scene.growth = 0;
    scene.gain = turn % 2 ? 1.02 : 0.95;
    check_silence (&scene, LOOKS, "exposure");
  }
}

/* Of a view that is compressed, blocks flicker: that is no movement. The board stands still, or comes nearer. */
TEST (test_compressed_view)
{
  static const gint qualities[] = { 3, 5, 10, 20, 30, 40 };

  for (guint turn = 0; turn < 2 * TURNS; turn++) {
    Scene scene = make_scene ();
    scene.noise = random_range (&generator, 2, 5);
    scene.quality = qualities[turn % G_N_ELEMENTS (qualities)];
    scene.stop = turn % 2 ? 0 : LOOKS;
    check_silence (&scene, 3 * LOOKS, "a compressed view");
  }
}

/* A board at the left side of the left view, which the right view does not see, and the other way round. */
TEST (test_side_that_one_view_sees)
{
  for (guint turn = 0; turn < TURNS; turn++) {
    Scene scene = make_scene ();
    scene.near = REACH - 5;
    scene.width = 2;
    scene.growth = 1;
    scene.x = turn % 2 ? scene.width + LOOKS : WIDTH + scene.near - scene.width - LOOKS - 1;
    check_silence (&scene, LOOKS, "the side");
  }
}

SUITE (alone)
{
  generator = (Random){ .state = random_seed () };
  tcase_set_timeout (tcase, 120);
}
