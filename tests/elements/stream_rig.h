/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * stereomatch between two cameras, each a thread that follows a script, and a sink that reads every output: which
 * frames it was made of, whether they may be a pair, and whether the metadata tell the same. What does not hold is kept
 * as a text.
 */
#ifndef ELEMENTS_STREAM_RIG_H
#define ELEMENTS_STREAM_RIG_H

#include <gst/check/gstcheck.h>

#include "stream_script.h"

G_BEGIN_DECLS

typedef struct _Rig Rig;

typedef struct {
  Rig *rig;
  guint view;
  GThread *thread;
  GstPad *src;
  GMutex stream; /* held while something is pushed, as a pad's stream lock is */
  gint at;       /* atomic: the step it is at */
  guint sent;    /* frames that the element took */
} RigCamera;

struct _Rig {
  GstElement *element;
  GstPad *sink;
  GstBus *bus;
  Script *script;
  RigCamera cameras[2];
  gboolean live;

  GMutex lock;
  GCond changed;
  guint outputs, restarted;           /* outputs in all; before the last restart */
  guint next[2];                      /* the least number that a frame of the next pair may have */
  gboolean eos, stop, busy, hold_end; /* hold_end: the cameras wait before their end */
  gint complaints;                    /* atomic: QoS messages */
  guint late_every;                   /* so many outputs from one complaint to the next; 0 = none */
  gboolean lossy;                     /* something was lost that is not counted */
  GString *deeds;                     /* what was done to the element, for who reads a failure */
  gchar *failure;                     /* what does not hold, first of all */
};

/* Takes @script. @properties beside what makes numbers readable. */
Rig *rig_new (Script *script, const gchar *properties, gboolean live);
/* Starts the cameras. */
void rig_play (Rig *rig);
/* Until @outputs came out, or a camera is at its end. */
void rig_wait (Rig *rig, guint outputs);
void rig_flush (Rig *rig);
void rig_restart (Rig *rig);
void rig_pause (Rig *rig);
/* The pad of a camera goes; until it comes again, no camera sends. */
void rig_take_pad (Rig *rig, guint view);
void rig_give_pad (Rig *rig, guint view);
/* Both. */
void rig_repad (Rig *rig, guint view);
/* Lets the cameras end, waits for the end downstream, and judges the whole. The text of what does not hold (free it),
 * or NULL. */
gchar *rig_end (Rig *rig);
/* Of the element's stats. */
guint64 rig_count (const Rig *rig, const gchar *name);
void rig_free (Rig *rig);

/* stream_judge.c, all with the lock held: keeps the first text; what must hold of an output; of the element's stats,
 * at the end. */
void rig_complain (Rig *rig, const gchar *format, ...) G_GNUC_PRINTF (2, 3);
void rig_judge_output (Rig *rig, GstBuffer *out);
void rig_judge_counts (Rig *rig);

G_END_DECLS

#endif
