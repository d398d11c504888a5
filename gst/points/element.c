/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-stereopoints
 * @title: stereopoints
 *
 * Makes point clouds of the disparity or depth that stereomatch gives: one buffer a picture, which is a whole PLY or PCD
 * file, binary and little endian. `multifilesink` writes one file a picture.
 *
 * **Points.** X to the right, Y down, Z forward from the left camera, in millimetres, as gst_stereo_meta_get_point()
 * says. The #GstStereoMeta must have focal length and baseline (of depth the focal length alone counts): set
 * `focal-length` and `baseline` of stereomatch, or put stereorectify with a calibration before it. Pixels have no point
 * that are invalid, at infinity, less sure than #GstStereoPoints:min-confidence, or outside #GstStereoPoints:near and
 * #GstStereoPoints:far.
 *
 * **Order.** Row after row. With #GstStereoPoints:organized every pixel has its place: without a point it is three times
 * not-a-number. A PCD file then has the picture's `WIDTH` and `HEIGHT`; a PLY file says them as `obj_info num_cols` and
 * `num_rows`.
 *
 * **Colour.** `sink_live` takes the live view, from which stereomatch got the left view. It may be larger or smaller, of
 * the same aspect ratio, or hold both views (side by side or one above the other), of which the left one counts. A
 * picture goes with the latest frame whose running time is not later than its own: that of the same pair, unless it was
 * dropped. PLY files then have `red`, `green` and `blue`, PCD files `rgb`. Put a `queue` before both pads where one
 * thread feeds both, as after a tee.
 *
 * ## Example
 * |[
 * gst-launch-1.0 stereotestsrc num-buffers=3 ! stereomatch ! stereopoints ! multifilesink location=%05d.ply
 * gst-launch-1.0 stereotestsrc num-buffers=3 ! tee name=t \
 *     t. ! queue ! videoconvert ! video/x-raw,format=RGB ! points.sink_live \
 *     t. ! queue ! stereomatch ! queue ! stereopoints name=points format=pcd far=5000 ! multifilesink location=%05d.pcd
 * ]|
 */
#include "gst/points/element.h"

#include "gst/points/live.h"
#include "gst/video/depth.h"
#include "gst/video/properties.h"
#include "gst/video/stream.h"

GST_DEBUG_CATEGORY_STATIC (gst_stereo_points_debug);
#define GST_CAT_DEFAULT gst_stereo_points_debug

#define LIVE_FORMATS "{ RGB, BGR, RGBx, BGRx, xRGB, xBGR, RGBA, BGRA, ARGB, ABGR, GRAY8 }"

struct _GstStereoPoints
{
  GstAggregator parent;

  GstStereoJoin *join;              /* the pictures, and the live view on the pad "sink_live" */
  GstStereoPointsLive *live;        /* its colours */
  GstStereoPointsSettings settings; /* protected by the object lock */

  /* of the source pad's task */
  gint negotiated; /* GstStereoPointsFormat; -1 = none */
  GstSegment segment;
  gboolean have_segment;
  GstBufferPool *pool; /* of clouds of pool_room bytes at most */
  gsize pool_room;
};

static const gchar *const media_types[] = {
  [GST_STEREO_POINTS_PLY] = "application/x-ply", [GST_STEREO_POINTS_PCD] = "application/x-pcd"
};

G_DEFINE_TYPE (GstStereoPoints, gst_stereo_points, GST_TYPE_AGGREGATOR)
GST_ELEMENT_REGISTER_DEFINE (stereopoints, "stereopoints", GST_RANK_NONE, GST_TYPE_STEREO_POINTS)

/* ---- memory ------------------------------------------------------------------------------ */

static void
drop_pool (GstStereoPoints *self)
{
  if (self->pool)
    gst_buffer_pool_set_active (self->pool, FALSE);
  gst_clear_object (&self->pool);
}

/* Clouds are as large as tens of megabytes: memory that is used again need not be mapped again. */
static GstFlowReturn
acquire (GstStereoPoints *self, gsize room, GstBuffer **out)
{
  GstStructure *config;

  if (self->pool && self->pool_room != room)
    drop_pool (self);
  if (!self->pool) {
    self->pool = gst_buffer_pool_new ();
    self->pool_room = room;
    config = gst_buffer_pool_get_config (self->pool);
    gst_buffer_pool_config_set_params (config, NULL, (guint) room, 0, 0);
    if (!gst_buffer_pool_set_config (self->pool, config) || !gst_buffer_pool_set_active (self->pool, TRUE)) {
      drop_pool (self);
      return GST_FLOW_ERROR;
    }
  }
  return gst_buffer_pool_acquire_buffer (self->pool, out, NULL);
}

/* ---- a picture --------------------------------------------------------------------------- */

