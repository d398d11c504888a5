/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Views of real scenes, and what may be wrong with them. */
#ifndef ELEMENTS_VIEWS_H
#define ELEMENTS_VIEWS_H

#include <glib.h>

#include "stereo/stereo.h"

#define REAL_FRAMES 12

/* A view: luma, or RGB. */
typedef struct
{
  gint width, height, step;
  guint8 *pixels;
} RealView;

typedef struct
{
  guint count;
  RealView views[REAL_FRAMES][2];
} RealSequence;

/* The frames of @name, a folder of STEREO_DATA: left/000000.png and so on, or left.png alone. @format: GRAY8 or RGB. FALSE where
 * they, or a decoder for them, are missing. */
gboolean real_sequence_load (RealSequence *sequence, const gchar *name, const gchar *format);
void real_sequence_clear (RealSequence *sequence);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (RealSequence, real_sequence_clear)

StereoImage real_view_image (const RealView *view);
RealView real_view_copy (const RealView *view);
/* Half as wide and high, each pixel the mean of four. Luma alone. */
RealView real_view_halved (const RealView *view);
/* Enlarged about its middle; a point is found @down rows lower. Luma alone. */
RealView real_view_resampled (const RealView *view, gdouble scale, gint down);

/* Sensor noise of a deviation of about 3 grey levels, and the fault of that name: "none", "black", "blown-out", "dark", "blurred",
 * "covered". */
void real_view_change (RealView *view, const gchar *fault, guint seed);
/* "stripe:50-70": these rows, in percent, are those of the picture @first; "noisy:50-70": under noise. */
void real_view_freeze (RealView *view, const RealView *first, const gchar *fault, guint seed);
/* "rows:50-70": something of one grey level, with noise, lies before these rows, in percent; "columns:50-70": columns. */
void real_view_cover (RealView *view, const gchar *fault, guint seed);

#endif
