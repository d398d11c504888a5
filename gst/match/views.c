/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the views bring along: a GstStereoMeta of kind "views", from stereorectify or stereotestsrc.
 *
 * It stands in for each of focal-length, baseline and principal-offset that was left at 0. Nothing is kept from pair to
 * pair: a pair whose views say nothing is one of which nothing is known, for what was true of the last one may be wrong
 * now. videoscale scales the meta, or drops it where it cannot; a meta of another size is of another picture.
 */
#include "gst/match/element.h"

#include "gst/meta/gststereometa.h"

#include <math.h>

#define GST_CAT_DEFAULT gst_stereo_match_debug

/* Of what was set and what is known, the relative difference that is worth a word. */
#define SAME 1e-3

static const GstStereoMeta *
meta_of_views (const GstStereoFrame *frame)
{
  const GstStereoMeta *meta = gst_buffer_get_stereo_meta (frame->buffer);

  return meta && meta->kind == GST_STEREO_OUTPUT_KIND_VIEWS ? meta : NULL;
}

static gboolean
of_this_size (GstStereoMatch *self, const GstStereoMeta *meta, const GstStereoLayout *layout)
{
  if (meta->width == (guint) layout->width && meta->height == (guint) layout->height)
    return TRUE;
  if (!self->warned_size)
    GST_ELEMENT_WARNING (self, STREAM, FORMAT,
        ("The metadata that came with the views is of views of %ux%u pixels, and "
         "these have %dx%d: it is not used. Set focal-length and baseline, or let nothing change the size after the "
         "element that wrote it.",
            meta->width, meta->height, layout->width, layout->height),
        (NULL));
  self->warned_size = TRUE;
  return FALSE;
}

/* A number from elsewhere must not be what fails the plan: 0 where the property could not be set to it. */
static gdouble
usable (const gchar *property, gdouble value)
{
  const StereoParamInfo *info = stereo_param_find (property);

  return isfinite (value) && value >= info->min && value <= info->max ? value : 0;
}

void
gst_stereo_match_read_views (
    GstStereoMatch *self, const GstStereoFrame *left, const GstStereoFrame *right, GstBuffer **truth)
{
  const GstStereoMeta *meta = meta_of_views (left);

  /* the truth is of the left view, whatever a right one carries */
  if (meta && meta->truth && meta->width == (guint) left->layout.width && meta->height == (guint) left->layout.height)
    gst_buffer_replace (truth, meta->truth);
  if (!meta)
    meta = meta_of_views (right);
  self->known = (GstStereoGeometry){ 0 };
  if (!meta || !of_this_size (self, meta, &left->layout))
    return;
  self->known.focal_length = usable ("focal-length", meta->focal_length);
  self->known.baseline = usable ("baseline", meta->baseline);
  self->known.principal_offset = usable ("principal-offset", meta->principal_offset);
}

static void
take (GstStereoMatch *self, const gchar *property, gdouble *set, gdouble known)
{
  if (*set == 0)
    *set = known;
  else if (fabs (*set - known) > SAME * MAX (fabs (*set), fabs (known)) && !self->warned_geometry) {
    self->warned_geometry = TRUE;
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
        ("%s=%g was set, and the metadata that came with the views says %g: "
         "what was set is used. Leave %s at 0 to take theirs.",
            property, *set, known, property),
        (NULL));
  }
}

void
gst_stereo_match_apply_known (GstStereoMatch *self, StereoParams *params)
{
  const GstStereoGeometry *known = &self->known;

  if (known->focal_length > 0)
    take (self, "focal-length", &params->focal_length, known->focal_length);
  if (known->baseline > 0)
    take (self, "baseline", &params->baseline, known->baseline);
  /* an offset of 0 is known too, where anything is */
  if (known->focal_length > 0 || known->principal_offset != 0)
    take (self, "principal-offset", &params->principal_offset, known->principal_offset);
}

/* Disparities are the same whatever the cameras: only depth is computed from these. */
gboolean
gst_stereo_match_plan_is_for (GstStereoMatch *self, const StereoParams *params)
{
  const StereoParams *planned = stereo_plan_params (self->plan);

  return params->output != STEREO_OUTPUT_DEPTH ||
         (planned->focal_length == params->focal_length && planned->baseline == params->baseline &&
             planned->principal_offset == params->principal_offset);
}

void
gst_stereo_match_show_geometry (GstStereoMatch *self, const StereoParams *params)
{
  GST_OBJECT_LOCK (self);
  self->in_force.focal_length = params->focal_length;
  self->in_force.baseline = params->baseline;
  self->in_force.principal_offset = params->principal_offset;
  GST_OBJECT_UNLOCK (self);
}
