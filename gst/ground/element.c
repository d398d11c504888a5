/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-stereoground
 * @title: stereoground
 *
 * Finds ground, obstacles and free distances in the disparity or depth of stereomatch. The picture passes through unchanged.
 * The result is added as metadata and posted as a message.
 *
 * **Ground.** A plane of disparities, found with lines of the v-disparity picture (Labayrade, Aubert and Tarel, 2002) and
 * with planes through samples (RANSAC), refined by reweighted least squares, and followed from frame to frame. From it
 * and the geometry in the #GstStereoMeta come the height of the camera, how far it looks down (pitch) and how much lower
 * its right side is (roll). It needs focal length and baseline: set them on stereomatch, or put stereorectify before it.
 * Where the metadata has no principal point, the middle of the picture is used.
 *
 * There is no ground where no plane has the camera between #GstStereoGround:min-camera-height and
 * #GstStereoGround:max-camera-height above it with a pitch of at most 35 and a roll of at most 25 degrees; where it
 * explains less than a fifth of the sure pixels below its horizon, or is seen in less than an eighth of the rows; or
 * where much lies below it. Without a ground there are neither obstacles nor free distances.
 *
 * There is no ground either where the depth is not reliable, because the cameras have a fault (#GstStereoMeta.health). The
 * message then has the `reason`.
 *
 * **Obstacles.** An obstacle is a connected object on the ground. Its height is at least #GstStereoGround:min-height and
 * at most #GstStereoGround:max-height, and its distance is at most #GstStereoGround:max-distance. Because of the errors
 * of a matcher, its disparity must be 2.7 px larger than that of the ground behind it. With a camera h above the ground
 * that is a height of 2.7 * h * distance / (focal length * baseline): far away, low objects are not found. An obstacle is
 * reported when it was seen in two of the last three frames, and keeps its identity. Neighbours at about the same
 * distance, such as parked cars, may be one obstacle. An object that is deeper than 4 m or 15 % of its distance, such as
 * a hedge along a road, is divided into parts.
 *
 * **Free distance.** For each of #GstStereoGround:columns columns: the distance up to which the ground is seen from the
 * bottom of the picture, to the first obstacle or to the end of the seen ground. -1 where it is not known. Unseen ground
 * is never free: rows without ground are skipped only where they are too few to hide the smallest obstacle.
 *
 * Pixels count whose confidence is at least #GstStereoGround:min-confidence. Without a confidence in the metadata every
 * valid pixel counts, which a warning says once. `stereomatch profile=road fill=none confidence-threshold=0.33` gives
 * many pixels, and no filled ones. Pixels that #GstStereoMatch:mask excludes are neither seen nor unseen. Free distances
 * begin above the excluded pixels at the bottom of the picture.
 *
 * **Output.** Each buffer gets a #GstCustomMeta named `GstStereoGroundMeta`, with the fields of the message below and the
 * plane: `plane-offset`, `plane-across` and `plane-down` (gdouble) are a, b and c of the ground's disparity a + b x + c y at
 * pixel (x, y), and the free distances are `free-distances` there. Each buffer also gets a #GstVideoRegionOfInterestMeta of type `obstacle` for each
 * obstacle, whose `id` is its identity and whose parameter `stereo-obstacle` has `distance`, `lateral`, `width`, `height`
 * (mm), `probability`, `seen` and `ahead`; and, built with GStreamer 1.24 and its analytics library, a GstAnalyticsODMtd of type
 * `obstacle` for each. Distances are along the optical axis, as depth is.
 *
 * The element message `stereo-obstacles` is posted for every frame, or at most every #GstStereoGround:message-interval, and
 * at once when `ground` changes or when the first obstacle comes or the last one goes:
 *
 * * `ground` (gboolean): there is a ground; the next four fields are there only if so
 * * `reason` (gchararray): why there is none, in words: `right camera frozen`; there only then
 * * `camera-height` (gdouble): mm
 * * `pitch`, `roll` (gdouble): degrees; above 0 the camera looks down, and its right side is lower
 * * `quality` (gdouble): how sure the ground is, 0..1
 * * `judged` (gdouble): share of the picture that is valid and sure, 0..1
 * * `ground-from` (gdouble): distance from which the picture shows the ground, mm. Nearer lies the blind zone
 * * `unseen-height` (gdouble): height above the ground from which things are seen at #GstStereoGround:warn-distance, mm;
 *   0 = down to the ground
 * * `corridor` (gdouble): #GstStereoGround:corridor-width, mm
 * * `obstacles` (GstValueArray of GstStructure): those in the corridor first, then the nearest, each with `id` (gint); `x`, `y`, `width`, `height`
 *   (gint): its box in the picture; `distance`, `lateral`, `object-width`, `object-height` (gdouble, mm): of its front, of
 *   its middle to the right of the camera, its size; `probability` (gdouble): 0..1; `seen` (gboolean): FALSE where this
 *   frame does not show it, but the two before it did; `ahead` (gboolean): a part of it is in the corridor
 * * `nearest` (gdouble): distance of the nearest obstacle, in the corridor if there is one, mm; missing where there is none
 * * `free` (GstValueArray of gdouble): free distances from left to right, mm; -1 = unknown
 * * `timestamp`, `stream-time`, `running-time`, `duration` (guint64): of the frame, ns
 * * `age` (guint64): ns between the frame's running time and now by the clock; there in live pipelines that play
 *
 * The history is forgotten at a flush, with other caps, and at a buffer with DISCONT. Dropped frames leave a gap before
 * such a buffer: the history is kept where this gap is at most half a second.
 *
 * ## Example
 * |[
 * gst-launch-1.0 -m v4l2src ! video/x-raw,width=2560,height=720 ! stereomatch packing=side-by-side profile=road \
 *     fill=none confidence-threshold=0.33 focal-length=700 baseline=120 ! stereoground ! fakesink
 * ]|
 */
#include "gst/ground/analysis.h"
#include "gst/meta/found.h"
#include "gst/video/properties.h"
#include "gst/video/stream.h"

#include <gst/video/video.h>

#ifdef HAVE_GST_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

GST_ELEMENT_REGISTER_DECLARE (stereoground);
#define GST_TYPE_STEREO_GROUND (gst_stereo_ground_get_type ())
G_DECLARE_FINAL_TYPE (GstStereoGround, gst_stereo_ground, GST, STEREO_GROUND, GstBaseTransform)

GST_DEBUG_CATEGORY_STATIC (gst_stereo_ground_debug);
#define GST_CAT_DEFAULT gst_stereo_ground_debug
#define SHORT_GAP (GST_SECOND / 2)

typedef struct
{
  gdouble min_camera_height, max_camera_height; /* mm */
  gdouble min_height, max_height, max_distance; /* mm, of obstacles */
  gdouble min_confidence;                       /* 0..1 */
  gdouble corridor_width, warn_distance;        /* mm; 0 = none */
  gint columns;
  guint64 message_interval; /* ns */
} Settings;

struct _GstStereoGround
{
  GstBaseTransform parent;

  Settings settings; /* protected by the object lock */

  /* of the streaming thread */
  GstVideoInfo info;
  GstStereoGroundAnalysis *analysis;
  gboolean warned; /* of a missing confidence */
  gboolean warned_blind;
  gboolean asked, live; /* whether the stream is live was asked, and is */
  GstClockTime end;     /* of the last buffer */
  /* the last message */
  gboolean posted, posted_ground, posted_obstacles, posted_unreliable;
  GstClockTime posted_time;
};

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_VIDEO_CAPS_MAKE ("{ GRAY16_LE, GRAY8 }")));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_VIDEO_CAPS_MAKE ("{ GRAY16_LE, GRAY8 }")));