static GstFlowReturn
fill (GstStereoPoints *self, const GstStereoPointsSettings *settings, const GstStereoPointsView *view, GstBuffer *out)
{
  gsize offset, size;
  GstMapInfo map;

  if (!gst_buffer_map (out, &map, GST_MAP_WRITE))
    return GST_FLOW_ERROR;
  guint count = gst_stereo_points_write (view, settings, map.data, &offset, &size);
  gst_buffer_unmap (out, &map);
  gst_buffer_resize (out, (gssize) offset, (gssize) size);
  GST_LOG_OBJECT (self, "%u points, %" G_GSIZE_FORMAT " bytes%s", count, size, view->color.red ? ", with colour" : "");
  return GST_FLOW_OK;
}

/* Of a mapped picture. */
static GstFlowReturn
make_cloud (GstStereoPoints *self, const GstStereoPointsSettings *settings, GstStereoPointsView *view, GstBuffer **out)
{
  const GstStereoMeta *meta = view->depth->meta;

  if (!gst_stereo_points_live_map (
          self->live, gst_stereo_join_held (self->join), meta->width, meta->height, &view->color))
    return GST_FLOW_NOT_NEGOTIATED;
  GstFlowReturn flow = acquire (
      self, gst_stereo_points_room (meta->width, meta->height, settings, view->color.red != NULL), out);
  if (flow == GST_FLOW_OK)
    flow = fill (self, settings, view, *out);
  gst_stereo_points_live_unmap (self->live);
  if (flow == GST_FLOW_ERROR)
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
        ("There is no memory for a cloud of %ux%u points: set step to a larger number.", meta->width, meta->height),
        (NULL));
  return flow;
}

static GstFlowReturn
read_picture (GstStereoPoints *self, const GstStereoPointsSettings *settings, GstBuffer *in, GstBuffer **out)
{
  GstStereoDepthMap map;
  GstStereoDepthPart unreadable = gst_stereo_depth_map (&map, gst_stereo_join_main_info (self->join), in);

  if (unreadable)
    return gst_stereo_depth_post_unreadable (GST_ELEMENT (self), unreadable);
  GstStereoPointsView view = { .depth = &map.view };
  GstFlowReturn flow = make_cloud (self, settings, &view, out);
  gst_stereo_depth_unmap (&map);
  return flow;
}

static GstFlowReturn
negotiate (GstStereoPoints *self, gint format)
{
  if (self->negotiated == format)
    return GST_FLOW_OK;
  g_autoptr (GstCaps) caps = gst_caps_new_empty_simple (media_types[format]);
  g_autoptr (GstCaps) peer = gst_pad_peer_query_caps (GST_AGGREGATOR_SRC_PAD (self), caps);
  gboolean taken = !gst_caps_is_empty (peer);
  if (taken) {
    gst_aggregator_set_src_caps (GST_AGGREGATOR (self), caps);
    self->negotiated = format;
  } else {
    GST_ELEMENT_ERROR (self, CORE, NEGOTIATION,
        ("What is linked downstream does not take %s: set format to another value, or link multifilesink or appsink.",
            media_types[format]),
        (NULL));
  }
  return taken ? GST_FLOW_OK : GST_FLOW_NOT_NEGOTIATED;
}

static GstFlowReturn
refuse (GstStereoPoints *self, gchar *problem, gboolean settings)
{
  if (settings)
    GST_ELEMENT_ERROR (self, LIBRARY, SETTINGS, ("%s", problem), (NULL));
  else
    GST_ELEMENT_ERROR (self, STREAM, FORMAT, ("%s", problem), (NULL));
  g_free (problem);
  return GST_FLOW_ERROR;
}

static gchar *
settings_problem (const GstStereoPointsSettings *settings)
{
  if (settings->far <= 0 || settings->near < settings->far)
    return NULL;
  return g_strdup_printf (
      "near=%g mm is not below far=%g mm: no point would be left. Set near below far, or far=0 for no "
      "limit.",
      settings->near, settings->far);
}

static gchar *
picture_problem (const GstVideoInfo *info, const GstStereoMeta *meta)
{
  gchar *problem = gst_stereo_depth_problem (info, meta, "stereopoints");

  return problem ? problem :
                   gst_stereo_depth_camera_problem (meta, meta->kind != GST_STEREO_OUTPUT_KIND_DEPTH, "Points");
}

