/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How streams end: one view long before the other, and a camera that meets an error in the middle of its stream. Every frame that
 * has a partner comes out. The other camera is told to stop, unless the pipeline is live: then it goes on to its own end, for what
 * else shows its frames, and every frame of it is counted.
 * STEREO_STREAM_ELEMENT names the element under test (tests/support/streams/kinds.c).
 */
#include "tests/support/gst/guard.h"
#include "tests/support/streams/rig.h"
#include "tests/support/gst/suite.h"

/* Frames of the other view, after the last pair: one that is dropped, one in the queue, and one that is shown meanwhile. */
#define QUEUED 3
#define FRAMES 200 /* of the camera that goes on */

static const RigKind *kind;

static Rig *
rig_of (guint left, guint right, gboolean live)
{
  Script *script = script_new (NULL);

  script_begin (script);
  script_frames (script, 0, 0, left);
  script_frames (script, 1, 0, right);
  script_end (script);
  return rig_new (kind, script, live);
}

/* That @view was told in time, after @pairs. */
static void
judge_end (Rig *rig, guint view, guint pairs)
{
  const RigCamera *camera = &rig->cameras[view];

  if (rig->live) {
    fail_unless_equals_int (camera->flow, GST_FLOW_OK);
    fail_unless_equals_int (camera->sent, FRAMES);
    return;
  }
  fail_unless_equals_int (camera->flow, GST_FLOW_EOS);
  fail_unless (camera->sent > pairs && camera->sent <= pairs + QUEUED,
      "%u pairs, and %u frames of the other view were taken", pairs, camera->sent);
}

static void
finish (Rig *rig, const gchar *name)
{
  rig_free (rig);
  gchar *leaked = guard_leaked ();
  fail_unless (leaked == NULL, "%s leaks: %s", name, leaked);
  guard_end ();
}

static void
begin (const gchar *name)
{
  rig_warm_up (kind);
  guard_begin (name, 30);
  guard_count_objects ();
}

/* Twenty times: what is queued at the end depends on who was faster. */
static void
end_long_before (guint view, gboolean live)
{
  for (guint i = 0; i < 20; i++) {
    begin ("one view ends long before the other");
    Rig *rig = rig_of (view ? FRAMES : i, view ? i : FRAMES, live);
    rig_play (rig);
    gchar *failure = rig_end (rig);
    fail_unless (failure == NULL, "%s", failure);
    fail_unless_equals_int (rig->outputs, i);
    judge_end (rig, !view, i);
    finish (rig, "one view ends long before the other");
  }
}

TEST_LOOP (test_one_view_ends_long_before_the_other, 0, 4)
{
  end_long_before (__i__ & 1, __i__ >> 1);
}

/* ---- a camera dies ----------------------------------------------------------------------- */

/* Its source ends the stream, as sources do. */
static void
camera_dies (guint view, gboolean live)
{
  const guint good = 30;
  gchar *failure, *filter = g_strdup_printf ("identity error-after=%u", good + 1);

  begin ("a camera dies with an error");
  Rig *rig = rig_of (FRAMES, FRAMES, live);
  rig->script->expected = good;
  rig_insert (rig, view, filter);
  rig_play (rig);
  failure = rig_end (rig);
  fail_unless (failure == NULL, "%s", failure);
  fail_unless_equals_int (rig->cameras[view].flow, GST_FLOW_ERROR);
  fail_unless (g_atomic_int_get (&rig->camera_errors) > 0);
  fail_unless_equals_int (rig->outputs, good);
  judge_end (rig, !view, good);
  g_free (filter);
  finish (rig, "a camera dies with an error");
}

TEST_LOOP (test_a_camera_dies, 0, 4)
{
  camera_dies (__i__ & 1, __i__ >> 1);
}

/* Nothing follows its error, so that nobody knows whether more will come: all that can be paired is out, and the
 * pipeline can be stopped while the other camera waits. */
static void
camera_dies_without_a_word (guint view, gboolean live)
{
  const guint good = 30;
  g_autofree gchar *filter = g_strdup_printf ("identity error-after=%u", good + 1);

  begin ("a camera dies without a word");
  Rig *rig = rig_of (FRAMES, FRAMES, live);
  rig->dies = TRUE;
  rig_insert (rig, view, filter);
  rig_play (rig);
  rig_wait (rig, good);
  fail_unless_equals_int (rig->outputs, good);
  fail_unless (rig->failure == NULL, "%s", rig->failure);
  finish (rig, "a camera dies without a word");
}

TEST_LOOP (test_a_camera_dies_without_a_word, 0, 4)
{
  camera_dies_without_a_word (__i__ & 1, __i__ >> 1);
}

SUITE (stream_ends)
{
  kind = rig_kind_chosen ();
  tcase_set_timeout (tcase, 0); /* the guard watches */
}
