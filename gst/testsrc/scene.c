/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/testsrc/scene.h"

#include <math.h>
#include <string.h>

#include "gst/testsrc/road.h"

/* ---- texture: coefficients of cubic B-splines along x, repeated in all directions ---------- */

#define TILE_HEIGHT 512
#define TILE_PHASES 256 /* places within a pixel where it can be looked up */
#define TILE_WEIGHT_BITS 14

typedef struct
{
  gint width; /* a power of 2 */
  gsize pitch;
  guint8 *data;                   /* rows continue for three more pixels */
  gint16 weights[TILE_PHASES][4]; /* of a pixel and the next three pixels; their sum is 1 << WEIGHT_BITS */
} Tile;

#define MAX_WIDTH 2048 /* more than any disparity: a matcher never finds the next period of the texture */

G_STATIC_ASSERT (MAX_WIDTH > GST_STEREO_SCENE_MAX_DISPARITY);

static void
make_weights (Tile *tile)
{
  const gint n = TILE_PHASES, unit = 6 << (24 - TILE_WEIGHT_BITS);

  for (gint p = 0; p < n; p++) {
    gint q = n - p;
    gint16 *weight = tile->weights[p];

    weight[0] = (gint16) ((q * q * q + unit / 2) / unit);
    weight[2] = (gint16) ((-3 * p * p * p + 3 * p * p * n + 3 * p * n * n + n * n * n + unit / 2) / unit);
    weight[3] = (gint16) ((p * p * p + unit / 2) / unit);
    weight[1] = (gint16) ((1 << TILE_WEIGHT_BITS) - weight[0] - weight[2] - weight[3]);
  }
}

/* Adds noise of one scale to a row: values at every @cell pixels, linear between. */
static void
add_octave (const Tile *tile, guint seed, gint y, gint shift, gint amplitude, gint *row)
{
  guint32 key = gst_stereo_mix (seed, (guint32) shift);
  gint cells = tile->width >> shift, rows = TILE_HEIGHT >> shift, cell = 1 << shift;
  guint32 upper = gst_stereo_mix (key, (guint32) (y >> shift));
  guint32 lower = gst_stereo_mix (key, (guint32) (((y >> shift) + 1) % rows));
  gint below = y & (cell - 1), last = 0;

  for (gint i = 0; i <= cells; i++) {
    guint32 column = (guint32) (i % cells);
    gint value = ((gint) (gst_stereo_mix (upper, column) & 255) - 128) * (cell - below) +
        ((gint) (gst_stereo_mix (lower, column) & 255) - 128) * below;
    for (gint x = 0; i > 0 && x < cell; x++)
      row[((i - 1) << shift) + x] += (last * (cell - x) + value * x) * amplitude / (cell * cell);
    last = value;
  }
}

/* Detail of 2 to 32 pixels: coarse enough to be interpolated between pixels. */
static void
noise_row (const Tile *tile, guint seed, gint y, gint *row)
{
  static const gint octaves[][2] = { { 1, 150 }, { 2, 100 }, { 3, 64 }, { 5, 64 } };

  for (gint x = 0; x < tile->width; x++)
    row[x] = 128 * 256;
  for (guint i = 0; i < G_N_ELEMENTS (octaves); i++)
    add_octave (tile, seed, y, octaves[i][0], octaves[i][1], row);
}

static void
pattern_row (const Tile *tile, GstStereoPattern pattern, guint seed, gint y, gint *row)
{
  guint32 key = gst_stereo_mix (gst_stereo_mix (seed, 77), (guint32) (y / 2));
  gint phase = (gint) (gst_stereo_mix (seed, 78) % GST_STEREO_SCENE_STRIPE);

  if (pattern == GST_STEREO_PATTERN_PLANES || pattern == GST_STEREO_PATTERN_ROAD) {
    noise_row (tile, seed, y, row);
    return;
  }
  for (gint x = 0; x < tile->width; x++) {
    gboolean bright = pattern == GST_STEREO_PATTERN_RANDOM_DOTS ?
        gst_stereo_mix (key, (guint32) (x / 2)) & 1 :
        (x + phase) % GST_STEREO_SCENE_STRIPE < GST_STEREO_SCENE_STRIPE / 2;
    row[x] = (pattern == GST_STEREO_PATTERN_FLAT ? 128 : bright ? 212 : 44) * 256;
  }
}

