/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-stereotestsrc
 * @title: stereotestsrc
 *
 * Renders a synthetic scene as two cameras see it. Both views come in one frame, with the true disparity of every pixel
 * in the frame's #GstStereoMeta: for trying out pipelines, and for measuring how good a stereo matcher is. A frame
 * depends only on the properties and its number, and is the same on every machine. The cameras can have what real ones
 * have: noise, a vertical offset, another exposure on the right, and faults.
 *
 * pattern=road shows a road whose ground is known, from a camera at a height, pitch and roll that are set: for proving
 * what estimates the ground and finds obstacles. The road can have a ramp, a kerb, an obstacle that comes nearer, and thin
 * posts and bars.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 stereotestsrc ! stereomatch ! video/x-raw,format=GRAY8 ! videoconvert ! autovideosink
 * gst-launch-1.0 stereotestsrc noise=5 vertical-offset=1.5 fault=blurred fault-view=left ! videoconvert ! autovideosink
 * gst-launch-1.0 stereotestsrc pattern=road camera-pitch=3 obstacle-height=900 obstacle-distance=20000 obstacle-approach=150 kerb-height=150 ! stereomatch ! depthoverlay ! videoconvert ! autovideosink
 * gst-launch-1.0 stereotestsrc ! video/x-raw,width=3840,height=1080,framerate=60/1 ! videoconvert ! autovideosink
 * ]|
 */

#include <gst/base/gstpushsrc.h>
#include <math.h>
#include <string.h>

#include "gst/meta/gststereometa.h"
#include "gst/meta/map.h"
#include "gst/testsrc/rig.h"
#include "gst/video/frame.h"
#include "gst/video/pool.h"
#include "gst/video/properties.h"
#include "gst/video/stream.h"

GST_ELEMENT_REGISTER_DECLARE (stereotestsrc);
#define GST_TYPE_STEREO_TEST_SRC (gst_stereo_test_src_get_type ())
G_DECLARE_FINAL_TYPE (GstStereoTestSrc, gst_stereo_test_src, GST, STEREO_TEST_SRC, GstPushSrc)

GST_DEBUG_CATEGORY_STATIC (gst_stereo_test_src_debug);
#define GST_CAT_DEFAULT gst_stereo_test_src_debug

#define DEFAULT_WIDTH 640 /* of one view */
#define DEFAULT_HEIGHT 480

/* Which frame comes next, and when. When the frame rate changes in a stream, frame numbers and times continue. */
typedef struct
{
  gint fps_n, fps_d;        /* 0/1: none yet, or a still picture */
  gint64 frame;             /* the next one, of this rate and segment; -1: before the first */
  gint64 frames_before;     /* of earlier rates */
  GstClockTime time_before; /* their duration */
  gboolean backwards;
} Timeline;

#define COMPONENTS 4
#define LEVELS 256
#define ROWS 6 /* level and layer of a row of the frame, and of each view where they alternate along x */

/* Writes levels and layers as samples. */
typedef struct
{
  gboolean words;                                             /* a pixel is a word of four bytes */
  guint8 table[COMPONENTS][GST_STEREO_SCENE_LAYERS * LEVELS]; /* a component's sample, by layer and level */
  guint32 word[GST_STEREO_SCENE_LAYERS * LEVELS];
  guint8 *rows[ROWS];
} Painter;

/* The scene in the negotiated format, with its true disparity. */
typedef struct
{
  GstVideoInfo info;      /* of a frame */
  GstStereoLayout layout; /* of the views in it */
  GstVideoInfo truth_info;
  GstBufferPool *truth_pool;
  GstStereoScene *scene;
  GstStereoSceneParams asked; /* what the scene was made of */
  Painter painter;            /* of the scene */
  GstStereoRigParams rig_params;
  GstStereoRig *rig; /* that look at the scene */
} Pictures;

/* What the pictures and their times depend on. */
typedef struct
{
  GstStereoSceneParams scene; /* without the size, which is that of the caps */
  GstStereoRigParams rig;
  gint64 timestamp_offset; /* ns */
} Settings;

struct _GstStereoTestSrc
{
  GstPushSrc parent;

  /* protected by the object lock */
  Settings settings;
  GstVideoInfo info; /* of the frames */

  /* of the streaming thread */
  Timeline timeline;
  Pictures *pictures;
};

/* Any of 8 bits. */
#define GST_STEREO_PICTURE_FORMATS \
  "{ BGRx, RGBx, xRGB, xBGR, BGRA, RGBA, ARGB, ABGR, RGB, BGR, GRAY8, I420, YV12, " \
  "NV12, NV21, NV16, NV24, YUY2, UYVY, YVYU, VYUY, Y42B, Y444, AYUV }"

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
    GST_STATIC_CAPS (
        GST_VIDEO_CAPS_MAKE (GST_STEREO_PICTURE_FORMATS) ", multiview-mode = (string) { side-by-side, top-bottom, "
                                                         "row-interleaved, column-interleaved }"));

G_DEFINE_TYPE (GstStereoTestSrc, gst_stereo_test_src, GST_TYPE_PUSH_SRC)
GST_ELEMENT_REGISTER_DEFINE (stereotestsrc, "stereotestsrc", GST_RANK_NONE, GST_TYPE_STEREO_TEST_SRC)

/* ---- choices ------------------------------------------------------------------------------- */

