/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Remapping: turns the maps into tables once; a frame is one call of the backend. */
#include "stereo/engine/remap.h"

#include "stereo/engine/engine.h"
#include "stereo/engine/params.h"

#include <stdlib.h>
#include <string.h>

/* ---- tables ---------------------------------------------------------------------------------- */

/* Where the first sample of a plane lies in the picture, px. */
static float
origin (int shift, int centred)
{
  return shift && centred ? 0.5f : 0.0f;
}

/* The map at (x, y), which may lie between two of its columns or rows, or past the last ones. */
static float
map_at (const StereoRemapMap *map, const float *values, float x, float y)
{
  int x0 = (int) x, y0 = (int) y;
  int x1 = x > (float) x0 ? x0 + 1 : x0, y1 = y > (float) y0 ? y0 + 1 : y0;

  x0 = x0 < map->width ? x0 : map->width - 1;
  x1 = x1 < map->width ? x1 : map->width - 1;
  y0 = y0 < map->height ? y0 : map->height - 1;
  y1 = y1 < map->height ? y1 : map->height - 1;
  const float *upper = values + y0 * map->pitch, *lower = values + y1 * map->pitch;
  return ((upper[x0] + upper[x1]) * 0.5f + (lower[x0] + lower[x1]) * 0.5f) * 0.5f;
}

/* Converts a position in pixels to one in the samples of a plane of @samples samples. The outermost samples of a chroma
 * plane lie up to a pixel inside the picture: pixels beyond them, inside the picture, have their value. Outside the picture
 * chroma becomes the border's value where luma does. */
static float
to_samples (float at, int shift, int centred, int size, int samples)
{
  float last = (float) (size - 1), end = (float) (samples - 1), scaled;

  if (!shift)
    return at;
  if (!(at >= 0.0f))
    return at;
  if (at > last)
    return end + (at - last);
  scaled = (at - origin (shift, centred)) * 0.5f;
  return scaled < 0.0f ? 0.0f : scaled > end ? end : scaled;
}

/* A position in steps; far outside if no tap is inside the source. */
static int
to_steps (float at, int samples)
{
  if (!(at > -1.0f && at < (float) samples))
    return -2 * STEREO_REMAP_STEPS;
  return (int) floorf (at * STEREO_REMAP_STEPS + 0.5f);
}

static void
put_entry (StereoRemapTable *table, size_t at, float x, float y)
{
  int sx = to_steps (x, table->source_width), sy = to_steps (y, table->source_height);

  if (sx < -STEREO_REMAP_STEPS || sy < -STEREO_REMAP_STEPS)
    sx = sy = -2 * STEREO_REMAP_STEPS;
  table->position[at] = (uint32_t) (sx >> STEREO_REMAP_SHIFT & 0xFFFF) | (uint32_t) (sy >> STEREO_REMAP_SHIFT) << 16;
  table->fraction[at] = (uint16_t) ((sx & (STEREO_REMAP_STEPS - 1)) | (sy & (STEREO_REMAP_STEPS - 1)) << 8);
}

static int
kind_of (const StereoRemapTable *table, const uint32_t *position)
{
  int inside = 0, outside = 0;

  for (int k = 0; k < STEREO_REMAP_BLOCK; k++) {
    int x = (int16_t) position[k], y = (int16_t) (position[k] >> 16);
    inside += x >= 0 && x + 1 + STEREO_REMAP_MARGIN < table->source_width && y >= 0 && y + 1 < table->source_height;
    outside += x < -1 || y < -1 || x >= table->source_width || y >= table->source_height;
  }
  return inside == STEREO_REMAP_BLOCK ? STEREO_REMAP_INSIDE :
      outside == STEREO_REMAP_BLOCK   ? STEREO_REMAP_OUTSIDE :
                                        STEREO_REMAP_MIXED;
}

/* The padding of a row repeats its last entry, so that it does not change the kind of the last block. */
static void
fill_row (StereoRemapTable *table, const StereoRemapMap *map, int y)
{
  size_t start = (size_t) y * (size_t) table->pitch;
  float py = (float) (y << table->shift[3]) + origin (table->shift[3], table->centred[3]);

  for (int x = 0; x < table->width; x++) {
    float px = (float) (x << table->shift[2]) + origin (table->shift[2], table->centred[2]);
    put_entry (table, start + (size_t) x,
        to_samples (
            map_at (map, map->x, px, py), table->shift[0], table->centred[0], map->source_width, table->source_width),
        to_samples (map_at (map, map->y, px, py), table->shift[1], table->centred[1], map->source_height,
            table->source_height));
  }
  for (int x = table->width; x < table->pitch; x++) {
    table->position[start + (size_t) x] = table->position[start + (size_t) table->width - 1];
    table->fraction[start + (size_t) x] = table->fraction[start + (size_t) table->width - 1];
  }
  for (int x = 0; x < table->pitch; x += STEREO_REMAP_BLOCK)
    table->kind[(start + (size_t) x) / STEREO_REMAP_BLOCK] = (uint8_t) kind_of (
        table, table->position + start + (size_t) x);
}

