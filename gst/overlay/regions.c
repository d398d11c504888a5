/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/overlay/regions.h"

#include "gst/overlay/debug.h"
#include "gst/nearest/search/box_object.h"

#include <math.h>
#include <string.h>

#ifdef HAVE_GST_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

#define PARAMETER "stereo-distance"

typedef struct
{
  GstVideoRegionOfInterestMeta roi; /* its type and its box */
  gboolean detected;                /* it is a GstAnalyticsODMtd: the output gets a region for it */
  GstStructure *parameter;
} Region;

struct _GstDepthOverlayRegions
{
  GstElement *owner;
  GstStereoBoxObjectFinder *finder;
  GArray *regions; /* of Region, in the order of the buffer's metas */
  GArray *boxes;   /* of GstDepthOverlayBox */
};

static void
clear_region (gpointer data)
{
  gst_clear_structure (&((Region *) data)->parameter);
}

GstDepthOverlayRegions *
gst_depth_overlay_regions_new (GstElement *owner)
{
  GstDepthOverlayRegions *regions = g_new0 (GstDepthOverlayRegions, 1);

  regions->owner = owner;
  regions->finder = gst_stereo_box_object_finder_new ();
  regions->regions = g_array_new (FALSE, TRUE, sizeof (Region));
  g_array_set_clear_func (regions->regions, clear_region);
  regions->boxes = g_array_new (FALSE, TRUE, sizeof (GstDepthOverlayBox));
  return regions;
}

void
gst_depth_overlay_regions_free (GstDepthOverlayRegions *regions)
{
  g_array_unref (regions->boxes);
  g_array_unref (regions->regions);
  gst_stereo_box_object_finder_free (regions->finder);
  g_free (regions);
}

/* stereoground's own, where depth is alone. */
static gboolean
is_obstacle (const GstVideoRegionOfInterestMeta *roi)
{
  return gst_video_region_of_interest_meta_get_param ((GstVideoRegionOfInterestMeta *) roi, "stereo-obstacle") != NULL;
}

/* ---- measuring ------------------------------------------------------------------------------ */

/* The pixels of a side of @size that a box from @from on covers, when the side it was drawn on has @of pixels. FALSE:
 * none. */
static gboolean
scale_side (guint from, guint length, gint of, gint size, gint *start, gint *count)
{
  gint64 begin = (gint64) from * size / of, end = (((gint64) from + length) * size + of - 1) / of;

  *start = (gint) MIN (begin, size);
  *count = (gint) (MIN (end, size) - *start);
  return *count > 0;
}

/* Distances of an object, where they are known, and disparities. */
static void
describe (GstStructure *parameter, const GstStereoMeta *meta, const GstStereoBoxObject *object)
{
  gdouble distance = gst_stereo_meta_get_depth (meta, object->sample);
  gdouble disparity = gst_stereo_meta_get_disparity (meta, object->sample);
  gdouble near = gst_stereo_meta_get_depth (meta, object->near), far = gst_stereo_meta_get_depth (meta, object->far);

  if (isfinite (distance))
    gst_structure_set (parameter, "distance", G_TYPE_DOUBLE, distance, NULL);
  if (isfinite (near) && isfinite (far))
    gst_structure_set (parameter, "spread", G_TYPE_DOUBLE, fabs (far - near) / 2, NULL);
  if (!isnan (disparity))
    gst_structure_set (parameter, "disparity", G_TYPE_DOUBLE, disparity, NULL);
  gst_structure_set (
      parameter, "support", G_TYPE_DOUBLE, object->support, "confidence", G_TYPE_DOUBLE, object->confidence, NULL);
}

