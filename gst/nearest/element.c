/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-stereonearest
 * @title: stereonearest
 *
 * Finds the nearest surface, and judges whether the state is near, clear or unknown. It needs no picture: its input is the
 * disparity or depth of stereomatch, which passes through unchanged. The result is added as metadata, a #GstCustomMeta
 * named `GstStereoNearestMeta`, and posted as a message. depthoverlay draws the result from this metadata.
 *
 * **Nearest surface.** Wrong pixels that lie apart must not warn. A surface is a set of connected pixels. Neighbours are
 * connected where their disparities differ by at most 1 px, and half a pixel more for each pixel between them. The nearest
 * one has #GstStereoNearest:nearest-percentile percent of the pixels in #GstStereoNearest:region, connected, at its
 * distance or nearer. An object is therefore found when it has so many matched pixels, and surely with half as many again. By
 * default that is a hundred by a hundred pixels of 1920x1080, and fifty by fifty of 1242x375. Large regions are searched in
 * cells of three by three pixels, or of more: an object must cover a third of the cells that it lies in.
 *
 * `state` is the verdict:
 *
 * * `near`: a surface is nearer than #GstStereoNearest:warn-distance. Without a warn-distance: a surface was found
 * * `clear`: every part of the region is seen, and the nearest surface in it is not nearer than warn-distance
 * * `unknown`: all other cases
 *
 * `clear` needs evidence. It is not said, and `reason` says why,
 *
 * * where the depth is not reliable, because the cameras have a fault (#GstStereoMeta.health), or a camera is silent. Near
 *   surfaces are then not reported either
 * * where stereomatch does not search down to warn-distance (`measurable`). A warning names the `num-disparities` to set
 * * where warn-distance lies in the blind zone that stereoground found (`ground-from`)
 * * where a part of the region as large as #GstStereoNearest:smallest-obstacle at warn-distance is not seen: a square of
 *   which less than a tenth is valid, at least as sure as #GstStereoNearest:min-confidence, and not at the very end of the
 *   search range. Pixels that #GstStereoMeta.mask excludes are not looked for
 * * for half a second after something was nearer than warn-distance: one picture may not find a thin thing
 * * where more than #GstStereoNearest:max-unknown of the pixels are not seen; where nowhere enough pixels are connected;
 *   where there is a warn-distance, and distances are not known
 *
 * A program that acts on `stereo-nearest` must treat `unknown` as a warning: an object may be near. Use a `region` without
 * irrelevant parts, such as the sky, which is seldom seen. A program must also treat a state as unknown when it is older
 * than the program allows.
 *
 * The element message `stereo-nearest` is posted at most every #GstStereoNearest:message-interval of running time, and at
 * once when `state`, `warning` or `valid` changes, or when a camera falls silent:
 *
 * * `state` (gchararray): `near`, `clear` or `unknown`
 * * `reason` (gchararray): why it is `unknown`, in words: `right camera frozen`; there only then
 * * `coverage` (gdouble): share of the region's pixels that are valid and sure enough, of those that count, 0..1
 * * `support` (gint): pixels of the nearest surface in the depth picture, with what is farther away on it; 0 = none
 *   was found
 * * `valid` (gboolean): whether a surface was found; the next five fields are there only if so
 * * `distance` (gdouble): millimetres, of a plane through the surface's nearest part, so that errors of single pixels
 *   cancel out; missing where distances are not known
 * * `disparity` (gdouble): the same in pixels of the depth picture; missing where it is not known
 * * `x`, `y` (gint): where, in pixels of the depth picture
 * * `confidence` (gdouble): of the pixels there, 0..1
 * * `warning` (gboolean): the distance is below #GstStereoNearest:warn-distance
 * * `warn-distance` (gdouble): #GstStereoNearest:warn-distance, mm
 * * `region-x`, `region-y`, `region-width`, `region-height` (gint): #GstStereoNearest:region, in pixels of the picture
 * * `measurable` (gdouble): nearest distance that the search of stereomatch can find, mm; missing where it is not known
 * * `ground-from`, `unseen-height` (gdouble): with stereoground before it, the distance from which the picture shows the ground,
 *   and the height above the ground from which things are seen at warn-distance, mm
 * * `timestamp`, `stream-time`, `running-time`, `duration` (guint64): of the picture, ns
 * * `age` (guint64): ns between the running time of the picture and now by the clock: from capture to this message. It is
 *   there in live pipelines that play
 *
 * The metadata has the same fields, for every picture: `buffer.get_custom_meta ("GstStereoNearestMeta").get_structure ()`
 * in Python. It is copied with its buffer, and dropped where the picture is scaled, cropped, turned or cut. Where several of
 * these elements follow each other, each adds its own, and depthoverlay draws the first one.
 *
 * **Obstacles.** With stereoground before it and #GstStereoNearest:nearest set to `obstacle`, the nearest distance, the
 * warning and `stereo-nearest` are about obstacles: the road before the bumper is none. `coverage` is then the share of
 * the region's columns whose ground is seen free up to warn-distance (without one: at all), `confidence` the obstacle's
 * probability, `x` and `y` the middle of its box, and `support` 0. `valid` is FALSE where there is no obstacle. Where
 * stereoground has a corridor (#GstStereoGround:corridor-width), only obstacles in it count, and a column must be free up to
 * where the corridor leaves it. The state is `unknown` also where there is no ground, and where neighbouring columns, as wide
 * as smallest-obstacle at warn-distance, are not free: stereoground reports what stands there once it was seen twice.
 *
 * **Objects of a detector.** Each #GstVideoRegionOfInterestMeta of the depth gets a parameter `stereo-distance`, but for the
 * obstacles of stereoground. A region has background, too: the object is the interval of disparities that fills most of its
 * middle. The parameter has these fields:
 *
 * * `valid` (gboolean): whether a twentieth of the region is seen; all but `coverage` is there only if so
 * * `coverage` (gdouble): share of the region's pixels that are valid and sure enough, 0..1
 * * `distance` (gdouble): millimetres, the median of the object's pixels; missing where distances are not known
 * * `spread` (gdouble): half of the difference between the nearest and the farthest of the middle two thirds of these pixels,
 *   millimetres
 * * `disparity` (gdouble): of the median, in pixels of the depth picture; missing where it is not known
 * * `support` (gdouble): share of the seen pixels that belong to the object, 0..1; pixels in the middle have a larger weight
 * * `confidence` (gdouble): mean of the object's pixels, 0..1
 *
 * ## Example
 * |[
 * gst-launch-1.0 -m v4l2src ! video/x-raw,width=2560,height=720 ! stereomatch packing=side-by-side focal-length=700 \
 *     baseline=120 ! stereonearest warn-distance=1500 ! fakesink
 * gst-launch-1.0 -m stereotestsrc ! stereomatch ! stereonearest ! fakesink
 * ]|
 */
#include "gst/meta/found.h"
#include "gst/meta/rays.h"
#include "gst/nearest/search.h"
#include "gst/video/depth.h"
#include "gst/video/properties.h"
#include "gst/video/stream.h"

#include <math.h>

GST_ELEMENT_REGISTER_DECLARE (stereonearest);
#define GST_TYPE_STEREO_NEAREST (gst_stereo_nearest_get_type ())
G_DECLARE_FINAL_TYPE (GstStereoNearest, gst_stereo_nearest, GST, STEREO_NEAREST, GstBaseTransform)

GST_DEBUG_CATEGORY_STATIC (gst_stereo_nearest_debug);
#define GST_CAT_DEFAULT gst_stereo_nearest_debug

#define FARTHEST 1e6 /* mm */
#define DOUBTFUL 2   /* neighbouring columns */
#define HELD (GST_SECOND / 2)

/* Nearest of what. */
enum
{
  SURFACE,
  OBSTACLE /* of stereoground */
};

typedef struct
{
  gdouble region[4];         /* x, y, width, height: fractions of the picture */
  gdouble percentile;        /* 0..100, of the region's pixels: the smallest surface */
  gdouble min_confidence;    /* 0..1 */
  gdouble warn_distance;     /* mm; 0 = every surface is near */
  gdouble smallest_obstacle; /* mm; 0 = any part may be unseen */
  gdouble max_unknown;       /* share of the region's pixels, 0..1 */
  gint of;                   /* SURFACE, OBSTACLE */
  guint64 message_interval;  /* ns */
} Settings;

/* A part of the picture, pixels. */
typedef struct
{
  gint x, y, width, height;
} Region;

/* What is said of a picture. */
typedef struct
{
  GstStereoNearestState state;
  gchar *reason;     /* why it is unknown, or NULL */
  gboolean faulty;   /* the depth cannot be relied on */
  gboolean warning;  /* the state is near by warn-distance */
  gboolean valid;    /* a surface or an obstacle was found: value, disparity, place and confidence are known */
  gboolean empty;    /* the ground is known, and no obstacle stands on it */
  gboolean doubtful; /* columns as wide as the smallest obstacle are not free, for an unknown reason */
  gboolean held;     /* something was near a moment ago */
  gboolean metric;   /* distances are known */
  gdouble distance;  /* mm */
  gdouble disparity; /* px, or not-a-number */
  GstStereoNearestFound found;
  gdouble measurable;                 /* mm; 0 = not known */
  gboolean ground;                    /* there is one */
  gdouble ground_from, camera_height; /* mm; 0 = not known */
} Verdict;

struct _GstStereoNearest
{
  GstBaseTransform parent;

  Settings settings; /* protected by the object lock */

  /* of the streaming thread */
  GstVideoInfo info;
  GstStereoNearestFinder *finder;
  GstStereoBoxObjectFinder *boxes;
  gboolean asked, live; /* whether the stream is live was asked, and is */
  gboolean warned_ground, warned_range, warned_blind;
  gint64 near_time;      /* running time of the last picture in which something was near, or GST_CLOCK_STIME_NONE */
  gdouble near_distance; /* mm, of that */
  GstBuffer *last;       /* the last depth, without its memory: the times of what is said while none comes */

  /* the last message */
  gboolean posted, posted_valid, posted_warning;
  GstStereoNearestState posted_state;
  gchar *posted_fault; /* the reason, where the depth could not be relied on */
  gint64 posted_time;
};

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_VIDEO_CAPS_MAKE ("{ GRAY16_LE, GRAY8 }")));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_VIDEO_CAPS_MAKE ("{ GRAY16_LE, GRAY8 }")));

