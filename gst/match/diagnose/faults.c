/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/diagnose/faults.h"

#include "gst/match/debug.h"

GST_DEBUG_CATEGORY (gst_stereo_match_debug); /* here, so that tests can link this folder by itself */

#define MOST 64
#define VERDICTS 4  /* in a row, of a fault that has to last */
#define GONE 3      /* verdicts in a row, after which a fault is absent that one or two show */
#define SUSPECTED 3 /* unknown verdicts in a row, after which there is no suspicion */
/* After so many unknown verdicts in a row, over so many ns, earlier verdicts do not count: chance must not add up over hours. While a
 * fault is suspected, verdicts come faster, but what moves does not. */
#define PATIENCE 8
#define DOUBT G_GINT64_CONSTANT (1400000000)

typedef struct
{
  GstStereoHealthFlags flags;
  guint cause;
  gboolean stands;
  guint count;   /* verdicts in a row that contradict `stands`, without the unknown ones */
  guint unknown; /* unknown verdicts in a row */
  gint64 doubt;  /* time of the first of them, ns */
  gint64 since;  /* time of the first of the verdicts that count, ns */
} Fault;

struct _GstStereoFaults
{
  GstElement *element;
  Fault faults[MOST]; /* in the order of their first verdict */
  guint count;
  /* protected by the element's object lock */
  GstStereoHealthFlags judged, set; /* those that stand, by verdicts and by others */
};

GstStereoFaults *
gst_stereo_faults_new (GstElement *element)
{
  GstStereoFaults *faults = g_new0 (GstStereoFaults, 1);

  faults->element = element;
  return faults;
}

void
gst_stereo_faults_free (GstStereoFaults *faults)
{
  g_free (faults);
}

void
gst_stereo_faults_start (GstStereoFaults *faults)
{
  GST_OBJECT_LOCK (faults->element);
  faults->count = 0;
  faults->judged = faults->set = GST_STEREO_HEALTH_OK;
  GST_OBJECT_UNLOCK (faults->element);
}

void
gst_stereo_faults_flush (GstStereoFaults *faults)
{
  for (guint i = 0; i < faults->count; i++)
    faults->faults[i].count = faults->faults[i].unknown = 0;
}

const GstStereoHealthKind *
gst_stereo_kind_of (GstStereoHealthFlags flag)
{
  const GstStereoHealthKind *kind;

  for (guint i = 0; (kind = gst_stereo_health_kind (i)); i++)
    if (flag & (kind->left | kind->right))
      return kind;
  g_assert_not_reached ();
}

/* ---- begin and end --------------------------------------------------------------------------- */

static Fault *
find (GstStereoFaults *faults, GstStereoHealthFlags flags, guint cause)
{
  for (guint i = 0; i < faults->count; i++)
    if (faults->faults[i].flags == flags && faults->faults[i].cause == cause)
      return &faults->faults[i];
  g_assert (faults->count < MOST);
  faults->faults[faults->count] = (Fault){ .flags = flags, .cause = cause };
  return &faults->faults[faults->count++];
}

gboolean
gst_stereo_faults_judge (GstStereoFaults *faults, GstStereoHealthFlags flags, guint cause, GstStereoVerdict verdict,
    gint64 time, gint64 hold)
{
  Fault *fault = find (faults, flags, cause);
  guint judged = 0;

  if (verdict == GST_STEREO_VERDICT_UNKNOWN) {
    if (!fault->unknown++ || time < fault->doubt)
      fault->doubt = time;
    if (fault->unknown >= PATIENCE && time - fault->doubt >= DOUBT && hold > (fault->stands ? GST_STEREO_TWICE : 0))
      fault->count = 0;
    return FALSE;
  }
  fault->unknown = 0;
  if ((verdict == GST_STEREO_VERDICT_BAD) == fault->stands) {
    fault->count = 0;
    return FALSE;
  }
  if (!fault->count++ || time < fault->since)
    fault->since = time;
  guint least = hold > GST_STEREO_TWICE ? VERDICTS : fault->stands ? GONE : hold ? 2 : 1;
  if (fault->count < least || time - fault->since < hold)
    return FALSE;
  fault->stands = !fault->stands;
  fault->count = 0;
  for (guint i = 0; i < faults->count; i++)
    judged |= faults->faults[i].stands ? (guint) faults->faults[i].flags : 0;
  GST_OBJECT_LOCK (faults->element);
  gboolean changed = judged != (guint) faults->judged;
  faults->judged = (GstStereoHealthFlags) judged;
  GST_OBJECT_UNLOCK (faults->element);
  return changed;
}

