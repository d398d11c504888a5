/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/testsrc/scene.h"

#include "gst/testsrc/layers.h"
#include "gst/testsrc/noise.h"
#include "gst/testsrc/tile.h"

#include <math.h>
#include <string.h>

#define TRUTH_STEPS 64

struct _GstStereoScene
{
  GstStereoLayers set;
  guint64 frame;
  GstStereoNoise noise;
  GstStereoTile *tile; /* of all layers */
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
texture_run (
    const GstStereoScene *scene, const GstStereoLayer *layer, gboolean right, gint y, gint from, gint to, guint8 *level)
{
  const GstStereoTile *tile = scene->tile;
  const guint8 *row = tile->data + (gsize) ((guint) (y + layer->v) % GST_STEREO_TILE_HEIGHT) * tile->pitch;
  guint64 mask = (guint64) tile->width - 1;
  GstStereoRay ray = gst_stereo_layer_ray (layer, right, y);
  /* unsigned: places left of the tile wrap around */
  guint64 place = (guint64) (ray.start + from * ray.step - layer->center + layer->u * GST_STEREO_ONE +
      GST_STEREO_ONE / GST_STEREO_TILE_PHASES / 2);

  for (gint x = from; x < to; x++, place += (guint64) ray.step) {
    const guint8 *at = row + (place >> 32 & mask);
    const gint16 *weight = tile->weights[place >> 24 & (GST_STEREO_TILE_PHASES - 1)];
    level[x] = (guint8) ((at[0] * weight[0] + at[1] * weight[1] + at[2] * weight[2] + at[3] * weight[3] +
                             (1 << (GST_STEREO_TILE_WEIGHT_BITS - 1))) >>
        GST_STEREO_TILE_WEIGHT_BITS);
  }
  for (gint x = from; layer->contrast < GST_STEREO_CONTRAST_ONE && x < to; x++)
    level[x] = (guint8) ((level[x] * layer->contrast + layer->shade * (GST_STEREO_CONTRAST_ONE - layer->contrast) +
                             GST_STEREO_CONTRAST_ONE / 2) /
        GST_STEREO_CONTRAST_ONE);
}

void
gst_stereo_scene_clean_row (const GstStereoScene *scene, gboolean right, gint y, guint8 *level, guint8 *layer)
{
  gst_stereo_layers_row (&scene->set, right, y, layer);
  for (gint x = 0, end; x < scene->set.params.width; x = end) {
    end = run_end (layer, x, scene->set.params.width);
    texture_run (scene, &scene->set.layers[layer[x]], right, y, x, end, level);
  }
}

void
gst_stereo_scene_row (const GstStereoScene *scene, gboolean right, gint y, guint8 *level, guint8 *layer)
{
  const GstStereoSceneParams *params = &scene->set.params;

  gst_stereo_scene_clean_row (scene, right, y, level, layer);
  if (scene->noise.active)
    gst_stereo_noise_add (&scene->noise, params->seed, scene->frame, right, y, params->width, level);
}

void
gst_stereo_scene_truth (const GstStereoScene *scene, gint y, guint16 *truth)
{
  guint8 layers[GST_STEREO_SCENE_MAX_SIDE];

  gst_stereo_layers_row (&scene->set, FALSE, y, layers);
  for (gint x = 0; x < scene->set.params.width; x++) {
    const GstStereoLayer *layer = &scene->set.layers[layers[x]];
    gint64 disparity = layer->a + layer->b * x + layer->c * y;
    truth[x] = (guint16) CLAMP ((disparity * TRUTH_STEPS + GST_STEREO_ONE / 2) >> 32, 1, G_MAXUINT16);
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
  scene->frame = frame;
  gst_stereo_layers_set_frame (&scene->set, frame);
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
  gst_stereo_noise_init (&scene->noise, params->noise);
  scene->tile = gst_stereo_tile_new (params->pattern, params->seed, params->width + resolved.max_disparity);
  gst_stereo_layers_init (&scene->set, &resolved);
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
  return &scene->set.params;
}