G_DEFINE_TYPE (GstStereoGround, gst_stereo_ground, GST_TYPE_BASE_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE (stereoground, "stereoground", GST_RANK_NONE, GST_TYPE_STEREO_GROUND)

static void
forget (GstStereoGround *self, const gchar *why)
{
  GST_DEBUG_OBJECT (self, "ground and obstacles are forgotten: %s", why);
  gst_stereo_ground_analysis_forget (self->analysis);
  self->posted = FALSE;
}

/* FALSE after an error was posted: values that are each in range may exclude each other. */
static gboolean
accept_settings (GstStereoGround *self, const Settings *settings)
{
  const struct
  {
    const gchar *name;
    gdouble min, max;
  } pairs[] = { { "camera-height", settings->min_camera_height, settings->max_camera_height },
    { "height", settings->min_height, settings->max_height } };

  for (guint i = 0; i < G_N_ELEMENTS (pairs); i++) {
    const gchar *name = pairs[i].name;

    if (pairs[i].min < pairs[i].max)
      continue;
    GST_ELEMENT_ERROR (self, LIBRARY, SETTINGS,
        ("min-%s=%g is not below max-%s=%g: set min-%s below it, or max-%s above.", name, pairs[i].min, name,
            pairs[i].max, name, name),
        (NULL));
    return FALSE;
  }
  return TRUE;
}

/* ---- start, caps, events ----------------------------------------------------------------- */

static gboolean
gst_stereo_ground_start (GstBaseTransform *base)
{
  GstStereoGround *self = GST_STEREO_GROUND (base);
  Settings settings;

  gst_stereo_properties_read (self, &self->settings, &settings, sizeof settings);
  if (!accept_settings (self, &settings))
    return FALSE;
  self->warned = self->warned_blind = self->asked = FALSE;
  forget (self, "start");
  return TRUE;
}

static gboolean
gst_stereo_ground_set_caps (GstBaseTransform *base, GstCaps *in, GstCaps *out)
{
  GstStereoGround *self = GST_STEREO_GROUND (base);

  GST_DEBUG_OBJECT (self, "negotiated %" GST_PTR_FORMAT, in);
  forget (self, "caps");
  return gst_video_info_from_caps (&self->info, in);
}

static gboolean
gst_stereo_ground_sink_event (GstBaseTransform *base, GstEvent *event)
{
  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP)
    forget (GST_STEREO_GROUND (base), "flush");
  return GST_BASE_TRANSFORM_CLASS (gst_stereo_ground_parent_class)->sink_event (base, event);
}

