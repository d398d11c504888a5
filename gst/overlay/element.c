/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-depthoverlay
 * @title: depthoverlay
 *
 * Shows the live view, its depth in colours over it, and whether the way is near, clear or unknown. It draws metadata, and
 * measures nothing.
 *
 * `sink` takes the live view, `sink_depth` the output of stereomatch: disparity or depth with its #GstStereoMeta. The output is the
 * live view in its own format where downstream takes it, in its size and at its frame rate. Pixels that are invalid, or less sure
 * than #GstDepthOverlay:min-confidence, show the live view unchanged. A grey live view becomes a colour picture wherever downstream
 * takes one; else a warning says so once, and gray replaces turbo: there brightness falls with the distance.
 *
 * **Units.** Colours run from #GstDepthOverlay:near to #GstDepthOverlay:far, in millimetres, whatever the picture shows. Without focal
 * length and baseline a warning says so once: colours run over the search range of the disparity, and the read-out is in px.
 *
 * **What a person sees at a glance.** A red frame and a red panel: something is nearer than #GstDepthOverlay:warn-distance. A
 * hatched border and the word UNKNOWN: nothing is known, and the panel says why. A green bar: clear. The panel also says how old the
 * depth is, from the capture to the moment in which the picture is shown: amber above half a second, red above
 * #GstDepthOverlay:max-age. At most three things have a box and a label: those in the driving corridor first, then the nearest.
 *
 * **Nearest surface.** The verdict is the one of stereonearest. Where stereonearest is before `sink_depth`, its metadata is drawn,
 * and it posts the messages. Else depthoverlay has a stereonearest inside, with the properties that both have, and its messages
 * `stereo-nearest` come from depthoverlay. depthoverlay itself posts `unknown` for a frame that has no depth.
 *
 * **Ground and things.** With stereoground before `sink_depth`, the picture has boxes for obstacles, a green line where the ground
 * ends that is seen to be free, and both sides of the driving corridor where its width is known. Each
 * #GstVideoRegionOfInterestMeta of the live view gets the parameter `stereo-distance`, which stereonearest describes, and a box. Of a
 * live frame with both views such regions are dropped: put the detector behind the crop of the left view.
 *
 * **The depth of a frame.** Every frame of the live view gives one output frame, with its timestamps. It shows the latest depth
 * whose running time is not later than its own, and waits for it: with a live source for the latency of the pipeline at most.
 * Colours and boxes are drawn only over a picture of their own moment: where the depth is more than #GstDepthOverlay:max-lag frames
 * older, they are left out until it has kept pace for a second, and live frames wait longer, by half of #GstDepthOverlay:max-age at
 * most. Depth older than #GstDepthOverlay:max-age is not shown, and the verdict is unknown. When depth ends before the live view, or
 * a camera is silent, the live view goes on with the verdict unknown. Where a live source gives no frame for
 * #GstDepthOverlay:max-age, the last one is shown again twice a second, unless no verdict is drawn: a picture that stands still must
 * not look live. Other elements that drop depth must send gaps in its place (`valve drop-mode=transform-to-gap`). Put a `queue`
 * before both pads where one thread feeds both, as after a tee.
 *
 * **Depth alone.** If `sink` is not linked when `sink_depth` gets its caps, the output is depth in colours alone: opaque, in the
 * size and at the rate of the depth. Pixels that are invalid or unsure are black, and pixels beyond #GstDepthOverlay:far get the
 * colour of `far`. Whoever links `sink` later gets an error.
 *
 * **Sizes.** Depth of another size is scaled to the view by the nearest neighbour; another aspect ratio is an error. Of a live
 * frame that holds both views (by its multiview-mode; without one, where half its width fits the depth and the whole does not, or
 * before any depth came a width of twice the height or more) the left view is shown, and the output is as large as that.
 *
 * ## Example
 * |[
 * gst-launch-1.0 v4l2src ! video/x-raw,width=2560,height=720 ! tee name=t \
 *     t. ! queue ! depthoverlay name=o warn-distance=1500 ! videoconvert ! autovideosink \
 *     t. ! queue ! stereomatch packing=side-by-side focal-length=700 baseline=120 ! queue ! o.sink_depth
 * ]|
 */
#include "gst/overlay/overlay.h"

#include <math.h>

#include "gst/meta/map.h"
#include "gst/video/pool.h"
#include "gst/video/properties.h"
#include "gst/video/stream.h"

GST_DEBUG_CATEGORY_STATIC (gst_depth_overlay_debug);
#define GST_CAT_DEFAULT gst_depth_overlay_debug

#define FARTHEST 1e6 /* mm */

/* A new property is a member, a row of the table, and its use below. */
typedef struct
{
  gdouble alpha, min_confidence;
  gdouble near, far; /* mm; 0 = as the metadata says */
  guint64 max_age;
  guint max_lag;
  gint colormap, curve;
  gboolean legend, text, verdict;
  /* of the stereonearest inside */
  gdouble warn_distance, percentile, max_unknown, region[4];
  gint nearest;
  guint64 message_interval;
} Settings;

/* A live frame or, where depth is alone, a depth picture. */
typedef struct
{
  GstBuffer *buffer; /* owned */
  gboolean gap;      /* the stream has nothing at that time: the buffer is empty */
  GstSegment segment;
  gint64 time; /* running time, or GST_CLOCK_STIME_NONE */
} Frame;

struct _GstDepthOverlay
{
  GstAggregator parent;

  GstAggregatorPad *live;      /* sink */
  GMutex lock;                 /* around depth_pad and its queue: a pad that is released drops its queue */
  GstAggregatorPad *depth_pad; /* sink_depth, not owned; NULL: none */
  Settings settings;           /* protected by the object lock */
  gint alone;                  /* atomic: there is no live view */
  gint stale;                  /* atomic: forget the depth before the next frame */

  /* from start to stop */
  PangoContext *display;
  GstDepthOverlayMeasure measure;
  GstDepthOverlayDepth depth; /* the latest that is not newer than the live frames so far */
  GstBuffer *last;            /* live frame, which is shown again where no other comes */
  gchar *silent;              /* which camera is; NULL: none */
  GstStereoCodes *codes;

  struct
  {
    GstVideoInfo live_info, depth_info; /* of the heads of the queues; 0 pixels wide before there were caps */
    GstDepthOverlayView view;           /* 0 pixels wide at first */
    gboolean negotiated;
    gboolean failed;                /* an error was posted that no frame can mend */
    gint depth_width, depth_height; /* of the depth that the view was chosen with; 0 = none */
    GstSegment segment;             /* of the source pad */
    gboolean have_segment;

    gboolean linked; /* there is a pad for depth */
    gboolean ended;  /* and its stream ended */
    gboolean queued; /* the depth that is held is still the head of its pad's queue */
    gint64 gap_end;  /* no depth earlier than this will come */

    Frame again;       /* the last frame; its time is that of the next one where none comes from upstream */
    gboolean repeated; /* there was such a one */

    gint64 behind_until; /* no colours before this running time */
    GstClockTime wait;   /* for depth that is late */

