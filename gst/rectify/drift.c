/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/rectify/drift.h"

#include <math.h>
#include <string.h>

#include "gst/rectify/debug.h"
#include "stereo/align.h"

/* A view is corrected by at most one part in so many of its height, and at least by LEAST_LIMIT px. */
#define LIMIT_SHARE 120
#define LEAST_LIMIT 4.0
#define STEP 0.25         /* px, anywhere in the picture, from one correction to the next */
#define INTERVAL 8        /* pairs from one correction to the next */
#define LEAST_CHANGE 0.05 /* px, root mean square over the picture: for a smaller change no maps are made */
/* px, root mean square: points that disagree by more are not of one scene, or not matched rightly */
#define MOST_RESIDUAL 0.75
#define LEAST_POINTS 60
#define MEMORY 400         /* points: the newest ones that an estimate uses */
#define LEAST_REPORTED 0.1 /* px, anywhere in the picture: a smaller change gives no message */
/* The search begins so many px below the disparity of infinity, for a rig that is a little off. */
#define BELOW 2
#define SEARCHED_SHARE 4 /* of the width */

typedef struct
{
  guint serial;
  gint width, height, raw_width, raw_height;
} Key;

typedef struct
{
  GstStereoCorrection correction;
  gdouble max;       /* px */
  gdouble left_over; /* px */
  gint points;
  guint64 updates, ns;
} Stats;

struct _GstStereoDrift
{
  GstElement *element;

  /* protected by the element's object lock */
  const gboolean *enabled; /* the element's */
  Stats stats;

  /* of the source pad's task */
  Key key; /* of the aligner */
  gint width, height;
  StereoAligner *aligner; /* NULL: off, or no memory */
  GstStereoCorrection applied, wanted, reported;
  guint pairs; /* since the last correction */
  gboolean at_limit;
};

GstStereoDrift *
gst_stereo_drift_new (GstElement *element, const gboolean *enabled)
{
  GstStereoDrift *drift = g_new0 (GstStereoDrift, 1);

  drift->element = element;
  drift->enabled = enabled;
  return drift;
}

static void
forget (GstStereoDrift *drift)
{
  const GstStereoCorrection none = { 0 };

  g_clear_pointer (&drift->aligner, stereo_aligner_free);
  memset (&drift->key, 0, sizeof drift->key);
  drift->applied = drift->wanted = drift->reported = none;
  drift->pairs = 0;
  drift->at_limit = FALSE;
}

void
gst_stereo_drift_free (GstStereoDrift *drift)
{
  forget (drift);
  g_free (drift);
}

void
gst_stereo_drift_stop (GstStereoDrift *drift)
{
  forget (drift);
}

/* ---- from any thread --------------------------------------------------------------------- */

gboolean
gst_stereo_drift_get_enabled (GstStereoDrift *drift)
{
  gboolean enabled;

  GST_OBJECT_LOCK (drift->element);
  enabled = *drift->enabled;
  GST_OBJECT_UNLOCK (drift->element);
  return enabled;
}

static gdouble
degrees (gdouble radians)
{
  return radians * 180 / G_PI;
}

void
gst_stereo_drift_add_stats (GstStereoDrift *drift, GstStructure *stats)
{
  GST_OBJECT_LOCK (drift->element);
  Stats now = drift->stats;
  GST_OBJECT_UNLOCK (drift->element);
  gst_structure_set (stats, "aligned", G_TYPE_BOOLEAN, now.max > 0, "align-offset", G_TYPE_DOUBLE,
      now.correction.offset, "align-offset-max", G_TYPE_DOUBLE, now.max, "align-roll", G_TYPE_DOUBLE,
      degrees (now.correction.roll), "align-left-over", G_TYPE_DOUBLE, now.left_over, "align-points", G_TYPE_INT,
      now.points, "align-updates", G_TYPE_UINT64, now.updates, "align-time", G_TYPE_UINT64, now.ns, NULL);
}

