/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/overlay/show.h"

#include "gst/overlay/compose.h"
#include "gst/overlay/debug.h"
#include "gst/overlay/ground.h"
#include "gst/overlay/picture.h"
#include "gst/overlay/properties.h"
#include "gst/overlay/regions.h"
#include "gst/overlay/report.h"

/* ---- settings: a new property is a member, a default, a row, and its use below ------------ */

#define FARTHEST 1e6 /* mm */

typedef struct
{
  gdouble alpha, min_confidence;
  gdouble near, far;            /* mm; 0 = as the metadata says */
  GstDepthOverlaySearch search; /* of the nearest surface */
  GstDepthOverlayLimits limits;
  guint64 max_age, message_interval;
  gint colormap; /* GstStereoColormap */
  gint curve;    /* GstStereoCurve */
  gint nearest;  /* GstDepthOverlayNearestOf */
  gboolean legend, text;
} Settings;

static const Settings defaults = { .alpha = 0.5,
  .min_confidence = 0.01,
  .search = { .region = { 0, 0, 1, 1 }, .percentile = 0.5 },
  .limits = { .max_unknown = 0.5 },
  .max_age = 500 * GST_MSECOND,
  .message_interval = 100 * GST_MSECOND,
  .colormap = GST_STEREO_COLORMAP_TURBO,
  .curve = GST_STEREO_CURVE_INVERSE,
  .legend = TRUE,
  .text = TRUE };

#define ROW(kind_, name_, member) \
  .name = name_, .kind = GST_DEPTH_OVERLAY_##kind_, .offset = G_STRUCT_OFFSET (Settings, member)

static const GstDepthOverlayProperty properties[] = {
  { ROW (NUMBER, "alpha", alpha), .most = 1,
      .blurb = "Opacity of the colours: 0 = only the live view, 1 = only depth. Depth alone is opaque" },
  { ROW (CHOICE, "colormap", colormap), .choices = gst_stereo_colormap_get_type,
      .blurb = "Colour map, from far to near" },
  { ROW (NUMBER, "near", near), .most = FARTHEST,
      .blurb = "Distance in millimetres at and below which pixels get the near end of the colour map; must be below "
               "far; 0 = the nearest distance that the search of stereomatch can find" },
  { ROW (NUMBER, "far", far), .most = FARTHEST,
      .blurb = "Distance in millimetres that gets the far end of the colour map; must be above near; 0 = that of a "
               "disparity of 2 px, or of min-disparity where that is larger. Beyond it the live view stays as it is; "
               "depth alone gets the far end there, too" },
  { ROW (CHOICE, "scale", curve), .choices = gst_stereo_curve_get_type,
      .blurb = "How colours are spread over the distances from near to far. Where distances are not known, colours are "
               "even in the disparity" },
  { ROW (NUMBER, "min-confidence", min_confidence), .most = 1,
      .blurb = "Pixels with a lower confidence (0..1) show the live view and count as not seen; "
               "0 = use every valid pixel" },
  { ROW (NUMBER, "warn-distance", limits.warn_distance), .most = FARTHEST,
      .blurb = "The picture and the message warn when the nearest surface is nearer than this, "
               "in millimetres; 0 = never" },
  { ROW (CHOICE, "nearest", nearest), .choices = gst_depth_overlay_nearest_of_get_type,
      .blurb = "What the nearest distance, its warning and stereo-nearest are about" },
  { ROW (NUMBER, "nearest-percentile", search.percentile), .most = 100,
      .blurb = "Percentage (0..100) of the region's pixels that must be connected, at the nearest distance or nearer: "
               "the smallest surface that counts. Smaller values find smaller objects, but rely on fewer pixels; 0 = a "
               "single pixel is enough" },
  { ROW (NUMBER, "max-unknown", limits.max_unknown), .most = 1,
      .blurb = "Share (0..1) of the region's pixels, of those that a mask does not exclude, that may be invalid or "
               "unsure. Where more are, the state is unknown, never clear; a surface nearer than warn-distance is "
               "reported all the same" },
  { ROW (REGION, "region", search.region),
      .blurb = "Where to look for the nearest surface: <x, y, width, height> as fractions (0..1) of the picture. Parts "
               "outside the picture are ignored; the default, <0, 0, 1, 1>, is the whole picture. With "
               "text a thin frame shows it" },
  { ROW (SWITCH, "legend", legend), .blurb = "Draw a legend of the colours and their distances" },
  { ROW (SWITCH, "text", text),
      .blurb = "Draw the nearest distance, its marker and warnings, and say what is not known" },
  { ROW (TIME, "max-age", max_age),
      .blurb = "Maximum age of the depth, compared with the frame it is shown over, in nanoseconds; 0 = only depth of "
               "the same running time. Where the frame or the depth has no timestamp, the depth ages by the clock" },
  { ROW (TIME, "message-interval", message_interval),
      .blurb = "Minimum time between two stereo-nearest messages in nanoseconds; 0 = one message per frame. A change "
               "of state or warning is always posted at once" }
};

