/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An element with two views between two cameras and a sink. Each camera is a thread that follows a script. The sink
 * reads every output: which frames it was made of, whether they may be a pair, and whether the metadata say the same.
 * It keeps the first failure as a text.
 */
#ifndef ELEMENTS_STREAM_RIG_H
#define ELEMENTS_STREAM_RIG_H

#include <gst/check/gstcheck.h>
#include <gst/video/video.h>

#include "tests/support/streams/script.h"

G_BEGIN_DECLS

typedef struct _Rig Rig;
typedef struct _RigKind RigKind;

/* An element under test. */
struct _RigKind
{
  const gchar *name, *description; /* the latter as gst-launch takes it */
  gboolean calibrated;             /* it wants a calibration */
  GstVideoFormat in, out;          /* of a view; of what comes out */
  /* Which frames, modulo NUMBERED_CYCLE, an output with a GstStereoMeta was made of; FALSE when that cannot be read. */
  gboolean (*read) (const RigKind *kind, GstBuffer *out, guint *left, guint *right);
  /* Sets properties that change no number, the i-th time. */
  void (*fiddle) (GstElement *element, guint i);
};

/* kinds.c. The kind that STEREO_STREAM_ELEMENT names; without it stereomatch. */
const RigKind *rig_kind_chosen (void);
/* On the backend of STEREO_BACKEND. Unref it. */
GstElement *rig_kind_make (const RigKind *kind);

typedef struct
{
  Rig *rig;
  guint view;
  GThread *thread;
  GstPad *src, *out;  /* the camera's; the one that is linked to the element: of what is in between, if anything is */
  GstElement *filter; /* in between, or NULL */
  GMutex stream;      /* held while something is pushed, as a pad's stream lock is */
  gint at;            /* atomic: the step it is at */
  guint sent;         /* frames that the element took and were to be shown */
  GstFlowReturn flow; /* of the last frame */
} RigCamera;

struct _Rig
{
  const RigKind *kind;
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
  GstSegment segment;                 /* of the output */
  gint complaints;                    /* atomic: QoS messages */
  gint camera_errors;                 /* atomic: what stands between a camera and the element posted one */
  gboolean dies;                      /* a camera that met an error ends without a word, not with an EOS */
  guint late_every;                   /* so many outputs from one complaint to the next; 0 = none */
  gboolean lossy;                     /* something was lost that is not counted */
  GString *deeds;                     /* what was done to the element, for who reads a failure */
  gchar *failure;                     /* what does not hold, first of all */
};

/* Takes @script. */
Rig *rig_new (const RigKind *kind, Script *script, gboolean live);
/* Before it plays: an element, as gst-launch takes it, between a camera and its pad. */
void rig_insert (Rig *rig, guint view, const gchar *description);
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
/* Takes the pad and gives it back at once. */
void rig_repad (Rig *rig, guint view);
/* Lets the cameras end, waits for the end downstream, and judges the whole. The text of what does not hold (free it),
 * or NULL. */
gchar *rig_end (Rig *rig);
/* A number of the element's stats. */
guint64 rig_count (const Rig *rig, const gchar *name);
void rig_free (Rig *rig);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Rig, rig_free)
/* Plays once, so that objects that live as long as the process exist before leaks are counted. */
void rig_warm_up (const RigKind *kind);

/* camera.c */
void camera_init (RigCamera *camera, Rig *rig, guint view);
void camera_start (RigCamera *camera);
/* Requests its pad. */
void camera_link (RigCamera *camera);
/* What an element that starts has to be told again; the last half of it. With the stream lock held. */
void camera_introduce (RigCamera *camera);
void camera_send_segment_again (RigCamera *camera);
void camera_clear (RigCamera *camera);

/* judge.c. The caller holds the lock. rig_complain() keeps only the first text; rig_judge_output() checks one output, and
 * rig_judge_counts() checks the stats of the element at the end. */
void rig_complain (Rig *rig, const gchar *format, ...) G_GNUC_PRINTF (2, 3);
void rig_judge_output (Rig *rig, GstBuffer *out);
void rig_judge_counts (Rig *rig);

G_END_DECLS

#endif
