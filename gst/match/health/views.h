/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is wrong with a view: verdicts from looks at both views, and when an episode of a fault begins and ends.
 *
 * The figures behind each threshold are those of healthy pairs of cameras: 50 pairs of Middlebury, KITTI, RADIATE and
 * OpenCV, sunny and foggy, colour and grey. Their views differ by at most 8 % in brightness and 18 % in sharpness, and
 * at most 28 % of a view is white.
 */
#ifndef GST_STEREO_HEALTH_VIEWS_H
#define GST_STEREO_HEALTH_VIEWS_H

#include "gst/match/check/times.h"
#include "gst/match/health/view.h"

G_BEGIN_DECLS

/* ---- episodes ---------------------------------------------------------------------------- */

/* A fault counts when it lasts, and so does its end: a hand that passes the lens, or a lamp that is switched, is none. */
#define GST_STEREO_EPISODE_HOLD (G_GINT64_CONSTANT (1000000000)) /* ns */
#define GST_STEREO_EPISODE_LOOKS 4
/* So many looks in a row that tell nothing make what came before count no more: chance does not add up over hours. */
#define GST_STEREO_EPISODE_PATIENCE 8

typedef enum
{
  GST_STEREO_EPISODE_GOES_ON,
  GST_STEREO_EPISODE_BEGINS,
  GST_STEREO_EPISODE_ENDS
} GstStereoEpisodeChange;

/* Zeroed at first. */
typedef struct
{
  gboolean stands;
  guint count;   /* looks in a row that say the opposite of `stands`; looks that tell nothing do not count */
  guint unknown; /* looks in a row that tell nothing */
  gint64 since;  /* time of the first of the looks that count, ns */
} GstStereoEpisode;

GstStereoEpisodeChange gst_stereo_episode_update (GstStereoEpisode *episode, GstStereoVerdict verdict, gint64 time);
/* Other times follow. */
void gst_stereo_episode_flush (GstStereoEpisode *episode);

/* ---- faults of a view -------------------------------------------------------------------- */

typedef enum
{
  GST_STEREO_VIEW_BLACK,     /* nearly no pixel is above black */
  GST_STEREO_VIEW_BLOWN_OUT, /* more than half of the pixels are white */
  GST_STEREO_VIEW_BLURRED,   /* half as sharp as the other view, or as it used to be against the other: or covered */
  GST_STEREO_VIEW_DARK,      /* less than two thirds of the other view's brightness */
  GST_STEREO_VIEW_FROZEN,    /* no pixel changes while the other view moves */
  GST_STEREO_VIEW_FAULTS
} GstStereoViewFault;

/* Of one fault in both views: [0] is left. */
typedef GstStereoVerdict GstStereoViewVerdicts[GST_STEREO_VIEW_FAULTS][2];

/* @past: what the left view's sharpness divided by the right one's used to be; 0 = not known. Where two faults have one
 * cause, the first one in the order above is told, and the other is UNKNOWN. */
void gst_stereo_views_judge (const GstStereoViewLook looks[2], gdouble past, GstStereoViewVerdicts verdicts);

/* Zeroed at first. */
typedef struct
{
  GstStereoEpisode episodes[GST_STEREO_VIEW_FAULTS][2];
  gdouble past; /* mean logarithm of left to right sharpness in looks without a fault */
  guint looks;  /* that the mean is of */
} GstStereoViews;

/* A look at both views. @changes: for each fault and view. */
void gst_stereo_views_add (GstStereoViews *views, const GstStereoViewLook looks[2], gint64 time,
    GstStereoEpisodeChange changes[GST_STEREO_VIEW_FAULTS][2]);
/* What stands stays; other times follow. */
void gst_stereo_views_flush (GstStereoViews *views);
/* No fault stands, and none begins. */
gboolean gst_stereo_views_are_sound (const GstStereoViews *views);
/* What @past of gst_stereo_views_judge() is now. */
gdouble gst_stereo_views_past (const GstStereoViews *views);

G_END_DECLS

#endif
