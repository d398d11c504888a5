/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages as JSON (RFC 8259), for programs in any language. */
#ifndef STEREO_JSON_H
#define STEREO_JSON_H

#include <gst/gst.h>

/* @structure as an object on one line; its name is the member "message". Numbers, booleans, strings, lists and structures
 * are what they are in JSON; a number that JSON does not know, as infinity, is null; other values are strings, as GStreamer
 * writes them. g_free. */
gchar *json_of_structure (const GstStructure *structure);

#endif
