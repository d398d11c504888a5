/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the files of depthoverlay share. Only element.c knows the element.
 *   colors.c     the colours of a depth picture over a frame, in the frame's own format
 *   frames.c     the part of a live frame that is shown, and the depth that goes with it
 *   measure.c    the stereonearest inside, and the regions of detectors
 *   content.c    what is drawn over a frame, read from the metadata of its depth
 *   text.c       draws that: text, frames, marks and the legend, by Pango and cairo
 */
#ifndef GST_DEPTH_OVERLAY_PARTS_H
#define GST_DEPTH_OVERLAY_PARTS_H

#include <gst/base/gstaggregator.h>
#include <gst/video/gstvideosink.h>
#include <gst/video/video.h>
#include <string.h>

#include "gst/meta/found.h"
#include "gst/video/depth.h"

G_BEGIN_DECLS

GST_DEBUG_CATEGORY_EXTERN (gst_depth_overlay_debug);
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

/* ---- frames ------------------------------------------------------------------------------ */

/* The part of live frames that is shown: all of a frame, or the left one of two views. */
typedef struct
{
  GstVideoInfo live; /* of the live frames */
  GstVideoInfo info; /* of the part, and of the output */
  gint x, y;         /* its place in the live frame, pixels */
  gboolean cropped;  /* it is not the whole frame */
} GstDepthOverlayView;

/* Chooses by the caps' multiview-mode and, without one, by the size of the depth; 0: none came yet. @expected: depth will come.
 * FALSE and a sentence in @message (g_free) where the live frames cannot be shown. */
gboolean gst_depth_overlay_view_choose (GstDepthOverlayView *view, const GstVideoInfo *live, gint depth_width,
    gint depth_height, gboolean expected, gchar **message);
/* Whether depth of that size, scaled, lies exactly over the view. */
gboolean gst_depth_overlay_view_fits (const GstDepthOverlayView *view, gint width, gint height);

/* A live frame or, where depth is alone, a depth picture. */
typedef struct
{
  GstBuffer *buffer; /* the caller unrefs it; it may be the only reference, so that the buffer is writable */
  gboolean gap;      /* the stream has nothing at that time: the buffer is empty */
  GstSegment segment;
  gint64 time; /* running time, or GST_CLOCK_STIME_NONE */
} GstDepthOverlayFrame;

/* The latest depth that is not newer than the live frames so far. */
typedef struct
{
  GstBuffer *buffer; /* NULL: none */
  GstVideoInfo info;
  gint64 time;          /* running time, or GST_CLOCK_STIME_NONE */
  GstClockTime arrival; /* running time by the clock when it was taken; GST_CLOCK_TIME_NONE without a clock */
  gboolean fresh;       /* TRUE until the caller has shown it */
} GstDepthOverlayDepth;

/* The queues of both pads. Functions whose comment does not mention threads belong to the source pad's task. */
typedef struct
{
  GstAggregator *owner;
  GstAggregatorPad *live;             /* always there */
  GstVideoInfo live_info, depth_info; /* of the heads of the queues; 0 pixels wide before there were caps */
  GstDepthOverlayDepth depth;

  /*< private >*/
  GMutex lock;           /* around @pad and its queue: a pad that is released drops its queue */
  GstAggregatorPad *pad; /* sink_depth, not owned; NULL: none */
  gint stale;            /* atomic: forget the depth before the next frame */
  gboolean queued;       /* @depth is still the head of its pad's queue */
  gint64 gap_end;        /* no depth earlier than this will come */
} GstDepthOverlayFrames;

/* Makes the pad of the live view. The application may make and release that of the depth from any thread, at any time. */
void gst_depth_overlay_frames_init (GstDepthOverlayFrames *frames, GstAggregator *owner);
/* For GstAggregatorClass.create_new_pad: NULL where there is such a pad. */
GstAggregatorPad *gst_depth_overlay_frames_create_pad (GstDepthOverlayFrames *frames, GstPadTemplate *template);
/* Before the base class releases @pad. */
void gst_depth_overlay_frames_release_pad (GstDepthOverlayFrames *frames, GstPad *pad);
/* From any thread: whether there is a pad for depth. @ended, which may be NULL: its stream ended. */
gboolean gst_depth_overlay_frames_has_depth (GstDepthOverlayFrames *frames, gboolean *ended);
/* Takes the event with the new caps of @pad. FALSE after an error was posted. */
gboolean gst_depth_overlay_frames_take_caps (GstDepthOverlayFrames *frames, GstAggregatorPad *pad, GstEvent *event);
/* Of a live frame by its caps, ns; 0 = not known. */
GstClockTime gst_depth_overlay_frames_duration (const GstDepthOverlayFrames *frames);
/* Forgets the depth: after a flush. */
void gst_depth_overlay_frames_forget (GstDepthOverlayFrames *frames);
/* Forgets everything but the pads. */
void gst_depth_overlay_frames_reset (GstDepthOverlayFrames *frames);
/* Takes the next live frame from its pad, once its depth is known; @timeout: stop waiting. A gap does not wait. @alone: the next
 * depth, which is then the frame, too. Returns a flow for GstAggregatorClass.aggregate; GST_FLOW_NOT_NEGOTIATED: an error was
 * posted. */
