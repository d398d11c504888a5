/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-depthoverlay
 * @title: depthoverlay
 *
 * The live view with depth in colours over it, and how far the nearest thing is.
 *
 * `sink` takes the live view, `sink_depth` the output of stereomatch: disparity or depth with its #GstStereoMeta,
 * which tells what the samples mean. The output is the live view in its own format, size and frame rate, with
 * the colours blended in by #GstDepthOverlay:alpha. Pixels that are invalid, or less sure than
 * #GstDepthOverlay:min-confidence, show the live view unchanged.
 *
 * **Units.** Colours run from #GstDepthOverlay:near to #GstDepthOverlay:far, in millimetres, and never depend on the
 * picture. Where the metadata has neither depth nor focal length and baseline, distances are not known: a
 * warning says so once, colours run over the search range of the disparity, the read-out is the largest disparity in
 * px, and `near`, `far` and #GstDepthOverlay:warn-distance are without effect.
 *
 * **Which depth goes with which frame.** Every frame of the live view gives one output frame, with its timestamps.
 * It shows the latest depth whose running time is not later than its own: that of the same frame where
 * stereomatch got it from the same source, and an older one where depth comes at a lower rate or a frame of it was
 * dropped. Depth more than #GstDepthOverlay:max-age older than the frame is not shown; the picture then says that
 * depth is stale. Without a live source the element waits for as long as it takes to know which depth that is; with
 * one, for at most the latency of the pipeline. When depth ends before the live view the view goes on without it,
 * which a warning and the picture say; the end of the live view is the end of the output. Put a `queue` before both
 * pads where one thread feeds both, as after a tee.
 *
 * **Sizes.** Depth of another size is scaled to the view by the nearest neighbour; another aspect ratio is an error.
 * Of a live frame that holds both views (multiview-mode=side-by-side or top-bottom in its caps; or no such caps, and
 * half its width fits the depth where the whole does not; before any depth came, a width of twice the height or more)
 * the left view is shown, and the output is as large as that.
 *
 * **Nearest distance.** Of the pixels in #GstDepthOverlay:region that are valid and sure enough, the distance that
 * #GstDepthOverlay:nearest-percentile percent of them are at or within, so that single wrong pixels do not matter.
 * The marker stands where most of those are. It is shown in the picture and posted as an element message
 * `stereo-nearest`, at most every #GstDepthOverlay:message-interval and at once when `warning` or `valid` changes:
 *
 * * `valid` (gboolean): whether there is a distance; the next five fields are there only if so
 * * `distance` (gdouble): millimetres; missing where distances are not known
 * * `disparity` (gdouble): pixels of the depth picture; missing where it is not known
 * * `x`, `y` (gint): where, in pixels of the output
 * * `confidence` (gdouble): of the pixels there, 0..1
 * * `warning` (gboolean): the distance is below #GstDepthOverlay:warn-distance
 * * `timestamp`, `stream-time`, `running-time`, `duration` (guint64): of the frame, ns
 *
 * ## Example
 * |[
 * gst-launch-1.0 v4l2src ! video/x-raw,width=2560,height=720 ! tee name=t \
 *     t. ! queue ! depthoverlay name=o warn-distance=1500 ! videoconvert ! autovideosink \
 *     t. ! queue ! stereomatch packing=side-by-side focal-length=700 baseline=120 ! queue ! o.sink_depth
 * ]|
 */
#include "gst/overlay/element.h"

#include <string.h>

#include "gst/video/stream.h"

#define GST_CAT_DEFAULT gst_depth_overlay_debug
GST_DEBUG_CATEGORY (gst_depth_overlay_debug);

enum
{
  PROP_0,
  PROP_ALPHA,
  PROP_COLORMAP,
  PROP_NEAR,
  PROP_FAR,
  PROP_MIN_CONFIDENCE,
  PROP_WARN_DISTANCE,
  PROP_NEAREST_PERCENTILE,
  PROP_REGION,
  PROP_LEGEND,
  PROP_TEXT,
  PROP_MAX_AGE,
  PROP_MESSAGE_INTERVAL
};

#define FARTHEST 1e6            /* mm */

static const GstDepthOverlaySettings defaults = {
  .alpha = 0.5,
  .near = 500,
  .far = 10000,
  .min_confidence = 0.01,
  .percentile = 1,
  .region = { 0, 0, 1, 1 },
  .max_age = 500 * GST_MSECOND,
  .message_interval = 100 * GST_MSECOND,
  .colormap = GST_STEREO_COLORMAP_TURBO,
  .legend = TRUE,
  .text = TRUE
};

