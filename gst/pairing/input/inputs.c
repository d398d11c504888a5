/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/pairing/input/inputs.h"

#include "gst/pairing/debug.h"

/* Pads may come late (decodebin): a missing view becomes an error only after this time. */
#define MISSING_TIME (2 * GST_SECOND)

struct _GstStereoInputs
{
  GstElement *element;

  /* protected by the element's object lock */
  GstStereoPad *packed, *left, *right; /* not owned */
  guint seeks;                         /* number of seeks that went upstream without a flush */
  guint32 last_seek;                   /* sequence number of the last one */
  GstClockID waiting;                  /* for the second view pad; NULL = not waiting */
  gboolean busy;                       /* in aggregate() */

  gint failed; /* atomic: an error was posted that no frame can mend */
};

GstStereoInputs *
gst_stereo_inputs_new (GstElement *element)
{
  GstStereoInputs *inputs = g_new0 (GstStereoInputs, 1);

  inputs->element = element;
  return inputs;
}

void
gst_stereo_inputs_free (GstStereoInputs *inputs)
{
  g_free (inputs);
}

/* ---- pads come and go --------------------------------------------------------------------- */

static GstStereoPad **
place_of (GstStereoInputs *inputs, GstStereoPad *pad)
{
  return gst_stereo_pad_is_packed (pad) ? &inputs->packed :
      gst_stereo_pad_is_right (pad)     ? &inputs->right :
                                          &inputs->left;
}

GstStereoPad *
gst_stereo_inputs_add (GstStereoInputs *inputs, GstPadTemplate *template)
{
  GstStereoPad *pad = gst_stereo_pad_new (template), **place;

  GST_OBJECT_LOCK (inputs->element);
  place = place_of (inputs, pad);
  if (*place) {
    GST_OBJECT_UNLOCK (inputs->element);
    GST_WARNING_OBJECT (inputs->element, "%s is there already", GST_PAD_NAME (pad));
    gst_object_ref_sink (pad);
    gst_object_unref (pad);
    return NULL;
  }
  *place = pad;
  GST_OBJECT_UNLOCK (inputs->element);
  return pad;
}

void
gst_stereo_inputs_remove (GstStereoInputs *inputs, GstStereoPad *pad)
{
  GST_OBJECT_LOCK (inputs->element);
  *place_of (inputs, pad) = NULL;
  GST_OBJECT_UNLOCK (inputs->element);
  gst_stereo_pad_retire (pad);
}

GstStereoInputPads
gst_stereo_inputs_get (GstStereoInputs *inputs)
{
  GstStereoInputPads set;

  GST_OBJECT_LOCK (inputs->element);
  set.packed = inputs->packed ? gst_object_ref (inputs->packed) : NULL;
  set.left = inputs->left ? gst_object_ref (inputs->left) : NULL;
  set.right = inputs->right ? gst_object_ref (inputs->right) : NULL;
  GST_OBJECT_UNLOCK (inputs->element);
  return set;
}

void
gst_stereo_input_pads_clear (GstStereoInputPads *set)
{
  gst_clear_object (&set->packed);
  gst_clear_object (&set->left);
  gst_clear_object (&set->right);
}

gboolean
gst_stereo_input_pads_have_buffers (const GstStereoInputPads *set)
{
  return (!set->packed || gst_stereo_pad_has_buffer (set->packed)) &&
      (!set->left || gst_stereo_pad_has_buffer (set->left)) && (!set->right || gst_stereo_pad_has_buffer (set->right));
}

/* Under the lock that the silence watch takes as well: it never reads the pads while frames are on their way through. */
void
gst_stereo_inputs_set_busy (GstStereoInputs *inputs, gboolean busy)
{
  GST_OBJECT_LOCK (inputs->element);
  inputs->busy = busy;
  GST_OBJECT_UNLOCK (inputs->element);
}

