/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where the depth of a frame has no evidence: a pixel of the left view is saturated, or shows dirt, or a part that is frozen or covered;
 * or the pixel of the right view does that it was matched with. There the output gets no value and no confidence.
 */
#ifndef GST_STEREO_UNMEASURED_H
#define GST_STEREO_UNMEASURED_H

#include "gst/match/mask.h"
#include "gst/meta/gststereometa.h"

G_BEGIN_DECLS

/* It never changes once it is shared. */
typedef struct
{
  gint width, height; /* cells */
  gint factor;        /* pixels of a cell each way */
  guint8 *marks[2];   /* of each view: 1 = without evidence */
} GstStereoUnmeasured;

GstStereoUnmeasured *gst_stereo_unmeasured_new (gint width, gint height, gint factor);
GstStereoUnmeasured *gst_stereo_unmeasured_ref (GstStereoUnmeasured *unmeasured);
void gst_stereo_unmeasured_unref (GstStereoUnmeasured *unmeasured);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstStereoUnmeasured, gst_stereo_unmeasured_unref)

/* Clears these pixels of an output picture. @units: what its samples mean, and its size. @counted: pixels that @valid_ratio and
 * @mean_confidence are of, which are less then. */
void gst_stereo_unmeasured_apply (const GstStereoUnmeasured *unmeasured, const GstStereoMaskedPicture *picture,
    const GstStereoMeta *units, guint64 counted, gdouble *valid_ratio, gdouble *mean_confidence);

G_END_DECLS

#endif
