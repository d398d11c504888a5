/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which numbers the metadata may hold, for the library and for the elements, which compile it in: a program or a file
 * may put anything there. Those of a GstStereoMeta are the ranges of the properties of stereomatch; a test compares them.
 */
#ifndef GST_STEREO_PLAUSIBLE_H
#define GST_STEREO_PLAUSIBLE_H

#include "gst/meta/gststereometa.h"

G_BEGIN_DECLS

#define GST_STEREO_MAX_SIDE 65536u

typedef struct
{
  const gchar *name; /* of the member */
  gsize offset;      /* of the gdouble in GstStereoMeta */
  gdouble min, max;
} GstStereoMetaRange;

/* All numbers of a meta; the last one has no name. */
extern const GstStereoMetaRange gst_stereo_meta_ranges[];

/* What is wrong with the numbers of a meta: a part of a sentence, such as "focal_length is 1e+17, and its range is 0 to
 * 1e+06". NULL: nothing. g_free it. */
gchar *gst_stereo_meta_problem (const GstStereoMeta *meta);

G_END_DECLS

#endif
