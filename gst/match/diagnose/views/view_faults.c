/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/diagnose/views/view_faults.h"

#include <math.h>
#include <string.h>

#include "gst/match/diagnose/views/frozen.h"

/* Each fault has two thresholds. Between them the verdict is unknown, so that a fault near a threshold does not flicker. */
#define BLACK_BAD 0.98 /* share of black pixels: a picture of the night has lamps */
#define BLACK_GOOD 0.9
#define WHITE_BAD 0.5 /* twice what fog and sky give */
#define WHITE_GOOD 0.4
#define BLURRED_BAD 0.5 /* of the sharpness expected; the worst healthy pair has 0.82 */
#define BLURRED_GOOD 0.65
#define DARK_BAD (1 / 1.5) /* of the other view's brightness; the worst healthy pair has 0.93 */
#define DARK_GOOD (1 / 1.3)
#define BRIGHT_ENOUGH 20.0  /* levels of the other view: a darker view shows nothing about exposure */
#define DETAILED_ENOUGH 1.5 /* grey levels of the other view: fog has 2.5 */
#define BEYOND_DOUBT 2.5    /* times what noise gives by chance */
#define ROUGHER 0.8         /* a view that is less sharp has less of detail and noise together, too */
#define MOVES 0.01          /* share of the other view's pixels */
#define HISTORY_COUNT 10    /* before the history counts: two seconds */
#define HISTORY_WEIGHT 100  /* measurements that the mean is of, at most: twenty seconds */
#define ODD_COVER 8.0       /* grey levels of contrast: a cover has less */
#define EVEN 0.5            /* and it has so much less than the other view */
#define BANDS_ALONE 2       /* of 16, in a row */
#define PARTS_COVERED 2     /* of 16, in a row: an eighth of the view */
#define BLURRED_BOTH 0.25   /* of what each view's sharpness used to be: fog and night come slower */
#define SOMETHING_THERE 8.0 /* grey levels of contrast: a blank wall has less, and is not blurred */
#define SMOOTH 0.5          /* roughness of a blurred view, of its contrast */
#define MIN_TEXTURED 12     /* blocks of a pair */
#define ZERO_BAD 0.6 /* share of the blocks with texture that lie at disparity 0; healthy pairs have up to 0.04 */
#define ZERO_GOOD 0.3
#define REST_PATTERN 0.004 /* share of the variance that noise does not explain: two scenes behind one pattern */
#define MIN_MOVING 8
#define STILL_BAD 0.25 /* share of the blocks that move */
#define STILL_GOOD 0.1
#define MIN_LAYERED 8   /* blocks that show two layers: in fog, two of few do by chance */
#define LAYERED_BAD 0.2 /* their share of the blocks with texture; healthy pairs have up to 0.05, and 0.13 in fog */
#define LAYERED_GOOD 0.1
#define BOTH_FROZEN \
  G_GINT64_CONSTANT (600000000) /* ns that both have to be frozen for: encoders repeat a still scene */
#define HISTORY_MAX 0.40546511  /* ln 1.5: dirt that comes slowly must not become the expected state */

/* ---- verdicts ---------------------------------------------------------------------------- */

/* @value grows as the fault does. */
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

gboolean
gst_stereo_view_has_detail (const GstStereoViewFigures *own)
{
  return own->detail >= DETAILED_ENOUGH && own->detail * own->detail >= BEYOND_DOUBT * own->doubt;
}

gdouble
gst_stereo_view_noise (const GstStereoViewFigures *own)
{
  /* twice a pixel less two neighbours has six times the variance of its noise */
  return sqrt (MAX (0, own->roughness * own->roughness - own->detail * own->detail) / 6);
}