static const GEnumValue patterns[] = {
  { GST_STEREO_PATTERN_PLANES, "Textured slanted planes with a disc moving in front of them", "planes" },
  { GST_STEREO_PATTERN_RANDOM_DOTS, "Random dots: a square moving in front of a wall, disparities are whole pixels",
      "random-dots" },
  { GST_STEREO_PATTERN_STRIPES, "Vertical stripes 8 pixels apart: a square in front of a wall, ambiguous for a matcher",
      "stripes" },
  { GST_STEREO_PATTERN_FLAT, "The planes without texture: nothing to match", "flat" },
  { GST_STEREO_PATTERN_ROAD,
      "A road with a known ground, seen from camera-height, and on it a ramp, a kerb, an obstacle and thin things "
      "where they are asked for",
      "road" },
  { 0, NULL, NULL },
};

static const GEnumValue faults[] = {
  { GST_STEREO_TEST_FAULT_NONE, "Nothing is wrong", "none" },
  { GST_STEREO_TEST_FAULT_FROZEN, "The view stays at the first frame, to the bit, noise included", "frozen" },
  { GST_STEREO_TEST_FAULT_BLACK, "No light reaches the sensor; its noise remains", "black" },
  { GST_STEREO_TEST_FAULT_BLOWN_OUT, "Eight times the exposure: nearly all of the view is white", "blown-out" },
  { GST_STEREO_TEST_FAULT_DARK, "A quarter of the exposure", "dark" },
  { GST_STEREO_TEST_FAULT_BLURRED, "Out of focus: each pixel is a mean over about a thirtieth of the width", "blurred" },
  { GST_STEREO_TEST_FAULT_COVERED, "Something dark and without texture lies before the lens", "covered" },
  { GST_STEREO_TEST_FAULT_SAME_VIEW, "The view shows what the other camera sees; both views: they are exchanged",
      "same-view" },
  { GST_STEREO_TEST_FAULT_LATE, "The view is one frame late", "late" },
  { GST_STEREO_TEST_FAULT_TORN, "The lower half of the view is one frame late", "torn" },
  { GST_STEREO_TEST_FAULT_HALF_FROZEN, "The lower half of the view stays at the first frame, to the bit", "half-frozen" },
  { GST_STEREO_TEST_FAULT_ZOOMED, "A lens with a focal length that is 2 % longer", "zoomed" },
  { GST_STEREO_TEST_FAULT_STILL_PATTERN,
      "Three quarters of the light come from a pattern that stands still: on both lenses at the same "
      "place, with fault-view=both",
      "still-pattern" },
  { 0, NULL, NULL },
};

static const GEnumValue fault_views[] = {
  { GST_STEREO_TEST_FAULT_VIEW_LEFT, "The left view", "left" },
  { GST_STEREO_TEST_FAULT_VIEW_RIGHT, "The right view", "right" },
  { GST_STEREO_TEST_FAULT_VIEW_BOTH, "Both views", "both" },
  { 0, NULL, NULL },
};

/* ---- which frame is next ------------------------------------------------------------------- */

/* When frame @frame of this rate begins. */
static GstClockTime
time_of (const Timeline *timeline, gint64 frame)
{
  if (timeline->fps_n < 1)
    return 0;
  return gst_util_uint64_scale ((guint64) frame, GST_SECOND * (guint64) timeline->fps_d, (guint64) timeline->fps_n);
}

/* Frames per second from the next frame on; fps_n = 0: a single still picture. */
static void
timeline_set_rate (Timeline *timeline, gint fps_n, gint fps_d)
{
  if (timeline->frame > 0 && timeline->fps_n > 0) {
    timeline->time_before += time_of (timeline, timeline->frame);
    timeline->frames_before += timeline->frame;
    timeline->frame = 0;
  }
  timeline->fps_n = fps_n;
  timeline->fps_d = fps_d;
}

/* Makes the frame at @position (ns) the next one, counted with the rate in force. @backwards: frames then come in reverse
 * order, first the one that ends at @position. */
static void
timeline_seek (Timeline *timeline, GstClockTime position, gboolean backwards)
{
  timeline->backwards = backwards;
  timeline->frames_before = 0;
  timeline->time_before = 0;
  timeline->frame = 0;
  /* Times are rounded down. The last frame that has begun at the time of a frame is that frame. */
  if (timeline->fps_n > 0 && GST_CLOCK_TIME_IS_VALID (position))
    timeline->frame = (gint64) gst_util_uint64_scale_ceil (
                          position + 1, (guint64) timeline->fps_n, GST_SECOND * (guint64) timeline->fps_d) -
        1;
  if (backwards && timeline->frame > 0 && time_of (timeline, timeline->frame) == position)
    timeline->frame--;
}

/* Whether there is no next frame: after a still picture, and before frame 0 when played backwards. */
static gboolean
timeline_is_over (const Timeline *timeline)
{
  return (timeline->fps_n == 0 && timeline->frame > 0) || timeline->frame < 0;
}

static guint64
timeline_number (const Timeline *timeline)
{
  return (guint64) (timeline->frames_before + timeline->frame);
}

/* When the next frame begins, ns. */
static GstClockTime
timeline_begin (const Timeline *timeline)
{
  return timeline->time_before + time_of (timeline, timeline->frame);
}

/* ---- pictures ------------------------------------------------------------------------------ */