struct _GstDepthOverlayShow
{
  GstElement *owner;
  GstStereoJoin *join;
  GstDepthOverlaySync *sync;
  GstDepthOverlayOutput *output;

  Settings settings; /* protected by the owner's object lock */

  /* from start to stop */
  GstDepthOverlayPicture *picture;   /* the depth that is shown */
  GstDepthOverlayReport *report;     /* the nearest surface in it */
  GstDepthOverlayRegions *regions;   /* that others marked in the live view */
  GstDepthOverlayGround *ground;     /* that came with the depth */
  gboolean warned;                   /* that it did not */
  gboolean unreliable;               /* the depth of this frame: the report says why */
  GstDepthOverlayComposer *composer; /* draws the output */

  gint failed; /* atomic: an error was posted that no frame can mend */
};

void
gst_depth_overlay_show_install_properties (GObjectClass *klass)
{
  gst_depth_overlay_properties_install (klass, properties, G_N_ELEMENTS (properties), &defaults);
}

void
gst_depth_overlay_show_set_property (GstDepthOverlayShow *show, guint id, const GValue *value, GParamSpec *spec)
{
  if (!gst_depth_overlay_property_accepts (&properties[id - 1], show->owner, spec, value))
    return;
  GST_OBJECT_LOCK (show->owner);
  gst_depth_overlay_property_set (&properties[id - 1], &show->settings, value);
  GST_OBJECT_UNLOCK (show->owner);
}

void
gst_depth_overlay_show_get_property (GstDepthOverlayShow *show, guint id, GValue *value)
{
  GST_OBJECT_LOCK (show->owner);
  gst_depth_overlay_property_get (&properties[id - 1], &show->settings, value);
  GST_OBJECT_UNLOCK (show->owner);
}

static Settings
current_settings (GstDepthOverlayShow *show)
{
  Settings settings;

  GST_OBJECT_LOCK (show->owner);
  settings = show->settings;
  GST_OBJECT_UNLOCK (show->owner);
  return settings;
}

/* ---- start, stop, flush ------------------------------------------------------------------ */

GstDepthOverlayShow *
gst_depth_overlay_show_new (
    GstElement *owner, GstStereoJoin *join, GstDepthOverlaySync *sync, GstDepthOverlayOutput *output)
{
  GstDepthOverlayShow *show = g_new0 (GstDepthOverlayShow, 1);

  show->owner = owner;
  show->join = join;
  show->sync = sync;
  show->output = output;
  show->settings = defaults;
  return show;
}

void
gst_depth_overlay_show_free (GstDepthOverlayShow *show)
{
  gst_depth_overlay_show_stop (show);
  g_free (show);
}

void
gst_depth_overlay_show_start (GstDepthOverlayShow *show)
{
  g_atomic_int_set (&show->failed, FALSE);
  show->picture = gst_depth_overlay_picture_new (show->owner);
  show->report = gst_depth_overlay_report_new (show->owner);
  show->regions = gst_depth_overlay_regions_new (show->owner);
  show->ground = gst_depth_overlay_ground_new ();
  show->warned = FALSE;
  show->composer = gst_depth_overlay_composer_new (show->owner);
}

