/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The nearest surface in a depth picture, what that means for a machine that moves, and the message `stereo-nearest` about it.
 * stereonearest and depthoverlay both work with it.
 */
#ifndef GST_STEREO_NEAREST_REPORT_H
#define GST_STEREO_NEAREST_REPORT_H

#include "gst/nearest/ground.h"

G_BEGIN_DECLS

typedef struct _GstStereoNearestReport GstStereoNearestReport;

/* What the nearest distance is about. */
typedef enum
{
  GST_STEREO_NEAREST_SURFACE,
  GST_STEREO_NEAREST_OBSTACLE /* of stereoground */
} GstStereoNearestOf;

/* Where the nearest surface is looked for, how, and by what it is judged. */
typedef struct
{
  gdouble region[4];        /* x, y, width, height: fractions of the picture */
  gdouble percentile;       /* 0..100, of the region's pixels: the smallest surface */
  gdouble warn_distance;    /* mm; 0 = every surface is near */
  gdouble max_unknown;      /* share of the region's pixels, 0..1 */
  gint of;                  /* GstStereoNearestOf */
  guint64 message_interval; /* ns */
} GstStereoNearestSettings;

/* @place: before which stereoground has to be, for a warning: "sink_depth". Debug lines are of @category. */
GstStereoNearestReport *gst_stereo_nearest_report_new (
    GstElement *owner, GstDebugCategory *category, const gchar *place);
void gst_stereo_nearest_report_free (GstStereoNearestReport *report);
/* After a flush: the next message is due at once. */
void gst_stereo_nearest_report_reset (GstStereoNearestReport *report);

/* The region of a picture @width pixels wide and @height high, at least a pixel. */
GstStereoNearestRegion gst_stereo_nearest_region (const GstStereoNearestSettings *settings, gint width, gint height);
/* The confidence of 0..255 below which pixels are not seen. */
guint gst_stereo_nearest_least (gdouble min_confidence);

/* Looks for the nearest surface in @depth or, if that is asked for, for the nearest obstacle in @ground, which was read for an
 * output of @width x @height pixels, and judges it. @serial: of the picture, not 0; in one that was searched before, with equal
 * settings, the surface is known. */
void gst_stereo_nearest_report_find (GstStereoNearestReport *report, const GstStereoNearestSettings *settings,
    const GstStereoDepthView *depth, guint serial, const GstStereoFoundGround *ground, gint width, gint height);
/* There is no depth to look in, or none that can be relied on, and why: the state is unknown. */
void gst_stereo_nearest_report_clear (GstStereoNearestReport *report, const gchar *reason);
/* stereonearest found and judged it before, and posted its message. @reason: why the state is unknown, or NULL. */
void gst_stereo_nearest_report_take (
    GstStereoNearestReport *report, const GstStereoNearestResult *result, const gchar *reason);

/* After one of the three above. */
const GstStereoNearestResult *gst_stereo_nearest_report_result (const GstStereoNearestReport *report);
/* Why the state is unknown; empty where it is not. */
const gchar *gst_stereo_nearest_report_reason (const GstStereoNearestReport *report);
/* Posts the message about @buffer, of a stream in @segment, if @interval (ns) passed since the last one, or `state`, `reason`,
 * `warning` or `valid` changed. */
void gst_stereo_nearest_report_post (
    GstStereoNearestReport *report, GstBuffer *buffer, const GstSegment *segment, guint64 interval);

G_END_DECLS

#endif
