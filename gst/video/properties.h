/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The engine's parameter table as GObject properties. */
#ifndef GST_STEREO_PROPS_H
#define GST_STEREO_PROPS_H

#include <gst/gst.h>

#include "stereo/stereo.h"

G_BEGIN_DECLS

/* One property for every row; the property of row i has the id @first + i. Returns the first id left free. The element has
 * to call gst_object_sync_values() for every frame: the properties are controllable. */
guint gst_stereo_props_install (GObjectClass *klass, guint first);

/* The property of one row, for an element that has only a few of them. It takes values outside its range too, which the
 * engine then refuses: GObject would only warn and keep the old value. */
GParamSpec *gst_stereo_props_spec (const StereoParamInfo *info);

/* @row: the row of the table. */
void gst_stereo_props_set (StereoParams *params, guint row, const GValue *value);
void gst_stereo_props_get (const StereoParams *params, guint row, GValue *value);
/* The same by name; FALSE when there is none. */
gboolean gst_stereo_props_set_named (StereoParams *params, const gchar *name, const GValue *value);
gboolean gst_stereo_props_get_named (const StereoParams *params, const gchar *name, GValue *value);

/* Every parameter by name; enumerations as their names. */
GstStructure *gst_stereo_props_settings (const StereoParams *params);

G_END_DECLS

#endif
