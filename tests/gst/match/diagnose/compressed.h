/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What JPEG leaves of a view. */
#ifndef ELEMENTS_COMPRESSED_H
#define ELEMENTS_COMPRESSED_H

#include <glib.h>

/* As libjpeg encodes luma with that @quality, 1..50, and decodes it again: blocks of 8x8 pixels, whose cosines are rounded to multiples of a
 * step. Columns and rows beyond the last whole block stay as they are. */
void compress_view (guint8 *pixels, gsize stride, gint width, gint height, gint quality);

#endif
