/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The debug category of stereorectify, for the element and its parts. */
#ifndef GST_STEREO_RECTIFY_DEBUG_H
#define GST_STEREO_RECTIFY_DEBUG_H

#include <gst/gst.h>

G_BEGIN_DECLS

GST_DEBUG_CATEGORY_EXTERN (gst_stereo_rectify_debug);
#define GST_CAT_DEFAULT gst_stereo_rectify_debug

G_END_DECLS

#endif
