/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What explains the vertical offsets of matches: least squares, twice, the second time without what fits worst. */
#ifndef GST_STEREO_CHECK_FIT_H
#define GST_STEREO_CHECK_FIT_H

#include <glib.h>

G_BEGIN_DECLS

#define GST_STEREO_CHECK_MAX_TERMS 3

/* 1, x and y, from -1 to 1; and the offset, px. */
typedef struct
{
  gdouble terms[GST_STEREO_CHECK_MAX_TERMS], offset;
} GstStereoCheckOffset;

/* Fits the first @terms terms. Returns the median of the absolute rest; scratch of @count values. */
gdouble gst_stereo_check_fit (const GstStereoCheckOffset *offsets, guint count, guint terms,
    gdouble coefficients[GST_STEREO_CHECK_MAX_TERMS], gdouble *scratch);

G_END_DECLS

#endif