/* ---- one rectification ------------------------------------------------------------------- */

/* Largest vertical displacement over the picture, px. */
static gdouble
largest (const GstStereoDrift *drift, const GstStereoCorrection *correction)
{
  return fabs (correction->offset) + fabs (correction->roll) * drift->width / 2;
}

static gdouble
limit (const GstStereoDrift *drift)
{
  return MAX (LEAST_LIMIT, (gdouble) drift->height / LIMIT_SHARE);
}

static void
publish (GstStereoDrift *drift, guint64 updates, guint64 ns)
{
  GST_OBJECT_LOCK (drift->element);
  drift->stats.correction = drift->applied;
  drift->stats.max = drift->aligner ? largest (drift, &drift->applied) : 0;
  drift->stats.updates += updates;
  drift->stats.ns = ns ? ns : drift->stats.ns;
  GST_OBJECT_UNLOCK (drift->element);
}

static void
open_aligner (GstStereoDrift *drift, const StereoRectification *rectification)
{
  gdouble least = floor (-rectification->principal_offset) - BELOW;

  drift->width = rectification->width;
  drift->height = rectification->height;
  drift->aligner = stereo_aligner_new (drift->width, drift->height, (gint) CLAMP (least, -drift->width, drift->width),
      drift->width / SEARCHED_SHARE + 2 * BELOW);
  if (drift->aligner)
    stereo_aligner_set_memory (drift->aligner, MEMORY);
  else
    GST_ELEMENT_WARNING (drift->element, RESOURCE, NO_SPACE_LEFT,
        ("There is no memory to follow views of %dx%d pixels: auto-align does nothing.", drift->width, drift->height),
        (NULL));
}

gboolean
gst_stereo_drift_prepare (
    GstStereoDrift *drift, guint serial, const StereoRectification *rectification, gint raw_width, gint raw_height)
{
  Key key = { serial, rectification->width, rectification->height, raw_width, raw_height };
  gboolean enabled = gst_stereo_drift_get_enabled (drift);

  if (enabled && memcmp (&key, &drift->key, sizeof key) == 0)
    return TRUE;
  if (!enabled && !drift->key.serial)
    return FALSE;
  forget (drift);
  if (enabled) {
    drift->key = key;
    open_aligner (drift, rectification);
  }
  publish (drift, 0, 0);
  return FALSE;
}

/* ---- corrections ------------------------------------------------------------------------- */

static void
report (GstStereoDrift *drift, const gchar *state, const gchar *text)
{
  const GstStereoCorrection *applied = &drift->applied;
  const StereoAlignment *result = stereo_aligner_result (drift->aligner);
  GstStructure *fields = gst_structure_new ("stereo-align", "state", G_TYPE_STRING, state, "align-offset",
      G_TYPE_DOUBLE, applied->offset, "align-offset-max", G_TYPE_DOUBLE, largest (drift, applied), "align-roll",
      G_TYPE_DOUBLE, degrees (applied->roll), "align-left-over", G_TYPE_DOUBLE, result->before, "align-points",
      G_TYPE_INT, result->points, "limit", G_TYPE_DOUBLE, limit (drift), "text", G_TYPE_STRING, text, NULL);

  gst_element_post_message (drift->element, gst_message_new_element (GST_OBJECT (drift->element), fields));
  drift->reported = *applied;
}

static void
report_limit (GstStereoDrift *drift)
{
  g_autofree gchar *text = g_strdup_printf (
      "The right view has drifted by more than %.1f px against the calibration, which is "
      "all that auto-align takes out: calibrate the cameras anew, and "
      "check that they are fixed.",
      limit (drift));

  report (drift, "limit", text);
  GST_ELEMENT_WARNING (drift->element, STREAM, FAILED, ("%s", text), (NULL));
}