GstFlowReturn gst_depth_overlay_frames_next (
    GstDepthOverlayFrames *frames, gboolean alone, gboolean timeout, GstDepthOverlayFrame *frame);

/* ---- what is measured -------------------------------------------------------------------- */

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
/* Regions of detectors in @buffer. */
guint gst_depth_overlay_regions (GstBuffer *buffer);
/* measure->depth becomes @depth with metadata, unless it is already; and the regions of @live (NULL: none), a view of @view that is
 * writable where it has any, get their distances. FALSE after an error was posted. */
gboolean gst_depth_overlay_measure_run (
    GstDepthOverlayMeasure *measure, const GstDepthOverlayDepth *depth, GstBuffer *live, const GstVideoInfo *view);
/* Writes the distances of the regions of @depth, but for the first @skipped, into those of @live; NULL: that there are none. */
void gst_depth_overlay_measure_write (GstBuffer *live, GstBuffer *depth, guint skipped);

/* ---- what is drawn ------------------------------------------------------------------------- */

#define GST_DEPTH_OVERLAY_LABEL 80 /* bytes: 15 characters of up to 4 bytes, a blank, a distance */
#define GST_DEPTH_OVERLAY_LABELS 3 /* so many things have a box and a label */
#define GST_DEPTH_OVERLAY_MARKS 256

/* A thing: a thin frame around a part of the picture, and its label. */
typedef struct
{
  GstVideoRectangle at; /* pixels of the picture */
  gchar label[GST_DEPTH_OVERLAY_LABEL];
  gboolean warning;
  gboolean ahead;   /* in the driving corridor */
  gdouble distance; /* mm; infinite where it is not known */
} GstDepthOverlayBox;

/* A line: where the ground ends that is free, or a side of the driving corridor. */
typedef struct
{
  gint x[2], y[2];
} GstDepthOverlayLine;

typedef struct
{
  gint width, height;            /* of the picture */
  gboolean panel, legend;        /* panel: the verdict, and its border */
  GstStereoColormap colormap;    /* of the legend */
  GstStereoScale scale;          /* of the legend and the distance */
  GstStereoNearestState verdict; /* unknown: hatched border, and the word */
  gboolean warning;              /* red frame */
  gboolean valid;                /* there is a nearest surface, at: */
  gdouble value;                 /* mm, or px where distances are not known */
  gint x, y;
  gboolean placed; /* what follows, and the marker, are drawn: they belong to the moment of the picture */
  gboolean part;   /* only @region was searched: it gets a thin frame */
  GstVideoRectangle region;
  GstDepthOverlayBox boxes[GST_DEPTH_OVERLAY_LABELS];
  guint n_boxes;
  GstDepthOverlayLine marks[GST_DEPTH_OVERLAY_MARKS];
  guint n_marks;
  GstDepthOverlayLine corridor[2];
  guint n_corridor;
  gchar reason[GST_DEPTH_OVERLAY_LABEL]; /* why the verdict is unknown */
  gchar note[GST_DEPTH_OVERLAY_LABEL];   /* why there are no colours, although there is depth */
  GstClockTime age;                      /* of the depth; GST_CLOCK_TIME_NONE: not known */
  GstClockTime max_age;                  /* an age above it is red */
} GstDepthOverlayContent;

/* Reads what stereonearest and stereoground found in a depth picture of @info, and what they measured of the things in it, for
 * the picture of @content, whose scale is known. NULL, or a part of a sentence: why the metadata cannot be right; g_free it. */
gchar *gst_depth_overlay_content_read (GstDepthOverlayContent *content, GstBuffer *depth, const GstVideoInfo *info);
/* Such as "person 12.3 m"; @type may be NULL, and is untrusted text from a detector. @label is valid UTF-8 without control
 * characters, and has all of @value. */
void gst_depth_overlay_label_make (gchar label[GST_DEPTH_OVERLAY_LABEL], const gchar *type, const gchar *value);
/* "3.42 m", "12.3 m", "57.5 px": no more digits than depth has. */
void gst_depth_overlay_format (gchar *string, gsize size, gdouble value, gboolean metric);

typedef struct _PangoContext PangoContext;

/* g_object_unref() it. */
PangoContext *gst_depth_overlay_text_new (void);
/* Draws over a frame mapped for reading and writing. */
void gst_depth_overlay_text_draw (PangoContext *context, const GstDepthOverlayContent *content, GstVideoFrame *frame);

G_END_DECLS

#endif
