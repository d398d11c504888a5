/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/overlay/show.h"

#include "gst/meta/found.h"
#include "gst/nearest/report.h"
#include "gst/overlay/colormap.h"
#include "gst/overlay/compose.h"
#include "gst/overlay/debug.h"
#include "gst/overlay/ground.h"
#include "gst/overlay/picture.h"
#include "gst/overlay/regions.h"
#include "gst/video/stream.h"

#include <math.h>

/* A new property is a member, a row of the table, and its use below. */
typedef struct
{
  gdouble alpha, min_confidence;
  gdouble near, far;                /* mm; 0 = as the metadata says */
  GstStereoNearestSettings nearest; /* where the depth does not come from stereonearest */
  guint64 max_age;
  gint colormap; /* GstStereoColormap */
  gint curve;    /* GstStereoCurve */
  gboolean legend, text;
} Settings;

struct _GstDepthOverlayShow
{
  GstElement *owner;
  GstStereoJoin *join;
  GstDepthOverlaySync *sync;
  GstDepthOverlayOutput *output;

  Settings settings; /* protected by the owner's object lock */

  /* from start to stop */
  GstDepthOverlayPicture *picture;   /* the depth that is shown */
  GstStereoNearestReport *report;    /* the nearest surface in it */
  GstStereoNearestRegion region;     /* the searched region, in the view */
  GstDepthOverlayRegions *regions;   /* that others marked in the live view */
  GstDepthOverlayGround *ground;     /* that came with the depth */
  gboolean unreliable;               /* the depth of this frame: the report says why */
  GstDepthOverlayComposer *composer; /* draws the output */

  gint failed; /* atomic: an error was posted that no frame can mend */
};

/* ---- properties --------------------------------------------------------------------------- */

#define FARTHEST 1e6 /* mm */

static const GEnumValue nearest_choices[] = {
  { GST_STEREO_NEAREST_SURFACE, "The nearest surface, whatever it is: also the road before the bumper", "surface" },
  { GST_STEREO_NEAREST_OBSTACLE, "What stands on the ground: needs stereoground before sink_depth", "obstacle" },
  { 0, NULL, NULL }
};

#define ROW(name_, kind_, flags_, member) \
  .name = name_, .kind = GST_STEREO_##kind_, .flags = GST_STEREO_##flags_, \
  .offset = G_STRUCT_OFFSET (GstDepthOverlayShow, settings.member)

