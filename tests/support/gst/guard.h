/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What every test of a stream needs: a watchdog that names the case that stands still, and a count of the GStreamer
 * objects that are alive. The leaks tracer counts them (GST_TRACERS=leaks); without the tracer nothing is counted.
 */
#ifndef ELEMENTS_GUARD_H
#define ELEMENTS_GUARD_H

#include <gst/gst.h>

G_BEGIN_DECLS

/* Aborts the process with @name on stderr when guard_end() is not called within @seconds (times STEREO_TEST_SLOWNESS,
 * for valgrind and busy machines). May be called again: the name and the time change. */
void guard_begin (const gchar *name, guint seconds);
void guard_end (void);

/* From here on, until guard_leaked(): the tracer hangs when it is started twice. */
void guard_count_objects (void);
/* What came since then and has not gone: "GstBuffer +2, GstCaps +1", or NULL. */
gchar *guard_leaked (void);
/* Gives up a reference to @object. FALSE: somebody else still held one 5 seconds (times STEREO_TEST_SLOWNESS) later. The tracer of
 * GStreamer 1.22 does not see aggregators and their pads. */
gboolean guard_unref_last (gpointer object);

/* A number from the environment, or @otherwise. */
guint64 guard_number (const gchar *name, guint64 otherwise);

G_END_DECLS

#endif