/* Samples in 0..1, chroma -0.5..0.5, of a colour in 0..255. */
static void
samples_of (const GstVideoInfo *info, const gdouble rgb[3], gdouble sample[3])
{
  gdouble kr, kb, luma;

  for (guint c = 0; c < 3; c++)
    sample[c] = rgb[c] / 255;
  if (GST_VIDEO_INFO_IS_RGB (info))
    return;
  if (!gst_video_color_matrix_get_Kr_Kb (info->colorimetry.matrix, &kr, &kb))
    gst_video_color_matrix_get_Kr_Kb (GST_VIDEO_COLOR_MATRIX_BT601, &kr, &kb);
  luma = kr * sample[0] + (1 - kr - kb) * sample[1] + kb * sample[2];
  sample[1] = (sample[2] - luma) / (2 * (1 - kb));
  sample[2] = (rgb[0] / 255 - luma) / (2 * (1 - kr));
  sample[0] = luma;
}

static void
make_tables (Painter *painter, const GstStereoScene *scene, const GstVideoInfo *info)
{
  gint offset[GST_VIDEO_MAX_COMPONENTS], scale[GST_VIDEO_MAX_COMPONENTS];
  gdouble rgb[3], sample[3];

  gst_video_color_range_offsets (info->colorimetry.range, info->finfo, offset, scale);
  for (guint i = 0; i < GST_STEREO_SCENE_LAYERS * LEVELS; i++) {
    guint8 bytes[4] = { 0xFF, 0xFF, 0xFF, 0xFF }; /* opaque, and unused bytes are defined */
    gst_stereo_scene_color (scene, i / LEVELS, i % LEVELS, rgb);
    if (GST_VIDEO_INFO_IS_GRAY (info))
      rgb[0] = rgb[1] = rgb[2] = i % LEVELS;
    samples_of (info, rgb, sample);
    for (guint c = 0; c < COMPONENTS; c++) {
      gint value = c < 3 ? (gint) rint (offset[c] + sample[c] * scale[c]) : 255;
      painter->table[c][i] = (guint8) CLAMP (value, 0, 255);
      if (painter->words && c < GST_VIDEO_INFO_N_COMPONENTS (info))
        bytes[GST_VIDEO_INFO_COMP_POFFSET (info, c)] = painter->table[c][i];
    }
    memcpy (&painter->word[i], bytes, 4);
  }
}

/* Opens the painter of the scene, for frames of the format. */
static void
open_painter (Pictures *pictures)
{
  Painter *painter = &pictures->painter;
  const GstVideoInfo *info = &pictures->info;
  gsize width = (gsize) GST_VIDEO_INFO_WIDTH (info);

  painter->words = GST_VIDEO_INFO_N_PLANES (info) == 1 && GST_VIDEO_INFO_COMP_PSTRIDE (info, 0) == 4 &&
      GST_VIDEO_INFO_COMP_PSTRIDE (info, 1) == 4 && GST_VIDEO_FORMAT_INFO_W_SUB (info->finfo, 1) == 0;
  make_tables (painter, pictures->scene, info);
  for (guint i = 0; i < ROWS; i++)
    painter->rows[i] = g_realloc (painter->rows[i], width);
}

static void
interleave (Pictures *pictures, gboolean right, gint y)
{
  guint8 *const *rows = pictures->painter.rows;

  for (guint v = 0; v < 2; v++)
    gst_stereo_rig_row (pictures->rig, v ? !right : right, y, rows[2 + 2 * v], rows[3 + 2 * v]);
  for (gint x = 0; x < GST_VIDEO_INFO_WIDTH (&pictures->info); x++)
    for (guint i = 0; i < 2; i++)
      rows[i][x] = rows[2 + 2 * (x % 2) + i][x / 2];
}

/* Makes row @y of the frame: levels and layers of both views, as they lie in it. */
static void
compose (Pictures *pictures, gint y)
{
  const GstStereoLayout *layout = &pictures->layout;
  guint8 *level = pictures->painter.rows[0], *layer = pictures->painter.rows[1];
  gboolean right = layout->right_first;
  gint view;

  switch (layout->packing) {
    case GST_STEREO_PACKING_TOP_BOTTOM:
      view = y >= layout->height;
      gst_stereo_rig_row (pictures->rig, view ? !right : right, y % layout->height, level, layer);
      break;
    case GST_STEREO_PACKING_ROW_INTERLEAVED:
      gst_stereo_rig_row (pictures->rig, y % 2 ? !right : right, y / 2, level, layer);
      break;
    case GST_STEREO_PACKING_COLUMN_INTERLEAVED:
      interleave (pictures, right, y);
      break;
    default:
      for (view = 0; view < 2; view++)
        gst_stereo_rig_row (
            pictures->rig, view ? !right : right, y, level + view * layout->width, layer + view * layout->width);
  }
}

static void
write_words (const Painter *painter, gint width, guint8 *to)
{
  for (gint x = 0; x < width; x++)
    memcpy (to + 4 * (gsize) x, &painter->word[painter->rows[1][x] * LEVELS + painter->rows[0][x]], 4);
}

/* A chroma sample is that of the first pixel it covers. */
static void
write_component (const Painter *painter, GstVideoFrame *frame, guint c, gint y)
{
  guint shift_y = GST_VIDEO_FORMAT_INFO_H_SUB (frame->info.finfo, c);
  guint shift_x = GST_VIDEO_FORMAT_INFO_W_SUB (frame->info.finfo, c);
  gint step = GST_VIDEO_FRAME_COMP_PSTRIDE (frame, c), width = GST_VIDEO_FRAME_COMP_WIDTH (frame, c);
  guint8 *to = GST_VIDEO_FRAME_COMP_DATA (frame, c);

  if (y & ((1 << shift_y) - 1))
    return;
  to += (gssize) (y >> shift_y) * GST_VIDEO_FRAME_COMP_STRIDE (frame, c);
  for (gint i = 0; i < width; i++, to += step) {
    gint x = i << shift_x;
    *to = painter->table[c][painter->rows[1][x] * LEVELS + painter->rows[0][x]];
  }
}

