/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Buffers that say of themselves what is not so, between pages that fault. For buffers.c. */
#ifndef FUZZ_LIES_H
#define FUZZ_LIES_H

#include <gst/video/video.h>

#include "tests/support/random.h"

/* A frame for @info, honest in two of three: else its GstVideoMeta says anything of offsets, strides, planes, format and
 * size, its memory is too small, in several parts, or may not be written. */
GstBuffer *lies_frame (Random *random, const GstVideoInfo *info);
/* Adds a GstStereoMeta to @buffer that mostly fits @width x @height. Its numbers are of every size in one of three, and its
 * pictures lie as frames do. */
void lies_add_stereo_meta (Random *random, GstBuffer *buffer, int width, int height, gboolean narrow);
/* Adds regions, obstacles and a ground to @buffer, some of which are nowhere. */
void lies_add_finds (Random *random, GstBuffer *buffer);

#endif
