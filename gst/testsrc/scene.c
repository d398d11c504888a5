/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/testsrc/scene.h"

#include "gst/testsrc/tile.h"

#include <math.h>
#include <string.h>

#define ONE (G_GINT64_CONSTANT (1) << 32)       /* lengths are 32.32 fixed point */
#define FAR_AWAY (ONE << 20)
#define TRUTH_STEPS 64
#define LANES 16                /* independent random numbers */
#define NOISE_DEVIATION 147.8   /* of the sum of four random bytes */

typedef enum
{
  SHAPE_EVERYWHERE,
  SHAPE_NEARER,                 /* where it is nearer than the layers before it: they meet and do not occlude */
  SHAPE_BOX,
  SHAPE_ELLIPSE
} Shape;

/* A plane of disparity a + b x + c y at left pixel (x, y), painted over the layers before it. */
typedef struct
{
  Shape shape;
  gint64 a, b, c;
  gint64 inverse;               /* 1 / (1 - b): left pixels per right one */
  gint64 center;                /* of box and ellipse; texture and slant move with it */
  gint middle, half_width, half_height; /* of box and ellipse, pixels */
  gint u, v;                    /* where its texture begins in the tile */
  gint64 rest;                  /* a with the centre at 0 */
  gboolean moves;
  gdouble tint[3];              /* what a level of 1 adds to red, green, blue */
} Layer;

struct _GstStereoScene
{
  GstStereoSceneParams params;
  guint64 frame;
  Layer layers[GST_STEREO_SCENE_LAYERS];
  guint count;
  gint64 step;                  /* of the foreground a frame, 16.16 */
  gint start, travel;           /* of its centre from its leftmost place, pixels */
  gint noise;                   /* 16.16 per step of the random sum */
  GstStereoTile *tile;          /* of all layers */
};

/* ---- geometry ------------------------------------------------------------------------------ */

/* 1 / @value, rounded: cut short, whole pixels would no longer be whole. */
static gint64
invert (gint64 value)
{
  guint64 by = (guint64) value, inverse = G_MAXUINT64 / by;

  return (gint64) (inverse + (G_MAXUINT64 - inverse * by + 1 >= by / 2 ? 1 : 0));
}

/*
 * A plane by thousandths of the largest disparity: @at in its middle (of the picture where it has none), and how much
 * more at one picture width further right, and at one height further down.
 */
static Layer *
add_plane (GstStereoScene *scene, Shape shape, gint at, gint across, gint down)
{
  const GstStereoSceneParams *params = &scene->params;
  Layer *layer = &scene->layers[scene->count];
  gint64 unit = params->max_disparity * ONE / 1000;

  layer->shape = shape;
  layer->b = unit * across / params->width;
  layer->c = unit * down / params->height;
  layer->rest = unit * at - layer->c * (params->height / 2);
  layer->center = params->width / 2 * ONE;
  layer->inverse = invert (ONE - layer->b);
  /* rows apart, so that no two layers ever show the same texture in one row */
  layer->u = (gint) (gst_stereo_mix (params->seed, 1000 + scene->count) & 0xFFF);
  layer->v = (gint) scene->count * (GST_STEREO_TILE_HEIGHT / GST_STEREO_SCENE_LAYERS);
  scene->count++;
  return layer;
}

/* Sizes and places in thousandths of the picture. */
static void
cut_out (const GstStereoScene *scene, Layer *layer, gint x, gint y, gint half_width, gint half_height)
{
  const GstStereoSceneParams *params = &scene->params;

  layer->center = (params->width * x / 1000) * ONE;
  layer->middle = params->height * y / 1000;
  layer->half_width = MAX (2, params->width * half_width / 1000);
  layer->half_height = MAX (1, params->height * half_height / 1000);
  layer->rest += layer->c * (params->height / 2 - layer->middle);
}

/* Red, blue; green keeps the luma. */
static void
tint (Layer *layer, gdouble red, gdouble blue)
{
  layer->tint[0] = red;
  layer->tint[1] = -(0.299 * red + 0.114 * blue) / 0.587;
  layer->tint[2] = blue;
}