    /* the message that was posted last for a frame without depth */
    gchar posted[GST_DEPTH_OVERLAY_LABEL];
    gint64 posted_time;
    gboolean warned_ended, warned_unlinked, warned_disparity, warned_near_far, warned_grey;
  } run; /* zeroed at each start */
};

#define GST_TYPE_DEPTH_OVERLAY (gst_depth_overlay_get_type ())
G_DECLARE_FINAL_TYPE (GstDepthOverlay, gst_depth_overlay, GST, DEPTH_OVERLAY, GstAggregator)
G_DEFINE_TYPE (GstDepthOverlay, gst_depth_overlay, GST_TYPE_AGGREGATOR)
GST_ELEMENT_REGISTER_DEFINE (depthoverlay, "depthoverlay", GST_RANK_NONE, GST_TYPE_DEPTH_OVERLAY)

static const GEnumValue colormap_choices[] = { { GST_STEREO_COLORMAP_TURBO,
                                                   "Blue (far) over green and yellow to red (near)", "turbo" },
  { GST_STEREO_COLORMAP_VIRIDIS, "Violet (far) over green to yellow (near); also for the colour-blind", "viridis" },
  { GST_STEREO_COLORMAP_GRAY, "Black (far) to white (near)", "gray" },
  { GST_STEREO_COLORMAP_HEAT, "Black (far) over red and yellow to white (near)", "heat" }, { 0, NULL, NULL } };

static const GEnumValue curve_choices[] = {
  { GST_STEREO_CURVE_INVERSE, "Even in 1/distance, as disparity: most colours for what is near", "inverse" },
  { GST_STEREO_CURVE_LOGARITHMIC, "Even in the logarithm of the distance: each doubling takes as many colours",
      "logarithmic" },
  { GST_STEREO_CURVE_LINEAR, "Even in the distance", "linear" }, { 0, NULL, NULL }
};

/* The numbers are those of stereonearest. */
static const GEnumValue nearest_choices[] = {
  { 0, "The nearest surface, whatever it is: also the road before the bumper", "surface" },
  { 1, "What stands on the ground: needs stereoground before sink_depth", "obstacle" }, { 0, NULL, NULL }
};

#define ROW(name_, kind_, flags_, member) \
  .name = name_, .kind = GST_STEREO_##kind_, .flags = GST_STEREO_##flags_, .offset = G_STRUCT_OFFSET (Settings, member)
#define AS_NEAREST "As of stereonearest; without effect behind one"

static const GstStereoProperty properties[] = {
  { ROW ("alpha", DOUBLE, CONTROLLED, alpha), .max = 1, .initial = 0.5,
      .blurb = "Opacity of the colours: 0 = only the live view, 1 = only depth. Depth alone is opaque" },
  { ROW ("colormap", ENUM, CONTROLLED, colormap), .type = "GstStereoColormap", .choices = colormap_choices,
      .initial = GST_STEREO_COLORMAP_TURBO, .blurb = "Colour map, from far to near" },
  { ROW ("near", DOUBLE, CONTROLLED, near), .max = FARTHEST,
      .blurb = "Distance in millimetres at and below which pixels get the near end of the colour map; must be below "
               "far; 0 = the nearest distance that the search of stereomatch can find" },
  { ROW ("far", DOUBLE, CONTROLLED, far), .max = FARTHEST,
      .blurb = "Distance in millimetres that gets the far end of the colour map; must be above near; 0 = that of "
               "a disparity of 2 px, or of a larger min-disparity. Beyond it the live view stays as it is" },
  { ROW ("scale", ENUM, CONTROLLED, curve), .type = "GstStereoCurve", .choices = curve_choices,
      .initial = GST_STEREO_CURVE_INVERSE,
      .blurb = "How colours are spread over the distances from near to far. Where distances are not known, colours are "
               "even in the disparity" },
  { ROW ("min-confidence", DOUBLE, CONTROLLED, min_confidence), .max = 1, .initial = 0.01,
      .blurb = "Pixels with a lower confidence (0..1) show the live view and count as not seen; "
               "0 = use every valid pixel" },
  { ROW ("legend", BOOLEAN, CONTROLLED, legend), .initial = TRUE,
      .blurb = "Draw a legend of the colours and their distances" },
  { ROW ("text", BOOLEAN, CONTROLLED, text), .initial = TRUE,
      .blurb = "Draw the verdict, the nearest distance, its marker and warnings, boxes, and say what is not known" },
  { ROW ("verdict", BOOLEAN, CONTROLLED, verdict), .initial = TRUE,
      .blurb = "With text, draw the verdict: its panel, and the border of near and unknown. FALSE is for a program that shows "
               "the verdict itself, and leaves boxes, labels and the marker" },
  { ROW ("max-age", UINT64, PLAYING, max_age), .initial = GST_SECOND,
      .blurb = "Maximum age of the depth in nanoseconds, from its capture (without timestamps: its arrival) to "
               "now, or where the pipeline is not live to the time of the frame. Older depth is not shown, and "
               "the verdict is unknown" },
  { ROW ("max-lag", UINT, PLAYING, max_lag), .initial = 2,
      .blurb = "Colours and boxes are left out where the depth is more frames of the live view older than the "
               "picture, until it has kept pace for a second" },
  { ROW ("warn-distance", DOUBLE, CONTROLLED, warn_distance), .max = FARTHEST,
      .blurb = "The picture and the message warn when the nearest surface is nearer than this, "
               "in millimetres; 0 = never. " AS_NEAREST },
  { ROW ("nearest", ENUM, CONTROLLED, nearest), .type = "GstDepthOverlayNearestOf", .choices = nearest_choices,
      .blurb = "What the nearest distance, its warning and stereo-nearest are about. " AS_NEAREST },
  { ROW ("nearest-percentile", DOUBLE, CONTROLLED, percentile), .max = 100, .initial = 0.5, .blurb = AS_NEAREST },
  { ROW ("max-unknown", DOUBLE, CONTROLLED, max_unknown), .max = 1, .initial = 0.5, .blurb = AS_NEAREST },
  { ROW ("region", REGION, PLAYING, region),
      .blurb = "Where to look for the nearest surface: <x, y, width, height> as fractions (0..1) of the picture. With text "
               "a thin frame shows it. " AS_NEAREST },
  { ROW ("message-interval", UINT64, PLAYING, message_interval), .initial = 100 * GST_MSECOND, .blurb = AS_NEAREST },
  { .name = NULL },
};

static gboolean
is_alone (GstDepthOverlay *self)
{
  return g_atomic_int_get (&self->alone);
}

static void
warn_once (GstDepthOverlay *self, gboolean *warned, const gchar *text)
{
  if (!*warned)
    GST_ELEMENT_WARNING (self, STREAM, FAILED, ("%s", text), (NULL));
  *warned = TRUE;
}

/* ---- caps of the output ------------------------------------------------------------------ */

/* Chooses which part of frames of @live is shown, and negotiates caps for it. Without a live view, @live is the depth. An error
 * was posted unless the flow is OK or FLUSHING. */
