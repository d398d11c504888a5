/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Who takes what, so that all of it costs least: the Hungarian method. */
#ifndef GST_STEREO_GROUND_ASSIGN_H
#define GST_STEREO_GROUND_ASSIGN_H

#include <glib.h>

G_BEGIN_DECLS

/* @costs has @rows times @columns entries, row after row. Each row takes one column at most, each column goes to one row
 * at most. A row that takes none costs @none: no row takes what costs more. @taken has for each row its column, or -1. */
void gst_stereo_ground_assign (const gdouble *costs, guint rows, guint columns, gdouble none, gint *taken);

G_END_DECLS

#endif
