/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What two cameras send: a list of steps for each, with faults. A frame has the number of the moment that it shows, so
 * that the judge knows which frames belong together.
 */
#ifndef ELEMENTS_STREAM_SCRIPT_H
#define ELEMENTS_STREAM_SCRIPT_H

#include <gst/gst.h>

G_BEGIN_DECLS

#define SCRIPT_FRAME (GST_SECOND / 25)
/* When the frame of a moment is to be shown, if nothing else is said. */
#define SCRIPT_AT(index) ((GstClockTime) (10 + (index)) * SCRIPT_FRAME)

typedef enum
{
  FAULT_DROP,     /* a frame never comes */
  FAULT_REPEAT,   /* a frame comes twice */
  FAULT_REORDER,  /* a frame comes after the next one */
  FAULT_JITTER,   /* a timestamp is off by less than a quarter of a frame */
  FAULT_STALL,    /* a camera sends nothing for a while */
  FAULT_GAP,      /* the same, with GAP events */
  FAULT_JUMP,     /* the timestamps of a camera go back */
  FAULT_UNTIMED,  /* a frame has no timestamp */
  FAULT_CAPS,     /* the size changes */
  FAULT_SEGMENT,  /* a new segment with another start, rate and base, which may end early */
  FAULT_OFFSET,   /* gst_pad_set_offset() of a camera */
  FAULT_EVENT,    /* a custom event between the frames */
  FAULT_RATE,     /* the cameras run at different rates */
  FAULT_LATE,     /* downstream says that a pair came too late */
  FAULT_PROPERTY, /* a property is set */
  FAULT_FLUSH,
  FAULT_PAUSE,     /* PLAYING, PAUSED, PLAYING */
  FAULT_RESTART,   /* PLAYING, NULL, PLAYING */
  FAULT_REPAD,     /* a pad is released and requested again */
  FAULT_EARLY_END, /* one camera ends before the other */
  FAULTS
} Fault;

const gchar *fault_name (Fault fault);

typedef enum
{
  STEP_FRAME,
  STEP_GAP,
  STEP_CAPS,
  STEP_SEGMENT,
  STEP_OFFSET,
  STEP_EVENT,
  STEP_EOS
} StepKind;

typedef struct
{
  StepKind kind;
  guint frame;                  /* its number in the script's frames */
  gint width;                   /* STEP_CAPS */
  GstClockTime start, duration; /* STEP_GAP */
  GstSegment segment;           /* STEP_SEGMENT */
  gint64 offset;                /* STEP_OFFSET */
} Step;

typedef struct
{
  guint index;
  GstClockTime pts, duration; /* the first may be none */
  gint64 time, stream;        /* running and stream time, of a frame with a timestamp */
  gint width;
  gboolean outside; /* of its segment: not to be shown */
  gboolean pushed;  /* by the rig */
} Frame;

typedef struct
{
  GArray *steps[2], *frames[2]; /* of the left and the right camera */
  gint rate[2];                 /* frames per second, for the caps */
  GstClockTime duration[2];
  gint64 limit;         /* ns that the frames of a pair may be apart */
  gboolean truthful;    /* timestamps tell the moment: a pair must be of one */
  guint expected;       /* pairs that must come out at least, if nothing is lost on purpose */
  guint faults[FAULTS]; /* how many were put in */
} Script;

/* Nothing but what is added then. @rates may be NULL: 25 / 25. */
Script *script_new (const gint *rates);
void script_free (Script *script);
/* The first caps and segments of both. */
void script_begin (Script *script);
void script_caps (Script *script, guint view, gint width);
/* A frame of the size of the last caps. @pts may be none. */
void script_frame (Script *script, guint view, guint index, GstClockTime pts);
/* Frames of the moments from @from to before @to, on time. */
void script_frames (Script *script, guint view, guint from, guint to);
void script_gap (Script *script, guint view, GstClockTime start, GstClockTime duration);
void script_segment (Script *script, guint view, GstClockTime start);
void script_segment_of (Script *script, guint view, const GstSegment *segment);
/* Offset of the camera's pad. */
void script_offset (Script *script, guint view, gint64 offset);
void script_event (Script *script, guint view);
/* At the end of both; counts what is to come out. */
void script_end (Script *script);

/* In what a segment of @rate counts, of so much running time; truncated, as GstSegment does. */
gint64 script_scale (gint64 time, gdouble rate);

/* random.c. The faults that a random script may have, as a mask. */
#define SCRIPT_STREAM_FAULTS \
  (1u << FAULT_DROP | 1u << FAULT_REPEAT | 1u << FAULT_REORDER | 1u << FAULT_JITTER | 1u << FAULT_STALL | \
      1u << FAULT_GAP | 1u << FAULT_JUMP | 1u << FAULT_UNTIMED | 1u << FAULT_CAPS | 1u << FAULT_SEGMENT | \
      1u << FAULT_EVENT | 1u << FAULT_RATE | 1u << FAULT_EARLY_END | 1u << FAULT_OFFSET)
Script *script_random (GRand *rand, guint length, guint faults);

G_END_DECLS

#endif
