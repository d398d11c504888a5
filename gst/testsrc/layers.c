/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/testsrc/layers.h"

#include "gst/testsrc/tile.h"

#include <math.h>
#include <string.h>

#define FAR_AWAY (GST_STEREO_ONE << 20)
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
static GstStereoLayer *
add_plane (GstStereoLayers *set, GstStereoShape shape, gint at, gint across, gint down)
{
  const GstStereoSceneParams *params = &set->params;
  GstStereoLayer *layer = &set->layers[set->count];
  gint64 unit = params->max_disparity * GST_STEREO_ONE / 1000;
  guint most = params->pattern == GST_STEREO_PATTERN_ROAD ? GST_STEREO_SCENE_ROAD_LAYERS : GST_STEREO_SCENE_ROOM_LAYERS;

  layer->shape = shape;
  layer->contrast = GST_STEREO_CONTRAST_ONE;
  layer->over = shape == GST_STEREO_SHAPE_NEARER ? (1u << set->count) - 1 : 0;
  layer->b = unit * across / params->width;
  layer->c = unit * down / params->height;
  layer->rest = unit * at - layer->c * (params->height / 2);
  layer->center = params->width / 2 * GST_STEREO_ONE;
  layer->inverse = invert (GST_STEREO_ONE - layer->b);
  /* Textures begin in different rows: no two layers show the same texture in one row. */
  layer->u = (gint) (gst_stereo_mix (params->seed, 1000 + set->count) & 0xFFF);
  layer->v = (gint) (set->count * (GST_STEREO_TILE_HEIGHT / most));
  set->count++;
  return layer;
}

/* Sizes and places in thousandths of the picture. */
static void
cut_out (const GstStereoLayers *set, GstStereoLayer *layer, gint x, gint y, gint half_width, gint half_height)
{
  const GstStereoSceneParams *params = &set->params;
  gint middle = params->height * y / 1000, half = MAX (1, params->height * half_height / 1000);

  layer->center = (params->width * x / 1000) * GST_STEREO_ONE;
  layer->half_width = MAX (2, params->width * half_width / 1000);
  layer->half = layer->half_width * GST_STEREO_ONE;
  layer->top = middle - half;
  layer->rows = 2 * half;
  layer->rest += layer->c * (params->height / 2 - middle);
}

/* Sets the tint by red and blue; green follows, so that the luma stays the same. */
static void
tint (GstStereoLayer *layer, gdouble red, gdouble blue)
{
  layer->tint[0] = red;
  layer->tint[1] = -(0.299 * red + 0.114 * blue) / 0.587;
  layer->tint[2] = blue;
}

/* The corner of a room with a floor, a slanted board on the right, and a disc that moves in front of them. */
static GstStereoLayer *
make_room (GstStereoLayers *set)
{
  tint (add_plane (set, GST_STEREO_SHAPE_EVERYWHERE, 180, -500, 60), 0.10, -0.12);
  tint (add_plane (set, GST_STEREO_SHAPE_NEARER, 200, 300, 40), -0.10, 0.12);
  tint (add_plane (set, GST_STEREO_SHAPE_NEARER, 150, 0, 900), 0.12, 0.08);
  GstStereoLayer *layer = add_plane (set, GST_STEREO_SHAPE_BOX, 580, 400, 250);
  cut_out (set, layer, 720, 280, 130, 190);
  tint (layer, -0.16, -0.10);
  layer = add_plane (set, GST_STEREO_SHAPE_ELLIPSE, 900, 300, -150);
  cut_out (set, layer, 350, 560, 140, 240);
  tint (layer, 0.22, -0.20);
  return layer;
}

/* A square in front of a wall, both parallel to the picture with whole disparities: they differ only by their shift. */
static GstStereoLayer *
make_square (GstStereoLayers *set)
{
  gint disparity = set->params.max_disparity;
  GstStereoLayer *layer = add_plane (set, GST_STEREO_SHAPE_EVERYWHERE, 0, 0, 0);

  layer->rest = MAX (1, disparity / 4) * GST_STEREO_ONE;
  layer = add_plane (set, GST_STEREO_SHAPE_BOX, 0, 0, 0);
  cut_out (set, layer, 400, 500, 180, 240);
  layer->rest = MAX (1, disparity * 3 / 4) * GST_STEREO_ONE;
  return layer;
}