static void
report_change (GstStereoDrift *drift)
{
  const GstStereoCorrection *applied = &drift->applied;
  GstStereoCorrection change = { applied->offset - drift->reported.offset, applied->roll - drift->reported.roll };

  if (largest (drift, &change) < LEAST_REPORTED)
    return;
  g_autofree gchar *text = g_strdup_printf (
      "The right view lies %.2f px lower in its middle than calibrated and is turned by %.3f "
      "degrees: that is taken out.",
      applied->offset, degrees (applied->roll));
  GST_INFO_OBJECT (drift->element, "%s", text);
  report (drift, drift->at_limit ? "limit" : "follows", text);
}

/* The offset and the roll that fit a polynomial best. Only a new calibration, or align=auto of stereomatch, corrects the rest
 * of the polynomial. The mean of the squares of u and v is 1/12. */
static GstStereoCorrection
correction_in (const GstStereoDrift *drift, const double c[6])
{
  return (GstStereoCorrection){ c[0] + (c[3] + c[5]) / 12, c[2] / drift->width };
}

/* Whether the estimate is reliable, and large enough for a correction. */
static gboolean
is_sure (const GstStereoDrift *drift, const StereoAlignment *result, const GstStereoCorrection *found)
{
  gdouble slope = found->roll * drift->width;

  return result->active && result->points >= LEAST_POINTS && result->after <= MOST_RESIDUAL &&
      sqrt (found->offset * found->offset + slope * slope / 12) >= LEAST_CHANGE;
}

static void
scale (GstStereoCorrection *correction, gdouble by)
{
  correction->offset *= by;
  correction->roll *= by;
}

/* A step towards @found, within the limit. */
static void
choose_next (GstStereoDrift *drift, GstStereoCorrection found)
{
  gdouble step = largest (drift, &found), total;
  gboolean was_at_limit = drift->at_limit;

  scale (&found, MIN (1, STEP / step));
  GstStereoCorrection next = (GstStereoCorrection){ drift->applied.offset + found.offset,
    drift->applied.roll + found.roll };
  total = largest (drift, &next);
  drift->at_limit = total > limit (drift) || (was_at_limit && total > 0.75 * limit (drift));
  if (total > limit (drift))
    scale (&next, limit (drift) / total);
  if (drift->at_limit && !was_at_limit)
    report_limit (drift);
  found = (GstStereoCorrection){ next.offset - drift->applied.offset, next.roll - drift->applied.roll };
  if (largest (drift, &found) >= LEAST_CHANGE / 2)
    drift->wanted = next;
  drift->pairs = 0;
}

void
gst_stereo_drift_measure (GstStereoDrift *drift, const StereoImage *left, const StereoImage *right)
{
  if (!drift->aligner)
    return;
  stereo_aligner_follow (drift->aligner, left, right);
  const StereoAlignment *result = stereo_aligner_result (drift->aligner);
  GST_OBJECT_LOCK (drift->element);
  drift->stats.points = result->points;
  drift->stats.left_over = result->before;
  GST_OBJECT_UNLOCK (drift->element);
  if (++drift->pairs < INTERVAL || memcmp (&drift->wanted, &drift->applied, sizeof drift->wanted) != 0)
    return;
  GstStereoCorrection found = correction_in (drift, result->coefficients);
  if (is_sure (drift, result, &found))
    choose_next (drift, found);
}

const GstStereoCorrection *
gst_stereo_drift_wanted (const GstStereoDrift *drift)
{
  return &drift->wanted;
}

void
gst_stereo_drift_apply (GstStereoDrift *drift, const GstStereoCorrection *correction, guint64 ns)
{
  const double change[6] = { correction->offset - drift->applied.offset, 0,
    (correction->roll - drift->applied.roll) * drift->width };

  if (!drift->aligner)
    return;
  drift->applied = *correction;
  stereo_aligner_move (drift->aligner, change);
  GST_DEBUG_OBJECT (drift->element, "corrected by %.3f px and %.4f degrees, maps made in %.1f ms", correction->offset,
      degrees (correction->roll), (gdouble) ns / 1e6);
  publish (drift, 1, ns);
  report_change (drift);
}