/* Returns the parameter of a region. */
static GstStructure *
measure (GstDepthOverlayRegions *regions, const GstVideoRegionOfInterestMeta *roi, const GstStereoLiveView *view,
    const GstDepthOverlayPicture *picture, const GstStereoMeta *meta)
{
  gint width = GST_VIDEO_INFO_WIDTH (&view->info), height = GST_VIDEO_INFO_HEIGHT (&view->info);
  GstStructure *parameter = gst_structure_new (PARAMETER, "valid", G_TYPE_BOOLEAN, FALSE, NULL);
  GstStereoBoxObject object = { 0 };
  gboolean found = FALSE;

  if (picture) {
    GstStereoDepthView box = gst_depth_overlay_picture_depth (picture)->view;

    box.mask = NULL;
    found = scale_side (roi->x, roi->w, width, box.width, &box.x, &box.width) &&
        scale_side (roi->y, roi->h, height, box.height, &box.y, &box.height) &&
        gst_stereo_box_object_find (regions->finder, &box, &object);
  }
  gst_structure_set (parameter, "valid", G_TYPE_BOOLEAN, found, "coverage", G_TYPE_DOUBLE, object.coverage, NULL);
  if (found)
    describe (parameter, meta, &object);
  return parameter;
}

/* The part of a region that is in the picture. */
static GstDepthOverlayBox
box_of (const GstVideoRegionOfInterestMeta *roi, const GstStereoLiveView *view)
{
  guint width = (guint) GST_VIDEO_INFO_WIDTH (&view->info), height = (guint) GST_VIDEO_INFO_HEIGHT (&view->info);
  guint x = MIN (roi->x, width), y = MIN (roi->y, height);
  GstDepthOverlayBox box = { (gint) x, (gint) y, (gint) MIN (roi->w, width - x), (gint) MIN (roi->h, height - y), "",
    FALSE };

  return box;
}

/* "person 12.3 m"; "person ?" where nothing is known. */
static void
label (GstDepthOverlayBox *box, const GstVideoRegionOfInterestMeta *roi, const GstStructure *parameter)
{
  const gchar *type = g_quark_to_string (roi->roi_type);
  gchar value[16] = "?";
  gdouble number;

  if (gst_structure_get_double (parameter, "distance", &number))
    gst_depth_overlay_text_format (value, sizeof value, number, TRUE);
  else if (gst_structure_get_double (parameter, "disparity", &number))
    gst_depth_overlay_text_format (value, sizeof value, number, FALSE);
  gst_depth_overlay_label_make (box->label, type, value);
}

/* What regions are measured in. */
typedef struct
{
  const GstStereoLiveView *view;
  const GstDepthOverlayPicture *picture;
  const GstStereoMeta *meta;
} Scene;

static void
add_region (
    GstDepthOverlayRegions *regions, const Scene *scene, const GstVideoRegionOfInterestMeta *roi, gboolean detected)
{
  Region region = { .roi = *roi, .detected = detected };
  GstDepthOverlayBox box = box_of (roi, scene->view);

  region.parameter = measure (regions, roi, scene->view, scene->picture, scene->meta);
  label (&box, roi, region.parameter);
  GST_LOG_OBJECT (regions->owner, "%s at %u,%u: %" GST_PTR_FORMAT, g_quark_to_string (roi->roi_type), roi->x, roi->y,
      region.parameter);
  g_array_append_val (regions->regions, region);
  g_array_append_val (regions->boxes, box);
}

#ifdef HAVE_GST_ANALYTICS
/* Some detectors say the same in both ways. */
static gboolean
is_marked (const GstDepthOverlayRegions *regions, const GstVideoRegionOfInterestMeta *roi)
{
  for (guint i = 0; i < regions->regions->len; i++) {
    const GstVideoRegionOfInterestMeta *other = &g_array_index (regions->regions, Region, i).roi;
    if (other->x == roi->x && other->y == roi->y && other->w == roi->w && other->h == roi->h)
      return TRUE;
  }
  return FALSE;
}

