/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The properties of stereorectify: their names, ranges and texts. */
#ifndef GST_STEREO_RECTIFY_PROPERTIES_H
#define GST_STEREO_RECTIFY_PROPERTIES_H

#include <glib-object.h>

G_BEGIN_DECLS

enum
{
  PROP_0,
  PROP_CALIBRATION,
  PROP_ALPHA,
  PROP_WIDTH,
  PROP_HEIGHT,
  PROP_UNIT,
  PROP_SAVE,
  PROP_AUTO_ALIGN,
  PROP_ACTIVE_BACKEND,
  PROP_STATS,
  PROP_FOCAL_LENGTH,
  PROP_BASELINE,
  PROP_PRINCIPAL_OFFSET,
  PROP_TABLE /* the first of engine_params[] */
};

/* In class_init. */
void gst_stereo_rectify_properties_install (GObjectClass *klass);

G_END_DECLS

#endif