G_DEFINE_TYPE (GstStereoNearest, gst_stereo_nearest, GST_TYPE_BASE_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE (stereonearest, "stereonearest", GST_RANK_NONE, GST_TYPE_STEREO_NEAREST)

static const GEnumValue nearest_choices[] = {
  { SURFACE, "The nearest surface, whatever it is: also the road before the bumper", "surface" },
  { OBSTACLE, "What stands on the ground: needs stereoground before stereonearest", "obstacle" }, { 0, NULL, NULL }
};

#define ROW(name_, kind_, flags_, member) \
  .name = name_, .kind = GST_STEREO_##kind_, .flags = GST_STEREO_##flags_, .offset = G_STRUCT_OFFSET (Settings, member)

static const GstStereoProperty properties[] = {
  { ROW ("min-confidence", DOUBLE, CONTROLLED, min_confidence), .max = 1, .initial = 0.01,
      .blurb = "Pixels with a lower confidence (0..1) count as not seen; 0 = use every valid pixel" },
  { ROW ("warn-distance", DOUBLE, CONTROLLED, warn_distance), .max = FARTHEST,
      .blurb = "Warn when the nearest surface is nearer than this, in millimetres; 0 = never" },
  { ROW ("nearest", ENUM, CONTROLLED, of), .type = "GstStereoNearestOf", .choices = nearest_choices, .initial = SURFACE,
      .blurb = "What the nearest distance, its warning and stereo-nearest are about" },
  { ROW ("nearest-percentile", DOUBLE, CONTROLLED, percentile), .max = 100, .initial = 0.5,
      .blurb = "Percentage (0..100) of the region's pixels that must be connected, at the nearest distance or "
               "nearer: the smallest surface that counts; 0 = a single pixel" },
  { ROW ("smallest-obstacle", DOUBLE, CONTROLLED, smallest_obstacle), .max = FARTHEST, .initial = 500,
      .blurb = "Side of the smallest obstacle that must not be missed, in millimetres. Where a part of the region as large as "
               "it is at warn-distance is not seen, the state is unknown, never clear; 0 = any part may be unseen" },
  { ROW ("max-unknown", DOUBLE, CONTROLLED, max_unknown), .max = 1, .initial = 0.5,
      .blurb = "Share (0..1) of the region's pixels, of those that a mask does not exclude, that may be invalid or unsure. "
               "Where more are, the state is unknown, never clear; a surface nearer than warn-distance is reported all the "
               "same" },
  { ROW ("region", REGION, PLAYING, region),
      .blurb = "Where to look for the nearest surface: <x, y, width, height> as fractions (0..1) of the picture; <0, 0, 1, 1> = all, the default" },
  { ROW ("message-interval", UINT64, PLAYING, message_interval), .initial = 100 * GST_MSECOND,
      .blurb = "Minimum time between two stereo-nearest messages in nanoseconds; 0 = one message per frame. A change of "
               "state or warning is always posted at once" },
  { .name = NULL },
};

/* ---- start, caps ------------------------------------------------------------------------- */

static gboolean
gst_stereo_nearest_start (GstBaseTransform *base)
{
  GstStereoNearest *self = GST_STEREO_NEAREST (base);

  self->asked = self->posted = self->warned_ground = self->warned_range = self->warned_blind = FALSE;
  self->near_time = GST_CLOCK_STIME_NONE;
  gst_clear_buffer (&self->last);
  gst_video_info_init (&self->info);
  return TRUE;
}

static gboolean
gst_stereo_nearest_set_caps (GstBaseTransform *base, GstCaps *in, GstCaps *out)
{
  GST_DEBUG_OBJECT (base, "negotiated %" GST_PTR_FORMAT, in);
  return gst_video_info_from_caps (&GST_STEREO_NEAREST (base)->info, in);
}

/* From fractions to pixels, at least one. */
static void
region_side (gdouble from, gdouble length, gint size, gint *start, gint *count)
{
  *start = MIN ((gint) (from * size), size - 1);
  *count = MAX (1, MIN ((gint) ceil ((from + length) * size), size) - *start);
}

static Region
region_of (const GstStereoNearest *self, const Settings *settings)
{
  Region region;

  region_side (settings->region[0], settings->region[2], GST_VIDEO_INFO_WIDTH (&self->info), &region.x, &region.width);
  region_side (settings->region[1], settings->region[3], GST_VIDEO_INFO_HEIGHT (&self->info), &region.y, &region.height);
  return region;
}

/* ---- the nearest surface ----------------------------------------------------------------- */

static void
find_surface (GstStereoNearest *self, const Settings *settings, const GstStereoDepthView *view, Verdict *verdict)
{
  const GstStereoMeta *meta = view->meta;

  verdict->metric = meta->kind == GST_STEREO_OUTPUT_KIND_DEPTH || (meta->focal_length > 0 && meta->baseline > 0);
  verdict->valid = gst_stereo_nearest_find (self->finder, view, settings->percentile, &verdict->found);
  if (!verdict->valid) {
    GST_LOG_OBJECT (self,
        "no nearest surface: of those of %dx%d pixels at %d,%d that count %.1f %% are valid with a confidence of "
        "%u/255, and nowhere are %g %% connected",
        view->width, view->height, view->x, view->y, 100 * verdict->found.coverage, view->min_confidence,
        settings->percentile);
    return;
  }
  verdict->disparity = gst_stereo_meta_get_disparity (meta, verdict->found.sample);
  verdict->distance = gst_stereo_meta_get_depth (meta, verdict->found.sample);
}

/* A part as large as the smallest obstacle is at warn-distance; where that is not known, as the smallest surface. */
static gboolean
has_hole (GstStereoNearest *self, const Settings *settings, const GstStereoDepthView *view)
{
  gdouble share = settings->smallest_obstacle / settings->warn_distance, width = view->meta->focal_length * share;

  if (width > 0)
    return gst_stereo_nearest_has_hole (self->finder, view, width, gst_stereo_rays_focal_y (view->meta) * share);
  width = sqrt (settings->percentile / 100 * view->width * view->height);
  return gst_stereo_nearest_has_hole (self->finder, view, width, width);
}

/* ---- the nearest obstacle ---------------------------------------------------------------- */

/* Ground that ends before the distance that matters, without an obstacle, is ground that is not seen, or something that
 * stereoground is not sure of yet. Where that is as wide as the smallest obstacle, one may stand there. */
static void
judge_columns (const GstStructure *ground, const GstStereoMeta *meta, const Settings *settings, const Region *region,
    Verdict *verdict)
{
  const GValue *all = gst_structure_get_value (ground, "free-distances");
  guint columns = all && GST_VALUE_HOLDS_ARRAY (all) ? gst_value_array_get_size (all) : 0, in = 0, seen = 0, run = 0;
  gdouble principal = gst_stereo_rays_center (meta->principal_x, meta->width);
  gdouble width = (gdouble) meta->width / MAX (columns, 1), corridor = 0;
  gdouble side = settings->warn_distance > 0 ?
      settings->smallest_obstacle * meta->focal_length / settings->warn_distance :
      G_MAXDOUBLE;

  gst_structure_get_double (ground, "corridor", &corridor);
  for (guint i = 0; i < columns && columns <= GST_STEREO_MAX_COLUMNS; i++) {
    const GValue *value = gst_value_array_get_value (all, i);
    gint left = (gint) (i * meta->width / columns), right = (gint) ((i + 1) * meta->width / columns);
    /* where the corridor leaves the column */
    gdouble to = meta->focal_length * corridor / 2 / MAX (fabs ((i + 0.5) * width - principal), 1);
    gboolean leaves = to > 0 && to < settings->warn_distance;

    /* or the picture shows no part of the corridor there */
    if (right <= region->x || left >= region->x + region->width || (leaves && to <= verdict->ground_from))
      continue;
    gboolean free = G_VALUE_HOLDS_DOUBLE (value) &&
        g_value_get_double (value) >= (leaves ? to : MAX (settings->warn_distance, 1));
    in++;
    seen += free;
    run = free ? 0 : run + 1;
    verdict->doubtful |= run >= DOUBTFUL && run * width >= side;
  }
  verdict->found.coverage = in ? (gdouble) seen / in : 0;
}

/* An obstacle that touches the region, if it is in the corridor and nearer than the one that was found. */
static void
take_obstacle (const GstVideoRegionOfInterestMeta *roi, const GstStructure *parameter, const GstStereoMeta *meta,
    const Region *region, Verdict *verdict)
{
  gint right = (gint) (MIN (roi->x, meta->width) + MIN (roi->w, meta->width));
  gint bottom = (gint) (MIN (roi->y, meta->height) + MIN (roi->h, meta->height));
  gint x = (gint) MIN (roi->x, meta->width), y = (gint) MIN (roi->y, meta->height);
  gdouble distance, probability;
  gboolean ahead = TRUE;

  gst_structure_get_boolean (parameter, "ahead", &ahead);
  if (!gst_structure_get (
          parameter, "distance", G_TYPE_DOUBLE, &distance, "probability", G_TYPE_DOUBLE, &probability, NULL) ||
      !(distance >= 0 && isfinite (distance)) || !(probability >= 0 && probability <= 1) || !ahead ||
      right <= region->x || x >= region->x + region->width || bottom <= region->y || y >= region->y + region->height ||
      (verdict->valid && distance >= verdict->distance))
    return;
  verdict->valid = TRUE;
  verdict->empty = FALSE;
  verdict->distance = distance;
  verdict->found.confidence = probability;
  verdict->found.x = CLAMP ((x + right) / 2, region->x, region->x + region->width - 1);
  verdict->found.y = CLAMP ((y + bottom) / 2, region->y, region->y + region->height - 1);
}

static void
find_obstacle (GstStereoNearest *self, const Settings *settings, const Region *region, GstBuffer *buffer,
    const GstStructure *ground, Verdict *verdict)
{
  const GstStereoMeta *meta = gst_buffer_get_stereo_meta (buffer);
  gpointer state = NULL;
  GstMeta *next;

  if (!ground && !self->warned_ground) {
    self->warned_ground = TRUE;
    GST_ELEMENT_WARNING (self, STREAM, FORMAT,
        ("nearest=obstacle is set, and the depth comes without a ground: put stereoground before stereonearest, or set "
         "nearest=surface. Until then the state is unknown."),
        (NULL));
  }
  verdict->disparity = NAN;
  if (!verdict->ground)
    return;
  verdict->metric = verdict->empty = TRUE;
  judge_columns (ground, meta, settings, region, verdict);
  while ((next = gst_buffer_iterate_meta_filtered (buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))) {
    GstVideoRegionOfInterestMeta *roi = (GstVideoRegionOfInterestMeta *) next;
    const GstStructure *parameter = gst_video_region_of_interest_meta_get_param (roi, "stereo-obstacle");
    if (parameter)
      take_obstacle (roi, parameter, meta, region, verdict);
  }
}

/* ---- state ------------------------------------------------------------------------------- */

/* Why it cannot be said that nothing is near; NULL: it can. Clear is a claim, and needs evidence in every part of the
 * region. */
static gchar *
doubt_of (GstStereoNearest *self, const Verdict *verdict, const Settings *settings, const GstStereoDepthView *view)
{
  gdouble warn_distance = settings->warn_distance;

  if (warn_distance > 0 && verdict->measurable > warn_distance)
    return g_strdup_printf ("nearer than %.1f m is not searched", verdict->measurable / 1000);
  if (warn_distance > 0 && verdict->ground_from > warn_distance)
    return g_strdup_printf ("nearer than %.1f m the ground is not seen", verdict->ground_from / 1000);
  /* A billionth for rounding: half unknown is not more than half. Percents are rounded down: a region that lacks a pixel is not
   * seen wholly. */
  if (1 - verdict->found.coverage > settings->max_unknown + 1e-9)
    return g_strdup_printf ("%d %% of the region is seen", (gint) (100 * verdict->found.coverage + 1e-9));
  if (verdict->doubtful)
    return g_strdup ("the ground ends near");
  if (!verdict->valid && !verdict->empty)
    return g_strdup ("no surface is found");
  if (warn_distance > 0 && !verdict->metric)
    return g_strdup ("distances are not known");
  if (settings->of == SURFACE && warn_distance > 0 && settings->smallest_obstacle > 0 && has_hole (self, settings, view))
    return g_strdup_printf (
        "a part as large as %.1f m at %.1f m is not seen", settings->smallest_obstacle / 1000, warn_distance / 1000);
  if (verdict->held)
    return g_strdup_printf ("something at %.1f m was there a moment ago", self->near_distance / 1000);
  return NULL;
}

/* Thin things are found in one picture and not in the next: what was near has not gone because one picture lacks it. */
static gboolean
is_held (GstStereoNearest *self, const Settings *settings, GstBuffer *buffer, const Verdict *verdict)
{
  gint64 time = gst_stereo_running_time (&GST_BASE_TRANSFORM (self)->segment, GST_BUFFER_PTS (buffer));

  if (verdict->warning) {
    self->near_time = time;
    self->near_distance = verdict->distance;
  }
  return self->near_time != GST_CLOCK_STIME_NONE && time >= self->near_time && time - self->near_time < (gint64) HELD &&
      self->near_distance < settings->warn_distance;
}

/* Once: warn-distance is nearer than this camera sees. */
static void
warn_of_blindness (GstStereoNearest *self, const Verdict *verdict, gdouble distance, const GstStereoMeta *meta)
{
  if (distance > 0 && verdict->measurable > distance && !self->warned_range) {
    gdouble disparity = meta->focal_length * meta->baseline / distance - meta->principal_offset;
    gint needed = (gint) MIN (ceil (disparity - meta->min_disparity) + 1, G_MAXINT16);
    self->warned_range = TRUE;
    GST_ELEMENT_WARNING (self, STREAM, FORMAT,
        ("warn-distance=%g is nearer than stereomatch searches: with num-disparities=%g nothing nearer than %.1f m is "
         "found, and the state is never clear. Set num-disparities=%d on stereomatch, or a larger warn-distance.",
            distance, meta->num_disparities, verdict->measurable / 1000, (needed + 15) / 16 * 16),
        (NULL));
  }
  if (distance > 0 && verdict->ground_from > distance && !self->warned_blind) {
    self->warned_blind = TRUE;
    GST_ELEMENT_WARNING (self, STREAM, FORMAT,
        (GST_STEREO_BLIND_TEXT, GST_STEREO_BLIND_VALUES (distance, verdict->camera_height, verdict->ground_from)),
        (NULL));
  }
}

static void
judge (GstStereoNearest *self, const Settings *settings, const Region *region, GstBuffer *buffer,
    const GstStereoDepthView *view, Verdict *verdict)
{
  const GstStructure *ground = gst_stereo_found_get (buffer, GST_STEREO_GROUND_META);

  verdict->measurable = gst_stereo_meta_get_nearest_distance (view->meta);
  if (ground && gst_structure_get_boolean (ground, "ground", &verdict->ground) && verdict->ground)
    gst_structure_get (ground, "camera-height", G_TYPE_DOUBLE, &verdict->camera_height, "ground-from", G_TYPE_DOUBLE,
        &verdict->ground_from, NULL);
  if (settings->of == OBSTACLE)
    find_obstacle (self, settings, region, buffer, ground, verdict);
  else
    find_surface (self, settings, view, verdict);
  warn_of_blindness (self, verdict, settings->warn_distance, view->meta);
  verdict->warning = verdict->valid && verdict->metric && verdict->distance < settings->warn_distance;
  verdict->held = is_held (self, settings, buffer, verdict);
  verdict->reason = verdict->warning ? NULL : doubt_of (self, verdict, settings, view);
  if (verdict->reason)
    verdict->state = GST_STEREO_NEAREST_STATE_UNKNOWN;
  else if (verdict->warning || (settings->warn_distance <= 0 && !verdict->empty))
    verdict->state = GST_STEREO_NEAREST_STATE_NEAR;
  else
    verdict->state = GST_STEREO_NEAREST_STATE_CLEAR;
}

/* ---- message and metadata ---------------------------------------------------------------- */

static gboolean
is_due (const GstStereoNearest *self, const Verdict *verdict, gint64 time, guint64 interval)
{
  if (!self->posted || self->posted_valid != verdict->valid || self->posted_warning != verdict->warning ||
      self->posted_state != verdict->state || (verdict->faulty && g_strcmp0 (self->posted_fault, verdict->reason)))
    return TRUE;
  if (time == GST_CLOCK_STIME_NONE || self->posted_time == GST_CLOCK_STIME_NONE || time < self->posted_time)
    return TRUE;
  return (guint64) (time - self->posted_time) >= interval;
}

static GstStructure *
describe (GstStereoNearest *self, const Verdict *verdict, const Region *region, gdouble warn_distance, GstBuffer *buffer)
{
  const GstSegment *segment = &GST_BASE_TRANSFORM (self)->segment;
  GstStructure *message = gst_structure_new ("stereo-nearest", "state", G_TYPE_STRING,
      gst_stereo_nearest_state_name (verdict->state), "coverage", G_TYPE_DOUBLE, verdict->found.coverage, "support",
      G_TYPE_INT, (gint) verdict->found.support, "valid", G_TYPE_BOOLEAN, verdict->valid, "warning", G_TYPE_BOOLEAN,
      verdict->warning, "warn-distance", G_TYPE_DOUBLE, warn_distance, "region-x", G_TYPE_INT, region->x, "region-y",
      G_TYPE_INT, region->y, "region-width", G_TYPE_INT, region->width, "region-height", G_TYPE_INT, region->height,
      NULL);

  if (verdict->reason)
    gst_structure_set (message, "reason", G_TYPE_STRING, verdict->reason, NULL);
  if (verdict->valid && verdict->metric)
    gst_structure_set (message, "distance", G_TYPE_DOUBLE, verdict->distance, NULL);
  if (verdict->valid && !isnan (verdict->disparity))
    gst_structure_set (message, "disparity", G_TYPE_DOUBLE, verdict->disparity, NULL);
  if (verdict->valid)
    gst_structure_set (message, "x", G_TYPE_INT, verdict->found.x, "y", G_TYPE_INT, verdict->found.y, "confidence",
        G_TYPE_DOUBLE, verdict->found.confidence, NULL);
  if (verdict->measurable > 0)
    gst_structure_set (message, "measurable", G_TYPE_DOUBLE, verdict->measurable, NULL);
  if (verdict->ground_from > 0)
    gst_structure_set (message, "ground-from", G_TYPE_DOUBLE, verdict->ground_from, NULL);
  if (verdict->ground_from > 0 && warn_distance > 0)
    gst_structure_set (message, "unseen-height", G_TYPE_DOUBLE,
        gst_stereo_found_unseen_height (verdict->camera_height, verdict->ground_from, warn_distance), NULL);
  gst_stereo_add_times (message, buffer, segment);
  if (self->live)
    gst_stereo_add_age (message, GST_ELEMENT (self), gst_stereo_running_time (segment, GST_BUFFER_PTS (buffer)));
  return message;
}

/* On the bus where @due; on the buffer if it is @attached. Frees the reason. */
static void
tell (GstStereoNearest *self, const Settings *settings, const Region *region, Verdict *verdict, GstBuffer *buffer,
    gboolean attached, gboolean due)
{
  GstStructure *message = describe (self, verdict, region, settings->warn_distance, buffer);

  if (attached)
    gst_stereo_found_attach (buffer, GST_STEREO_NEAREST_META, message);
  if (due) {
    GST_LOG_OBJECT (self, "posts %" GST_PTR_FORMAT, message);
    gst_element_post_message (
        GST_ELEMENT (self), gst_message_new_element (GST_OBJECT (self), gst_structure_copy (message)));
    self->posted = TRUE;
    self->posted_valid = verdict->valid;
    self->posted_warning = verdict->warning;
    self->posted_state = verdict->state;
    g_free (self->posted_fault);
    self->posted_fault = verdict->faulty ? g_strdup (verdict->reason) : NULL;
    self->posted_time = gst_stereo_running_time (&GST_BASE_TRANSFORM (self)->segment, GST_BUFFER_PTS (buffer));
  }
  gst_structure_free (message);
  g_clear_pointer (&verdict->reason, g_free);
}

/* A camera fell silent: no depth comes that could say so. What is said then has the times of the last depth. */
static void
read_health (GstStereoNearest *self, const GstStructure *event)
{
  const GValue *health = gst_structure_get_value (event, "health");
  const gchar *reason = gst_structure_get_string (event, "reason");
  g_autoptr (GstBuffer) last = self->last ? gst_buffer_ref (self->last) : gst_buffer_new ();
  Settings settings;
  Verdict verdict = { .reason = health && G_VALUE_HOLDS (health, GST_TYPE_STEREO_HEALTH_FLAGS) ?
        gst_stereo_health_get_reason (g_value_get_flags (health)) :
        NULL,
    .faulty = TRUE };

  if (!verdict.reason || !self->info.finfo) {
    g_free (verdict.reason);
    return;
  }
  if (reason && *reason) {
    g_free (verdict.reason);
    verdict.reason = g_strdup (reason);
  }
  gst_stereo_properties_read (self, &self->settings, &settings, sizeof settings);
  Region region = region_of (self, &settings);
  tell (self, &settings, &region, &verdict, last, FALSE, TRUE);
}

static gboolean
gst_stereo_nearest_sink_event (GstBaseTransform *base, GstEvent *event)
{
  GstStereoNearest *self = GST_STEREO_NEAREST (base);

  if (gst_event_has_name (event, "GstStereoHealth"))
    read_health (self, gst_event_get_structure (event));
  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP) {
    self->posted = FALSE;
    self->near_time = GST_CLOCK_STIME_NONE;
  }
  return GST_BASE_TRANSFORM_CLASS (gst_stereo_nearest_parent_class)->sink_event (base, event);
}

