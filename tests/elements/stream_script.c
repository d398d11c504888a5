/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stream_script.h"

#include "numbered.h"

const gchar *
fault_name (Fault fault)
{
  static const gchar *const names[FAULTS] = { "drop", "repeat", "reorder", "jitter", "stall", "gap", "jump", "untimed",
    "caps", "segment", "event", "rate", "late", "property", "flush", "pause", "restart", "repad", "early-end" };

  return names[fault];
}

Script *
script_new (const gint *rates)
{
  Script *script = g_new0 (Script, 1);

  for (guint view = 0; view < 2; view++) {
    script->steps[view] = g_array_new (FALSE, TRUE, sizeof (Step));
    script->frames[view] = g_array_new (FALSE, TRUE, sizeof (Frame));
    script->rate[view] = rates ? rates[view] : 25;
    script->duration[view] = GST_SECOND / (guint) script->rate[view];
  }
  script->limit = (gint64) script->duration[0] / 2;
  script->truthful = !rates || rates[0] == rates[1];
  return script;
}

void
script_free (Script *script)
{
  for (guint view = 0; view < 2; view++) {
    g_array_unref (script->steps[view]);
    g_array_unref (script->frames[view]);
  }
  g_free (script);
}

static Step *
add (Script *script, guint view, StepKind kind)
{
  GArray *steps = script->steps[view];
  Step *step;

  g_array_set_size (steps, steps->len + 1);
  step = &g_array_index (steps, Step, steps->len - 1);
  step->kind = kind;
  return step;
}

/* The last caps or segment so far; NULL before the first. */
static const Step *
last (const Script *script, guint view, StepKind kind)
{
  for (guint i = script->steps[view]->len; i > 0; i--) {
    const Step *step = &g_array_index (script->steps[view], Step, i - 1);
    if (step->kind == kind)
      return step;
  }
  return NULL;
}

void
script_caps (Script *script, guint view, gint width)
{
  add (script, view, STEP_CAPS)->width = width;
}

void
script_frame (Script *script, guint view, guint moment, GstClockTime pts)
{
  const Step *caps = last (script, view, STEP_CAPS), *segment = last (script, view, STEP_SEGMENT);
  Frame frame = { moment, pts, 0, caps->width, FALSE, FALSE };

  if (GST_CLOCK_TIME_IS_VALID (pts))
    frame.time = (gint64) pts - (gint64) (segment ? segment->start : 0);
  g_array_append_val (script->frames[view], frame);
  add (script, view, STEP_FRAME)->frame = script->frames[view]->len - 1;
}

void
script_gap (Script *script, guint view, GstClockTime start, GstClockTime duration)
{
  Step *step = add (script, view, STEP_GAP);

  step->start = start;
  step->duration = duration;
}

void
script_segment (Script *script, guint view, GstClockTime start)
{
  add (script, view, STEP_SEGMENT)->start = start;
}

void
script_event (Script *script, guint view)
{
  add (script, view, STEP_EVENT);
}

static gboolean
shows (const GArray *frames, guint moment)
{
  for (guint i = 0; i < frames->len; i++)
    if (g_array_index (frames, Frame, i).moment == moment)
      return TRUE;
  return FALSE;
}

void
script_end (Script *script)
{
  const GArray *left = script->frames[0];
  GHashTable *seen = g_hash_table_new (NULL, NULL);

  for (guint i = 0; i < left->len; i++) {
    gpointer moment = GUINT_TO_POINTER (g_array_index (left, Frame, i).moment);
    if (g_hash_table_add (seen, moment) && shows (script->frames[1], GPOINTER_TO_UINT (moment)))
      script->expected++;
  }
  g_hash_table_unref (seen);
  add (script, 0, STEP_EOS);
  add (script, 1, STEP_EOS);
}

/* ---- by chance --------------------------------------------------------------------------- */

/* Of the first frame: there is room to jump back. */
#define START (40 * SCRIPT_FRAME)

