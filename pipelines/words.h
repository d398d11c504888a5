/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The messages of the elements in words, on standard output: what a driver would want to hear. */
#ifndef STEREO_WORDS_H
#define STEREO_WORDS_H

#include <gst/gst.h>

/* Whether it is a message that there are words for: stereo-nearest, stereo-obstacles, stereo-health, and truck's own
 * "ahead". */
gboolean words_know (const GstStructure *message);
/* Says it. What is not known is said to be not known. */
void words_say (const GstStructure *message);

#endif
