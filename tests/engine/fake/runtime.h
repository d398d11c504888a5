/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A CUDA runtime of host memory, for tests of what the engine does when a device is lost. It stands in for the real one in
 * what it is linked into. Kernels do nothing: what they would make is 0.
 */
#ifndef FAKE_RUNTIME_H
#define FAKE_RUNTIME_H

/* for who loads a plugin that it is linked into */
#define SEEN __attribute__ ((visibility ("default")))

#define FAKE_DEVICES 65

/* From the call after the next @before on, every call that needs the device returns @code, for ever; or until it is
 * lost anew. A negative @before: none does. */
SEEN void fake_runtime_lose (int before, int code);
/* Calls since then. */
SEEN int fake_runtime_calls (void);
/* Streams, events, graphs and pieces of memory that were made and not given back. */
SEEN int fake_runtime_alive (void);

#endif
