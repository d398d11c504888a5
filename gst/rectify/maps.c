/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From a calibration and the frames' formats to what the engine does with a frame. */
#include "gst/rectify/element.h"

#include "gst/rectify/calibration/calibration.h"
#include "gst/video/error.h"

#define GST_CAT_DEFAULT gst_stereo_rectify_debug

#define VIEWS 2

GstFlowReturn
gst_stereo_rectify_post_error (GstStereoRectify *self, const StereoError *error)
{
  if (error->status != STEREO_ERROR_SIZE)
    return gst_stereo_post_error (GST_ELEMENT (self), error);
  GST_ELEMENT_ERROR (self, CORE, NEGOTIATION, ("%s", error->message), (NULL));
  return GST_FLOW_NOT_NEGOTIATED;
}

/* ---- calibration ------------------------------------------------------------------------- */

/* A copy to work with. Free the calibration's name. */
static GstStereoRectifySettings
current_settings (GstStereoRectify *self, guint *serial)
{
  GstStereoRectifySettings settings;

  GST_OBJECT_LOCK (self);
  settings = self->settings;
  settings.calibration = g_strdup (settings.calibration);
  *serial = self->serial;
  GST_OBJECT_UNLOCK (self);
  return settings;
}

gboolean
gst_stereo_rectify_load (GstStereoRectify *self)
{
  GstStereoRectifySettings settings;
  gboolean loaded = FALSE;
  gchar *message = NULL;
  guint serial;

  settings = current_settings (self, &serial);
  if (serial == self->loaded_serial) {
    loaded = TRUE;
  } else if (!settings.calibration || !*settings.calibration) {
    GST_ELEMENT_ERROR (self, RESOURCE, NOT_FOUND,
        ("No calibration is set, and without one nothing can be rectified: set "
         "calibration=FILE, or calibration=LEFT,RIGHT for two of ROS."),
        (NULL));
  } else if (!gst_stereo_calibration_load (&self->calibration, settings.calibration, settings.unit, &message)) {
    GST_ELEMENT_ERROR (self, RESOURCE, READ, ("%s", message), (NULL));
    g_free (message);
  } else {
    self->loaded_serial = serial;
    loaded = TRUE;
  }
  g_free (settings.calibration);
  return loaded;
}

/* ---- rectification ----------------------------------------------------------------------- */

static void
publish (GstStereoRectify *self)
{
  static const gchar *const names[] = { "focal-length", "baseline", "principal-offset" };
  const StereoRectification *rectification = &self->rectification;
  gboolean changed;

  GST_OBJECT_LOCK (self);
  changed = self->focal_length != rectification->focal_length || self->baseline != rectification->baseline ||
            self->principal_offset != rectification->principal_offset;
  self->focal_length = rectification->focal_length;
  self->baseline = rectification->baseline;
  self->principal_offset = rectification->principal_offset;
  GST_OBJECT_UNLOCK (self);
  GST_INFO_OBJECT (self, "rectified views of %dx%d: focal length %g px, baseline %g mm, principal offset %g px",
      rectification->width, rectification->height, rectification->focal_length, rectification->baseline,
      rectification->principal_offset);
  for (guint i = 0; i < G_N_ELEMENTS (names) && changed; i++)
    g_object_notify (G_OBJECT (self), names[i]);
}

GstFlowReturn
gst_stereo_rectify_compute (GstStereoRectify *self, const GstStereoLayout *layout)
{
  GstStereoRectifyKey key = { .serial = self->loaded_serial, .width = layout->width, .height = layout->height };
  StereoCalibration calibration = self->calibration;
  StereoRectification rectification;
  GstStereoRectifySettings settings;
  StereoError error;
  guint serial;

  if (memcmp (&key, &self->rectified_key, sizeof key) == 0)
    return GST_FLOW_OK;
  settings = current_settings (self, &serial);
  g_free (settings.calibration);
  /* one of the two is enough to ask for: the other stays */
  if (settings.width && !settings.height)
    settings.height = layout->height;
  if (settings.height && !settings.width)
    settings.width = layout->width;
  if (stereo_calibration_scale (&calibration, layout->width, layout->height, &error) ||
      stereo_rectify (&calibration, settings.alpha, settings.width, settings.height, &rectification, &error))
    return gst_stereo_rectify_post_error (self, &error);
  self->rectification = rectification;
  self->rectified_key = key;
  publish (self);
  return GST_FLOW_OK;
}

/* ---- planes ------------------------------------------------------------------------------ */

/* Where the samples of a component lie; @second: of the view that lies second in the frame. */
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

/* Interleaved views share the chroma samples that lie on both. */
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

/* Planes of a view: the bytes of RGB pixels together, each component of YUV for itself, the luma alone for GRAY8. */
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

static guint
describe_planes (const GstStereoRectifyKey *key, const GstStereoLayout *layout, StereoRemapPlane *planes)
{
  const GstVideoFormatInfo *out = gst_video_format_get_info (key->out);
  const GstStereoLayout single = { GST_STEREO_PACKING_AUTO };
  guint each = planes_of_view (key->out);

  memset (planes, 0, VIEWS * each * sizeof *planes);
  for (guint p = 0; p < VIEWS * each; p++) {
    const GstVideoFormatInfo *in = gst_video_format_get_info (p < each ? key->left : key->right);
    guint c = p % each;
    planes[p].map = p < each ? 0 : 1;
    if (GST_VIDEO_FORMAT_INFO_IS_RGB (out)) {
      describe_rgb (&planes[p], out, layout);
      continue;
    }
    planes[p].channels = 1;
    planes[p].source = component_of (in, c, key->site, layout).layout;
    planes[p].target = component_of (out, c, key->site, &single).layout;
    planes[p].border[0] = c ? 128 : GST_VIDEO_FORMAT_INFO_IS_YUV (out) && !key->full_range ? 16 : 0;
  }
  return VIEWS * each;
}

