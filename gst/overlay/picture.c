/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/overlay/picture.h"

#include "gst/nearest/report.h"
#include "gst/overlay/debug.h"

#include <math.h>
#include <string.h>

#define SAMPLES 65536

struct _GstDepthOverlayPicture
{
  GstElement *owner;

  GstStereoDepthMap map;
  GstStereoBlendDepth depth; /* its view */

  GstStereoScale scale;
  gboolean have_scale;
  gdouble near, far;     /* mm; of the metadata, where the properties do not say; 0 before the first */
  guint8 codes[SAMPLES]; /* of all samples by the scale */
  gboolean warned_disparity, warned_near_far;
};

GstDepthOverlayPicture *
gst_depth_overlay_picture_new (GstElement *owner)
{
  GstDepthOverlayPicture *picture = g_new0 (GstDepthOverlayPicture, 1);

  picture->owner = owner;
  return picture;
}

void
gst_depth_overlay_picture_free (GstDepthOverlayPicture *picture)
{
  gst_depth_overlay_picture_unmap (picture);
  g_free (picture);
}

/* ---- what samples mean ------------------------------------------------------------------- */

static void
warn_once (GstDepthOverlayPicture *picture, const GstDepthOverlayRange *range, const GstStereoScale *scale)
{
  if (!scale->metric && !picture->warned_disparity) {
    picture->warned_disparity = TRUE;
    GST_ELEMENT_WARNING (picture->owner, STREAM, FORMAT,
        ("Distances are not known: the disparity on sink_depth comes without focal length and baseline. Colours follow "
         "the disparity, the read-out is in px, and near, far and warn-distance are without effect. Set focal-length "
         "(px) and baseline (mm) of stereomatch."),
        (NULL));
  }
  if (range->near >= range->far && !picture->warned_near_far) {
    picture->warned_near_far = TRUE;
    GST_ELEMENT_WARNING (picture->owner, RESOURCE, SETTINGS,
        ("near=%g mm is not below far=%g mm: far is taken as %g mm. Set near below far.", range->near, range->far,
            range->near + 1),
        (NULL));
  }
}

static gboolean
is_close (gdouble value, gdouble other)
{
  return fabs (value - other) <= 0.02 * other;
}

/* To two digits, for the legend. */
static gdouble
rounded (gdouble distance)
{
  gdouble step = pow (10, floor (log10 (distance)) - 1);

  return rint (distance / step) * step;
}

/* Colours must not flicker: a rig that follows a drift changes its metadata a little from frame to frame. */
static void
choose_ends (GstDepthOverlayPicture *picture, GstDepthOverlayRange *range, const GstStereoMeta *meta)
{
  gdouble near, far;

  gst_stereo_scale_ends (meta, &near, &far);
  if (!is_close (near, picture->near) || !is_close (far, picture->far)) {
    picture->near = near;
    picture->far = far;
  }
  near = rounded (picture->near);
  far = rounded (picture->far);
  if (range->near <= 0)
    range->near = range->far > 0 ? MIN (near, range->far / 2) : near;
  if (range->far <= 0)
    range->far = MAX (far, 2 * range->near);
}

/* The codes are made again only when the meaning of samples changed. */
static void
ensure_scale (GstDepthOverlayPicture *picture, const GstDepthOverlayRange *wanted, const GstStereoMeta *meta)
{
  GstDepthOverlayRange range = *wanted;
  GstStereoScale scale;

  choose_ends (picture, &range, meta);
  gst_stereo_scale_init (&scale, meta, range.near, range.far, range.curve, range.beyond);
  warn_once (picture, &range, &scale);
  if (picture->have_scale && memcmp (&scale, &picture->scale, sizeof scale) == 0)
    return;
  picture->scale = scale;
  picture->have_scale = TRUE;
  gst_stereo_scale_codes (&scale, meta, picture->codes, SAMPLES);
  GST_DEBUG_OBJECT (picture->owner,
      "samples are %s: colours from %g to %g %s; scale %g, from %g px, focal length %g px, baseline %g "
      "mm, principal offset %g px",
      meta->kind == GST_STEREO_OUTPUT_KIND_DEPTH ? "depth" : "disparity", scale.near, scale.far,
      scale.metric ? "mm" : "px", meta->disparity_scale, meta->min_disparity, meta->focal_length, meta->baseline,
      meta->principal_offset);
}