void
gst_depth_overlay_show_stop (GstDepthOverlayShow *show)
{
  g_clear_pointer (&show->picture, gst_depth_overlay_picture_free);
  g_clear_pointer (&show->report, gst_depth_overlay_report_free);
  g_clear_pointer (&show->regions, gst_depth_overlay_regions_free);
  g_clear_pointer (&show->ground, gst_depth_overlay_ground_free);
  g_clear_pointer (&show->composer, gst_depth_overlay_composer_free);
}

void
gst_depth_overlay_show_flush (GstDepthOverlayShow *show)
{
  if (show->report)
    gst_depth_overlay_report_reset (show->report);
}

/* ---- a frame ----------------------------------------------------------------------------- */

static const gchar *
notice_of (GstDepthOverlayState state)
{
  switch (state) {
    case GST_DEPTH_OVERLAY_UNLINKED:
      return "no depth linked";
    case GST_DEPTH_OVERLAY_WAITING:
      return "no depth yet";
    case GST_DEPTH_OVERLAY_STALE:
      return "depth is stale";
    case GST_DEPTH_OVERLAY_ENDED:
      return "depth ended";
    default:
      return NULL;
  }
}

static gboolean
is_part (const GstDepthOverlayRegion *region, gint width, gint height)
{
  return region->width < width || region->height < height;
}

/* Obstacles first: where there is no room for all, things that others found are left out. */
static void
describe_finds (GstDepthOverlayShow *show, GstDepthOverlayTextContent *text)
{
  const GstDepthOverlayBox *boxes;
  guint count;

  boxes = gst_depth_overlay_ground_boxes (show->ground, &count);
  for (guint i = 0; i < count && text->n_boxes < GST_DEPTH_OVERLAY_BOXES; i++)
    text->boxes[text->n_boxes++] = boxes[i];
  boxes = gst_depth_overlay_regions_boxes (show->regions, &count);
  for (guint i = 0; i < count && text->n_boxes < GST_DEPTH_OVERLAY_BOXES; i++)
    text->boxes[text->n_boxes++] = boxes[i];
  text->marks = gst_depth_overlay_ground_marks (show->ground, &text->n_marks);
}

static void
describe_text (
    GstDepthOverlayShow *show, const Settings *settings, GstDepthOverlayState state, GstDepthOverlayTextContent *text)
{
  const GstDepthOverlayNearest *nearest = gst_depth_overlay_report_nearest (show->report);
  const GstStereoLiveView *view = gst_depth_overlay_output_view (show->output);
  const GstStereoScale *scale = gst_depth_overlay_picture_scale (show->picture);
  GstDepthOverlayRegion region;

  text->width = GST_VIDEO_INFO_WIDTH (&view->info);
  text->height = GST_VIDEO_INFO_HEIGHT (&view->info);
  region = gst_depth_overlay_search_region (&settings->search, text->width, text->height);
  text->edges = settings->text && nearest->warning;
  text->region = settings->text && is_part (&region, text->width, text->height);
  text->region_x = region.x;
  text->region_y = region.y;
  text->region_width = region.width;
  text->region_height = region.height;
  text->legend = settings->legend && scale != NULL;
  text->marker = settings->text && nearest->valid;
  text->notice = notice_of (state);
  text->reason = show->unreliable ? gst_depth_overlay_report_reason (show->report) : NULL;
  text->valid = nearest->valid;
  text->unknown = nearest->verdict == GST_DEPTH_OVERLAY_UNKNOWN;
  text->coverage = nearest->found.coverage;
  text->readout = settings->text;
  text->colormap = (GstStereoColormap) settings->colormap;
  if (scale)
    text->scale = *scale;
  if (settings->text)
    describe_finds (show, text);
  text->value = nearest->value;
  text->x = nearest->x;
  text->y = nearest->y;
  text->warning = nearest->warning;
}