static GstFlowReturn
prepare_output (GstDepthOverlay *self, const GstVideoInfo *live)
{
  gint width = self->depth.buffer ? GST_VIDEO_INFO_WIDTH (&self->depth.info) : self->run.depth_width;
  gint height = self->depth.buffer ? GST_VIDEO_INFO_HEIGHT (&self->depth.info) : self->run.depth_height;
  GstDepthOverlayView *view = &self->run.view;
  g_autofree gchar *message = NULL;

  if (!self->run.negotiated || width != self->run.depth_width || height != self->run.depth_height ||
      !gst_video_info_is_equal (live, &view->live)) {
    self->run.depth_width = width;
    self->run.depth_height = height;
    self->run.negotiated = FALSE;
    if (!gst_depth_overlay_view_choose (view, live, width, height, self->run.linked, &message)) {
      GST_ELEMENT_ERROR (self, CORE, NEGOTIATION, ("%s", message), (NULL));
      return GST_FLOW_NOT_NEGOTIATED;
    }
    GST_DEBUG_OBJECT (self, "shows %dx%d pixels at %d,%d of live frames of %dx%d, with depth of %dx%d (0x0: none yet)",
        GST_VIDEO_INFO_WIDTH (&view->info), GST_VIDEO_INFO_HEIGHT (&view->info), view->x, view->y,
        GST_VIDEO_INFO_WIDTH (live), GST_VIDEO_INFO_HEIGHT (live), width, height);
  }
  if (self->run.negotiated || (gst_aggregator_negotiate (GST_AGGREGATOR (self)) && self->run.negotiated))
    return GST_FLOW_OK;
  if (GST_PAD_IS_FLUSHING (GST_AGGREGATOR_SRC_PAD (self)))
    return GST_FLOW_FLUSHING;
  GST_ELEMENT_ERROR (self, CORE, NEGOTIATION,
      ("What is linked downstream takes %dx%d pixels in no format that depthoverlay can make.",
          GST_VIDEO_INFO_WIDTH (&view->info), GST_VIDEO_INFO_HEIGHT (&view->info)),
      (NULL));
  return GST_FLOW_NOT_NEGOTIATED;
}

static GstFlowReturn
gst_depth_overlay_update_src_caps (GstAggregator *aggregator, GstCaps *caps, GstCaps **result)
{
  GstDepthOverlay *self = GST_DEPTH_OVERLAY (aggregator);

  if (!GST_VIDEO_INFO_WIDTH (&self->run.view.info))
    return GST_AGGREGATOR_FLOW_NEED_DATA;
  g_autoptr (GstCaps) ours = gst_depth_overlay_view_caps (&self->run.view);
  *result = gst_caps_intersect_full (ours, caps, GST_CAPS_INTERSECT_FIRST);
  return gst_caps_is_empty (*result) ? GST_FLOW_NOT_NEGOTIATED : GST_FLOW_OK;
}

static gboolean
gst_depth_overlay_negotiated_src_caps (GstAggregator *aggregator, GstCaps *caps)
{
  GstDepthOverlay *self = GST_DEPTH_OVERLAY (aggregator);

  GST_DEBUG_OBJECT (self, "negotiated %" GST_PTR_FORMAT, caps);
  self->run.negotiated = gst_depth_overlay_view_set_caps (&self->run.view, caps);
  return self->run.negotiated;
}

static gboolean
gst_depth_overlay_decide_allocation (GstAggregator *aggregator, GstQuery *query)
{
  return gst_stereo_pool_decide (query, NULL);
}

/* ---- which frames belong together -------------------------------------------------------- */

/*
 * A live frame goes with the latest depth whose running time is not later than its own. Where one of the two has no timestamp, the
 * order of arrival decides. The live frame waits for the next depth, which may still be early enough; it does not wait where the
 * depth that is there lasts longer than live frames do, because no other begins before its end.
 */

/* Of a live frame by its caps, ns; 0 = not known. */
static GstClockTime
live_duration (GstDepthOverlay *self)
{
  const GstVideoInfo *info = &self->run.live_info;

  return info->fps_n <= 0 ? 0 : gst_util_uint64_scale_int (GST_SECOND, info->fps_d, info->fps_n);
}

static void
forget_depth (GstDepthOverlay *self)
{
  gst_clear_buffer (&self->depth.buffer);
  gst_clear_buffer (&self->measure.depth);
  /* what was near before is not held against what comes now */
  if (self->measure.inner)
    GST_BASE_TRANSFORM_GET_CLASS (self->measure.inner)
        ->sink_event (GST_BASE_TRANSFORM (self->measure.inner), gst_event_new_flush_stop (TRUE));
  self->depth.time = self->run.gap_end = GST_CLOCK_STIME_NONE;
  self->run.queued = FALSE;
}

static gboolean
is_gap (GstBuffer *buffer)
{
  return GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_GAP) && gst_buffer_get_size (buffer) == 0;
}

static void
hold (GstDepthOverlay *self, GstBuffer *buffer, gint64 time, const GstSegment *segment)
{
  gst_buffer_replace (&self->depth.buffer, buffer);
  self->depth.info = self->run.depth_info;
  self->depth.segment = *segment;
  self->depth.time = time;
  self->depth.arrival = gst_element_get_current_running_time (GST_ELEMENT (self));
  self->depth.fresh = TRUE;
}

static GstSegment
segment_of (GstAggregatorPad *pad)
{
  GST_OBJECT_LOCK (pad);
  GstSegment segment = pad->segment;
  GST_OBJECT_UNLOCK (pad);
  return segment;
}

/* Takes depth as long as it is not later than @time. GST_FLOW_OK: what is held goes with @time. With the lock. */
static GstFlowReturn
find_depth (GstDepthOverlay *self, gint64 time, gboolean timeout)
{
  gint64 frame = (gint64) live_duration (self);
  gboolean untimed = time == GST_CLOCK_STIME_NONE;
  GstAggregatorPad *pad = self->depth_pad;

  while (!self->depth.buffer || untimed || self->depth.time != time) {
    g_autoptr (GstBuffer) buffer = gst_aggregator_pad_peek_buffer (pad);

    if (!buffer && !timeout && !gst_aggregator_pad_is_eos (pad) && (untimed || time >= self->run.gap_end)) {
      GST_LOG_OBJECT (self, "frame of %" GST_STIME_FORMAT " waits: its depth may still come", GST_STIME_ARGS (time));
      return GST_AGGREGATOR_FLOW_NEED_DATA;
    }
    if (!buffer)
      return GST_FLOW_OK;
    GstSegment segment = segment_of (pad);
    gboolean gap = is_gap (buffer), known = self->run.queued;
    gint64 start = gst_stereo_running_time (&segment, GST_BUFFER_PTS (buffer));
    gint64 duration = GST_BUFFER_DURATION_IS_VALID (buffer) ?
        (gint64) MIN (GST_BUFFER_DURATION (buffer), G_MAXINT64 / 4) :
        1;
    if (!untimed && start != GST_CLOCK_STIME_NONE && start > time)
      return GST_FLOW_OK;
    /* It stays in the queue where it lasts longer than live frames do, as behind a videorate, and into the next one: the base class
     * waits for a pad whose queue is empty. Timestamps may be off by half a live frame. */
    self->run.queued = frame > 0 && !untimed && !gap && start != GST_CLOCK_STIME_NONE && segment.rate == 1.0 &&
        duration > frame + frame / 2 && time + frame / 2 < start + duration;
    if (!self->run.queued)
      gst_aggregator_pad_drop_buffer (pad);
    /* a frame whose duration is not known was dropped: there is none at its time */
    if (gap && start != GST_CLOCK_STIME_NONE)
      self->run.gap_end = start + duration;
    else if (!gap && !known)
      hold (self, buffer, start == GST_CLOCK_STIME_NONE ? time : start, &segment);
    if (self->run.queued || (!gap && (untimed || start == GST_CLOCK_STIME_NONE)))
      return GST_FLOW_OK;
  }
  return GST_FLOW_OK;
}

