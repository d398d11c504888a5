/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Views with more than 8 bits a sample: machine vision, thermal cameras, video of 10 bits. The elements read 8 bits of luma. These are
 * taken from where the picture has its contrast: a camera of 12 bits in samples of 16 uses a sixteenth of their range, of which
 * videoconvert would keep 4 bits.
 */
#ifndef GST_STEREO_DEEP_H
#define GST_STEREO_DEEP_H

#include "gst/pairing/frame.h"
#include "gst/video/properties.h"

G_BEGIN_DECLS

/* In system memory; of formats with colour, luma alone is read. */
#define GST_STEREO_DEEP_GRAYS "GRAY16_LE, GRAY16_BE, GRAY10_LE32"
#define GST_STEREO_DEEP_FORMATS "{ " GST_STEREO_DEEP_GRAYS ", P010_10LE, I420_10LE, Y210 }"

typedef struct _GstStereoDeep GstStereoDeep;
extern const GstStereoProperty gst_stereo_deep_properties[];

GstStereoDeep *gst_stereo_deep_new (GstElement *element);
void gst_stereo_deep_free (GstStereoDeep *deep);
/* At the start: forgets how many bits the samples used. */
void gst_stereo_deep_start (GstStereoDeep *deep);

/* For the source pad's task. @view has the left and the right frame, which may be one. One that has more than 8 bits a sample is
 * replaced by a frame of GRAY8 that has the same times and metadata; two of GRAY16 are scaled alike. In any case @view has references
 * of its own afterwards. FALSE after an error was posted; there are none then. */
gboolean gst_stereo_deep_convert (GstStereoDeep *deep, GstStereoFrame *view[2]);

G_END_DECLS

#endif
