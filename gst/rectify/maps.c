/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/rectify/maps.h"

#include <string.h>

#include "gst/pairing/aggregator.h"
#include "gst/rectify/calibration/calibration.h"
#include "gst/rectify/debug.h"
#include "gst/rectify/recipe.h"
#include "gst/rectify/report.h"
#include "gst/video/params.h"

#define VIEWS 2

/* What a rectification was made for; compared as a whole. */
typedef struct
{
  guint serial;       /* of the settings; 0 = none */
  gint width, height; /* of a raw view */
} RectifiedKey;

/* What a remap was made for; compared as a whole. */
typedef struct
{
  RectifiedKey rectified;
  GstStereoPacking packing;
  GstStereoRectifyFormats formats;
} RemapKey;

struct _GstStereoRectifyMaps
{
  GstElement *owner;
  GstStereoRectifyResults *results; /* the owner's, protected by the owner's object lock */

  GstStereoCalibration loaded;
  StereoCalibration calibration;     /* that of @loaded which fits the views of rectified_key */
  guint loaded_serial;               /* of the settings it was loaded for; 0 = none */
  guint doubted_serial;              /* of the settings for which warnings were posted; 0 = none */
  StereoRectification rectification; /* for rectified_key */
  RectifiedKey rectified_key;
  StereoRemap *remap; /* for remap_key; NULL: none */
  RemapKey remap_key;
  GstStereoRecipe recipe;  /* of remap */
  GstStereoRecipeJob *job; /* makes the next one from job_correction; NULL: none does */
  GstStereoCorrection job_correction;
  gint chosen_backend; /* what backend=auto chose; STEREO_BACKEND_AUTO before that */
};

GstStereoRectifyMaps *
gst_stereo_rectify_maps_new (GstElement *owner, GstStereoRectifyResults *results)
{
  GstStereoRectifyMaps *self = g_new0 (GstStereoRectifyMaps, 1);

  self->owner = owner;
  self->results = results;
  self->chosen_backend = STEREO_BACKEND_AUTO;
  return self;
}

static void
drop_remap (GstStereoRectifyMaps *self)
{
  if (self->job)
    stereo_remap_free (gst_stereo_recipe_job_finish (g_steal_pointer (&self->job), NULL, NULL));
  g_clear_pointer (&self->remap, stereo_remap_free);
  memset (&self->remap_key, 0, sizeof self->remap_key);
}

void
gst_stereo_rectify_maps_clear (GstStereoRectifyMaps *self)
{
  drop_remap (self);
  memset (&self->rectified_key, 0, sizeof self->rectified_key);
  self->loaded_serial = self->doubted_serial = 0;
  self->chosen_backend = STEREO_BACKEND_AUTO;
  memset (&self->recipe.correction, 0, sizeof self->recipe.correction);
}

void
gst_stereo_rectify_maps_free (GstStereoRectifyMaps *self)
{
  gst_stereo_rectify_maps_clear (self);
  g_free (self);
}

static GstFlowReturn
post_error (GstStereoRectifyMaps *self, const StereoError *error)
{
  if (error->status != STEREO_ERROR_SIZE)
    return gst_stereo_post_error (self->owner, error);
  GST_ELEMENT_ERROR (self->owner, CORE, NEGOTIATION, ("%s", error->message), (NULL));
  return GST_FLOW_NOT_NEGOTIATED;
}

/* ---- results ----------------------------------------------------------------------------- */

void
gst_stereo_rectify_maps_reset_results (GstStereoRectifyMaps *self)
{
  GST_OBJECT_LOCK (self->owner);
  memset (self->results, 0, sizeof *self->results);
  GST_OBJECT_UNLOCK (self->owner);
}