/* Pixels as fixed point: to 1/65536, which doubles of different machines agree on. */
static gint64
place_of (gdouble pixels)
{
  return (gint64) rint (pixels * 65536) * 65536;
}

static GstStereoLayer *
add_surface (GstStereoLayers *set, GstStereoRoadSurface surface)
{
  gboolean everywhere = surface == GST_STEREO_ROAD_BACKDROP;
  GstStereoLayer *layer = add_plane (set, everywhere ? GST_STEREO_SHAPE_EVERYWHERE : GST_STEREO_SHAPE_NEARER, 0, 0, 0);
  gdouble disparity[3];

  gst_stereo_road_disparity (&set->road, surface, disparity);
  layer->rest = place_of (disparity[0]);
  layer->b = (gint64) rint (disparity[1] * (gdouble) GST_STEREO_ONE);
  layer->c = (gint64) rint (disparity[2] * (gdouble) GST_STEREO_ONE);
  layer->inverse = invert (GST_STEREO_ONE - layer->b);
  layer->center = 0;
  return layer;
}

/* A board, as the obstacle is one. */
static void
add_thin (GstStereoLayers *set, gint i, guint ground)
{
  GstStereoLayer *layer = add_plane (set, GST_STEREO_SHAPE_BOX, 0, 0, 0);
  GstStereoRoadThin thin;

  gst_stereo_road_get_thin (&set->road, i, &thin);
  layer->rest = place_of (thin.disparity);
  layer->center = place_of (thin.center);
  layer->half = place_of (thin.half_width);
  layer->lean = place_of (thin.lean);
  layer->top = thin.top;
  layer->rows = thin.rows;
  layer->over = ground | (thin.on_kerb ? set->kerb_top : 0);
  layer->contrast = (gint) rint (set->params.road.thin_contrast * GST_STEREO_CONTRAST_ONE);
  layer->shade = i % 2 ? BRIGHT : DARK;
  tint (layer, i % 2 ? 0.10 : 0.20, i % 2 ? 0.10 : -0.20);
}

/*
 * Ground and ramp are the tops of solids: of the two, the nearer one is seen. The kerb is a solid below its top and to the
 * right of its face. The obstacle is a board that reaches into the ground, which hides its foot.
 */