/* ---- message and metadata ---------------------------------------------------------------- */

#ifdef HAVE_GST_ANALYTICS

/* A meta that an element before this one made is shared: its objects stay. */
static void
attach_detections (GstBuffer *buffer, const GstStereoGroundReport *reports, guint count)
{
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta (buffer);
  GQuark type = g_quark_from_static_string (GST_STEREO_GROUND_OBSTACLE);

  if (count > 0 && !relations)
    relations = gst_buffer_add_analytics_relation_meta (buffer);
  for (guint i = 0; i < count; i++) {
    const GstStereoObstacle *one = &reports[i].obstacle;
    GstAnalyticsODMtd object;

    if (!gst_analytics_relation_meta_add_od_mtd (
            relations, type, one->x, one->y, one->width, one->height, (gfloat) one->probability, &object))
      GST_WARNING ("obstacle %u could not be added to the relation metadata", reports[i].id);
  }
}

#else

#define attach_detections(buffer, reports, count)

#endif

static void
attach_region (GstBuffer *buffer, const GstStereoGroundReport *report)
{
  const GstStereoObstacle *one = &report->obstacle;
  GstVideoRegionOfInterestMeta *region = gst_buffer_add_video_region_of_interest_meta (
      buffer, GST_STEREO_GROUND_OBSTACLE, (guint) one->x, (guint) one->y, (guint) one->width, (guint) one->height);

  region->id = (gint) report->id;
  gst_video_region_of_interest_meta_add_param (region,
      gst_structure_new ("stereo-obstacle", "distance", G_TYPE_DOUBLE, one->distance, "lateral", G_TYPE_DOUBLE,
          one->lateral, "width", G_TYPE_DOUBLE, one->object_width, "height", G_TYPE_DOUBLE, one->object_height,
          "probability", G_TYPE_DOUBLE, one->probability, "seen", G_TYPE_BOOLEAN, report->seen, "ahead", G_TYPE_BOOLEAN,
          report->ahead, NULL));
}

