/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Values that a property does not take. GObject would warn of one and take the nearest value: the stream would run with
 * another value than the user asked for. With these functions the value is an error on the bus, when the element
 * starts, or at once while it runs.
 */
#ifndef GST_STEREO_RANGES_H
#define GST_STEREO_RANGES_H

#include "gst/video/property_row.h"

G_BEGIN_DECLS

/* The range of a GST_STEREO_INT64: sums of two values do not overflow. */
#define GST_STEREO_LEAST_INT64 (G_MININT64 / 4)
#define GST_STEREO_LARGEST_INT64 (G_MAXINT64 / 4)
/* The largest value of a GST_STEREO_UINT64. */
guint64 gst_stereo_property_max (const GstStereoProperty *row);

/* The name of a choice: "side-by-side". NULL: it is none of @choices. */
const gchar *gst_stereo_choice_name (const GEnumValue *choices, gint value);

/* Why the property does not take @value: a sentence (g_free), or NULL. */
gchar *gst_stereo_property_problem (const GstStereoProperty *row, const GValue *value);

/* Takes @problem: the property keeps the value that it has, and the element does not start before it was set to another
 * one. NULL: the value is right. The caller does not lock. */
void gst_stereo_note_problem (GstElement *element, const GParamSpec *spec, gchar *problem);
/* For the start of an element: FALSE after an error was posted. */
gboolean gst_stereo_values_accepted (GstElement *element);

G_END_DECLS

#endif
