/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The properties of elements, from tables: a row for each property.
 *
 * An element, or a part of it, has a structure of settings. A row says where in it the value of a property lies, or has
 * functions that set and get it. Everything else is done here: GObject properties with their texts, ranges and
 * defaults are installed, set and got under the object lock. ranges.h says what becomes of a value out of range.
 */
#ifndef GST_STEREO_PROPERTIES_H
#define GST_STEREO_PROPERTIES_H

#include "gst/video/property_row.h"

G_BEGIN_DECLS

/* In class_init: installs the rows of a table, set_property() and get_property(). @settings: where in an instance the
 * structure of settings lies. A class may install several tables. */
void gst_stereo_properties_install (GObjectClass *klass, const GstStereoProperty *rows, gssize settings);
/* The same for a part of the element that keeps its settings private. @part: where an instance has the pointer to it. */
void gst_stereo_properties_install_part (GObjectClass *klass, const GstStereoProperty *rows, gssize part);
/* In instance_init, when the parts are there: writes the defaults to the members. */
void gst_stereo_properties_init (GObject *object);
/* Copies the structure of settings of @object, of @size bytes, between two changes of it. */
void gst_stereo_properties_read (gpointer object, gconstpointer settings, gpointer copy, gsize size);

G_END_DECLS

#endif
