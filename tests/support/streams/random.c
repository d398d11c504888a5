/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Scripts by chance. */
#include "tests/support/gst/numbered.h"
#include "tests/support/streams/script.h"

/* Time of the first frame: there is room to jump back. */
#define START (40 * SCRIPT_FRAME)

typedef struct
{
  Script *script;
  GRand *rand;
  guint faults; /* that may be */
  guint view;
  guint end;          /* moments that this camera sees */
  guint silent;       /* moments yet that it does not send */
  GstSegment segment; /* the running times are the same in all of them */
  gint64 offset;      /* of the pad */
  GstClockTime back;  /* that the timestamps jumped */
  gint held;          /* moment of a frame that comes after the next; -1 = none */
} Camera;

static gboolean
chance (Camera *camera, Fault fault, gdouble probability)
{
  /* drawn either way: the rest of an episode stays the same when a fault is left out */
  gboolean drawn = g_rand_double (camera->rand) < probability;

  if (!drawn || !(camera->faults & 1u << fault))
    return FALSE;
  camera->script->faults[fault]++;
  return TRUE;
}

/* The timestamp that gives a running time. */
static GstClockTime
stamp_of (const Camera *camera, gint64 time)
{
  gint64 past = script_scale (time - (gint64) camera->segment.base - camera->offset, camera->segment.rate);

  return (GstClockTime) MAX (0, (gint64) camera->segment.start + past);
}

static gint64
running_time_of (const Camera *camera, guint index)
{
  return (gint64) (START + camera->script->duration[camera->view] * index - camera->back);
}

static GstClockTime
time_of (Camera *camera, guint index)
{
  gint64 time = running_time_of (camera, index);
  gint32 quarter = (gint32) (SCRIPT_FRAME / 4) - 1;

  if (chance (camera, FAULT_JITTER, 0.5))
    time += g_rand_int_range (camera->rand, -quarter, quarter);
  if (chance (camera, FAULT_UNTIMED, 0.2))
    return GST_CLOCK_TIME_NONE;
  return stamp_of (camera, time);
}

static void
silence (Camera *camera, guint index)
{
  /* up to five seconds, if the episode lasts as long; it comes back before the end */
  if (index + 20 < camera->end && chance (camera, FAULT_STALL, 0.02)) {
    camera->silent = (guint) g_rand_int_range (camera->rand, 2, (gint32) MIN (126, camera->end - index - 15));
  } else if (chance (camera, FAULT_GAP, 0.05)) {
    camera->silent = (guint) g_rand_int_range (camera->rand, 1, 6);
    script_gap (camera->script, camera->view, stamp_of (camera, running_time_of (camera, index)),
        (GstClockTime) script_scale ((gint64) (camera->silent * SCRIPT_FRAME), camera->segment.rate));
  }
}

/* A segment of another rate, from another place, and now and then one that ends before its camera does. */
static void
new_segment (Camera *camera, guint index)
{
  static const gdouble rates[] = { 1, 0.5, 2, 4 };
  GstSegment *segment = &camera->segment;
  gint64 now = running_time_of (camera, index);

  segment->rate = rates[g_rand_int_range (camera->rand, 0, G_N_ELEMENTS (rates))];
  segment->start = (GstClockTime) g_rand_int_range (camera->rand, 10, 100) * GST_SECOND;
  segment->time = (GstClockTime) g_rand_int_range (camera->rand, 0, 100) * GST_SECOND;
  segment->position = segment->start;
  segment->base = (GstClockTime) (g_rand_double (camera->rand) * (gdouble) now / 4) / GST_USECOND * GST_USECOND;
  segment->stop = GST_CLOCK_TIME_NONE;
  if (g_rand_double (camera->rand) < 0.2)
    segment->stop = stamp_of (camera, now + g_rand_int_range (camera->rand, 6, 25) * (gint64) SCRIPT_FRAME);
  script_segment_of (camera->script, camera->view, segment);
}

