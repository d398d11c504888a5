/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a backend has to know of the engine: the tables that it fills in, the plan with the state of its frames (stages.h says what
 * stages make of it), and the engine functions that it may call.
 */
#ifndef STEREO_ENGINE_BACKEND_H
#define STEREO_ENGINE_BACKEND_H

#include "stereo/engine/error.h"
#include "stereo/engine/params.h"
#include "stereo/engine/pool.h"
#include "stereo/engine/size.h"
#include "stereo/engine/stages.h"
#include "stereo/align/align.h"
#include "stereo/exact/align.h"
#include "stereo/exact/confidence.h"
#include "stereo/exact/cost.h"
#include "stereo/exact/lab.h"
#include "stereo/exact/lists.h"
#include "stereo/exact/motion.h"
#include "stereo/exact/sample.h"
#include "stereo/exact/selection.h"
#include "stereo/exact/sgm.h"
#include "stereo/exact/temporal.h"
#include "stereo/remap.h"
#include "stereo/stereo.h"

#ifdef __cplusplus
extern "C" {
#endif

#define STEREO_MAX_STEPS 224 /* three of each of 64 iterations, and the others */
#define STEREO_MAX_BUFFERS 96
/* Moments of a frame that a backend takes the time of (StereoBackend.mark): the start of each step, and for every frame
 * in flight the moments before its first step and after its last one. */
#define STEREO_MARK_STEPS(slot) (STEREO_MAX_STEPS + 1 + 2 * (slot))
#define STEREO_MARK_DONE(slot) (STEREO_MAX_STEPS + 2 + 2 * (slot))
#define STEREO_MARKS (STEREO_MAX_STEPS + 1 + 2 * STEREO_MAX_IN_FLIGHT)

typedef struct StereoBackend StereoBackend;

/* Remapping by a backend; stereo/engine/remap.h has the tables that it works on. */
typedef struct StereoRemapper
{
  /* Threads, device memory. close accepts a state that is only half made. */
  StereoStatus (*open) (StereoRemap *remap, StereoError *error);
  void (*close) (StereoRemap *remap);
  /* All planes of one frame, from remap->sources to remap->targets; waits until they are there. */
  StereoStatus (*run) (StereoRemap *remap, StereoError *error);
} StereoRemapper;

struct StereoBackend
{
  const char *name;
  StereoBackendChoice choice;
  StereoStageTable stages; /* open may point plan->stages at a table that suits the machine better */
  /* Whether the backend can be used on this machine; writes a sentence to @reason either way. */
  int (*available) (int device, char *reason, size_t size);
  /* Around all calls below: enter makes the plan's device current and returns the one that the caller had; leave makes
   * that one current again. NULL: there is nothing to do. */
  int (*enter) (StereoPlan *plan);
  void (*leave) (StereoPlan *plan, int before);
  /* Device, streams, threads. close accepts a state that is only half made, and may be called twice. */
  StereoStatus (*open) (StereoPlan *plan, StereoError *error);
  void (*close) (StereoPlan *plan);
  void *(*allocate) (StereoPlan *plan, size_t size, StereoError *error);
  void (*release) (StereoPlan *plan, void *memory);
  /* Around the steps of a frame: begin takes the images in, end starts the transfer of the results, collect waits for the
   * results of the frame in plan->slot and writes them to the output. NULL: there is nothing to do. A backend holds the
   * memory that each frame in flight needs for itself by plan->slot. */
  StereoStatus (*begin) (StereoPlan *plan, StereoError *error);
  StereoStatus (*end) (StereoPlan *plan, StereoError *error);
  StereoStatus (*collect) (StereoPlan *plan, StereoError *error);
  /* Waits until the device uses no memory of the plan any more. NULL: there is nothing to wait for. */
  void (*settle) (StereoPlan *plan);
  /* Called once, when all memory of the plan is allocated. NULL: there is nothing to prepare. */
  void (*ready) (StereoPlan *plan);
  /* Begins these branches, bits of StereoBranch: after all steps so far, and not after later ones. NULL: there are no branches. */
  StereoStatus (*fork) (StereoPlan *plan, unsigned branches, StereoError *error);
  /* Runs all steps of a frame. NULL: stereo_run_steps() does. */
  StereoStatus (*run) (StereoPlan *plan, StereoError *error);
  /* Marks a moment of the frame: STEREO_MARK_*, or while profiling the start of step @index (step_count: the end of
   * the last step). elapsed_ms reads the times back after end. */
  void (*mark) (StereoPlan *plan, int index);
  double (*elapsed_ms) (StereoPlan *plan, int from, int to);
  /* Disparities to aggregate at a time when scratch-layers does not say so. NULL: all. */
  int (*layers) (const StereoPlan *plan);
  /* Between the plan's memory and host memory; wait until the copy is done. */
  StereoStatus (*copy_out) (StereoPlan *plan, void *host, const void *arena, size_t size);
  StereoStatus (*copy_in) (StereoPlan *plan, void *arena, const void *host, size_t size);
  /* From a view in device memory to host memory, while frames are in flight; waits until the copy is done. NULL: views are never
   * there. */
  StereoStatus (*copy_view) (StereoPlan *plan, void *host, const void *view, size_t size);
  /* Zeroes memory of the plan, after the frames in flight and before the next one. */
  StereoStatus (*clear) (StereoPlan *plan, void *arena, size_t size);
  const StereoRemapper *remapper; /* NULL only if the backend is not in this build */
};

/* The parts of each frame in which memory is in use, as bits. Reservations without a common part may share a place. */
typedef enum StereoLife
{
  STEREO_LIFE_LEVELS = 1 << 0, /* the coarser levels, and all steps before them */
  STEREO_LIFE_LISTED = 1 << 1, /* the step that makes the costs; with lists all steps from candidates to it */
  STEREO_LIFE_PATHS = 1 << 2,  /* their smoothing along paths; with sgm a part of that step */
  STEREO_LIFE_MAPS = 1 << 3,   /* all steps behind them */
  STEREO_LIFE_FINER = 1 << 4, /* of a coarser level: the steps of the plan that it belongs to, in whose memory it lies apart */
  STEREO_LIFE_MATCH = STEREO_LIFE_LEVELS | STEREO_LIFE_LISTED,
  STEREO_LIFE_COSTS = STEREO_LIFE_MATCH | STEREO_LIFE_PATHS,
  STEREO_LIFE_ALWAYS = STEREO_LIFE_COSTS | STEREO_LIFE_MAPS /* and from frame to frame */
} StereoLife;

/* A reservation in the arena, which is the plan's one allocation: *where is set when all sizes are added up. */
typedef struct StereoReservation
{
  void **where;
  size_t size, place; /* bytes; from the beginning of the arena */
  StereoLife life;
  size_t shift;     /* bytes from the reserved place to *where: the pad before column 0 */
  const char *name; /* of frame state, for tests; NULL for scratch memory */
  int view;         /* of frame state: STEREO_LEFT, STEREO_RIGHT; -1 for neither */
} StereoReservation;

/* A frame between submit and collect. Backends write to it only by stereo_report_totals() and stereo_report_ready(). */
typedef struct StereoFlight
{
  StereoOutput output;
  StereoError error; /* of what submit did; collect reports it */
  int profiled;
  uint64_t start_ns, ready_ns; /* when it was submitted, and when its results were in place */
  uint64_t valid_count;        /* output samples that hold a value */
  uint64_t confidence_sum;     /* of the confidence bytes of all pixels */
} StereoFlight;

struct StereoPlan
{
  StereoParams params; /* resolved */
  const StereoBackend *backend;
  const StereoStageTable *stages;
  char reason[768], warning[512];

  /* geometry */
  int width, height;
  int min_disparity;
  int disparities;                       /* num_disparities, never more than can occur at this width */
  int depth;                             /* disparities rounded up to 16: elements of a volume column */
  int image_pad, image_pitch, map_pitch; /* elements */
  StereoFusion fusion;
  int single_stages; /* set by open, for tests: each stage leaves all that its plain twin leaves, and no later one takes it */
  StereoFeatures features; /* that the cost reads */
  int census_bytes;        /* 4 or 8; 0: the cost has no census */
  int layers;              /* disparities aggregated at a time, a multiple of 16 */
  int volume_unit;         /* volume steps per raw cost step, a power of two: stereo_volume_unit() */
  int path_unit; /* steps of a path's cost per step of the costs that it reads, a power of two if paths are not weighted */
  int path_units[STEREO_PATH_DIRECTIONS]; /* the same by direction: of weighted paths, times the weight; all equal if not */
  int path_weighted;                      /* some path has another weight than 1 */
  int path_shift;                         /* those are volume steps >> path_shift; of sgm, raw costs */
  int path_round;                         /* of stereo_path_rounded() */
  uint32_t alpha;                         /* refine-alpha in volume steps, see stereo_penalty() */

  /* levels: exact/lists.h */
  int listed;         /* it searches coarse to fine: a list of candidates for each tile, and no volume */
  StereoPlan *coarse; /* then: the same views at half the size; else NULL */
  int is_coarse;      /* it belongs to another plan, whose backend state it shares, and in whose arena it lies */
  uint16_t *winner;   /* map of the left view, of such a plan: index before the paths */
  StereoLists lists;

  /* frame state */
  StereoView view[2];
  StereoPast past[2];
  StereoLast last;
  uint16_t *volume; /* [y][x][i]: aggregated cost * volume_unit; STEREO_INVALID outside */
  float *disparity; /* map of the left view, px, NaN = invalid; a stage may put another one in its place */

  /* arena */
  StereoReservation reservations[STEREO_MAX_BUFFERS];
  int reservation_count;
  int state_count; /* the first ones are frame state */
  void *arena;
  size_t arena_size;

  /* steps; the first is load, the last makes the output */
  StereoStep steps[STEREO_MAX_STEPS];
  int step_count;
  int step; /* the one that runs */
  int profiling;
  const char *stage_names[32];
  double stage_ms[32];
  int stage_count;

  /* the frame at hand */
  StereoImage input[2];
  StereoOutput output;
  StereoAlignSteps align; /* with align=off never active */
  int slot;               /* its place in flights */

  StereoAligner *aligner; /* NULL with align=off */
  uint8_t *align_copy;    /* both views of a pair that lies in device memory */
  size_t align_copy_size;

  StereoFlight flights[STEREO_MAX_IN_FLIGHT];
  unsigned submitted, collected; /* frames; modulo STEREO_MAX_IN_FLIGHT: their slots */
  StereoError broken;            /* why this plan can only be freed; status OK: it works */

  void *state; /* of the backend, set by open */
};

/* ---- engine functions that a backend may call, besides those of error.h, pool.h and size.h ------------ */

/* From a stage's prepare: reserves @count elements of @size bytes, 256-byte aligned, in the plan's one allocation.
 * *@where is set when all of the plan's memory is allocated, and must not move until then. Fails when the size does not
 * fit a size_t, or after STEREO_MAX_BUFFERS reservations. */
StereoStatus stereo_reserve (StereoPlan *plan, void **where, size_t count, size_t size, StereoError *error);

/* The same for memory that is in use in some parts of each frame: what it holds before and after them is not known. */
StereoStatus stereo_reserve_for (
    StereoPlan *plan, StereoLife life, void **where, size_t count, size_t size, StereoError *error);

/* Runs the steps from @first to @end - 1; while the plan is profiled, marks the start of each. */
StereoStatus stereo_run_steps (StereoPlan *plan, int first, int end, StereoError *error);

/* Runs all steps of plan->coarse, with the views that are in its color and luma. */
static inline StereoStatus
stereo_run_coarse (StereoPlan *plan, StereoError *error)
{
  return stereo_run_steps (plan->coarse, 0, plan->coarse->step_count, error);
}

/* P1, or P2 if @large, of paths along a direction (STEREO_PATH_*), in steps of a path's cost. It is a whole number, and so
 * are all sums of paths' costs. Behind aggregation it and its half are whole steps of the costs that paths read: what a path adds
 * is then a whole number of such steps, too, and a GPU keeps it in a byte. */
int stereo_plan_penalty (const StereoPlan *plan, int direction, int large);

/* Reports what the output of the frame in plan->slot holds: how many samples hold a value, and the sum of the confidence
 * bytes of all pixels. Once a frame, before end or, in a backend that has it, collect returns. */
static inline void
stereo_report_totals (StereoPlan *plan, uint64_t valid_count, uint64_t confidence_sum)
{
  plan->flights[plan->slot].valid_count = valid_count;
  plan->flights[plan->slot].confidence_sum = confidence_sum;
}

/* From collect: when the results were in place. A backend that does not report it had them in place when submit returned. */
static inline void
stereo_report_ready (StereoPlan *plan, uint64_t ready_ns)
{
  plan->flights[plan->slot].ready_ns = ready_ns;
}

/* What stereo_lab() reads. */
void stereo_lab_table (StereoLab *table);

/* How the parameters' method turns its two measures into a probability. */
void stereo_probability_table (const StereoParams *params, StereoProbability *table);

/* ---- backends ---------------------------------------------------------------------------- */

extern const StereoBackend stereo_backend_cpu;
extern const StereoBackend stereo_backend_cuda;

#ifdef __cplusplus
}
#endif
#endif