static void
find_obstacle (GstDepthOverlayShow *show, const Settings *settings, const GstStereoLiveView *view)
{
  GstDepthOverlayRegion region = gst_depth_overlay_search_region (
      &settings->search, GST_VIDEO_INFO_WIDTH (&view->info), GST_VIDEO_INFO_HEIGHT (&view->info));
  GstDepthOverlayNearest nearest;

  if (!gst_depth_overlay_ground_is_there (show->ground) && !show->warned) {
    show->warned = TRUE;
    GST_ELEMENT_WARNING (show->owner, STREAM, FORMAT,
        ("nearest=obstacle is set, and the depth comes without a ground: put stereoground before sink_depth, or set "
         "nearest=surface. Until then the state is unknown."),
        (NULL));
  }
  gst_depth_overlay_ground_find (show->ground, &region, settings->limits.warn_distance, &nearest);
  gst_depth_overlay_report_set (show->report, &nearest);
}

/* Whether something is wrong with the views of @depth; then nothing is looked for in it. */
static gboolean
is_unreliable (GstDepthOverlayShow *show, const GstStereoJoined *depth)
{
  const GstStereoMeta *meta = gst_buffer_get_stereo_meta (depth->buffer);
  gchar *reason = gst_stereo_health_get_reason (meta->health);

  show->unreliable = reason != NULL;
  if (!reason)
    return FALSE;
  GST_LOG_OBJECT (show->owner, "the depth cannot be relied on: %s", reason);
  gst_depth_overlay_report_clear (show->report, reason);
  gst_depth_overlay_ground_read (show->ground, NULL, 0, 0, 0);
  g_free (reason);
  return TRUE;
}

/* Maps the depth that goes with a frame, and finds the nearest surface in it. FALSE after an error was posted. */
static gboolean
read_depth (GstDepthOverlayShow *show, const Settings *settings, GstDepthOverlayLook *look)
{
  const GstDepthOverlayRange range = { .near = settings->near,
    .far = settings->far,
    .curve = (GstStereoCurve) settings->curve,
    .beyond = gst_depth_overlay_sync_is_alone (show->sync),
    .min_confidence = settings->min_confidence };
  const GstStereoJoined *depth = gst_stereo_join_held (show->join);
  const GstStereoLiveView *view = gst_depth_overlay_output_view (show->output);

  if (!gst_depth_overlay_picture_map (show->picture, depth, view, &range))
    return FALSE;
  look->depth = gst_depth_overlay_picture_depth (show->picture);
  if (is_unreliable (show, depth))
    return TRUE;
  gst_depth_overlay_ground_read (show->ground, depth, GST_VIDEO_INFO_WIDTH (&view->info),
      GST_VIDEO_INFO_HEIGHT (&view->info), settings->limits.warn_distance);
  if (settings->nearest == GST_DEPTH_OVERLAY_NEAREST_OBSTACLE)
    find_obstacle (show, settings, view);
  else
    gst_depth_overlay_report_search (show->report, &settings->search, depth, show->picture, view);
  return TRUE;
}

/* Chooses which part of the live frame is shown, or depth alone, and negotiates caps for it. */
static GstFlowReturn
prepare_output (GstDepthOverlayShow *show, gboolean alone)
{
  const GstStereoJoined *depth = gst_stereo_join_held (show->join);
  gint width = depth->buffer ? GST_VIDEO_INFO_WIDTH (&depth->info) : 0;
  gint height = depth->buffer ? GST_VIDEO_INFO_HEIGHT (&depth->info) : 0;

  if (alone) {
    gst_depth_overlay_output_choose_alone (show->output, &depth->info);
    return gst_depth_overlay_output_negotiate (show->output);
  }
  if (gst_depth_overlay_output_choose_view (
          show->output, gst_stereo_join_main_info (show->join), width, height, gst_stereo_join_has_second (show->join)))
    return gst_depth_overlay_output_negotiate (show->output);
  g_atomic_int_set (&show->failed, TRUE);
  return GST_FLOW_NOT_NEGOTIATED;
}

