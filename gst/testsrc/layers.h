/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The geometry of a scene: slanted planes in layers, and which of them a pixel of a view shows. */
#ifndef GST_STEREO_LAYERS_H
#define GST_STEREO_LAYERS_H

#include "gst/testsrc/scene.h"

G_BEGIN_DECLS

#define GST_STEREO_ONE (G_GINT64_CONSTANT (1) << 32) /* lengths are 32.32 fixed point */

typedef enum
{
  GST_STEREO_SHAPE_EVERYWHERE,
  GST_STEREO_SHAPE_NEARER, /* where it is nearer than the layers before it: they intersect and do not occlude */
  GST_STEREO_SHAPE_BOX,
  GST_STEREO_SHAPE_ELLIPSE
} GstStereoShape;

/* A plane of disparity a + b x + c y at left pixel (x, y), painted over the layers before it. */
typedef struct
{
  GstStereoShape shape;
  gint64 a, b, c;
  gint64 inverse;                       /* 1 / (1 - b): left pixels per right one */
  gint64 center;                        /* of box and ellipse; texture and slant move with it */
  gint middle, half_width, half_height; /* of box and ellipse, pixels */
  gint u, v;                            /* where its texture begins in the tile */
  gint64 rest;                          /* a with the centre at 0 */
  gboolean moves;
  gdouble tint[3]; /* what a level of 1 adds to red, green, blue */
} GstStereoLayer;

/* All layers of a scene, the farthest first. */
typedef struct
{
  GstStereoSceneParams params;
  GstStereoLayer layers[GST_STEREO_SCENE_LAYERS];
  guint count;
  gint64 step;        /* of the foreground a frame, 16.16 */
  gint start, travel; /* of its centre from its leftmost place, pixels */
} GstStereoLayers;

/* Pixel i of a row shows left place start + i step of a layer. */
typedef struct
{
  gint64 start, step;
} GstStereoRay;

/* @params: valid, with max_disparity resolved. */
void gst_stereo_layers_init (GstStereoLayers *set, const GstStereoSceneParams *params);
/* Moves the foreground to where it is in that frame. */
void gst_stereo_layers_set_frame (GstStereoLayers *set, guint64 frame);
/* Which layer each pixel of row @y of a view shows. */
void gst_stereo_layers_row (const GstStereoLayers *set, gboolean right, gint y, guint8 *layers);
GstStereoRay gst_stereo_layer_ray (const GstStereoLayer *layer, gboolean right, gint y);

G_END_DECLS

#endif
