/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is drawn over a frame: read from metadata, and never measured here. */
#include "gst/overlay/overlay.h"

#include <math.h>
#include <string.h>

/* ---- words ------------------------------------------------------------------------------- */

void
gst_depth_overlay_format (gchar *string, gsize size, gdouble value, gboolean metric)
{
  if (!metric)
    g_snprintf (string, size, "%.1f px", value);
  else if (!isfinite (value))
    g_snprintf (string, size, "far");
  else if (value < 9995)
    g_snprintf (string, size, "%.2f m", value / 1000);
  else
    g_snprintf (string, size, "%.1f m", value / 1000);
}

#define CHARACTERS 15 /* of the type */
#define BYTES (4 * CHARACTERS)

/* Some of these characters turn the direction of what follows, and would turn a distance round, too. */
static gboolean
is_shown (gunichar c)
{
  switch (g_unichar_type (c)) {
    case G_UNICODE_CONTROL:
    case G_UNICODE_FORMAT:
    case G_UNICODE_LINE_SEPARATOR:
    case G_UNICODE_PARAGRAPH_SEPARATOR:
      return FALSE;
    default:
      return TRUE;
  }
}

void
gst_depth_overlay_label_make (gchar label[GST_DEPTH_OVERLAY_LABEL], const gchar *type, const gchar *value)
{
  /* no character that is shown lies behind these bytes, whatever a detector wrote */
  g_autofree gchar *valid = g_utf8_make_valid (type ? type : "", type ? (gssize) strnlen (type, BYTES) : 0);
  const gchar *from = valid;
  gchar *to = label;

  for (gint i = 0; i < CHARACTERS && *from; i++) {
    gunichar c = g_utf8_get_char (from);
    to += g_unichar_to_utf8 (is_shown (c) ? c : ' ', to);
    from = g_utf8_next_char (from);
  }
  if (to > label)
    *to++ = ' ';
  g_strlcpy (to, value, GST_DEPTH_OVERLAY_LABEL - (gsize) (to - label));
}

/* ---- things ------------------------------------------------------------------------------ */

static gboolean
comes_first (const GstDepthOverlayBox *box, const GstDepthOverlayBox *other)
{
  return box->ahead == other->ahead ? box->distance < other->distance : box->ahead;
}

/* The nearest things of those ahead come first. */
static void
add (GstDepthOverlayContent *content, const GstDepthOverlayBox *box)
{
  guint at = content->n_boxes;

  while (at > 0 && comes_first (box, &content->boxes[at - 1]))
    at--;
  if (at == GST_DEPTH_OVERLAY_LABELS)
    return;
  content->n_boxes = MIN (content->n_boxes + 1, GST_DEPTH_OVERLAY_LABELS);
  memmove (&content->boxes[at + 1], &content->boxes[at], (content->n_boxes - at - 1) * sizeof *box);
  content->boxes[at] = *box;
}

/* A depth picture and its metadata, over the picture that is drawn. */
typedef struct
{
  GstDepthOverlayContent *content;
  GstBuffer *depth;
  const GstStereoMeta *meta;
  const GstStructure *ground; /* NULL: none */
  gint width, height;         /* of the depth */
  gdouble warn_distance;      /* mm */
  gdouble corridor;           /* width of the driving corridor, mm; 0 = none is known */
} Scene;

/* A rectangle of the depth picture, whole pixels of the picture that is drawn. */
static GstVideoRectangle
scaled (const Scene *scene, gint64 x, gint64 y, gint64 width, gint64 height)
{
  gint64 across = scene->content->width, down = scene->content->height;
  gint64 left = CLAMP (x, 0, scene->width) * across / scene->width;
  gint64 top = CLAMP (y, 0, scene->height) * down / scene->height;
  gint64 right = (CLAMP (x + width, 0, scene->width) * across + scene->width - 1) / scene->width;
  gint64 bottom = (CLAMP (y + height, 0, scene->height) * down + scene->height - 1) / scene->height;

  return (GstVideoRectangle){ (gint) left, (gint) top, (gint) (right - left), (gint) (bottom - top) };
}