/* After the depth was read, or where there is none. */
static void
measure_regions (GstDepthOverlayShow *show, const GstDepthOverlayFrame *frame)
{
  gboolean current = frame->state == GST_DEPTH_OVERLAY_CURRENT && !show->unreliable;
  const GstStereoMeta *meta = current ? gst_buffer_get_stereo_meta (gst_stereo_join_held (show->join)->buffer) : NULL;

  gst_depth_overlay_regions_measure (show->regions, frame->live.buffer, gst_depth_overlay_output_view (show->output),
      current ? show->picture : NULL, meta);
}

static GstFlowReturn
make_output (GstDepthOverlayShow *show, const Settings *settings, const GstDepthOverlayFrame *frame, GstBuffer **out)
{
  GstDepthOverlayLook look = { .colormap = (GstStereoColormap) settings->colormap, .alpha = settings->alpha };
  GstFlowReturn flow = prepare_output (show, frame->alone);

  if (flow != GST_FLOW_OK)
    return flow;
  show->unreliable = FALSE;
  if (frame->state != GST_DEPTH_OVERLAY_CURRENT) {
    gst_depth_overlay_report_clear (show->report, notice_of (frame->state));
    gst_depth_overlay_ground_read (show->ground, NULL, 0, 0, 0);
  } else if (!read_depth (show, settings, &look)) {
    g_atomic_int_set (&show->failed, TRUE);
    return GST_FLOW_NOT_NEGOTIATED;
  }
  gst_depth_overlay_report_judge (show->report, &settings->limits);
  measure_regions (show, frame);
  describe_text (show, settings, frame->state, &look.text);
  if (frame->alone) {
    look.alpha = 1;
    flow = gst_depth_overlay_compose_alone (show->composer, show->output, frame->live.buffer, &look, out);
  } else {
    flow = gst_depth_overlay_compose (show->composer, show->output, frame->live.buffer, &look, out);
  }
  gst_depth_overlay_picture_unmap (show->picture);
  if (flow == GST_FLOW_OK)
    gst_depth_overlay_report_post (show->report, frame, settings->message_interval);
  return flow;
}

/* Takes the frame's buffer. */
static GstFlowReturn
process (GstDepthOverlayShow *show, const GstDepthOverlayFrame *frame)
{
  GstClockTime stream_time = gst_segment_to_stream_time (
      &frame->live.segment, GST_FORMAT_TIME, GST_BUFFER_PTS (frame->live.buffer));
  GstBuffer *out = NULL;
  GstFlowReturn flow;
  Settings settings;

  if (GST_CLOCK_TIME_IS_VALID (stream_time))
    gst_object_sync_values (GST_OBJECT (show->owner), stream_time);
  settings = current_settings (show);
  flow = make_output (show, &settings, frame, &out);
  gst_buffer_unref (frame->live.buffer);
  if (flow != GST_FLOW_OK)
    return flow;
  out = gst_depth_overlay_regions_write (show->regions, out);
  return gst_depth_overlay_output_push (show->output, &frame->live.segment, out);
}

GstFlowReturn
gst_depth_overlay_show_next (GstDepthOverlayShow *show, gboolean timeout)
{
  GstDepthOverlayFrame frame;

  if (g_atomic_int_get (&show->failed))
    return GST_FLOW_NOT_NEGOTIATED;
  switch (gst_depth_overlay_sync_next (show->sync, timeout, current_settings (show).max_age, &frame)) {
    case GST_STEREO_JOIN_FRAME:
      break;
    case GST_STEREO_JOIN_WAIT:
      return GST_AGGREGATOR_FLOW_NEED_DATA;
    case GST_STEREO_JOIN_EOS:
      return GST_FLOW_EOS;
    default:
      return GST_FLOW_NOT_NEGOTIATED;
  }
  if (!frame.live.gap)
    return process (show, &frame);
  gst_depth_overlay_output_push_gap (show->output, frame.live.buffer);
  gst_buffer_unref (frame.live.buffer);
  return GST_FLOW_OK;
}
