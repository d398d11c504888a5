/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-stereopoints
 * @title: stereopoints
 *
 * Makes point clouds of the disparity or depth that stereomatch gives: one buffer a picture, which is a whole PLY or PCD
 * file, binary and little endian. `multifilesink` writes one file a picture.
 *
 * **Points.** X to the right, Y down, Z forward from the left camera, in millimetres, as gst_stereo_meta_get_point()
 * says. A point has no colour: with #GstStereoPoints:organized, point i is pixel i of the left view. The #GstStereoMeta must have focal length and baseline (of depth the focal length alone counts): set
 * `focal-length` and `baseline` of stereomatch, or put stereorectify with a calibration before it. Pixels have no point
 * that are invalid, at infinity, less sure than #GstStereoPoints:min-confidence, or outside #GstStereoPoints:near and
 * #GstStereoPoints:far.
 *
 * **Order.** Row after row. With #GstStereoPoints:organized every pixel has its place: without a point it is three times
 * not-a-number. A PCD file then has the picture's `WIDTH` and `HEIGHT`; a PLY file says them as `obj_info num_cols` and
 * `num_rows`.
 *
 * ## Example
 * |[
 * gst-launch-1.0 stereotestsrc num-buffers=3 ! stereomatch ! stereopoints ! multifilesink location=%05d.ply
 * gst-launch-1.0 stereotestsrc num-buffers=3 ! stereomatch ! stereopoints format=pcd far=5000 ! \
 *     multifilesink location=%05d.pcd
 * ]|
 */
#include "gst/meta/rays.h"
#include "gst/video/depth.h"
#include "gst/video/properties.h"

#include <string.h>

GST_ELEMENT_REGISTER_DECLARE (stereopoints);
#define GST_TYPE_STEREO_POINTS (gst_stereo_points_get_type ())
G_DECLARE_FINAL_TYPE (GstStereoPoints, gst_stereo_points, GST, STEREO_POINTS, GstElement)

GST_DEBUG_CATEGORY_STATIC (gst_stereo_points_debug);
#define GST_CAT_DEFAULT gst_stereo_points_debug

#define HEADER 512 /* bytes, more than any header has */
#define CHUNK 256  /* points at a time: their results fit into the first cache */
#define POINT (3 * sizeof (gfloat))
#define FARTHEST 1e6 /* mm */

typedef enum
{
  PLY,
  PCD
} Format;

typedef struct
{
  gint format; /* Format */
  gint step;
  gdouble near, far; /* mm; far 0 = no limit */
  gdouble min_confidence;
  gboolean organized;
} Settings;

struct _GstStereoPoints
{
  GstElement parent;

  GstPad *sink, *src;
  Settings settings; /* protected by the object lock */

  /* of the streaming thread */
  GstVideoInfo info;
  gint negotiated;     /* Format; -1 = none */
  GstBufferPool *pool; /* of clouds of pool_room bytes at most */
  gsize pool_room;
};

static const gchar *const media_types[] = { [PLY] = "application/x-ply", [PCD] = "application/x-pcd" };

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_VIDEO_CAPS_MAKE ("{ GRAY16_LE, GRAY8 }")));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS ("application/x-ply; application/x-pcd"));

G_DEFINE_TYPE (GstStereoPoints, gst_stereo_points, GST_TYPE_ELEMENT)
GST_ELEMENT_REGISTER_DEFINE (stereopoints, "stereopoints", GST_RANK_NONE, GST_TYPE_STEREO_POINTS)

/* ---- a cloud ----------------------------------------------------------------------------- */

/*
 * PLY: "The PLY Polygon File Format" (Turk, 1994). PCD: version 0.7 of the Point Cloud Library's format.
 */

/* Points of a row, before they are written. */
typedef struct
{
  guint16 samples[CHUNK];
  gfloat depths[CHUNK]; /* not-a-number: no point */
  gfloat across[CHUNK]; /* X at a depth of 1 */
} Chunk;

/* What all rows share. */
typedef struct
{
  const GstStereoDepthView *view;
  GstStereoRays rays;
  guint step, columns, rows; /* of the cloud */
  gfloat near, far;
  guint8 least; /* confidence */
  gboolean organized;
} Cloud;

static guint
count_of (guint size, gint step)
{
  return (size + (guint) step - 1) / (guint) step;
}