/* The tile is at least @width pixels wide, or so wide that no disparity is as large as its period. */
static Tile *
tile_new (GstStereoPattern pattern, guint seed, gint width)
{
  Tile *tile = g_new (Tile, 1);

  tile->width = 64;
  while (tile->width < width && tile->width < MAX_WIDTH)
    tile->width *= 2;
  tile->pitch = (gsize) tile->width + 3;
  tile->data = g_malloc (tile->pitch * TILE_HEIGHT);
  make_weights (tile);
  g_autofree gint *row = g_new (gint, tile->width);
  for (gint y = 0; y < TILE_HEIGHT; y++) {
    guint8 *to = tile->data + (gsize) y * tile->pitch;
    pattern_row (tile, pattern, seed, y, row);
    for (gint x = 0; x < tile->width; x++)
      to[x] = (guint8) CLAMP (row[x] / 256, 20, 235);
    memcpy (to + tile->width, to, 3);
  }
  return tile;
}

static void
tile_free (Tile *tile)
{
  if (!tile)
    return;
  g_free (tile->data);
  g_free (tile);
}

/* ---- geometry: slanted planes in layers, and which of them a pixel of a view shows --------- */

#define ONE (G_GINT64_CONSTANT (1) << 32) /* lengths are 32.32 fixed point */
#define CONTRAST_ONE 256

typedef enum
{
  SHAPE_EVERYWHERE,
  SHAPE_NEARER, /* everywhere that `over` and `under` leave */
  SHAPE_BOX,
  SHAPE_ELLIPSE
} Shape;

/*
 * A plane with the disparity a + b x + c y at pixel (x, y) of the left view. It is painted over the layers before it. Of two
 * planes that intersect, each is painted on one side of their intersection: the nearer one (`over`), or, where they make a
 * convex edge, as the top and the face of a step do, the farther one (`under`).
 */
typedef struct
{
  Shape shape;
  gint64 a, b, c;
  guint over, under;          /* sets of layers, a bit each: it is painted where it is nearer, or farther, than these */
  gint64 inverse;             /* 1 / (1 - b): left pixels per right one */
  gint64 center;              /* of box and ellipse; texture and slant move with it */
  gint top, rows, half_width; /* of box and ellipse, pixels */
  gint64 half;                /* half_width; of a box it may lie between pixels */
  gint64 lean;                /* of a box: how far it lies to the right of its centre for each row below its top */
  gint u, v;                  /* where its texture begins in the tile */
  gint64 rest;                /* a, if the centre were at 0 */
  gboolean moves;             /* to and fro */
  gboolean stands;            /* it is the obstacle of the road */
  gint contrast, shade;       /* of its texture, and the grey level that it has more of where it has less contrast */
  gdouble tint[3];            /* added to red, green and blue for each grey level */
} Layer;

/* All layers of a scene. */
typedef struct
{
  GstStereoSceneParams params;
  Layer layers[GST_STEREO_SCENE_LAYERS];
  guint count;
  guint order[GST_STEREO_SCENE_LAYERS]; /* in which they are painted: the farthest first */
  guint loose;                          /* the obstacle and thin things begin with this layer; no set has them */
  gint64 step;                          /* of the foreground a frame, 16.16 */
  gint start, travel;                   /* of its centre: from its leftmost place on, and how far; pixels */
  GstStereoRoad road;                   /* of `road` */
  guint kerb_top;                       /* of `road`: the set of this layer; empty without a kerb */
} Layers;

/* Pixel i of a row shows the point of a layer whose column in the left view is start + i * step. */
typedef struct
{
  gint64 start, step;
} Ray;

#define FAR_AWAY (ONE << 20)
/* Grey levels of plain thin things. */
#define DARK 40
#define BRIGHT 215

/* 1 / @value. It is rounded: if it were truncated, whole pixels would no longer map to whole pixels. */
static gint64
invert (gint64 value)
{
  guint64 by = (guint64) value, inverse = G_MAXUINT64 / by;

  return (gint64) (inverse + (G_MAXUINT64 - inverse * by + 1 >= by / 2 ? 1 : 0));
}

