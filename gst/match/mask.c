/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/mask.h"

#include "gst/video/file.h"

#include <gst/video/video.h>
#include <math.h>
#include <string.h>

#ifdef HAVE_LIBPNG
#include <png.h>
#endif

#define MID_GREY 128

/* ---- rectangles --------------------------------------------------------------------------- */

typedef struct
{
  gdouble x, y, width, height; /* fractions */
} Rectangle;

/* Reads a rectangle at the start of @text. Returns what follows it; NULL: there is none. */
static const gchar *
read_rectangle (const gchar *text, Rectangle *rectangle)
{
  gdouble *numbers[] = { &rectangle->x, &rectangle->y, &rectangle->width, &rectangle->height };

  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++) {
    gchar *end;
    *numbers[i] = g_ascii_strtod (text, &end);
    if (end == text || !isfinite (*numbers[i]) || *numbers[i] < 0 || *numbers[i] > 1)
      return NULL;
    while (g_ascii_isspace (*end))
      end++;
    if (i + 1 < G_N_ELEMENTS (numbers) && *end++ != ',')
      return NULL;
    text = end;
  }
  return rectangle->width > 0 && rectangle->height > 0 && (*text == ';' || !*text) ? text : NULL;
}

/* A name that begins like a number and goes on with a comma is not taken for a file. */
static gboolean
are_rectangles (const gchar *text)
{
  gchar *end;

  g_ascii_strtod (text, &end);
  while (end > text && g_ascii_isspace (*end))
    end++;
  return end > text && *end == ',';
}

gboolean
gst_stereo_mask_check (const gchar *text, gchar **message)
{
  Rectangle rectangle;
  const gchar *at = text;

  if (!are_rectangles (text))
    return TRUE;
  while (at && *at) {
    at = read_rectangle (at, &rectangle);
    while (at && (*at == ';' || g_ascii_isspace (*at)))
      at++;
  }
  if (at)
    return TRUE;
  *message = g_strdup_printf ("mask=%s is no list of rectangles: set it to x, y, width and height as fractions (0..1) of "
                              "the picture, with a semicolon between rectangles, for example "
                              "\"0, 0.9, 1, 0.1; 0.4, 0, 0.2, 0.3\"; or to the name of a PNG file.",
      text);
  return FALSE;
}

/* A pixel is excluded where its middle lies in a rectangle. */
static void
exclude (GstStereoMask *mask, const Rectangle *r)
{
  gint left = (gint) ceil (r->x * mask->width - 0.5), right = (gint) ceil ((r->x + r->width) * mask->width - 0.5);
  gint top = (gint) ceil (r->y * mask->height - 0.5), bottom = (gint) ceil ((r->y + r->height) * mask->height - 0.5);

  right = MIN (right, mask->width);
  for (gint y = top; y < MIN (bottom, mask->height) && right > left; y++)
    memset (mask->counts + (gsize) y * (gsize) mask->width + left, 0, (gsize) (right - left));
}

static void
exclude_rectangles (GstStereoMask *mask, const gchar *text)
{
  Rectangle rectangle;

  memset (mask->counts, 255, (gsize) mask->width * (gsize) mask->height);
  while (*text) {
    text = read_rectangle (text, &rectangle);
    exclude (mask, &rectangle);
    while (*text == ';' || g_ascii_isspace (*text))
      text++;
  }
}

/* ---- pictures ----------------------------------------------------------------------------- */

#ifdef HAVE_LIBPNG
/* No larger than the view: libpng decodes only pictures of its size. */
#define MAX_FILE (64 << 20)
#define PICTURE "a PNG file of the view's size, or to rectangles"

/* FALSE and a sentence in @message. */
static gboolean
decode_picture (GstStereoMask *mask, const gchar *name, const gchar *file, gsize size, gchar **message)
{
  png_image image = { .version = PNG_IMAGE_VERSION };
  gboolean read = FALSE;

  if (!png_image_begin_read_from_memory (&image, file, size)) {
    *message = g_strdup_printf ("mask=%s cannot be read: %s. Set mask to " PICTURE ".", name, image.message);
    return FALSE;
  }
  if (image.width != (guint) mask->width || image.height != (guint) mask->height) {
    *message = g_strdup_printf ("mask=%s has %ux%u pixels, and a view has %dx%d: make a mask of the view's size.", name,
        image.width, image.height, mask->width, mask->height);
  } else {
    image.format = PNG_FORMAT_GRAY;
    read = png_image_finish_read (&image, &(png_color){ 0, 0, 0 }, mask->counts, 0, NULL);
    if (!read)
      *message = g_strdup_printf ("mask=%s cannot be read: %s. Set mask to " PICTURE ".", name, image.message);
  }
  png_image_free (&image);
  for (gsize i = 0; read && i < (gsize) mask->width * (gsize) mask->height; i++)
    mask->counts[i] = mask->counts[i] < MID_GREY ? 0 : 255;
  return read;
}