static void
take_samples (const Cloud *cloud, guint y, guint first, guint count, Chunk *chunk)
{
  const guint8 *row = cloud->view->samples + (gssize) y * cloud->view->stride;

  if (!cloud->view->wide)
    for (guint i = 0; i < count; i++)
      chunk->samples[i] = row[(gsize) (first + i) * cloud->step];
  else if (cloud->step == 1)
    for (guint i = 0; i < count; i++)
      chunk->samples[i] = GST_READ_UINT16_LE (row + 2 * (gsize) (first + i));
  else
    for (guint i = 0; i < count; i++)
      chunk->samples[i] = GST_READ_UINT16_LE (row + 2 * (gsize) (first + i) * cloud->step);
}

static void
drop_unsure (const Cloud *cloud, guint y, guint first, guint count, Chunk *chunk)
{
  const guint8 *row = cloud->view->confidence + (gssize) y * cloud->view->confidence_stride;

  for (guint i = 0; i < count; i++)
    chunk->depths[i] = row[(gsize) (first + i) * cloud->step] >= cloud->least ? chunk->depths[i] : (gfloat) NAN;
}

static void
fill_chunk (const Cloud *cloud, guint y, guint first, guint count, Chunk *chunk)
{
  const gdouble across = cloud->rays.across * cloud->step;
  const gdouble start = (first * (gdouble) cloud->step - cloud->rays.center_x) * cloud->rays.across;

  take_samples (cloud, y, first, count, chunk);
  gst_stereo_rays_depths (&cloud->rays, chunk->samples, count, chunk->depths);
  for (guint i = 0; i < count; i++) {
    gfloat depth = chunk->depths[i];
    chunk->depths[i] = depth >= cloud->near && depth <= cloud->far ? depth : (gfloat) NAN;
    chunk->across[i] = (gfloat) (start + i * across);
  }
  if (cloud->least && cloud->view->confidence)
    drop_unsure (cloud, y, first, count, chunk);
}

static inline void
put_position (guint8 *to, gfloat x, gfloat y, gfloat z)
{
#if G_BYTE_ORDER == G_LITTLE_ENDIAN
  const gfloat position[3] = { x, y, z };
  memcpy (to, position, sizeof position);
#else
  GST_WRITE_FLOAT_LE (to, x);
  GST_WRITE_FLOAT_LE (to + 4, y);
  GST_WRITE_FLOAT_LE (to + 8, z);
#endif
}

static guint8 *
put_row (const Cloud *cloud, guint row, guint8 *to)
{
  const guint y = row * cloud->step;
  const gfloat down = (gfloat) ((y - cloud->rays.center_y) * cloud->rays.down);
  const gboolean organized = cloud->organized;
  Chunk chunk;

  for (guint first = 0; first < cloud->columns; first += CHUNK) {
    guint count = MIN (CHUNK, cloud->columns - first);

    fill_chunk (cloud, y, first, count, &chunk);
    for (guint i = 0; i < count; i++) {
      gfloat z = chunk.depths[i];

      put_position (to, chunk.across[i] * z, down * z, z);
      /* what does not count is overwritten by the next one */
      to += organized || z == z ? POINT : 0;
    }
  }
  return to;
}

static gint
write_header (const Cloud *cloud, gint format, guint points, gchar *text)
{
  gchar grid[64] = "";

  if (format == PCD)
    return g_snprintf (text, HEADER,
        "# .PCD v0.7 - Point Cloud Data file format: millimetres, X right, Y down, Z forward\n"
        "VERSION 0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\nWIDTH %u\nHEIGHT %u\n"
        "VIEWPOINT 0 0 0 1 0 0 0\nPOINTS %u\nDATA binary\n",
        cloud->organized ? cloud->columns : points, cloud->organized ? cloud->rows : 1, points);
  if (cloud->organized)
    g_snprintf (grid, sizeof grid, "obj_info num_cols %u\nobj_info num_rows %u\n", cloud->columns, cloud->rows);
  return g_snprintf (text, HEADER,
      "ply\nformat binary_little_endian 1.0\ncomment millimetres, X right, Y down, Z forward\n"
      "%selement vertex %u\nproperty float x\nproperty float y\nproperty float z\nend_header\n",
      grid, points);
}

/* Writes the file into @data, whose room is that of all points. It is @size bytes long and begins at @offset, so that its
 * header, whose length depends on the number of points, need not be known before. Returns the number of points. */