static void
publish_geometry (GstStereoRectifyMaps *self)
{
  static const gchar *const names[] = { "focal-length", "baseline", "principal-offset" };
  const StereoRectification *rectification = &self->rectification;
  GstStereoRectifyResults *results = self->results;

  GST_OBJECT_LOCK (self->owner);
  gboolean changed = results->focal_length != rectification->focal_length ||
      results->baseline != rectification->baseline || results->principal_offset != rectification->principal_offset;
  results->focal_length = rectification->focal_length;
  results->baseline = rectification->baseline;
  results->principal_offset = rectification->principal_offset;
  GST_OBJECT_UNLOCK (self->owner);
  GST_INFO_OBJECT (self->owner, "rectified views of %dx%d: focal length %g px, baseline %g mm, principal offset %g px",
      rectification->width, rectification->height, rectification->focal_length, rectification->baseline,
      rectification->principal_offset);
  for (guint i = 0; i < G_N_ELEMENTS (names) && changed; i++)
    g_object_notify (G_OBJECT (self->owner), names[i]);
}

static void
publish_backend (GstStereoRectifyMaps *self)
{
  const gchar *backend = g_intern_string (stereo_remap_backend (self->remap));

  GST_OBJECT_LOCK (self->owner);
  gboolean changed = self->results->backend != backend;
  self->results->backend = backend;
  GST_OBJECT_UNLOCK (self->owner);
  GST_INFO_OBJECT (self->owner, "on %s: %s", backend, stereo_remap_backend_reason (self->remap));
  if (changed)
    g_object_notify (G_OBJECT (self->owner), "active-backend");
}

/* ---- calibration ------------------------------------------------------------------------- */

static void
log_calibration (GstStereoRectifyMaps *self, const gchar *location)
{
  for (gint m = 0; m < self->loaded.count; m++) {
    const StereoCalibration *mode = &self->loaded.modes[m];
    GST_DEBUG_OBJECT (self->owner, "read calibration %s: views of %dx%d pixels (0x0: the file does not say); %s%s%s",
        location, mode->width, mode->height, mode->has_pose ? "pose of the cameras (R T)" : "",
        mode->has_pose && mode->has_rectification ? " and " : "",
        mode->has_rectification ? "rectification (R1 R2 P1 P2)" : "");
    for (gint v = 0; v < VIEWS; v++) {
      const StereoCamera *camera = &mode->camera[v];
      GST_DEBUG_OBJECT (self->owner, "%s camera: fx %g, fy %g, cx %g, cy %g px, %s %g %g %g %g %g ...",
          v ? "right" : "left", camera->fx, camera->fy, camera->cx, camera->cy,
          camera->model == STEREO_LENS_EQUIDISTANT ? "equidistant lens" : "distortion", camera->distortion[0],
          camera->distortion[1], camera->distortion[2], camera->distortion[3], camera->distortion[4]);
    }
  }
}

/* FALSE and a sentence: the calibration at hand has not changed. */
static gboolean
read_calibration (GstStereoRectifyMaps *self, const GstStereoRectifySettings *settings, gchar **message)
{
  const GstStereoCalibrationOptions options = { settings->unit, settings->calibration_width,
    settings->calibration_height, settings->cameras };
  GstStereoCalibration loaded;

  if (!settings->calibration || !*settings->calibration) {
    *message = g_strdup ("No calibration is set, and without one nothing can be rectified: set calibration=FILE, or "
                         "calibration=LEFT,RIGHT for two of ROS.");
    return FALSE;
  }
  if (!gst_stereo_calibration_load (&loaded, settings->calibration, &options, message))
    return FALSE;
  self->loaded = loaded;
  log_calibration (self, settings->calibration);
  return TRUE;
}

gboolean
gst_stereo_rectify_maps_load (GstStereoRectifyMaps *self, const GstStereoRectifySettings *settings, guint serial)
{
  gboolean works = self->loaded_serial != 0, loaded;
  gchar *message = NULL;

  if (serial == self->loaded_serial)
    return TRUE;
  loaded = read_calibration (self, settings, &message);
  if (!loaded && works)
    GST_ELEMENT_WARNING (self->owner, RESOURCE, READ, ("%s The calibration before stays in force.", message), (NULL));
  else if (!loaded)
    GST_ELEMENT_ERROR (self->owner, RESOURCE, READ, ("%s", message), (NULL));
  g_free (message);
  if (loaded || works)
    self->loaded_serial = serial;
  return loaded || works;
}

/* ---- rectification ----------------------------------------------------------------------- */