G_DEFINE_TYPE (GstDepthOverlay, gst_depth_overlay, GST_TYPE_AGGREGATOR)
GST_ELEMENT_REGISTER_DEFINE (depthoverlay, "depthoverlay", GST_RANK_NONE, GST_TYPE_DEPTH_OVERLAY)

/* ---- start, stop, flush ------------------------------------------------------------------ */

static void
reset_stream (GstDepthOverlay *self)
{
  gst_depth_overlay_forget (self);
  self->have_segment = FALSE;
  self->posted = FALSE;
}

static GstFlowReturn
gst_depth_overlay_flush (GstAggregator *aggregator)
{
  reset_stream (GST_DEPTH_OVERLAY (aggregator));
  return GST_FLOW_OK;
}

static gboolean
gst_depth_overlay_start (GstAggregator *aggregator)
{
  GstDepthOverlay *self = GST_DEPTH_OVERLAY (aggregator);

  reset_stream (self);
  g_atomic_int_set (&self->forget, FALSE);
  g_atomic_int_set (&self->failed, FALSE);
  self->said_ended = self->said_unlinked = self->said_disparity = self->said_near_far = FALSE;
  self->blender = gst_stereo_blender_new ();
  self->finder = gst_stereo_nearest_finder_new ();
  self->text = gst_depth_overlay_text_new ();
  self->codes = g_malloc (65536);
  return TRUE;
}

static gboolean
gst_depth_overlay_stop (GstAggregator *aggregator)
{
  GstDepthOverlay *self = GST_DEPTH_OVERLAY (aggregator);

  reset_stream (self);
  self->have_live_info = self->have_depth_info = FALSE;
  self->have_view = self->negotiated = self->have_colors = self->have_scale = FALSE;
  g_clear_pointer (&self->blender, gst_stereo_blender_free);
  g_clear_pointer (&self->finder, gst_stereo_nearest_finder_free);
  g_clear_pointer (&self->text, gst_depth_overlay_text_free);
  g_clear_pointer (&self->codes, g_free);
  return TRUE;
}

/* ---- properties -------------------------------------------------------------------------- */

/* Empty stands for the whole picture. */
static void
set_region (GstDepthOverlay *self, const GValue *value)
{
  guint count = gst_value_array_get_size (value);
  gdouble region[4] = { 0, 0, 1, 1 };

  if (count != 0 && count != 4) {
    g_warning ("depthoverlay: region takes four numbers, x, y, width and height as fractions of the picture, "
        "for example \"<0.25, 0.25, 0.5, 0.5>\"; %u were given, and it stays as it was", count);
    return;
  }
  for (guint i = 0; i < count; i++)
    region[i] = g_value_get_double (gst_value_array_get_value (value, i));
  memcpy (self->settings.region, region, sizeof region);
}

static void
get_region (GstDepthOverlay *self, GValue *value)
{
  GValue number = G_VALUE_INIT;

  g_value_init (&number, G_TYPE_DOUBLE);
  for (guint i = 0; i < 4; i++) {
    g_value_set_double (&number, self->settings.region[i]);
    gst_value_array_append_value (value, &number);
  }
  g_value_unset (&number);
}

static void
gst_depth_overlay_set_property (GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
  GstDepthOverlay *self = GST_DEPTH_OVERLAY (object);
  GstDepthOverlaySettings *settings = &self->settings;

  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_ALPHA:
      settings->alpha = g_value_get_double (value);
      break;
    case PROP_COLORMAP:
      settings->colormap = g_value_get_enum (value);
      break;
    case PROP_NEAR:
      settings->near = g_value_get_double (value);
      break;
    case PROP_FAR:
      settings->far = g_value_get_double (value);
      break;
    case PROP_MIN_CONFIDENCE:
      settings->min_confidence = g_value_get_double (value);
      break;
    case PROP_WARN_DISTANCE:
      settings->warn_distance = g_value_get_double (value);
      break;
    case PROP_NEAREST_PERCENTILE:
      settings->percentile = g_value_get_double (value);
      break;
    case PROP_REGION:
      set_region (self, value);
      break;
    case PROP_LEGEND:
      settings->legend = g_value_get_boolean (value);
      break;
    case PROP_TEXT:
      settings->text = g_value_get_boolean (value);
      break;
    case PROP_MAX_AGE:
      settings->max_age = g_value_get_uint64 (value);
      break;
    case PROP_MESSAGE_INTERVAL:
      settings->message_interval = g_value_get_uint64 (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, spec);
  }
  GST_OBJECT_UNLOCK (self);
}

