/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/diagnose/views.h"

#include <math.h>
#include <string.h>

#include "gst/match/debug.h"
#include "gst/match/diagnose/episodes.h"

#define VIEW(v) ((v) ? "right" : "left")
#define OF_VIEW(name) GST_STEREO_HEALTH_##name##_LEFT, GST_STEREO_HEALTH_##name##_RIGHT
#define EITHER(name) (GST_STEREO_HEALTH_##name##_LEFT | GST_STEREO_HEALTH_##name##_RIGHT)

#define HISTORY_COUNT 20       /* looks before the history counts */
#define HISTORY_WEIGHT 200     /* looks that its means are of, at most: twenty seconds */
#define HISTORY_MAX 0.40546511 /* ln 1.5: dirt that comes slowly must not become the expected state */

/* A look at both views, and what is known from earlier ones. */
typedef struct
{
  GstStereoViewFigures figures[2]; /* of the left and the right view */
  GstStereoPairFigures pair;
  /* means over earlier looks; 0 = not known */
  gdouble ratio;      /* the left view's sharpness divided by the right one's */
  gdouble sharp[2];   /* sharpness of each view */
  gdouble repeats[2]; /* share of the last looks in which a view was the same to the bit, and the other view was not */
  gboolean lively;    /* pixels have changed before, or a sensor gives the frames: no two are equal to the bit */
  gboolean coded;     /* a view comes from an encoder that repeats what hardly changes */
  gboolean raw[2];    /* of each view all pixels used to change */
  gboolean awake[2];  /* a view repeated, and its pixels change again */
} Look;

/* Each fault has two thresholds. Between them the verdict is unknown, so that a fault near a threshold does not flicker. @value grows
 * as the fault does. */
static GstStereoVerdict
above (gdouble value, gdouble bad, gdouble good)
{
  return value >= bad ? GST_STEREO_VERDICT_BAD : value <= good ? GST_STEREO_VERDICT_GOOD : GST_STEREO_VERDICT_UNKNOWN;
}

static GstStereoVerdict
below (gdouble value, gdouble bad, gdouble good)
{
  return above (-value, -bad, -good);
}

static gdouble
share_of (const Look *look, guint blocks)
{
  return blocks / (gdouble) look->pair.blocks;
}

static gdouble
sharpness_of (const GstStereoViewFigures *figures)
{
  return figures->detail / MAX (figures->brightness, 1);
}

/* ---- detail and noise ------------------------------------------------------------------------ */

#define DETAILED_ENOUGH 1.5 /* grey levels: fog has 2.5 */
#define BEYOND_DOUBT 2.5    /* times what noise gives by chance */
#define SOMETHING_THERE 8.0 /* grey levels of contrast: a blank wall has less, and is not blurred */
#define SMOOTH 0.5          /* roughness of a blurred view, of its contrast */

/* Whether a view shows more than noise. */
static gboolean
has_detail (const GstStereoViewFigures *own)
{
  return own->detail >= DETAILED_ENOUGH && own->detail * own->detail >= BEYOND_DOUBT * own->doubt;
}

/* Whether nothing but noise is left of the detail of a view that shows something. */
static gboolean
has_no_detail (const GstStereoViewFigures *own)
{
  return own->contrast >= SOMETHING_THERE && own->roughness < SMOOTH * own->contrast &&
      own->detail * own->detail < BEYOND_DOUBT * own->doubt;
}

static gdouble
noise_of (const GstStereoViewFigures *own)
{
  /* twice a pixel less two neighbours has six times the variance of its noise */
  return sqrt (MAX (0, own->roughness * own->roughness - own->detail * own->detail) / 6);
}

/* ---- black, blown out ----------------------------------------------------------------------- */

static GstStereoVerdict
judge_black (const Look *look, guint v, gdouble *value)
{
  /* a picture of the night has lamps */
  return above (*value = look->figures[v].black, 0.98, 0.9);
}

static GstStereoVerdict
judge_blown_out (const Look *look, guint v, gdouble *value)
{
  /* twice what fog and sky give */
  return above (*value = look->figures[v].white, 0.5, 0.4);
}

/* ---- covered, blurred, blank ----------------------------------------------------------------- */

