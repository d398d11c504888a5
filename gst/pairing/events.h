/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the base class does with events and queries. */
#ifndef GST_STEREO_EVENTS_H
#define GST_STEREO_EVENTS_H

#include <gst/base/gstaggregator.h>

G_BEGIN_DECLS

/* In class_init. */
void gst_stereo_events_install (GstAggregatorClass *klass);

G_END_DECLS

#endif
