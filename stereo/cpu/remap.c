/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Bilinear remapping of a plane's rows.
 *
 * Blocks whose taps all lie inside the source are gathered, LANES samples at a time: the two samples of a row become the two
 * halves of a word, and one multiply-and-add applies both weights. The other blocks, at the borders, are remapped sample by
 * sample.
 */
#include "stereo/cpu/remap.h"

#include "stereo/cpu/vec/vec.h"

/* A row of the target, and what it is computed from. */
typedef struct Row
{
  const StereoRemapPlane *plane;
  const StereoRemapTable *table;
  const StereoRemapSource *source;
  const uint32_t *position;
  const uint16_t *fraction;
  uint8_t *to;
} Row;

static void
remap_samples (const Row *row, int first, int end)
{
  const StereoRemapPlane *plane = row->plane;
  const uint8_t *data = row->source->data;
  ptrdiff_t stride = row->source->stride;
  int width = row->table->source_width, height = row->table->source_height, step = plane->source.pixel_stride;

  for (int i = first; i < end; i++) {
    int x = (int16_t) row->position[i], y = (int16_t) (row->position[i] >> 16);
    uint32_t fx = row->fraction[i] & 255u, fy = row->fraction[i] >> 8;
    uint8_t *to = row->to + (ptrdiff_t) i * plane->target.pixel_stride;
    for (int c = 0; c < plane->channels; c++) {
      int offset = plane->source.offset[c];
      uint32_t border = plane->border[c];
      to[plane->target.offset[c]] = (uint8_t) stereo_remap_blend (
          stereo_remap_tap (data, stride, step, x, y, width, height, offset, border),
          stereo_remap_tap (data, stride, step, x + 1, y, width, height, offset, border),
          stereo_remap_tap (data, stride, step, x, y + 1, width, height, offset, border),
          stereo_remap_tap (data, stride, step, x + 1, y + 1, width, height, offset, border), fx, fy);
    }
  }
}

static void
fill_border (const Row *row, int first, int end)
{
  const StereoRemapPlane *plane = row->plane;

  for (int i = first; i < end; i++)
    for (int c = 0; c < plane->channels; c++)
      row->to[(ptrdiff_t) i * plane->target.pixel_stride + plane->target.offset[c]] = plane->border[c];
}

#ifdef VEC_GATHERS

/* Where the upper left taps of a vector lie, and the weights as pairs. */
typedef struct Taps
{
  VecI offset, across, down;
} Taps;

static inline __attribute__ ((always_inline)) Taps
load_taps (const Row *row, int i, int pixel_stride)
{
  VecI position = vec_load_i ((const int32_t *) row->position + i);
  VecI fraction = vec_widen (vec_load_h (row->fraction + i));
  VecI x = position & 0xFFFF, y = (VecI) ((VecU) position >> 16), fx = fraction & 255, fy = fraction >> 8;
  Taps taps = { y * (int32_t) row->source->stride + x * pixel_stride, (STEREO_REMAP_STEPS - fx) | fx << 16,
    (STEREO_REMAP_STEPS - fy) | fy << 16 };
  return taps;
}

/* stereo_remap_blend() of pairs. The sum of a row fits half a word, and the sum of both rows a word. */
static inline __attribute__ ((always_inline)) VecI
blend (VecI upper, VecI lower, const Taps *taps)
{
  VecI both = vec_dot (upper, taps->across) | vec_dot (lower, taps->across) << 16;
  return (vec_dot (both, taps->down) + (1 << (2 * STEREO_REMAP_SHIFT - 1))) >> (2 * STEREO_REMAP_SHIFT);
}

/* A sample and its right neighbour as a pair. The bytes that the load reads after them are in the margin of the block. */
static inline __attribute__ ((always_inline)) VecI
load_pair (const uint8_t *from, VecI offset, int pixel_stride)
{
  VecI word = vec_gather (from, offset);

  if (pixel_stride == 1)
    return (word & 0xFF) | (word & 0xFF00) << 8;
  if (pixel_stride == 2)
    return word & 0xFF00FF;
  return (word & 0xFF) | (vec_gather (from + pixel_stride, offset) & 0xFF) << 16;
}

static inline __attribute__ ((always_inline)) void
remap_channel (const Row *row, int i, int c, int pixel_stride)
{
  const uint8_t *from = row->source->data + row->plane->source.offset[c];
  Taps taps = load_taps (row, i, pixel_stride);
  VecB bytes = vec_narrow_bytes (blend (load_pair (from, taps.offset, pixel_stride),
      load_pair (from + row->source->stride, taps.offset, pixel_stride), &taps));
  int step = row->plane->target.pixel_stride;
  uint8_t *to = row->to + (ptrdiff_t) i * step + row->plane->target.offset[c];

  if (step == 1) {
    vec_store_b (to, bytes);
    return;
  }
  for (int k = 0; k < LANES; k++)
    to[k * step] = bytes[k];
}