#define BLURRED_BAD 0.5 /* of the sharpness expected; the worst healthy pair has 0.82 */
#define BLURRED_GOOD 0.65
#define BLURRED_BOTH 0.25 /* of what each view's sharpness used to be: fog and night come slower */
#define ROUGHER 0.8       /* a view that is less sharp has less of detail and noise together, too */
#define EVEN 8.0          /* grey levels of contrast: a cover has less, */
#define LESS 0.5          /* and so much less than the other view */
#define NOT_EVEN 10.0
#define COVERED_BAD 0.06 /* of the blocks */
#define COVERED_GOOD 0.03

/* Half as sharp as the other view, or as it used to be against the other; or both are without detail, or a quarter as sharp as they
 * used to be. */
static GstStereoVerdict
judge_blurred (const Look *look, guint v, gdouble *value)
{
  const GstStereoViewFigures *own = &look->figures[v], *other = &look->figures[!v];
  gdouble expected = look->ratio <= 0 ? 1 : v ? 1 / look->ratio : look->ratio;
  gdouble sharp = sharpness_of (own), beside = sharpness_of (other);

  *value = sharp / MAX (beside, 1e-9);
  if ((has_no_detail (own) && has_no_detail (other)) ||
      (sharp < BLURRED_BOTH * look->sharp[v] && beside < BLURRED_BOTH * look->sharp[!v]))
    return GST_STEREO_VERDICT_BAD;
  if (!has_detail (other))
    return GST_STEREO_VERDICT_UNKNOWN;
  GstStereoVerdict verdict = below (*value / expected, BLURRED_BAD, BLURRED_GOOD);
  /* texture whose rows have nothing in common is taken for noise; and in fog there may be little else than noise */
  return verdict == GST_STEREO_VERDICT_BAD && own->roughness > ROUGHER * other->roughness ? GST_STEREO_VERDICT_UNKNOWN :
                                                                                            verdict;
}

/* Blurred, and nearly even all over; or a part of it is even, and not of the other view. */
static GstStereoVerdict
judge_covered (const Look *look, guint v, gdouble *value)
{
  const GstStereoViewFigures *own = &look->figures[v], *other = &look->figures[!v];
  gdouble sharper;
  GstStereoVerdict blurred = judge_blurred (look, v, &sharper);

  *value = share_of (look, own->even);
  if (blurred == GST_STEREO_VERDICT_BAD && own->contrast < EVEN && own->contrast < LESS * other->contrast)
    return GST_STEREO_VERDICT_BAD;
  GstStereoVerdict part = above (*value, COVERED_BAD, COVERED_GOOD);
  return part == GST_STEREO_VERDICT_GOOD && blurred == GST_STEREO_VERDICT_UNKNOWN ? blurred : part;
}

/* Both views are even all over, but for noise: covers on both lenses, or a wall without texture. Nothing can be measured. */
static GstStereoVerdict
judge_blank (const Look *look, guint v, gdouble *value)
{
  *value = MAX (look->figures[0].contrast, look->figures[1].contrast);
  if (has_detail (&look->figures[0]) || has_detail (&look->figures[1]))
    return GST_STEREO_VERDICT_GOOD;
  return below (*value, EVEN, NOT_EVEN);
}

/* ---- dark ------------------------------------------------------------------------------------ */

#define BRIGHT_ENOUGH 20.0 /* levels of the other view: a darker view shows nothing about exposure */

static GstStereoVerdict
judge_dark (const Look *look, guint v, gdouble *value)
{
  const GstStereoViewFigures *own = &look->figures[v], *other = &look->figures[!v];

  *value = own->brightness / MAX (other->brightness, 1e-9);
  /* the worst healthy pair has 0.93 */
  return other->brightness < BRIGHT_ENOUGH ? GST_STEREO_VERDICT_UNKNOWN : below (*value, 1 / 1.5, 1 / 1.3);
}

/* ---- frozen, still ---------------------------------------------------------------------------- */

#define REPEATS 8 /* looks that their share is of */
#define REPEATS_BAD 0.35
#define REPEATS_GOOD 0.1
#define MUCH 0.15     /* of the blocks move: both views see some of it */
#define SAME_BAD 0.06 /* of the blocks, to the bit, where the other view changes everywhere */
#define SAME_GOOD 0.02
#define STALE_BAD 0.05 /* of the blocks, while the other view moves in each of them */
#define STALE_GOOD 0.025
#define ALONE 6          /* blocks in which the other view moves where this one does not, */
#define ALONE_OF 0.2     /* this share of all that moves there, */
#define ALONE_MORE 4     /* and so many times those the other way round */
#define CODED_LEAST 0.02 /* of the blocks are the same to the bit, and not all */
#define CODED_MOST 0.98
#define CODED_LOOKS 20
#define RAW_LOOKS 10
#define AWAKE 4 /* looks in a row that change: of what repeats each picture a few times, no more than three do */