/*
 * Adds a plane. In thousandths of the largest disparity, its disparity is @at in the middle of the box or ellipse, else of
 * the picture. It grows by @across over a picture width to the right, and by @down over a picture height down.
 */
static Layer *
add_plane (Layers *set, Shape shape, gint at, gint across, gint down)
{
  const GstStereoSceneParams *params = &set->params;
  Layer *layer = &set->layers[set->count];
  gint64 unit = params->max_disparity * ONE / 1000;
  guint most = params->pattern == GST_STEREO_PATTERN_ROAD ? GST_STEREO_SCENE_ROAD_LAYERS : GST_STEREO_SCENE_ROOM_LAYERS;

  layer->shape = shape;
  layer->contrast = CONTRAST_ONE;
  layer->over = shape == SHAPE_NEARER ? (1u << set->count) - 1 : 0;
  layer->b = unit * across / params->width;
  layer->c = unit * down / params->height;
  layer->rest = unit * at - layer->c * (params->height / 2);
  layer->center = params->width / 2 * ONE;
  layer->inverse = invert (ONE - layer->b);
  /* Textures begin in different rows: no two layers show the same texture in one row. */
  layer->u = (gint) (gst_stereo_mix (params->seed, 1000 + set->count) & 0xFFF);
  layer->v = (gint) (set->count * (TILE_HEIGHT / most));
  set->count++;
  return layer;
}

/* Sizes and places in thousandths of the picture. */
static void
cut_out (const Layers *set, Layer *layer, gint x, gint y, gint half_width, gint half_height)
{
  const GstStereoSceneParams *params = &set->params;
  gint middle = params->height * y / 1000, half = MAX (1, params->height * half_height / 1000);

  layer->center = (params->width * x / 1000) * ONE;
  layer->half_width = MAX (2, params->width * half_width / 1000);
  layer->half = layer->half_width * ONE;
  layer->top = middle - half;
  layer->rows = 2 * half;
  layer->rest += layer->c * (params->height / 2 - middle);
}

/* Sets the tint by red and blue; green follows, so that the luma stays the same. */
static void
tint (Layer *layer, gdouble red, gdouble blue)
{
  layer->tint[0] = red;
  layer->tint[1] = -(0.299 * red + 0.114 * blue) / 0.587;
  layer->tint[2] = blue;
}

/* The corner of a room with a floor, a slanted board on the right, and a disc that moves in front of them. */
static Layer *
make_room (Layers *set)
{
  tint (add_plane (set, SHAPE_EVERYWHERE, 180, -500, 60), 0.10, -0.12);
  tint (add_plane (set, SHAPE_NEARER, 200, 300, 40), -0.10, 0.12);
  tint (add_plane (set, SHAPE_NEARER, 150, 0, 900), 0.12, 0.08);
  Layer *layer = add_plane (set, SHAPE_BOX, 580, 400, 250);
  cut_out (set, layer, 720, 280, 130, 190);
  tint (layer, -0.16, -0.10);
  layer = add_plane (set, SHAPE_ELLIPSE, 900, 300, -150);
  cut_out (set, layer, 350, 560, 140, 240);
  tint (layer, 0.22, -0.20);
  return layer;
}

/* A square in front of a wall, both parallel to the picture with whole disparities: they differ only by their shift. */
static Layer *
make_square (Layers *set)
{
  gint disparity = set->params.max_disparity;
  Layer *layer = add_plane (set, SHAPE_EVERYWHERE, 0, 0, 0);

  layer->rest = MAX (1, disparity / 4) * ONE;
  layer = add_plane (set, SHAPE_BOX, 0, 0, 0);
  cut_out (set, layer, 400, 500, 180, 240);
  layer->rest = MAX (1, disparity * 3 / 4) * ONE;
  return layer;
}

/* Pixels as fixed point: to 1/65536, which doubles of different machines agree on. */
static gint64
place_of (gdouble pixels)
{
  return (gint64) rint (pixels * 65536) * 65536;
}

