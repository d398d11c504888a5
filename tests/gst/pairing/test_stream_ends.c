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

enum
{
  ENDS,  /* twenty streams: what is queued at the end depends on who was faster */
  DIES,  /* the source ends the stream after an error, as sources do */
  SILENT /* nothing follows the error, so that nobody knows whether more will come */
};

/* That @view was told in time, after @pairs. */
static void
judge_end (Rig *rig, guint view, guint pairs)
{
  const RigCamera *camera = &rig->cameras[view];

  fail_unless_equals_int (camera->flow, rig->live ? GST_FLOW_OK : GST_FLOW_EOS);
  fail_unless (rig->live ? camera->sent == FRAMES : camera->sent > pairs && camera->sent <= pairs + QUEUED,
      "%u pairs, and %u frames of the other view were taken", pairs, camera->sent);
}

/* All that can be paired comes out, which are so many pairs. */
static void
end_view (guint how, guint view, gboolean live, guint pairs)
{
  g_autofree gchar *filter = g_strdup_printf ("identity error-after=%u", pairs + 1), *failure = NULL;
  Script *script = script_new (NULL);

  rig_warm_up (kind);
  guard_begin (how == ENDS ? "one view ends long before the other" : "a camera dies", 30);
  guard_count_objects ();
  script_begin (script);
  for (guint v = 0; v < 2; v++)
    script_frames (script, v, 0, v == view && how == ENDS ? pairs : FRAMES);
  script_end (script);
  script->expected = pairs;
  Rig *rig = rig_new (kind, script, live);
  rig->dies = how == SILENT;
  if (how != ENDS)
    rig_insert (rig, view, filter);
  rig_play (rig);
  if (how == SILENT) {
    /* it can be stopped while the other camera waits */
    rig_wait (rig, pairs);
    fail_unless (rig->failure == NULL, "%s", rig->failure);
  } else {
    failure = rig_end (rig);
    fail_unless (failure == NULL, "%s", failure);
    judge_end (rig, !view, pairs);
  }
  fail_unless_equals_int (rig->outputs, pairs);
  if (how == DIES) {
    fail_unless_equals_int (rig->cameras[view].flow, GST_FLOW_ERROR);
    fail_unless (g_atomic_int_get (&rig->camera_errors) > 0);
  }
  rig_free (rig);
  gchar *leaked = guard_leaked ();
  fail_unless (leaked == NULL, "leaks: %s", leaked);
  guard_end ();
}

TEST_LOOP (test_ends, 0, 12)
{
  const guint how = (guint) __i__ / 4;

  for (guint pairs = how == ENDS ? 0 : 30; pairs < (how == ENDS ? 20 : 31); pairs++)
    end_view (how, __i__ & 1, __i__ >> 1 & 1, pairs);
}

SUITE (stream_ends)
{
  kind = rig_kind_chosen ();
  tcase_set_timeout (tcase, 0); /* the guard watches */
}
