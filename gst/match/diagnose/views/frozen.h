/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whether a part of a view is frozen, from the bands and the strips of both views (view_figures.h).
 *
 * A frozen part stands still where the other view moves, under noise or beside a running clock. Or no pixel of it changes
 * where the other view has the noise of a sensor. Two bands in a row are enough where more of the view's other bands are
 * live: the same bands of both views see nearly the same, but an insect on one lens moves in a band of one view alone. Then
 * the rest of that view does not move.
 */
#ifndef GST_STEREO_FROZEN_H
#define GST_STEREO_FROZEN_H

#include "gst/match/diagnose/episodes.h"
#include "gst/match/diagnose/views/view_figures.h"

G_BEGIN_DECLS

/* Both have been compared with an earlier measurement. @coded: an encoder may have repeated what does not change in @own. */
GstStereoVerdict gst_stereo_frozen_judge_parts (
    const GstStereoViewFigures *own, const GstStereoViewFigures *other, gboolean coded);
/* Whether a view comes from an encoder, which shows in bands where few pixels change. Returns in how many more looks all bands have to
 * change before it counts as raw; 0: it does, as at first. @coded: what the look before returned. */
guint gst_stereo_frozen_count_coded (guint coded, const GstStereoViewFigures *own);

G_END_DECLS

#endif