/* ---- regions of detectors ---------------------------------------------------------------- */

/* Distances of an object, where they are known, and disparities. */
static void
describe_object (GstStructure *parameter, const GstStereoMeta *meta, const GstStereoBoxObject *object)
{
  gdouble distance = gst_stereo_meta_get_depth (meta, object->sample);
  gdouble disparity = gst_stereo_meta_get_disparity (meta, object->sample);
  gdouble near = gst_stereo_meta_get_depth (meta, object->near), far = gst_stereo_meta_get_depth (meta, object->far);

  if (isfinite (distance))
    gst_structure_set (parameter, "distance", G_TYPE_DOUBLE, distance, NULL);
  if (isfinite (near) && isfinite (far))
    gst_structure_set (parameter, "spread", G_TYPE_DOUBLE, fabs (far - near) / 2, NULL);
  if (!isnan (disparity))
    gst_structure_set (parameter, "disparity", G_TYPE_DOUBLE, disparity, NULL);
  gst_structure_set (
      parameter, "support", G_TYPE_DOUBLE, object->support, "confidence", G_TYPE_DOUBLE, object->confidence, NULL);
}

/* Measures each region that is no obstacle of stereoground. @depth NULL: it cannot be relied on. A result of an element
 * upstream is removed. */
static void
measure_regions (GstStereoNearest *self, const GstStereoDepthView *depth, GstBuffer *buffer, const GstStereoMeta *meta)
{
  guint width = (guint) GST_VIDEO_INFO_WIDTH (&self->info), height = (guint) GST_VIDEO_INFO_HEIGHT (&self->info);
  gpointer state = NULL;
  GstMeta *next;

  while ((next = gst_buffer_iterate_meta_filtered (buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))) {
    GstVideoRegionOfInterestMeta *roi = (GstVideoRegionOfInterestMeta *) next;
    GstStructure *old = gst_video_region_of_interest_meta_get_param (roi, "stereo-distance");
    GstStereoBoxObject object = { 0 };
    gboolean found = FALSE;

    if (gst_video_region_of_interest_meta_get_param (roi, "stereo-obstacle"))
      continue;
    if (depth && roi->x < width && roi->y < height && roi->w > 0 && roi->h > 0) {
      GstStereoDepthView box = *depth;

      box.mask = NULL;
      box.x = (gint) roi->x;
      box.y = (gint) roi->y;
      box.width = (gint) MIN (roi->w, width - roi->x);
      box.height = (gint) MIN (roi->h, height - roi->y);
      found = gst_stereo_box_object_find (self->boxes, &box, &object);
    }
    GstStructure *parameter = gst_structure_new (
        "stereo-distance", "valid", G_TYPE_BOOLEAN, found, "coverage", G_TYPE_DOUBLE, object.coverage, NULL);
    if (found)
      describe_object (parameter, meta, &object);
    if (old) {
      roi->params = g_list_remove (roi->params, old);
      gst_structure_free (old);
    }
    gst_video_region_of_interest_meta_add_param (roi, parameter);
  }
}

