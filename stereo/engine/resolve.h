/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parameters before a plan; stereo_params_resolve() is declared in stereo.h. */
#ifndef STEREO_ENGINE_RESOLVE_H
#define STEREO_ENGINE_RESOLVE_H

#include "stereo/stereo.h"

/* Writes to @text which parameters are set that another method reads and the chosen one does not; "" when there are none. */
void stereo_params_unread (const StereoParams *params, char *text, size_t size);

#endif