/* Where numbers of pictures of another size give no views at all, the error says so. */
static GstFlowReturn
post_rectify_error (GstStereoRectifyMaps *self, const StereoCalibration *scaled, const GstStereoLayout *layout,
    const StereoError *error)
{
  gchar *doubt = NULL;

  if (error->status == STEREO_ERROR_PARAMETER)
    doubt = gst_stereo_calibration_doubt_size (&self->calibration, scaled, NULL, 0);
  else if (error->status == STEREO_ERROR_SIZE && self->calibration.width > 0)
    doubt = gst_stereo_calibration_doubt_aspect (&self->calibration, layout->width, layout->height);
  if (!doubt && error->status == STEREO_ERROR_PARAMETER)
    doubt = gst_stereo_calibration_doubt_focal_length (&scaled->camera[0], scaled->width);
  if (!doubt)
    return post_error (self, error);
  GST_ELEMENT_ERROR (self->owner, LIBRARY, SETTINGS, ("%s %s", error->message, doubt), (NULL));
  g_free (doubt);
  return GST_FLOW_NOT_NEGOTIATED;
}

GstFlowReturn
gst_stereo_rectify_maps_rectify (
    GstStereoRectifyMaps *self, const GstStereoRectifySettings *settings, const GstStereoLayout *layout)
{
  RectifiedKey key = { .serial = self->loaded_serial, .width = layout->width, .height = layout->height };
  StereoCalibration calibration;
  gint width = settings->width, height = settings->height;
  gboolean works = self->rectified_key.serial != 0;
  StereoRectification rectification;
  StereoError error;

  if (memcmp (&key, &self->rectified_key, sizeof key) == 0)
    return GST_FLOW_OK;
  /* where one of the two is set, the other is that of the raw view */
  if (width && !height)
    height = layout->height;
  if (height && !width)
    width = layout->width;
  self->calibration = *gst_stereo_calibration_for (&self->loaded, layout->width, layout->height);
  calibration = self->calibration;
  if (stereo_calibration_scale (&calibration, layout->width, layout->height, &error) ||
      stereo_rectify (&calibration, settings->alpha, width, height, &rectification, &error))
    return post_rectify_error (self, &calibration, layout, &error);
  self->rectification = rectification;
  self->rectified_key = key;
  publish_geometry (self);
  /* the baseline is the same for all sizes of frames */
  if (self->doubted_serial != self->loaded_serial)
    gst_stereo_rectify_post_doubt (
        self->owner, gst_stereo_calibration_doubt_baseline (rectification.baseline, self->loaded.unit_mm));
  self->doubted_serial = self->loaded_serial;
  gst_stereo_rectify_post_doubts (self->owner, &self->calibration, &calibration, &rectification, settings->alpha);
  return gst_stereo_rectify_save (self->owner, settings, &calibration, &rectification, works) ? GST_FLOW_OK :
                                                                                                GST_FLOW_ERROR;
}

const StereoRectification *
gst_stereo_rectify_maps_rectification (const GstStereoRectifyMaps *self)
{
  return self->rectified_key.serial ? &self->rectification : NULL;
}

/* ---- remap ------------------------------------------------------------------------------- */

static GstFlowReturn
make_remap (GstStereoRectifyMaps *self, const GstStereoRectifySettings *settings, const GstStereoLayout *layout,
    const GstStereoRectifyFormats *formats)
{
  GstStereoRecipe *recipe = &self->recipe;
  gboolean automatic = settings->params.backend == STEREO_BACKEND_AUTO;
  StereoError error;

  recipe->calibration = self->calibration;
  /* this did not fail when the rectification was computed */
  stereo_calibration_scale (&recipe->calibration, layout->width, layout->height, &error);
  recipe->raw_width = layout->width;
  recipe->raw_height = layout->height;
  recipe->rectification = self->rectification;
  recipe->plane_count = (gint) gst_stereo_rectify_describe_planes (formats, layout, recipe->planes);
  recipe->backend = automatic ? self->chosen_backend : settings->params.backend;
  recipe->cuda_device_id = settings->params.cuda_device_id;
  recipe->threads = settings->params.threads;
  self->remap = gst_stereo_recipe_make (recipe, &error);
  if (!self->remap)
    return post_error (self, &error);
  publish_backend (self);
  recipe->backend = g_str_equal (stereo_remap_backend (self->remap), "cuda") ? STEREO_BACKEND_CUDA : STEREO_BACKEND_CPU;
  if (automatic)
    self->chosen_backend = recipe->backend;
  return GST_FLOW_OK;
}