static guint
write_cloud (const Cloud *cloud, gint format, guint8 *data, gsize *offset, gsize *size)
{
  guint8 *to = data + HEADER;
  gchar text[HEADER];

  for (guint row = 0; row < cloud->rows; row++)
    to = put_row (cloud, row, to);
  guint points = (guint) ((gsize) (to - data - HEADER) / POINT);
  gsize length = (gsize) write_header (cloud, format, points, text);
  memcpy (data + HEADER - length, text, length);
  *offset = HEADER - length;
  *size = (gsize) (to - data) - *offset;
  return points;
}

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

/* A mapped picture. */
static GstFlowReturn
make_cloud (GstStereoPoints *self, const Settings *settings, const GstStereoDepthView *view, GstBuffer **out)
{
  const GstStereoMeta *meta = view->meta;
  Cloud cloud = { .view = view,
    .step = (guint) settings->step,
    .columns = count_of (meta->width, settings->step),
    .rows = count_of (meta->height, settings->step),
    .near = (gfloat) settings->near,
    .far = settings->far > 0 ? (gfloat) settings->far : G_MAXFLOAT,
    .least = (guint8) gst_stereo_depth_least_confidence (settings->min_confidence),
    .organized = settings->organized };
  /* one point more: a point is written before it is known whether it counts */
  GstFlowReturn flow = acquire (self, HEADER + ((gsize) cloud.columns * cloud.rows + 2) * POINT, out);
  gsize offset, size;
  GstMapInfo map;

  gst_stereo_rays_find (meta, &cloud.rays);
  if (flow == GST_FLOW_OK && !gst_buffer_map (*out, &map, GST_MAP_WRITE))
    flow = GST_FLOW_ERROR;
  if (flow == GST_FLOW_ERROR)
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
        ("There is no memory for a cloud of %ux%u points: set step to a larger number.", meta->width, meta->height),
        (NULL));
  if (flow != GST_FLOW_OK)
    return flow;
  guint count = write_cloud (&cloud, settings->format, map.data, &offset, &size);
  gst_buffer_unmap (*out, &map);
  gst_buffer_resize (*out, (gssize) offset, (gssize) size);
  GST_LOG_OBJECT (self, "%u points, %" G_GSIZE_FORMAT " bytes", count, size);
  return GST_FLOW_OK;
}

/* FALSE after an error was posted. */
static gboolean
negotiate (GstStereoPoints *self, gint format)
{
  if (self->negotiated == format)
    return TRUE;
  g_autoptr (GstCaps) caps = gst_caps_new_empty_simple (media_types[format]);
  g_autoptr (GstCaps) peer = gst_pad_peer_query_caps (self->src, caps);
  if (gst_caps_is_empty (peer)) {
    GST_ELEMENT_ERROR (self, CORE, NEGOTIATION,
        ("What is linked downstream does not take %s: set format to another value, or link multifilesink or appsink.",
            media_types[format]),
        (NULL));
    return FALSE;
  }
  self->negotiated = format;
  return gst_pad_push_event (self->src, gst_event_new_caps (caps));
}

/* A sentence; NULL: nothing. */
static gchar *
settings_problem (const Settings *settings)
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
process (GstStereoPoints *self, GstBuffer *in, GstBuffer **out)
{
  g_autofree gchar *problem = NULL;
  GstStereoDepthMap map;
  Settings settings;

  gst_stereo_properties_read (self, &self->settings, &settings, sizeof settings);
  if ((problem = settings_problem (&settings))) {
    GST_ELEMENT_ERROR (self, LIBRARY, SETTINGS, ("%s", problem), (NULL));
    return GST_FLOW_ERROR;
  }
  if ((problem = picture_problem (&self->info, gst_buffer_get_stereo_meta (in)))) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT, ("%s", problem), (NULL));
    return GST_FLOW_ERROR;
  }
  if (!negotiate (self, settings.format))
    return GST_FLOW_NOT_NEGOTIATED;
  if (!gst_stereo_depth_map (&map, GST_ELEMENT (self), &self->info, in))
    return GST_FLOW_ERROR;
  GstFlowReturn flow = make_cloud (self, &settings, &map.view, out);
  gst_stereo_depth_unmap (&map);
  return flow;
}

static GstFlowReturn
gst_stereo_points_chain (GstPad *pad, GstObject *parent, GstBuffer *in)
{
  GstStereoPoints *self = GST_STEREO_POINTS (parent);
  GstBuffer *out = NULL;
  GstFlowReturn flow = process (self, in, &out);

  if (flow == GST_FLOW_OK) {
    gst_buffer_copy_into (out, in, GST_BUFFER_COPY_TIMESTAMPS, 0, (gsize) -1);
    flow = gst_pad_push (self->src, out);
  } else {
    gst_clear_buffer (&out);
  }
  gst_buffer_unref (in);
  return flow;
}

