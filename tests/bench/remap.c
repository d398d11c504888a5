/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How long a pair takes to remap: `stereo-remap-bench [--size WxH] [--runs N] [--threads N]
 * [--backend cpu|cuda]`
 * prints a line for each kind of picture: the median of the runs, in milliseconds.
 * compare_remap.py runs it beside OpenCV's remap.
 */
#include "stereo/remap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Options
{
  int width, height, runs, threads, backend;
} Options;

/* Both views of one kind. */
typedef struct Kind
{
  const char *name;
  int planes; /* of a view */
  int channels[3];
  int pixel_stride[3]; /* of the source; the target is dense */
  int shift[3];        /* chroma, along both */
} Kind;

static const Kind kinds[] = {
  { "gray", 1, { 1 }, { 1 }, { 0 } },
  { "nv12-i420", 3, { 1, 1, 1 }, { 1, 2, 2 }, { 0, 1, 1 } },
  { "rgb", 1, { 3 }, { 3 }, { 0 } },
  { "rgba", 1, { 4 }, { 4 }, { 0 } },
};

/* As a lens and a turned camera make it: the same as compare_remap.py's. */
static void
fill_map (const Options *options, int view, float *x, float *y)
{
  double cx = options->width / 2.0, cy = options->height / 2.0, focal = options->width * 0.8;
  double turn = view ? -0.01 : 0.012;

  for (int v = 0; v < options->height; v++)
    for (int u = 0; u < options->width; u++) {
      double dx = (u - cx) / focal, dy = (v - cy) / focal;
      double rx = dx * cos (turn) - dy * sin (turn), ry = dx * sin (turn) + dy * cos (turn);
      double r2 = rx * rx + ry * ry, bend = 1 - 0.2 * r2 + 0.05 * r2 * r2;
      x[v * options->width + u] = (float) (rx * bend * focal + cx);
      y[v * options->width + u] = (float) (ry * bend * focal + cy);
    }
}

static int
by_value (const void *a, const void *b)
{
  uint64_t x = *(const uint64_t *) a, y = *(const uint64_t *) b;
  return x < y ? -1 : x > y;
}

static void
must (int good, const char *message)
{
  if (good)
    return;
  fprintf (stderr, "%s\n", message);
  exit (1);
}

static void *
allocate (size_t size)
{
  void *memory = calloc (size, 1);
  must (memory != NULL, "No memory.");
  return memory;
}

static void
measure (const Kind *kind, const StereoRemapMap *maps, const Options *options)
{
  StereoRemapPlane planes[6] = { 0 };
  StereoRemapSource sources[6];
  StereoRemapTarget targets[6];
  StereoRemapParams params = { maps, 2, planes, 2 * kind->planes, options->backend, -1, options->threads };
  uint64_t *took = allocate ((size_t) options->runs * sizeof *took);
  StereoError error;

  for (int p = 0; p < 2 * kind->planes; p++) {
    int k = p % kind->planes, shift = kind->shift[k];
    size_t width = (size_t) (options->width >> shift), height = (size_t) (options->height >> shift);
    size_t row = width * (size_t) kind->pixel_stride[k];
    uint8_t *from = allocate (row * height + 16);
    for (size_t i = 0; i < row * height; i++)
      from[i] = (uint8_t) (i * 2654435761u >> 13);
    StereoRemapLayout layout = { kind->pixel_stride[k], { 0, 1, 2, 3 }, shift, shift, 0, 1 };
    planes[p] = (StereoRemapPlane){
      .map = p / kind->planes, .channels = kind->channels[k], .source = layout, .target = layout
    };
    planes[p].target.pixel_stride = kind->channels[k];
    sources[p] = (StereoRemapSource){ from, (ptrdiff_t) row, STEREO_MEMORY_HOST };
    targets[p] = (StereoRemapTarget){ allocate (width * height * (size_t) kind->channels[k]),
      (ptrdiff_t) width * kind->channels[k], STEREO_MEMORY_HOST };
  }
  StereoRemap *remap = stereo_remap_new (&params, &error);
  must (remap != NULL, error.message);
  for (int i = -2; i < options->runs; i++)
    must (!stereo_remap_execute (remap, sources, targets, i < 0 ? NULL : &took[i], &error), error.message);
  qsort (took, (size_t) options->runs, sizeof *took, by_value);
  printf ("%-10s %dx%d %s threads=%d median %.3f ms, least %.3f ms\n", kind->name, options->width, options->height,
      stereo_remap_backend (remap), options->threads, (double) took[options->runs / 2] * 1e-6, (double) took[0] * 1e-6);
  stereo_remap_free (remap);
  for (int p = 0; p < 2 * kind->planes; p++) {
    free ((void *) sources[p].data);
    free (targets[p].data);
  }
  free (took);
}

static int
parse (Options *options, const char *name, const char *value)
{
  if (!strcmp (name, "--size"))
    return sscanf (value, "%dx%d", &options->width, &options->height) == 2 && options->width > 0 && options->height > 0;
  if (!strcmp (name, "--runs"))
    return (options->runs = atoi (value)) > 0;
  if (!strcmp (name, "--threads"))
    return (options->threads = atoi (value)) >= 0;
  options->backend = !strcmp (value, "cuda") ? STEREO_BACKEND_CUDA : STEREO_BACKEND_CPU;
  return !strcmp (name, "--backend") && (!strcmp (value, "cuda") || !strcmp (value, "cpu"));
}

int
main (int argc, char **argv)
{
  Options options = { 1920, 1080, 31, 0, STEREO_BACKEND_CPU };
  StereoRemapMap maps[2];

  for (int i = 1; i < argc; i += 2)
    must (i + 1 < argc && parse (&options, argv[i], argv[i + 1]),
        "usage: stereo-remap-bench [--size WxH] [--runs N] [--threads N] [--backend cpu|cuda]");
  size_t pixels = (size_t) options.width * (size_t) options.height;
  float *memory = allocate (4 * pixels * sizeof *memory);
  for (int v = 0; v < 2; v++) {
    float *x = memory + 2 * (size_t) v * pixels, *y = x + pixels;
    fill_map (&options, v, x, y);
    maps[v] = (StereoRemapMap){ options.width, options.height, options.width, options.height, x, y, options.width };
  }
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
    measure (&kinds[k], maps, &options);
  free (memory);
  return 0;
}