static Layer *
add_surface (Layers *set, GstStereoRoadSurface surface)
{
  gboolean everywhere = surface == GST_STEREO_ROAD_BACKDROP;
  Layer *layer = add_plane (set, everywhere ? SHAPE_EVERYWHERE : SHAPE_NEARER, 0, 0, 0);
  gdouble disparity[3];

  gst_stereo_road_disparity (&set->road, surface, disparity);
  layer->rest = place_of (disparity[0]);
  layer->b = (gint64) rint (disparity[1] * (gdouble) ONE);
  layer->c = (gint64) rint (disparity[2] * (gdouble) ONE);
  layer->inverse = invert (ONE - layer->b);
  layer->center = 0;
  return layer;
}

/* A board, as the obstacle is one. */
static void
add_thin (Layers *set, gint i, guint ground)
{
  Layer *layer = add_plane (set, SHAPE_BOX, 0, 0, 0);
  GstStereoRoadThin thin;

  gst_stereo_road_get_thin (&set->road, i, &thin);
  layer->rest = place_of (thin.disparity);
  layer->center = place_of (thin.center);
  layer->half = place_of (thin.half_width);
  layer->lean = place_of (thin.lean);
  layer->top = thin.top;
  layer->rows = thin.rows;
  layer->over = ground | (thin.on_kerb ? set->kerb_top : 0);
  layer->contrast = (gint) rint (set->params.road.thin_contrast * CONTRAST_ONE);
  layer->shade = i % 2 ? BRIGHT : DARK;
  tint (layer, i % 2 ? 0.10 : 0.20, i % 2 ? 0.10 : -0.20);
}

/*
 * Ground and ramp are the tops of solids: of the two, the nearer one is seen. The kerb is a solid below its top and to the
 * right of its face. The obstacle is a board that reaches into the ground, which hides its foot.
 */
static void
make_road (Layers *set)
{
  static const gdouble tints[][2] = { { -0.08, 0.14 }, { 0, 0 }, { 0.06, -0.08 }, { 0.04, 0.04 }, { -0.05, -0.06 } };

  gst_stereo_road_init (&set->road, &set->params);
  for (guint s = GST_STEREO_ROAD_BACKDROP; s <= GST_STEREO_ROAD_RAMP; s++)
    if (gst_stereo_road_has (&set->road, s))
      tint (add_surface (set, s), tints[s][0], tints[s][1]);
  guint ground = (1u << set->count) - 1;
  if (gst_stereo_road_has (&set->road, GST_STEREO_ROAD_KERB_TOP)) {
    Layer *top = add_surface (set, GST_STEREO_ROAD_KERB_TOP);
    Layer *face = add_surface (set, GST_STEREO_ROAD_KERB_FACE);
    tint (top, tints[GST_STEREO_ROAD_KERB_TOP][0], tints[GST_STEREO_ROAD_KERB_TOP][1]);
    tint (face, tints[GST_STEREO_ROAD_KERB_FACE][0], tints[GST_STEREO_ROAD_KERB_FACE][1]);
    top->over = face->over = ground;
    set->kerb_top = ground + 1;
    face->under = set->kerb_top;
    top->under = set->kerb_top << 1;
  }
  set->loose = set->count;
  if (set->params.road.obstacle_height > 0) {
    Layer *obstacle = add_plane (set, SHAPE_BOX, 0, 0, 0);
    tint (obstacle, 0.25, -0.20);
    GstStereoRoadObstacle first;
    gst_stereo_road_get_obstacle (&set->road, set->params.max_disparity, 0, &first);
    obstacle->top = first.top;
    obstacle->over = ground;
    obstacle->stands = TRUE;
  }
  for (gint i = 0; i < set->params.road.thin_count; i++)
    add_thin (set, i, ground);
}

static void
place_obstacle (Layers *set, Layer *layer, guint64 frame)
{
  GstStereoRoadObstacle obstacle;

  gst_stereo_road_get_obstacle (&set->road, set->params.max_disparity, frame, &obstacle);
  layer->rest = place_of (obstacle.disparity);
  layer->center = place_of (obstacle.center);
  layer->half = place_of (obstacle.half_width);
  /* The board ends far below the ground, which hides its lower part. */
  layer->rows = GST_STEREO_ROAD_DEEP;
  /* the texture moves with the board */
  layer->v += layer->top - obstacle.top;
  layer->top = obstacle.top;
  layer->over = (layer->over & ~set->kerb_top) | (obstacle.on_kerb ? set->kerb_top : 0);
}

