/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What stereonearest and stereoground found, on a buffer: custom metas with a GstStructure, which any program reads with
 * gst_buffer_get_custom_meta(). The library registers them (info.c); the elements compile this in.
 */
#ifndef GST_STEREO_FOUND_H
#define GST_STEREO_FOUND_H

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_STEREO_NEAREST_META "GstStereoNearestMeta"
#define GST_STEREO_GROUND_META "GstStereoGroundMeta"
#define GST_STEREO_GROUND_UNKNOWN (-1.0) /* free distance of a column of which too little is seen */
#define GST_STEREO_MAX_COLUMNS 4096u     /* of free distances */

/* Puts the fields of @found on @buffer, which is writable, as the meta @name. */
void gst_stereo_found_attach (GstBuffer *buffer, const gchar *name, const GstStructure *found);
/* The first meta @name of @buffer, or NULL. */
const GstStructure *gst_stereo_found_get (GstBuffer *buffer, const gchar *name);

/* Height above the ground, mm, from which things are seen at @distance by a camera at @height above it, whose picture shows
 * the ground from @ground_from on. 0: down to the ground. */
static inline gdouble
gst_stereo_found_unseen_height (gdouble height, gdouble ground_from, gdouble distance)
{
  return MAX (0, height * (1 - distance / ground_from));
}

/* A warning of two elements: for printf(). */
#define GST_STEREO_BLIND_TEXT \
  "warn-distance=%g lies in the blind zone: this camera sees the ground from %.1f m on, and at %.1f m only what is higher " \
  "than %.1f m. Set a larger warn-distance, or let the camera look farther down."
#define GST_STEREO_BLIND_VALUES(distance, height, ground_from) \
  distance, (ground_from) / 1000, (distance) / 1000, \
      gst_stereo_found_unseen_height (height, ground_from, distance) / 1000

typedef enum
{
  GST_STEREO_NEAREST_STATE_UNKNOWN, /* too little is seen, or the depth cannot be relied on: something may be near */
  GST_STEREO_NEAREST_STATE_NEAR,
  GST_STEREO_NEAREST_STATE_CLEAR
} GstStereoNearestState;

/* "unknown", "near", "clear" */
const gchar *gst_stereo_nearest_state_name (GstStereoNearestState state);

/* The meta of stereonearest, for elements that draw it. */
typedef struct
{
  GstStereoNearestState state;
  const gchar *reason; /* why it is unknown, or NULL; of the buffer */
  gboolean warning, valid;
  gdouble distance, disparity; /* mm, px; not-a-number where they are not known */
  gint x, y;
  gdouble coverage, warn_distance;
  gint region_x, region_y, region_width, region_height;
} GstStereoFoundNearest;

/* Reads the meta of stereonearest in a picture of @width x @height pixels. FALSE where there is none, or where it cannot be
 * right: then @problem is a part of a sentence that says why, else NULL. g_free it. */
gboolean gst_stereo_found_nearest_read (
    GstStereoFoundNearest *nearest, GstBuffer *buffer, gint width, gint height, gchar **problem);

G_END_DECLS

#endif
