/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs a pipeline that shows a recording of record.sh in colours.
 *
 *   stereo-play "SETTINGS" PIPELINE        until its end, or Ctrl-C
 *
 * depthoverlay reads in the GstStereoMeta of each frame what the samples mean, and no file keeps metadata. This program adds
 * it: SETTINGS are the properties of the stereomatch that made the recording, as "output=depth num-disparities=96". The
 * pipeline is written as for gst-launch-1.0; pipelines/play.sh puts it together. Its depthoverlay is named overlay. A
 * stereorectify with the name rectify knows the cameras of the calibration.
 */
#include <gst/gst.h>
#include <gst/video/video.h>

#include "gst/meta/gststereometa.h"

typedef struct Player
{
  GstElement *pipeline;
  GstStructure *settings; /* of the stereomatch that made the recording */

  GMutex lock;
  GCond change;
  gdouble focal_length, baseline, principal_offset; /* protected by lock, as what follows */
  gboolean waits;                                   /* rectify has not told the cameras yet */
} Player;

/* ---- what the samples mean ---------------------------------------------------------------- */

/* All parameters, those included that profile and method choose. NULL after an error was said. */
static GstStructure *
resolve_settings (const gchar *text)
{
  GstElement *match = gst_element_factory_make ("stereomatch", NULL);
  gchar **words = g_strsplit_set (text, " \n", -1);
  GstStructure *settings = NULL;

  if (match)
    gst_object_ref_sink (match);
  for (guint i = 0; match && words[i]; i++) {
    gchar **parts = g_strsplit (words[i], "=", 2);
    if (parts[0] && parts[1] && g_object_class_find_property (G_OBJECT_GET_CLASS (match), parts[0]))
      gst_util_set_object_arg (G_OBJECT (match), parts[0], parts[1]);
    g_strfreev (parts);
  }
  if (match)
    g_object_get (match, "settings", &settings, NULL);
  if (!match)
    g_printerr ("ERROR: there is no element stereomatch: install gst-stereo\n");
  else if (!settings)
    g_printerr ("ERROR: no stereomatch takes these settings together: %s\n", text);
  g_strfreev (words);
  gst_clear_object (&match);
  return settings;
}

static gdouble
setting (const GstStructure *settings, const gchar *name)
{
  const GValue *value = gst_structure_get_value (settings, name);
  GValue number = G_VALUE_INIT;
  gdouble result = 0;

  g_value_init (&number, G_TYPE_DOUBLE);
  if (value && g_value_transform (value, &number))
    result = g_value_get_double (&number);
  g_value_unset (&number);
  return result;
}

static void
set_cameras (Player *player, const GstStereoMeta *meta)
{
  g_mutex_lock (&player->lock);
  /* a property that was set went before the calibration */
  if (meta && player->focal_length == 0)
    player->focal_length = meta->focal_length;
  if (meta && player->baseline == 0)
    player->baseline = meta->baseline;
  if (meta && player->principal_offset == 0)
    player->principal_offset = meta->principal_offset;
  player->waits = FALSE;
  g_cond_broadcast (&player->change);
  g_mutex_unlock (&player->lock);
}

/* The first frame behind rectify, or the end of a stream without one. */
static GstPadProbeReturn
on_rectified (GstPad *pad, GstPadProbeInfo *info, gpointer player)
{
  (void) pad;
  if (info->type & GST_PAD_PROBE_TYPE_BUFFER)
    set_cameras (player, gst_buffer_get_stereo_meta (GST_PAD_PROBE_INFO_BUFFER (info)));
  else if (GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info)) == GST_EVENT_EOS)
    set_cameras (player, NULL);
  else
    return GST_PAD_PROBE_OK;
  return GST_PAD_PROBE_REMOVE;
}