/* Takes the next live frame from its pad, once its depth is known; @timeout: stop waiting. A gap does not wait. Without a live view:
 * the next depth, which is then the frame, too. With the lock. GST_FLOW_NOT_NEGOTIATED: it came before any caps. */
static GstFlowReturn
take_frame (GstDepthOverlay *self, gboolean timeout, Frame *frame)
{
  gboolean alone = is_alone (self);
  GstAggregatorPad *pad = alone ? self->depth_pad : self->live;
  GstFlowReturn flow = GST_FLOW_OK;

  self->run.linked = self->depth_pad != NULL;
  frame->buffer = pad ? gst_aggregator_pad_peek_buffer (pad) : NULL;
  if (!frame->buffer)
    return !pad || gst_aggregator_pad_is_eos (pad) ? GST_FLOW_EOS : GST_AGGREGATOR_FLOW_NEED_DATA;
  frame->gap = is_gap (frame->buffer);
  frame->segment = segment_of (pad);
  frame->time = gst_stereo_running_time (&frame->segment, GST_BUFFER_PTS (frame->buffer));
  if (!frame->gap && !GST_VIDEO_INFO_WIDTH (alone ? &self->run.depth_info : &self->run.live_info))
    flow = GST_FLOW_NOT_NEGOTIATED;
  else if (!alone && self->depth_pad) /* depth that a gap would leave in the queue would hold up what is behind it */
    flow = find_depth (self, frame->time, timeout || frame->gap);
  self->run.ended = self->run.linked && gst_aggregator_pad_is_eos (self->depth_pad);
  if (flow == GST_FLOW_OK)
    gst_aggregator_pad_drop_buffer (pad);
  if (flow == GST_FLOW_OK && alone && !frame->gap)
    hold (self, frame->buffer, frame->time, &frame->segment);
  if (flow != GST_FLOW_OK)
    gst_clear_buffer (&frame->buffer);
  return flow;
}

/* ---- the age of the depth ---------------------------------------------------------------- */

/* Now, or when the picture is shown, whichever is later, minus the capture of the depth; GST_CLOCK_TIME_NONE: not known. */
static GstClockTime
age_of (GstDepthOverlay *self, gint64 time)
{
  const GstDepthOverlayDepth *depth = &self->depth;
  GstClockTime now = gst_element_get_current_running_time (GST_ELEMENT (self));
  GstClockTime latency = gst_aggregator_get_latency (GST_AGGREGATOR (self));

  if (!depth->buffer || !GST_BUFFER_PTS_IS_VALID (depth->buffer) || depth->time == GST_CLOCK_STIME_NONE ||
      !GST_CLOCK_TIME_IS_VALID (now) || !GST_CLOCK_TIME_IS_VALID (latency))
    return GST_CLOCK_TIME_NONE;
  gint64 shown = MAX ((gint64) now, time == GST_CLOCK_STIME_NONE ? 0 : time + (gint64) latency);
  return shown > depth->time ? (GstClockTime) (shown - depth->time) : 0;
}

/* The age that max-age limits. Without an end, where depth is later than the frame because the live stream went back. */
static guint64
limited_age (GstDepthOverlay *self, gint64 time)
{
  const GstDepthOverlayDepth *depth = &self->depth;
  GstClockTime now = gst_element_get_current_running_time (GST_ELEMENT (self));

  if (time != GST_CLOCK_STIME_NONE && depth->time != GST_CLOCK_STIME_NONE)
    return MAX (GST_CLOCK_TIME_IS_VALID (self->measure.age) ? self->measure.age : 0, (guint64) (time - depth->time));
  /* what was not shown before is new, however late it comes */
  if (depth->fresh || !GST_CLOCK_TIME_IS_VALID (now) || !GST_CLOCK_TIME_IS_VALID (depth->arrival))
    return 0;
  return now > depth->arrival ? now - depth->arrival : 0;
}

/* Why there is no depth for a frame; NULL: there is. */
static const gchar *
lack_of_depth (GstDepthOverlay *self, const Settings *settings, gint64 time)
{
  if (!self->run.linked) {
    warn_once (self, &self->run.warned_unlinked,
        "sink_depth is not linked: the live view is shown without depth. Link the output of stereomatch to it.");
    return "no depth linked";
  }
  if (self->silent)
    return self->silent;
  if (self->run.repeated)
    return "no picture comes from the camera";
  if (self->depth.buffer && limited_age (self, time) <= settings->max_age)
    return NULL;
  if (!self->run.ended)
    return self->depth.buffer ? "depth is too old" : "no depth yet";
  warn_once (
      self, &self->run.warned_ended, "The depth on sink_depth ended before the live view, which goes on without it.");
  return "depth ended";
}

/* A frame's time to wait for its depth beyond what upstream announces, half of which is left for drawing, and what the depth is
 * late. */
static void
announce_latency (GstDepthOverlay *self)
{
  GstClockTime latency = live_duration (self) + self->run.wait;

  GST_DEBUG_OBJECT (self, "adds a latency of %" GST_TIME_FORMAT, GST_TIME_ARGS (latency));
  gst_aggregator_set_latency (GST_AGGREGATOR (self), latency, latency);
}

/* Whether the depth is of the moment of a frame: colours over another moment would trail behind what moves. Where it is not,
 * later frames of a live stream wait longer for theirs, within half of max-age. */
static gboolean
is_in_step (GstDepthOverlay *self, const Settings *settings, gint64 time)
{
  gint64 depth = self->depth.time, frame = (gint64) live_duration (self);
  gint64 second = (gint64) GST_SECOND;

  if (time == GST_CLOCK_STIME_NONE || depth == GST_CLOCK_STIME_NONE || frame == 0)
    return TRUE;
  if ((time - depth + frame / 2) / frame > (gint64) settings->max_lag) {
    if (self->run.behind_until < time && self->run.wait < settings->max_age / 2 &&
        GST_CLOCK_TIME_IS_VALID (gst_aggregator_get_latency (GST_AGGREGATOR (self)))) {
      self->run.wait = MIN (self->run.wait + (guint64) (time - depth), settings->max_age / 2);
      announce_latency (self);
    }
    self->run.behind_until = time + second;
  }
  return time >= self->run.behind_until || self->run.behind_until - time > second;
}

