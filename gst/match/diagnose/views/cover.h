/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whether a part of a view is covered: it is even, and what the other view shows there is not.
 *
 * The view is cut into strips from the left to the right, and into stripes from the top to the bottom. The other view shows
 * what a strip sees some columns farther on, by its disparities. So a strip lacks something only if the other view is uneven
 * at each place where the strip could lie. What is compared are means over some pixels of a row, which a blur does not change
 * and noise changes little. Views of less than 256 columns are not judged.
 */
#ifndef GST_STEREO_COVER_H
#define GST_STEREO_COVER_H

#include "gst/match/diagnose/views/view_figures.h"

G_BEGIN_DECLS

#define GST_STEREO_COVER_PARTS 16 /* strips, and stripes: a strip has four runs and more */

/* Sets `covered` in the figures of both views. @readers: both have read their view. @max_disparity: the largest disparity that is
 * searched. */
void gst_stereo_cover_measure (
    const GstStereoViewReader *const readers[2], gint width, gint max_disparity, GstStereoViewFigures figures[2]);

G_END_DECLS

#endif