static void
drop_scene (Pictures *pictures)
{
  g_clear_pointer (&pictures->rig, gst_stereo_rig_free);
  g_clear_pointer (&pictures->scene, gst_stereo_scene_free);
}

static void
drop_truth_pool (Pictures *pictures)
{
  if (pictures->truth_pool)
    gst_buffer_pool_set_active (pictures->truth_pool, FALSE);
  gst_clear_object (&pictures->truth_pool);
}

/* Frees the memory of the format. */
static void
clear_pictures (Pictures *pictures)
{
  drop_scene (pictures);
  drop_truth_pool (pictures);
  for (guint i = 0; i < ROWS; i++)
    g_clear_pointer (&pictures->painter.rows[i], g_free);
}

/* FALSE, and a sentence in @message (g_free), where two views cannot lie in such frames. The scene is dropped. */
static gboolean
set_format (Pictures *pictures, const GstVideoInfo *info, gchar **message)
{
  if (!gst_stereo_layout_packed (&pictures->layout, info, GST_STEREO_PACKING_AUTO, message))
    return FALSE;
  pictures->info = *info;
  drop_scene (pictures);
  drop_truth_pool (pictures);
  gst_video_info_set_format (&pictures->truth_info, GST_VIDEO_FORMAT_GRAY16_LE, (guint) pictures->layout.width,
      (guint) pictures->layout.height);
  pictures->truth_pool = gst_stereo_pool_new (&pictures->truth_info);
  if (pictures->truth_pool && gst_buffer_pool_set_active (pictures->truth_pool, TRUE))
    return TRUE;
  *message = g_strdup_printf ("There is no memory for the true disparity of views of %dx%d pixels.",
      pictures->layout.width, pictures->layout.height);
  return FALSE;
}

/* Makes the scene and the cameras that are asked for, unless they are there already; @changed says which. The size in @params
 * is not read. FALSE, and a sentence in @message (g_free), where there can be no such scene. */
static gboolean
prepare (Pictures *pictures, const GstStereoSceneParams *params, const GstStereoRigParams *rig, gboolean *changed,
    gchar **message)
{
  GstStereoSceneParams sized = *params;

  *changed = FALSE;
  if (!pictures->scene || memcmp (&pictures->asked, params, sizeof *params)) {
    drop_scene (pictures);
    sized.width = pictures->layout.width;
    sized.height = pictures->layout.height;
    pictures->scene = gst_stereo_scene_new (&sized, message);
    if (!pictures->scene)
      return FALSE;
    open_painter (pictures);
    pictures->asked = *params;
  }
  if (!pictures->rig || memcmp (&pictures->rig_params, rig, sizeof *rig)) {
    gst_stereo_rig_free (pictures->rig);
    pictures->rig = gst_stereo_rig_new (pictures->scene, rig);
    pictures->rig_params = *rig;
    *changed = TRUE;
  }
  return TRUE;
}

/* Paints both views of frame @number into @buffer. FALSE: the buffer cannot be written. */
static gboolean
paint (Pictures *pictures, guint64 number, GstBuffer *buffer)
{
  const Painter *painter = &pictures->painter;
  GstVideoFrame frame;

  if (!gst_stereo_map (&frame, &pictures->info, buffer, GST_MAP_WRITE))
    return FALSE;
  gst_stereo_rig_set_frame (pictures->rig, number);
  gst_stereo_pool_clear_padding (&frame);
  for (gint y = 0; y < GST_VIDEO_FRAME_HEIGHT (&frame); y++) {
    compose (pictures, y);
    if (painter->words)
      write_words (painter, GST_VIDEO_FRAME_WIDTH (&frame),
          (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0) + (gssize) y * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0));
    else
      for (guint c = 0; c < GST_VIDEO_FRAME_N_COMPONENTS (&frame); c++)
        write_component (painter, &frame, c, y);
  }
  gst_video_frame_unmap (&frame);
  return TRUE;
}

/* True disparity of the frame that was painted last: GRAY16_LE, times 64. NULL: no memory. */
static GstBuffer *
make_truth (Pictures *pictures)
{
  GstBuffer *truth = NULL;
  GstVideoFrame frame;

  if (gst_buffer_pool_acquire_buffer (pictures->truth_pool, &truth, NULL) != GST_FLOW_OK)
    return NULL;
  if (!gst_stereo_map (&frame, &pictures->truth_info, truth, GST_MAP_WRITE)) {
    gst_buffer_unref (truth);
    return NULL;
  }
  gst_stereo_pool_clear_padding (&frame);
  for (gint y = 0; y < pictures->layout.height; y++) {
    guint16 *row = (guint16 *) ((guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0) +
        (gsize) y * (gsize) GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0));
    gst_stereo_scene_truth (pictures->scene, y, row);
    for (gint x = 0; G_BYTE_ORDER == G_BIG_ENDIAN && x < pictures->layout.width; x++)
      row[x] = GUINT16_TO_LE (row[x]);
  }
  gst_video_frame_unmap (&frame);
  return truth;
}

/* ---- caps ---------------------------------------------------------------------------------- */

