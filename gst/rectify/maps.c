/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/rectify/maps.h"

#include <string.h>

#include "gst/pairing/aggregator.h"
#include "gst/rectify/calibration/calibration.h"
#include "gst/video/file.h"
#include "gst/video/params.h"

#define VIEWS 2

/* What a rectification was made for; compared as a whole. */
typedef struct
{
  guint serial;       /* of the settings; 0 = none */
  gint width, height; /* of a raw view */
} RectifiedKey;

/* What a remap was made for. */
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
  guint loaded_serial;               /* of the settings it was loaded for; 0 = none */
  guint doubted_serial;              /* of the settings for which warnings were posted; 0 = none */
  StereoCalibration calibration;     /* scaled to the raw views of rectified_key */
  StereoRectification rectification; /* for rectified_key */
  RectifiedKey rectified_key;
  StereoRemap *remap; /* for remap_key; NULL: none */
  RemapKey remap_key;
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

/* Sets the properties that are read only, and notifies of those that change. */
static void
publish (GstStereoRectifyMaps *self, const gchar *backend)
{
  static const gchar *const names[] = { "focal-length", "baseline", "principal-offset" };
  const StereoRectification *r = &self->rectification;
  const GstStereoRectifyResults now = { backend, { r->focal_length, r->baseline, r->principal_offset } };

  GST_OBJECT_LOCK (self->owner);
  const GstStereoRectifyResults before = *self->results;
  *self->results = now;
  GST_OBJECT_UNLOCK (self->owner);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (before.geometry[i] != now.geometry[i])
      g_object_notify (G_OBJECT (self->owner), names[i]);
  if (before.backend != backend)
    g_object_notify (G_OBJECT (self->owner), "active-backend");
}

/* ---- planes: how and where samples lie in frames ------------------------------------------ */

/* Where the samples of a component of a view lie. */
typedef struct
{
  guint8 *data;
  gint stride;
  StereoRemapLayout layout;
} Component;

static void
halve_layout (StereoRemapLayout *layout, const GstVideoFormatInfo *format, guint c, GstVideoChromaSite site)
{
  layout->shift_x = GST_VIDEO_FORMAT_INFO_W_SUB (format, c);
  layout->shift_y = GST_VIDEO_FORMAT_INFO_H_SUB (format, c);
  layout->centred_x = site != GST_VIDEO_CHROMA_SITE_UNKNOWN && !(site & GST_VIDEO_CHROMA_SITE_H_COSITED);
  layout->centred_y = !(site & GST_VIDEO_CHROMA_SITE_V_COSITED);
}

/* How the samples of a component lie. Interleaved views share the chroma samples that lie on both of them. */
static Component
component_of (const GstVideoFormatInfo *format, guint c, GstVideoChromaSite site, const GstStereoLayout *layout)
{
  Component component = { NULL };

  halve_layout (&component.layout, format, c, site);
  component.layout.pixel_stride = GST_VIDEO_FORMAT_INFO_PSTRIDE (format, c);
  if (layout->packing == GST_STEREO_PACKING_COLUMN_INTERLEAVED && !component.layout.shift_x)
    component.layout.pixel_stride *= 2;
  if (layout->packing == GST_STEREO_PACKING_COLUMN_INTERLEAVED)
    component.layout.shift_x = 0;
  if (layout->packing == GST_STEREO_PACKING_ROW_INTERLEAVED)
    component.layout.shift_y = 0;
  return component;
}

/* Where they lie; @second: of the view that lies second in the frame. */
static void
place (Component *component, const GstVideoFrame *frame, guint c, const GstStereoLayout *layout, gboolean second)
{
  const GstVideoFormatInfo *format = frame->info.finfo;
  gint step = GST_VIDEO_FORMAT_INFO_PSTRIDE (format, c), by = second ? 1 : 0;
  gint half_x = GST_VIDEO_FORMAT_INFO_W_SUB (format, c), half_y = GST_VIDEO_FORMAT_INFO_H_SUB (format, c);

  component->data = GST_VIDEO_FRAME_COMP_DATA (frame, c);
  component->stride = GST_VIDEO_FRAME_COMP_STRIDE (frame, c);
  switch (layout->packing) {
    case GST_STEREO_PACKING_SIDE_BY_SIDE:
      component->data += (gsize) (by * (layout->width >> half_x)) * (gsize) step;
      break;
    case GST_STEREO_PACKING_TOP_BOTTOM:
      component->data += (gssize) (by * (layout->height >> half_y)) * component->stride;
      break;
    case GST_STEREO_PACKING_ROW_INTERLEAVED:
      if (!half_y) {
        component->data += by * component->stride;
        component->stride *= 2;
      }
      break;
    case GST_STEREO_PACKING_COLUMN_INTERLEAVED:
      component->data += half_x ? 0 : by * step;
      break;
    default:
      break;
  }
}