static GstStereoVerdict
judge_blurred (const GstStereoViewFigures *own, const GstStereoViewFigures *other, gdouble expected)
{
  GstStereoVerdict verdict;

  if (!gst_stereo_view_has_detail (other))
    return GST_STEREO_VERDICT_UNKNOWN;
  verdict = below (own->sharpness / other->sharpness / expected, BLURRED_BAD, BLURRED_GOOD);
  /* texture whose rows have nothing in common is taken for noise; and in fog there may be little else than noise */
  if (verdict == GST_STEREO_VERDICT_BAD && own->roughness > ROUGHER * other->roughness)
    return GST_STEREO_VERDICT_UNKNOWN;
  return verdict;
}

/* Nothing but noise is left of the detail of a view that shows something. Texture whose rows have nothing in common is
 * rough. */
static gboolean
has_no_detail (const GstStereoViewFigures *own)
{
  return own->contrast >= SOMETHING_THERE && own->roughness < SMOOTH * own->contrast &&
      own->detail * own->detail < BEYOND_DOUBT * own->doubt;
}

/* Both views at once: neither shows what the other one should be like. */
static gboolean
are_blurred (const GstStereoViewFigures figures[2], const GstStereoViewHistory *history)
{
  gboolean blank = has_no_detail (&figures[0]) && has_no_detail (&figures[1]), less = TRUE;

  for (guint v = 0; v < 2; v++)
    less = less && figures[v].sharpness < BLURRED_BOTH * history->sharpness[v];
  return blank || less;
}

static GstStereoVerdict
judge_dark (const GstStereoViewFigures *own, const GstStereoViewFigures *other)
{
  if (other->brightness < BRIGHT_ENOUGH)
    return GST_STEREO_VERDICT_UNKNOWN;
  return below (own->brightness / other->brightness, DARK_BAD, DARK_GOOD);
}

static GstStereoVerdict
judge_frozen (const GstStereoViewFigures *own, const GstStereoViewFigures *other)
{
  GstStereoVerdict verdict;

  if (!own->compared || !other->compared)
    return GST_STEREO_VERDICT_UNKNOWN;
  if (own->alone >= BANDS_ALONE || (own->same && other->moved >= MOVES))
    return GST_STEREO_VERDICT_BAD;
  verdict = own->same ? GST_STEREO_VERDICT_UNKNOWN : gst_stereo_frozen_judge_parts (own, other);
  return own->alone && verdict == GST_STEREO_VERDICT_GOOD ? GST_STEREO_VERDICT_UNKNOWN : verdict;
}

/* A black or blown out view is no evidence about blur, exposure and movement of either view. */
static gboolean
shows_nothing (GstStereoViewVerdicts verdicts, guint v)
{
  return verdicts[GST_STEREO_VIEW_BLACK][v] == GST_STEREO_VERDICT_BAD ||
      verdicts[GST_STEREO_VIEW_BLOWN_OUT][v] == GST_STEREO_VERDICT_BAD;
}

/* Of the sharpness of both views; FALSE where one is blurred or covered, which shows in exposure and movement too. */
static gboolean
judge_sharpness (
    const GstStereoViewFigures figures[2], const GstStereoViewHistory *history, GstStereoViewVerdicts verdicts)
{
  gboolean both = are_blurred (figures, history), sharp = !both;

  for (guint v = 0; v < 2; v++) {
    gdouble expected = history->ratio <= 0 ? 1 : v ? 1 / history->ratio : history->ratio;
    GstStereoVerdict verdict = both ? GST_STEREO_VERDICT_BAD : judge_blurred (&figures[v], &figures[!v], expected);
    gboolean even = verdict == GST_STEREO_VERDICT_BAD && figures[v].contrast < ODD_COVER &&
        figures[v].contrast < EVEN * figures[!v].contrast;
    gboolean covered = even || figures[v].covered >= PARTS_COVERED;

    sharp = sharp && !covered && verdict != GST_STEREO_VERDICT_BAD;
    verdicts[GST_STEREO_VIEW_COVERED][v] = covered ? GST_STEREO_VERDICT_BAD :
        figures[v].covered                         ? GST_STEREO_VERDICT_UNKNOWN :
        verdict == GST_STEREO_VERDICT_BAD          ? GST_STEREO_VERDICT_GOOD :
                                                     verdict;
    verdicts[GST_STEREO_VIEW_BLURRED][v] = covered ? GST_STEREO_VERDICT_UNKNOWN : verdict;
  }
  return sharp;
}

