/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The disparity of infinity, as the motion of the cameras shows it.
 *
 * What lies at infinity only turns with the cameras: the picture of it neither grows nor shrinks. What lies nearer grows by a share that
 * is proportional to its disparity. So a disparity of which nothing grows is that of infinity, even where no such point is seen. Where a
 * camera has turned sideways, or the principal points differ, it is not the one that is expected.
 *
 * A rigid motion maps (x, y, d), the place from the picture's middle and the true disparity, on (x', y') in an earlier frame:
 *
 *   w = 1 + k d + p y - q x,  x' w = x - Q + r y + s d,  y' w = y + P - r x + t d
 *
 * for small rotations (stereo/exact/motion.h). With a disparity of infinity i, d is the one that is measured less i, and the first
 * equation becomes w = 1 - k i + k d + ...: the term without d is free here, and gives i. Everything else that moves, moves otherwise;
 * the fit is robust, and says nothing where few points follow one motion, or where these lie at two distances alone: something that
 * drives before a background looks like that, too.
 */
#ifndef GST_STEREO_INFINITY_H
#define GST_STEREO_INFINITY_H

#include "gst/match/diagnose/delay.h"

G_BEGIN_DECLS

/* Of one frame, px. */
typedef struct
{
  gdouble disparity; /* of infinity */
  gdouble deviation; /* standard deviation; 0 = nothing is known */
} GstStereoInfinityFigure;

void gst_stereo_infinity_measure (
    const GstStereoMovingPoint *points, guint count, gint width, gint height, GstStereoInfinityFigure *figure);

#define GST_STEREO_INFINITY_FIGURES 6

/* Of a stream. Zeroed at first. */
typedef struct
{
  guint count, next;
  gint64 time; /* of the last figure, ns */
  GstStereoInfinityFigure figures[GST_STEREO_INFINITY_FIGURES];
} GstStereoInfinity;

/* A figure of a frame at @time. Frames that follow each other soon have the same mistakes: only one of them counts. */
void gst_stereo_infinity_add (GstStereoInfinity *infinity, gint64 time, const GstStereoInfinityFigure *figure);
/* What the last figures say together. Nothing where there are few, or where they contradict each other. */
GstStereoInfinityFigure gst_stereo_infinity_get (const GstStereoInfinity *infinity);

G_END_DECLS

#endif