/* How many planes a view has: one for the bytes of RGB pixels, three for YUV, one for GRAY8. */
static guint
planes_of_view (GstVideoFormat out)
{
  const GstVideoFormatInfo *format = gst_video_format_get_info (out);

  return GST_VIDEO_FORMAT_INFO_IS_YUV (format) ? 3 : 1;
}

static void
describe_rgb (StereoRemapPlane *plane, const GstVideoFormatInfo *format, const GstStereoLayout *layout)
{
  plane->channels = GST_VIDEO_FORMAT_INFO_PSTRIDE (format, 0);
  plane->target.pixel_stride = plane->source.pixel_stride = plane->channels;
  if (layout->packing == GST_STEREO_PACKING_COLUMN_INTERLEAVED)
    plane->source.pixel_stride *= 2;
  for (gint c = 0; c < plane->channels; c++)
    plane->source.offset[c] = plane->target.offset[c] = (guint8) c;
  if (GST_VIDEO_FORMAT_INFO_HAS_ALPHA (format))
    plane->border[GST_VIDEO_FORMAT_INFO_POFFSET (format, GST_VIDEO_COMP_A)] = 255;
}

/* How the samples of both views lie in such frames: the planes of the left view come first. Writes at most
 * STEREO_REMAP_MAX_PLANES and gives their number. */
static guint
describe_planes (const GstStereoRectifyFormats *formats, const GstStereoLayout *layout, StereoRemapPlane *planes)
{
  const GstVideoFormatInfo *out = gst_video_format_get_info (formats->out);
  const GstStereoLayout single = { GST_STEREO_PACKING_AUTO };
  guint each = planes_of_view (formats->out);

  memset (planes, 0, VIEWS * each * sizeof *planes);
  for (guint p = 0; p < VIEWS * each; p++) {
    const GstVideoFormatInfo *in = gst_video_format_get_info (p < each ? formats->left : formats->right);
    guint c = p % each;
    planes[p].map = p < each ? 0 : 1;
    if (GST_VIDEO_FORMAT_INFO_IS_RGB (out)) {
      describe_rgb (&planes[p], out, layout);
      continue;
    }
    planes[p].channels = 1;
    planes[p].source = component_of (in, c, formats->site, layout).layout;
    planes[p].target = component_of (out, c, formats->site, &single).layout;
    planes[p].border[0] = c ? 128 : GST_VIDEO_FORMAT_INFO_IS_YUV (out) && !formats->full_range ? 16 : 0;
  }
  return VIEWS * each;
}

/* Where they lie in these frames. */
static void
locate_planes (const GstStereoLayout *layout, const GstVideoFrame *first, const GstVideoFrame *second,
    const GstVideoFrame *out, StereoRemapSource *sources, StereoRemapTarget *targets)
{
  const GstStereoLayout beside = { .packing = GST_STEREO_PACKING_SIDE_BY_SIDE,
    .width = GST_VIDEO_FRAME_WIDTH (out) / VIEWS,
    .height = GST_VIDEO_FRAME_HEIGHT (out) };
  guint each = planes_of_view (GST_VIDEO_FRAME_FORMAT (out));

  for (guint p = 0; p < VIEWS * each; p++) {
    gboolean right = p >= each, later = right != layout->right_first;
    Component source, target;
    place (&source, later ? second : first, p % each, layout, later);
    place (&target, out, p % each, &beside, right);
    sources[p] = (StereoRemapSource){ source.data, source.stride, STEREO_MEMORY_HOST };
    targets[p] = (StereoRemapTarget){ target.data, target.stride, STEREO_MEMORY_HOST };
    /* a pixel begins with its first byte, whichever component that is */
    if (GST_VIDEO_INFO_IS_RGB (&out->info)) {
      sources[p].data -= GST_VIDEO_FRAME_COMP_POFFSET (out, 0);
      targets[p].data -= GST_VIDEO_FRAME_COMP_POFFSET (out, 0);
    }
  }
}

/* ---- calibration ------------------------------------------------------------------------- */