/* ---- reading the depth ------------------------------------------------------------------- */

/* Checks the depth that is held, which will be drawn over the view, maps it and measures in it. @fault: why it cannot be relied on, or
 * NULL; g_free it. FALSE after an error was posted that concerns all later frames, too. */
static gboolean
read_depth (GstDepthOverlay *self, const Settings *settings, Frame *frame, GstDepthOverlayContent *content,
    GstStereoDepthMap *map, gchar **fault)
{
  const GstDepthOverlayDepth *depth = &self->depth;
  const GstVideoInfo *info = &depth->info, *view = &self->run.view.info;
  const GstStereoMeta *meta = gst_buffer_get_stereo_meta (depth->buffer);
  g_autofree gchar *problem = gst_stereo_depth_problem (info, meta, "depthoverlay");

  if (problem) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT, ("What sink_depth gets: %s", problem), (NULL));
    return FALSE;
  }
  if (!gst_depth_overlay_view_fits (&self->run.view, info)) {
    GST_ELEMENT_ERROR (self, CORE, NEGOTIATION,
        ("The live view is %dx%d and the depth %dx%d: their aspect ratios differ, so one does not fit over the other. "
         "Give sink the left view that stereomatch got, scaled if need be but not cropped. If it holds both views, say so in "
         "the multiview-mode of its caps.",
            GST_VIDEO_INFO_WIDTH (view), GST_VIDEO_INFO_HEIGHT (view), GST_VIDEO_INFO_WIDTH (info),
            GST_VIDEO_INFO_HEIGHT (info)),
        (NULL));
    return FALSE;
  }
  if (!gst_stereo_depth_map (map, GST_ELEMENT (self), info, depth->buffer))
    return FALSE;
  map->view.min_confidence = gst_stereo_depth_least_confidence (settings->min_confidence);
  if (gst_stereo_codes_update (
          self->codes, meta, settings->near, settings->far, (GstStereoCurve) settings->curve, is_alone (self)))
    GST_DEBUG_OBJECT (self, "colours from %g to %g mm (or px)", self->codes->scale.near, self->codes->scale.far);
  content->scale = self->codes->scale;
  if (!content->scale.metric)
    warn_once (self, &self->run.warned_disparity,
        "Distances are not known: the disparity on sink_depth comes without focal length and baseline. Colours follow "
        "the disparity, the read-out is in px, and near, far and warn-distance are without effect. Set focal-length "
        "(px) and baseline (mm) of stereomatch.");
  if (settings->far > 0 && settings->near >= settings->far && !self->run.warned_near_far) {
    self->run.warned_near_far = TRUE;
    GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS,
        ("near=%g mm is not below far=%g mm: far is taken as %g mm. Set near below far.", settings->near, settings->far,
            settings->near + 1),
        (NULL));
  }
  content->depth_width = GST_VIDEO_INFO_WIDTH (info);
  content->depth_height = GST_VIDEO_INFO_HEIGHT (info);
  if (!gst_depth_overlay_measure_run (
          &self->measure, depth, is_alone (self) || self->run.view.cropped ? NULL : frame->buffer, view))
    return FALSE;
  GstStereoFoundNearest *nearest = &content->nearest;
  if (!gst_stereo_found_nearest_read (
          nearest, self->measure.depth, content->depth_width, content->depth_height, &problem)) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("The metadata of stereonearest cannot be right: %s. Look at what made the metadata.",
            problem ? problem : "there is none"),
        (NULL));
    return FALSE;
  }
  nearest->valid &= !isnan (content->scale.metric ? nearest->distance : nearest->disparity);
  content->depth = self->measure.depth;
  content->reason = *fault = gst_stereo_health_get_reason (meta->health);
  /* whatever else the metadata says */
  if (*fault) {
    content->depth = NULL;
    nearest->state = GST_STEREO_NEAREST_STATE_UNKNOWN;
    nearest->valid = nearest->warning = FALSE;
  }
  return TRUE;
}

/* For a frame without depth: at once where the reason is another one, else every message-interval. */
static void
post_unknown (GstDepthOverlay *self, const Settings *settings, const Frame *frame, const gchar *reason)
{
  gint64 last = self->run.posted_time;
  gboolean due = frame->time == GST_CLOCK_STIME_NONE || last == GST_CLOCK_STIME_NONE || frame->time < last ||
      (guint64) (frame->time - last) >= settings->message_interval;

  if (!due && strcmp (reason, self->run.posted) == 0)
    return;
  g_strlcpy (self->run.posted, reason, sizeof self->run.posted);
  self->run.posted_time = frame->time;
  GstStructure *message = gst_structure_new ("stereo-nearest", "state", G_TYPE_STRING, "unknown", "reason",
      G_TYPE_STRING, reason, "coverage", G_TYPE_DOUBLE, 0.0, "support", G_TYPE_INT, 0, "valid", G_TYPE_BOOLEAN, FALSE,
      "warning", G_TYPE_BOOLEAN, FALSE, NULL);
  if (GST_CLOCK_TIME_IS_VALID (self->measure.age))
    gst_structure_set (message, "age", G_TYPE_UINT64, self->measure.age, NULL);
  gst_stereo_add_times (message, frame->buffer, &frame->segment);
  gst_element_post_message (GST_ELEMENT (self), gst_message_new_element (GST_OBJECT (self), message));
}

/* ---- drawing ----------------------------------------------------------------------------- */

/* Draws @content over @live, and the colours of @depth where it is not NULL, into a new buffer. Where depth is alone, @live is the
 * depth. An error was posted when the flow is neither OK nor FLUSHING. */
static GstFlowReturn
draw (GstDepthOverlay *self, const GstDepthOverlayContent *content, const GstStereoDepthView *depth, gdouble alpha,
    GstBuffer *live, GstBuffer **buffer)
{
  const GstDepthOverlayView *view = &self->run.view;
  gboolean alone = is_alone (self), same_format = view->live.finfo == view->info.finfo;
  g_autoptr (GstBufferPool) pool = gst_aggregator_get_buffer_pool (GST_AGGREGATOR (self));
  GstFlowReturn flow = pool && gst_buffer_pool_set_active (pool, TRUE) ?
      gst_buffer_pool_acquire_buffer (pool, buffer, NULL) :
      GST_FLOW_ERROR;
  GstVideoFrame in, out;

  if (flow == GST_FLOW_ERROR)
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
        ("There is no memory for an output buffer of %dx%d pixels.", view->info.width, view->info.height), (NULL));
  if (flow != GST_FLOW_OK)
    return flow;
  gboolean read = gst_stereo_map (&in, &view->live, live, GST_MAP_READ);
  if (!read || !gst_stereo_map (&out, &view->info, *buffer, GST_MAP_READWRITE)) {
    const GstVideoInfo *info = read ? &view->info : &view->live;

    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("A buffer of %" G_GSIZE_FORMAT " bytes does not hold the %dx%d %s frame that its caps announce.",
            gst_buffer_get_size (read ? *buffer : live), GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info),
            GST_VIDEO_INFO_NAME (info)),
        (NULL));
    if (read)
      gst_video_frame_unmap (&in);
    gst_clear_buffer (buffer);
    return GST_FLOW_ERROR;
  }
  gst_stereo_pool_clear_padding (&out);
  if (alone) /* the byte of RGBx that is no component, too */
    memset (GST_VIDEO_FRAME_PLANE_DATA (&out, 0), 0, gst_stereo_map_room (&out, 0));
  else
    gst_video_converter_frame (view->converter, &in, &out);
  if (depth)
    gst_stereo_codes_blend (self->codes, depth, content->colormap, alpha, alone, &out);
  gst_depth_overlay_draw (self->display, content, &out);
  gst_video_frame_unmap (&out);
  gst_video_frame_unmap (&in);
  gst_buffer_copy_into (*buffer, live, GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS, 0, (gsize) -1);
  gst_stereo_copy_metas (*buffer, live, alone || !view->cropped, !alone && same_format);
  return GST_FLOW_OK;
}