/* stereoground's obstacles, and the regions of others that stereonearest measured. */
static void
read_things (const Scene *scene)
{
  gpointer state = NULL;
  GstMeta *next;

  while ((next = gst_buffer_iterate_meta_filtered (scene->depth, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))) {
    GstVideoRegionOfInterestMeta *roi = (GstVideoRegionOfInterestMeta *) next;
    const GstStructure *obstacle = gst_video_region_of_interest_meta_get_param (roi, "stereo-obstacle");
    const GstStructure *measured = gst_video_region_of_interest_meta_get_param (roi, "stereo-distance");
    GstDepthOverlayBox box = { .at = scaled (scene, roi->x, roi->y, roi->w, roi->h), .distance = INFINITY };
    gdouble number = 0;
    gchar value[16] = "?";

    if (!obstacle && !measured)
      continue;
    if (gst_structure_get_double (obstacle ? obstacle : measured, "distance", &number) && number >= 0) {
      box.distance = number;
      gst_depth_overlay_format (value, sizeof value, number, TRUE);
    } else if (measured && gst_structure_get_double (measured, "disparity", &number)) {
      gst_depth_overlay_format (value, sizeof value, number, FALSE);
    }
    /* without a corridor, all obstacles are in the way */
    if (obstacle && !gst_structure_get_boolean (obstacle, "ahead", &box.ahead))
      box.ahead = TRUE;
    box.warning = box.ahead && box.distance < scene->warn_distance;
    gst_depth_overlay_label_make (box.label, obstacle ? NULL : g_quark_to_string (roi->roi_type), value);
    add (scene->content, &box);
  }
}

/* ---- ground ------------------------------------------------------------------------------ */

typedef struct
{
  gdouble offset, across, down; /* disparity = offset + across * x + down * y, pixels of the depth */
} Plane;

/* Where the ground at @distance (mm) is seen in a column of the depth, in rows of the picture; FALSE: outside. */
static gboolean
row_of (const Scene *scene, const Plane *plane, gdouble x, gdouble distance, gint *row)
{
  const GstStereoMeta *meta = scene->meta;
  gdouble disparity = meta->focal_length * meta->baseline / distance - meta->principal_offset;
  gdouble y = (disparity - plane->offset - plane->across * x) / plane->down;

  if (!(y >= 0 && y < scene->height))
    return FALSE;
  *row = (gint) (y * scene->content->height / scene->height);
  return TRUE;
}

/* A short green line in each column whose ground is free up to some distance. */
static void
read_free (const Scene *scene, const Plane *plane)
{
  const GValue *all = gst_structure_get_value (scene->ground, "free-distances");
  guint columns = all && GST_VALUE_HOLDS_ARRAY (all) ? gst_value_array_get_size (all) : 0;
  GstDepthOverlayContent *content = scene->content;

  for (guint i = 0; i < MIN (columns, GST_DEPTH_OVERLAY_MARKS); i++) {
    const GValue *one = gst_value_array_get_value (all, i);
    gdouble distance = G_VALUE_HOLDS_DOUBLE (one) ? g_value_get_double (one) : 0;
    GstDepthOverlayLine *mark = &content->marks[content->n_marks];

    if (!(distance > 0) || !row_of (scene, plane, (i + 0.5) * scene->width / columns, distance, &mark->y[0]))
      continue;
    mark->y[1] = mark->y[0];
    mark->x[0] = (gint) (i * (guint) content->width / columns);
    mark->x[1] = MAX (mark->x[0] + 1, (gint) ((i + 1) * (guint) content->width / columns));
    content->n_marks++;
  }
}

#define CORRIDOR_END 30000 /* mm: beyond it, both sides are a few pixels apart */