gboolean
gst_stereo_rectify_maps_load (GstStereoRectifyMaps *self, const GstStereoRectifySettings *settings, guint serial)
{
  const GstStereoCalibrationOptions options = { settings->unit, settings->calibration_width,
    settings->calibration_height };
  gboolean works = self->loaded_serial != 0, set = settings->calibration && *settings->calibration;
  g_autofree gchar *message = NULL;
  GstStereoCalibration loaded = { 0 };

  if (serial == self->loaded_serial)
    return TRUE;
  if (set && gst_stereo_calibration_load (&loaded, settings->calibration, &options, &message)) {
    self->loaded = loaded;
    for (gint v = 0; v < VIEWS; v++) {
      const StereoCamera *camera = &loaded.whole.camera[v];
      GST_DEBUG_OBJECT (self->owner,
          "read calibration %s: views of %dx%d pixels (0x0: the file does not say); %s camera: fx %g, fy %g, cx %g, cy %g "
          "px, k1 %g",
          settings->calibration, loaded.whole.width, loaded.whole.height, v ? "right" : "left", camera->fx, camera->fy,
          camera->cx, camera->cy, camera->distortion[0]);
    }
  } else if (!set) {
    message = g_strdup ("No calibration is set, and without one nothing can be rectified: set calibration=FILE, or "
                        "calibration=LEFT,RIGHT for two of ROS.");
  }
  if (message && works)
    GST_ELEMENT_WARNING (self->owner, RESOURCE, READ, ("%s The calibration before stays in force.", message), (NULL));
  else if (message)
    GST_ELEMENT_ERROR (self->owner, RESOURCE, READ, ("%s", message), (NULL));
  if (message && !works)
    return FALSE;
  self->loaded_serial = serial;
  return TRUE;
}

/* ---- rectification ----------------------------------------------------------------------- */

/* Where numbers of pictures of another size give no views at all, the error says so. @loaded, @scaled: the calibration as it
 * was read, and for the frames. */
static GstFlowReturn
post_rectify_error (GstStereoRectifyMaps *self, const GstStereoRectifySettings *settings,
    const StereoCalibration *loaded, const StereoCalibration *scaled, const GstStereoLayout *layout,
    const StereoError *error)
{
  g_autofree gchar *doubt = NULL;

  if (error->status == STEREO_ERROR_PARAMETER)
    doubt = gst_stereo_calibration_doubt_size (loaded, scaled, NULL, 0);
  else if (error->status == STEREO_ERROR_SIZE && loaded->width > 0)
    doubt = gst_stereo_calibration_doubt_aspect (loaded, layout->width, layout->height);
  if (!doubt && error->status == STEREO_ERROR_PARAMETER)
    doubt = gst_stereo_calibration_doubt_focal_length (&scaled->camera[0], scaled->width);
  GST_ELEMENT_ERROR (self->owner, LIBRARY, SETTINGS,
      ("%s: %s%s%s", settings->calibration, error->message, doubt ? " " : "", doubt ? doubt : ""), (NULL));
  return GST_FLOW_NOT_NEGOTIATED;
}

/* Posts a warning. Takes the text; NULL: there is no doubt. */
static gboolean
post_doubt (GstStereoRectifyMaps *self, gchar *text)
{
  if (text)
    GST_ELEMENT_WARNING (self->owner, STREAM, WRONG_TYPE, ("%s", text), (NULL));
  g_free (text);
  return text != NULL;
}

static void
post_doubts (GstStereoRectifyMaps *self, const StereoCalibration *loaded, gdouble alpha)
{
  const StereoCalibration *scaled = &self->calibration;
  const StereoRectification *r = &self->rectification;

  /* the baseline is the same for all sizes of frames */
  if (self->doubted_serial != self->loaded_serial)
    post_doubt (self, gst_stereo_calibration_doubt_baseline (r->baseline, self->loaded.unit_mm));
  self->doubted_serial = self->loaded_serial;
  post_doubt (self, gst_stereo_calibration_doubt_roi (&self->loaded, scaled->width, scaled->height));
  /* numbers of another size or unit have more faults, which go with the first one */
  if (post_doubt (self, gst_stereo_calibration_doubt_size (loaded, scaled, r, alpha)) ||
      post_doubt (self, gst_stereo_calibration_doubt_focal_length (&scaled->camera[0], scaled->width)))
    return;
  post_doubt (self, gst_stereo_calibration_doubt_lens (scaled));
}

/* Writes the file of save=, if that is set. FALSE after an error; where frames pass already, as @works says, a warning takes
 * its place and they go on. */
static gboolean
save (GstStereoRectifyMaps *self, const GstStereoRectifySettings *settings, gboolean works)
{
  static const GstStereoFileRules rules = { .property = "save",
    .instead = "a file in a folder that can be written to, or leave it unset" };
  g_autofree gchar *text = NULL, *message = NULL;

  if (!settings->save || !*settings->save)
    return TRUE;
  text = gst_stereo_calibration_write (&self->calibration, &self->rectification);
  if (gst_stereo_calibration_reads (settings->calibration, settings->save))
    message = g_strdup_printf (
        "save=%s names the file of the calibration itself, which would be lost: set save= to another file.",
        settings->save);
  else if (gst_stereo_file_write (&rules, settings->save, text, strlen (text), &message))
    GST_INFO_OBJECT (self->owner, "saved the rectified calibration to %s", settings->save);
  if (message && works)
    GST_ELEMENT_WARNING (self->owner, RESOURCE, WRITE, ("%s", message), (NULL));
  else if (message)
    GST_ELEMENT_ERROR (self->owner, RESOURCE, WRITE, ("%s", message), (NULL));
  return works || !message;
}