/* The corner of a room with a floor, a slanted board on the right, and a disc that moves before them. */
static Layer *
make_room (GstStereoScene *scene)
{
  Layer *layer;

  tint (add_plane (scene, SHAPE_EVERYWHERE, 180, -500, 60), 0.10, -0.12);
  tint (add_plane (scene, SHAPE_NEARER, 200, 300, 40), -0.10, 0.12);
  tint (add_plane (scene, SHAPE_NEARER, 150, 0, 900), 0.12, 0.08);
  layer = add_plane (scene, SHAPE_BOX, 580, 400, 250);
  cut_out (scene, layer, 720, 280, 130, 190);
  tint (layer, -0.16, -0.10);
  layer = add_plane (scene, SHAPE_ELLIPSE, 900, 300, -150);
  cut_out (scene, layer, 350, 560, 140, 240);
  tint (layer, 0.22, -0.20);
  return layer;
}

/* A square before a wall, both upright and whole pixels away: only the shift tells them apart. */
static Layer *
make_square (GstStereoScene *scene)
{
  gint disparity = scene->params.max_disparity;
  Layer *layer = add_plane (scene, SHAPE_EVERYWHERE, 0, 0, 0);

  layer->rest = MAX (1, disparity / 4) * ONE;
  layer = add_plane (scene, SHAPE_BOX, 0, 0, 0);
  cut_out (scene, layer, 400, 500, 180, 240);
  layer->rest = MAX (1, disparity * 3 / 4) * ONE;
  return layer;
}

static void
make_layers (GstStereoScene *scene)
{
  gboolean room = scene->params.pattern == GST_STEREO_PATTERN_PLANES ||
      scene->params.pattern == GST_STEREO_PATTERN_FLAT;
  Layer *front = room ? make_room (scene) : make_square (scene);

  for (guint i = 0; scene->params.pattern == GST_STEREO_PATTERN_FLAT && i < scene->count; i++)
    tint (&scene->layers[i], 0, 0);
  front->moves = TRUE;
  scene->step = (gint64) rint (scene->params.motion * 65536);
  scene->travel = MAX (0, scene->params.width - 2 * front->half_width);
  scene->start = CLAMP ((gint) (front->center / ONE) - front->half_width, 0, scene->travel);
}

/* Where the foreground's centre is: to and fro. */
static gint64
moved_center (const GstStereoScene *scene, gint half_width)
{
  gint64 travel = (gint64) scene->travel << 16, period = 2 * travel, step, at;

  if (!period)
    return half_width * ONE;
  step = scene->step % period;
  step += step < 0 ? period : 0;
  /* factors below 2^31 */
  at = (gint64) (scene->frame % (guint64) period) * step % period;
  at = (at + ((gint64) scene->start << 16)) % period;
  at = at > travel ? period - at : at;
  return (at << 16) + half_width * ONE;
}

void
gst_stereo_scene_set_frame (GstStereoScene *scene, guint64 frame)
{
  scene->frame = frame;
  for (guint i = 0; i < scene->count; i++) {
    Layer *layer = &scene->layers[i];
    if (layer->moves)
      layer->center = moved_center (scene, layer->half_width);
    /* b is below 1, the centre below 2^14 pixels: the product needs its low bits dropped first */
    layer->a = layer->rest - (layer->b >> 8) * (layer->center >> 16) / 256;
  }
}

static gint64
square_root (guint64 value)
{
  guint64 root = 0;

  for (guint64 bit = G_GUINT64_CONSTANT (1) << 31; bit; bit >>= 1)
    if ((root + bit) * (root + bit) <= value)
      root += bit;
  return (gint64) root;
}

/* Cuts [from, to) down to where @layer is nearer than @other in row @y. */
static void
cut_nearer (const Layer *layer, const Layer *other, gint y, gint64 *from, gint64 *to)
{
  gint64 more = layer->a - other->a + (layer->c - other->c) * y, slope = layer->b - other->b, meet;

  if (slope == 0) {
    if (more <= 0)
      *to = *from;
    return;
  }
  meet = CLAMP (-(more * 65536) / slope, -(FAR_AWAY >> 16), FAR_AWAY >> 16) * 65536;
  if (slope > 0)
    *from = MAX (*from, meet);
  else
    *to = MIN (*to, meet);
}