/* Prefers sizes that can be halved, if the caps leave the choice. Takes @caps. */
static GstCaps *
prefer_even (GstCaps *caps, const gchar *side)
{
  GstCaps *even = gst_caps_new_simple ("video/x-raw", side, GST_TYPE_INT_RANGE, 2, G_MAXINT - 1, NULL), *both;
  GValue range = G_VALUE_INIT;

  g_value_init (&range, GST_TYPE_INT_RANGE);
  gst_value_set_int_range_step (&range, 2, G_MAXINT - 1, 2);
  gst_caps_set_value (even, side, &range);
  g_value_unset (&range);
  both = gst_caps_intersect (caps, even);
  gst_caps_unref (even);
  if (gst_caps_is_empty (both)) {
    gst_caps_unref (both);
    return caps;
  }
  gst_caps_unref (caps);
  return both;
}

/* Side by side, 640x480 a view, 30 frames a second, square pixels, left view first, where the caps leave the choice. */
static GstCaps *
gst_stereo_test_src_fixate (GstBaseSrc *base, GstCaps *caps)
{
  caps = gst_caps_truncate (gst_caps_make_writable (caps));
  gst_structure_fixate_field_string (gst_caps_get_structure (caps, 0), "multiview-mode", "side-by-side");
  const gchar *mode = gst_structure_get_string (gst_caps_get_structure (caps, 0), "multiview-mode");
  gboolean stacked = !g_strcmp0 (mode, "top-bottom") || !g_strcmp0 (mode, "row-interleaved");
  caps = gst_caps_make_writable (prefer_even (caps, stacked ? "height" : "width"));
  GstStructure *structure = gst_caps_get_structure (caps, 0);
  gst_structure_fixate_field_nearest_int (structure, "width", (stacked ? 1 : 2) * DEFAULT_WIDTH);
  gst_structure_fixate_field_nearest_int (structure, "height", (stacked ? 2 : 1) * DEFAULT_HEIGHT);
  gst_structure_fixate_field_nearest_fraction (structure, "framerate", 30, 1);
  if (gst_structure_has_field (structure, "pixel-aspect-ratio"))
    gst_structure_fixate_field_nearest_fraction (structure, "pixel-aspect-ratio", 1, 1);
  else
    gst_structure_set (structure, "pixel-aspect-ratio", GST_TYPE_FRACTION, 1, 1, NULL);
  if (!gst_structure_has_field (structure, "multiview-flags"))
    gst_structure_set (structure, "multiview-flags", GST_TYPE_VIDEO_MULTIVIEW_FLAGSET, GST_VIDEO_MULTIVIEW_FLAGS_NONE,
        GST_FLAG_SET_MASK_EXACT, NULL);
  return GST_BASE_SRC_CLASS (gst_stereo_test_src_parent_class)->fixate (base, caps);
}

/* Makes the scene and the rig that the properties ask for now, unless they are there already. FALSE after an error
 * was posted. */
static gboolean
ensure_scene (GstStereoTestSrc *self)
{
  g_autofree gchar *message = NULL;
  gboolean changed;

  GST_OBJECT_LOCK (self);
  const Settings settings = self->settings;
  GST_OBJECT_UNLOCK (self);
  if (!prepare (self->pictures, &settings.scene, &settings.rig, &changed, &message)) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT, ("%s", message), (NULL));
    return FALSE;
  }
  const GstStereoSceneParams *params = gst_stereo_scene_params (self->pictures->scene);
  if (changed)
    GST_DEBUG_OBJECT (self,
        "made a scene: pattern %s, seed %u, views of %dx%d pixels, disparities up to %d px, motion %g px per frame, "
        "noise %g grey levels; the right camera %g px lower, exposure %g; fault %s",
        patterns[params->pattern].value_nick, params->seed, params->width, params->height, params->max_disparity,
        params->motion, params->noise, settings.rig.vertical_offset, settings.rig.right_gain,
        faults[settings.rig.fault].value_nick);
  return TRUE;
}

static gboolean
gst_stereo_test_src_set_caps (GstBaseSrc *base, GstCaps *caps)
{
  GstStereoTestSrc *self = GST_STEREO_TEST_SRC (base);
  gchar *message = NULL;
  GstVideoInfo info;

  if (!gst_video_info_from_caps (&info, caps))
    return FALSE;
  if (!set_format (self->pictures, &info, &message)) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT, ("%s", message), ("caps %" GST_PTR_FORMAT, caps));
    g_free (message);
    return FALSE;
  }
  const GstStereoLayout *layout = &self->pictures->layout;
  GST_DEBUG_OBJECT (self, "negotiated %" GST_PTR_FORMAT ": views of %dx%d pixels, %s, %s view first", caps,
      layout->width, layout->height, gst_stereo_packings[layout->packing].value_nick,
      layout->right_first ? "right" : "left");
  gboolean first = GST_VIDEO_INFO_FORMAT (&self->info) == GST_VIDEO_FORMAT_UNKNOWN;
  GST_OBJECT_LOCK (self);
  self->info = info;
  GST_OBJECT_UNLOCK (self);
  timeline_set_rate (&self->timeline, GST_VIDEO_INFO_FPS_N (&info), GST_VIDEO_INFO_FPS_D (&info));
  /* before the frame rate is known, a seek cannot be converted to a frame number */
  if (first)
    timeline_seek (&self->timeline, base->segment.position, base->segment.rate < 0);
  return ensure_scene (self);
}

static gboolean
gst_stereo_test_src_decide_allocation (GstBaseSrc *base, GstQuery *query)
{
  return gst_stereo_pool_decide (query, NULL) &&
      GST_BASE_SRC_CLASS (gst_stereo_test_src_parent_class)->decide_allocation (base, query);
}

/* ---- time ---------------------------------------------------------------------------------- */

