/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A sink pad behind an element, for tests that look at every buffer in the streaming thread. */
#ifndef ELEMENTS_SINK_PAD_H
#define ELEMENTS_SINK_PAD_H

#include <gst/gst.h>

G_BEGIN_DECLS

/* Links a new active pad behind the pad src of @element. It accepts all caps and answers caps queries with @caps (takes
 * them). @chain and @event find @data with gst_pad_get_element_private(). Give it back with sink_pad_free(). */
GstPad *sink_pad_new (
    GstElement *element, GstCaps *caps, GstPadChainFunction chain, GstPadEventFunction event, gpointer data);
void sink_pad_free (GstPad *pad);

G_END_DECLS

#endif