/* ---- a picture --------------------------------------------------------------------------- */

/* A picture whose depth is not reliable is not searched. */
static GstFlowReturn
search (GstStereoNearest *self, const Settings *settings, GstBuffer *buffer, const GstStereoMeta *meta)
{
  Verdict verdict = { .reason = gst_stereo_health_get_reason (meta->health) };
  Region region = region_of (self, settings);
  GstStereoDepthMap map;

  verdict.faulty = verdict.reason != NULL;
  if (verdict.faulty) {
    GST_LOG_OBJECT (self, "the depth cannot be relied on: %s", verdict.reason);
    measure_regions (self, NULL, buffer, meta);
  } else {
    if (!gst_stereo_depth_map (&map, GST_ELEMENT (self), &self->info, buffer))
      return GST_FLOW_ERROR;
    map.view.min_confidence = gst_stereo_depth_least_confidence (settings->min_confidence);
    measure_regions (self, &map.view, buffer, meta);
    map.view.x = region.x;
    map.view.y = region.y;
    map.view.width = region.width;
    map.view.height = region.height;
    judge (self, settings, &region, buffer, &map.view, &verdict);
    gst_stereo_depth_unmap (&map);
  }
  gint64 time = gst_stereo_running_time (&GST_BASE_TRANSFORM (self)->segment, GST_BUFFER_PTS (buffer));
  tell (self, settings, &region, &verdict, buffer, TRUE, is_due (self, &verdict, time, settings->message_interval));
  return GST_FLOW_OK;
}
static GstFlowReturn
gst_stereo_nearest_transform_ip (GstBaseTransform *base, GstBuffer *buffer)
{
  GstStereoNearest *self = GST_STEREO_NEAREST (base);
  const GstStereoMeta *meta = gst_buffer_get_stereo_meta (buffer);
  gchar *problem = gst_stereo_depth_problem (&self->info, meta, "stereonearest");

  if (problem) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT, ("%s", problem), (NULL));
    g_free (problem);
    return GST_FLOW_ERROR;
  }
  gst_stereo_follow_controls (self, &base->segment, GST_BUFFER_PTS (buffer));
  Settings settings;
  gst_stereo_properties_read (self, &self->settings, &settings, sizeof settings);
  if (!self->asked)
    self->live = gst_stereo_is_live (GST_ELEMENT (self));
  self->asked = TRUE;
  GstFlowReturn flow = search (self, &settings, buffer, meta);
  if (flow != GST_FLOW_OK)
    return flow;
  gst_clear_buffer (&self->last);
  self->last = gst_buffer_new ();
  gst_buffer_copy_into (self->last, buffer, GST_BUFFER_COPY_TIMESTAMPS, 0, (gsize) -1);
  return GST_FLOW_OK;
}