static GstStereoVerdict
judge_frozen (const Look *look, guint v, gdouble *value)
{
  const GstStereoViewFigures *own = &look->figures[v], *other = &look->figures[!v];
  gboolean alone = own->alone >= ALONE && own->alone >= ALONE_OF * other->moving &&
      own->alone >= ALONE_MORE * other->alone;
  gboolean part = look->raw[v] && other->same < SAME_GOOD;

  *value = MAX (look->repeats[v], share_of (look, own->stale));
  if (!own->compared)
    return GST_STEREO_VERDICT_UNKNOWN;
  if (look->repeats[v] >= REPEATS_BAD || (part && own->same >= SAME_BAD) || alone ||
      share_of (look, own->stale) >= STALE_BAD)
    return GST_STEREO_VERDICT_BAD;
  /* that a view does not stand still is known where something moves in it, or where it has repeated and does so no more */
  return look->repeats[v] <= REPEATS_GOOD && (!part || own->same < SAME_GOOD) && (own->moving || look->awake[v]) &&
          !own->alone && share_of (look, own->stale) <= STALE_GOOD ?
      GST_STEREO_VERDICT_GOOD :
      GST_STEREO_VERDICT_UNKNOWN;
}

/* Whether no pixel of either view changes. */
static GstStereoVerdict
judge_same (const Look *look, gdouble *value)
{
  *value = MIN (look->figures[0].same, look->figures[1].same);
  return !look->figures[0].compared ? GST_STEREO_VERDICT_UNKNOWN :
      *value >= 1                   ? GST_STEREO_VERDICT_BAD :
                                      GST_STEREO_VERDICT_GOOD;
}

static GstStereoVerdict
judge_both_frozen (const Look *look, guint v, gdouble *value)
{
  GstStereoVerdict same = judge_same (look, value);

  return same == GST_STEREO_VERDICT_BAD && (!look->lively || look->coded) ? GST_STEREO_VERDICT_UNKNOWN : same;
}

static GstStereoVerdict
judge_still (const Look *look, guint v, gdouble *value)
{
  GstStereoVerdict same = judge_same (look, value);

  return same == GST_STEREO_VERDICT_BAD && look->lively ? GST_STEREO_VERDICT_GOOD : same;
}

/* ---- same view, still pattern ------------------------------------------------------------------- */

#define MIN_TEXTURED 12 /* blocks of a pair: a view without detail is no evidence */
#define ZERO_BAD 0.6    /* share of the blocks with texture that lie at disparity 0; healthy pairs have up to 0.04 */
#define ZERO_GOOD 0.3
#define REST_PATTERN 0.004 /* share of the texture that noise does not explain: two scenes behind one pattern */
#define PATTERN_BAD 0.08   /* of the blocks */
#define PATTERN_GOOD 0.04
#define MIN_PATTERN 6

static gdouble
share_at_0 (const Look *look)
{
  return look->pair.zero / (gdouble) MAX (1, look->pair.textured);
}

static GstStereoVerdict
judge_same_view (const Look *look, guint v, gdouble *value)
{
  GstStereoVerdict zero = above (*value = share_at_0 (look), ZERO_BAD, ZERO_GOOD);

  if (look->pair.textured < MIN_TEXTURED)
    return GST_STEREO_VERDICT_UNKNOWN;
  return zero == GST_STEREO_VERDICT_BAD && look->pair.rest >= REST_PATTERN ? GST_STEREO_VERDICT_GOOD : zero;
}

static GstStereoVerdict
judge_still_pattern (const Look *look, guint v, gdouble *value)
{
  *value = share_of (look, look->pair.pattern);
  if (look->pair.textured >= MIN_TEXTURED && share_at_0 (look) >= ZERO_BAD)
    return look->pair.rest < REST_PATTERN ? GST_STEREO_VERDICT_GOOD : GST_STEREO_VERDICT_BAD;
  return look->pair.pattern < MIN_PATTERN ? GST_STEREO_VERDICT_GOOD : above (*value, PATTERN_BAD, PATTERN_GOOD);
}