static int
samples (int pixels, int shift)
{
  return (pixels + shift) >> shift;
}

static StereoStatus
make_table (StereoRemapTable *table, const StereoRemapMap *map, StereoError *error)
{
  size_t entries;

  table->width = samples (map->width, table->shift[2]);
  table->height = samples (map->height, table->shift[3]);
  table->source_width = samples (map->source_width, table->shift[0]);
  table->source_height = samples (map->source_height, table->shift[1]);
  table->pitch = (table->width + STEREO_REMAP_BLOCK - 1) / STEREO_REMAP_BLOCK * STEREO_REMAP_BLOCK;
  entries = (size_t) table->pitch * (size_t) table->height; /* below 2^30 */
  table->position = malloc (stereo_times (entries, sizeof *table->position));
  table->fraction = malloc (stereo_times (entries, sizeof *table->fraction));
  table->kind = malloc (entries / STEREO_REMAP_BLOCK);
  if (!table->position || !table->fraction || !table->kind)
    return stereo_fail (error, STEREO_ERROR_MEMORY,
        "Maps of %dx%d pixels need %.0f bytes, which this machine does not give: reduce the size.", table->width,
        table->height, (double) entries * 6);
  for (int y = 0; y < table->height; y++)
    fill_row (table, map, y);
  return STEREO_OK;
}

static int
table_serves (const StereoRemapTable *table, const StereoRemapTable *wanted)
{
  return table->map == wanted->map && !memcmp (table->shift, wanted->shift, sizeof table->shift) &&
      !memcmp (table->centred, wanted->centred, sizeof table->centred);
}

/* Planes that are subsampled alike share a table. */
static StereoStatus
find_table (StereoRemap *remap, const StereoRemapParams *params, int index, StereoError *error)
{
  const StereoRemapLayout *source = &params->planes[index].source, *target = &params->planes[index].target;
  StereoRemapTable wanted = { .map = params->planes[index].map,
    .shift = { source->shift_x, source->shift_y, target->shift_x, target->shift_y },
    .centred = { source->shift_x && source->centred_x, source->shift_y && source->centred_y,
        target->shift_x && target->centred_x, target->shift_y && target->centred_y } };

  for (int t = 0; t < remap->table_count; t++)
    if (table_serves (&remap->tables[t], &wanted)) {
      remap->table_of[index] = t;
      return STEREO_OK;
    }
  remap->table_of[index] = remap->table_count;
  remap->tables[remap->table_count] = wanted;
  return make_table (&remap->tables[remap->table_count++], &params->maps[wanted.map], error);
}

/* ---- validation ------------------------------------------------------------------------------ */

static int
side_fits (int side)
{
  return side >= 1 && side <= STEREO_REMAP_MAX_SIDE;
}

static StereoStatus
check_map (const StereoRemapMap *map, StereoError *error)
{
  if (!side_fits (map->width) || !side_fits (map->height) || !side_fits (map->source_width) ||
      !side_fits (map->source_height))
    return stereo_fail (error, STEREO_ERROR_SIZE,
        "Pictures of %dx%d pixels cannot be remapped to %dx%d: a side has 1 to %d pixels.", map->source_width,
        map->source_height, map->width, map->height, STEREO_REMAP_MAX_SIDE);
  if (!map->x || !map->y)
    return stereo_fail (error, STEREO_ERROR_PARAMETER, "A map without positions.");
  if (map->pitch < map->width)
    return stereo_fail (
        error, STEREO_ERROR_PARAMETER, "A map's rows of %d positions cannot be %td apart.", map->width, map->pitch);
  return STEREO_OK;
}

static int
layout_fits (const StereoRemapLayout *layout, int channels)
{
  if (layout->pixel_stride < 1 || layout->pixel_stride > 16 || layout->shift_x < 0 || layout->shift_x > 1 ||
      layout->shift_y < 0 || layout->shift_y > 1)
    return 0;
  for (int c = 0; c < channels; c++)
    if (layout->offset[c] >= 16)
      return 0;
  return 1;
}

