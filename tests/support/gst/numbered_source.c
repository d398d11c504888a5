/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/support/gst/numbered_source.h"

#include <gst/base/gstpushsrc.h>

#include "tests/support/gst/numbered.h"

typedef struct
{
  GstPushSrc parent;
  GstVideoFormat format;
  gboolean right;
  gint64 count, next;
  guint slowness;
} NumberedSource;

typedef GstPushSrcClass NumberedSourceClass;

static GType numbered_source_get_type (void);
G_DEFINE_TYPE (NumberedSource, numbered_source, GST_TYPE_PUSH_SRC)

static GstStaticPadTemplate template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS ("video/x-raw"));

static GstCaps *
get_caps (GstBaseSrc *base, GstCaps *filter)
{
  const NumberedSource *self = (NumberedSource *) base;

  return gst_caps_new_simple ("video/x-raw", "format", G_TYPE_STRING, gst_video_format_to_string (self->format), "width",
      G_TYPE_INT, NUMBERED_WIDTH, "height", G_TYPE_INT, NUMBERED_HEIGHT, "framerate", GST_TYPE_FRACTION, 25, 1, NULL);
}

static gboolean
is_seekable (GstBaseSrc *base)
{
  return TRUE;
}

/* The frame that is shown at the segment's start, or, backwards, just before its stop. */
static gboolean
do_seek (GstBaseSrc *base, GstSegment *segment)
{
  NumberedSource *self = (NumberedSource *) base;

  if (segment->rate > 0)
    self->next = (gint64) (segment->start / NUMBERED_FRAME);
  else
    self->next = (gint64) ((segment->stop + NUMBERED_FRAME - 1) / NUMBERED_FRAME) - 1;
  return TRUE;
}

static GstFlowReturn
create (GstPushSrc *base, GstBuffer **buffer)
{
  NumberedSource *self = (NumberedSource *) base;

  if (self->next < 0 || self->next >= self->count)
    return GST_FLOW_EOS;
  /* one is faster than the other, and not always the same one */
  if (self->slowness)
    g_usleep ((gulong) g_random_int_range (0, (gint32) self->slowness));
  *buffer = numbered_view_as (self->format, (guint) self->next, self->right, NUMBERED_WIDTH);
  GST_BUFFER_PTS (*buffer) = (GstClockTime) self->next * NUMBERED_FRAME;
  GST_BUFFER_DURATION (*buffer) = NUMBERED_FRAME;
  self->next += GST_BASE_SRC (self)->segment.rate > 0 ? 1 : -1;
  return GST_FLOW_OK;
}

static void
numbered_source_class_init (NumberedSourceClass *klass)
{
  GstBaseSrcClass *base_class = GST_BASE_SRC_CLASS (klass);

  gst_element_class_add_static_pad_template (GST_ELEMENT_CLASS (klass), &template);
  gst_element_class_set_static_metadata (GST_ELEMENT_CLASS (klass), "Numbered views", "Source", "For tests", "tests");
  base_class->get_caps = get_caps;
  base_class->is_seekable = is_seekable;
  base_class->do_seek = do_seek;
  GST_PUSH_SRC_CLASS (klass)->create = create;
}

static void
numbered_source_init (NumberedSource *self)
{
  gst_base_src_set_format (GST_BASE_SRC (self), GST_FORMAT_TIME);
}

GstElement *
numbered_source_new (GstVideoFormat format, gboolean right, guint count, guint slowness)
{
  NumberedSource *self = g_object_new (numbered_source_get_type (), NULL);

  self->format = format;
  self->right = right;
  self->count = count;
  self->slowness = slowness;
  return GST_ELEMENT (self);
}