const GstStereoProperty gst_depth_overlay_show_properties[] = {
  { ROW ("alpha", DOUBLE, CONTROLLED, alpha), .max = 1, .initial = 0.5,
      .blurb = "Opacity of the colours: 0 = only the live view, 1 = only depth. Depth alone is opaque" },
  { ROW ("colormap", ENUM, CONTROLLED, colormap), .type = "GstStereoColormap", .choices = gst_stereo_colormap_choices,
      .initial = GST_STEREO_COLORMAP_TURBO, .blurb = "Colour map, from far to near" },
  { ROW ("near", DOUBLE, CONTROLLED, near), .max = FARTHEST,
      .blurb = "Distance in millimetres at and below which pixels get the near end of the colour map; must be below "
               "far; 0 = the nearest distance that the search of stereomatch can find" },
  { ROW ("far", DOUBLE, CONTROLLED, far), .max = FARTHEST,
      .blurb = "Distance in millimetres that gets the far end of the colour map; must be above near; 0 = that of a "
               "disparity of 2 px, or of min-disparity where that is larger. Beyond it the live view stays as it is; "
               "depth alone gets the far end there, too" },
  { ROW ("scale", ENUM, CONTROLLED, curve), .type = "GstStereoCurve", .choices = gst_stereo_curve_choices,
      .initial = GST_STEREO_CURVE_INVERSE,
      .blurb = "How colours are spread over the distances from near to far. Where distances are not known, colours are "
               "even in the disparity" },
  { ROW ("min-confidence", DOUBLE, CONTROLLED, min_confidence), .max = 1, .initial = 0.01,
      .blurb = "Pixels with a lower confidence (0..1) show the live view and count as not seen; "
               "0 = use every valid pixel" },
  { ROW ("warn-distance", DOUBLE, CONTROLLED, nearest.warn_distance), .max = FARTHEST,
      .blurb = "The picture and the message warn when the nearest surface is nearer than this, "
               "in millimetres; 0 = never" },
  { ROW ("nearest", ENUM, CONTROLLED, nearest.of), .type = "GstDepthOverlayNearestOf", .choices = nearest_choices,
      .initial = GST_STEREO_NEAREST_SURFACE, .blurb = GST_STEREO_NEAREST_OF_TEXT },
  { ROW ("nearest-percentile", DOUBLE, CONTROLLED, nearest.percentile), .max = 100, .initial = 0.5,
      .blurb = GST_STEREO_NEAREST_PERCENTILE_TEXT },
  { ROW ("max-unknown", DOUBLE, CONTROLLED, nearest.max_unknown), .max = 1, .initial = 0.5,
      .blurb = GST_STEREO_NEAREST_UNKNOWN_TEXT },
  { ROW ("region", REGION, PLAYING, nearest.region),
      .blurb = GST_STEREO_NEAREST_REGION_TEXT ". With text a thin frame shows it" },
  { ROW ("legend", BOOLEAN, CONTROLLED, legend), .initial = TRUE,
      .blurb = "Draw a legend of the colours and their distances" },
  { ROW ("text", BOOLEAN, CONTROLLED, text), .initial = TRUE,
      .blurb = "Draw the nearest distance, its marker and warnings, and say what is not known" },
  { ROW ("max-age", UINT64, PLAYING, max_age), .initial = 500 * GST_MSECOND,
      .blurb = "Maximum age of the depth, compared with the frame it is shown over, in nanoseconds; 0 = only depth of "
               "the same running time. Where the frame or the depth has no timestamp, the depth ages by the clock" },
  { ROW ("message-interval", UINT64, PLAYING, nearest.message_interval), .initial = 100 * GST_MSECOND,
      .blurb = GST_STEREO_NEAREST_INTERVAL_TEXT },
  { .name = NULL },
};

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
  show->report = gst_stereo_nearest_report_new (show->owner, GST_CAT_DEFAULT, "sink_depth");
  show->regions = gst_depth_overlay_regions_new (show->owner);
  show->ground = gst_depth_overlay_ground_new ();
  show->composer = gst_depth_overlay_composer_new (show->owner);
}

void
gst_depth_overlay_show_stop (GstDepthOverlayShow *show)
{
  g_clear_pointer (&show->picture, gst_depth_overlay_picture_free);
  g_clear_pointer (&show->report, gst_stereo_nearest_report_free);
  g_clear_pointer (&show->regions, gst_depth_overlay_regions_free);
  g_clear_pointer (&show->ground, gst_depth_overlay_ground_free);
  g_clear_pointer (&show->composer, gst_depth_overlay_composer_free);
}