/* Both sides of the corridor on the ground, from the bottom of the picture on. */
static void
read_corridor (const Scene *scene, const Plane *plane)
{
  const GstStereoMeta *meta = scene->meta;
  GstDepthOverlayContent *content = scene->content;
  gdouble middle = meta->principal_x > 0 ? meta->principal_x : scene->width / 2.0;

  for (gint side = -1; side <= 1; side += 2) {
    GstDepthOverlayLine line;
    guint ends = 0;

    for (gdouble distance = CORRIDOR_END; distance > 300; distance *= 0.97) {
      gdouble x = middle + side * scene->corridor / 2 * meta->focal_length / distance;
      gint row;

      if (!(x >= 0 && x < scene->width) || !row_of (scene, plane, x, distance, &row))
        continue;
      line.x[ends] = (gint) (x * content->width / scene->width);
      line.y[ends] = row;
      ends = 1; /* the second end is the nearest one that is in the picture */
    }
    if (ends && line.y[1] > line.y[0])
      content->corridor[content->n_corridor++] = line;
  }
}

static void
read_ground (Scene *scene)
{
  const GstStereoMeta *meta = scene->meta;
  gboolean valid = FALSE;
  Plane plane;

  scene->ground = gst_stereo_found_get (scene->depth, GST_STEREO_GROUND_META);
  if (!scene->ground || !gst_structure_get_boolean (scene->ground, "ground", &valid) || !valid ||
      !gst_structure_get (scene->ground, "plane-offset", G_TYPE_DOUBLE, &plane.offset, "plane-across", G_TYPE_DOUBLE,
          &plane.across, "plane-down", G_TYPE_DOUBLE, &plane.down, NULL))
    return;
  gst_structure_get_double (scene->ground, "corridor", &scene->corridor);
  read_free (scene, &plane);
  if (scene->corridor > 0 && meta->focal_length > 0)
    read_corridor (scene, &plane);
}

/* ---- all --------------------------------------------------------------------------------- */

gchar *
gst_depth_overlay_content_read (GstDepthOverlayContent *content, GstBuffer *depth, const GstVideoInfo *info)
{
  Scene scene = { .content = content,
    .depth = depth,
    .meta = gst_buffer_get_stereo_meta (depth),
    .width = GST_VIDEO_INFO_WIDTH (info),
    .height = GST_VIDEO_INFO_HEIGHT (info) };
  g_autofree gchar *unreliable = gst_stereo_health_get_reason (scene.meta->health);
  GstStereoFoundNearest nearest;
  gchar *problem;

  if (!gst_stereo_found_nearest_read (&nearest, depth, scene.width, scene.height, &problem))
    return problem ? problem : g_strdup ("there is none");
  scene.warn_distance = nearest.warn_distance;
  content->region = scaled (&scene, nearest.region_x, nearest.region_y, nearest.region_width, nearest.region_height);
  content->part = nearest.region_width < scene.width || nearest.region_height < scene.height;
  /* whatever else the metadata says */
  if (unreliable) {
    g_strlcpy (content->reason, unreliable, sizeof content->reason);
    return NULL;
  }
  content->verdict = nearest.state;
  content->warning = nearest.warning;
  content->value = content->scale.metric ? nearest.distance : nearest.disparity;
  content->valid = nearest.valid && !isnan (content->value);
  content->x = (gint) ((2 * (gint64) nearest.x + 1) * content->width / (2 * (gint64) scene.width));
  content->y = (gint) ((2 * (gint64) nearest.y + 1) * content->height / (2 * (gint64) scene.height));
  if (content->verdict == GST_STEREO_NEAREST_STATE_UNKNOWN)
    g_strlcpy (content->reason, nearest.reason ? nearest.reason : "no reason is given", sizeof content->reason);
  read_ground (&scene);
  read_things (&scene);
  return NULL;
}