void
gst_stereo_rectify_planes (GstStereoRectify *self, const GstStereoLayout *layout, const GstVideoFrame *first,
    const GstVideoFrame *second, const GstVideoFrame *out, StereoRemapSource *sources, StereoRemapTarget *targets)
{
  const GstStereoLayout beside = {
    .packing = GST_STEREO_PACKING_SIDE_BY_SIDE, .width = self->rectification.width, .height = self->rectification.height
  };
  guint each = planes_of_view (self->key.out);

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

/* ---- remap ------------------------------------------------------------------------------- */

void
gst_stereo_rectify_drop_remap (GstStereoRectify *self)
{
  g_clear_pointer (&self->remap, stereo_remap_free);
  memset (&self->key, 0, sizeof self->key);
}

/* The maps of both views one after another, x then y; NULL is no memory. */
static gfloat *
make_maps (GstStereoRectify *self, const GstStereoLayout *layout, StereoRemapMap *maps)
{
  const StereoRectification *rectification = &self->rectification;
  StereoCalibration calibration = self->calibration;
  gint width = rectification->width, height = rectification->height;
  gsize pixels = (gsize) width * (gsize) height;
  gfloat *memory = g_try_new (gfloat, 2 * VIEWS * pixels);
  StereoError error;

  if (!memory)
    return NULL;
  /* as it was for the rectification, which did not fail */
  stereo_calibration_scale (&calibration, layout->width, layout->height, &error);
  for (gint v = 0; v < VIEWS; v++) {
    gfloat *x = memory + (gsize) (2 * v) * pixels, *y = x + pixels;
    stereo_rectify_map (&calibration, rectification, v, x, y, width, 0, height);
    maps[v] = (StereoRemapMap){ width, height, layout->width, layout->height, x, y, width };
  }
  return memory;
}

static void
adopt_remap (GstStereoRectify *self, gboolean automatic)
{
  const gchar *backend = g_intern_string (stereo_remap_backend (self->remap));
  gboolean changed;

  GST_OBJECT_LOCK (self);
  changed = self->backend != backend;
  self->backend = backend;
  GST_OBJECT_UNLOCK (self);
  if (automatic)
    self->chosen_backend = g_str_equal (backend, "cuda") ? STEREO_BACKEND_CUDA : STEREO_BACKEND_CPU;
  GST_INFO_OBJECT (self, "on %s: %s", backend, stereo_remap_backend_reason (self->remap));
  if (changed)
    g_object_notify (G_OBJECT (self), "active-backend");
}

static GstFlowReturn
make_remap (GstStereoRectify *self, const GstStereoRectifyKey *key, const GstStereoLayout *layout)
{
  StereoRemapPlane planes[STEREO_REMAP_MAX_PLANES];
  StereoRemapMap maps[VIEWS];
  GstStereoRectifySettings settings;
  StereoRemapParams params = { .maps = maps, .map_count = VIEWS, .planes = planes };
  StereoError error;
  gfloat *memory;
  guint serial;

  settings = current_settings (self, &serial);
  g_free (settings.calibration);
  params.plane_count = (gint) describe_planes (key, layout, planes);
  params.backend = settings.params.backend == STEREO_BACKEND_AUTO ? self->chosen_backend : settings.params.backend;
  params.cuda_device_id = settings.params.cuda_device_id;
  params.threads = settings.params.threads;
  memory = make_maps (self, layout, maps);
  if (!memory) {
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
        ("No memory for the maps of views of %dx%d pixels.", self->rectification.width, self->rectification.height),
        (NULL));
    return GST_FLOW_ERROR;
  }
  self->remap = stereo_remap_new (&params, &error);
  g_free (memory);
  if (!self->remap)
    return gst_stereo_rectify_post_error (self, &error);
  adopt_remap (self, settings.params.backend == STEREO_BACKEND_AUTO);
  return GST_FLOW_OK;
}

GstFlowReturn
gst_stereo_rectify_ensure_remap (GstStereoRectify *self, const GstStereoFrame *left, const GstStereoFrame *right)
{
  GstStereoRectifyKey key;
  GstFlowReturn flow;

  /* compared as a whole, padding and all */
  memset (&key, 0, sizeof key);
  key.serial = self->loaded_serial;
  key.width = left->layout.width;
  key.height = left->layout.height;
  key.packing = left->layout.packing;
  key.left = GST_VIDEO_INFO_FORMAT (&left->info);
  key.right = GST_VIDEO_INFO_FORMAT (&right->info);
  key.out = GST_VIDEO_INFO_FORMAT (&self->out_info);
  key.site = GST_VIDEO_INFO_CHROMA_SITE (&left->info);
  key.full_range = GST_VIDEO_INFO_COLORIMETRY (&left->info).range == GST_VIDEO_COLOR_RANGE_0_255;
  if (self->remap && memcmp (&key, &self->key, sizeof key) == 0)
    return GST_FLOW_OK;
  gst_stereo_rectify_drop_remap (self);
  flow = make_remap (self, &key, &left->layout);
  if (flow == GST_FLOW_OK)
    self->key = key;
  return flow;
}
