/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Real pictures, which are not part of the project: STEREO_DATA names their folder. */
#ifndef ELEMENTS_REAL_H
#define ELEMENTS_REAL_H

#include <gst/check/gstcheck.h>

/* Whether there is the folder. Says so where there is none. */
gboolean real_is_there (void);

/* The picture @name of the folder, in @format. NULL where it, or a decoder for it, is missing, and says so. */
GstSample *real_picture (const gchar *name, const gchar *format);

#endif