static gboolean
gst_stereo_test_src_do_seek (GstBaseSrc *base, GstSegment *segment)
{
  GstStereoTestSrc *self = GST_STEREO_TEST_SRC (base);

  segment->time = segment->start;
  timeline_seek (&self->timeline, segment->position, segment->rate < 0);
  GST_DEBUG_OBJECT (self, "sought to %" GST_TIME_FORMAT ", rate %g: next is frame %" G_GUINT64_FORMAT,
      GST_TIME_ARGS (segment->position), segment->rate, timeline_number (&self->timeline));
  return TRUE;
}

static gboolean
gst_stereo_test_src_is_seekable (GstBaseSrc *base)
{
  return !gst_base_src_is_live (base);
}

static void
gst_stereo_test_src_get_times (GstBaseSrc *base, GstBuffer *buffer, GstClockTime *start, GstClockTime *end)
{
  *start = *end = GST_CLOCK_TIME_NONE;
  if (!gst_base_src_is_live (base) || !GST_BUFFER_PTS_IS_VALID (buffer))
    return;
  *start = GST_BUFFER_PTS (buffer);
  if (GST_BUFFER_DURATION_IS_VALID (buffer))
    *end = *start + GST_BUFFER_DURATION (buffer);
}

static gboolean
answer_duration (GstQuery *query, const GstVideoInfo *info, gint count)
{
  GstFormat format;

  gst_query_parse_duration (query, &format, NULL);
  if (count < 0 || format != GST_FORMAT_TIME || GST_VIDEO_INFO_FPS_N (info) < 1)
    return FALSE;
  gst_query_set_duration (query, format,
      (gint64) gst_util_uint64_scale (
          (guint64) count, GST_SECOND * (guint64) GST_VIDEO_INFO_FPS_D (info), (guint64) GST_VIDEO_INFO_FPS_N (info)));
  return TRUE;
}

static gboolean
gst_stereo_test_src_query (GstBaseSrc *base, GstQuery *query)
{
  GstStereoTestSrc *self = GST_STEREO_TEST_SRC (base);
  GstVideoInfo info;
  gint count = -1;

  g_object_get (self, "num-buffers", &count, NULL);
  GST_OBJECT_LOCK (self);
  info = self->info;
  GST_OBJECT_UNLOCK (self);
  if (GST_VIDEO_INFO_FORMAT (&info) != GST_VIDEO_FORMAT_UNKNOWN) {
    if (GST_QUERY_TYPE (query) == GST_QUERY_DURATION && answer_duration (query, &info, count))
      return TRUE;
    if (GST_QUERY_TYPE (query) == GST_QUERY_LATENCY && GST_VIDEO_INFO_FPS_N (&info) > 0) {
      /* a frame is complete when its time is over, as with a camera */
      gst_query_set_latency (query, gst_base_src_is_live (base),
          gst_util_uint64_scale (
              GST_SECOND, (guint64) GST_VIDEO_INFO_FPS_D (&info), (guint64) GST_VIDEO_INFO_FPS_N (&info)),
          GST_CLOCK_TIME_NONE);
      return TRUE;
    }
  }
  return GST_BASE_SRC_CLASS (gst_stereo_test_src_parent_class)->query (base, query);
}

/* ---- frames -------------------------------------------------------------------------------- */

static void
add_meta (GstStereoTestSrc *self, GstBuffer *buffer, GstBuffer *truth)
{
  const GstStereoSceneParams *params = gst_stereo_scene_params (self->pictures->scene);
  GstStereoMeta *meta = gst_buffer_add_stereo_meta (buffer, (guint) params->width, (guint) params->height, NULL);

  meta->kind = GST_STEREO_OUTPUT_KIND_VIEWS;
  meta->num_disparities = params->max_disparity + 1;
  meta->focal_length = GST_STEREO_SCENE_FOCAL_LENGTH * params->width;
  meta->baseline = GST_STEREO_SCENE_BASELINE;
  meta->principal_x = (params->width - 1) / 2.0;
  meta->principal_y = (params->height - 1) / 2.0;
  gst_stereo_meta_set_truth (meta, truth);
}

static void
set_times (GstStereoTestSrc *self, GstBuffer *buffer)
{
  GST_OBJECT_LOCK (self);
  gint64 offset = self->settings.timestamp_offset;
  GST_OBJECT_UNLOCK (self);
  /* an offset must not take a time below 0, where GST_CLOCK_TIME_NONE lies */
  GST_BUFFER_PTS (buffer) = (GstClockTime) MAX (0, (gint64) timeline_begin (&self->timeline) + offset);
  GST_BUFFER_DTS (buffer) = GST_CLOCK_TIME_NONE;
  GST_BUFFER_DURATION (buffer) = self->timeline.fps_n < 1 ?
      GST_CLOCK_TIME_NONE :
      time_of (&self->timeline, self->timeline.frame + 1) - time_of (&self->timeline, self->timeline.frame);
  GST_BUFFER_OFFSET (buffer) = timeline_number (&self->timeline);
  GST_BUFFER_OFFSET_END (buffer) = GST_BUFFER_OFFSET (buffer) + 1;
}