static void
layers_init (Layers *set, const GstStereoSceneParams *params)
{
  gboolean room = params->pattern == GST_STEREO_PATTERN_PLANES || params->pattern == GST_STEREO_PATTERN_FLAT;

  memset (set, 0, sizeof *set);
  set->params = *params;
  if (params->pattern == GST_STEREO_PATTERN_ROAD) {
    make_road (set);
    return;
  }
  Layer *front = room ? make_room (set) : make_square (set);
  set->loose = set->count;
  for (guint i = 0; params->pattern == GST_STEREO_PATTERN_FLAT && i < set->count; i++)
    tint (&set->layers[i], 0, 0);
  front->moves = TRUE;
  set->step = (gint64) rint (set->params.motion * 65536);
  set->travel = MAX (0, set->params.width - 2 * front->half_width);
  set->start = CLAMP ((gint) (front->center / ONE) - front->half_width, 0, set->travel);
}

/* The column of the foreground's centre in a frame. The foreground moves to and fro. */
static gint64
moved_center (const Layers *set, guint64 frame, gint half_width)
{
  gint64 travel = (gint64) set->travel << 16, period = 2 * travel, step, at;

  if (!period)
    return half_width * ONE;
  step = set->step % period;
  step += step < 0 ? period : 0;
  /* both factors are below 2^31 */
  at = (gint64) (frame % (guint64) period) * step % period;
  at = (at + ((gint64) set->start << 16)) % period;
  at = at > travel ? period - at : at;
  return (at << 16) + half_width * ONE;
}

/* The obstacle comes nearer, and passes thin things. Of surfaces that intersect, `over` and `under` know the nearer one. */
static void
order_layers (Layers *set)
{
  for (guint i = 0; i < set->count; i++) {
    guint place = i;
    for (; place > set->loose && set->layers[set->order[place - 1]].rest > set->layers[i].rest; place--)
      set->order[place] = set->order[place - 1];
    set->order[place] = i;
  }
}

