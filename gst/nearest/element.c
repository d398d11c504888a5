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
 * * `clear`: enough of the region is seen, and the nearest surface in it is not nearer than warn-distance
 * * `unknown`: all other cases. The depth is not reliable, because the cameras have a fault (#GstStereoMeta.health): then
 *   near surfaces are not reported either. Or more than #GstStereoNearest:max-unknown of the region's pixels that count
 *   (#GstStereoMeta.mask) are invalid or less sure than #GstStereoNearest:min-confidence; or nowhere are enough pixels
 *   connected; or there is a warn-distance, and distances are not known
 *
 * A program that acts on `stereo-nearest` must treat `unknown` as a warning: an object may be near. `clear` is more
 * reliable with a `region` without irrelevant parts, such as the sky, and with a small max-unknown. Without depth there
 * is no message: a program must also treat a state as unknown when it is older than the program allows.
 *
 * The element message `stereo-nearest` is posted at most every #GstStereoNearest:message-interval of running time, and at
 * once when `state`, `warning` or `valid` changes:
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
 * * `timestamp`, `stream-time`, `running-time`, `duration` (guint64): of the picture, ns
 *
 * The metadata has the same fields, for every picture: `buffer.get_custom_meta ("GstStereoNearestMeta").get_structure ()`
 * in Python. It is copied with its buffer, and dropped where the picture is scaled, cropped, turned or cut. Where several of
 * these elements follow each other, each adds its own, and depthoverlay draws the first one.
 *
 * **Obstacles.** With stereoground before it and #GstStereoNearest:nearest set to `obstacle`, the nearest distance, the
 * warning and `stereo-nearest` are about obstacles: the road before the bumper is none. `coverage` is then the share of
 * the region's columns whose ground is seen free up to warn-distance (without one: at all), `confidence` the obstacle's
 * probability, `x` and `y` the middle of its box, and `support` 0. `valid` is FALSE where there is no obstacle. The state
 * is `clear` where enough columns are free and no obstacle is that near; `unknown` also where there is no ground, and
 * where the ground of two neighbouring columns ends before warn-distance: stereoground reports what stands there once it
 * was seen twice.
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
#include "gst/nearest/element.h"

#include "gst/nearest/report.h"
#include "gst/nearest/search/box_object.h"
#include "gst/video/depth.h"
#include "gst/video/in_place.h"
#include "gst/video/properties.h"
#include "gst/video/stream.h"

#include <math.h>

GST_DEBUG_CATEGORY_STATIC (gst_stereo_nearest_debug);
#define GST_CAT_DEFAULT gst_stereo_nearest_debug

#define FARTHEST 1e6 /* mm */

typedef struct
{
  GstStereoNearestSettings nearest;
  gdouble min_confidence;
} Settings;

struct _GstStereoNearest
{
  GstBaseTransform parent;

  Settings settings; /* protected by the object lock */

  /* of the streaming thread */
  GstVideoInfo info;
  GstStereoNearestReport *report;
  GstStereoFoundGround *ground;
  GstStereoBoxObjectFinder *finder;
};

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_VIDEO_CAPS_MAKE ("{ GRAY16_LE, GRAY8 }")));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_VIDEO_CAPS_MAKE ("{ GRAY16_LE, GRAY8 }")));

