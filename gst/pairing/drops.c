/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/pairing/drops.h"

#include "gst/pairing/debug.h"

#define REPORT_INTERVAL (1 * G_USEC_PER_SEC)
#define MOST_SKEW \
  ((gint64) (500 * GST_MSECOND)) /* frames that are farther apart are no pair of cameras that run freely */

struct _GstStereoDrops
{
  GstElement *element;

  guint64 total[2]; /* left, right; protected by the element's object lock */

  /* of the source pad's task */
  guint unreported[2];
  gint64 skew, max_skew; /* of the nearest two frames that were too far apart since the last report, ns; 0 = none */
  gboolean dated;        /* by their capture timestamps */
  gchar *mismatch;       /* of two frames that belong together, since the last report; NULL = none */
  gint64 reported;       /* monotonic µs; 0 = never */
  gboolean broken;
};

GstStereoDrops *
gst_stereo_drops_new (GstElement *element)
{
  GstStereoDrops *drops = g_new0 (GstStereoDrops, 1);

  drops->element = element;
  return drops;
}

void
gst_stereo_drops_free (GstStereoDrops *drops)
{
  g_free (drops->mismatch);
  g_free (drops);
}

void
gst_stereo_drops_start (GstStereoDrops *drops)
{
  GST_OBJECT_LOCK (drops->element);
  drops->total[0] = drops->total[1] = 0;
  GST_OBJECT_UNLOCK (drops->element);
  drops->unreported[0] = drops->unreported[1] = 0;
  drops->skew = drops->max_skew = drops->reported = 0;
  g_clear_pointer (&drops->mismatch, g_free);
}

void
gst_stereo_drops_count (GstStereoDrops *drops, gboolean right)
{
  GST_OBJECT_LOCK (drops->element);
  drops->total[right]++;
  GST_OBJECT_UNLOCK (drops->element);
  drops->unreported[right]++;
  drops->broken = TRUE;
}

void
gst_stereo_drops_set_skew (GstStereoDrops *drops, gint64 skew, gint64 max_skew, gboolean dated)
{
  if (drops->skew && ABS (drops->skew) <= ABS (skew))
    return;
  drops->dated = dated;
  drops->skew = skew;
  drops->max_skew = max_skew;
}

void
gst_stereo_drops_set_mismatch (GstStereoDrops *drops, gchar *text)
{
  g_free (drops->mismatch);
  drops->mismatch = text;
}

void
gst_stereo_drops_report (GstStereoDrops *drops, gboolean now)
{
  guint left = drops->unreported[0], right = drops->unreported[1];
  gint64 time = g_get_monotonic_time ();
  gchar *skew;

  if (!(left || right) || (!now && drops->reported && time - drops->reported < REPORT_INTERVAL))
    return;
  if (drops->skew)
    skew = g_strdup_printf (" The nearest two were %.3f ms apart%s, and max-skew is %.3f ms: %s.",
        ABS (drops->skew) / 1e6, drops->dated ? " by their capture timestamps" : "", drops->max_skew / 1e6,
        ABS (drops->skew) > MOST_SKEW ?
            "one camera was away, or counts its time from a moment of its own. Let its source stamp frames by the "
            "pipeline's clock (do-timestamp=true)" :
            "start the cameras together, or raise max-skew");
  else
    skew = g_strdup ("");
  GST_ELEMENT_WARNING (drops->element, STREAM, FAILED,
      ("%u left and %u right frames had no partner and were dropped.%s%s", left, right, skew,
          drops->mismatch ? drops->mismatch : ""),
      (NULL));
  g_free (skew);
  g_clear_pointer (&drops->mismatch, g_free);
  drops->unreported[0] = drops->unreported[1] = 0;
  drops->skew = drops->max_skew = 0;
  drops->reported = time;
}

void
gst_stereo_drops_get (GstStereoDrops *drops, guint64 *left, guint64 *right)
{
  GST_OBJECT_LOCK (drops->element);
  *left = drops->total[0];
  *right = drops->total[1];
  GST_OBJECT_UNLOCK (drops->element);
}

void
gst_stereo_drops_break_stream (GstStereoDrops *drops)
{
  drops->broken = TRUE;
}

gboolean
gst_stereo_drops_mend_stream (GstStereoDrops *drops)
{
  gboolean broken = drops->broken;

  drops->broken = FALSE;
  return broken;
}