/* ---- a frame ----------------------------------------------------------------------------- */

static GstFlowReturn
make_output (GstDepthOverlay *self, const Settings *settings, Frame *frame, GstBuffer **out)
{
  gboolean alone = is_alone (self);
  const GstVideoInfo *info = &self->run.view.info;
  gboolean grey = GST_VIDEO_FORMAT_INFO_IS_GRAY (info->finfo) && settings->colormap == GST_STEREO_COLORMAP_TURBO;
  const GstStereoDepthView *colors = NULL;
  GstStereoDepthMap map = { 0 };
  g_autofree gchar *fault = NULL;
  GstDepthOverlayContent content = { .panel = settings->text && settings->verdict,
    .colormap = grey ? GST_STEREO_COLORMAP_GRAY : (GstStereoColormap) settings->colormap,
    .max_age = settings->max_age,
    .age = age_of (self, frame->time) };

  if (grey)
    warn_once (self, &self->run.warned_grey,
        "What is linked downstream takes grey pictures only: colormap=gray replaces turbo, near is light and far is dark. Put "
        "videoconvert behind depthoverlay, or let downstream take a colour format.");
  self->measure.age = content.age;
  const gchar *lack = alone ? NULL : lack_of_depth (self, settings, frame->time);
  if (!alone && !self->run.view.cropped && gst_depth_overlay_measure_has_regions (frame->buffer))
    frame->buffer = gst_buffer_make_writable (frame->buffer);
  if (lack) {
    GST_LOG_OBJECT (
        self, "live frame of %" GST_STIME_FORMAT " goes without depth: %s", GST_STIME_ARGS (frame->time), lack);
    content.reason = lack;
    post_unknown (self, settings, frame, lack);
    if (gst_buffer_is_writable (frame->buffer))
      gst_depth_overlay_measure_nothing (frame->buffer);
  } else if (read_depth (self, settings, frame, &content, &map, &fault)) {
    self->depth.fresh = FALSE;
    *self->run.posted = 0;
    gboolean in_step = is_in_step (self, settings, frame->time);
    content.placed = in_step && settings->text;
    if (in_step && (alone || settings->alpha > 0))
      colors = &map.view;
    if (!in_step)
      content.note = "too late for colours";
  } else {
    gst_stereo_depth_unmap (&map);
    return GST_FLOW_NOT_NEGOTIATED;
  }
  content.legend = settings->legend && self->codes->known;
  content.scale = self->codes->scale;
  GstFlowReturn flow = draw (self, &content, colors, settings->alpha, alone ? self->measure.depth : frame->buffer, out);
  gst_stereo_depth_unmap (&map);
  return flow;
}

/* A picture that stands still must not look like one that is live: without a live frame for max-age, the last one is shown again
 * twice a second, and the verdict is unknown. */
static void
repeat (GstDepthOverlay *self, Frame *frame)
{
  *frame = self->run.again;
  frame->buffer = gst_buffer_copy (self->last);
  GST_BUFFER_PTS (frame->buffer) = gst_segment_position_from_running_time (
      &frame->segment, GST_FORMAT_TIME, (guint64) frame->time);
  self->run.again.time += (gint64) (GST_SECOND / 2);
}

/* Only frames that were drawn are kept: GStreamer's copy believes what a GstVideoMeta says. Without a verdict, a picture that is shown
 * again would look live. */
static void
keep (GstDepthOverlay *self, const Settings *settings, const Frame *frame)
{
  gboolean shown_again = settings->text && settings->verdict && frame->time != GST_CLOCK_STIME_NONE;

  gst_buffer_replace (&self->last, shown_again ? frame->buffer : NULL);
  self->run.again = *frame;
  self->run.again.time += (gint64) MIN (settings->max_age, G_MAXINT64 / 4);
}

static GstFlowReturn
gst_depth_overlay_aggregate (GstAggregator *aggregator, gboolean timeout)
{
  GstDepthOverlay *self = GST_DEPTH_OVERLAY (aggregator);
  Frame frame;
  GstBuffer *out = NULL;
  Settings settings;

  if (self->run.failed)
    return GST_FLOW_NOT_NEGOTIATED;
  if (g_atomic_int_compare_and_exchange (&self->stale, TRUE, FALSE))
    forget_depth (self);
  g_mutex_lock (&self->lock);
  GstFlowReturn flow = take_frame (self, timeout, &frame);
  g_mutex_unlock (&self->lock);
  if (flow == GST_FLOW_NOT_NEGOTIATED)
    GST_ELEMENT_ERROR (
        self, CORE, NEGOTIATION, ("%s got a frame before any caps.", is_alone (self) ? "sink_depth" : "sink"), (NULL));
  gboolean again = timeout && flow == GST_AGGREGATOR_FLOW_NEED_DATA && self->last && !is_alone (self) &&
      !gst_aggregator_pad_has_buffer (self->live);
  if (again)
    repeat (self, &frame);
  else if (flow != GST_FLOW_OK)
    return flow;
  if (frame.gap) {
    if (self->run.negotiated && self->run.have_segment && GST_BUFFER_PTS_IS_VALID (frame.buffer))
      gst_pad_push_event (GST_AGGREGATOR_SRC_PAD (self),
          gst_event_new_gap (GST_BUFFER_PTS (frame.buffer), GST_BUFFER_DURATION (frame.buffer)));
    gst_buffer_unref (frame.buffer);
    return GST_FLOW_OK;
  }
  gst_stereo_follow_controls (self, &frame.segment, GST_BUFFER_PTS (frame.buffer));
  gst_stereo_properties_read (self, &self->settings, &settings, sizeof settings);
  self->run.repeated = again;
  flow = prepare_output (self, is_alone (self) ? &self->depth.info : &self->run.live_info);
  if (flow == GST_FLOW_OK)
    flow = make_output (self, &settings, &frame, &out);
  self->run.failed = flow == GST_FLOW_NOT_NEGOTIATED;
  if (flow == GST_FLOW_OK && !again && !is_alone (self))
    keep (self, &settings, &frame);
  gst_buffer_unref (frame.buffer);
  return flow == GST_FLOW_OK ?
      gst_stereo_push (aggregator, &self->run.segment, &self->run.have_segment, &frame.segment, out) :
      flow;
}