void
gst_stereo_view_faults_judge (
    const GstStereoViewFigures figures[2], const GstStereoViewHistory *history, GstStereoViewVerdicts verdicts)
{
  gboolean sharp;

  memset (verdicts, 0, sizeof (GstStereoViewVerdicts));
  for (guint v = 0; v < 2; v++) {
    verdicts[GST_STEREO_VIEW_BLACK][v] = above (figures[v].black, BLACK_BAD, BLACK_GOOD);
    verdicts[GST_STEREO_VIEW_BLOWN_OUT][v] = above (figures[v].white, WHITE_BAD, WHITE_GOOD);
  }
  if (shows_nothing (verdicts, 0) || shows_nothing (verdicts, 1))
    return;
  sharp = judge_sharpness (figures, history, verdicts);
  for (guint v = 0; v < 2; v++) {
    /* what covers a lens is dark too, and does not move */
    if (sharp)
      verdicts[GST_STEREO_VIEW_DARK][v] = judge_dark (&figures[v], &figures[!v]);
    if (verdicts[GST_STEREO_VIEW_BLURRED][v] != GST_STEREO_VERDICT_BAD &&
        verdicts[GST_STEREO_VIEW_COVERED][v] != GST_STEREO_VERDICT_BAD)
      verdicts[GST_STEREO_VIEW_FROZEN][v] = judge_frozen (&figures[v], &figures[!v]);
  }
}

/* Faults of both views together. A view without detail is no evidence. */
static void
judge_pair (const GstStereoViewFaults *views, const GstStereoViewFigures figures[2], const GstStereoBlockFigures *pair,
    gboolean live, GstStereoVerdict verdicts[GST_STEREO_PAIR_FAULTS])
{
  gboolean compared = figures[0].compared && figures[1].compared, same = figures[0].same && figures[1].same;
  gboolean lively = live || views->moved, nothing = FALSE;
  GstStereoVerdict zero = GST_STEREO_VERDICT_UNKNOWN, still = GST_STEREO_VERDICT_UNKNOWN,
                   layered = GST_STEREO_VERDICT_UNKNOWN;

  for (guint v = 0; v < 2; v++)
    nothing = nothing || figures[v].black >= BLACK_BAD || figures[v].white >= WHITE_BAD;
  memset (verdicts, 0, GST_STEREO_PAIR_FAULTS * sizeof *verdicts);
  if (compared && !nothing) {
    verdicts[GST_STEREO_PAIR_FROZEN] = !same ? GST_STEREO_VERDICT_GOOD :
        lively                               ? GST_STEREO_VERDICT_BAD :
                                               GST_STEREO_VERDICT_UNKNOWN;
    verdicts[GST_STEREO_PAIR_STILL] = same && !lively ? GST_STEREO_VERDICT_BAD : GST_STEREO_VERDICT_GOOD;
  }
  if (pair->textured >= MIN_TEXTURED) {
    zero = above (pair->zero / (gdouble) pair->textured, ZERO_BAD, ZERO_GOOD);
    layered = pair->layered < MIN_LAYERED ? GST_STEREO_VERDICT_GOOD :
                                            above (pair->layered / (gdouble) pair->textured, LAYERED_BAD, LAYERED_GOOD);
  }
  if (pair->moving >= MIN_MOVING)
    still = above (pair->still / (gdouble) pair->moving, STILL_BAD, STILL_GOOD);
  /* where nothing moves, a pattern would still be at disparity 0 */
  if (still == GST_STEREO_VERDICT_UNKNOWN && pair->textured >= MIN_TEXTURED && pair->zero <= STILL_GOOD * pair->textured)
    still = GST_STEREO_VERDICT_GOOD;
  /* two layers are enough for a pattern; that there are fewer is no evidence against what moves */
  if (layered == GST_STEREO_VERDICT_BAD || (layered == GST_STEREO_VERDICT_UNKNOWN && still == GST_STEREO_VERDICT_GOOD))
    still = layered;
  verdicts[GST_STEREO_PAIR_SAME_VIEW] = zero;
  verdicts[GST_STEREO_PAIR_STILL_PATTERN] = still;
  if (zero != GST_STEREO_VERDICT_BAD)
    return;
  /* with one camera, moving texture was at another place before, which a still pattern was not */
  verdicts[GST_STEREO_PAIR_SAME_VIEW] = pair->rest < REST_PATTERN ? GST_STEREO_VERDICT_BAD : GST_STEREO_VERDICT_GOOD;
  verdicts[GST_STEREO_PAIR_STILL_PATTERN] = pair->rest < REST_PATTERN ? GST_STEREO_VERDICT_GOOD : GST_STEREO_VERDICT_BAD;
}

