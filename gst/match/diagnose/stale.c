/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/diagnose/stale.h"

#include <string.h>

#define BANDS GST_STEREO_PAIR_BANDS
#define LEAST_LOOKS 5 /* before the usual share is known: until then, each pair is matched with earlier frames */
#define MOST_LOOKS 12
/* Points of a stretch of rows, beyond MORE times those that are found now: */
#define MORE 1.5
#define LACK 8.0    /* are usual, and missing now */
#define MOST 13.0   /* an earlier frame finds, which count in one look */
#define ALLOWED 5.0 /* it finds by chance, and explains nothing */
#define SURE 16.0   /* sum over the looks, without what is allowed: at least two, of sound views none */
#define EACH_ROW 8  /* that is compared with the frame before */
#define CHANGES 4.0 /* grey levels: the scene moves in a band */
/* Of that, a view that is frozen changes less; late ones change as much as the other view. */
#define FROZEN 0.35
#define TRIES 3 /* looks after which what is found becomes usual */

void
gst_stereo_stale_clear (GstStereoStale *stale)
{
  for (guint age = 0; age < GST_STEREO_STALE_AGES; age++)
    for (guint v = 0; v < 2; v++)
      g_free (stale->earlier[age][v].pixels);
  *stale = (GstStereoStale){ 0 };
}

void
gst_stereo_stale_forget (GstStereoStale *stale)
{
  stale->kept = 0;
}

/* ---- frames ------------------------------------------------------------------------------ */

static void
copy (GstStereoEarlierView *view, const StereoImage *image, gint width, gint height)
{
  gsize row = (gsize) width * (gsize) image->pixel_stride, size = row * (gsize) height;

  if (view->size != size) {
    g_free (view->pixels);
    view->pixels = g_malloc (size);
    view->size = size;
  }
  for (gint y = 0; y < height; y++)
    memcpy (view->pixels + (gsize) y * row, image->data + y * image->stride, row);
  view->image = *image;
  view->image.data = view->pixels;
  view->image.stride = (ptrdiff_t) row;
}

void
gst_stereo_stale_keep (GstStereoStale *stale, const StereoImage images[2], gint width, gint height)
{
  for (guint v = 0; v < 2; v++) {
    GstStereoEarlierView oldest = stale->earlier[GST_STEREO_STALE_AGES - 1][v];
    for (guint age = GST_STEREO_STALE_AGES - 1; age > 0; age--)
      stale->earlier[age][v] = stale->earlier[age - 1][v];
    copy (&oldest, &images[v], width, height);
    stale->earlier[0][v] = oldest;
  }
  stale->kept = MIN (stale->kept + 1, GST_STEREO_STALE_AGES);
}

/* Mean change of a sample in some rows of a band. */
static gdouble
change_of (const StereoImage *now, const StereoImage *before, gint width, gint height, gint band)
{
  gint component = now->offset[now->channels == 3], rows = 0;
  gint64 sum = 0;

  for (gint y = band * height / BANDS; y < (band + 1) * height / BANDS; y += EACH_ROW, rows++) {
    const guint8 *p = now->data + y * now->stride + component, *q = before->data + y * before->stride + component;
    for (gint x = 0; x < width; x++)
      sum += ABS (p[x * now->pixel_stride] - q[x * before->pixel_stride]);
  }
  return (gdouble) sum / MAX (1, rows * width);
}

gboolean
gst_stereo_stale_is_frozen (const GstStereoStale *stale, const StereoImage now[2], gint width, gint height, guint v)
{
  for (gint band = 0; band < BANDS && stale->kept; band++) {
    gdouble change[2];
    for (guint view = 0; view < 2; view++)
      change[view] = change_of (&now[view], &stale->earlier[0][view].image, width, height, band);
    if (change[!v] > CHANGES && change[v] < FROZEN * change[!v])
      return TRUE;
  }
  return FALSE;
}

/* ---- matches ----------------------------------------------------------------------------- */

/* The largest sum over bands that follow each other. */
static gdouble
largest_sum (const gdouble *of_band)
{
  gdouble sum = 0, largest = 0;

  for (guint band = 0; band < BANDS; band++) {
    sum = MAX (0, sum + of_band[band]);
    largest = MAX (largest, sum);
  }
  return largest;
}

static void
learn (GstStereoStale *stale, const GstStereoPairMatches *now)
{
  stale->looks = MIN (stale->looks + 1, MOST_LOOKS);
  for (guint band = 0; band < BANDS; band++) {
    gdouble share = now->matches_of[band] / (gdouble) MAX (1, now->points_of[band]);
    stale->usual[band] += (share - stale->usual[band]) / stale->looks;
  }
}

gboolean
gst_stereo_stale_add (GstStereoStale *stale, const GstStereoPairMatches *now)
{
  gdouble missing[BANDS];

  for (guint band = 0; band < BANDS; band++)
    missing[band] = stale->usual[band] * now->points_of[band] - MORE * now->matches_of[band];
  stale->lacks = stale->looks >= LEAST_LOOKS && largest_sum (missing) >= LACK;
  if (stale->lacks)
    return TRUE;
  learn (stale, now);
  stale->tries = 0;
  if (stale->looks > LEAST_LOOKS)
    stale->sums[0] = stale->sums[1] = 0;
  return stale->looks <= LEAST_LOOKS;
}

GstStereoVerdict
gst_stereo_stale_judge (GstStereoStale *stale, const GstStereoPairMatches *now,
    const GstStereoPairMatches earlier[2][GST_STEREO_STALE_AGES], guint ages)
{
  gboolean explains = FALSE;

  for (guint v = 0; v < 2; v++) {
    gdouble most = 0;
    for (guint age = 0; age < ages; age++) {
      gdouble gain[BANDS];
      for (guint band = 0; band < BANDS; band++)
        gain[band] = earlier[v][age].matches_of[band] - MORE * now->matches_of[band];
      most = MAX (most, largest_sum (gain));
    }
    stale->sums[v] = CLAMP (stale->sums[v] + MIN (most, MOST) - ALLOWED, 0, SURE);
    explains = explains || most > ALLOWED;
  }
  if (MAX (stale->sums[0], stale->sums[1]) >= SURE)
    return GST_STEREO_VERDICT_BAD;
  if (ages < GST_STEREO_STALE_AGES || explains)
    return GST_STEREO_VERDICT_UNKNOWN;
  if (stale->lacks && ++stale->tries >= TRIES) {
    memset (stale->usual, 0, sizeof stale->usual);
    stale->looks = 0;
    learn (stale, now);
    stale->looks = LEAST_LOOKS;
    stale->lacks = FALSE;
  }
  return GST_STEREO_VERDICT_GOOD;
}

guint
gst_stereo_stale_get_view (const GstStereoStale *stale)
{
  return stale->sums[1] > stale->sums[0];
}