GstFlowReturn
gst_stereo_rectify_maps_prepare (GstStereoRectifyMaps *self, const GstStereoRectifySettings *settings,
    const GstStereoLayout *layout, const GstStereoRectifyFormats *formats)
{
  gboolean again = self->remap != NULL;
  RemapKey key;

  /* compared as a whole, padding and all */
  memset (&key, 0, sizeof key);
  key.rectified.serial = self->loaded_serial;
  key.rectified.width = layout->width;
  key.rectified.height = layout->height;
  key.packing = layout->packing;
  key.formats.left = formats->left;
  key.formats.right = formats->right;
  key.formats.out = formats->out;
  key.formats.site = formats->site;
  key.formats.full_range = formats->full_range;
  if (again && memcmp (&key, &self->remap_key, sizeof key) == 0)
    return GST_FLOW_OK;
  GST_DEBUG_OBJECT (self->owner, "makes maps (%s): raw views of %dx%d pixels, %s and %s, become %dx%d pixels of %s",
      !again                                                       ? "the first" :
          key.rectified.serial != self->remap_key.rectified.serial ? "properties changed" :
                                                                     "the frames changed",
      layout->width, layout->height, gst_video_format_to_string (formats->left),
      gst_video_format_to_string (formats->right), self->rectification.width, self->rectification.height,
      gst_video_format_to_string (formats->out));
  drop_remap (self);
  GstFlowReturn flow = make_remap (self, settings, layout, formats);
  if (flow == GST_FLOW_OK)
    self->remap_key = key;
  return flow;
}

GstFlowReturn
gst_stereo_rectify_maps_run (GstStereoRectifyMaps *self, const GstStereoLayout *layout, const GstVideoFrame *first,
    const GstVideoFrame *second, const GstVideoFrame *out, guint64 *compute_time)
{
  StereoRemapSource sources[STEREO_REMAP_MAX_PLANES];
  StereoRemapTarget targets[STEREO_REMAP_MAX_PLANES];
  StereoError error;

  gst_stereo_rectify_locate_planes (layout, first, second, out, sources, targets);
  if (stereo_remap_execute (self->remap, sources, targets, compute_time, &error) == STEREO_OK)
    return GST_FLOW_OK;
  post_error (self, &error);
  drop_remap (self);
  return GST_FLOW_ERROR;
}

/* ---- corrections ------------------------------------------------------------------------- */

void
gst_stereo_rectify_maps_forget_correction (GstStereoRectifyMaps *self)
{
  const GstStereoCorrection none = { 0 };

  if (self->job || memcmp (&self->recipe.correction, &none, sizeof none) != 0)
    drop_remap (self);
  self->recipe.correction = none;
}

/* FALSE after a warning: the maps at hand stay. */
static gboolean
take_corrected (GstStereoRectifyMaps *self, guint64 *ns)
{
  StereoError error = { 0 };
  StereoRemap *remap = gst_stereo_recipe_job_finish (g_steal_pointer (&self->job), ns, &error);

  if (!remap) {
    GST_WARNING_OBJECT (self->owner, "the maps were not corrected: %s", error.message);
    return FALSE;
  }
  stereo_remap_free (self->remap);
  self->remap = remap;
  self->recipe.correction = self->job_correction;
  return TRUE;
}

gboolean
gst_stereo_rectify_maps_correct (
    GstStereoRectifyMaps *self, const GstStereoCorrection *correction, gboolean wait, guint64 *ns)
{
  if (!self->remap)
    return FALSE;
  if (!self->job && memcmp (correction, &self->recipe.correction, sizeof *correction) != 0) {
    GstStereoRecipe recipe = self->recipe;
    recipe.correction = self->job_correction = *correction;
    self->job = gst_stereo_recipe_job_start (&recipe);
  }
  return self->job && (wait || gst_stereo_recipe_job_is_done (self->job)) && take_corrected (self, ns);
}

const GstStereoCorrection *
gst_stereo_rectify_maps_correction (const GstStereoRectifyMaps *self)
{
  return &self->recipe.correction;
}
