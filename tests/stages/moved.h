/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A surface before a pinhole camera that turns and moves, by formulas: where each pixel was in the frame before. */
#ifndef MOVED_H
#define MOVED_H

/* Motion of the cameras, from now to the frame before: angles in radians, ways in baselines. */
typedef struct Motion
{
  double yaw, pitch, roll, right, down, forward;
} Motion;

/* The same, ready for points: a rotation, then a translation. */
typedef struct Rigid
{
  double rotation[3][3], way[3];
} Rigid;

typedef struct Scene
{
  int width, height, texture, texture_before;
  double focal; /* px */
  Motion motion;
  Rigid rigid;
} Scene;

/* A place from the picture's middle, and a disparity, px. */
typedef struct Seen
{
  double u, v, d;
} Seen;

Rigid moved_rigid (const Motion *m);
/* From a column or row to the picture's middle, of a side of @size pixels. */
double moved_middle (int size);
/* The disparity of the surface at a place of the present frame. */
double moved_surface (const Scene *s, double u, double v);
/* What is there in the present frame. */
Seen moved_pixel (const Scene *s, int x, int y);
/* Where that was, and how near. */
Seen moved_place (double focal, const Rigid *rigid, Seen now);
/* What is now where @u, @v was in the frame before. */
Seen moved_back (const Scene *s, double u, double v);

#endif