/* ---- the table --------------------------------------------------------------------------------- */

#define SHOWS_NOTHING (EITHER (BLACK) | EITHER (BLOWN_OUT))
#define MOST_RULES 16
#define BOTH_FROZEN G_GINT64_CONSTANT (600000000) /* ns: encoders repeat a still scene */

typedef struct
{
  GstStereoHealthFlags flags[2]; /* of the left and the right view; a fault of both together has the first one alone */
  /* Faults of either view, and of the view itself, that explain it: its verdict is unknown. They stand before it in the table. */
  GstStereoHealthFlags unless, unless_own;
  gint64 hold;          /* least duration, ns; 0 = that of its kind (gst/meta/health.c) */
  gboolean silent;      /* it is noted in the metadata alone, and matches count nevertheless */
  gboolean has_history; /* where neither view has it, their figures are what later ones are judged by */
  /* @v: 0 for the left view, 1 for the right one. @value: the figure that decides. */
  GstStereoVerdict (*verdict) (const Look *look, guint v, gdouble *value);
  const gchar *begin; /* of a view: what follows "The left view " */
  const gchar *end;   /* NULL for a fault of a view */
} Rule;

/* The order is that of messages: where two faults have one cause, the first one is BAD, and the other is UNKNOWN. */
static const Rule rules[] = {
  { .flags = { OF_VIEW (BLACK) },
      .verdict = judge_black,
      .begin = "is black. Look for a lens cap, no light, or too short an exposure, and whether the camera is connected." },
  { .flags = { OF_VIEW (BLOWN_OUT) },
      .verdict = judge_blown_out,
      .begin = "is blown out: half of its pixels are white, and show nothing that could be matched. Lower the exposure or the "
               "gain of that camera." },
  { .flags = { OF_VIEW (COVERED) },
      .unless = SHOWS_NOTHING,
      .verdict = judge_covered,
      .begin = "is covered, or a part of it: it is even where the other view shows something. Take away what lies before the "
               "lens." },
  { .flags = { OF_VIEW (BLURRED) },
      .unless = SHOWS_NOTHING,
      .unless_own = EITHER (COVERED),
      .has_history = TRUE,
      .verdict = judge_blurred,
      .begin = "is blurred: it has less than half of the detail of the other view, or both have lost theirs. Clean the lens, "
               "take away what lies before it, or focus that camera." },
  { .flags = { OF_VIEW (DARK) },
      .unless = SHOWS_NOTHING | EITHER (COVERED) | EITHER (BLURRED),
      .verdict = judge_dark,
      .begin = "is darker than the other one. Give both cameras the same exposure and gain, and switch off what sets these for "
               "each camera alone. Until then prefer cost=census-9x7 or method=bm cost=zncc: costs that compare grey levels "
               "fail." },
  { .flags = { OF_VIEW (FROZEN) },
      .unless = SHOWS_NOTHING,
      .unless_own = EITHER (COVERED) | EITHER (BLURRED),
      .verdict = judge_frozen,
      .begin = "is frozen: frames, or a large part of them, are the same as the ones before, while the other view moves. "
               "Restart that camera, and look at its cable and at what repeats frames on the way. Until then the values of what "
               "moves are wrong." },
  { .flags = { EITHER (FROZEN) },
      .unless = SHOWS_NOTHING,
      .hold = BOTH_FROZEN,
      .verdict = judge_both_frozen,
      .begin = "Both views are frozen: no pixel changes from frame to frame, which no sensor gives. Restart the cameras, and "
               "look at what repeats frames on the way.",
      .end = "The two views are no longer frozen." },
  { .flags = { GST_STEREO_HEALTH_STILL },
      .unless = SHOWS_NOTHING,
      .silent = TRUE,
      .verdict = judge_still,
      .begin = "no pixel has changed yet: a still picture",
      .end = "no pixel has changed yet: a still picture no more" },
  { .flags = { GST_STEREO_HEALTH_BLANK },
      .unless = SHOWS_NOTHING | EITHER (COVERED) | EITHER (BLURRED),
      .silent = TRUE,
      .verdict = judge_blank,
      .begin = "neither view shows more than noise",
      .end = "a view shows more than noise again" },
  { .flags = { GST_STEREO_HEALTH_SAME_VIEW },
      .verdict = judge_same_view,
      .begin = "Both views come from one camera: all that they show lies at the same place, so that everything seems to be "
               "far away. Look at which device each pad gets, at a tee before both, and at the channels of a capture card.",
      .end = "The two views are no longer the same." },
  { .flags = { GST_STEREO_HEALTH_STILL_PATTERN },
      .verdict = judge_still_pattern,
      .begin = "A still pattern lies over both views at the same place: drops, dirt or a cracked screen before both lenses, "
               "or something that is blended in. It is matched in place of the scene, and seems to be far away. Clean the "
               "lenses and what is before them.",
      .end = "The pattern on the lenses is gone." },
};