/* ---- object ------------------------------------------------------------------------------ */

static void
gst_stereo_nearest_finalize (GObject *object)
{
  GstStereoNearest *self = GST_STEREO_NEAREST (object);

  gst_stereo_nearest_finder_free (self->finder);
  gst_stereo_box_object_finder_free (self->boxes);
  gst_clear_buffer (&self->last);
  g_free (self->posted_fault);
  G_OBJECT_CLASS (gst_stereo_nearest_parent_class)->finalize (object);
}

static void
gst_stereo_nearest_class_init (GstStereoNearestClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *base_class = GST_BASE_TRANSFORM_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (gst_stereo_nearest_debug, "stereonearest", 0, "the nearest surface");

  object_class->finalize = gst_stereo_nearest_finalize;
  gst_stereo_properties_install (object_class, properties, G_STRUCT_OFFSET (GstStereoNearest, settings), FALSE);

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Stereo nearest", "Filter/Analyzer/Video/Stereo",
      "Says how far the nearest surface is (mm), and whether the way is near, clear or unknown, in the disparity or "
      "depth that stereomatch gives",
      "gst-stereo");

  gst_stereo_in_place_class_init (base_class);
  base_class->start = gst_stereo_nearest_start;
  base_class->set_caps = gst_stereo_nearest_set_caps;
  base_class->sink_event = gst_stereo_nearest_sink_event;
  base_class->transform_ip = gst_stereo_nearest_transform_ip;
}

static void
gst_stereo_nearest_init (GstStereoNearest *self)
{
  gst_stereo_properties_init (G_OBJECT (self));
  self->finder = gst_stereo_nearest_finder_new ();
  self->boxes = gst_stereo_box_object_finder_new ();
  gst_base_transform_set_in_place (GST_BASE_TRANSFORM (self), TRUE);
}