/* ---- mapping ----------------------------------------------------------------------------- */

static gboolean
refuse (GstDepthOverlayPicture *picture, const GstVideoInfo *info, GstStereoDepthPart part)
{
  static const gchar *const texts[] = {
    [GST_STEREO_DEPTH_SAMPLES] = "A buffer on sink_depth does not hold the frame that its caps announce.",
    [GST_STEREO_DEPTH_CONFIDENCE] = "The confidence of a buffer on sink_depth does not hold a picture of its size.",
    [GST_STEREO_DEPTH_MASK] = "The mask of a buffer on sink_depth does not hold a picture of its size."
  };

  GST_ELEMENT_ERROR (picture->owner, STREAM, FORMAT, ("%s", texts[part]),
      ("%dx%d", GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info)));
  return FALSE;
}

static gboolean
is_readable (GstDepthOverlayPicture *picture, const GstVideoInfo *info, const GstStereoMeta *meta)
{
  gchar *problem = gst_stereo_depth_problem (info, meta, "depthoverlay");

  if (problem)
    GST_ELEMENT_ERROR (picture->owner, STREAM, FORMAT, ("What sink_depth gets: %s", problem), (NULL));
  g_free (problem);
  return problem == NULL;
}

static gboolean
refuse_shape (GstDepthOverlayPicture *picture, const GstVideoInfo *info, const GstVideoInfo *view)
{
  GST_ELEMENT_ERROR (picture->owner, CORE, NEGOTIATION,
      ("The live view is %dx%d and the depth %dx%d: their aspect ratios differ, so one does not fit over the other. "
       "Give sink the left view that stereomatch got, scaled if need be but not cropped.",
          GST_VIDEO_INFO_WIDTH (view), GST_VIDEO_INFO_HEIGHT (view), GST_VIDEO_INFO_WIDTH (info),
          GST_VIDEO_INFO_HEIGHT (info)),
      (NULL));
  return FALSE;
}

gboolean
gst_depth_overlay_picture_map (GstDepthOverlayPicture *picture, const GstStereoJoined *held,
    const GstStereoLiveView *view, const GstDepthOverlayRange *range)
{
  const GstStereoMeta *meta = gst_buffer_get_stereo_meta (held->buffer);
  const GstVideoInfo *info = &held->info;

  if (!is_readable (picture, info, meta))
    return FALSE;
  if (!gst_stereo_live_view_fits (view, GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info)))
    return refuse_shape (picture, info, &view->info);
  GstStereoDepthPart unreadable = gst_stereo_depth_map (&picture->map, info, held->buffer);
  if (unreadable)
    return refuse (picture, info, unreadable);
  if (!picture->map.view.confidence)
    GST_LOG_OBJECT (picture->owner, "the depth has no confidence: min-confidence hides nothing");
  picture->depth.view = picture->map.view;
  picture->depth.view.min_confidence = gst_stereo_nearest_least (range->min_confidence);
  ensure_scale (picture, range, meta);
  picture->depth.codes = picture->codes;
  return TRUE;
}

void
gst_depth_overlay_picture_unmap (GstDepthOverlayPicture *picture)
{
  gst_stereo_depth_unmap (&picture->map);
}

const GstStereoBlendDepth *
gst_depth_overlay_picture_depth (const GstDepthOverlayPicture *picture)
{
  return &picture->depth;
}

const GstStereoScale *
gst_depth_overlay_picture_scale (const GstDepthOverlayPicture *picture)
{
  return picture->have_scale ? &picture->scale : NULL;
}
