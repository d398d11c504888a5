/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A mask excludes pixels that the left camera always sees and that do not belong to the scene: a bonnet, a crane's arm, a
 * time stamp in the picture. Excluded pixels get no disparity and do not count. Rows above and below all other pixels are
 * not matched.
 */
#ifndef GST_STEREO_MASK_H
#define GST_STEREO_MASK_H

#include "gst/video/properties.h"

G_BEGIN_DECLS

/* ---- a mask for views of one size; it never changes --------------------------------------- */

typedef struct
{
  gint width, height;
  gint first_row, rows; /* from the first to the last row with a pixel that counts */
  guint64 count;        /* pixels that count: at least one */
  guint8 *counts;       /* width * height: 255 = the pixel counts, 0 = it is excluded */
  GstBuffer *buffer;    /* a read-only GRAY8 picture of @counts, whose memory it owns: it may outlive the mask */
} GstStereoMask;

/* Whether @text can be a mask: the name of a file, or valid rectangles. FALSE with a sentence in @message (g_free) for
 * invalid rectangles. */
gboolean gst_stereo_mask_check (const gchar *text, gchar **message);
/* @text: the name of a PNG, whose pixels below mid grey are excluded; or excluded rectangles, "x,y,width,height; ..." as
 * fractions of the picture. NULL with a sentence in @message (g_free) where there is no mask for views of this size. */
GstStereoMask *gst_stereo_mask_new (const gchar *text, gint width, gint height, gchar **message);
GstStereoMask *gst_stereo_mask_ref (GstStereoMask *mask);
void gst_stereo_mask_unref (GstStereoMask *mask);

/* An output picture. The engine has not written its rows outside those of the mask. */
typedef struct
{
  guint8 *samples;
  gint stride;
  gint sample_bytes; /* 1 or 2 */
  guint8 *confidence;
  gint confidence_stride;
} GstStereoMaskedPicture;

/* Clears the excluded pixels. @valid_ratio and @mean_confidence become those of the pixels that count. */
void gst_stereo_mask_apply (
    const GstStereoMask *mask, const GstStereoMaskedPicture *picture, gdouble *valid_ratio, gdouble *mean_confidence);

/* ---- the property ------------------------------------------------------------------------- */

typedef struct _GstStereoMasks GstStereoMasks;

extern const GstStereoProperty gst_stereo_masks_properties[];

/* The object belongs to @element and holds no reference. */
GstStereoMasks *gst_stereo_masks_new (GstElement *element);
void gst_stereo_masks_free (GstStereoMasks *masks);
/* The mask for views of this size, valid until the next call; NULL: no mask is set. FALSE after an error was posted. A
 * file that is set while frames pass and cannot be used gives a warning, and the old mask stays. */
gboolean gst_stereo_masks_choose (GstStereoMasks *masks, gint width, gint height, GstStereoMask **mask);
/* At the stop: forgets the mask, so that the next start reads the file again. */
void gst_stereo_masks_release (GstStereoMasks *masks);

G_END_DECLS

#endif