static void
gst_depth_overlay_get_property (GObject *object, guint id, GValue *value, GParamSpec *spec)
{
  GstDepthOverlay *self = GST_DEPTH_OVERLAY (object);
  const GstDepthOverlaySettings *settings = &self->settings;

  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_ALPHA:
      g_value_set_double (value, settings->alpha);
      break;
    case PROP_COLORMAP:
      g_value_set_enum (value, settings->colormap);
      break;
    case PROP_NEAR:
      g_value_set_double (value, settings->near);
      break;
    case PROP_FAR:
      g_value_set_double (value, settings->far);
      break;
    case PROP_MIN_CONFIDENCE:
      g_value_set_double (value, settings->min_confidence);
      break;
    case PROP_WARN_DISTANCE:
      g_value_set_double (value, settings->warn_distance);
      break;
    case PROP_NEAREST_PERCENTILE:
      g_value_set_double (value, settings->percentile);
      break;
    case PROP_REGION:
      get_region (self, value);
      break;
    case PROP_LEGEND:
      g_value_set_boolean (value, settings->legend);
      break;
    case PROP_TEXT:
      g_value_set_boolean (value, settings->text);
      break;
    case PROP_MAX_AGE:
      g_value_set_uint64 (value, settings->max_age);
      break;
    case PROP_MESSAGE_INTERVAL:
      g_value_set_uint64 (value, settings->message_interval);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, spec);
  }
  GST_OBJECT_UNLOCK (self);
}

static void
install_double (GObjectClass *klass, guint id, const gchar *name, const gchar *blurb, gdouble most, gdouble initial)
{
  g_object_class_install_property (klass, id, g_param_spec_double (name, name, blurb, 0, most, initial,
          G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_CONTROLLABLE | GST_PARAM_MUTABLE_PLAYING));
}

static void
install_numbers (GObjectClass *klass)
{
  install_double (klass, PROP_ALPHA, "alpha", "How much of the colours is seen: 0 = only the live view, 1 = only "
      "depth", 1, defaults.alpha);
  install_double (klass, PROP_NEAR, "near", "Millimetres: what is as near or nearer has the colour map's near end; "
      "below far", FARTHEST, defaults.near);
  install_double (klass, PROP_FAR, "far", "Millimetres: what is as far or farther has the colour map's far end; above "
      "near", FARTHEST, defaults.far);
  install_double (klass, PROP_MIN_CONFIDENCE, "min-confidence", "Confidence, 0..1, below which a pixel shows the live "
      "view and does not count for the nearest distance; 0 = every valid pixel", 1, defaults.min_confidence);
  install_double (klass, PROP_WARN_DISTANCE, "warn-distance", "Millimetres: when the nearest distance is below this "
      "the picture warns, and so does the message; 0 = never", FARTHEST, defaults.warn_distance);
  install_double (klass, PROP_NEAREST_PERCENTILE, "nearest-percentile", "Percent, 0..100, of the region's valid and "
      "sure pixels that are at the nearest distance or nearer; smaller finds smaller things and trusts fewer pixels; "
      "0 = the one nearest pixel", 100, defaults.percentile);
}

static void
install_others (GObjectClass *klass)
{
  const GParamFlags rw = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING;

  g_object_class_install_property (klass, PROP_COLORMAP, g_param_spec_enum ("colormap", "colormap", "Colours from far "
          "to near", GST_TYPE_STEREO_COLORMAP, defaults.colormap, rw));
  g_object_class_install_property (klass, PROP_REGION, gst_param_spec_array ("region", "region", "Where the nearest "
          "distance is looked for: <x, y, width, height> as fractions of the picture, 0..1; what passes its edge "
          "is cut off; the default is the whole picture", g_param_spec_double ("fraction", "fraction",
              "Fraction of the picture's width or height", 0, 1, 0, rw), rw));
  g_object_class_install_property (klass, PROP_LEGEND, g_param_spec_boolean ("legend", "legend", "Draw which colour is "
          "how far", defaults.legend, rw));
  g_object_class_install_property (klass, PROP_TEXT, g_param_spec_boolean ("text", "text", "Draw the nearest distance, "
          "its marker, warnings, and what is the matter where there is no depth", defaults.text, rw));
  g_object_class_install_property (klass, PROP_MAX_AGE, g_param_spec_uint64 ("max-age", "max-age", "Nanoseconds that "
          "depth may be older than the frame it is shown over; 0 = only depth of the same running time", 0, G_MAXUINT64,
          defaults.max_age, rw));
  g_object_class_install_property (klass, PROP_MESSAGE_INTERVAL, g_param_spec_uint64 ("message-interval",
          "message-interval", "Nanoseconds between two stereo-nearest messages, at least; 0 = one for every frame; a "
          "change of warning is always posted at once", 0, G_MAXUINT64, defaults.message_interval, rw));
}