typedef struct {
  Script *script;
  GRand *rand;
  guint faults; /* that may be */
  guint view;
  guint end;                 /* moments that this camera sees */
  guint silent;              /* moments yet that it does not send */
  GstClockTime offset, back; /* of the segment; that the timestamps jumped */
  gint held;                 /* moment of a frame that comes after the next; -1 = none */
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

static GstClockTime
time_of (Camera *camera, guint moment)
{
  GstClockTime pts = camera->offset + START + camera->script->duration[camera->view] * moment - camera->back;
  gint32 quarter = (gint32) (SCRIPT_FRAME / 4) - 1;

  if (chance (camera, FAULT_JITTER, 0.5))
    pts = (GstClockTime) ((gint64) pts + g_rand_int_range (camera->rand, -quarter, quarter));
  if (chance (camera, FAULT_UNTIMED, 0.2))
    pts = GST_CLOCK_TIME_NONE;
  return pts;
}

static void
silence (Camera *camera, guint moment)
{
  /* up to five seconds, if the episode lasts as long; it comes back before the end */
  if (moment + 20 < camera->end && chance (camera, FAULT_STALL, 0.02)) {
    camera->silent = (guint) g_rand_int_range (camera->rand, 2, (gint32) MIN (126, camera->end - moment - 15));
  } else if (chance (camera, FAULT_GAP, 0.05)) {
    camera->silent = (guint) g_rand_int_range (camera->rand, 1, 6);
    script_gap (camera->script, camera->view, camera->offset + START + SCRIPT_FRAME * moment - camera->back,
        camera->silent * SCRIPT_FRAME);
  }
}

static void
between (Camera *camera)
{
  if (chance (camera, FAULT_EVENT, 0.05))
    script_event (camera->script, camera->view);
  if (chance (camera, FAULT_JUMP, 0.03))
    camera->back += SCRIPT_FRAME * (GstClockTime) g_rand_int_range (camera->rand, 1, 20);
  camera->back = MIN (camera->back, START - SCRIPT_FRAME);
  if (chance (camera, FAULT_SEGMENT, 0.03)) {
    camera->offset = (GstClockTime) g_rand_int_range (camera->rand, 0, 100) * GST_SECOND;
    script_segment (camera->script, camera->view, camera->offset);
  }
}

static void
show (Camera *camera, guint moment)
{
  script_frame (camera->script, camera->view, moment, time_of (camera, moment));
  if (chance (camera, FAULT_REPEAT, 0.07)) {
    GArray *frames = camera->script->frames[camera->view];
    script_frame (camera->script, camera->view, moment, g_array_index (frames, Frame, frames->len - 1).pts);
  }
}

static void
one_moment (Camera *camera, guint moment)
{
  between (camera);
  if (!camera->silent)
    silence (camera, moment);
  if (camera->silent) {
    camera->silent--;
    return;
  }
  if (chance (camera, FAULT_DROP, 0.1))
    return;
  if (camera->held < 0 && chance (camera, FAULT_REORDER, 0.07)) {
    camera->held = (gint) moment;
    return;
  }
  show (camera, moment);
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
  /* the limits of what is looked at are then others */
  if (faults & 1u << FAULT_RATE)
    faults &= ~(1u << FAULT_GAP | 1u << FAULT_UNTIMED);
  return faults;
}

Script *
script_random (GRand *rand, guint moments, guint faults)
{
  static const gint rates[][2] = { { 30, 25 }, { 30, 15 }, { 25, 30 }, { 15, 30 } };
  guint rate = (guint) g_rand_int_range (rand, 0, G_N_ELEMENTS (rates)), change, ends[2] = { moments, moments };
  gint sizes[2] = { NUMBERED_WIDTH, NUMBERED_WIDTH + 2 * g_rand_int_range (rand, 1, 8) };
  Script *script;

  faults = compatible (rand, faults);
  change = (guint) g_rand_int_range (rand, 1, (gint32) moments);
  script = script_new (faults & 1u << FAULT_RATE ? rates[rate] : NULL);
  script->faults[FAULT_RATE] = (faults & 1u << FAULT_RATE) != 0;
  script->faults[FAULT_CAPS] = (faults & 1u << FAULT_CAPS) != 0;
  if (faults & 1u << FAULT_EARLY_END && ++script->faults[FAULT_EARLY_END])
    ends[g_rand_int_range (rand, 0, 2)] -= MIN (moments / 2, 15);
  script->truthful &= !(faults & (1u << FAULT_JUMP | 1u << FAULT_UNTIMED));
  for (guint view = 0; view < 2; view++) {
    Camera camera = { script, rand, faults, view, ends[view] * (guint) script->rate[view] / 25, 0, 0, 0, -1 };
    script_caps (script, view, sizes[0]);
    script_segment (script, view, 0);
    for (guint moment = 0; moment < camera.end; moment++) {
      if (moment == change && faults & 1u << FAULT_CAPS)
        script_caps (script, view, sizes[1]);
      one_moment (&camera, moment);
    }
  }
  script_end (script);
  return script;
}