static void
add_obstacles (GstStructure *message, const GstStereoGroundResult *result)
{
  GValue all = G_VALUE_INIT;

  g_value_init (&all, GST_TYPE_ARRAY);
  for (guint i = 0; i < result->n_obstacles; i++) {
    const GstStereoGroundReport *report = &result->obstacles[i];
    const GstStereoObstacle *one = &report->obstacle;
    GValue value = G_VALUE_INIT;

    g_value_init (&value, GST_TYPE_STRUCTURE);
    g_value_take_boxed (&value,
        gst_structure_new ("obstacle", "id", G_TYPE_INT, (gint) report->id, "x", G_TYPE_INT, one->x, "y", G_TYPE_INT,
            one->y, "width", G_TYPE_INT, one->width, "height", G_TYPE_INT, one->height, "distance", G_TYPE_DOUBLE,
            one->distance, "lateral", G_TYPE_DOUBLE, one->lateral, "object-width", G_TYPE_DOUBLE, one->object_width,
            "object-height", G_TYPE_DOUBLE, one->object_height, "probability", G_TYPE_DOUBLE, one->probability, "seen",
            G_TYPE_BOOLEAN, report->seen, "ahead", G_TYPE_BOOLEAN, report->ahead, NULL));
    gst_value_array_append_and_take_value (&all, &value);
  }
  gst_structure_take_value (message, "obstacles", &all);
  if (result->n_obstacles > 0)
    gst_structure_set (message, "nearest", G_TYPE_DOUBLE, result->obstacles[0].obstacle.distance, NULL);
}

static void
add_free_distances (GstStructure *found, const gchar *name, const GstStereoGroundResult *result)
{
  GValue all = G_VALUE_INIT, one = G_VALUE_INIT;

  g_value_init (&all, GST_TYPE_ARRAY);
  g_value_init (&one, G_TYPE_DOUBLE);
  for (guint i = 0; i < result->n_free_distances; i++) {
    g_value_set_double (&one, result->free_distances[i]);
    gst_value_array_append_value (&all, &one);
  }
  g_value_unset (&one);
  gst_structure_take_value (found, name, &all);
}

static GstStructure *
describe (GstBuffer *buffer, const GstSegment *segment, const GstStereoGroundResult *result, gdouble warn_distance,
    const gchar *reason)
{
  const GstStereoGroundPose *pose = &result->fit.pose;
  GstStructure *message = gst_structure_new (
      "stereo-obstacles", "ground", G_TYPE_BOOLEAN, result->valid, "judged", G_TYPE_DOUBLE, result->judged, NULL);

  if (result->valid)
    gst_structure_set (message, "camera-height", G_TYPE_DOUBLE, pose->height, "pitch", G_TYPE_DOUBLE, pose->pitch,
        "roll", G_TYPE_DOUBLE, pose->roll, "quality", G_TYPE_DOUBLE, result->fit.quality, NULL);
  else
    gst_structure_set (message, "reason", G_TYPE_STRING, reason ? reason : "no ground is seen", NULL);
  if (result->valid && result->ground_from > 0)
    gst_structure_set (message, "ground-from", G_TYPE_DOUBLE, result->ground_from, NULL);
  if (result->valid && result->ground_from > 0 && warn_distance > 0)
    gst_structure_set (message, "unseen-height", G_TYPE_DOUBLE,
        gst_stereo_found_unseen_height (pose->height, result->ground_from, warn_distance), NULL);
  add_obstacles (message, result);
  add_free_distances (message, "free", result);
  gst_stereo_add_times (message, buffer, segment);
  return message;
}

