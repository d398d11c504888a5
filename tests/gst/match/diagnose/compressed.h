/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What JPEG, and encoders of video, leave of a view. */
#ifndef ELEMENTS_COMPRESSED_H
#define ELEMENTS_COMPRESSED_H

#include <glib.h>

/* As libjpeg encodes luma with that @quality, 1..50, and decodes it again: blocks of 8x8 pixels, whose cosines are rounded to multiples of a
 * step. Columns and rows beyond the last whole block stay as they are. */
void compress_view (guint8 *pixels, gsize stride, gint width, gint height, gint quality);
/* As MPEG-4 and its like: a block is shown again, to the bit, where its pixels differ by less than @least grey levels in the mean from what
 * was @shown last: width * height pixels, which are kept up to date. */
void repeat_blocks (guint8 *pixels, gsize stride, gint width, gint height, guint8 *shown, gint least);

#endif