static GstFlowReturn
process (GstStereoPoints *self, GstBuffer *in, const GstSegment *segment)
{
  const GstVideoInfo *info = gst_stereo_join_main_info (self->join);
  GstStereoPointsSettings settings;
  GstBuffer *out = NULL;
  GstFlowReturn flow;
  gchar *problem;

  gst_stereo_properties_read (self, &self->settings, &settings, sizeof settings);
  if (gst_stereo_join_has_second (self->join) && !gst_stereo_join_held (self->join)->buffer)
    gst_stereo_points_live_warn_missing (self->live);
  if ((problem = settings_problem (&settings)))
    return refuse (self, problem, TRUE);
  if ((problem = picture_problem (info, gst_buffer_get_stereo_meta (in))))
    return refuse (self, problem, FALSE);
  if ((flow = negotiate (self, settings.format)) != GST_FLOW_OK)
    return flow;
  flow = read_picture (self, &settings, in, &out);
  if (flow != GST_FLOW_OK) {
    gst_clear_buffer (&out);
    return flow;
  }
  gst_buffer_copy_into (out, in, GST_BUFFER_COPY_TIMESTAMPS, 0, (gsize) -1);
  return gst_stereo_push (GST_AGGREGATOR (self), &self->segment, &self->have_segment, segment, out);
}

static GstFlowReturn
gst_stereo_points_aggregate (GstAggregator *aggregator, gboolean timeout)
{
  GstStereoPoints *self = GST_STEREO_POINTS (aggregator);
  GstStereoJoinFrame frame;
  GstFlowReturn flow = gst_stereo_join_next (self->join, timeout, &frame);

  if (flow != GST_FLOW_OK)
    return flow;
  if (!frame.gap)
    flow = process (self, frame.buffer, &frame.segment);
  gst_buffer_unref (frame.buffer);
  return flow;
}

/* ---- pads and events --------------------------------------------------------------------- */

static GstAggregatorPad *
gst_stereo_points_create_new_pad (
    GstAggregator *aggregator, GstPadTemplate *template, const gchar *name, const GstCaps *caps)
{
  return gst_stereo_join_create_pad (GST_STEREO_POINTS (aggregator)->join, template);
}

static void
gst_stereo_points_release_pad (GstElement *element, GstPad *pad)
{
  gst_stereo_join_release_pad (GST_STEREO_POINTS (element)->join, pad);
  GST_ELEMENT_CLASS (gst_stereo_points_parent_class)->release_pad (element, pad);
}

static gboolean
gst_stereo_points_sink_event (GstAggregator *aggregator, GstAggregatorPad *pad, GstEvent *event)
{
  GstStereoPoints *self = GST_STEREO_POINTS (aggregator);

  if (GST_EVENT_TYPE (event) == GST_EVENT_CAPS)
    return gst_stereo_join_take_caps (self->join, pad, event);
  gst_stereo_join_note_event (self->join, pad, event);
  /* the events of the stream that the output is go downstream */
  if (gst_stereo_join_is_forwarded (event) && pad != gst_stereo_join_main (self->join)) {
    gst_event_unref (event);
    return TRUE;
  }
  return GST_AGGREGATOR_CLASS (gst_stereo_points_parent_class)->sink_event (aggregator, pad, event);
}

/* Without a timeout: a cloud waits for its colours. */
static GstClockTime
gst_stereo_points_get_next_time (GstAggregator *aggregator)
{
  return GST_CLOCK_TIME_NONE;
}

/* The format is a property: caps are set when the first picture comes. */
static gboolean
gst_stereo_points_negotiate (GstAggregator *aggregator)
{
  return TRUE;
}

/* ---- start, stop, flush ------------------------------------------------------------------ */

static void
reset (GstStereoPoints *self)
{
  gst_stereo_join_reset (self->join);
  gst_stereo_points_live_reset (self->live);
  drop_pool (self);
  self->have_segment = FALSE;
  self->negotiated = -1;
}

static GstFlowReturn
gst_stereo_points_flush (GstAggregator *aggregator)
{
  gst_stereo_join_forget (GST_STEREO_POINTS (aggregator)->join);
  GST_STEREO_POINTS (aggregator)->have_segment = FALSE;
  return GST_FLOW_OK;
}

static gboolean
gst_stereo_points_start (GstAggregator *aggregator)
{
  GstStereoPoints *self = GST_STEREO_POINTS (aggregator);
  GstStereoPointsSettings settings;
  gchar *problem;

  gst_stereo_properties_read (self, &self->settings, &settings, sizeof settings);
  if ((problem = settings_problem (&settings))) {
    refuse (self, problem, TRUE);
    return FALSE;
  }
  reset (self);
  return TRUE;
}

static gboolean
gst_stereo_points_stop (GstAggregator *aggregator)
{
  reset (GST_STEREO_POINTS (aggregator));
  return TRUE;
}

/* ---- properties -------------------------------------------------------------------------- */

#define FARTHEST 1e6 /* mm */

static const GEnumValue formats[] = {
  { GST_STEREO_POINTS_PLY, "PLY, binary, little endian", "ply" },
  { GST_STEREO_POINTS_PCD, "PCD of the Point Cloud Library, version 0.7, binary", "pcd" },
  { 0, NULL, NULL },
};