G_STATIC_ASSERT (G_N_ELEMENTS (rules) <= MOST_RULES);

struct _GstStereoViews
{
  GstElement *element;
  GstStereoReport *report;

  /* protected by the element's object lock; written in one thread */
  guint64 count; /* of looks */
  Look look;     /* the last one */

  /* of the source pad's task */
  GstStereoEvidence *evidence; /* NULL before the first look, and for views too small */
  GstStereoUnmeasured *unmeasured;
  GstStereoEpisode episodes[MOST_RULES][2];
  gboolean started;
  gint64 last;             /* time of the last look, ns */
  gdouble ratio, sharp[2]; /* mean logarithms of sharpness in looks without a fault */
  guint known;             /* looks in these means */
  guint coded, raw[2];     /* looks until a view does not count as coded; looks in which all of it changed */
  guint awake[2]; /* 0: a view has not repeated since something moved in it; else 1 and the looks in which it changed since */
  gboolean moved; /* pixels have changed */
};

GstStereoViews *
gst_stereo_views_new (GstElement *element, GstStereoReport *report)
{
  GstStereoViews *views = g_new0 (GstStereoViews, 1);

  views->element = element;
  views->report = report;
  return views;
}

void
gst_stereo_views_start (GstStereoViews *views)
{
  GstElement *element = views->element;
  GstStereoReport *report = views->report;

  gst_stereo_evidence_free (views->evidence);
  g_clear_pointer (&views->unmeasured, gst_stereo_unmeasured_unref);
  GST_OBJECT_LOCK (element);
  *views = (GstStereoViews){ .element = element, .report = report };
  GST_OBJECT_UNLOCK (element);
}

void
gst_stereo_views_free (GstStereoViews *views)
{
  gst_stereo_views_start (views);
  g_free (views);
}

void
gst_stereo_views_flush (GstStereoViews *views)
{
  views->started = FALSE;
  if (views->evidence)
    gst_stereo_evidence_forget (views->evidence);
  for (guint i = 0; i < G_N_ELEMENTS (rules); i++)
    for (guint v = 0; v < 2; v++)
      gst_stereo_episode_flush (&views->episodes[i][v]);
}

gboolean
gst_stereo_views_are_due (const GstStereoViews *views, gint64 time)
{
  return !views->started || time < views->last || time - views->last >= (gint64) GST_STEREO_VIEWS_INTERVAL;
}

#define SUSPECTED 3

/* A suspicion that the last three looks do not repeat is none: a single change of one view says nothing for a second and more. */
static gboolean
is_suspected (const GstStereoEpisode *episode)
{
  return episode->stands || (episode->count && episode->unknown < SUSPECTED);
}

GstStereoViewsWorth
gst_stereo_views_get_worth (const GstStereoViews *views)
{
  const GstStereoViewFigures *figures = views->look.figures;
  GstStereoViewsWorth worth = { TRUE, has_detail (&figures[0]) && has_detail (&figures[1]), views->look.pair.jump,
    MAX (noise_of (&figures[0]), noise_of (&figures[1])) };

  /* a picture that never changes matches as well as any */
  for (guint i = 0; i < G_N_ELEMENTS (rules); i++)
    for (guint v = 0; v < 2; v++)
      worth.sound = worth.sound && (rules[i].silent || !is_suspected (&views->episodes[i][v]));
  return worth;
}

GstStereoUnmeasured *
gst_stereo_views_get_unmeasured (const GstStereoViews *views)
{
  return views->unmeasured;
}

/* ---- a look ---------------------------------------------------------------------------------- */

