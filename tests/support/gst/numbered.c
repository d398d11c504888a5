/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/support/gst/numbered.h"

#define BANDS 4
#define BAND_HEIGHT (NUMBERED_HEIGHT / BANDS)
#define FARTHEST (NUMBERED_BASE + 1)

/* Repeats nowhere. */
static guint8
grain (guint x, guint y)
{
  guint32 h = x * 0x9E3779B1u ^ y * 0x85EBCA77u;

  h = (h ^ h >> 15) * 0x2C1B3C6Du;
  h = (h ^ h >> 12) * 0x297A2D39u;
  /* nothing is saturated: stereomatch would not measure it */
  return (guint8) ((h >> 16 & 255) * 7 / 8);
}

/* A band of the right number stands still in the left view and is shifted by it in the right one; a band of the left
 * number is shifted by it in the left view, and lies beyond all that in the right one. */
static guint
shift_of (guint number, gboolean right, guint band)
{
  guint digit = band % 2 ? number / NUMBERED_BASE % NUMBERED_BASE : number % NUMBERED_BASE;

  if (band < 2)
    return right ? 1 + digit : 0;
  return right ? FARTHEST : digit;
}

static guint8 *
luma_at (const GstVideoFrame *frame, guint x, guint y)
{
  return (guint8 *) GST_VIDEO_FRAME_COMP_DATA (frame, 0) + y * (guint) GST_VIDEO_FRAME_COMP_STRIDE (frame, 0) +
      x * (guint) GST_VIDEO_FRAME_COMP_PSTRIDE (frame, 0);
}

GstBuffer *
numbered_view_as (GstVideoFormat format, guint number, gboolean right, gint width)
{
  GstVideoFrame frame;
  GstVideoInfo info;

  gst_video_info_set_format (&info, format, (guint) width, NUMBERED_HEIGHT);
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, info.size, NULL);
  /* no colour, and nothing that was never written */
  gst_buffer_memset (buffer, 0, 128, info.size);
  g_assert (gst_video_frame_map (&frame, &info, buffer, GST_MAP_WRITE));
  for (guint y = 0; y < NUMBERED_HEIGHT; y++) {
    guint shift = shift_of (number, right, y / BAND_HEIGHT);
    for (guint x = 0; x < (guint) width; x++)
      *luma_at (&frame, x, y) = grain (x + shift, y);
  }
  gst_video_frame_unmap (&frame);
  return buffer;
}

GstBuffer *
numbered_view (guint number, gboolean right, gint width)
{
  return numbered_view_as (GST_VIDEO_FORMAT_GRAY8, number, right, width);
}

/* The one disparity of a band away from its edges, or 0. */
static guint
read_band (const GstVideoFrame *frame, guint band, gdouble scale)
{
  guint found = 0;

  for (guint y = band * BAND_HEIGHT + 1; y < (band + 1) * BAND_HEIGHT - 1; y++) {
    const guint8 *row = (const guint8 *) GST_VIDEO_FRAME_PLANE_DATA (frame, 0) +
        y * (guint) GST_VIDEO_FRAME_PLANE_STRIDE (frame, 0);
    for (guint x = FARTHEST + 2; x < (guint) GST_VIDEO_FRAME_WIDTH (frame) - 2; x++) {
      guint value = (guint) (GST_READ_UINT16_LE (row + 2 * x) / scale + 0.5);
      if (value == 0 || (found && value != found))
        return 0;
      found = value;
    }
  }
  return found;
}

gboolean
numbered_read (GstBuffer *disparity, gint width, gdouble scale, guint *left, guint *right)
{
  GstVideoFrame frame;
  GstVideoInfo info;
  guint bands[BANDS];
  gboolean whole = TRUE;

  gst_video_info_set_format (&info, GST_VIDEO_FORMAT_GRAY16_LE, (guint) width, NUMBERED_HEIGHT);
  if (!gst_video_frame_map (&frame, &info, disparity, GST_MAP_READ))
    return FALSE;
  for (guint band = 0; band < BANDS; band++)
    whole &= (bands[band] = read_band (&frame, band, scale)) != 0;
  gst_video_frame_unmap (&frame);
  *right = (bands[0] - 1) + NUMBERED_BASE * (bands[1] - 1);
  *left = (FARTHEST - bands[2]) + NUMBERED_BASE * (FARTHEST - bands[3]);
  return whole && *right < NUMBERED_CYCLE && *left < NUMBERED_CYCLE;
}

/* ---- views ------------------------------------------------------------------------------- */

/* Rounding may move a level, and a border is what it is. */
static gboolean
band_is_shifted_by (const GstVideoFrame *frame, guint from, guint width, guint band, guint shift)
{
  for (guint y = band * BAND_HEIGHT + 1; y < (band + 1) * BAND_HEIGHT - 1; y++)
    for (guint x = 2; x < width - 2; x++)
      if (ABS ((gint) *luma_at (frame, from + x, y) - (gint) grain (x + shift, y)) > 2)
        return FALSE;
  return TRUE;
}

/* What a band of a view is shifted by, of @least to @least + NUMBERED_BASE - 1; beyond that when by none of them. */
static guint
read_shift (const GstVideoFrame *frame, guint from, guint width, guint band, guint least)
{
  guint shift = least;

  while (shift < least + NUMBERED_BASE && !band_is_shifted_by (frame, from, width, band, shift))
    shift++;
  return shift - least;
}

gboolean
numbered_read_views (GstBuffer *views, GstVideoFormat format, gint width, guint *left, guint *right)
{
  GstVideoFrame frame;
  GstVideoInfo info;
  guint digits[BANDS];
  gboolean whole = TRUE;

  gst_video_info_set_format (&info, format, 2 * (guint) width, NUMBERED_HEIGHT);
  if (!gst_video_frame_map (&frame, &info, views, GST_MAP_READ))
    return FALSE;
  for (guint band = 0; band < BANDS; band++) {
    gboolean of_right = band < 2;
    digits[band] = read_shift (&frame, of_right ? (guint) width : 0, (guint) width, band, of_right);
    whole &= digits[band] < NUMBERED_BASE;
    /* and the other view's half of the band is whole, and is of this place */
    whole &= band_is_shifted_by (&frame, of_right ? 0 : (guint) width, (guint) width, band, of_right ? 0 : FARTHEST);
  }
  gst_video_frame_unmap (&frame);
  *right = digits[0] + NUMBERED_BASE * digits[1];
  *left = digits[2] + NUMBERED_BASE * digits[3];
  return whole;
}