/* The queue before this pad has no limit, so that a frame that waits here never keeps the views from rectify. */
static GstPadProbeReturn
on_depth (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Player *player = data;
  GstBuffer *buffer = gst_buffer_make_writable (GST_PAD_PROBE_INFO_BUFFER (info));
  GstCaps *caps = gst_pad_get_current_caps (pad);
  GstVideoInfo video;

  GST_PAD_PROBE_INFO_DATA (info) = buffer;
  if (!caps || !gst_video_info_from_caps (&video, caps)) {
    gst_clear_caps (&caps);
    return GST_PAD_PROBE_OK;
  }
  gst_caps_unref (caps);
  GstStereoMeta *meta = gst_buffer_add_stereo_meta (
      buffer, (guint) GST_VIDEO_INFO_WIDTH (&video), (guint) GST_VIDEO_INFO_HEIGHT (&video), NULL);
  if (g_strcmp0 (gst_structure_get_string (player->settings, "output"), "depth") == 0)
    meta->kind = GST_STEREO_OUTPUT_KIND_DEPTH;
  meta->disparity_scale = setting (player->settings, "disparity-scale");
  meta->min_disparity = setting (player->settings, "min-disparity");
  meta->num_disparities = setting (player->settings, "num-disparities");
  meta->depth_unit = setting (player->settings, "depth-unit");
  g_mutex_lock (&player->lock);
  while (player->waits)
    g_cond_wait (&player->change, &player->lock);
  meta->focal_length = player->focal_length;
  meta->baseline = player->baseline;
  meta->principal_offset = player->principal_offset;
  g_mutex_unlock (&player->lock);
  return GST_PAD_PROBE_OK;
}

/* FALSE where there is no such pad. */
static gboolean
watch (Player *player, const gchar *element, const gchar *name, GstPadProbeType type, GstPadProbeCallback callback)
{
  GstElement *found = gst_bin_get_by_name (GST_BIN (player->pipeline), element);
  GstPad *pad = found ? gst_element_get_static_pad (found, name) : NULL;

  if (pad)
    gst_pad_add_probe (pad, type, callback, player, NULL);
  gst_clear_object (&found);
  if (!pad)
    return FALSE;
  gst_object_unref (pad);
  return TRUE;
}

/* ---- start and stop ----------------------------------------------------------------------- */

/* TRUE where nothing further comes. */
static gboolean
say (GstMessage *message, int *status)
{
  GError *error = NULL;

  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS)
    return TRUE;
  *status |= GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR;
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
    gst_message_parse_error (message, &error, NULL);
  else
    gst_message_parse_warning (message, &error, NULL);
  g_printerr ("%s: from element %s: %s\n", GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR ? "ERROR" : "WARNING",
      GST_OBJECT_NAME (message->src), error->message);
  g_clear_error (&error);
  return GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR;
}

static int
play (Player *player)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (player->pipeline);
  gboolean ended = FALSE;
  int status = 0;
  /* an element that fails here says why on the bus */
  GstClockTime patience = gst_element_set_state (player->pipeline, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE ?
      GST_SECOND :
      GST_CLOCK_TIME_NONE;

  while (!ended) {
    GstMessage *message = gst_bus_timed_pop_filtered (
        bus, patience, GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);
    if (!message)
      break;
    ended = say (message, &status);
    gst_message_unref (message);
  }
  status |= !ended;
  /* a frame that waits would keep its thread from ending */
  set_cameras (player, NULL);
  gst_element_set_state (player->pipeline, GST_STATE_NULL);
  return status;
}

int
main (int argc, char **argv)
{
  Player player = { 0 };
  GError *error = NULL;
  int status = 1;

  gst_init (&argc, &argv);
  if (argc < 3 || argv[1][0] == '-') {
    g_printerr ("stereo-play \"SETTINGS\" PIPELINE: see pipelines/play.sh\n");
    return 2;
  }
  player.settings = resolve_settings (argv[1]);
  player.pipeline = player.settings ? gst_parse_launchv ((const gchar **) argv + 2, &error) : NULL;
  if (error) {
    g_printerr ("ERROR: %s\n", error->message);
  } else if (player.pipeline) {
    player.focal_length = setting (player.settings, "focal-length");
    player.baseline = setting (player.settings, "baseline");
    player.principal_offset = setting (player.settings, "principal-offset");
    player.waits = GST_IS_BIN (player.pipeline) &&
        watch (&player, "rectify", "src", GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, on_rectified);
    if (GST_IS_BIN (player.pipeline) && watch (&player, "overlay", "sink_depth", GST_PAD_PROBE_TYPE_BUFFER, on_depth))
      status = play (&player);
    else
      g_printerr ("ERROR: the pipeline must have a depthoverlay with name=overlay and a linked sink_depth\n");
  }
  g_clear_error (&error);
  gst_clear_object (&player.pipeline);
  gst_clear_structure (&player.settings);
  return status;
}
