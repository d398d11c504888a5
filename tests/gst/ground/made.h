/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Made disparity pictures: a ground, upright boxes and walls on it, and the errors that a matcher makes. Written from the
 * geometry alone, point by point; nothing of the element is used.
 */
#ifndef GROUND_MADE_H
#define GROUND_MADE_H

#include "gst/ground/analysis.h"
#include "gst/meta/found.h"
#include "gst/meta/gststereometa.h"
#include "tests/support/random.h"

/* The front of something upright: its lower edge is @lift above the ground. mm */
typedef struct
{
  gdouble distance, lateral, width, height, lift;
} MadeBox;

#define MADE_BOXES 8

typedef struct
{
  gint width, height;        /* px */
  gdouble focal, baseline;   /* px, mm */
  gdouble stretch;           /* of the focal length, for the vertical one; 0 = 1 */
  gdouble camera_height;     /* mm; 0 = there is no ground */
  gdouble pitch, roll;       /* degrees */
  MadeBox boxes[MADE_BOXES]; /* those with a width */
  gdouble corridor;          /* mm to a wall on either side; 0 = none */
  gdouble background;        /* px, where there is nothing else; 0 = no value */
} MadeScene;

/* What a matcher makes of it. */
typedef struct
{
  gdouble noise;    /* standard deviation, px */
  gdouble outliers; /* share of the pixels that have any disparity of 0..128 */
  gdouble holes;    /* share of them that have none */
  gint patches;     /* of 5..15 px that are off by 1..2 px */
} MadeErrors;

typedef struct
{
  GstStereoMeta meta;
  gfloat *truth;    /* px; 0 = none */
  guint16 *samples; /* in 64ths of a pixel */
  guint8 *confidence;
  GstStereoDepthView view;
} MadePicture;

/* The road of a car: KITTI's camera. */
MadeScene made_road (void);
MadePicture *made_picture_new (const MadeScene *scene);
void made_picture_free (MadePicture *picture);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (MadePicture, made_picture_free)
/* Draws the errors anew. */
void made_picture_spoil (MadePicture *picture, const MadeErrors *errors, Random *random);
/* No value in a part of the picture. */
void made_picture_blank (MadePicture *picture, gint x, gint y, gint width, gint height);
/* Where a box is seen, in pixels: left, top, right, bottom. */
void made_box_seen (const MadeScene *scene, const MadeBox *box, gdouble seen[4]);

/* What the element asks for by default. */
GstStereoGroundTask made_task (void);

#endif