static StereoStatus
check_params (const StereoRemapParams *params, StereoError *error)
{
  const struct
  {
    const char *name;
    double value;
  } ranged[] = { { "backend", params->backend }, { "cuda-device-id", params->cuda_device_id },
    { "threads", params->threads } };
  StereoStatus status = STEREO_OK;

  if (params->map_count < 1 || params->map_count > STEREO_REMAP_MAX_MAPS || params->plane_count < 1 ||
      params->plane_count > STEREO_REMAP_MAX_PLANES)
    return stereo_fail (error, STEREO_ERROR_PARAMETER,
        "%d maps for %d planes: there can be 1 to %d maps and 1 to %d planes.", params->map_count, params->plane_count,
        STEREO_REMAP_MAX_MAPS, STEREO_REMAP_MAX_PLANES);
  for (int m = 0; m < params->map_count && !status; m++)
    status = check_map (&params->maps[m], error);
  for (int p = 0; p < params->plane_count && !status; p++) {
    const StereoRemapPlane *plane = &params->planes[p];
    if (plane->map < 0 || plane->map >= params->map_count || plane->channels < 1 ||
        plane->channels > STEREO_REMAP_MAX_CHANNELS || !layout_fits (&plane->source, plane->channels) ||
        !layout_fits (&plane->target, plane->channels))
      status = stereo_fail (error, STEREO_ERROR_PARAMETER,
          "Plane %d cannot be: map %d, %d channels, %d bytes from pixel to pixel to %d.", p, plane->map,
          plane->channels, plane->source.pixel_stride, plane->target.pixel_stride);
  }
  for (int i = 0; i < 3 && !status; i++)
    status = stereo_param_check (stereo_param_find (ranged[i].name), ranged[i].value, error);
  return status;
}

/* ---- new, execute, free ---------------------------------------------------------------------- */

StereoRemap *
stereo_remap_new (const StereoRemapParams *params, StereoError *error)
{
  StereoRemap *remap;
  StereoStatus status = check_params (params, error);

  if (status)
    return NULL;
  remap = calloc (1, sizeof *remap);
  if (!remap) {
    stereo_fail (error, STEREO_ERROR_MEMORY, "No memory for a remap.");
    return NULL;
  }
  remap->cuda_device_id = params->cuda_device_id;
  remap->threads = params->threads;
  remap->plane_count = params->plane_count;
  remap->backend = stereo_backend_choose (
      params->backend, params->cuda_device_id, remap->reason, sizeof remap->reason, error);
  status = remap->backend ? STEREO_OK : STEREO_ERROR_NO_DEVICE;
  for (int p = 0; p < params->plane_count && !status; p++) {
    remap->planes[p] = params->planes[p];
    status = find_table (remap, params, p, error);
  }
  if (!status)
    status = remap->backend->remapper->open (remap, error);
  if (!status)
    return remap;
  stereo_remap_free (remap);
  return NULL;
}

void
stereo_remap_free (StereoRemap *remap)
{
  if (!remap)
    return;
  if (remap->backend)
    remap->backend->remapper->close (remap);
  for (int t = 0; t < remap->table_count; t++) {
    free (remap->tables[t].position);
    free (remap->tables[t].fraction);
    free (remap->tables[t].kind);
  }
  free (remap);
}

StereoStatus
stereo_remap_execute (StereoRemap *remap, const StereoRemapSource *sources, const StereoRemapTarget *targets,
    uint64_t *compute_ns, StereoError *error)
{
  uint64_t start = stereo_now_ns ();
  StereoStatus status;

  if (remap->broken)
    return stereo_fail (error, STEREO_ERROR_BACKEND, "The device failed before: this remap can only be freed.");
  for (int p = 0; p < remap->plane_count; p++) {
    int device = sources[p].memory == STEREO_MEMORY_CUDA || targets[p].memory == STEREO_MEMORY_CUDA;
    if (!sources[p].data || !targets[p].data)
      return stereo_fail (error, STEREO_ERROR_PARAMETER, "Plane %d has no data.", p);
    if (device && remap->backend->choice != STEREO_BACKEND_CUDA)
      return stereo_fail (error, STEREO_ERROR_PARAMETER, "Plane %d lies in device memory, and the backend is %s.", p,
          remap->backend->name);
  }
  memcpy (remap->sources, sources, (size_t) remap->plane_count * sizeof *sources);
  memcpy (remap->targets, targets, (size_t) remap->plane_count * sizeof *targets);
  status = remap->backend->remapper->run (remap, error);
  remap->broken = status != STEREO_OK;
  if (compute_ns)
    *compute_ns = stereo_now_ns () - start;
  return status;
}

const char *
stereo_remap_backend (const StereoRemap *remap)
{
  return remap->backend->name;
}

const char *
stereo_remap_backend_reason (const StereoRemap *remap)
{
  return remap->reason;
}
