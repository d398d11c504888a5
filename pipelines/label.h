/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Short words and numbers in a picture, in a font of 5 by 7 dots that has only the characters of the legends. */
#ifndef LABEL_H
#define LABEL_H

#include "render.h"

/* Pixels; @dot: side of a dot. */
int label_width (const char *text, int dot);
int label_height (int dot);
/* Black, its upper left corner at @x, @y. Dots outside the canvas are left out. */
void label_draw (Canvas *canvas, int x, int y, int dot, const char *text);

#endif
