/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef GST_STEREO_SORT_H
#define GST_STEREO_SORT_H

#include <glib.h>
#include <stdlib.h>

static inline gint
gst_stereo_compare_values (gconstpointer a, gconstpointer b)
{
  gdouble one = *(const gdouble *) a, other = *(const gdouble *) b;

  return one < other ? -1 : one > other;
}

/* The smallest one first. */
static inline void
gst_stereo_sort_values (gdouble *values, guint count)
{
  qsort (values, count, sizeof *values, gst_stereo_compare_values);
}

#endif