GstStereoViewsState
gst_stereo_inputs_get_activity (GstStereoInputs *inputs, GstStereoActivity activity[2], gboolean *packed)
{
  GstStereoInputPads pads = gst_stereo_inputs_get (inputs);
  GstStereoViewsState state = GST_STEREO_VIEWS_MISSING;

  GST_OBJECT_LOCK (inputs->element);
  *packed = pads.packed != NULL;
  if (pads.packed || (pads.left && pads.right))
    state = inputs->busy ? GST_STEREO_VIEWS_BUSY : GST_STEREO_VIEWS_KNOWN;
  if (pads.packed || pads.left)
    activity[0] = gst_stereo_pad_activity (pads.packed ? pads.packed : pads.left);
  if (pads.right)
    activity[1] = gst_stereo_pad_activity (pads.right);
  GST_OBJECT_UNLOCK (inputs->element);
  gst_stereo_input_pads_clear (&pads);
  return state;
}

GstPad *
gst_stereo_inputs_get_leading (GstStereoInputs *inputs)
{
  GST_OBJECT_LOCK (inputs->element);
  GstStereoPad *pad = inputs->packed ? inputs->packed : inputs->left;
  if (pad)
    gst_object_ref (pad);
  GST_OBJECT_UNLOCK (inputs->element);
  return (GstPad *) pad;
}

/* ---- a view that is missing --------------------------------------------------------------- */

/* The one view pad that is linked while the other is not, or NULL. */
static const gchar *
name_of_lonely_pad (GstStereoInputs *inputs)
{
  gboolean left, right;

  GST_OBJECT_LOCK (inputs->element);
  left = inputs->left && gst_pad_is_linked (GST_PAD (inputs->left));
  right = inputs->right && gst_pad_is_linked (GST_PAD (inputs->right));
  GST_OBJECT_UNLOCK (inputs->element);
  return left == right ? NULL : left ? "sink_left" : "sink_right";
}

/* The clock's reference: the element keeps its pads. */
typedef struct
{
  GstElement *element;
  GstStereoInputs *inputs;
} Reference;

static Reference *
new_reference (GstStereoInputs *inputs)
{
  Reference *reference = g_new (Reference, 1);

  reference->element = gst_object_ref (inputs->element);
  reference->inputs = inputs;
  return reference;
}

static void
free_reference (gpointer data)
{
  Reference *reference = data;

  gst_object_unref (reference->element);
  g_free (reference);
}

static gboolean
wait_expired (GstClock *clock, GstClockTime time, GstClockID id, gpointer data)
{
  GstStereoInputs *inputs = ((Reference *) data)->inputs;
  const gchar *lonely = name_of_lonely_pad (inputs);
  gboolean waiting;

  GST_OBJECT_LOCK (inputs->element);
  waiting = inputs->waiting == id;
  if (waiting)
    inputs->waiting = NULL;
  GST_OBJECT_UNLOCK (inputs->element);
  if (waiting)
    gst_clock_id_unref (id);
  if (waiting && lonely) {
    g_atomic_int_set (&inputs->failed, TRUE);
    GST_ELEMENT_ERROR (inputs->element, CORE, NEGOTIATION,
        ("Only %s is linked: link the other view to %s, or give both views in one frame on sink.", lonely,
            g_str_equal (lonely, "sink_left") ? "sink_right" : "sink_left"),
        (NULL));
  }
  return TRUE;
}

static void
start_wait (GstStereoInputs *inputs, const gchar *lonely)
{
  g_autoptr (GstClock) clock = gst_system_clock_obtain ();
  GstClockID id = NULL;

  GST_OBJECT_LOCK (inputs->element);
  if (!inputs->waiting)
    id = inputs->waiting = gst_clock_new_single_shot_id (clock, gst_clock_get_time (clock) + MISSING_TIME);
  if (id)
    gst_clock_id_ref (id);
  GST_OBJECT_UNLOCK (inputs->element);
  if (id) {
    GST_DEBUG_OBJECT (inputs->element, "only %s is linked: waits for the other view", lonely);
    gst_clock_id_wait_async (id, wait_expired, new_reference (inputs), free_reference);
    gst_clock_id_unref (id);
  }
}

