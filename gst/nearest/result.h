/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The result of a search for the nearest surface, or for the nearest obstacle. */
#ifndef GST_STEREO_NEAREST_RESULT_H
#define GST_STEREO_NEAREST_RESULT_H

#include "gst/meta/found.h"
#include "gst/nearest/search/nearest.h"

G_BEGIN_DECLS

/* A part of a picture, pixels. */
typedef struct
{
  gint x, y, width, height;
} GstStereoNearestRegion;

typedef struct
{
  GstStereoNearestState state;
  gboolean warning;            /* the state is near by warn_distance */
  gboolean valid;              /* a surface or an obstacle was found: all below is known */
  gboolean empty;              /* the ground is known, and no obstacle stands on it */
  gboolean doubtful;           /* the ground ends too near in some place, for an unknown reason */
  gboolean metric;             /* distances are known */
  gdouble value;               /* mm, or px when distances are not known */
  gdouble disparity;           /* px, or not-a-number */
  GstStereoNearestFound found; /* in the depth picture; its coverage is known, and its support 0, where nothing was found */
  gint x, y;                   /* in the output */
} GstStereoNearestResult;

G_END_DECLS

#endif
