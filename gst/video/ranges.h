/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Values outside the range of a property. GObject would warn of one and take a default or the nearest value: the stream
 * would run with another value than the user asked for. With these functions the value is an error on the bus, when the
 * element starts, or at once while it runs.
 */
#ifndef GST_STEREO_RANGES_H
#define GST_STEREO_RANGES_H

#include <gst/gst.h>

G_BEGIN_DECLS

/* The type of property that is derived from @parent and takes every value. */
GType gst_stereo_unchecked_type (GType parent);
/* Makes of @spec, which it takes, a property that takes every value and shows its range as before. It knows numbers and
 * enumerations. */
GParamSpec *gst_stereo_unchecked_spec (GParamSpec *spec);

/* For set_property(), without the object lock: FALSE where the value is outside the property's range. The property then
 * keeps the value that it has, and the element does not start before the property was set to another one. */
gboolean gst_stereo_value_in_range (GstElement *element, GParamSpec *spec, const GValue *value);
/* The same where @spec does not tell what is wrong: @message, which is taken, does. NULL: the value is right. */
void gst_stereo_refuse_value (GstElement *element, GParamSpec *spec, gchar *message);
/* For the start of an element: FALSE after an error was posted. */
gboolean gst_stereo_values_accepted (GstElement *element);

G_END_DECLS

#endif