static void
attach (GstBuffer *buffer, const GstStructure *message, const GstStereoGroundResult *result)
{
  g_autoptr (GstStructure) found = gst_structure_copy (message);

  gst_structure_remove_field (found, "free");
  add_free_distances (found, "free-distances", result);
  if (result->valid)
    gst_structure_set (found, "plane-offset", G_TYPE_DOUBLE, result->plane[0], "plane-across", G_TYPE_DOUBLE,
        result->plane[1], "plane-down", G_TYPE_DOUBLE, result->plane[2], NULL);
  gst_stereo_found_attach (buffer, GST_STEREO_GROUND_META, found);
  for (guint i = 0; i < result->n_obstacles; i++)
    attach_region (buffer, &result->obstacles[i]);
  attach_detections (buffer, result->obstacles, result->n_obstacles);
}

/* ---- a frame ----------------------------------------------------------------------------- */

static void
log_result (GstStereoGround *self, GstBuffer *buffer, const GstStereoGroundResult *result)
{
  if (result->valid)
    GST_LOG_OBJECT (self,
        "%" GST_TIME_FORMAT ": ground %.0f mm below, pitch %.2f, roll %.2f, explains %.0f %% of what is sure below its "
        "horizon, quality %.2f; %u obstacles",
        GST_TIME_ARGS (GST_BUFFER_PTS (buffer)), result->fit.pose.height, result->fit.pose.pitch, result->fit.pose.roll,
        100 * result->fit.explained, result->fit.quality, result->n_obstacles);
  else
    GST_LOG_OBJECT (self, "%" GST_TIME_FORMAT ": no ground; %.0f %% of the pixels are sure",
        GST_TIME_ARGS (GST_BUFFER_PTS (buffer)), 100 * result->judged);
}

static gboolean
is_due (const GstStereoGround *self, const GstStereoGroundResult *result, gboolean unreliable, GstClockTime time,
    guint64 interval)
{
  if (!self->posted || self->posted_unreliable != unreliable || self->posted_ground != result->valid ||
      self->posted_obstacles != (result->n_obstacles > 0))
    return TRUE;
  if (!GST_CLOCK_TIME_IS_VALID (time) || !GST_CLOCK_TIME_IS_VALID (self->posted_time) || time < self->posted_time)
    return TRUE;
  return time - self->posted_time >= interval;
}

/* On the buffer always, on the bus where it is due. */
static void
tell (GstStereoGround *self, GstBuffer *buffer, const GstStereoGroundResult *result, const Settings *settings)
{
  const GstSegment *segment = &GST_BASE_TRANSFORM (self)->segment;
  GstClockTime time = gst_segment_to_stream_time (segment, GST_FORMAT_TIME, GST_BUFFER_PTS (buffer));
  g_autofree gchar *reason = gst_stereo_health_get_reason (gst_buffer_get_stereo_meta (buffer)->health);
  gboolean unreliable = reason != NULL;

  GstStructure *message = describe (buffer, segment, result, settings->warn_distance, reason);
  if (settings->corridor_width > 0)
    gst_structure_set (message, "corridor", G_TYPE_DOUBLE, settings->corridor_width, NULL);
  if (!self->asked)
    self->live = gst_stereo_is_live (GST_ELEMENT (self));
  self->asked = TRUE;
  if (self->live)
    gst_stereo_add_age (message, GST_ELEMENT (self), gst_stereo_running_time (segment, GST_BUFFER_PTS (buffer)));
  attach (buffer, message, result);
  if (!is_due (self, result, unreliable, time, settings->message_interval)) {
    gst_structure_free (message);
    return;
  }
  gst_element_post_message (GST_ELEMENT (self), gst_message_new_element (GST_OBJECT (self), message));
  self->posted = TRUE;
  self->posted_ground = result->valid;
  self->posted_obstacles = result->n_obstacles > 0;
  self->posted_unreliable = unreliable;
  self->posted_time = time;
}