static void
add_figures (GstStructure *fields, const Look *look)
{
  gst_structure_set (fields, "brightness-left", G_TYPE_DOUBLE, look->figures[0].brightness, "brightness-right",
      G_TYPE_DOUBLE, look->figures[1].brightness, "sharpness-left", G_TYPE_DOUBLE, sharpness_of (&look->figures[0]),
      "sharpness-right", G_TYPE_DOUBLE, sharpness_of (&look->figures[1]), NULL);
}

static void
report (GstStereoViews *views, const Rule *rule, guint v, gboolean active, gdouble value)
{
  GstStereoHealthFlags flag = rule->flags[v];
  gboolean of_view = !rule->end;

  if (rule->silent) {
    GST_DEBUG_OBJECT (views->element, "%s", active ? rule->begin : rule->end);
    gst_stereo_report_note (views->report, flag, active);
    return;
  }
  GstStructure *fields = gst_structure_new (
      "stereo-health", "time", G_TYPE_INT64, views->last, "value", G_TYPE_DOUBLE, value, NULL);
  if (of_view)
    add_figures (fields, &views->look);
  gst_stereo_report_change (views->report, flag, active,
      !of_view   ? g_strdup (active ? rule->begin : rule->end) :
          active ? g_strdup_printf ("The %s view %s", VIEW (v), rule->begin) :
                   g_strdup_printf ("The %s view is no longer %s.", VIEW (v), gst_stereo_kind_of (flag)->words),
      fields);
}

/* A look in which nothing is wrong with the sharpness of either view. */
static void
remember (GstStereoViews *views)
{
  gdouble sharp[] = { log (sharpness_of (&views->look.figures[0])), log (sharpness_of (&views->look.figures[1])) };

  views->known = MIN (views->known + 1, HISTORY_WEIGHT);
  views->ratio += (sharp[0] - sharp[1] - views->ratio) / views->known;
  for (guint v = 0; v < 2; v++)
    views->sharp[v] += (sharp[v] - views->sharp[v]) / views->known;
}

/* What is known from the looks before, and what this one adds to it. */
static void
recall (GstStereoViews *views, gboolean live, Look *look)
{
  const GstStereoViewFigures *figures = look->figures;
  gboolean coded = FALSE;

  for (guint v = 0; v < 2; v++) {
    gboolean beside = figures[!v].same < SAME_BAD || share_of (look, figures[!v].moving) >= MUCH;
    gboolean repeats = figures[v].same >= 1 && beside;
    if (!figures[v].compared)
      continue;
    views->moved = views->moved || figures[v].same < 1;
    coded = coded || (figures[v].same >= CODED_LEAST && figures[v].same < CODED_MOST);
    views->raw[v] = figures[v].same < SAME_GOOD ? MIN (views->raw[v] + 1, RAW_LOOKS) :
        views->raw[v] < RAW_LOOKS               ? 0 :
                                                  views->raw[v];
    look->repeats[v] = views->look.repeats[v] + (repeats - views->look.repeats[v]) / REPEATS;
    look->raw[v] = views->raw[v] == RAW_LOOKS;
    gboolean changes = figures[v].same < (look->raw[v] ? SAME_GOOD : 1);
    if (!changes)
      views->awake[v] = beside || views->awake[v];
    else if (views->awake[v])
      views->awake[v] = figures[v].moving && views->awake[v] > AWAKE ? 0 : MIN (views->awake[v], AWAKE) + 1;
    look->awake[v] = views->awake[v] > AWAKE;
    if (look->awake[v])
      look->repeats[v] = 0;
  }
  views->coded = coded ? CODED_LOOKS : MAX (1, views->coded) - 1;
  look->coded = views->coded > 0;
  look->lively = live || views->moved;
  if (views->known < HISTORY_COUNT)
    return;
  look->ratio = exp (CLAMP (views->ratio, -HISTORY_MAX, HISTORY_MAX));
  for (guint v = 0; v < 2; v++)
    look->sharp[v] = exp (views->sharp[v]);
}

