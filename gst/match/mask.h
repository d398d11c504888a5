/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a camera sees and nobody asks about: a bonnet, a crane's arm, a time stamp in the picture. Excluded pixels get no
 * disparity and count nowhere; rows above and below all others are not matched at all.
 */
#ifndef GST_STEREO_MASK_H
#define GST_STEREO_MASK_H

#include "gst/video/properties.h"

G_BEGIN_DECLS

/* ---- a mask for views of one size; nothing changes in it once it is made ------------------ */

typedef struct
{
  gint width, height;
  gint first_row, rows; /* from the first to the last row with a pixel that counts */
  guint64 count;        /* pixels that count: at least one */
  guint8 *counts;       /* width * height: 255 = the pixel counts, 0 = it is excluded */
  GstBuffer *buffer;    /* a read-only GRAY8 picture of @counts, whose memory it owns: it may outlive the mask */
} GstStereoMask;

/* Whether @text can be a mask: a file's name, or rectangles. FALSE and a sentence in @message (g_free) for rectangles that
 * are none. */
gboolean gst_stereo_mask_check (const gchar *text, gchar **message);
/* @text: the name of a PNG, whose pixels below mid grey are excluded; or excluded rectangles, "x,y,width,height; ..." as
 * fractions of the picture. NULL and a sentence in @message (g_free) where it cannot be had for views of that size. */
GstStereoMask *gst_stereo_mask_new (const gchar *text, gint width, gint height, gchar **message);
GstStereoMask *gst_stereo_mask_ref (GstStereoMask *mask);
void gst_stereo_mask_unref (GstStereoMask *mask);

/* A picture as the engine made it, and its rows outside the mask's, which it did not write. */
typedef struct
{
  guint8 *samples;
  gint stride;
  gint sample_bytes; /* 1 or 2 */
  guint8 *confidence;
  gint confidence_stride;
} GstStereoMaskedPicture;

/* Clears what is excluded. @valid_ratio and @mean_confidence become those of the pixels that count. */
void gst_stereo_mask_apply (
    const GstStereoMask *mask, const GstStereoMaskedPicture *picture, gdouble *valid_ratio, gdouble *mean_confidence);

/* ---- the property ------------------------------------------------------------------------- */

typedef struct _GstStereoMasks GstStereoMasks;

extern const GstStereoProperty gst_stereo_masks_properties[];

/* The object belongs to @element and holds no reference. */
GstStereoMasks *gst_stereo_masks_new (GstElement *element);
void gst_stereo_masks_free (GstStereoMasks *masks);
/* The mask for views of that size, NULL for none; it is valid until the next call. FALSE after an error was posted. A file that
 * is set while frames pass and cannot be used is a warning: the mask before is kept. */
gboolean gst_stereo_masks_choose (GstStereoMasks *masks, gint width, gint height, GstStereoMask **mask);
/* At the stop: the file is read again after it. */
void gst_stereo_masks_release (GstStereoMasks *masks);

G_END_DECLS

#endif