/* A DISCONT behind a short gap is frames that were dropped, as where a machine is too slow: the scene is the same. */
static gboolean
is_another_stream (const GstStereoGround *self, GstBuffer *buffer)
{
  GstClockTime pts = GST_BUFFER_PTS (buffer);

  return GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_DISCONT) &&
      (!GST_CLOCK_TIME_IS_VALID (pts) || !GST_CLOCK_TIME_IS_VALID (self->end) || pts <= self->end ||
          pts - self->end > SHORT_GAP);
}

/* Skips a picture whose depth is not reliable. */
static GstFlowReturn
analyse (GstStereoGround *self, const Settings *settings, GstBuffer *buffer, const GstStereoMeta *meta,
    GstStereoGroundResult *result)
{
  const GstStereoGroundTask task = { { settings->min_camera_height, settings->max_camera_height },
    { settings->min_height, settings->max_height, settings->max_distance }, settings->corridor_width,
    (guint) settings->columns };
  GstStereoDepthMap map;

  if (!gst_stereo_meta_is_reliable (meta)) {
    gst_stereo_ground_analysis_skip (self->analysis, &task, result);
    return GST_FLOW_OK;
  }
  if (!gst_stereo_depth_map (&map, GST_ELEMENT (self), &self->info, buffer))
    return GST_FLOW_ERROR;
  if (!map.view.confidence && !self->warned) {
    self->warned = TRUE;
    GST_ELEMENT_WARNING (self, STREAM, FORMAT,
        ("The metadata holds no confidence: every valid pixel counts as sure. Put stereoground right after "
         "stereomatch, which adds it."),
        (NULL));
  }
  map.view.min_confidence = gst_stereo_depth_least_confidence (settings->min_confidence);
  gst_stereo_ground_analysis_run (self->analysis, &map.view, &task, result);
  gst_stereo_depth_unmap (&map);
  return GST_FLOW_OK;
}

static GstFlowReturn
gst_stereo_ground_transform_ip (GstBaseTransform *base, GstBuffer *buffer)
{
  GstStereoGround *self = GST_STEREO_GROUND (base);
  Settings settings;
  const GstStereoMeta *meta = gst_buffer_get_stereo_meta (buffer);
  gchar *problem = gst_stereo_depth_problem (&self->info, meta, "stereoground");
  GstStereoGroundResult result;

  gst_stereo_properties_read (self, &self->settings, &settings, sizeof settings);
  if (!problem)
    problem = gst_stereo_depth_camera_problem (meta, TRUE, "Heights above the ground");
  if (problem) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT, ("%s", problem), (NULL));
    g_free (problem);
    return GST_FLOW_ERROR;
  }
  if (!accept_settings (self, &settings))
    return GST_FLOW_ERROR;
  if (is_another_stream (self, buffer))
    forget (self, "discontinuity");
  self->end = GST_BUFFER_PTS_IS_VALID (buffer) && GST_BUFFER_DURATION_IS_VALID (buffer) ?
      GST_BUFFER_PTS (buffer) + GST_BUFFER_DURATION (buffer) :
      GST_CLOCK_TIME_NONE;
  GstFlowReturn flow = analyse (self, &settings, buffer, meta, &result);
  if (flow != GST_FLOW_OK)
    return flow;
  log_result (self, buffer, &result);
  if (result.valid && settings.warn_distance > 0 && settings.warn_distance < result.ground_from && !self->warned_blind) {
    self->warned_blind = TRUE;
    GST_ELEMENT_WARNING (self, STREAM, FORMAT,
        (GST_STEREO_BLIND_TEXT,
            GST_STEREO_BLIND_VALUES (settings.warn_distance, result.fit.pose.height, result.ground_from)),
        (NULL));
  }
  tell (self, buffer, &result, &settings);
  return GST_FLOW_OK;
}

/* ---- properties -------------------------------------------------------------------------- */