/* What a layer covers of row @y, in left pixels: [from, to). */
static void
extent (const GstStereoScene *scene, const Layer *layer, gint y, gint64 *from, gint64 *to)
{
  gint64 below = 2 * (y - layer->middle) + 1, half = layer->half_width * ONE, high = 2 * layer->half_height;

  *from = -FAR_AWAY;
  *to = FAR_AWAY;
  if (layer->shape == SHAPE_NEARER)
    for (const Layer *other = scene->layers; other < layer; other++)
      cut_nearer (layer, other, y, from, to);
  if (layer->shape != SHAPE_BOX && layer->shape != SHAPE_ELLIPSE)
    return;
  if (ABS (below) >= high)
    half = 0;
  else if (layer->shape == SHAPE_ELLIPSE)
    half = (layer->half_width * square_root ((guint64) (high * high - below * below) << 32) / high) << 16;
  *from = layer->center - half;
  *to = layer->center + half;
}

/* Pixel i of the row shows left place start + i step of the layer. */
typedef struct
{
  gint64 start, step;
} Ray;

static Ray
ray_of (const Layer *layer, gboolean right, gint y)
{
  gint64 shift = (layer->a + layer->c * y + (1 << 15)) >> 16;

  return right ? (Ray) { shift * layer->inverse >> 16, layer->inverse } : (Ray) { 0, ONE };
}

/* The first pixel at or behind @place. */
static gint
first_pixel (const Ray *ray, gint64 place, gint width)
{
  gint64 way = place - ray->start;

  return way <= 0 ? 0 : (gint) MIN (width, (way + ray->step - 1) / ray->step);
}

static void
layer_row (const GstStereoScene *scene, gboolean right, gint y, guint8 *layers)
{
  gint width = scene->params.width;
  gint64 from, to;

  for (guint i = 0; i < scene->count; i++) {
    Ray ray = ray_of (&scene->layers[i], right, y);
    extent (scene, &scene->layers[i], y, &from, &to);
    gint first = first_pixel (&ray, from, width), end = first_pixel (&ray, to, width);
    if (end > first)
      memset (layers + first, (gint) i, (gsize) (end - first));
  }
}

/* The end of the run of one layer that begins at @x. */
static gint
run_end (const guint8 *layers, gint x, gint width)
{
  guint8 layer = layers[x];

  while (++x < width && layers[x] == layer);
  return x;
}

/* ---- pictures ------------------------------------------------------------------------------ */

static void
texture_run (const GstStereoScene *scene, const Layer *layer, gboolean right, gint y, gint from, gint to,
    guint8 *level)
{
  const GstStereoTile *tile = scene->tile;
  const guint8 *row = tile->data + (gsize) ((y + layer->v) % GST_STEREO_TILE_HEIGHT) * tile->pitch;
  guint64 mask = (guint64) tile->width - 1;
  Ray ray = ray_of (layer, right, y);
  /* unsigned: places left of the tile wrap around */
  guint64 place = (guint64) (ray.start + from * ray.step - layer->center + layer->u * ONE +
      ONE / GST_STEREO_TILE_PHASES / 2);

  for (gint x = from; x < to; x++, place += (guint64) ray.step) {
    const guint8 *at = row + (place >> 32 & mask);
    const gint16 *weight = tile->weights[place >> 24 & (GST_STEREO_TILE_PHASES - 1)];
    level[x] = (guint8) ((at[0] * weight[0] + at[1] * weight[1] + at[2] * weight[2] + at[3] * weight[3] +
            (1 << (GST_STEREO_TILE_WEIGHT_BITS - 1))) >> GST_STEREO_TILE_WEIGHT_BITS);
  }
}

/* The sum of four random bytes is close to a normal distribution. Lanes, so that pixels need not wait for another. */
static void
add_noise (const GstStereoScene *scene, gboolean right, gint y, guint8 *level)
{
  guint32 frame = gst_stereo_mix (gst_stereo_mix (scene->params.seed, (guint32) scene->frame),
      (guint32) (scene->frame >> 32));
  guint32 key = gst_stereo_mix (frame, (guint32) (2 * y + (right ? 1 : 0))), state[LANES];
  gint width = scene->params.width, more[LANES];

  for (guint i = 0; i < LANES; i++)
    state[i] = gst_stereo_mix (key, i) | 1;
  for (gint x = 0; x < width; x += LANES) {
    gint count = MIN (LANES, width - x);
    for (guint i = 0; i < LANES; i++) {
      guint32 s = state[i];
      s ^= s << 13;
      s ^= s >> 17;
      s ^= s << 5;
      state[i] = s;
      gint sum = (gint) ((s & 255) + (s >> 8 & 255) + (s >> 16 & 255) + (s >> 24)) - 510;
      more[i] = (sum * scene->noise + (1 << 15)) >> 16;
    }
    for (gint i = 0; i < count; i++)
      level[x + i] = (guint8) CLAMP (level[x + i] + more[i], 0, 255);
  }
}

