/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/diagnose/unmeasured.h"

#include <string.h>

static void
clear (gpointer unmeasured)
{
  for (guint v = 0; v < 2; v++)
    g_free (((GstStereoUnmeasured *) unmeasured)->marks[v]);
}

GstStereoUnmeasured *
gst_stereo_unmeasured_new (gint width, gint height, gint factor)
{
  GstStereoUnmeasured *unmeasured = g_atomic_rc_box_new0 (GstStereoUnmeasured);

  *unmeasured = (GstStereoUnmeasured){ .width = width, .height = height, .factor = factor };
  for (guint v = 0; v < 2; v++)
    unmeasured->marks[v] = g_malloc0 ((gsize) width * (gsize) height);
  return unmeasured;
}

GstStereoUnmeasured *
gst_stereo_unmeasured_ref (GstStereoUnmeasured *unmeasured)
{
  return g_atomic_rc_box_acquire (unmeasured);
}

void
gst_stereo_unmeasured_unref (GstStereoUnmeasured *unmeasured)
{
  g_atomic_rc_box_release_full (unmeasured, clear);
}

/* The pixels that are cleared, and the confidence that is lost. */
typedef struct
{
  guint64 pixels, confidence;
} Lost;

static void
apply_row (const GstStereoUnmeasured *unmeasured, const GstStereoMaskedPicture *picture, const GstStereoMeta *units,
    gint y, Lost *lost)
{
  guint8 *row = picture->samples + (gssize) y * picture->stride;
  guint8 *confidence = picture->confidence + (gssize) y * picture->confidence_stride;
  gint bytes = picture->sample_bytes, f = unmeasured->factor, last = unmeasured->width - 1;
  gsize at = (gsize) MIN (y / f, unmeasured->height - 1) * (gsize) unmeasured->width;
  const guint8 *left = unmeasured->marks[0] + at, *right = unmeasured->marks[1] + at;
  gboolean in_right = memchr (right, 1, (gsize) unmeasured->width) != NULL;

  if (!in_right && !memchr (left, 1, (gsize) unmeasured->width))
    return;
  for (gint x = 0; x < (gint) units->width; x++) {
    guint sample = bytes == 1 ? row[x] : ((const guint16 *) (gconstpointer) row)[x];
    gboolean blind = left[MIN (x / f, last)];
    if (!blind && sample && in_right) {
      gdouble place = x - gst_stereo_meta_get_disparity (units, sample);
      blind = place >= 0 && place < units->width && right[MIN ((gint) place / f, last)];
    }
    if (!blind)
      continue;
    lost->pixels += sample != 0;
    lost->confidence += confidence[x];
    memset (row + x * bytes, 0, (gsize) bytes);
    confidence[x] = 0;
  }
}

void
gst_stereo_unmeasured_apply (const GstStereoUnmeasured *unmeasured, const GstStereoMaskedPicture *picture,
    const GstStereoMeta *units, guint64 counted, gdouble *valid_ratio, gdouble *mean_confidence)
{
  Lost lost = { 0 };

  for (gint y = 0; y < (gint) units->height; y++)
    apply_row (unmeasured, picture, units, y, &lost);
  *valid_ratio = MAX (0, *valid_ratio - (gdouble) lost.pixels / (gdouble) counted);
  *mean_confidence = MAX (0, *mean_confidence - (gdouble) lost.confidence / (255.0 * (gdouble) counted));
}
