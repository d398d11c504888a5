/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of depthoverlay share. Only element.c knows the element. */
#ifndef GST_DEPTH_OVERLAY_PARTS_H
#define GST_DEPTH_OVERLAY_PARTS_H

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>
#include <string.h>

#include "gst/meta/found.h"
#include "gst/video/depth.h"

G_BEGIN_DECLS

GST_ELEMENT_REGISTER_DECLARE (depthoverlay);

/* ---- colours ----------------------------------------------------------------------------- */

typedef enum
{
  GST_STEREO_COLORMAP_TURBO,
  GST_STEREO_COLORMAP_VIRIDIS,
  GST_STEREO_COLORMAP_GRAY,
  GST_STEREO_COLORMAP_HEAT
} GstStereoColormap;

/* How colours are spread over the distances between near and far. */
typedef enum
{
  GST_STEREO_CURVE_INVERSE,
  GST_STEREO_CURVE_LOGARITHMIC,
  GST_STEREO_CURVE_LINEAR
} GstStereoCurve;

/* @position: 0 = far, 1 = near; clamped. */
void gst_stereo_colormap_rgb (GstStereoColormap map, gdouble position, guint8 rgb[3]);

/* A code is the position of a sample between far and near: 1 = far, 255 = near or nearer. */
#define GST_STEREO_CODE_HIDDEN 0

/* The scale of the samples of a meta. All bytes are set, so that memcmp() can compare two scales. */
typedef struct
{
  GstStereoSampleMeaning meaning;
  gboolean metric;      /* distances in mm are known; else only disparities in px */
  gdouble near, far;    /* mm; for disparities the ends of the search range, near > far */
  GstStereoCurve curve; /* always linear for disparities, which is inverse in the distance */
  gboolean beyond;      /* pixels farther than far get far's colour; else they are hidden */
} GstStereoScale;

/* 0 = far, 1 = near; clamped. @value: mm, or px. */
gdouble gst_stereo_scale_position (const GstStereoScale *scale, gdouble value);

/* The codes of all samples. Colours must not flicker: a rig that follows a drift changes its metadata a little from frame to frame. */
typedef struct
{
  GstStereoScale scale;
  gboolean known;    /* @scale and the codes are made */
  gdouble near, far; /* mm; of the metadata that they follow */
  guint8 of[65536];
} GstStereoCodes;

/* Makes the codes again where the meaning of samples changed: TRUE. @near, @far: mm; 0 = by the range of the search. Where @meta gives no
 * distances, that range replaces both, and linear replaces @curve. @codes is zeroed at first. */
gboolean gst_stereo_codes_update (
    GstStereoCodes *codes, const GstStereoMeta *meta, gdouble near, gdouble far, GstStereoCurve curve, gboolean beyond);
/* Every sample of @frame becomes in + @alpha * (colour - in) where depth is shown, and stays to the bit where it is not; a chroma
 * sample of several pixels goes by the first of them. @depth is scaled by the nearest neighbour. @alone: opaque, and black where no
 * depth is shown. */
void gst_stereo_codes_blend (const GstStereoCodes *codes, const GstStereoDepthView *depth, GstStereoColormap map,
    gdouble alpha, gboolean alone, GstVideoFrame *frame);

/* ---- the view ---------------------------------------------------------------------------- */

#define GST_DEPTH_OVERLAY_COLORS \
  "RGBx, BGRx, xRGB, xBGR, RGBA, BGRA, ARGB, ABGR, RGB, BGR, Y444, Y42B, YUY2, UYVY, I420, YV12, NV12, NV21"

/* The part of live frames that is shown: all of a frame, or the left one of two views. */
typedef struct
{
  GstVideoInfo live;            /* of the live frames */
  GstVideoInfo info;            /* of the output; its memory is known when caps are set */
  gint x, y;                    /* place of the part in the live frame, pixels */
  gboolean cropped;             /* it is not the whole frame */
  GstVideoConverter *converter; /* from the part to the output; freed by the caller */
} GstDepthOverlayView;

/* Chooses by the caps' multiview-mode and, without one, by the size of the depth; 0: none came yet. @expected: depth will come.
 * FALSE and a sentence in @message (g_free) where the live frames cannot be shown. */