void
gst_stereo_scene_row (const GstStereoScene *scene, gboolean right, gint y, guint8 *level, guint8 *layer)
{
  layer_row (scene, right, y, layer);
  for (gint x = 0, end; x < scene->params.width; x = end) {
    end = run_end (layer, x, scene->params.width);
    texture_run (scene, &scene->layers[layer[x]], right, y, x, end, level);
  }
  if (scene->noise)
    add_noise (scene, right, y, level);
}

void
gst_stereo_scene_truth (const GstStereoScene *scene, gint y, guint16 *truth)
{
  guint8 layers[GST_STEREO_SCENE_MAX_SIDE];

  layer_row (scene, FALSE, y, layers);
  for (gint x = 0; x < scene->params.width; x++) {
    const Layer *layer = &scene->layers[layers[x]];
    gint64 disparity = layer->a + layer->b * x + layer->c * y;
    truth[x] = (guint16) CLAMP ((disparity * TRUTH_STEPS + ONE / 2) >> 32, 1, G_MAXUINT16);
  }
}

void
gst_stereo_scene_color (const GstStereoScene *scene, guint layer, guint level, gdouble rgb[3])
{
  const gdouble *more = scene->layers[MIN (layer, scene->count - 1)].tint;
  gdouble most = MAX (more[0], MAX (more[1], more[2])) * level, room = 255 - (gdouble) level;
  /* what saturates loses its colour, not its luma */
  gdouble strength = most > room ? room / most : 1;

  for (guint c = 0; c < 3; c++)
    rgb[c] = level * (1 + more[c] * strength);
}

/* ---- scenes -------------------------------------------------------------------------------- */

gint
gst_stereo_scene_own_disparity (gint width)
{
  return CLAMP (width / 10, 1, 120);
}

static gchar *
refusal (const GstStereoSceneParams *params)
{
  if (params->width < GST_STEREO_SCENE_MIN_WIDTH || params->height < 1)
    return g_strdup_printf ("Views of %dx%d pixels are too small for a scene: each must be at least %d pixels wide. "
        "Ask for larger frames.", params->width, params->height, GST_STEREO_SCENE_MIN_WIDTH);
  if (params->width > GST_STEREO_SCENE_MAX_SIDE || params->height > GST_STEREO_SCENE_MAX_SIDE)
    return g_strdup_printf ("Views of %dx%d pixels are too large: at most %d pixels a side. Ask for smaller frames.",
        params->width, params->height, GST_STEREO_SCENE_MAX_SIDE);
  if (params->max_disparity < 0 || params->max_disparity > GST_STEREO_SCENE_MAX_DISPARITY ||
      params->max_disparity > params->width / 2)
    return g_strdup_printf ("max-disparity=%d does not fit views of %d pixels: set at most half their width, %d, or 0 "
        "for %d.", params->max_disparity, params->width, MIN (params->width / 2, GST_STEREO_SCENE_MAX_DISPARITY),
        gst_stereo_scene_own_disparity (params->width));
  return NULL;
}

GstStereoScene *
gst_stereo_scene_new (const GstStereoSceneParams *params, gchar **message)
{
  GstStereoScene *scene;

  if ((*message = refusal (params)))
    return NULL;
  scene = g_new0 (GstStereoScene, 1);
  scene->params = *params;
  if (!params->max_disparity)
    scene->params.max_disparity = gst_stereo_scene_own_disparity (params->width);
  scene->noise = (gint) rint (params->noise * 65536 / NOISE_DEVIATION);
  scene->tile = gst_stereo_tile_new (params->pattern, params->seed, params->width + scene->params.max_disparity);
  make_layers (scene);
  gst_stereo_scene_set_frame (scene, 0);
  return scene;
}

void
gst_stereo_scene_free (GstStereoScene *scene)
{
  if (!scene)
    return;
  gst_stereo_tile_free (scene->tile);
  g_free (scene);
}

const GstStereoSceneParams *
gst_stereo_scene_params (const GstStereoScene *scene)
{
  return &scene->params;
}