void
gst_depth_overlay_show_flush (GstDepthOverlayShow *show)
{
  if (show->report)
    gst_stereo_nearest_report_reset (show->report);
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
is_part (const GstStereoNearestRegion *region, gint width, gint height)
{
  return region->width < width || region->height < height;
}

/* Obstacles first: where there is no room for all, things that others found are left out. */
static void
describe_finds (GstDepthOverlayShow *show, GstDepthOverlayTextContent *text)
{
  guint count;

  const GstDepthOverlayBox *boxes = gst_depth_overlay_ground_boxes (show->ground, &count);
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
  const GstStereoNearestResult *nearest = gst_stereo_nearest_report_result (show->report);
  const GstStereoLiveView *view = gst_depth_overlay_output_view (show->output);
  const GstStereoScale *scale = gst_depth_overlay_picture_scale (show->picture);

  text->width = GST_VIDEO_INFO_WIDTH (&view->info);
  text->height = GST_VIDEO_INFO_HEIGHT (&view->info);
  text->edges = settings->text && nearest->warning;
  text->region = settings->text && is_part (&show->region, text->width, text->height) ? &show->region : NULL;
  text->legend = settings->legend && scale != NULL;
  text->marker = settings->text && nearest->valid;
  text->notice = notice_of (state);
  text->reason = show->unreliable ? gst_stereo_nearest_report_reason (show->report) : NULL;
  text->nearest = nearest;
  text->readout = settings->text;
  text->colormap = (GstStereoColormap) settings->colormap;
  if (scale)
    text->scale = *scale;
  if (settings->text)
    describe_finds (show, text);
}

/* What stereonearest found in a depth of @info, for a view of @width x @height pixels. */
static void
take_nearest (
    GstDepthOverlayShow *show, const GstStereoFoundNearest *meta, const GstVideoInfo *info, gint width, gint height)
{
  gint depth_width = GST_VIDEO_INFO_WIDTH (info), depth_height = GST_VIDEO_INFO_HEIGHT (info);
  GstStereoNearestResult result = { .state = meta->state, .warning = meta->warning, .disparity = meta->disparity };

  result.metric = gst_depth_overlay_picture_scale (show->picture)->metric;
  result.value = result.metric ? meta->distance : meta->disparity;
  result.valid = meta->valid && !isnan (result.value);
  result.found.coverage = meta->coverage;
  result.x = (gint) ((2 * (gint64) meta->x + 1) * width / (2 * (gint64) depth_width));
  result.y = (gint) ((2 * (gint64) meta->y + 1) * height / (2 * (gint64) depth_height));
  if (show->unreliable)
    result = (GstStereoNearestResult){ 0 };
  gst_stereo_nearest_report_take (show->report, &result);
  show->region.x = (gint) ((gint64) meta->region_x * width / depth_width);
  show->region.y = (gint) ((gint64) meta->region_y * height / depth_height);
  gint right = (gint) (((gint64) meta->region_x + meta->region_width) * width / depth_width);
  gint bottom = (gint) (((gint64) meta->region_y + meta->region_height) * height / depth_height);
  show->region.width = MAX (1, right - show->region.x);
  show->region.height = MAX (1, bottom - show->region.y);
}

/* Finds the nearest surface in @depth, which is mapped, or reads what stereonearest found. FALSE after an error was
 * posted. */
static gboolean
find_nearest (GstDepthOverlayShow *show, const Settings *settings, const GstStereoJoined *depth)
{
  GstStereoFoundNearest nearest;
  g_autofree gchar *problem = NULL;
  gboolean found = gst_stereo_found_nearest_read (
      &nearest, depth->buffer, GST_VIDEO_INFO_WIDTH (&depth->info), GST_VIDEO_INFO_HEIGHT (&depth->info), &problem);
  const GstVideoInfo *view = &gst_depth_overlay_output_view (show->output)->info;
  gint width = GST_VIDEO_INFO_WIDTH (view), height = GST_VIDEO_INFO_HEIGHT (view);
  gdouble warn_distance = found ? nearest.warn_distance : settings->nearest.warn_distance;
  g_autofree gchar *reason = gst_stereo_health_get_reason (gst_buffer_get_stereo_meta (depth->buffer)->health);

  if (problem) {
    GST_ELEMENT_ERROR (show->owner, STREAM, FORMAT,
        ("The metadata of stereonearest cannot be right: %s. Look at what made the metadata.", problem), (NULL));
    return FALSE;
  }
  show->unreliable = reason != NULL;
  if (reason)
    GST_LOG_OBJECT (show->owner, "the depth cannot be relied on: %s", reason);
  gst_depth_overlay_ground_read (show->ground, reason ? NULL : depth, width, height, warn_distance);
  if (reason)
    gst_stereo_nearest_report_clear (show->report, &settings->nearest, width, height, reason);
  else if (!found)
    gst_stereo_nearest_report_find (show->report, &settings->nearest,
        &gst_depth_overlay_picture_depth (show->picture)->view, depth->serial,
        gst_depth_overlay_ground_found (show->ground), width, height);
  if (found)
    take_nearest (show, &nearest, &depth->info, width, height);
  return TRUE;
}

/* Maps the depth that goes with a frame, and finds the nearest surface in it. FALSE after an error was posted. */
static gboolean
read_depth (GstDepthOverlayShow *show, const Settings *settings, GstDepthOverlayStyle *style)
{
  const GstDepthOverlayRange range = { .near = settings->near,
    .far = settings->far,
    .curve = (GstStereoCurve) settings->curve,
    .beyond = gst_depth_overlay_sync_is_alone (show->sync),
    .min_confidence = settings->min_confidence };
  const GstStereoJoined *depth = gst_stereo_join_held (show->join);

  if (!gst_depth_overlay_picture_map (show->picture, depth, gst_depth_overlay_output_view (show->output), &range))
    return FALSE;
  style->depth = gst_depth_overlay_picture_depth (show->picture);
  return find_nearest (show, settings, depth);
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
  GstDepthOverlayStyle style = { .colormap = (GstStereoColormap) settings->colormap, .alpha = settings->alpha };
  const GstStereoLiveView *view = gst_depth_overlay_output_view (show->output);
  GstFlowReturn flow = prepare_output (show, frame->alone);

  if (flow != GST_FLOW_OK)
    return flow;
  show->unreliable = FALSE;
  show->region = gst_stereo_nearest_region (
      &settings->nearest, GST_VIDEO_INFO_WIDTH (&view->info), GST_VIDEO_INFO_HEIGHT (&view->info));
  if (frame->state != GST_DEPTH_OVERLAY_CURRENT) {
    gst_stereo_nearest_report_clear (show->report, &settings->nearest, GST_VIDEO_INFO_WIDTH (&view->info),
        GST_VIDEO_INFO_HEIGHT (&view->info), notice_of (frame->state));
    gst_depth_overlay_ground_read (show->ground, NULL, 0, 0, 0);
  } else if (!read_depth (show, settings, &style)) {
    g_atomic_int_set (&show->failed, TRUE);
    return GST_FLOW_NOT_NEGOTIATED;
  }
  measure_regions (show, frame);
  describe_text (show, settings, frame->state, &style.text);
  if (frame->alone) {
    style.alpha = 1;
    flow = gst_depth_overlay_compose_alone (show->composer, show->output, frame->live.buffer, &style, out);
  } else {
    flow = gst_depth_overlay_compose (show->composer, show->output, frame->live.buffer, &style, out);
  }
  gst_depth_overlay_picture_unmap (show->picture);
  if (flow == GST_FLOW_OK)
    gst_stereo_nearest_report_post (
        show->report, frame->live.buffer, &frame->live.segment, settings->nearest.message_interval);
  return flow;
}

/* Takes the frame's buffer. */
static GstFlowReturn
process (GstDepthOverlayShow *show, const GstDepthOverlayFrame *frame)
{
  GstBuffer *out = NULL;

  gst_stereo_follow_controls (show->owner, &frame->live.segment, GST_BUFFER_PTS (frame->live.buffer));
  Settings settings;
  gst_stereo_properties_read (show->owner, &show->settings, &settings, sizeof settings);
  GstFlowReturn flow = make_output (show, &settings, frame, &out);
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
  Settings settings;

  if (g_atomic_int_get (&show->failed))
    return GST_FLOW_NOT_NEGOTIATED;
  gst_stereo_properties_read (show->owner, &show->settings, &settings, sizeof settings);
  GstFlowReturn flow = gst_depth_overlay_sync_next (show->sync, timeout, settings.max_age, &frame);
  if (flow != GST_FLOW_OK)
    return flow;
  if (!frame.live.gap)
    return process (show, &frame);
  gst_depth_overlay_output_push_gap (show->output, frame.live.buffer);
  gst_buffer_unref (frame.live.buffer);
  return GST_FLOW_OK;
}