#define ROW(name_, kind_, member) \
  .name = name_, .kind = GST_STEREO_##kind_, .flags = GST_STEREO_PLAYING, \
  .offset = G_STRUCT_OFFSET (GstStereoGround, settings.member)
#define RANGE(min_, max_, initial_) .min = min_, .max = max_, .initial = initial_

static const GstStereoProperty properties[] = {
  { ROW ("min-camera-height", DOUBLE, min_camera_height), RANGE (1, 1e6, 200),
      .blurb = "Least height of the camera above the ground (mm); a plane that is nearer to the camera is no ground" },
  { ROW ("max-camera-height", DOUBLE, max_camera_height), RANGE (1, 1e6, 6000),
      .blurb = "Largest height of the camera above the ground (mm); a plane that is farther "
               "from the camera is no ground" },
  { ROW ("min-height", DOUBLE, min_height), RANGE (1, 1e6, 300),
      .blurb = "Height above the ground (mm) that makes an obstacle" },
  { ROW ("max-height", DOUBLE, max_height), RANGE (1, 1e6, 4000),
      .blurb = "Height above the ground (mm) beyond which nothing is in the way, as a bridge" },
  { ROW ("max-distance", DOUBLE, max_distance), RANGE (1, 1e7, 50000),
      .blurb = "Distance (mm) up to which obstacles are reported and the ground is judged" },
  { ROW ("min-confidence", DOUBLE, min_confidence), RANGE (0, 1, 0.33),
      .blurb = "Pixels with a lower confidence do not count (0..1)" },
  { ROW ("corridor-width", DOUBLE, corridor_width), RANGE (0, 1e6, 3000),
      .blurb = "Width (mm) that the vehicle drives in, straight ahead. Obstacles in it come first and are marked `ahead`; "
               "those farther beside it than this width are left out. 0 = obstacles everywhere, the nearest first" },
  { ROW ("warn-distance", DOUBLE, warn_distance), RANGE (0, 1e6, 0),
      .blurb = "Distance (mm) for which `unseen-height` is told, and a warning is posted where it lies in the blind zone "
               "before the camera; 0 = none" },
  { ROW ("columns", INT, columns), RANGE (1, GST_STEREO_MAX_COLUMNS, 64),
      .blurb = "Columns of equal width, for each of which the free distance is told" },
  { ROW ("message-interval", UINT64, message_interval),
      .blurb = "Least time between messages (stream time, ns); 0 = a message for every frame" },
  { .name = NULL },
};

/* ---- object ------------------------------------------------------------------------------ */

static void
gst_stereo_ground_finalize (GObject *object)
{
  gst_stereo_ground_analysis_free (GST_STEREO_GROUND (object)->analysis);
  G_OBJECT_CLASS (gst_stereo_ground_parent_class)->finalize (object);
}

static void
gst_stereo_ground_class_init (GstStereoGroundClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *base_class = GST_BASE_TRANSFORM_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (gst_stereo_ground_debug, "stereoground", 0, "ground and obstacles");

  object_class->finalize = gst_stereo_ground_finalize;
  gst_stereo_properties_install (object_class, properties, 0, FALSE);

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Stereo ground", "Filter/Analyzer/Video/Stereo",
      "Finds the ground, the obstacles on it and how far it is free, in the disparity or depth that stereomatch gives",
      "gst-stereo");

  gst_stereo_in_place_class_init (base_class);
  base_class->start = gst_stereo_ground_start;
  base_class->set_caps = gst_stereo_ground_set_caps;
  base_class->sink_event = gst_stereo_ground_sink_event;
  base_class->transform_ip = gst_stereo_ground_transform_ip;
}

static void
gst_stereo_ground_init (GstStereoGround *self)
{
  gst_stereo_properties_init (G_OBJECT (self));
  self->analysis = gst_stereo_ground_analysis_new ();
  gst_base_transform_set_in_place (GST_BASE_TRANSFORM (self), TRUE);
}
