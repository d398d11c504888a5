/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/pairing/decorate.h"

#include "gst/video/metas.h"

void
gst_stereo_decorate (
    GstBuffer *out, const GstStereoFrame *left, const GstStereoFrame *other, gboolean same_place, gboolean discont)
{
  gboolean alone = left->layout.packing == GST_STEREO_PACKING_AUTO ||
      left->layout.packing == GST_STEREO_PACKING_FRAME_BY_FRAME;
  const GstStereoFrame *timed = GST_BUFFER_PTS_IS_VALID (left->buffer) ||
          left->layout.packing == GST_STEREO_PACKING_AUTO ?
      left :
      other;

  gst_buffer_copy_into (out, timed->buffer, GST_BUFFER_COPY_TIMESTAMPS, 0, (gsize) -1);
  GST_BUFFER_DTS (out) = GST_CLOCK_TIME_NONE;
  if (discont || GST_BUFFER_FLAG_IS_SET (left->buffer, GST_BUFFER_FLAG_DISCONT))
    GST_BUFFER_FLAG_SET (out, GST_BUFFER_FLAG_DISCONT);
  if (GST_BUFFER_FLAG_IS_SET (left->buffer, GST_BUFFER_FLAG_CORRUPTED) ||
      GST_BUFFER_FLAG_IS_SET (other->buffer, GST_BUFFER_FLAG_CORRUPTED))
    GST_BUFFER_FLAG_SET (out, GST_BUFFER_FLAG_CORRUPTED);
  gst_stereo_copy_metas (out, left->buffer, same_place && alone, FALSE);
}