/* ---- measurements ------------------------------------------------------------------------------- */

GstStereoViewHistory
gst_stereo_view_faults_history (const GstStereoViewFaults *views)
{
  GstStereoViewHistory history = { 0 };

  if (views->count < HISTORY_COUNT)
    return history;
  history.ratio = exp (CLAMP (views->ratio, -HISTORY_MAX, HISTORY_MAX));
  for (guint v = 0; v < 2; v++)
    history.sharpness[v] = exp (views->sharp[v]);
  return history;
}

/* Looks in which nothing is wrong with the sharpness of either view. */
static void
remember (GstStereoViewFaults *views, const GstStereoViewFigures figures[2], GstStereoViewVerdicts verdicts)
{
  if (verdicts[GST_STEREO_VIEW_BLURRED][0] != GST_STEREO_VERDICT_GOOD ||
      verdicts[GST_STEREO_VIEW_BLURRED][1] != GST_STEREO_VERDICT_GOOD)
    return;
  views->count = MIN (views->count + 1, HISTORY_WEIGHT);
  views->ratio += (log (figures[0].sharpness / figures[1].sharpness) - views->ratio) / views->count;
  for (guint v = 0; v < 2; v++)
    views->sharp[v] += (log (figures[v].sharpness) - views->sharp[v]) / views->count;
}

static gint64
hold_of (GstStereoHealthFlags flag)
{
  const GstStereoHealthKind *kind;

  for (guint i = 0; (kind = gst_stereo_health_kind (i)) && !(flag & (kind->left | kind->right)); i++)
    continue;
  return kind ? (gint64) kind->hold : 0;
}

#define FLAGS(name) \
  { \
    GST_STEREO_HEALTH_##name##_LEFT, GST_STEREO_HEALTH_##name##_RIGHT \
  }

GstStereoHealthFlags
gst_stereo_view_faults_flag (GstStereoViewFault fault, guint v)
{
  static const GstStereoHealthFlags flags[GST_STEREO_VIEW_FAULTS][2] = { [GST_STEREO_VIEW_BLACK] = FLAGS (BLACK),
    [GST_STEREO_VIEW_BLOWN_OUT] = FLAGS (BLOWN_OUT),
    [GST_STEREO_VIEW_COVERED] = FLAGS (COVERED),
    [GST_STEREO_VIEW_BLURRED] = FLAGS (BLURRED),
    [GST_STEREO_VIEW_DARK] = FLAGS (DARK),
    [GST_STEREO_VIEW_FROZEN] = FLAGS (FROZEN) };

  return flags[fault][v];
}