static void
add_detections (GstDepthOverlayRegions *regions, const Scene *scene, GstBuffer *live)
{
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta (live);
  gpointer state = NULL;
  GstAnalyticsMtd mtd;

  while (relations &&
      gst_analytics_relation_meta_iterate (relations, &state, gst_analytics_od_mtd_get_mtd_type (), &mtd)) {
    GstAnalyticsODMtd *detection = (GstAnalyticsODMtd *) &mtd;
    gint x, y, width, height;
    gfloat sure;
    if (!gst_analytics_od_mtd_get_location (detection, &x, &y, &width, &height, &sure))
      continue;
    GstVideoRegionOfInterestMeta roi = { .roi_type = gst_analytics_od_mtd_get_obj_type (detection),
      .x = (guint) MAX (x, 0),
      .y = (guint) MAX (y, 0),
      .w = (guint) MAX (width + MIN (x, 0), 0),
      .h = (guint) MAX (height + MIN (y, 0), 0) };
    if (!is_marked (regions, &roi))
      add_region (regions, scene, &roi, TRUE);
  }
}
#else
static void
add_detections (GstDepthOverlayRegions *regions, const Scene *scene, GstBuffer *live)
{
}
#endif

void
gst_depth_overlay_regions_measure (GstDepthOverlayRegions *regions, GstBuffer *live, const GstStereoLiveView *view,
    const GstDepthOverlayPicture *picture, const GstStereoMeta *meta)
{
  const Scene scene = { view, picture, meta };
  gpointer state = NULL;
  GstMeta *next;

  g_array_set_size (regions->regions, 0);
  g_array_set_size (regions->boxes, 0);
  /* of a frame with both views, the output has no regions any more */
  if (view->cropped)
    return;
  while ((next = gst_buffer_iterate_meta_filtered (live, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)))
    if (!is_obstacle ((const GstVideoRegionOfInterestMeta *) next))
      add_region (regions, &scene, (const GstVideoRegionOfInterestMeta *) next, FALSE);
  /* where depth is alone, these are stereoground's own */
  if (!gst_buffer_get_stereo_meta (live) || gst_buffer_get_stereo_meta (live) != meta)
    add_detections (regions, &scene, live);
}

const GstDepthOverlayBox *
gst_depth_overlay_regions_boxes (const GstDepthOverlayRegions *regions, guint *count)
{
  *count = regions->boxes->len;
  return (const GstDepthOverlayBox *) (gpointer) regions->boxes->data;
}

/* ---- writing -------------------------------------------------------------------------------- */

/* An element upstream may have measured the region, too: its result is removed. */
static void
write_parameter (GstVideoRegionOfInterestMeta *roi, const GstStructure *parameter)
{
  GstStructure *old = gst_video_region_of_interest_meta_get_param (roi, PARAMETER);

  if (old) {
    roi->params = g_list_remove (roi->params, old);
    gst_structure_free (old);
  }
  gst_video_region_of_interest_meta_add_param (roi, gst_structure_copy (parameter));
}

/* The next region of a buffer that is not stereoground's own; NULL behind the last. */
static GstVideoRegionOfInterestMeta *
next_region (GstBuffer *buffer, gpointer *state)
{
  GstMeta *next;

  do
    next = gst_buffer_iterate_meta_filtered (buffer, state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
  while (next && is_obstacle ((const GstVideoRegionOfInterestMeta *) next));
  return (GstVideoRegionOfInterestMeta *) next;
}

GstBuffer *
gst_depth_overlay_regions_write (GstDepthOverlayRegions *regions, GstBuffer *buffer)
{
  gpointer state = NULL;

  if (!regions->regions->len)
    return buffer;
  buffer = gst_buffer_make_writable (buffer);
  /* those of the buffer come first, in their order */
  for (guint i = 0; i < regions->regions->len; i++) {
    const Region *region = &g_array_index (regions->regions, Region, i);
    GstVideoRegionOfInterestMeta *roi = region->detected ?
        gst_buffer_add_video_region_of_interest_meta_id (
            buffer, region->roi.roi_type, region->roi.x, region->roi.y, region->roi.w, region->roi.h) :
        next_region (buffer, &state);
    if (roi)
      write_parameter (roi, region->parameter);
  }
  return buffer;
}