static void
make_road (GstStereoLayers *set)
{
  static const gdouble tints[][2] = { { -0.08, 0.14 }, { 0, 0 }, { 0.06, -0.08 }, { 0.04, 0.04 }, { -0.05, -0.06 } };

  gst_stereo_road_init (&set->road, &set->params);
  for (guint s = GST_STEREO_ROAD_BACKDROP; s <= GST_STEREO_ROAD_RAMP; s++)
    if (gst_stereo_road_has (&set->road, s))
      tint (add_surface (set, s), tints[s][0], tints[s][1]);
  guint ground = (1u << set->count) - 1;
  if (gst_stereo_road_has (&set->road, GST_STEREO_ROAD_KERB_TOP)) {
    GstStereoLayer *top = add_surface (set, GST_STEREO_ROAD_KERB_TOP);
    GstStereoLayer *face = add_surface (set, GST_STEREO_ROAD_KERB_FACE);
    tint (top, tints[GST_STEREO_ROAD_KERB_TOP][0], tints[GST_STEREO_ROAD_KERB_TOP][1]);
    tint (face, tints[GST_STEREO_ROAD_KERB_FACE][0], tints[GST_STEREO_ROAD_KERB_FACE][1]);
    top->over = face->over = ground;
    set->kerb_top = ground + 1;
    face->under = set->kerb_top;
    top->under = set->kerb_top << 1;
  }
  set->loose = set->count;
  if (set->params.road.obstacle_height > 0) {
    GstStereoLayer *obstacle = add_plane (set, GST_STEREO_SHAPE_BOX, 0, 0, 0);
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
place_obstacle (GstStereoLayers *set, GstStereoLayer *layer, guint64 frame)
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

void
gst_stereo_layers_init (GstStereoLayers *set, const GstStereoSceneParams *params)
{
  gboolean room = params->pattern == GST_STEREO_PATTERN_PLANES || params->pattern == GST_STEREO_PATTERN_FLAT;

  memset (set, 0, sizeof *set);
  set->params = *params;
  if (params->pattern == GST_STEREO_PATTERN_ROAD) {
    make_road (set);
    return;
  }
  GstStereoLayer *front = room ? make_room (set) : make_square (set);
  set->loose = set->count;
  for (guint i = 0; params->pattern == GST_STEREO_PATTERN_FLAT && i < set->count; i++)
    tint (&set->layers[i], 0, 0);
  front->moves = TRUE;
  set->step = (gint64) rint (set->params.motion * 65536);
  set->travel = MAX (0, set->params.width - 2 * front->half_width);
  set->start = CLAMP ((gint) (front->center / GST_STEREO_ONE) - front->half_width, 0, set->travel);
}

/* The column of the foreground's centre in a frame. The foreground moves to and fro. */
static gint64
moved_center (const GstStereoLayers *set, guint64 frame, gint half_width)
{
  gint64 travel = (gint64) set->travel << 16, period = 2 * travel, step, at;

  if (!period)
    return half_width * GST_STEREO_ONE;
  step = set->step % period;
  step += step < 0 ? period : 0;
  /* both factors are below 2^31 */
  at = (gint64) (frame % (guint64) period) * step % period;
  at = (at + ((gint64) set->start << 16)) % period;
  at = at > travel ? period - at : at;
  return (at << 16) + half_width * GST_STEREO_ONE;
}

/* The obstacle comes nearer, and passes thin things. Of surfaces that intersect, `over` and `under` know the nearer one. */
static void
order_layers (GstStereoLayers *set)
{
  for (guint i = 0; i < set->count; i++) {
    guint place = i;
    for (; place > set->loose && set->layers[set->order[place - 1]].rest > set->layers[i].rest; place--)
      set->order[place] = set->order[place - 1];
    set->order[place] = i;
  }
}

void
gst_stereo_layers_set_frame (GstStereoLayers *set, guint64 frame)
{
  for (guint i = 0; i < set->count; i++) {
    GstStereoLayer *layer = &set->layers[i];
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
cut_nearer (const GstStereoLayer *layer, const GstStereoLayer *other, gint y, gint64 *from, gint64 *to)
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
outline (const GstStereoLayer *layer, gint y, gint64 *from, gint64 *to)
{
  gint64 high = layer->rows, below = 2 * (y - layer->top) + 1 - high, half = layer->half, center = layer->center;

  *from = -FAR_AWAY;
  *to = FAR_AWAY;
  if (layer->shape != GST_STEREO_SHAPE_BOX && layer->shape != GST_STEREO_SHAPE_ELLIPSE)
    return;
  if (ABS (below) >= high)
    half = 0;
  else if (layer->shape == GST_STEREO_SHAPE_ELLIPSE)
    half = (layer->half_width * square_root ((guint64) (high * high - below * below) << 32) / high) << 16;
  center += layer->lean * (y - layer->top);
  *from = center - half;
  *to = center + half;
}

/* The part of the layer that is seen there, before other layers are painted over it. */
static void
extent (const GstStereoLayers *set, const GstStereoLayer *layer, gint y, gint64 *from, gint64 *to)
{
  outline (layer, y, from, to);
  for (guint i = 0; i < set->loose; i++) {
    if (layer->over >> i & 1)
      cut_nearer (layer, &set->layers[i], y, from, to);
    if (layer->under >> i & 1)
      cut_nearer (&set->layers[i], layer, y, from, to);
  }
}

GstStereoRay
gst_stereo_layer_ray (const GstStereoLayer *layer, gboolean right, gint y)
{
  gint64 shift = (layer->a + layer->c * y + (1 << 15)) >> 16;

  return right ? (GstStereoRay){ shift * layer->inverse >> 16, layer->inverse } : (GstStereoRay){ 0, GST_STEREO_ONE };
}

/* The first pixel at or behind @place. */
static gint
first_pixel (const GstStereoRay *ray, gint64 place, gint width)
{
  gint64 way = place - ray->start;

  return way <= 0 ? 0 : (gint) MIN (width, (way + ray->step - 1) / ray->step);
}

void
gst_stereo_layers_row (const GstStereoLayers *set, gboolean right, gint y, guint8 *layers)
{
  gint width = set->params.width;
  gint64 from, to;

  for (guint k = 0; k < set->count; k++) {
    guint i = set->order[k];
    GstStereoRay ray = gst_stereo_layer_ray (&set->layers[i], right, y);
    extent (set, &set->layers[i], y, &from, &to);
    gint first = first_pixel (&ray, from, width), end = first_pixel (&ray, to, width);
    if (end > first)
      memset (layers + first, (gint) i, (gsize) (end - first));
  }
}