void
gst_stereo_inputs_stop (GstStereoInputs *inputs)
{
  GST_OBJECT_LOCK (inputs->element);
  GstClockID id = g_steal_pointer (&inputs->waiting);
  GST_OBJECT_UNLOCK (inputs->element);
  if (id) {
    gst_clock_id_unschedule (id);
    gst_clock_id_unref (id);
  }
}

void
gst_stereo_inputs_start (GstStereoInputs *inputs)
{
  g_atomic_int_set (&inputs->failed, FALSE);
}

gboolean
gst_stereo_inputs_check (GstStereoInputs *inputs)
{
  GST_OBJECT_LOCK (inputs->element);
  gboolean mixed = inputs->packed && (inputs->left || inputs->right);
  GST_OBJECT_UNLOCK (inputs->element);
  if (mixed) {
    if (g_atomic_int_compare_and_exchange (&inputs->failed, FALSE, TRUE))
      GST_ELEMENT_ERROR (inputs->element, CORE, NEGOTIATION,
          ("sink takes both views in one frame, sink_left and sink_right take one each: link sink "
           "alone, or the other two."),
          (NULL));
    return FALSE;
  }
  const gchar *lonely = name_of_lonely_pad (inputs);
  if (lonely)
    start_wait (inputs, lonely);
  else
    gst_stereo_inputs_stop (inputs);
  return !g_atomic_int_get (&inputs->failed);
}

/* ---- events that go upstream -------------------------------------------------------------- */

guint
gst_stereo_inputs_expect_seek (GstStereoInputs *inputs, GstEvent *seek)
{
  guint32 seqnum = gst_event_get_seqnum (seek);
  GstSeekFlags flags;
  guint generation;

  gst_event_parse_seek (seek, NULL, NULL, &flags, NULL, NULL, NULL, NULL);
  GST_OBJECT_LOCK (inputs->element);
  /* several sinks send the same seek */
  gboolean again = inputs->last_seek == seqnum;
  inputs->last_seek = seqnum;
  generation = inputs->seeks += !again;
  GST_OBJECT_UNLOCK (inputs->element);
  GST_DEBUG_OBJECT (inputs->element, "seek %u goes upstream%s%s", seqnum, again ? ", again" : "",
      flags & GST_SEEK_FLAG_FLUSH ? ", with a flush" : "");
  if (again)
    return 0;
  /* a flush makes the numbers needless: both views begin anew */
  GstStereoInputPads set = gst_stereo_inputs_get (inputs);
  if (set.left && !(flags & GST_SEEK_FLAG_FLUSH))
    gst_stereo_pad_expect_seek (set.left, generation, seqnum);
  if (set.right && !(flags & GST_SEEK_FLAG_FLUSH))
    gst_stereo_pad_expect_seek (set.right, generation, seqnum);
  gst_stereo_input_pads_clear (&set);
  return generation;
}

void
gst_stereo_inputs_cancel_seek (GstStereoInputs *inputs, guint generation)
{
  GstStereoInputPads set = gst_stereo_inputs_get (inputs);

  if (set.left && generation)
    gst_stereo_pad_cancel_seek (set.left, generation);
  if (set.right && generation)
    gst_stereo_pad_cancel_seek (set.right, generation);
  gst_stereo_input_pads_clear (&set);
}

void
gst_stereo_inputs_reconfigure (GstStereoInputs *inputs)
{
  GstStereoInputPads set = gst_stereo_inputs_get (inputs);
  GstStereoPad *all[] = { set.packed, set.left, set.right };

  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    if (all[i])
      gst_pad_push_event (GST_PAD (all[i]), gst_event_new_reconfigure ());
  gst_stereo_input_pads_clear (&set);
}
