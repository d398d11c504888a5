/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What has changed in a part of a view between two measurements. That the part has become brighter is no change.
 *
 * How much brighter a part has become is known only when all of it was read. So the sums of a few products are kept, from which the
 * change follows for any brightness. They add up: a band, a strip and a cell of a view need each pixel read once.
 */
#ifndef GST_STEREO_CHANGES_H
#define GST_STEREO_CHANGES_H

#include <glib.h>

G_BEGIN_DECLS

/* Of a difference d = now - before of a pixel, of its value b before, and of d' and b' of the pixel that goes with it. */
typedef struct
{
  gint64 count;                    /* pixels */
  gint64 difference, before;       /* d, b */
  gint64 changes, mixed, level;    /* d d', d b' + d' b, b b' */
  gint64 squares, crossed, bright; /* d d, d b, b b */
  gint64 others;                   /* pixels whose value changed */
} GstStereoChangeSums;

/* Means over a part, of samples as they are. */
typedef struct
{
  gdouble product; /* of the change of a pixel and that of the pixel two rows below */
  gdouble square;  /* of the change */
  gdouble other;   /* share of the pixels whose value changed */
  gdouble level;
  gdouble count; /* pixels */
} GstStereoViewChange;

#define GST_STEREO_CHANGES_SLACK 16 /* bytes behind a row that are read, and do not count */

/* Adds a row of @count pixels, and the row that goes with it. */
void gst_stereo_changes_add (GstStereoChangeSums *sums, const guint8 *now, const guint8 *before, const guint8 *below,
    const guint8 *below_before, gint count);
void gst_stereo_changes_join (GstStereoChangeSums *sums, const GstStereoChangeSums *other);
GstStereoViewChange gst_stereo_changes_mean (const GstStereoChangeSums *sums);

G_END_DECLS

#endif