gboolean gst_depth_overlay_view_choose (GstDepthOverlayView *view, const GstVideoInfo *live, gint depth_width,
    gint depth_height, gboolean expected, gchar **message);
/* Whether depth, scaled, lies exactly over the view. */
gboolean gst_depth_overlay_view_fits (const GstDepthOverlayView *view, const GstVideoInfo *depth);
/* Of the output, the best first: the format of the live view, unless it is grey, then other colours. */
GstCaps *gst_depth_overlay_view_caps (const GstDepthOverlayView *view);
gboolean gst_depth_overlay_view_set_caps (GstDepthOverlayView *view, const GstCaps *caps);

/* ---- what is measured -------------------------------------------------------------------- */

typedef struct
{
  GstBuffer *buffer; /* NULL: none */
  GstVideoInfo info;
  GstSegment segment;
  gint64 time;          /* running time, or GST_CLOCK_STIME_NONE */
  GstClockTime arrival; /* running time by the clock when it was taken; GST_CLOCK_TIME_NONE without a clock */
  gboolean fresh;       /* TRUE until it was shown */
} GstDepthOverlayDepth;

typedef struct
{
  GstElement *owner;
  GstElement *inner; /* stereonearest, whose properties are bound to those of the owner */
  GstBuffer *depth;  /* with metadata of stereonearest */
  GstVideoInfo info; /* that the inner one knows */
  GstClockTime age;  /* of the depth, for messages; or GST_CLOCK_TIME_NONE */
  gboolean quiet;    /* messages are not passed on */
} GstDepthOverlayMeasure;

/* FALSE after an error was posted. */
gboolean gst_depth_overlay_measure_start (GstDepthOverlayMeasure *measure, GstElement *owner);
void gst_depth_overlay_measure_stop (GstDepthOverlayMeasure *measure);
/* Whether a detector marked regions in @buffer. */
gboolean gst_depth_overlay_measure_has_regions (GstBuffer *buffer);
/* measure->depth becomes @depth with metadata, unless it is already; and the regions of @live (NULL: none), a view of @view that is
 * writable where it has any, get their distances. FALSE after an error was posted. */
gboolean gst_depth_overlay_measure_run (
    GstDepthOverlayMeasure *measure, const GstDepthOverlayDepth *depth, GstBuffer *live, const GstVideoInfo *view);
/* The regions of @live have no distance. */
void gst_depth_overlay_measure_nothing (GstBuffer *live);

/* ---- what is drawn ------------------------------------------------------------------------- */

#define GST_DEPTH_OVERLAY_LABEL 80 /* bytes: 15 characters of up to 4 bytes, a blank, a distance */

typedef struct
{
  gboolean panel, legend;         /* panel: the verdict, and its border */
  gboolean placed;                /* what belongs to the moment of the picture is drawn: it lies where it was seen */
  GstStereoColormap colormap;     /* of the legend */
  GstStereoScale scale;           /* of the legend and the distance */
  GstStereoFoundNearest nearest;  /* the verdict; zeroed: unknown */
  GstBuffer *depth;               /* whose ground and things are drawn; NULL: none */
  gint depth_width, depth_height; /* 0: there is none */
  const gchar *reason;            /* why the verdict is unknown; NULL: as nearest says */
  const gchar *note;              /* why there are no colours, although there is depth; NULL: there are */
  GstClockTime age;               /* of the depth; GST_CLOCK_TIME_NONE: not known */
  GstClockTime max_age;           /* an age above it is red */
} GstDepthOverlayContent;

/* Such as "person 12.3 m"; @type may be NULL, and is untrusted text from a detector. @label is valid UTF-8 without control
 * characters, and has all of @value. */
void gst_depth_overlay_label_make (gchar label[GST_DEPTH_OVERLAY_LABEL], const gchar *type, const gchar *value);

typedef struct _PangoContext PangoContext;

/* g_object_unref() it. */
PangoContext *gst_depth_overlay_display_new (void);
/* Draws over a frame mapped for reading and writing. */
void gst_depth_overlay_draw (PangoContext *context, const GstDepthOverlayContent *content, GstVideoFrame *frame);

G_END_DECLS

#endif
