/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds the nearest surface in a depth picture, judges it for a machine that moves, and posts the message `stereo-nearest`.
 * stereonearest and depthoverlay share this code.
 */
#ifndef GST_STEREO_NEAREST_REPORT_H
#define GST_STEREO_NEAREST_REPORT_H

#include "gst/nearest/ground.h"

G_BEGIN_DECLS

typedef struct _GstStereoNearestReport GstStereoNearestReport;

/* Nearest of what. */
typedef enum
{
  GST_STEREO_NEAREST_SURFACE,
  GST_STEREO_NEAREST_OBSTACLE /* of stereoground */
} GstStereoNearestOf;

/* The search for the nearest surface, and the limits of its verdict. */
typedef struct
{
  gdouble region[4];        /* x, y, width, height: fractions of the picture */
  gdouble percentile;       /* 0..100, of the region's pixels: the smallest surface */
  gdouble warn_distance;    /* mm; 0 = every surface is near */
  gdouble max_unknown;      /* share of the region's pixels, 0..1 */
  gint of;                  /* GstStereoNearestOf */
  guint64 message_interval; /* ns */
} GstStereoNearestSettings;

/* Both elements have these properties. */
#define GST_STEREO_NEAREST_OF_TEXT "What the nearest distance, its warning and stereo-nearest are about"
#define GST_STEREO_NEAREST_PERCENTILE_TEXT \
  "Percentage (0..100) of the region's pixels that must be connected, at the nearest distance or nearer: the smallest " \
  "surface that counts. Smaller values find smaller objects, but rely on fewer pixels; 0 = a single pixel is enough"
#define GST_STEREO_NEAREST_UNKNOWN_TEXT \
  "Share (0..1) of the region's pixels, of those that a mask does not exclude, that may be invalid or unsure. Where more " \
  "are, the state is unknown, never clear; a surface nearer than warn-distance is reported all the same"
#define GST_STEREO_NEAREST_REGION_TEXT \
  "Where to look for the nearest surface: <x, y, width, height> as fractions (0..1) of the picture. Parts outside the " \
  "picture are ignored; the default, <0, 0, 1, 1>, is the whole picture"
#define GST_STEREO_NEAREST_INTERVAL_TEXT \
  "Minimum time between two stereo-nearest messages in nanoseconds; 0 = one message per frame. A change of state or " \
  "warning is always posted at once"

/* @place: a warning names it as the place for stereoground: "sink_depth". @category: of the debug lines. */
GstStereoNearestReport *gst_stereo_nearest_report_new (
    GstElement *owner, GstDebugCategory *category, const gchar *place);
void gst_stereo_nearest_report_free (GstStereoNearestReport *report);
/* After a flush: the next message is due at once. */
void gst_stereo_nearest_report_reset (GstStereoNearestReport *report);

/* The region in a picture of @width x @height pixels; it has at least one pixel. */
GstStereoNearestRegion gst_stereo_nearest_region (const GstStereoNearestSettings *settings, gint width, gint height);
/* Pixels of a smaller confidence (0..255) are not seen. */
guint gst_stereo_nearest_least (gdouble min_confidence);

/* Finds and judges the nearest surface in @depth or, with GST_STEREO_NEAREST_OBSTACLE, the nearest obstacle in @ground.
 * @ground was read for an output of @width x @height pixels. @serial: of the picture; 0 = it has none. A picture of the
 * same serial is not searched again with equal settings. */
void gst_stereo_nearest_report_find (GstStereoNearestReport *report, const GstStereoNearestSettings *settings,
    const GstStereoDepthView *depth, guint serial, const GstStereoFoundGround *ground, gint width, gint height);
/* There is no reliable depth for an output of @width x @height pixels, for this @reason: the state is unknown. */
void gst_stereo_nearest_report_clear (GstStereoNearestReport *report, const GstStereoNearestSettings *settings,
    gint width, gint height, const gchar *reason);
/* Takes the result of a stereonearest upstream, which has also posted the message. */
void gst_stereo_nearest_report_take (GstStereoNearestReport *report, const GstStereoNearestResult *result);

/* Valid after one of the three functions above. The reason is valid after the first two. */
const GstStereoNearestResult *gst_stereo_nearest_report_result (const GstStereoNearestReport *report);
/* Why the state is unknown; empty where it is not. */
const gchar *gst_stereo_nearest_report_reason (const GstStereoNearestReport *report);
/* The fields of the message about @buffer, of a stream in @segment; gst_structure_free(). */
GstStructure *gst_stereo_nearest_report_describe (
    const GstStereoNearestReport *report, GstBuffer *buffer, const GstSegment *segment);
/* Posts the message about @buffer, of a stream in @segment. Posts nothing before @interval (ns) has passed since the last
 * message, unless `state`, `reason`, `warning` or `valid` changed. */
void gst_stereo_nearest_report_post (
    GstStereoNearestReport *report, GstBuffer *buffer, const GstSegment *segment, guint64 interval);

G_END_DECLS

#endif