/* FALSE and a sentence in @message. */
static gboolean
read_picture (GstStereoMask *mask, const gchar *name, gchar **message)
{
  static const GstStereoFileRules rules = { "mask", PICTURE, MAX_FILE };
  gsize size;
  g_autofree gchar *file = gst_stereo_file_read (&rules, name, &size, message);

  return file && decode_picture (mask, name, file, size, message);
}
#else
static gboolean
read_picture (GstStereoMask *mask, const gchar *name, gchar **message)
{
  *message = g_strdup_printf ("mask=%s cannot be read: this was built without libpng. Set mask to rectangles, or install "
                              "libpng-dev and build again.",
      name);
  return FALSE;
}
#endif

/* ---- masks -------------------------------------------------------------------------------- */

static void
measure (GstStereoMask *mask)
{
  gint last = -1;

  mask->first_row = mask->height;
  for (gint y = 0; y < mask->height; y++) {
    const guint8 *row = mask->counts + (gsize) y * (gsize) mask->width;
    guint64 count = 0;
    for (gint x = 0; x < mask->width; x++)
      count += row[x] != 0;
    if (count) {
      mask->first_row = MIN (mask->first_row, y);
      last = y;
    }
    mask->count += count;
  }
  mask->rows = last + 1 - mask->first_row;
}

static void
clear_mask (gpointer data)
{
  gst_buffer_unref (((GstStereoMask *) data)->buffer);
}

/* One buffer for all metas, so that a frame copies nothing. */
static void
allocate (GstStereoMask *mask)
{
  gsize size = (gsize) mask->width * (gsize) mask->height;
  gsize offset[GST_VIDEO_MAX_PLANES] = { 0 };
  gint stride[GST_VIDEO_MAX_PLANES] = { mask->width };

  mask->counts = g_malloc (size);
  mask->buffer = gst_buffer_new_wrapped_full (
      GST_MEMORY_FLAG_READONLY, mask->counts, size, 0, size, mask->counts, g_free);
  gst_buffer_add_video_meta_full (mask->buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, (guint) mask->width,
      (guint) mask->height, 1, offset, stride);
}

GstStereoMask *
gst_stereo_mask_new (const gchar *text, gint width, gint height, gchar **message)
{
  if (!gst_stereo_mask_check (text, message))
    return NULL;
  GstStereoMask *mask = g_atomic_rc_box_new0 (GstStereoMask);
  mask->width = width;
  mask->height = height;
  allocate (mask);
  gboolean made = TRUE;
  if (are_rectangles (text))
    exclude_rectangles (mask, text);
  else
    made = read_picture (mask, text, message);
  if (made)
    measure (mask);
  if (made && !mask->count) {
    made = FALSE;
    *message = g_strdup_printf ("mask=%s excludes every pixel of a view of %dx%d: leave some out.%s", text, width,
        height, are_rectangles (text) ? "" : " White is what counts, black is excluded.");
  }
  if (!made)
    g_clear_pointer (&mask, gst_stereo_mask_unref);
  return mask;
}

GstStereoMask *
gst_stereo_mask_ref (GstStereoMask *mask)
{
  return g_atomic_rc_box_acquire (mask);
}

void
gst_stereo_mask_unref (GstStereoMask *mask)
{
  g_atomic_rc_box_release_full (mask, clear_mask);
}

static void
clear_rows (const GstStereoMask *mask, const GstStereoMaskedPicture *picture, gint from, gint to)
{
  for (gint y = from; y < to; y++) {
    memset (picture->samples + (gssize) y * picture->stride, 0, (gsize) mask->width * (gsize) picture->sample_bytes);
    memset (picture->confidence + (gssize) y * picture->confidence_stride, 0, (gsize) mask->width);
  }
}