/* With a live source: when to stop waiting for the depth of the next frame, or for a frame. Half of the latency that was announced, a frame, is
 * left for drawing. */
static GstClockTime
gst_depth_overlay_get_next_time (GstAggregator *aggregator)
{
  GstDepthOverlay *self = GST_DEPTH_OVERLAY (aggregator);
  GstAggregatorPad *live = self->live;
  g_autoptr (GstBuffer) buffer = gst_aggregator_pad_peek_buffer (live);

  if (!buffer)
    return self->last ? (GstClockTime) self->run.again.time : GST_CLOCK_TIME_NONE;
  gint64 time = gst_stereo_pad_running_time (live, buffer);
  if (time == GST_CLOCK_STIME_NONE)
    return 0;
  return (GstClockTime) MAX (0, time - (gint64) (live_duration (self) / 2));
}

/* ---- pads, events, queries --------------------------------------------------------------- */

static GstAggregatorPad *
new_pad (GstPadTemplate *template)
{
  return g_object_new (GST_TYPE_AGGREGATOR_PAD, "name", GST_PAD_TEMPLATE_NAME_TEMPLATE (template), "direction",
      GST_PAD_SINK, "template", template, NULL);
}

static GstAggregatorPad *
gst_depth_overlay_create_new_pad (
    GstAggregator *aggregator, GstPadTemplate *template, const gchar *name, const GstCaps *caps)
{
  GstDepthOverlay *self = GST_DEPTH_OVERLAY (aggregator);
  GstAggregatorPad *pad = NULL;

  if (GST_PAD_TEMPLATE_PRESENCE (template) != GST_PAD_REQUEST)
    return NULL;
  g_mutex_lock (&self->lock);
  if (!self->depth_pad)
    pad = self->depth_pad = new_pad (template);
  g_mutex_unlock (&self->lock);
  if (!pad)
    GST_WARNING_OBJECT (self, "sink_depth is there already");
  return pad;
}

static void
gst_depth_overlay_release_pad (GstElement *element, GstPad *pad)
{
  GstDepthOverlay *self = GST_DEPTH_OVERLAY (element);

  /* after this the base class drops the pad's queue without taking the pad's lock: the task must not be in there */
  g_mutex_lock (&self->lock);
  if (GST_PAD (self->depth_pad) == pad)
    self->depth_pad = NULL;
  g_mutex_unlock (&self->lock);
  g_atomic_int_set (&self->stale, TRUE);
  GST_ELEMENT_CLASS (gst_depth_overlay_parent_class)->release_pad (element, pad);
}

/* Depth is alone: nothing will come on sink. The base class waits for every pad that has not ended, and for every pad to be
 * flushed. */
static void
stand_in_for_live (GstDepthOverlay *self, GstEvent *event)
{
  GstPad *live = GST_PAD (self->live);

  if (GST_EVENT_TYPE (event) == GST_EVENT_CAPS) {
    GST_INFO_OBJECT (self, "sink is not linked: the output is depth alone");
    gst_pad_send_event (live, gst_event_new_stream_start ("no live view"));
  } else {
    gst_pad_send_event (live, gst_event_ref (event));
  }
  if (GST_EVENT_TYPE (event) != GST_EVENT_FLUSH_START)
    gst_pad_send_event (live, gst_event_new_eos ());
  g_atomic_int_set (&self->alone, TRUE);
}

/* In upstream's thread, before the event is queued: a pad that is unlinked now stays unlinked. */
static GstFlowReturn
gst_depth_overlay_sink_event_pre_queue (GstAggregator *aggregator, GstAggregatorPad *pad, GstEvent *event)
{
  GstDepthOverlay *self = GST_DEPTH_OVERLAY (aggregator);
  gboolean linked = gst_pad_is_linked (GST_PAD (self->live)), alone = is_alone (self);
  GstEventType type = GST_EVENT_TYPE (event);

  if (pad != self->live &&
      ((type == GST_EVENT_CAPS && !linked && !alone) ||
          (alone && (type == GST_EVENT_FLUSH_START || type == GST_EVENT_FLUSH_STOP))))
    stand_in_for_live (self, event);
  if (pad == self->live && type == GST_EVENT_STREAM_START && linked && alone) {
    GST_ELEMENT_ERROR (self, CORE, PAD,
        ("sink was linked after depth was shown alone. Link sink before the depth starts, or stop and start again."),
        (NULL));
    gst_event_unref (event);
    return GST_FLOW_ERROR;
  }
  return GST_AGGREGATOR_CLASS (gst_depth_overlay_parent_class)->sink_event_pre_queue (aggregator, pad, event);
}

static gboolean
gst_depth_overlay_sink_event (GstAggregator *aggregator, GstAggregatorPad *pad, GstEvent *event)
{
  /* the base class forwards the others */
  static const GstEventType kept[] = { GST_EVENT_STREAM_START, GST_EVENT_FLUSH_START, GST_EVENT_FLUSH_STOP,
    GST_EVENT_SEGMENT, GST_EVENT_GAP, GST_EVENT_EOS };
  GstDepthOverlay *self = GST_DEPTH_OVERLAY (aggregator);

  if (GST_EVENT_TYPE (event) == GST_EVENT_CAPS) {
    GstCaps *caps;

    gst_event_parse_caps (event, &caps);
    GST_DEBUG_OBJECT (pad, "gets %" GST_PTR_FORMAT, caps);
    gboolean taken = gst_video_info_from_caps (pad == self->live ? &self->run.live_info : &self->run.depth_info, caps);
    if (!taken)
      GST_ELEMENT_ERROR (
          self, CORE, NEGOTIATION, ("%s cannot take these caps.", GST_PAD_NAME (pad)), ("%" GST_PTR_FORMAT, caps));
    else if (pad == self->live)
      announce_latency (self);
    gst_event_unref (event);
    return taken;
  }
  /* stereomatch says which camera is silent without a frame */
  if (pad != self->live && gst_event_has_name (event, "GstStereoHealth")) {
    const GValue *flags = gst_structure_get_value (gst_event_get_structure (event), "health");
    const gchar *reason = gst_structure_get_string (gst_event_get_structure (event), "reason");

    g_clear_pointer (&self->silent, g_free);
    if (flags && G_VALUE_HOLDS_FLAGS (flags) && g_value_get_flags (flags))
      self->silent = g_strdup (reason && *reason ? reason : "a camera is silent");
    GST_DEBUG_OBJECT (self, "health: %s", self->silent ? self->silent : "good");
  }
  if (pad != self->live && GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP)
    g_atomic_int_set (&self->stale, TRUE);
  gboolean forwarded = TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (kept); i++)
    forwarded &= GST_EVENT_TYPE (event) != kept[i];
  /* of these, those of the stream that the output is go downstream */
  if ((pad == self->live) == is_alone (self) && forwarded) {
    gst_event_unref (event);
    return TRUE;
  }
  return GST_AGGREGATOR_CLASS (gst_depth_overlay_parent_class)->sink_event (aggregator, pad, event);
}

