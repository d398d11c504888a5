/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef METHODS_H
#define METHODS_H

/* Writes docs/methods.md to the standard output. */
void methods_print (void);

#endif