static GstFlowReturn
gst_stereo_test_src_fill (GstPushSrc *push, GstBuffer *buffer)
{
  GstStereoTestSrc *self = GST_STEREO_TEST_SRC (push);
  GstBuffer *truth;

  if (timeline_is_over (&self->timeline)) {
    GST_DEBUG_OBJECT (self, "end of stream: a still picture was sent, or frame 0 was reached backwards");
    return GST_FLOW_EOS;
  }
  gst_stereo_follow_controls (self, &GST_BASE_SRC (self)->segment, timeline_begin (&self->timeline));
  if (!ensure_scene (self))
    return GST_FLOW_ERROR;
  if (!paint (self->pictures, timeline_number (&self->timeline), buffer)) {
    GST_ELEMENT_ERROR (
        self, RESOURCE, WRITE, ("The buffer that downstream gave for a frame cannot be written."), (NULL));
    return GST_FLOW_ERROR;
  }
  if (!(truth = make_truth (self->pictures))) {
    GST_ELEMENT_ERROR (self, RESOURCE, FAILED, ("There is no memory for the true disparity of a frame."), (NULL));
    return GST_FLOW_ERROR;
  }
  add_meta (self, buffer, truth);
  gst_buffer_unref (truth);
  set_times (self, buffer);
  GST_LOG_OBJECT (self, "frame %" G_GUINT64_FORMAT " at %" GST_TIME_FORMAT, GST_BUFFER_OFFSET (buffer),
      GST_TIME_ARGS (GST_BUFFER_PTS (buffer)));
  self->timeline.frame += self->timeline.backwards ? -1 : 1;
  return GST_FLOW_OK;
}

