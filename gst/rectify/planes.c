/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/rectify/planes.h"

#include <string.h>

#define VIEWS 2

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

guint
gst_stereo_rectify_describe_planes (
    const GstStereoRectifyFormats *formats, const GstStereoLayout *layout, StereoRemapPlane *planes)
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

void
gst_stereo_rectify_locate_planes (const GstStereoLayout *layout, const GstVideoFrame *first,
    const GstVideoFrame *second, const GstVideoFrame *out, StereoRemapSource *sources, StereoRemapTarget *targets)
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
