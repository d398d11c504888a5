/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memory in use, in bytes, for tests that look for growth; 0 where it cannot be measured. */
#ifndef ELEMENTS_MEMORY_USED_H
#define ELEMENTS_MEMORY_USED_H

#include <glib.h>

G_BEGIN_DECLS

/* On the first device, by all processes: nothing else may use it meanwhile. Needs a driver, and no CUDA in the build. */
gsize device_memory_used (void);
/* Resident pages of this process. */
gsize host_memory_used (void);
/* Bytes of malloc's arena and of what it has mapped. With more than one arena (M_ARENA_MAX) it tells only of the first. */
gsize heap_used (void);
/* The least of that in a while in which threads let go of what they have done with. */
gsize heap_at_rest (void);

G_END_DECLS

#endif