static gboolean
gst_stereo_test_src_start (GstBaseSrc *base)
{
  GstStereoTestSrc *self = GST_STEREO_TEST_SRC (base);

  self->timeline = (Timeline){ .fps_d = 1 };
  GST_OBJECT_LOCK (self);
  gst_video_info_init (&self->info);
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

static gboolean
gst_stereo_test_src_stop (GstBaseSrc *base)
{
  clear_pictures (GST_STEREO_TEST_SRC (base)->pictures);
  return TRUE;
}

/* ---- properties ---------------------------------------------------------------------------- */

/* The base class has the value. */
static void
set_is_live (GstElement *element, gpointer instance, const GValue *value)
{
  gst_base_src_set_live (GST_BASE_SRC (element), g_value_get_boolean (value));
}

static void
get_is_live (GstElement *element, gpointer instance, GValue *value)
{
  g_value_set_boolean (value, gst_base_src_is_live (GST_BASE_SRC (element)));
}

#define ROW(name_, kind_, member) \
  .name = name_, .kind = GST_STEREO_##kind_, .flags = GST_STEREO_CONTROLLED, \
  .offset = G_STRUCT_OFFSET (GstStereoTestSrc, settings.member)
#define RANGE(min_, max_, initial_) .min = min_, .max = max_, .initial = initial_

static const GstStereoProperty properties[] = {
  { .name = "is-live",
      .kind = GST_STEREO_BOOLEAN,
      .flags = G_PARAM_READWRITE,
      .set = set_is_live,
      .get = get_is_live,
      .blurb = "Send each frame when its time has come, as a camera does; a live source cannot seek" },
  { ROW ("pattern", ENUM, scene.pattern), .type = "GstStereoTestPattern", .choices = patterns,
      .initial = GST_STEREO_PATTERN_PLANES, .blurb = "The scene to show" },
  { ROW ("seed", UINT, scene.seed), .blurb = "Seed of textures and noise: the same seed gives the same pictures" },
  { ROW ("max-disparity", INT, scene.max_disparity), RANGE (0, GST_STEREO_SCENE_MAX_DISPARITY, 0),
      .blurb = "Largest disparity of the scene in pixels, at most half the width of a view; 0 = a tenth of that width, "
               "at most 120, or with pattern=road more where something on it is nearer than that" },
  { ROW ("motion", DOUBLE, scene.motion), RANGE (-1000, 1000, 2),
      .blurb = "Pixels that the foreground moves to the right per frame (it turns back at the sides). Without "
               "effect on pattern=road" },
  { ROW ("noise", DOUBLE, scene.noise), RANGE (0, 64, 1),
      .blurb = "Noise of the sensors: its standard deviation at mid grey, in grey levels. Half of the variance "
               "is the same at all levels, the other half is shot noise and grows with the level; 0 = no noise" },
  { ROW ("vertical-offset", DOUBLE, rig.vertical_offset),
      RANGE (-GST_STEREO_RIG_MAX_OFFSET, GST_STEREO_RIG_MAX_OFFSET, 0),
      .blurb = "Pixels by which a point lies lower in the right view than in the left one; fractions too" },
  { ROW ("roll", DOUBLE, rig.roll), RANGE (-GST_STEREO_RIG_MAX_ROLL, GST_STEREO_RIG_MAX_ROLL, 0),
      .blurb = "Degrees by which the right view is turned clockwise, about its middle; the true "
               "disparity stays that of the scene" },
  { ROW ("right-gain", DOUBLE, rig.right_gain), RANGE (0, GST_STEREO_RIG_MAX_GAIN, 1),
      .blurb = "Exposure of the right view: what its grey levels are multiplied with, before noise" },
  { ROW ("fault", ENUM, rig.fault), .type = "GstStereoTestFault", .choices = faults,
      .initial = GST_STEREO_TEST_FAULT_NONE,
      .blurb = "What is wrong with a camera; the true disparity stays that of the scene" },
  { ROW ("fault-view", ENUM, rig.fault_view), .type = "GstStereoTestFaultView", .choices = fault_views,
      .initial = GST_STEREO_TEST_FAULT_VIEW_RIGHT, .blurb = "Which view has the fault" },
  { ROW ("timestamp-offset", INT64, timestamp_offset),
      .blurb = "Nanoseconds to add to the timestamps; no timestamp goes below 0" },
  { ROW ("camera-height", DOUBLE, scene.road.camera_height), RANGE (200, 20000, 1650),
      .blurb = "pattern=road: height of the camera above the ground, in millimetres" },
  { ROW ("camera-pitch", DOUBLE, scene.road.camera_pitch), RANGE (-20, 20, 0),
      .blurb = "pattern=road: angle by which the camera looks down, in degrees: above 0, the horizon lies above the "
               "middle of the picture" },
  { ROW ("camera-roll", DOUBLE, scene.road.camera_roll), RANGE (-20, 20, 0),
      .blurb = "pattern=road: angle by which the camera is turned about its optical axis, in degrees: above 0, "
               "its right side is lower, and the horizon rises to the right" },
  { ROW ("obstacle-height", DOUBLE, scene.road.obstacle_height), RANGE (0, 10000, 0),
      .blurb = "pattern=road: height of an obstacle, in millimetres: a board, parallel to the picture; 0 = there "
               "is none" },
  { ROW ("obstacle-width", DOUBLE, scene.road.obstacle_width), RANGE (10, 20000, 600),
      .blurb = "pattern=road: width of the obstacle, in millimetres" },
  { ROW ("obstacle-distance", DOUBLE, scene.road.obstacle_distance), RANGE (300, 79000, 10000),
      .blurb = "pattern=road: distance of the obstacle in frame 0, along the optical axis, in millimetres; its "
               "disparity is at most max-disparity" },
  { ROW ("obstacle-lateral", DOUBLE, scene.road.obstacle_lateral), RANGE (-40000, 40000, 0),
      .blurb = "pattern=road: how far the middle of the obstacle is to the right of the optical axis, in millimetres" },
  { ROW ("obstacle-approach", DOUBLE, scene.road.obstacle_approach), RANGE (0, 10000, 0),
      .blurb = "pattern=road: millimetres that the obstacle comes nearer per frame, until its disparity is "
               "max-disparity; 0 = it stands still" },
  { ROW ("ramp-slope", DOUBLE, scene.road.ramp_slope), RANGE (0, 45, 0),
      .blurb = "pattern=road: slope of a ramp that rises out of the ground, in degrees; 0 = there is none" },
  { ROW ("ramp-distance", DOUBLE, scene.road.ramp_distance), RANGE (500, 79000, 15000),
      .blurb = "pattern=road: where the ramp begins: distance along the ground from the point below "
               "the camera, in millimetres" },
  { ROW ("kerb-height", DOUBLE, scene.road.kerb_height), RANGE (0, 1000, 0),
      .blurb = "pattern=road: how much higher the ground is on the right of a kerb, in millimetres, at least 200 less "
               "than camera-height; 0 = there is none" },
  { ROW ("kerb-distance", DOUBLE, scene.road.kerb_distance), RANGE (200, 20000, 2500),
      .blurb = "pattern=road: how far the kerb is to the right of the camera, along the ground, in "
               "millimetres; it has a vertical face" },
  { ROW ("thin-count", INT, scene.road.thin_count), RANGE (0, GST_STEREO_SCENE_THIN_THINGS, 0),
      .blurb = "pattern=road: number of posts, level bars and slanted bars in turn, 5 to 40 metres away, at "
               "places that follow from seed" },
  { ROW ("thin-width", INT, scene.road.thin_width), RANGE (1, 8, 3),
      .blurb = "pattern=road: pixels across each thin thing, whatever its distance" },
  { ROW ("thin-contrast", DOUBLE, scene.road.thin_contrast), RANGE (0, 1, 1),
      .blurb = "pattern=road: contrast of the texture of thin things: 1 = as of everything else, 0 = they are plain, "
               "dark and bright in turn" },
  { .name = NULL },
};

/* ---- object -------------------------------------------------------------------------------- */

static void
gst_stereo_test_src_finalize (GObject *object)
{
  GstStereoTestSrc *self = GST_STEREO_TEST_SRC (object);

  clear_pictures (self->pictures);
  g_free (self->pictures);
  G_OBJECT_CLASS (gst_stereo_test_src_parent_class)->finalize (object);
}

static void
gst_stereo_test_src_class_init (GstStereoTestSrcClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSrcClass *base_class = GST_BASE_SRC_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (gst_stereo_test_src_debug, "stereotestsrc", 0, "stereo test source");

  object_class->finalize = gst_stereo_test_src_finalize;
  gst_stereo_properties_install (object_class, properties, 0, FALSE);

  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Stereo test source", "Source/Video/Stereo",
      "Makes both views of a moving scene in one frame, with the true disparity of every pixel in its GstStereoMeta",
      "gst-stereo");

  base_class->fixate = gst_stereo_test_src_fixate;
  base_class->set_caps = gst_stereo_test_src_set_caps;
  base_class->decide_allocation = gst_stereo_test_src_decide_allocation;
  base_class->do_seek = gst_stereo_test_src_do_seek;
  base_class->is_seekable = gst_stereo_test_src_is_seekable;
  base_class->get_times = gst_stereo_test_src_get_times;
  base_class->query = gst_stereo_test_src_query;
  base_class->start = gst_stereo_test_src_start;
  base_class->stop = gst_stereo_test_src_stop;
  GST_PUSH_SRC_CLASS (klass)->fill = gst_stereo_test_src_fill;
}

static void
gst_stereo_test_src_init (GstStereoTestSrc *self)
{
  gst_stereo_properties_init (G_OBJECT (self));
  self->pictures = g_new0 (Pictures, 1);
  self->timeline.fps_d = 1;
  gst_video_info_init (&self->info);
  gst_base_src_set_format (GST_BASE_SRC (self), GST_FORMAT_TIME);
  gst_base_src_set_live (GST_BASE_SRC (self), FALSE);
}