void
gst_stereo_mask_apply (
    const GstStereoMask *mask, const GstStereoMaskedPicture *picture, gdouble *valid_ratio, gdouble *mean_confidence)
{
  guint64 valid = 0, sum = 0;

  clear_rows (mask, picture, 0, mask->first_row);
  clear_rows (mask, picture, mask->first_row + mask->rows, mask->height);
  for (gint y = mask->first_row; y < mask->first_row + mask->rows; y++) {
    const guint8 *counts = mask->counts + (gsize) y * (gsize) mask->width;
    guint8 *row = picture->samples + (gssize) y * picture->stride;
    guint8 *confidence = picture->confidence + (gssize) y * picture->confidence_stride;

    for (gint x = 0; x < mask->width; x++) {
      guint8 *sample = row + x * picture->sample_bytes;
      confidence[x] &= counts[x];
      for (gint byte = 0; byte < picture->sample_bytes; byte++)
        sample[byte] &= counts[x];
      valid += sample[0] || sample[picture->sample_bytes - 1];
      sum += confidence[x];
    }
  }
  *valid_ratio = (gdouble) valid / (gdouble) mask->count;
  *mean_confidence = (gdouble) sum / (255.0 * (gdouble) mask->count);
}

/* ---- the property ------------------------------------------------------------------------- */

struct _GstStereoMasks
{
  GstElement *element;

  gchar *text; /* the property, protected by the element's object lock; NULL, "" = none */

  /* of the source pad's task */
  gboolean chosen;     /* since the start */
  gchar *made_of;      /* the text that was tried last */
  GstStereoMask *mask; /* at work; NULL = none */
};

const GstStereoProperty gst_stereo_masks_properties[] = {
  { .name = "mask",
      .kind = GST_STEREO_STRING,
      .flags = GST_STEREO_PLAYING,
      .offset = G_STRUCT_OFFSET (GstStereoMasks, text),
      .blurb = "What to leave out of the left view, as a bonnet: a PNG file of the view's size, whose pixels "
               "below mid grey are excluded, or rectangles \"x,y,width,height; ...\" as fractions (0..1) of the "
               "picture. Excluded pixels have no value and count nowhere. NULL = none" },
  { .name = NULL },
};

GstStereoMasks *
gst_stereo_masks_new (GstElement *element)
{
  GstStereoMasks *masks = g_new0 (GstStereoMasks, 1);

  masks->element = element;
  return masks;
}

void
gst_stereo_masks_release (GstStereoMasks *masks)
{
  g_clear_pointer (&masks->made_of, g_free);
  g_clear_pointer (&masks->mask, gst_stereo_mask_unref);
  masks->chosen = FALSE;
}

void
gst_stereo_masks_free (GstStereoMasks *masks)
{
  gst_stereo_masks_release (masks);
  g_free (masks->text);
  g_free (masks);
}

/* Takes @message. While frames pass, a file that cannot be used leaves the current mask in force. */
static gboolean
keep (GstStereoMasks *masks, gboolean usable, gchar *message)
{
  if (usable)
    GST_ELEMENT_WARNING (masks->element, RESOURCE, SETTINGS,
        ("%s %s", message, masks->mask ? "The mask before stays in force." : "Until then there is no mask."), (NULL));
  else
    GST_ELEMENT_ERROR (masks->element, RESOURCE, SETTINGS, ("%s", message), (NULL));
  g_free (message);
  return usable;
}

gboolean
gst_stereo_masks_choose (GstStereoMasks *masks, gint width, gint height, GstStereoMask **mask)
{
  gchar *text, *message = NULL;

  GST_OBJECT_LOCK (masks->element);
  text = masks->text && *masks->text ? g_strdup (masks->text) : NULL;
  GST_OBJECT_UNLOCK (masks->element);
  gboolean fits = !masks->mask || (masks->mask->width == width && masks->mask->height == height);
  GstStereoMask *made = NULL;
  gboolean done = TRUE;

  if (masks->chosen && fits && !g_strcmp0 (text, masks->made_of)) {
    g_free (text);
    *mask = masks->mask;
    return TRUE;
  }
  if (text && !(made = gst_stereo_mask_new (text, width, height, &message)))
    done = keep (masks, masks->chosen && fits, message);
  else
    g_clear_pointer (&masks->mask, gst_stereo_mask_unref);
  if (made)
    masks->mask = made;
  g_free (masks->made_of);
  masks->made_of = text;
  masks->chosen = done;
  *mask = masks->mask;
  return done;
}