/* The format is a property: the caps of the output follow those of the input. */
static gboolean
gst_stereo_points_sink_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  GstStereoPoints *self = GST_STEREO_POINTS (parent);
  Settings settings;
  GstCaps *caps;

  if (GST_EVENT_TYPE (event) != GST_EVENT_CAPS)
    return gst_pad_event_default (pad, parent, event);
  gst_event_parse_caps (event, &caps);
  gst_stereo_properties_read (self, &self->settings, &settings, sizeof settings);
  gboolean taken = gst_video_info_from_caps (&self->info, caps) && negotiate (self, settings.format);
  gst_event_unref (event);
  return taken;
}

static GstStateChangeReturn
gst_stereo_points_change_state (GstElement *element, GstStateChange transition)
{
  GstStereoPoints *self = GST_STEREO_POINTS (element);
  Settings settings;

  gst_stereo_properties_read (self, &self->settings, &settings, sizeof settings);
  g_autofree gchar *problem = transition == GST_STATE_CHANGE_READY_TO_PAUSED ? settings_problem (&settings) : NULL;
  if (problem) {
    GST_ELEMENT_ERROR (self, LIBRARY, SETTINGS, ("%s", problem), (NULL));
    return GST_STATE_CHANGE_FAILURE;
  }
  GstStateChangeReturn done = GST_ELEMENT_CLASS (gst_stereo_points_parent_class)->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY) {
    drop_pool (self);
    self->negotiated = -1;
  }
  return done;
}

/* ---- object ------------------------------------------------------------------------------ */

static const GEnumValue formats[] = {
  { PLY, "PLY, binary, little endian", "ply" },
  { PCD, "PCD of the Point Cloud Library, version 0.7, binary", "pcd" },
  { 0, NULL, NULL },
};

#define ROW(name_, kind_, member) \
  .name = name_, .kind = GST_STEREO_##kind_, .flags = GST_STEREO_PLAYING, \
  .offset = G_STRUCT_OFFSET (GstStereoPoints, settings.member)

static const GstStereoProperty properties[] = {
  { ROW ("format", ENUM, format), .type = "GstStereoPointsFormat", .choices = formats, .initial = PLY,
      .blurb = "Format of the files, one a buffer; the caps of the output depend on it" },
  { ROW ("step", INT, step), .min = 1, .max = 1024, .initial = 1,
      .blurb = "Take every step-th column of every step-th row, in pixels; 1 = all" },
  { ROW ("near", DOUBLE, near), .max = FARTHEST,
      .blurb = "Least distance (Z) of a point in millimetres; must be below far" },
  { ROW ("far", DOUBLE, far), .max = FARTHEST, .initial = 100000,
      .blurb = "Largest distance (Z) of a point in millimetres; 0 = no limit. What is farther is mostly noise" },
  { ROW ("min-confidence", DOUBLE, min_confidence), .max = 1, .initial = 0.01,
      .blurb = "Pixels with a lower confidence (0..1) have no point; 0 = use every valid pixel" },
  { ROW ("organized", BOOLEAN, organized),
      .blurb = "Keep rows and columns: a pixel without a point is three times not-a-number. FALSE = leave it out" },
  { .name = NULL },
};

static void
gst_stereo_points_class_init (GstStereoPointsClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (gst_stereo_points_debug, "stereopoints", 0, "point clouds of a stereo matcher");
  gst_stereo_properties_install (object_class, properties, 0, FALSE);
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  element_class->change_state = gst_stereo_points_change_state;
  gst_element_class_set_static_metadata (element_class, "Stereo points", "Filter/Converter/Video/Stereo",
      "Makes point clouds (PLY or PCD files, one a buffer, millimetres) of the output of stereomatch", "gst-stereo");
}

static void
gst_stereo_points_init (GstStereoPoints *self)
{
  gst_stereo_properties_init (G_OBJECT (self));
  self->negotiated = -1;
  self->sink = gst_pad_new_from_static_template (&sink_template, "sink");
  self->src = gst_pad_new_from_static_template (&src_template, "src");
  gst_pad_set_chain_function (self->sink, gst_stereo_points_chain);
  gst_pad_set_event_function (self->sink, gst_stereo_points_sink_event);
  gst_pad_use_fixed_caps (self->src);
  gst_element_add_pad (GST_ELEMENT (self), self->sink);
  gst_element_add_pad (GST_ELEMENT (self), self->src);
}
