/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "moved.h"

#include <math.h>

/* The surface of the present frame: from 11 px at the top to 37 px at the bottom, with waves. */
double
moved_surface (const Scene *s, double u, double v)
{
  return 24 + 13 * v / (0.5 * s->height) + 2 * sin (u / 60) + sin (v / 45 + u / 110);
}

/* Turns the vector (@a, @b). */
static void
turn (double *a, double *b, double angle)
{
  double x = *a * cos (angle) - *b * sin (angle);
  *b = *a * sin (angle) + *b * cos (angle);
  *a = x;
}

/* x goes to the right, y down, z forward. */
Rigid
moved_rigid (const Motion *m)
{
  Rigid rigid = { .way = { m->right, m->down, m->forward } };

  for (int axis = 0; axis < 3; axis++) {
    double of[3] = { axis == 0, axis == 1, axis == 2 };
    turn (&of[2], &of[0], m->yaw);
    turn (&of[1], &of[2], m->pitch);
    turn (&of[0], &of[1], m->roll);
    for (int k = 0; k < 3; k++)
      rigid.rotation[k][axis] = of[k];
  }
  return rigid;
}

/* Where that was, and how near. A point of disparity d lies baseline / d times (u, v, focal) from the camera. */
Seen
moved_place (double focal, const Rigid *rigid, Seen now)
{
  double to[3];

  for (int k = 0; k < 3; k++)
    to[k] = rigid->rotation[k][0] * now.u + rigid->rotation[k][1] * now.v + rigid->rotation[k][2] * focal +
        rigid->way[k] * now.d;
  return (Seen){ focal * to[0] / to[2], focal * to[1] / to[2], focal * now.d / to[2] };
}

/* What is now where @u, @v was in the frame before: motions are small, so that it lies about as far from there. */
Seen
moved_back (const Scene *s, double u, double v)
{
  Seen now = { u, v, 0 };

  for (int k = 0; k < 10; k++) {
    now.d = moved_surface (s, now.u, now.v);
    Seen then = moved_place (s->focal, &s->rigid, now);
    now.u += u - then.u;
    now.v += v - then.v;
  }
  now.d = moved_surface (s, now.u, now.v);
  return now;
}

double
moved_middle (int size)
{
  return (size - 1) / 2.0;
}

Seen
moved_pixel (const Scene *s, int x, int y)
{
  double u = x - moved_middle (s->width), v = y - moved_middle (s->height);
  return (Seen){ u, v, moved_surface (s, u, v) };
}
