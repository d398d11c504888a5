/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The benchmark's parts: options, one measurement, and how it is shown. */
#ifndef BENCH_H
#define BENCH_H

#include "stereo/tools/score.h"

enum
{
  BENCH_MAX_STAGES = 32,
  BENCH_MAX_FOLDERS = 16,
  BENCH_MAX_RUNS = 10000
};

typedef struct Options
{
  StereoParams params;
  int range_set; /* num-disparities was given: it wins over the scene's */
  int runs;      /* 0: 20 on the CPU, 60 on CUDA; 1 with score */
  int json;
  int score;         /* no times: the last of the frames is scored */
  int device_input;  /* the views lie in the backend's memory before the clock starts */
  int width, height; /* of a synthetic pair; 0: none */
  int folders;       /* of scenes */
  const char *scenes[BENCH_MAX_FOLDERS];
  const char *scene_list; /* names with commas; NULL: all scenes of the folders */
  int truth_scale;        /* steps in a pixel of an 8-bit truth; 0: from its size */
  ScoreLevels levels;     /* of bad N */
  const char *write;      /* folder for pictures; NULL: none */
  const char *pair[2];
  const char *sequence; /* folder of frames; NULL: none */
  int frames;           /* of a sequence, or of a pair that stands still; 0: all, or 20 */
  double noise;         /* standard deviation, grey levels */
} Options;

typedef struct Times
{
  double median, min, max; /* ms */
} Times;

/* What was measured for one scene with one set of parameters. */
typedef struct Measurement
{
  char scene[SCENE_NAME], group[SCENE_NAME], backend[16], reason[256];
  int width, height, disparities, runs;
  const char *range;    /* where the number of disparities comes from */
  StereoParams params;  /* in force */
  Times frame;          /* from the host's images to the host's results */
  Times compute;        /* the steps alone */
  double overlapped_ms; /* a frame, on average, with two in flight */
  double gde;           /* 10^9 disparities evaluated a second */
  double arena_mib;
  double valid; /* share of pixels that hold a value */
  int stages;
  const char *stage_name[BENCH_MAX_STAGES];
  double stage_ms[BENCH_MAX_STAGES]; /* medians */
  Score all, visible;
  ConfidenceScore confidence_score; /* of the visible pixels; of all where that is not known */
} Measurement;

/* options.c: 1 to go on, 0 after --help and --methods, -1 and a message on a mistake */
int options_parse (Options *options, int argc, char **argv);

/* sequence.c: frames through one plan; 0 and a message on failure. */
int sequence_still (const Options *options, const Scene *scene);
int sequence_folder (const Options *options);

/* methods.c: docs/methods.md to the standard output. */
void methods_print (void);

/* report.c: row for every measurement, then end. */
void report_row (const Options *options, const Measurement *m);
void report_end (const Options *options);
/* Begins a JSON object of what is found of @scene. The caller writes the rest of it, the end included. */
void report_object (const char *scene);
/* --write: the disparity as a 16-bit PNG, and the confidence unless it is NULL; 0 and a message on failure. */
int report_map (const Options *options, const StereoParams *params, const char *name, int width, int height,
    const float *disparity, const uint8_t *confidence);

#endif
