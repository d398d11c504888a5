/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The slow plain twin of the search for the nearest surface: flood fill at every threshold, sorting, no tables. */
#ifndef NAIVE_SURFACE_H
#define NAIVE_SURFACE_H

#include "gst/nearest/search.h"

#define NAIVE_MOST 64

typedef struct
{
  gboolean found;
  gdouble coverage;
  guint count; /* of surfaces that reach the threshold at once */
  struct
  {
    gdouble nearness; /* px */
    guint64 samples;  /* of its cells */
  } surfaces[NAIVE_MOST];
} NaiveSurface;

/* A surface among the samples that lie @step pixels apart, with cells of @side by @side; a surface has @needed samples. How near it is
 * is asked for at @x, @y. */
void naive_surface_find (
    NaiveSurface *naive, const GstStereoDepthView *view, gint step, gint side, guint64 needed, gint x, gint y);
/* Nearness of a sample, in pixels of disparity or what takes their place. */
gdouble naive_surface_nearness (const GstStereoDepthView *view, guint sample);

#endif
