/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* 3 x 3 matrices, row by row, and vectors of 3. @out must not overlap an input. */
#ifndef STEREO_RECTIFY_MATRIX_H
#define STEREO_RECTIFY_MATRIX_H

/* a * b */
void stereo_matrix_multiply (const double *a, const double *b, double *out);
/* a * v */
void stereo_matrix_apply (const double *a, const double *v, double *out);
/* The cross product of two vectors. */
void stereo_matrix_cross (const double *a, const double *b, double *out);
void stereo_matrix_transpose (const double *a, double *out);
/* Returns the determinant; @out is undefined if the determinant is 0. */
double stereo_matrix_invert (const double *a, double *out);

#endif