static void
layers_set_frame (Layers *set, guint64 frame)
{
  for (guint i = 0; i < set->count; i++) {
    Layer *layer = &set->layers[i];
    if (layer->stands)
      place_obstacle (set, layer, frame);
    if (layer->moves)
      layer->center = moved_center (set, frame, layer->half_width);
    /* b is below 1 and the centre below 2^14 pixels: drop low bits first, so that the product fits 64 bits */
    layer->a = layer->rest - (layer->b >> 8) * (layer->center >> 16) / 256;
  }
  order_layers (set);
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

/* Reduces [from, to) to the pixels of row @y in which @layer is nearer than @other. */
static void
cut_nearer (const Layer *layer, const Layer *other, gint y, gint64 *from, gint64 *to)
{
  gint64 more = layer->a - other->a + (layer->c - other->c) * y, slope = layer->b - other->b, crossing;

  if (slope == 0) {
    if (more <= 0)
      *to = *from;
    return;
  }
  crossing = CLAMP (-(more * 65536) / slope, -(FAR_AWAY >> 16), FAR_AWAY >> 16) * 65536;
  if (slope > 0)
    *from = MAX (*from, crossing);
  else
    *to = MIN (*to, crossing);
}

/* The pixels [from, to) of row @y of the left view that the shape of a layer covers. */
static void
outline (const Layer *layer, gint y, gint64 *from, gint64 *to)
{
  gint64 high = layer->rows, below = 2 * (y - layer->top) + 1 - high, half = layer->half, center = layer->center;

  *from = -FAR_AWAY;
  *to = FAR_AWAY;
  if (layer->shape != SHAPE_BOX && layer->shape != SHAPE_ELLIPSE)
    return;
  if (ABS (below) >= high)
    half = 0;
  else if (layer->shape == SHAPE_ELLIPSE)
    half = (layer->half_width * square_root ((guint64) (high * high - below * below) << 32) / high) << 16;
  center += layer->lean * (y - layer->top);
  *from = center - half;
  *to = center + half;
}

/* The part of the layer that is seen there, before other layers are painted over it. */
static void
extent (const Layers *set, const Layer *layer, gint y, gint64 *from, gint64 *to)
{
  outline (layer, y, from, to);
  for (guint i = 0; i < set->loose; i++) {
    if (layer->over >> i & 1)
      cut_nearer (layer, &set->layers[i], y, from, to);
    if (layer->under >> i & 1)
      cut_nearer (&set->layers[i], layer, y, from, to);
  }
}

static Ray
ray_of (const Layer *layer, gboolean right, gint y)
{
  gint64 shift = (layer->a + layer->c * y + (1 << 15)) >> 16;

  return right ? (Ray){ shift * layer->inverse >> 16, layer->inverse } : (Ray){ 0, ONE };
}

/* The first pixel at or behind @place. */
static gint
first_pixel (const Ray *ray, gint64 place, gint width)
{
  gint64 way = place - ray->start;

  return way <= 0 ? 0 : (gint) MIN (width, (way + ray->step - 1) / ray->step);
}

static void
layers_row (const Layers *set, gboolean right, gint y, guint8 *layers)
{
  gint width = set->params.width;
  gint64 from, to;

  for (guint k = 0; k < set->count; k++) {
    guint i = set->order[k];
    Ray ray = ray_of (&set->layers[i], right, y);
    extent (set, &set->layers[i], y, &from, &to);
    gint first = first_pixel (&ray, from, width), end = first_pixel (&ray, to, width);
    if (end > first)
      memset (layers + first, (gint) i, (gsize) (end - first));
  }
}

/* ---- scenes -------------------------------------------------------------------------------- */

#define TRUTH_STEPS 64

struct _GstStereoScene
{
  Layers set;
  Tile *tile; /* of all layers */
};

/* The end of the run of one layer that begins at @x. */
static gint
run_end (const guint8 *layers, gint x, gint width)
{
  guint8 layer = layers[x];

  while (++x < width && layers[x] == layer)
    ;
  return x;
}

/* ---- pictures ------------------------------------------------------------------------------ */

static void
texture_run (const GstStereoScene *scene, const Layer *layer, gboolean right, gint y, gint from, gint to, guint8 *level)
{
  const Tile *tile = scene->tile;
  const guint8 *row = tile->data + (gsize) ((guint) (y + layer->v) % TILE_HEIGHT) * tile->pitch;
  guint64 mask = (guint64) tile->width - 1;
  Ray ray = ray_of (layer, right, y);
  /* unsigned: places left of the tile wrap around */
  guint64 place = (guint64) (ray.start + from * ray.step - layer->center + layer->u * ONE + ONE / TILE_PHASES / 2);

  for (gint x = from; x < to; x++, place += (guint64) ray.step) {
    const guint8 *at = row + (place >> 32 & mask);
    const gint16 *weight = tile->weights[place >> 24 & (TILE_PHASES - 1)];
    level[x] = (guint8) ((at[0] * weight[0] + at[1] * weight[1] + at[2] * weight[2] + at[3] * weight[3] +
                             (1 << (TILE_WEIGHT_BITS - 1))) >>
        TILE_WEIGHT_BITS);
  }
  for (gint x = from; layer->contrast < CONTRAST_ONE && x < to; x++)
    level[x] = (guint8) ((level[x] * layer->contrast + layer->shade * (CONTRAST_ONE - layer->contrast) +
                             CONTRAST_ONE / 2) /
        CONTRAST_ONE);
}

void
gst_stereo_scene_row (const GstStereoScene *scene, gboolean right, gint y, guint8 *level, guint8 *layer)
{
  layers_row (&scene->set, right, y, layer);
  for (gint x = 0, end; x < scene->set.params.width; x = end) {
    end = run_end (layer, x, scene->set.params.width);
    texture_run (scene, &scene->set.layers[layer[x]], right, y, x, end, level);
  }
}

void
gst_stereo_scene_truth (const GstStereoScene *scene, gint y, guint16 *truth)
{
  guint8 layers[GST_STEREO_SCENE_MAX_SIDE];

  layers_row (&scene->set, FALSE, y, layers);
  for (gint x = 0; x < scene->set.params.width; x++) {
    const Layer *layer = &scene->set.layers[layers[x]];
    gint64 disparity = layer->a + layer->b * x + layer->c * y;
    truth[x] = (guint16) CLAMP ((disparity * TRUTH_STEPS + ONE / 2) >> 32, 1, G_MAXUINT16);
  }
}

void
gst_stereo_scene_color (const GstStereoScene *scene, guint layer, guint level, gdouble rgb[3])
{
  const gdouble *more = scene->set.layers[MIN (layer, scene->set.count - 1)].tint;
  gdouble most = MAX (more[0], MAX (more[1], more[2])) * level, room = 255 - (gdouble) level;
  /* a colour that would saturate gets paler, so that its luma stays the same */
  gdouble strength = most > room ? room / most : 1;

  for (guint c = 0; c < 3; c++)
    rgb[c] = level * (1 + more[c] * strength);
}

void
gst_stereo_scene_set_frame (GstStereoScene *scene, guint64 frame)
{
  layers_set_frame (&scene->set, frame);
}

/* ---- scenes -------------------------------------------------------------------------------- */

gint
gst_stereo_scene_own_disparity (gint width)
{
  return CLAMP (width / 10, 1, 120);
}

/* What max-disparity=0 stands for. */
static gint
own_disparity (const GstStereoSceneParams *params)
{
  gint own = gst_stereo_scene_own_disparity (params->width);
  GstStereoRoad road;

  if (params->pattern != GST_STEREO_PATTERN_ROAD)
    return own;
  gst_stereo_road_init (&road, params);
  return MAX (own, (gint) ceil (gst_stereo_road_most (&road)));
}

static gchar *
refuse_size (const GstStereoSceneParams *params)
{
  if (params->width < GST_STEREO_SCENE_MIN_WIDTH || params->height < 1)
    return g_strdup_printf ("Views of %dx%d pixels are too small for a scene: each must be at least %d pixels wide. "
                            "Ask for larger frames.",
        params->width, params->height, GST_STEREO_SCENE_MIN_WIDTH);
  if (params->width > GST_STEREO_SCENE_MAX_SIDE || params->height > GST_STEREO_SCENE_MAX_SIDE)
    return g_strdup_printf ("Views of %dx%d pixels are too large: at most %d pixels a side. Ask for smaller frames.",
        params->width, params->height, GST_STEREO_SCENE_MAX_SIDE);
  return NULL;
}

static gchar *
refuse_road (const GstStereoSceneParams *params, gint limit)
{
  GstStereoRoad road;

  gst_stereo_road_init (&road, params);
  gchar *message = gst_stereo_road_refuse (&road);
  if (message)
    return message;
  return gst_stereo_road_refuse_disparity (
      &road, params->max_disparity ? params->max_disparity : MIN (limit, own_disparity (params)), limit);
}

static gchar *
refusal (const GstStereoSceneParams *params)
{
  gint limit = MIN (params->width / 2, GST_STEREO_SCENE_MAX_DISPARITY);
  gchar *message = refuse_size (params);

  if (message)
    return message;
  if (params->max_disparity < 0 || params->max_disparity > limit)
    return g_strdup_printf ("max-disparity=%d does not fit views of %d pixels: set at most half "
                            "their width, %d, or 0 for %d.",
        params->max_disparity, params->width, limit, MIN (limit, own_disparity (params)));
  return params->pattern == GST_STEREO_PATTERN_ROAD ? refuse_road (params, limit) : NULL;
}

GstStereoScene *
gst_stereo_scene_new (const GstStereoSceneParams *params, gchar **message)
{
  GstStereoSceneParams resolved = *params;

  if ((*message = refusal (params)))
    return NULL;
  GstStereoScene *scene = g_new0 (GstStereoScene, 1);
  if (!resolved.max_disparity)
    resolved.max_disparity = own_disparity (params);
  scene->tile = tile_new (params->pattern, params->seed, params->width + resolved.max_disparity);
  layers_init (&scene->set, &resolved);
  gst_stereo_scene_set_frame (scene, 0);
  return scene;
}

void
gst_stereo_scene_free (GstStereoScene *scene)
{
  if (!scene)
    return;
  tile_free (scene->tile);
  g_free (scene);
}

const GstStereoSceneParams *
gst_stereo_scene_params (const GstStereoScene *scene)
{
  return &scene->set.params;
}