GstStereoHealthFlags
gst_stereo_pair_flag (GstStereoPairFault fault)
{
  static const GstStereoHealthFlags flags[GST_STEREO_PAIR_FAULTS] = {
    [GST_STEREO_PAIR_FROZEN] = GST_STEREO_HEALTH_FROZEN_LEFT | GST_STEREO_HEALTH_FROZEN_RIGHT,
    [GST_STEREO_PAIR_STILL] = GST_STEREO_HEALTH_STILL,
    [GST_STEREO_PAIR_SAME_VIEW] = GST_STEREO_HEALTH_SAME_VIEW,
    [GST_STEREO_PAIR_STILL_PATTERN] = GST_STEREO_HEALTH_STILL_PATTERN
  };

  return flags[fault];
}

void
gst_stereo_view_faults_add (GstStereoViewFaults *views, const GstStereoViewFigures figures[2], gint64 time,
    GstStereoEpisodeChange changes[GST_STEREO_VIEW_FAULTS][2])
{
  GstStereoViewHistory history = gst_stereo_view_faults_history (views);
  GstStereoViewVerdicts verdicts;

  gst_stereo_view_faults_judge (figures, &history, verdicts);
  remember (views, figures, verdicts);
  for (guint fault = 0; fault < GST_STEREO_VIEW_FAULTS; fault++)
    for (guint v = 0; v < 2; v++)
      changes[fault][v] = gst_stereo_episode_update (
          &views->episodes[fault][v], verdicts[fault][v], time, hold_of (gst_stereo_view_faults_flag (fault, v)));
}

void
gst_stereo_view_faults_add_pair (GstStereoViewFaults *views, const GstStereoViewFigures figures[2],
    const GstStereoBlockFigures *pair, gboolean live, gint64 time,
    GstStereoEpisodeChange changes[GST_STEREO_PAIR_FAULTS])
{
  GstStereoVerdict verdicts[GST_STEREO_PAIR_FAULTS];

  for (guint v = 0; v < 2; v++)
    views->moved = views->moved || (figures[v].compared && !figures[v].same);
  judge_pair (views, figures, pair, live, verdicts);
  for (guint fault = 0; fault < GST_STEREO_PAIR_FAULTS; fault++)
    changes[fault] = gst_stereo_episode_update (&views->pair[fault], verdicts[fault], time,
        fault == GST_STEREO_PAIR_FROZEN ? BOTH_FROZEN : hold_of (gst_stereo_pair_flag (fault)));
}

void
gst_stereo_view_faults_flush (GstStereoViewFaults *views)
{
  for (guint fault = 0; fault < GST_STEREO_VIEW_FAULTS; fault++)
    for (guint v = 0; v < 2; v++)
      gst_stereo_episode_flush (&views->episodes[fault][v]);
  for (guint fault = 0; fault < GST_STEREO_PAIR_FAULTS; fault++)
    gst_stereo_episode_flush (&views->pair[fault]);
}

gboolean
gst_stereo_view_faults_are_suspicious (const GstStereoViewFaults *views)
{
  for (guint fault = 0; fault < GST_STEREO_VIEW_FAULTS; fault++)
    for (guint v = 0; v < 2; v++)
      if (views->episodes[fault][v].count && !views->episodes[fault][v].stands)
        return TRUE;
  for (guint fault = 0; fault < GST_STEREO_PAIR_FAULTS; fault++)
    if (fault != GST_STEREO_PAIR_STILL && views->pair[fault].count && !views->pair[fault].stands)
      return TRUE;
  return FALSE;
}

gboolean
gst_stereo_view_faults_are_sound (const GstStereoViewFaults *views)
{
  for (guint fault = 0; fault < GST_STEREO_VIEW_FAULTS; fault++)
    for (guint v = 0; v < 2; v++)
      if (views->episodes[fault][v].stands || views->episodes[fault][v].count)
        return FALSE;
  /* a picture that never changes matches as well as any */
  for (guint fault = 0; fault < GST_STEREO_PAIR_FAULTS; fault++)
    if (fault != GST_STEREO_PAIR_STILL && (views->pair[fault].stands || views->pair[fault].count))
      return FALSE;
  return TRUE;
}