static gboolean
gst_depth_overlay_sink_query (GstAggregator *aggregator, GstAggregatorPad *pad, GstQuery *query)
{
  if (GST_QUERY_TYPE (query) == GST_QUERY_CAPS || GST_QUERY_TYPE (query) == GST_QUERY_ACCEPT_CAPS)
    return gst_pad_query_default (GST_PAD (pad), GST_OBJECT (aggregator), query);
  return GST_AGGREGATOR_CLASS (gst_depth_overlay_parent_class)->sink_query (aggregator, pad, query);
}

/* The base class would answer that nothing can be sought. Upstream is asked instead: of sink, else of sink_depth. */
static gboolean
gst_depth_overlay_src_query (GstAggregator *aggregator, GstQuery *query)
{
  if (GST_QUERY_TYPE (query) == GST_QUERY_SEEKING)
    return gst_pad_query_default (GST_AGGREGATOR_SRC_PAD (aggregator), GST_OBJECT (aggregator), query);
  return GST_AGGREGATOR_CLASS (gst_depth_overlay_parent_class)->src_query (aggregator, query);
}

/* ---- start, stop, flush ------------------------------------------------------------------ */

static GstFlowReturn
gst_depth_overlay_flush (GstAggregator *aggregator)
{
  GstDepthOverlay *self = GST_DEPTH_OVERLAY (aggregator);

  forget_depth (self);
  gst_clear_buffer (&self->last);
  self->run.have_segment = FALSE;
  self->run.behind_until = self->run.posted_time = 0;
  *self->run.posted = 0;
  g_clear_pointer (&self->silent, g_free);
  return GST_FLOW_OK;
}

static gboolean
gst_depth_overlay_stop (GstAggregator *aggregator)
{
  GstDepthOverlay *self = GST_DEPTH_OVERLAY (aggregator);

  gst_depth_overlay_flush (aggregator);
  gst_depth_overlay_measure_stop (&self->measure);
  g_atomic_int_set (&self->stale, FALSE);
  g_atomic_int_set (&self->alone, FALSE);
  g_clear_pointer (&self->run.view.converter, gst_video_converter_free);
  g_clear_object (&self->display);
  g_clear_pointer (&self->codes, g_free);
  return TRUE;
}

static gboolean
gst_depth_overlay_start (GstAggregator *aggregator)
{
  static const gchar *const of_nearest[] = { "min-confidence", "warn-distance", "nearest", "nearest-percentile",
    "max-unknown", "region", "message-interval" };
  GstDepthOverlay *self = GST_DEPTH_OVERLAY (aggregator);

  memset (&self->run, 0, sizeof self->run);
  forget_depth (self);
  if (!gst_depth_overlay_measure_start (&self->measure, GST_ELEMENT (self)))
    return FALSE;
  self->display = gst_depth_overlay_display_new ();
  self->codes = g_new0 (GstStereoCodes, 1);
  for (guint i = 0; i < G_N_ELEMENTS (of_nearest); i++)
    g_object_bind_property (self, of_nearest[i], self->measure.inner, of_nearest[i], G_BINDING_SYNC_CREATE);
  return TRUE;
}

static void
gst_depth_overlay_finalize (GObject *object)
{
  g_mutex_clear (&GST_DEPTH_OVERLAY (object)->lock);
  G_OBJECT_CLASS (gst_depth_overlay_parent_class)->finalize (object);
}

static void
gst_depth_overlay_class_init (GstDepthOverlayClass *klass)
{
  static GstStaticPadTemplate src = GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
      GST_STATIC_CAPS (GST_VIDEO_CAPS_MAKE ("{ " GST_DEPTH_OVERLAY_COLORS ", GRAY8 }")));
  static GstStaticPadTemplate sink = GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
      GST_STATIC_CAPS (GST_VIDEO_CAPS_MAKE ("{ " GST_DEPTH_OVERLAY_COLORS ", GRAY8, GRAY16_LE, GRAY16_BE }")));
  static GstStaticPadTemplate depth = GST_STATIC_PAD_TEMPLATE (
      "sink_depth", GST_PAD_SINK, GST_PAD_REQUEST, GST_STATIC_CAPS (GST_VIDEO_CAPS_MAKE ("{ GRAY16_LE, GRAY8 }")));
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstAggregatorClass *aggregator_class = GST_AGGREGATOR_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (gst_depth_overlay_debug, "depthoverlay", 0, "depth over the live view");
  object_class->finalize = gst_depth_overlay_finalize;
  gst_stereo_properties_install (object_class, properties, G_STRUCT_OFFSET (GstDepthOverlay, settings), FALSE);

  gst_element_class_add_static_pad_template_with_gtype (element_class, &src, GST_TYPE_AGGREGATOR_PAD);
  gst_element_class_add_static_pad_template_with_gtype (element_class, &sink, GST_TYPE_AGGREGATOR_PAD);
  gst_element_class_add_static_pad_template_with_gtype (element_class, &depth, GST_TYPE_AGGREGATOR_PAD);
  element_class->release_pad = gst_depth_overlay_release_pad;
  gst_element_class_set_static_metadata (element_class, "Depth overlay", "Filter/Editor/Video/Stereo",
      "Blends depth in colours over the live view, and shows, posts and warns of the nearest surface (mm). sink takes "
      "the live view, sink_depth the output of stereomatch",
      "gst-stereo");

  /* neither waits for the other stream */
  aggregator_class->clip = gst_stereo_clip;
  aggregator_class->sink_query_pre_queue = gst_stereo_sink_query_pre_queue;
  aggregator_class->create_new_pad = gst_depth_overlay_create_new_pad;
  aggregator_class->sink_event_pre_queue = gst_depth_overlay_sink_event_pre_queue;
  aggregator_class->sink_event = gst_depth_overlay_sink_event;
  aggregator_class->sink_query = gst_depth_overlay_sink_query;
  aggregator_class->src_query = gst_depth_overlay_src_query;
  aggregator_class->start = gst_depth_overlay_start;
  aggregator_class->stop = gst_depth_overlay_stop;
  aggregator_class->flush = gst_depth_overlay_flush;
  aggregator_class->aggregate = gst_depth_overlay_aggregate;
  aggregator_class->get_next_time = gst_depth_overlay_get_next_time;
  aggregator_class->update_src_caps = gst_depth_overlay_update_src_caps;
  aggregator_class->negotiated_src_caps = gst_depth_overlay_negotiated_src_caps;
  aggregator_class->decide_allocation = gst_depth_overlay_decide_allocation;
}

static void
gst_depth_overlay_init (GstDepthOverlay *self)
{
  g_mutex_init (&self->lock);
  self->live = new_pad (gst_element_class_get_pad_template (GST_ELEMENT_GET_CLASS (self), "sink"));
  gst_element_add_pad (GST_ELEMENT (self), GST_PAD (self->live));
  gst_stereo_properties_init (G_OBJECT (self));
}
