/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/pairing/input/pads.h"

#include "gst/pairing/debug.h"
#include "gst/pairing/input/stream.h"

/* Pads may come late (decodebin): a missing view becomes an error only after this time. */
#define MISSING_TIME (2 * GST_SECOND)

struct _GstStereoPads
{
  GstElement *element;

  /* protected by the element's object lock */
  GstStereoPad *packed, *left, *right; /* not owned */
  guint seeks;                         /* number of seeks that went upstream without a flush */
  guint32 last_seek;                   /* sequence number of the last one */
  GstClockID waiting;                  /* for the second view pad; NULL = not waiting */

  gint failed; /* atomic: an error was posted that no frame can mend */
};

GstStereoPads *
gst_stereo_pads_new (GstElement *element)
{
  GstStereoPads *pads = g_new0 (GstStereoPads, 1);

  pads->element = element;
  return pads;
}

void
gst_stereo_pads_free (GstStereoPads *pads)
{
  g_free (pads);
}

/* ---- pads come and go --------------------------------------------------------------------- */

static GstStereoPad **
place_of (GstStereoPads *pads, GstStereoPad *pad)
{
  return gst_stereo_pad_is_packed (pad) ? &pads->packed : gst_stereo_pad_is_right (pad) ? &pads->right : &pads->left;
}

GstStereoPad *
gst_stereo_pads_add (GstStereoPads *pads, GstPadTemplate *template)
{
  GstStereoPad *pad = gst_stereo_pad_new (template), **place;

  GST_OBJECT_LOCK (pads->element);
  place = place_of (pads, pad);
  if (*place) {
    GST_OBJECT_UNLOCK (pads->element);
    GST_WARNING_OBJECT (pads->element, "%s is there already", GST_PAD_NAME (pad));
    gst_object_ref_sink (pad);
    gst_object_unref (pad);
    return NULL;
  }
  *place = pad;
  GST_OBJECT_UNLOCK (pads->element);
  return pad;
}

void
gst_stereo_pads_remove (GstStereoPads *pads, GstStereoPad *pad)
{
  GST_OBJECT_LOCK (pads->element);
  *place_of (pads, pad) = NULL;
  GST_OBJECT_UNLOCK (pads->element);
  gst_stereo_pad_retire (pad);
}

GstStereoPadSet
gst_stereo_pads_get (GstStereoPads *pads)
{
  GstStereoPadSet set;

  GST_OBJECT_LOCK (pads->element);
  set.packed = pads->packed ? gst_object_ref (pads->packed) : NULL;
  set.left = pads->left ? gst_object_ref (pads->left) : NULL;
  set.right = pads->right ? gst_object_ref (pads->right) : NULL;
  GST_OBJECT_UNLOCK (pads->element);
  return set;
}

void
gst_stereo_pad_set_clear (GstStereoPadSet *set)
{
  gst_clear_object (&set->packed);
  gst_clear_object (&set->left);
  gst_clear_object (&set->right);
}

gboolean
gst_stereo_pad_set_has_buffers (const GstStereoPadSet *set)
{
  return (!set->packed || gst_stereo_pad_has_buffer (set->packed)) &&
      (!set->left || gst_stereo_pad_has_buffer (set->left)) && (!set->right || gst_stereo_pad_has_buffer (set->right));
}

void
gst_stereo_pad_set_return_peeked (const GstStereoPadSet *set)
{
  GstStereoPad *all[] = { set->packed, set->left, set->right };

  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    if (all[i])
      gst_stereo_pad_return_peeked (all[i]);
}

GstPad *
gst_stereo_pads_get_leading (GstStereoPads *pads)
{
  GstStereoPad *pad;

  GST_OBJECT_LOCK (pads->element);
  pad = pads->packed ? pads->packed : pads->left;
  if (pad)
    gst_object_ref (pad);
  GST_OBJECT_UNLOCK (pads->element);
  return (GstPad *) pad;
}

/* ---- a view that is missing --------------------------------------------------------------- */

/* The one view pad that is linked while the other is not, or NULL. */
static const gchar *
name_of_lonely_pad (GstStereoPads *pads)
{
  gboolean left, right;

  GST_OBJECT_LOCK (pads->element);
  left = pads->left && gst_pad_is_linked (GST_PAD (pads->left));
  right = pads->right && gst_pad_is_linked (GST_PAD (pads->right));
  GST_OBJECT_UNLOCK (pads->element);
  return left == right ? NULL : left ? "sink_left" : "sink_right";
}

/* The clock's reference: the element keeps its pads. */
typedef struct
{
  GstElement *element;
  GstStereoPads *pads;
} Reference;

