/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A pipeline of two sources that support seeking, and a judge that compares every output with the last seek. */
#ifndef ELEMENTS_SEEK_PLAY_H
#define ELEMENTS_SEEK_PLAY_H

#include "tests/support/streams/rig.h"

G_BEGIN_DECLS

/* Fewer than NUMBERED_CYCLE: every number says which frame it is. */
#define PLAY_FRAMES 150

typedef struct
{
  gdouble rate;
  GstClockTime start, stop;
  GstSeekFlags flags;
  guint32 seqnum;
} Seek;

/* A pipeline, and what came out of it. */
typedef struct
{
  const RigKind *kind;
  GstElement *pipeline, *element, *before[2]; /* what stands before each view */
  gboolean nameless;                          /* the segments do not tell which seek they answer */
  GMutex lock;
  GCond changed;
  GArray *seeks; /* the first one is how it begins */
  guint current; /* the one whose segment is downstream */
  gint64 next;   /* the number that is to come */
  guint64 shown; /* running time of the last output */
  guint outputs; /* since the last segment */
  gboolean eos;
  gchar *failure;
} Play;

/* Plays from the start; a queue for so many frames before each view, or none, and each frame made in up to @slowness
 * microseconds. */
Play *play_new (const RigKind *kind, const guint room[2], guint slowness);
void play_seek (Play *play, Seek seek);
/* Until so many outputs of the last seek came, or its end. */
void play_wait (Play *play, guint outputs);
/* Waits for the end, and judges whether all of the last seek came out. */
void play_judge_end (Play *play);
void play_free (Play *play);

G_END_DECLS

#endif