GstStereoHealthFlags
gst_stereo_faults_get_suspected (const GstStereoFaults *faults)
{
  guint flags = 0;

  for (guint i = 0; i < faults->count; i++) {
    const Fault *fault = &faults->faults[i];
    if (fault->count && fault->unknown < SUSPECTED)
      flags |= fault->flags;
  }
  return (GstStereoHealthFlags) flags;
}

GstStereoHealthFlags
gst_stereo_faults_get (const GstStereoFaults *faults)
{
  GST_OBJECT_LOCK (faults->element);
  GstStereoHealthFlags flags = faults->judged | faults->set;
  GST_OBJECT_UNLOCK (faults->element);
  return flags;
}

/* ---- messages ---------------------------------------------------------------------------- */

/* Takes @fields. @text: NULL = that the fault stands, or does no longer. */
static void
post (GstStereoFaults *faults, GstStereoHealthFlags flags, gboolean active, const gchar *text, gdouble value,
    GstStructure *fields)
{
  static const gchar *const views[] = { "left", "right", "both" },
                            *const whose[] = { "left camera ", "right camera ", "both cameras " };
  const GstStereoHealthKind *kind = gst_stereo_kind_of (flags);
  gboolean of_pair = kind->left == kind->right;
  guint side = of_pair || flags == (kind->left | kind->right) ? 2 : flags == kind->right;
  g_autofree gchar *words = g_strconcat (active ? "" : "No longer: ", of_pair ? "" : whose[side], kind->words, NULL);
  g_autofree gchar *begin = text ? g_strdup_printf ("%c%s: %s", g_ascii_toupper (*words), words + 1, text) : NULL;

  fields = fields ? fields : gst_structure_new_empty ("stereo-health");
  gst_structure_set (fields, "value", G_TYPE_DOUBLE, value, "kind", G_TYPE_STRING, kind->nick, "view", G_TYPE_STRING,
      views[side], "active", G_TYPE_BOOLEAN, active, "unreliable", G_TYPE_BOOLEAN, kind->unreliable, "text",
      G_TYPE_STRING, begin ? begin : words, NULL);
  gst_element_post_message (faults->element, gst_message_new_element (GST_OBJECT (faults->element), fields));
  if (begin)
    GST_ELEMENT_WARNING (faults->element, STREAM, FAILED, ("%s", begin), (NULL));
  else
    GST_INFO_OBJECT (faults->element, "%s", words);
}

void
gst_stereo_faults_say (
    GstStereoFaults *faults, GstStereoHealthFlags flags, gchar *detail, gdouble value, GstStructure *fields)
{
  const GstStereoHealthKind *kind = gst_stereo_kind_of (flags);
  gboolean active = (gst_stereo_faults_get (faults) & flags) == flags;
  g_autofree gchar *text = g_strdup_printf (
      "%s. %s%s%s", kind->recognised, detail ? detail : "", detail ? " " : "", kind->advice);

  post (faults, flags, active, active ? text : NULL, value, fields);
  g_free (detail);
}

void
gst_stereo_faults_set (GstStereoFaults *faults, GstStereoHealthFlags all, GstStereoHealthFlags now)
{
  GST_OBJECT_LOCK (faults->element);
  guint changed = (guint) all & ((guint) now ^ (guint) faults->set);
  faults->set = (GstStereoHealthFlags) (((guint) faults->set & ~(guint) all) | (guint) now);
  GST_OBJECT_UNLOCK (faults->element);
  for (guint flag = 1; flag; flag <<= 1)
    if (changed & flag)
      post (faults, (GstStereoHealthFlags) flag, (now & flag) != 0, NULL, (now & flag) != 0, NULL);
}