GstFlowReturn
gst_stereo_rectify_maps_rectify (
    GstStereoRectifyMaps *self, const GstStereoRectifySettings *settings, const GstStereoLayout *layout)
{
  RectifiedKey key = { .serial = self->loaded_serial, .width = layout->width, .height = layout->height };
  /* where one of the two is set, the other is that of the raw view */
  gint width = settings->height && !settings->width ? layout->width : settings->width;
  gint height = settings->width && !settings->height ? layout->height : settings->height;
  gboolean works = self->rectified_key.serial != 0;
  StereoRectification rectification;
  StereoError error;

  if (memcmp (&key, &self->rectified_key, sizeof key) == 0)
    return GST_FLOW_OK;
  const StereoCalibration loaded = gst_stereo_calibration_for (&self->loaded, layout->width, layout->height);
  StereoCalibration scaled = loaded;
  if (stereo_calibration_scale (&scaled, layout->width, layout->height, &error) ||
      stereo_rectify (&scaled, settings->alpha, width, height, &rectification, &error))
    return post_rectify_error (self, settings, &loaded, &scaled, layout, &error);
  self->calibration = scaled;
  self->rectification = rectification;
  self->rectified_key = key;
  GST_INFO_OBJECT (self->owner, "rectified views of %dx%d: focal length %g px, baseline %g mm, principal offset %g px",
      rectification.width, rectification.height, rectification.focal_length, rectification.baseline,
      rectification.principal_offset);
  publish (self, self->remap ? g_intern_string (stereo_remap_backend (self->remap)) : NULL);
  post_doubts (self, &loaded, settings->alpha);
  return save (self, settings, works) ? GST_FLOW_OK : GST_FLOW_ERROR;
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
  const StereoRectification *r = &self->rectification;
  gsize pixels = (gsize) r->width * (gsize) r->height;
  /* of the left view, then of the right one, x before y */
  g_autofree gfloat *memory = g_try_new (gfloat, 2 * VIEWS * pixels);
  gboolean automatic = settings->params.backend == STEREO_BACKEND_AUTO;
  StereoRemapPlane planes[STEREO_REMAP_MAX_PLANES];
  StereoRemapMap maps[VIEWS];
  StereoRemapParams params = { .maps = maps,
    .map_count = VIEWS,
    .planes = planes,
    .plane_count = (gint) describe_planes (formats, layout, planes),
    .backend = automatic ? self->chosen_backend : settings->params.backend,
    .cuda_device_id = settings->params.cuda_device_id,
    .threads = settings->params.threads };
  StereoError error;

  if (!memory) {
    GST_ELEMENT_ERROR (self->owner, RESOURCE, NO_SPACE_LEFT,
        ("There is no memory for the maps of views of %dx%d pixels.", r->width, r->height), (NULL));
    return GST_FLOW_ERROR;
  }
  for (gint v = 0; v < VIEWS; v++) {
    gfloat *x = memory + (gsize) (2 * v) * pixels, *y = x + pixels;
    stereo_rectify_map (&self->calibration, r, v, x, y, r->width, 0, r->height);
    maps[v] = (StereoRemapMap){ r->width, r->height, layout->width, layout->height, x, y, r->width };
  }
  self->remap = stereo_remap_new (&params, &error);
  if (!self->remap)
    return post_error (self, &error);
  const gchar *backend = g_intern_string (stereo_remap_backend (self->remap));
  GST_INFO_OBJECT (self->owner, "on %s: %s", backend, stereo_remap_backend_reason (self->remap));
  publish (self, backend);
  if (automatic)
    self->chosen_backend = g_str_equal (backend, "cuda") ? STEREO_BACKEND_CUDA : STEREO_BACKEND_CPU;
  return GST_FLOW_OK;
}

GstFlowReturn
gst_stereo_rectify_maps_prepare (GstStereoRectifyMaps *self, const GstStereoRectifySettings *settings,
    const GstStereoLayout *layout, const GstStereoRectifyFormats *formats)
{
  /* compared as a whole: all members have four bytes, so there is no padding */
  const RemapKey key = { self->rectified_key, layout->packing, *formats };

  if (self->remap && memcmp (&key, &self->remap_key, sizeof key) == 0)
    return GST_FLOW_OK;
  GST_DEBUG_OBJECT (self->owner, "makes maps (%s): raw views of %dx%d pixels, %s and %s, become %dx%d pixels of %s",
      !self->remap                                                 ? "the first" :
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

  locate_planes (layout, first, second, out, sources, targets);
  if (stereo_remap_execute (self->remap, sources, targets, compute_time, &error) == STEREO_OK)
    return GST_FLOW_OK;
  post_error (self, &error);
  drop_remap (self);
  return GST_FLOW_ERROR;
}
