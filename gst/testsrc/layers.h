/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The geometry of a scene: slanted planes in layers, and which of them a pixel of a view shows. */
#ifndef GST_STEREO_LAYERS_H
#define GST_STEREO_LAYERS_H

#include "gst/testsrc/road.h"

G_BEGIN_DECLS

#define GST_STEREO_ONE (G_GINT64_CONSTANT (1) << 32) /* lengths are 32.32 fixed point */
#define GST_STEREO_CONTRAST_ONE 256

typedef enum
{
  GST_STEREO_SHAPE_EVERYWHERE,
  GST_STEREO_SHAPE_NEARER, /* everywhere that `over` and `under` leave */
  GST_STEREO_SHAPE_BOX,
  GST_STEREO_SHAPE_ELLIPSE
} GstStereoShape;

/*
 * A plane with the disparity a + b x + c y at pixel (x, y) of the left view. It is painted over the layers before it. Of two
 * planes that intersect, each is painted on one side of their intersection: the nearer one (`over`), or, where they make a
 * convex edge, as the top and the face of a step do, the farther one (`under`).
 */
typedef struct
{
  GstStereoShape shape;
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
} GstStereoLayer;

/* All layers of a scene. */
typedef struct
{
  GstStereoSceneParams params;
  GstStereoLayer layers[GST_STEREO_SCENE_LAYERS];
  guint count;
  guint order[GST_STEREO_SCENE_LAYERS]; /* in which they are painted: the farthest first */
  guint loose;                          /* the obstacle and thin things begin with this layer; no set has them */
  gint64 step;                          /* of the foreground a frame, 16.16 */
  gint start, travel;                   /* of its centre: from its leftmost place on, and how far; pixels */
  GstStereoRoad road;                   /* of `road` */
  guint kerb_top;                       /* of `road`: the set of this layer; empty without a kerb */
} GstStereoLayers;

/* Pixel i of a row shows the point of a layer whose column in the left view is start + i * step. */
typedef struct
{
  gint64 start, step;
} GstStereoRay;

/* @params: valid, with max_disparity resolved. */
void gst_stereo_layers_init (GstStereoLayers *set, const GstStereoSceneParams *params);
/* Moves the foreground, or the obstacle, to where it is in that frame. */
void gst_stereo_layers_set_frame (GstStereoLayers *set, guint64 frame);
/* Which layer each pixel of row @y of a view shows. */
void gst_stereo_layers_row (const GstStereoLayers *set, gboolean right, gint y, guint8 *layers);
GstStereoRay gst_stereo_layer_ray (const GstStereoLayer *layer, gboolean right, gint y);

G_END_DECLS

#endif
