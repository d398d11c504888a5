/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the files of depthoverlay share. Only element.c knows the element.
 *   colormap.c   samples become codes, codes become colours: pure arithmetic
 *   blend.c      the colours of a depth picture over a frame, in the frame's own format
 *   content.c    what is drawn over a frame, read from the metadata of its depth
 *   text.c       draws that: text, frames, marks and the legend, by Pango and cairo
 */
#ifndef GST_DEPTH_OVERLAY_PARTS_H
#define GST_DEPTH_OVERLAY_PARTS_H

#include <gst/video/video.h>

#include "gst/video/depth.h"
#include "gst/video/view.h"

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
/* 0 = @far, 1 = @near; clamped. Any unit. For curves other than linear, a distance is at least 1. */
gdouble gst_stereo_curve_position (GstStereoCurve curve, gdouble near, gdouble far, gdouble value);

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

/* The ends of the colours in mm, for the search range in @meta: its nearest distance, and that of FAR_DISPARITY px. */
void gst_stereo_scale_ends (const GstStereoMeta *meta, gdouble *near, gdouble *far);
/* @near, @far: mm. Where @meta gives no distances, the search range replaces them, and linear replaces @curve. */
void gst_stereo_scale_init (
    GstStereoScale *scale, const GstStereoMeta *meta, gdouble near, gdouble far, GstStereoCurve curve, gboolean beyond);
/* The codes of samples 0 to @count - 1. @scale was made from @meta. */
void gst_stereo_scale_codes (const GstStereoScale *scale, const GstStereoMeta *meta, guint8 *codes, guint count);

/* ---- blending ---------------------------------------------------------------------------- */

#define GST_STEREO_COLOR_FORMATS \
  "RGBx, BGRx, xRGB, xBGR, RGBA, BGRA, ARGB, ABGR, RGB, BGR, Y444, Y42B, YUY2, UYVY, I420, YV12, NV12, NV21"
#define GST_STEREO_BLEND_FORMATS GST_STEREO_COLOR_FORMATS ", GRAY8"

typedef struct _GstStereoBlender GstStereoBlender;

GstStereoBlender *gst_stereo_blender_new (void);
void gst_stereo_blender_free (GstStereoBlender *blender);
/* Sets the colours for frames of @info. @alpha: 0..1. Returns at once when nothing has changed since the last call. */
void gst_stereo_blender_set_colors (
    GstStereoBlender *blender, const GstVideoInfo *info, GstStereoColormap map, gdouble alpha);
/* Blends from the part of @in at @x, @y to the whole of @out, which may be the same frame, or another one of the same format.
 * Every sample becomes in + alpha * (colour - in) where depth is shown, and stays to the bit where it is not. A chroma sample
 * of several pixels gets the mean of the results for these pixels. @depth is scaled by the nearest neighbour; NULL: nothing
 * is shown. @codes: of all 256 or 65536 samples. */
void gst_stereo_blender_run (GstStereoBlender *blender, GstVideoFrame *in, gint x, gint y, GstVideoFrame *out,
    const GstStereoDepthView *depth, const guint8 *codes);

/* Makes every pixel of @out black and opaque or, where @grey is not NULL, as light as it is from @left, @top on. */
void gst_stereo_blend_fill (GstVideoFrame *out, GstVideoFrame *grey, gint left, gint top);

/* ---- what is drawn ------------------------------------------------------------------------- */

typedef enum
{
  GST_DEPTH_OVERLAY_UNKNOWN, /* hatched border, and the word */
  GST_DEPTH_OVERLAY_NEAR,
  GST_DEPTH_OVERLAY_CLEAR
} GstDepthOverlayVerdict;

#define GST_DEPTH_OVERLAY_LABEL 80 /* bytes: 15 characters of up to 4 bytes, a blank, a distance */
#define GST_DEPTH_OVERLAY_LABELS 3 /* so many things have a box and a label */
#define GST_DEPTH_OVERLAY_MARKS 256

typedef struct
{
  gint x, y, width, height; /* pixels of the picture */
} GstDepthOverlayRect;

/* A thing: a thin frame around a part of the picture, and its label. */
typedef struct
{
  GstDepthOverlayRect at;
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
  gint width, height;           /* of the picture */
  gboolean text, panel, legend; /* panel: the verdict, and its border */
  GstStereoColormap colormap;   /* of the legend */
  GstStereoScale scale;         /* of the legend and the distance */
  GstDepthOverlayVerdict verdict;
  gboolean warning; /* red frame */
  gboolean valid;   /* there is a nearest surface, at: */
  gdouble value;    /* mm, or px where distances are not known */
  gint x, y;
  gboolean placed; /* what follows, and the marker, belong to the moment of the picture: they are drawn */
  gboolean part;   /* only @region was searched: it gets a thin frame */
  GstDepthOverlayRect region;
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
/* Adds a thing that was measured in @depth; the nearest ones of those ahead come first. */
void gst_depth_overlay_content_add (GstDepthOverlayContent *content, const GstDepthOverlayBox *box);
/* Such as "person 12.3 m"; @type may be NULL, and is untrusted text from a detector. @label is valid UTF-8 without control
 * characters, and has all of @value. */
void gst_depth_overlay_label_make (gchar label[GST_DEPTH_OVERLAY_LABEL], const gchar *type, const gchar *value);
/* "3.42 m", "12.3 m", "57.5 px": no more digits than depth has. */
void gst_depth_overlay_format (gchar *string, gsize size, gdouble value, gboolean metric);

typedef struct _GstDepthOverlayText GstDepthOverlayText;

GstDepthOverlayText *gst_depth_overlay_text_new (void);
void gst_depth_overlay_text_free (GstDepthOverlayText *text);
/* Draws over a frame mapped for reading and writing. */
void gst_depth_overlay_text_draw (
    GstDepthOverlayText *text, const GstDepthOverlayContent *content, GstVideoFrame *frame);

G_END_DECLS

#endif