G_DEFINE_TYPE (GstStereoNearest, gst_stereo_nearest, GST_TYPE_BASE_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE (stereonearest, "stereonearest", GST_RANK_NONE, GST_TYPE_STEREO_NEAREST)

static const GEnumValue nearest_choices[] = {
  { GST_STEREO_NEAREST_SURFACE, "The nearest surface, whatever it is: also the road before the bumper", "surface" },
  { GST_STEREO_NEAREST_OBSTACLE, "What stands on the ground: needs stereoground before stereonearest", "obstacle" },
  { 0, NULL, NULL }
};

#define ROW(name_, kind_, flags_, member) \
  .name = name_, .kind = GST_STEREO_##kind_, .flags = GST_STEREO_##flags_, .offset = G_STRUCT_OFFSET (Settings, member)

static const GstStereoProperty properties[] = {
  { ROW ("min-confidence", DOUBLE, CONTROLLED, min_confidence), .max = 1, .initial = 0.01,
      .blurb = "Pixels with a lower confidence (0..1) count as not seen; 0 = use every valid pixel" },
  { ROW ("warn-distance", DOUBLE, CONTROLLED, nearest.warn_distance), .max = FARTHEST,
      .blurb = "Warn when the nearest surface is nearer than this, in millimetres; 0 = never" },
  { ROW ("nearest", ENUM, CONTROLLED, nearest.of), .type = "GstStereoNearestOf", .choices = nearest_choices,
      .initial = GST_STEREO_NEAREST_SURFACE, .blurb = GST_STEREO_NEAREST_OF_TEXT },
  { ROW ("nearest-percentile", DOUBLE, CONTROLLED, nearest.percentile), .max = 100, .initial = 0.5,
      .blurb = GST_STEREO_NEAREST_PERCENTILE_TEXT },
  { ROW ("max-unknown", DOUBLE, CONTROLLED, nearest.max_unknown), .max = 1, .initial = 0.5,
      .blurb = GST_STEREO_NEAREST_UNKNOWN_TEXT },
  { ROW ("region", REGION, PLAYING, nearest.region), .blurb = GST_STEREO_NEAREST_REGION_TEXT },
  { ROW ("message-interval", UINT64, PLAYING, nearest.message_interval), .initial = 100 * GST_MSECOND,
      .blurb = GST_STEREO_NEAREST_INTERVAL_TEXT },
  { .name = NULL },
};

/* ---- start, caps, events ----------------------------------------------------------------- */

static gboolean
gst_stereo_nearest_start (GstBaseTransform *base)
{
  GstStereoNearest *self = GST_STEREO_NEAREST (base);

  self->report = gst_stereo_nearest_report_new (GST_ELEMENT (self), GST_CAT_DEFAULT, "stereonearest");
  return TRUE;
}

static gboolean
gst_stereo_nearest_stop (GstBaseTransform *base)
{
  g_clear_pointer (&GST_STEREO_NEAREST (base)->report, gst_stereo_nearest_report_free);
  return TRUE;
}

static gboolean
gst_stereo_nearest_set_caps (GstBaseTransform *base, GstCaps *in, GstCaps *out)
{
  GST_DEBUG_OBJECT (base, "negotiated %" GST_PTR_FORMAT, in);
  return gst_video_info_from_caps (&GST_STEREO_NEAREST (base)->info, in);
}

static gboolean
gst_stereo_nearest_sink_event (GstBaseTransform *base, GstEvent *event)
{
  GstStereoNearest *self = GST_STEREO_NEAREST (base);

  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP && self->report)
    gst_stereo_nearest_report_reset (self->report);
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
      found = gst_stereo_box_object_find (self->finder, &box, &object);
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
  gchar *reason = gst_stereo_health_get_reason (meta->health);
  gint width = GST_VIDEO_INFO_WIDTH (&self->info), height = GST_VIDEO_INFO_HEIGHT (&self->info);
  GstStereoDepthMap map;

  if (reason) {
    GST_LOG_OBJECT (self, "the depth cannot be relied on: %s", reason);
    gst_stereo_nearest_report_clear (self->report, &settings->nearest, width, height, reason);
    g_free (reason);
    measure_regions (self, NULL, buffer, meta);
    return GST_FLOW_OK;
  }
  GstStereoDepthPart unreadable = gst_stereo_depth_map (&map, &self->info, buffer);
  if (unreadable)
    return gst_stereo_depth_post_unreadable (GST_ELEMENT (self), unreadable);
  map.view.min_confidence = gst_stereo_nearest_least (settings->min_confidence);
  gst_stereo_found_ground_read (self->ground, buffer, &self->info, width, height);
  gst_stereo_nearest_report_find (self->report, &settings->nearest, &map.view, 0, self->ground, width, height);
  measure_regions (self, &map.view, buffer, meta);
  gst_stereo_depth_unmap (&map);
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
  GstFlowReturn flow = search (self, &settings, buffer, meta);
  if (flow != GST_FLOW_OK)
    return flow;
  g_autoptr (GstStructure) message = gst_stereo_nearest_report_describe (self->report, buffer, &base->segment);
  gst_stereo_found_attach (buffer, GST_STEREO_NEAREST_META, message);
  gst_stereo_nearest_report_post (self->report, buffer, &base->segment, settings.nearest.message_interval);
  return GST_FLOW_OK;
}

/* ---- object ------------------------------------------------------------------------------ */

static void
gst_stereo_nearest_finalize (GObject *object)
{
  gst_stereo_found_ground_free (GST_STEREO_NEAREST (object)->ground);
  gst_stereo_box_object_finder_free (GST_STEREO_NEAREST (object)->finder);
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
  gst_stereo_properties_install (object_class, properties, G_STRUCT_OFFSET (GstStereoNearest, settings));

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Stereo nearest", "Filter/Analyzer/Video/Stereo",
      "Says how far the nearest surface is (mm), and whether the way is near, clear or unknown, in the disparity or "
      "depth that stereomatch gives",
      "gst-stereo");

  gst_stereo_in_place_class_init (base_class);
  base_class->start = gst_stereo_nearest_start;
  base_class->stop = gst_stereo_nearest_stop;
  base_class->set_caps = gst_stereo_nearest_set_caps;
  base_class->sink_event = gst_stereo_nearest_sink_event;
  base_class->transform_ip = gst_stereo_nearest_transform_ip;
}

static void
gst_stereo_nearest_init (GstStereoNearest *self)
{
  gst_stereo_properties_init (G_OBJECT (self));
  self->ground = gst_stereo_found_ground_new ();
  self->finder = gst_stereo_box_object_finder_new ();
  gst_base_transform_set_in_place (GST_BASE_TRANSFORM (self), TRUE);
}