#define ROW(name_, kind_, member) \
  .name = name_, .kind = GST_STEREO_##kind_, .flags = GST_STEREO_PLAYING, \
  .offset = G_STRUCT_OFFSET (GstStereoPoints, settings.member)

static const GstStereoProperty properties[] = {
  { ROW ("format", ENUM, format), .type = "GstStereoPointsFormat", .choices = formats, .initial = GST_STEREO_POINTS_PLY,
      .blurb = "Format of the files, one a buffer; the caps of the output depend on it" },
  { ROW ("step", INT, step), .min = 1, .max = 1024, .initial = 1,
      .blurb = "Take every step-th column of every step-th row, in pixels; 1 = all" },
  { ROW ("near", DOUBLE, near), .max = FARTHEST,
      .blurb = "Least distance (Z) of a point in millimetres; must be below far" },
  { ROW ("far", DOUBLE, far), .max = FARTHEST, .blurb = "Largest distance (Z) of a point in millimetres; 0 = no limit" },
  { ROW ("min-confidence", DOUBLE, min_confidence), .max = 1, .initial = 0.01,
      .blurb = "Pixels with a lower confidence (0..1) have no point; 0 = use every valid pixel" },
  { ROW ("organized", BOOLEAN, organized),
      .blurb = "Keep rows and columns: a pixel without a point is three times not-a-number. FALSE = leave it out" },
  { .name = NULL },
};

/* ---- object ------------------------------------------------------------------------------ */

static void
gst_stereo_points_finalize (GObject *object)
{
  GstStereoPoints *self = GST_STEREO_POINTS (object);

  drop_pool (self);
  gst_stereo_points_live_free (self->live);
  gst_stereo_join_free (self->join);
  G_OBJECT_CLASS (gst_stereo_points_parent_class)->finalize (object);
}

static void
add_pad_templates (GstElementClass *klass)
{
  static GstStaticPadTemplate src = GST_STATIC_PAD_TEMPLATE (
      "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS ("application/x-ply; application/x-pcd"));
  static GstStaticPadTemplate sink = GST_STATIC_PAD_TEMPLATE (
      "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_VIDEO_CAPS_MAKE ("{ GRAY16_LE, GRAY8 }")));
  static GstStaticPadTemplate live = GST_STATIC_PAD_TEMPLATE (
      "sink_live", GST_PAD_SINK, GST_PAD_REQUEST, GST_STATIC_CAPS (GST_VIDEO_CAPS_MAKE (LIVE_FORMATS)));

  gst_element_class_add_static_pad_template_with_gtype (klass, &src, GST_TYPE_AGGREGATOR_PAD);
  gst_element_class_add_static_pad_template_with_gtype (klass, &sink, GST_TYPE_AGGREGATOR_PAD);
  gst_element_class_add_static_pad_template_with_gtype (klass, &live, GST_TYPE_AGGREGATOR_PAD);
}

static void
gst_stereo_points_class_init (GstStereoPointsClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstAggregatorClass *aggregator_class = GST_AGGREGATOR_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (gst_stereo_points_debug, "stereopoints", 0, "point clouds of a stereo matcher");
  object_class->finalize = gst_stereo_points_finalize;
  gst_stereo_properties_install (object_class, properties, 0);

  add_pad_templates (element_class);
  element_class->release_pad = gst_stereo_points_release_pad;
  gst_element_class_set_static_metadata (element_class, "Stereo points", "Filter/Converter/Video/Stereo",
      "Makes point clouds (PLY or PCD files, one a buffer, millimetres) of the output of stereomatch on sink, with the "
      "colours of the live view on sink_live",
      "gst-stereo");

  gst_stereo_join_class_init (aggregator_class);
  aggregator_class->create_new_pad = gst_stereo_points_create_new_pad;
  aggregator_class->sink_event = gst_stereo_points_sink_event;
  aggregator_class->start = gst_stereo_points_start;
  aggregator_class->stop = gst_stereo_points_stop;
  aggregator_class->flush = gst_stereo_points_flush;
  aggregator_class->aggregate = gst_stereo_points_aggregate;
  aggregator_class->get_next_time = gst_stereo_points_get_next_time;
  aggregator_class->negotiate = gst_stereo_points_negotiate;
}

static void
gst_stereo_points_init (GstStereoPoints *self)
{
  gst_stereo_properties_init (G_OBJECT (self));
  self->negotiated = -1;
  self->join = gst_stereo_join_new (GST_AGGREGATOR (self), "sink", GST_CAT_DEFAULT);
  self->live = gst_stereo_points_live_new (GST_ELEMENT (self));
}
