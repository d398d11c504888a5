/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What moves in one view alone, while the cameras and nearly all of the scene stand still.
 *
 * frozen.h needs a scene that moves nearly everywhere, or a part without noise. If only an obstacle moves, the mean over a band
 * hides it, and where a frozen part has noise, no pixel of it stays equal. So the bands are cut into cells. A cell moves if its
 * change is far beyond the noise of its view, which most of the cells of a still scene show. What moves in a band of one view moves
 * in that band of the other view, somewhere within the disparities. A band where the other view moves at one place look after look,
 * and this view nowhere within reach of it, is not live.
 *
 * Of a view that is compressed, blocks flicker in one view alone. Where all of them do, that is noise, whose pixels change together.
 * Where only some do, most of the other pixels stay as they are to the bit, which no sensor gives: nothing is known then.
 *
 * Snow and drops are in one view alone too, but in each view in turn, and at another place each time.
 */
#ifndef GST_STEREO_ALONE_H
#define GST_STEREO_ALONE_H

#include "gst/match/diagnose/views/view_figures.h"

G_BEGIN_DECLS

typedef struct
{
  guint32 places; /* a bit for each cell of the other view that moved when it last did so alone */
  guint looks;    /* that show it moving there, and not this view */
  guint idle;     /* looks since then that show nothing */
  guint live;     /* last looks in a row in which this view may move */
} GstStereoAloneBand;

/* Zeroed at first. */
typedef struct
{
  GstStereoAloneBand bands[2][GST_STEREO_VIEW_BANDS]; /* of the left and the right view */
  guint lately[2]; /* looks for which a view does not count as still, for it has moved alone itself */
} GstStereoAlone;

/* Sets `alone` in the figures of both views. @readers: both have read their view. @age: of the measurement that they are compared
 * with; the one before it is read too. @max_disparity: the largest disparity that is searched. */
void gst_stereo_alone_measure (GstStereoAlone *alone, const GstStereoViewReader *const readers[2], gint width,
    guint age, gint max_disparity, GstStereoViewFigures figures[2]);
/* It may begin: the next measurement should come soon. */
gboolean gst_stereo_alone_is_suspicious (const GstStereoAlone *alone);

G_END_DECLS

#endif