static Reference *
new_reference (GstStereoPads *pads)
{
  Reference *reference = g_new (Reference, 1);

  reference->element = gst_object_ref (pads->element);
  reference->pads = pads;
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
  GstStereoPads *pads = ((Reference *) data)->pads;
  const gchar *lonely = name_of_lonely_pad (pads);
  gboolean waiting;

  GST_OBJECT_LOCK (pads->element);
  waiting = pads->waiting == id;
  if (waiting)
    pads->waiting = NULL;
  GST_OBJECT_UNLOCK (pads->element);
  if (waiting)
    gst_clock_id_unref (id);
  if (waiting && lonely) {
    g_atomic_int_set (&pads->failed, TRUE);
    GST_ELEMENT_ERROR (pads->element, CORE, NEGOTIATION,
        ("Only %s is linked: link the other view to %s, or give both views in one frame on sink.", lonely,
            g_str_equal (lonely, "sink_left") ? "sink_right" : "sink_left"),
        (NULL));
  }
  return TRUE;
}

static void
start_wait (GstStereoPads *pads, const gchar *lonely)
{
  GstClock *clock = gst_system_clock_obtain ();
  GstClockID id = NULL;

  GST_OBJECT_LOCK (pads->element);
  if (!pads->waiting)
    id = pads->waiting = gst_clock_new_single_shot_id (clock, gst_clock_get_time (clock) + MISSING_TIME);
  if (id)
    gst_clock_id_ref (id);
  GST_OBJECT_UNLOCK (pads->element);
  if (id) {
    GST_DEBUG_OBJECT (pads->element, "only %s is linked: waits for the other view", lonely);
    gst_clock_id_wait_async (id, wait_expired, new_reference (pads), free_reference);
    gst_clock_id_unref (id);
  }
  gst_object_unref (clock);
}

void
gst_stereo_pads_stop (GstStereoPads *pads)
{
  GstClockID id;

  GST_OBJECT_LOCK (pads->element);
  id = g_steal_pointer (&pads->waiting);
  GST_OBJECT_UNLOCK (pads->element);
  if (id) {
    gst_clock_id_unschedule (id);
    gst_clock_id_unref (id);
  }
}

void
gst_stereo_pads_start (GstStereoPads *pads)
{
  g_atomic_int_set (&pads->failed, FALSE);
}

gboolean
gst_stereo_pads_check (GstStereoPads *pads)
{
  const gchar *lonely;
  gboolean mixed;

  GST_OBJECT_LOCK (pads->element);
  mixed = pads->packed && (pads->left || pads->right);
  GST_OBJECT_UNLOCK (pads->element);
  if (mixed) {
    if (g_atomic_int_compare_and_exchange (&pads->failed, FALSE, TRUE))
      GST_ELEMENT_ERROR (pads->element, CORE, NEGOTIATION,
          ("sink takes both views in one frame, sink_left and sink_right take one each: link sink "
           "alone, or the other two."),
          (NULL));
    return FALSE;
  }
  lonely = name_of_lonely_pad (pads);
  if (lonely)
    start_wait (pads, lonely);
  else
    gst_stereo_pads_stop (pads);
  return !g_atomic_int_get (&pads->failed);
}

/* ---- events that go upstream -------------------------------------------------------------- */

guint
gst_stereo_pads_expect_seek (GstStereoPads *pads, GstEvent *seek)
{
  guint32 seqnum = gst_event_get_seqnum (seek);
  GstStereoPadSet set;
  GstSeekFlags flags;
  guint generation;
  gboolean again;

  gst_event_parse_seek (seek, NULL, NULL, &flags, NULL, NULL, NULL, NULL);
  GST_OBJECT_LOCK (pads->element);
  /* several sinks send the same seek */
  again = pads->last_seek == seqnum;
  pads->last_seek = seqnum;
  generation = pads->seeks += !again;
  GST_OBJECT_UNLOCK (pads->element);
  GST_DEBUG_OBJECT (pads->element, "seek %u goes upstream%s%s", seqnum, again ? ", again" : "",
      flags & GST_SEEK_FLAG_FLUSH ? ", with a flush" : "");
  if (again)
    return 0;
  /* a flush makes the numbers needless: both views begin anew */
  set = gst_stereo_pads_get (pads);
  if (set.left && !(flags & GST_SEEK_FLAG_FLUSH))
    gst_stereo_pad_expect_seek (set.left, generation, seqnum);
  if (set.right && !(flags & GST_SEEK_FLAG_FLUSH))
    gst_stereo_pad_expect_seek (set.right, generation, seqnum);
  gst_stereo_pad_set_clear (&set);
  return generation;
}

void
gst_stereo_pads_cancel_seek (GstStereoPads *pads, guint generation)
{
  GstStereoPadSet set = gst_stereo_pads_get (pads);

  if (set.left && generation)
    gst_stereo_pad_cancel_seek (set.left, generation);
  if (set.right && generation)
    gst_stereo_pad_cancel_seek (set.right, generation);
  gst_stereo_pad_set_clear (&set);
}

void
gst_stereo_pads_reconfigure (GstStereoPads *pads)
{
  GstStereoPadSet set = gst_stereo_pads_get (pads);
  GstStereoPad *all[] = { set.packed, set.left, set.right };

  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    if (all[i])
      gst_pad_push_event (GST_PAD (all[i]), gst_event_new_reconfigure ());
  gst_stereo_pad_set_clear (&set);
}