/* Pixels of 3 or 4 bytes, every byte of which is a channel. */
static inline __attribute__ ((always_inline)) void
remap_pixels (const Row *row, int i, int bytes)
{
  const uint8_t *upper = row->source->data, *lower = upper + row->source->stride;
  Taps taps = load_taps (row, i, bytes);
  /* The right neighbour is loaded by four bytes that end where it ends: nothing past it is read. */
  VecI a = vec_gather (upper, taps.offset), b = vec_gather (upper + 2 * bytes - 4, taps.offset);
  VecI c = vec_gather (lower, taps.offset), d = vec_gather (lower + 2 * bytes - 4, taps.offset), pixels = { 0 };

  for (int k = 0; k < bytes; k++) {
    VecI first = (VecI) ((VecU) a >> (8 * k)) & 0xFF, third = (VecI) ((VecU) c >> (8 * k)) & 0xFF;
    VecI second = (VecI) ((VecU) b >> (8 * (k + 4 - bytes))) & 0xFF;
    VecI fourth = (VecI) ((VecU) d >> (8 * (k + 4 - bytes))) & 0xFF;
    pixels |= blend (first | second << 16, third | fourth << 16, &taps) << (8 * k);
  }
  if (bytes == 4)
    vec_store_i ((int32_t *) (row->to + (ptrdiff_t) i * 4), pixels);
  else
    vec_store_threes (row->to + (ptrdiff_t) i * 3, pixels);
}

typedef enum Kernel
{
  KERNEL_PLAIN,
  KERNEL_CHANNELS,
  KERNEL_THREES,
  KERNEL_FOURS
} Kernel;

/* Whether the bytes of source and target are the channels in order, without gaps. */
static int
is_dense (const StereoRemapPlane *plane)
{
  for (int c = 0; c < plane->channels; c++)
    if (plane->source.offset[c] != c || plane->target.offset[c] != c)
      return 0;
  return plane->source.pixel_stride == plane->channels && plane->target.pixel_stride == plane->channels;
}

static Kernel
choose_kernel (const StereoRemapPlane *plane, const StereoRemapTable *table, const StereoRemapSource *source)
{
  int64_t bytes = (int64_t) source->stride * table->source_height;

  /* Gathers have offsets of 32 bits. */
  if (bytes > INT32_MAX / 2 || bytes < INT32_MIN / 2)
    return KERNEL_PLAIN;
  if (plane->channels > 2 && is_dense (plane))
    return plane->channels == 3 ? KERNEL_THREES : KERNEL_FOURS;
  return KERNEL_CHANNELS;
}

static inline __attribute__ ((always_inline)) void
remap_block (const Row *row, int first, Kernel kernel)
{
  int step = row->plane->source.pixel_stride;

  for (int i = first; i < first + STEREO_REMAP_BLOCK; i += LANES) {
    if (kernel == KERNEL_THREES)
      remap_pixels (row, i, 3);
    else if (kernel == KERNEL_FOURS)
      remap_pixels (row, i, 4);
    else
      for (int c = 0; c < row->plane->channels; c++)
        switch (step) {
          case 1:
            remap_channel (row, i, c, 1);
            break;
          case 2:
            remap_channel (row, i, c, 2);
            break;
          default:
            remap_channel (row, i, c, step);
        }
  }
}

#else
typedef enum Kernel
{
  KERNEL_PLAIN
} Kernel;

static Kernel
choose_kernel (const StereoRemapPlane *plane, const StereoRemapTable *table, const StereoRemapSource *source)
{
  return KERNEL_PLAIN;
}

static void
remap_block (const Row *row, int first, Kernel kernel)
{
  remap_samples (row, first, first + STEREO_REMAP_BLOCK);
}
#endif

static void
remap_row (const Row *row, const uint8_t *kind, Kernel kernel)
{
  int width = row->table->width;

  for (int i = 0; i < width; i += STEREO_REMAP_BLOCK, kind++) {
    int end = i + STEREO_REMAP_BLOCK < width ? i + STEREO_REMAP_BLOCK : width;
    if (*kind == STEREO_REMAP_OUTSIDE)
      fill_border (row, i, end);
    else if (*kind == STEREO_REMAP_INSIDE && end - i == STEREO_REMAP_BLOCK && kernel != KERNEL_PLAIN)
      remap_block (row, i, kernel);
    else
      remap_samples (row, i, end);
  }
}

void
CPU (remap_rows) (const StereoRemapPlane *plane, const StereoRemapTable *table, const StereoRemapSource *source,
    const StereoRemapTarget *target, int first, int end)
{
  Kernel kernel = choose_kernel (plane, table, source);

  for (int y = first; y < end; y++) {
    size_t start = (size_t) y * (size_t) table->pitch;
    Row row = { plane, table, source, table->position + start, table->fraction + start,
      target->data + y * target->stride };
    remap_row (&row, table->kind + start / STEREO_REMAP_BLOCK, kernel);
  }
}