static void
between (Camera *camera, guint index)
{
  if (chance (camera, FAULT_EVENT, 0.05))
    script_event (camera->script, camera->view);
  if (chance (camera, FAULT_JUMP, 0.03))
    camera->back += SCRIPT_FRAME * (GstClockTime) g_rand_int_range (camera->rand, 1, 20);
  camera->back = MIN (camera->back, START - SCRIPT_FRAME);
  if (chance (camera, FAULT_SEGMENT, 0.03))
    new_segment (camera, index);
  if (chance (camera, FAULT_OFFSET, 0.03)) {
    camera->offset = g_rand_int_range (camera->rand, -20, 20) * (gint64) (SCRIPT_FRAME / 4);
    script_offset (camera->script, camera->view, camera->offset);
  }
}

static void
show (Camera *camera, guint index)
{
  script_frame (camera->script, camera->view, index, time_of (camera, index));
  if (chance (camera, FAULT_REPEAT, 0.07)) {
    GArray *frames = camera->script->frames[camera->view];
    script_frame (camera->script, camera->view, index, g_array_index (frames, Frame, frames->len - 1).pts);
  }
}

static void
add_index (Camera *camera, guint index)
{
  between (camera, index);
  if (!camera->silent)
    silence (camera, index);
  if (camera->silent) {
    camera->silent--;
    return;
  }
  if (chance (camera, FAULT_DROP, 0.1))
    return;
  if (camera->held < 0 && chance (camera, FAULT_REORDER, 0.07)) {
    camera->held = (gint) index;
    return;
  }
  show (camera, index);
  if (camera->held >= 0)
    show (camera, (guint) camera->held);
  camera->held = -1;
}

/* Timestamps, order and size that are as they are for every frame of a moment, or else nothing holds but the limit. */
static guint
compatible (GRand *rand, guint faults)
{
  guint lies = 1u << FAULT_JUMP | 1u << FAULT_UNTIMED | 1u << FAULT_RATE;

  for (guint fault = 0; fault < FAULTS; fault++)
    if (g_rand_double (rand) < (lies & 1u << fault ? 0.85 : 0.4))
      faults &= ~(1u << fault);
  /* both cameras change their size at one moment: what then pairs across it, does so by a lie */
  if (faults & (lies | 1u << FAULT_REORDER))
    faults &= ~(1u << FAULT_CAPS);
  /* GStreamer cannot move a segment to before its end */
  if (faults & 1u << FAULT_JUMP)
    faults &= ~(1u << FAULT_OFFSET);
  /* the limits of what is looked at are then others */
  if (faults & 1u << FAULT_RATE)
    faults &= ~(1u << FAULT_GAP | 1u << FAULT_UNTIMED);
  return faults;
}

Script *
script_random (GRand *rand, guint length, guint faults)
{
  static const gint rates[][2] = { { 30, 25 }, { 30, 15 }, { 25, 30 }, { 15, 30 } };
  guint rate = (guint) g_rand_int_range (rand, 0, G_N_ELEMENTS (rates)), change, ends[2] = { length, length };
  gint sizes[2] = { NUMBERED_WIDTH, NUMBERED_WIDTH + 2 * g_rand_int_range (rand, 1, 8) };

  faults = compatible (rand, faults);
  change = (guint) g_rand_int_range (rand, 1, (gint32) length);
  Script *script = script_new (faults & 1u << FAULT_RATE ? rates[rate] : NULL);
  script->faults[FAULT_RATE] = (faults & 1u << FAULT_RATE) != 0;
  script->faults[FAULT_CAPS] = (faults & 1u << FAULT_CAPS) != 0;
  if (faults & 1u << FAULT_EARLY_END && ++script->faults[FAULT_EARLY_END])
    ends[g_rand_int_range (rand, 0, 2)] -= (guint) g_rand_int_range (rand, 1, (gint32) MAX (2, length));
  script->truthful &= !(faults & (1u << FAULT_JUMP | 1u << FAULT_UNTIMED));
  for (guint view = 0; view < 2; view++) {
    Camera camera = { .script = script,
      .rand = rand,
      .faults = faults,
      .view = view,
      .end = ends[view] * (guint) script->rate[view] / 25,
      .held = -1 };
    gst_segment_init (&camera.segment, GST_FORMAT_TIME);
    script_caps (script, view, sizes[0]);
    script_segment (script, view, 0);
    for (guint index = 0; index < camera.end; index++) {
      if (index == change && faults & 1u << FAULT_CAPS)
        script_caps (script, view, sizes[1]);
      add_index (&camera, index);
    }
  }
  script_end (script);
  return script;
}
