/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Made views for the tests of faults, and what the rules say of them. */
#ifndef TESTS_DIAGNOSE_MADE_H
#define TESTS_DIAGNOSE_MADE_H

#include "gst/match/diagnose/matches.h"
#include "tests/support/random.h"

#define GOOD GST_STEREO_VERDICT_GOOD
#define BAD GST_STEREO_VERDICT_BAD
#define UNKNOWN GST_STEREO_VERDICT_UNKNOWN

/* The generator of all that is drawn here and in the tests, which seed it. */
extern Random generator;

gdouble draw (gdouble low, gdouble high);
gdouble gauss (void);

/* ---- a view ------------------------------------------------------------------------------ */

/* One view in the memory of a picture format: the sample that is read, among others that say something else. */
typedef struct
{
  gint width, height;
  guint8 *memory;
  StereoImage image;
} View;

View view_new (gint width, gint height);
void view_clear (View *view);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (View, view_clear)

/* The sample that is read where one is enough: luma, or green. */
guint8 *view_sample (const View *view, gint x, gint y);
/* Every sample of a pixel. */
void view_set (const View *view, gint x, gint y, gdouble value);

/* ---- a pair ------------------------------------------------------------------------------ */

/* The level of a scene at a place, 0..255 */
typedef gdouble (*Paint) (guint seed, gdouble x, gdouble y);

/* A texture of several sizes that may be read between its pixels. */
gdouble surface (guint seed, gdouble x, gdouble y);
/* Without texture. */
gdouble flat (guint seed, gdouble x, gdouble y);

/* How the right view differs from the left one. */
typedef struct
{
  gdouble disparity, slope; /* px; and more of it per row below the horizon */
  gdouble down, turn;       /* px; radians around the middle */
  gdouble gain, noise;
  gint horizon; /* row */
} Change;

typedef struct
{
  View left, right;
} Views;

Views views_new (gint width, gint height, Paint paint, const Change *change);
void views_clear (Views *views);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Views, views_clear)

/* ---- matches ----------------------------------------------------------------------------- */

/* The matches of a pair of that size. @infinity: the disparity of what is infinitely far away. FALSE: the views are too small. */
gboolean match_views (const StereoImage images[2], gint width, gint height, gint min, gint num, gdouble infinity,
    GstStereoMatchFigures *found);
/* What the row of a flag makes of matches alone; under noise of so many grey levels; or with these parameters. */
GstStereoVerdict verdict_of (GstStereoHealthFlags flag, const GstStereoMatchFigures *figures);
GstStereoVerdict verdict_under_noise (GstStereoHealthFlags flag, const GstStereoMatchFigures *figures, gdouble noise);
GstStereoVerdict verdict_of_shift (const GstStereoMatchFigures *figures, const StereoParams *params);

#endif