static void
judge (GstStereoViews *views)
{
  GstStereoHealthFlags bad[2] = { GST_STEREO_HEALTH_OK, GST_STEREO_HEALTH_OK }; /* of each view */
  const Look *look = &views->look;

  for (guint i = 0; i < G_N_ELEMENTS (rules); i++) {
    const Rule *rule = &rules[i];
    gint64 hold = rule->hold ? rule->hold : (gint64) gst_stereo_kind_of (rule->flags[0])->hold;
    GstStereoVerdict verdicts[2] = { GST_STEREO_VERDICT_UNKNOWN, GST_STEREO_VERDICT_UNKNOWN };
    gdouble values[2] = { 0, 0 };

    for (guint v = 0; v < 2 && rule->flags[v]; v++)
      if (!(rule->unless & (bad[0] | bad[1])) && !(rule->unless_own & bad[v]))
        verdicts[v] = rule->verdict (look, v, &values[v]);
    if (rule->has_history && verdicts[0] == GST_STEREO_VERDICT_GOOD && verdicts[1] == GST_STEREO_VERDICT_GOOD)
      remember (views);
    for (guint v = 0; v < 2; v++) {
      if (verdicts[v] == GST_STEREO_VERDICT_BAD)
        bad[v] |= rule->flags[v];
      GstStereoEpisodeChange change = gst_stereo_episode_update (&views->episodes[i][v], verdicts[v], views->last, hold);
      if (change != GST_STEREO_EPISODE_GOES_ON)
        report (views, rule, v, change == GST_STEREO_EPISODE_BEGINS, values[v]);
    }
  }
}

void
gst_stereo_views_look (GstStereoViews *views, gint64 time, const GstStereoLayout *layout,
    const GstVideoInfo *const infos[2], const StereoImage images[2], gboolean live, gint least, gint most)
{
  gint black[2], scale[2];
  Look look = { 0 };

  views->started = TRUE;
  views->last = time;
  if (!views->evidence || !gst_stereo_evidence_is_for (views->evidence, layout->width, layout->height)) {
    gst_stereo_evidence_free (views->evidence);
    views->evidence = gst_stereo_evidence_new (layout->width, layout->height);
  }
  if (!views->evidence)
    return;
  for (guint v = 0; v < 2; v++) {
    gint offsets[GST_VIDEO_MAX_COMPONENTS], scales[GST_VIDEO_MAX_COMPONENTS];
    guint component = images[v].channels == 3; /* green, or luma */
    gst_video_color_range_offsets (infos[v]->colorimetry.range, infos[v]->finfo, offsets, scales);
    black[v] = offsets[component];
    scale[v] = scales[component];
  }
  gst_stereo_evidence_add (views->evidence, images, black, scale, least, most, look.figures, &look.pair);
  g_clear_pointer (&views->unmeasured, gst_stereo_unmeasured_unref);
  views->unmeasured = gst_stereo_evidence_get_unmeasured (views->evidence, black, scale);
  recall (views, live, &look);
  for (guint v = 0; v < 2; v++)
    GST_LOG_OBJECT (views->element,
        "%s view: brightness %.1f, %.3f black, %.3f white, detail %.2f (square +- %.1f) of %.2f, contrast %.1f; of %u blocks "
        "%u move, %u stale, %u even, %u where the other view moves alone, %.3f the same; repeats %.2f",
        VIEW (v), look.figures[v].brightness, look.figures[v].black, look.figures[v].white, look.figures[v].detail,
        look.figures[v].doubt, look.figures[v].roughness, look.figures[v].contrast, look.pair.blocks,
        look.figures[v].moving, look.figures[v].stale, look.figures[v].even, look.figures[v].alone,
        look.figures[v].same, look.repeats[v]);
  GST_LOG_OBJECT (views->element, "%u of %u blocks at disparity 0, with a rest of %.4f; %u patterns%s", look.pair.zero,
      look.pair.textured, look.pair.rest, look.pair.pattern, look.pair.jump ? "; a jump" : "");
  GST_OBJECT_LOCK (views->element);
  views->count++;
  views->look = look;
  GST_OBJECT_UNLOCK (views->element);
  judge (views);
}

/* ---- from any thread --------------------------------------------------------------------- */

void
gst_stereo_views_add_stats (GstStereoViews *views, GstStructure *stats)
{
  GST_OBJECT_LOCK (views->element);
  guint64 count = views->count;
  Look look = views->look;
  GST_OBJECT_UNLOCK (views->element);
  gst_structure_set (stats, "health-looks", G_TYPE_UINT64, count, NULL);
  add_figures (stats, &look);
}