static void
gst_depth_overlay_dispose (GObject *object)
{
  gst_depth_overlay_forget (GST_DEPTH_OVERLAY (object));
  G_OBJECT_CLASS (gst_depth_overlay_parent_class)->dispose (object);
}

static void
gst_depth_overlay_finalize (GObject *object)
{
  g_mutex_clear (&GST_DEPTH_OVERLAY (object)->depth_lock);
  G_OBJECT_CLASS (gst_depth_overlay_parent_class)->finalize (object);
}

static void
add_pad_templates (GstElementClass *klass)
{
  static GstStaticPadTemplate src = GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
      GST_STATIC_CAPS (GST_VIDEO_CAPS_MAKE (GST_STEREO_BLEND_FORMATS)));
  static GstStaticPadTemplate sink = GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
      GST_STATIC_CAPS (GST_VIDEO_CAPS_MAKE (GST_STEREO_BLEND_FORMATS)));
  static GstStaticPadTemplate depth = GST_STATIC_PAD_TEMPLATE ("sink_depth", GST_PAD_SINK, GST_PAD_REQUEST,
      GST_STATIC_CAPS (GST_VIDEO_CAPS_MAKE ("{ GRAY16_LE, GRAY8 }")));

  gst_element_class_add_static_pad_template_with_gtype (klass, &src, GST_TYPE_AGGREGATOR_PAD);
  gst_element_class_add_static_pad_template_with_gtype (klass, &sink, GST_TYPE_AGGREGATOR_PAD);
  gst_element_class_add_static_pad_template_with_gtype (klass, &depth, GST_TYPE_AGGREGATOR_PAD);
}

static void
gst_depth_overlay_class_init (GstDepthOverlayClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstAggregatorClass *aggregator_class = GST_AGGREGATOR_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (gst_depth_overlay_debug, "depthoverlay", 0, "depth over the live view");
  object_class->set_property = gst_depth_overlay_set_property;
  object_class->get_property = gst_depth_overlay_get_property;
  object_class->dispose = gst_depth_overlay_dispose;
  object_class->finalize = gst_depth_overlay_finalize;
  install_numbers (object_class);
  install_others (object_class);

  add_pad_templates (element_class);
  element_class->release_pad = gst_depth_overlay_release_pad;
  gst_element_class_set_static_metadata (element_class, "Depth overlay", "Filter/Editor/Video/Stereo",
      "Blends depth in colours over the live view, and shows, posts and warns of the nearest distance (mm). sink takes "
      "the live view, sink_depth the output of stereomatch", "gst-stereo");
  gst_type_mark_as_plugin_api (GST_TYPE_STEREO_COLORMAP, 0);

  aggregator_class->create_new_pad = gst_depth_overlay_create_new_pad;
  aggregator_class->sink_event = gst_depth_overlay_sink_event;
  aggregator_class->sink_query = gst_depth_overlay_sink_query;
  aggregator_class->src_query = gst_depth_overlay_src_query;
  aggregator_class->clip = gst_stereo_clip;
  aggregator_class->start = gst_depth_overlay_start;
  aggregator_class->stop = gst_depth_overlay_stop;
  aggregator_class->flush = gst_depth_overlay_flush;
  aggregator_class->aggregate = gst_depth_overlay_aggregate;
  aggregator_class->get_next_time = gst_depth_overlay_next_time;
  aggregator_class->update_src_caps = gst_depth_overlay_update_src_caps;
  aggregator_class->negotiated_src_caps = gst_depth_overlay_negotiated_src_caps;
  aggregator_class->decide_allocation = gst_depth_overlay_decide_allocation;
  aggregator_class->sink_query_pre_queue = gst_stereo_sink_query_pre_queue;
}

static void
gst_depth_overlay_init (GstDepthOverlay *self)
{
  g_mutex_init (&self->depth_lock);
  self->settings = defaults;
  self->gap_end = GST_DEPTH_OVERLAY_TIME_NONE;
  self->held.time = GST_DEPTH_OVERLAY_TIME_NONE;
  gst_depth_overlay_add_pads (self);
}
