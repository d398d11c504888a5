/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the engine and its backends share: the plan, its frame state, the tables of functions.
 *
 * A plan is a list of steps (plan.c puts it together, once); running a frame is walking that list (frame.c).
 * Every step is a StereoStage of the chosen backend, and works on the frame state below, which has
 * the same layout in both backends: a test can copy it from one to the other at any point.
 */
#ifndef STEREO_PRIVATE_H
#define STEREO_PRIVATE_H

#include "stereo/stereo.h"

#include <assert.h>
#include <math.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What every index and size is made of, and so what they are proven by: docs/reliability.md has the table. */
#define STEREO_MAX_SIDE 32768           /* px, of a view */
#define STEREO_MAX_DISPARITIES 1024     /* searched; min_disparity is at most as far from 0, either way */
#define STEREO_MAX_PITCH (STEREO_MAX_SIDE + 2 * STEREO_MAX_DISPARITIES + 64)    /* image_pitch: see measure() in plan.c */

#define STEREO_INVALID 0xFFFFu  /* cost of a candidate outside the right image; index of "no disparity" */
#define STEREO_COST_TOP 0xFFFEu /* largest cost of a real candidate */
#define STEREO_EXPECT_STEPS 64  /* steps per pixel of the expected disparity (StereoView.expected) */
#define STEREO_EXPECT_NONE (-1)
#define STEREO_MAX_STEPS 256
#define STEREO_LOG2E 1.4426950408889634  /* exp (x) = 2^(x * this): gammas become base-2 factors (4.4.1) */
#define STEREO_MAX_BUFFERS 64
/* Marks of every frame in flight: before its first step, after its last one. */
#define STEREO_MARK_STEPS(slot) (STEREO_MAX_STEPS + 1 + 2 * (slot))
#define STEREO_MARK_DONE(slot) (STEREO_MAX_STEPS + 2 + 2 * (slot))
#define STEREO_MARKS (STEREO_MAX_STEPS + 1 + 2 * STEREO_MAX_IN_FLIGHT)

enum { STEREO_LEFT, STEREO_RIGHT };

/*
 * Frame state of one view.
 *
 * The right view is stored mirrored along x, from load on: true column x lies at W - 1 - x. The
 * partner of left column x at index i (disparity min + i) is then mirrored column W - 1 - x + min + i,
 * which grows with i, so that rows of the volume and rows of the right view run the same way.
 *
 * Images (color, luma, gradient, census) have image_pitch elements a row with image_pad readable
 * elements before column 0 and enough after column W - 1 that no candidate of the search leaves the
 * row; what stands there never reaches a result. Maps have map_pitch elements a row and no pad.
 */
typedef struct StereoView
{
  uint32_t *color;              /* R | G << 8 | B << 16; grey: the luma three times */
  uint8_t *luma;                /* (77 R + 150 G + 29 B + 128) >> 8 */
  int16_t *gradient;            /* luma(x + 1) - luma(x - 1) along true x, borders repeated; mixed only */
  void *census;                 /* uint32_t (7x5, mixed) or uint64_t (9x7) */
  uint16_t *first, *second;     /* maps: index of the lowest and second-lowest aggregated cost */
  uint16_t *index;              /* map: index selected so far (after refinement); left x or right x */
  float *confidence;            /* map: F = (c2 - c1) / c2, eq. in 3.2.3; 0 where the views disagree */
  int32_t *expected;            /* map: (D-bar - min) * STEREO_EXPECT_STEPS, or STEREO_EXPECT_NONE */
} StereoView;

typedef struct StereoPlan StereoPlan;
typedef struct StereoBackend StereoBackend;

/*
 * The code of one step. A stage keeps its scratch memory and launch settings in a context of its own. The plan allocates
 * @context_size bytes, zeroed, once for each stage it uses, and hands the same context to every call.
 */
typedef struct StereoStage
{
  const char *name;
  size_t context_size;          /* bytes; 0: the stage needs no context and gets NULL */
  /* When the plan is made: reserves scratch memory and fills in tables. It may be called several times, each time with
   * fewer plan->layers; the last call counts. NULL: nothing to prepare. */
  StereoStatus (*prepare) (StereoPlan *plan, void *context, StereoError *error);
  /* Does the work of one frame. */
  StereoStatus (*run) (StereoPlan *plan, void *context, StereoError *error);
} StereoStage;

/* A stage in its place among the steps of a plan. Steps of the same stage share one context. */
typedef struct StereoStep
{
  const StereoStage *stage;
  void *context;
} StereoStep;

/*
 * The stages of a backend. Entries of a method or mode it lacks are NULL: an error at plan time.
 *
 * The last three are optional: each stands for steps that follow each other at the end of a frame, and learns from the
 * parameters which of them are wanted. It leaves the frame state as they do, except for what no later step reads. A
 * backend that has it needs no stages for steps that are only ever taken there.
 */
typedef struct StereoStageTable
{
  const StereoStage *load;      /* images -> color, luma of both views */
  const StereoStage *features[STEREO_COSTS];    /* luma -> census, gradient: what the cost reads */
  const StereoStage *(*match[STEREO_METHODS]) (const StereoParams *params);     /* the method's stage -> volume; NULL: cannot */
  const StereoStage *select;    /* volume -> first, second, index, confidence of both views */
  const StereoStage *check;     /* zeroes the confidence where the views disagree */
  const StereoStage *refine[4]; /* [StereoRefineMode]: -> expected; idr: -> index, confidence */
  const StereoStage *reselect;  /* volume, expected -> index, confidence; not run after idr */
  const StereoStage *subpixel;  /* index, volume -> disparity */
  const StereoStage *integer;   /* index -> disparity */
  const StereoStage *reject;    /* disparity of inconsistent pixels -> NaN */
  const StereoStage *speckle;
  const StereoStage *fill;      /* background fill along the row */
  const StereoStage *median[2]; /* 3x3, 5x5 */
  const StereoStage *threshold; /* confidence threshold */
  const StereoStage *store;     /* disparity, confidence -> the caller's output */
  const StereoStage *reselect_last;     /* reselect of the last iteration, without the right view's confidence */
  const StereoStage *disparity; /* the last check, of the left view alone; subpixel or integer; reject */
  const StereoStage *output;    /* median, threshold, store, without the disparity they make */
} StereoStageTable;

struct StereoBackend
{
  const char *name;
  StereoBackendChoice choice;
  StereoStageTable stages;      /* open may point plan->stages at a table that suits the machine better */
  /* Whether it can be used here; a sentence in @reason either way. */
  int (*available) (int device, char *reason, size_t size);
  /* Around everything below: makes the plan's device current and returns the caller's; gives that back.
   * NULL: nothing to do. */
  int (*enter) (StereoPlan *plan);
  void (*leave) (StereoPlan *plan, int before);
  /* Device, stream, threads. close tolerates a half-open state and being called twice. */
  StereoStatus (*open) (StereoPlan *plan, StereoError *error);
  void (*close) (StereoPlan *plan);
  void *(*allocate) (StereoPlan *plan, size_t size, StereoError *error);
  void (*release) (StereoPlan *plan, void *memory);
  /* Around the steps of a frame: begin takes the images in, end sends the results on their way; collect waits for those
   * of plan->slot and hands them over (NULL: end did). What a frame in flight needs to itself goes by plan->slot. */
  StereoStatus (*begin) (StereoPlan *plan, StereoError *error);
  StereoStatus (*end) (StereoPlan *plan, StereoError *error);
  StereoStatus (*collect) (StereoPlan *plan, StereoError *error);
  /* Waits until the device has let go of everything. NULL: nothing to wait for. */
  void (*settle) (StereoPlan *plan);
  /* The arena is in place: what can be prepared once. NULL: nothing. */
  void (*ready) (StereoPlan *plan);
  /* All steps of a frame, by stereo_run_steps() or faster; NULL: by that. */
  StereoStatus (*run) (StereoPlan *plan, StereoError *error);
  /* Marks a moment of the frame: STEREO_MARK_*, or while profiling the start of step @index (step_count: the end of
   * the last). The times are read back after end(). */
  void (*mark) (StereoPlan *plan, int index);
  double (*elapsed_ms) (StereoPlan *plan, int from, int to);
  /* Disparities to aggregate at a time when scratch-layers leaves it open; NULL: all. */
  int (*layers) (const StereoPlan *plan);
  /* For tests: between the arena and host memory; waits. */
  StereoStatus (*copy_out) (StereoPlan *plan, void *host, const void *arena, size_t size);
  StereoStatus (*copy_in) (StereoPlan *plan, void *arena, const void *host, size_t size);
};

/* A reservation in the arena: *where is set once everything is summed. */
typedef struct StereoReservation
{
  void **where;
  size_t size;
  size_t shift;                 /* bytes from the reserved place to *where: the pad before column 0 */
  const char *name;             /* of frame state, for tests; NULL for scratch */
  int view;                     /* of frame state: STEREO_LEFT, STEREO_RIGHT; -1 for neither */
} StereoReservation;

/* A frame between submit and collect. */
typedef struct StereoFlight
{
  StereoOutput output;
  StereoError error;            /* of what submit did; collect reports it */
  int profiled;
  uint64_t start_ns, ready_ns;  /* submitted; results in place */
  uint64_t valid_count;
  double confidence_sum;
} StereoFlight;

struct StereoPlan
{
  StereoParams params;          /* resolved */
  const StereoBackend *backend;
  const StereoStageTable *stages;
  char reason[768], warning[512];

  /* geometry */
  int width, height;
  int min_disparity;
  int disparities;              /* num_disparities, never more than can occur at this width */
  int depth;                    /* disparities rounded up to 16: elements of a volume column */
  int image_pad, image_pitch, map_pitch;        /* elements */
  int census_bytes;             /* 4 or 8; 0: the cost has no census */
  int layers;                   /* disparities aggregated at a time, a multiple of 16 */
  int volume_unit;              /* volume steps per raw cost step: 1 << n, so that stereo_registry_top() * unit <= COST_TOP */
  uint32_t alpha;               /* refine-alpha in volume steps, see stereo_penalty() */

  /* frame state */
  StereoView view[2];
  uint16_t *volume;             /* [y][x][i]: aggregated cost * volume_unit; STEREO_INVALID outside */
  float *disparity, *disparity_spare;   /* maps of the left view, px, NaN = invalid; finish ping-pongs */

  /* arena */
  StereoReservation reservations[STEREO_MAX_BUFFERS];
  int reservation_count;
  int state_count;              /* the first ones are frame state */
  void *arena;
  size_t arena_size;

  /* steps; the first is load, the last makes the output */
  StereoStep steps[STEREO_MAX_STEPS];
  int step_count;
  int profiling;
  const char *stage_names[32];
  double stage_ms[32];
  int stage_count;

  /* the frame at hand */
  StereoImage input[2];
  StereoOutput output;
  uint64_t valid_count;         /* set by end() or collect() */
  double confidence_sum;
  int slot;                     /* its place in flights */

  StereoFlight flights[STEREO_MAX_IN_FLIGHT];
  unsigned submitted, collected;        /* frames; modulo STEREO_MAX_IN_FLIGHT: their slots */
  StereoError broken;           /* why this plan can only be freed */

  void *state;                  /* the backend's own */
};

/* ---- plan.c: around everything that talks to the backend ------------------------------------- */
int stereo_enter (StereoPlan *plan);
void stereo_leave (StereoPlan *plan, int before);

/* ---- frame.c: the steps from @first to @end - 1, marked where the plan is profiled -------------- */
StereoStatus stereo_run_steps (StereoPlan *plan, int first, int end, StereoError *error);

/* ---- layout.c: the arena ----------------------------------------------------------------- */
/* Products and sums of sizes. What does not fit a size_t is SIZE_MAX, and so is what is made of that by them:
 * stereo_reserve() refuses it. */
static inline size_t
stereo_times (size_t a, size_t b)
{
  size_t product;
  return __builtin_mul_overflow (a, b, &product) ? SIZE_MAX : product;
}

static inline size_t
stereo_plus (size_t a, size_t b)
{
  size_t sum;
  return __builtin_add_overflow (a, b, &sum) ? SIZE_MAX : sum;
}

/* Up to a multiple of @unit. */
static inline size_t
stereo_round_up (size_t size, size_t unit)
{
  size_t more = stereo_plus (size, unit - 1);
  return more == SIZE_MAX ? SIZE_MAX : more / unit * unit;
}

/* Reserves @count elements of @size bytes for *@where, 256-byte aligned. Sizes that do not fit a
 * size_t, or more than STEREO_MAX_BUFFERS reservations, fail. @where must stay put. */
StereoStatus stereo_reserve (StereoPlan *plan, void **where, size_t count, size_t size, StereoError *error);
StereoStatus stereo_layout_state (StereoPlan *plan, StereoError *error);
StereoStatus stereo_layout_commit (StereoPlan *plan, StereoError *error);
size_t stereo_layout_total (const StereoPlan *plan);

/* ---- pool.c: threads that share out the items of a job -------------------------------------- */
#define STEREO_MAX_THREADS 256

typedef struct StereoPool StereoPool;
/* Work item @item of a job, run by thread @thread (0..threads-1). */
typedef void (*StereoJob) (StereoPlan *plan, int item, int thread);

/* 0 threads: as many as there are processors. Fewer than asked for is no failure; NULL is no memory. */
StereoPool *stereo_pool_new (int threads);
void stereo_pool_free (StereoPool *pool);
/* Of the threads asked for, the caller included: what scratch memory must allow for. */
int stereo_pool_threads (const StereoPool *pool);
/* Runs every item once, on all threads, and returns when all are done. */
void stereo_pool_run (StereoPool *pool, StereoPlan *plan, StereoJob job, int items);

/* ---- frame.c --------------------------------------------------------------------------------- */
/* A clock that only runs forward. */
uint64_t stereo_now_ns (void);

/* ---- params.c, registry.c ---------------------------------------------------------------- */
StereoStatus stereo_fail (StereoError *error, StereoStatus status, const char *format, ...)
    __attribute__ ((format (printf, 3, 4)));
void stereo_params_unread (const StereoParams *params, char *text, size_t size);
/* Applies the own values of (method, profile) to what is still at its own value. */
void stereo_registry_own (StereoParams *params);
/* Largest aggregated cost of one candidate, in raw cost steps: what 16 bits must hold volume_unit times. */
int stereo_registry_top (const StereoParams *params);
/* sgm: P1 or, if @large, P2 in cost units, along @direction: 0 rows, 1 columns, 2 the rising (to the right),
 * 3 the falling diagonal. */
double stereo_registry_penalty (const StereoParams *params, int direction, int large);
/* The same in steps of a path's costs: whole ones, and so is every sum. */
int stereo_plan_penalty (const StereoPlan *plan, int direction, int large);
/* Whether pixels that the views disagree about lose their disparity. */
static inline int
stereo_params_reject (const StereoParams *params)
{
  return params->fill != STEREO_FILL_KEEP && params->consistency >= 0;
}

/* ---- backends ---------------------------------------------------------------------------- */
extern const StereoBackend stereo_backend_cpu;
extern const StereoBackend stereo_backend_cuda;

/* ---- definitions both backends follow to the bit ------------------------------------------ */

#ifdef __CUDACC__
#define STEREO_SHARED static __host__ __device__ inline
#else
#define STEREO_SHARED static inline
#endif

/* First and last sample of a pixel, in bytes from its start: an image may begin with the one and end with the other. */
STEREO_SHARED void
stereo_sample_range (const StereoImage *image, int *first, int *last)
{
  *first = *last = image->offset[0];
  for (int c = 1; c < image->channels; c++) {
    *first = image->offset[c] < *first ? image->offset[c] : *first;
    *last = image->offset[c] > *last ? image->offset[c] : *last;
  }
}

/* Penalty of 3.2.3, alpha * |D-bar - d|, in volume steps: plan->alpha holds alpha * unit * 256 / STEPS. */
STEREO_SHARED uint32_t
stereo_penalty (uint32_t alpha, int32_t expected, int index)
{
  int32_t away = expected - index * STEREO_EXPECT_STEPS;
  return (alpha * (uint32_t) (away < 0 ? -away : away)) >> 8;
}

/* F = (c2 - c1) / c2 of two candidates' costs; no cost at all: nothing is known. Without a second candidate
 * the confidence is 0, and this is not called. */
STEREO_SHARED float
stereo_confidence (uint32_t lowest, uint32_t second)
{
  if (second == 0)
    return 0.0f;
  return (float) (second - lowest) / (float) second;
}

/*
 * sgm: a penalty in steps of a path's costs. A path's cost L is at most cost + P2, because what comes from the pixel
 * before is at most its minimum + P2, less that minimum: the sum of @paths of them is at most
 * paths * (cost->max + P2) raw steps, which stereo_registry_top() holds to COST_TOP in volume steps. So a raw step is
 * unit / paths steps of L, and sums need no division.
 */
STEREO_SHARED int
stereo_path_unit (int volume_unit, int paths)
{
  return volume_unit / paths;
}

/* Equiangular (V-shaped) sub-pixel offset, -0.5..0.5: both flanks have the slope of the steeper one. */
STEREO_SHARED float
stereo_equiangular (uint32_t before, uint32_t lowest, uint32_t after)
{
  uint32_t steep = before > after ? before : after;
  if (steep <= lowest || before < lowest || after < lowest)
    return 0.0f;
  return (float) ((int32_t) before - (int32_t) after) / (float) (2 * (steep - lowest));
}

/* SAD over R, G, B of two packed colours: 0..765. */
STEREO_SHARED int
stereo_color_distance (uint32_t a, uint32_t b)
{
#ifdef __CUDA_ARCH__
  return (int) __vsadu4 (a, b);
#else
  int r = (int) (a & 255) - (int) (b & 255);
  int g = (int) (a >> 8 & 255) - (int) (b >> 8 & 255);
  int c = (int) (a >> 16 & 255) - (int) (b >> 16 & 255);
  return (r < 0 ? -r : r) + (g < 0 ? -g : g) + (c < 0 ? -c : c);
#endif
}

/* Raw value of cost mixed beyond the census bits: 4 steps a unit, 0.2 * min (mean |RGB|, 20) +
 * min (|gradient|, 5) with the gradient as a central difference. */
STEREO_SHARED int
stereo_mixed_part (int sad, int gradient_difference)
{
  int color = sad < 60 ? sad : 60;
  int slope = gradient_difference < 0 ? -gradient_difference : gradient_difference;
  return ((color * 17 + 32) >> 6) + (slope < 10 ? slope * 2 : 20);
}

/* One sample of the output: d * factor, 1..65535; 0 where that is below zero and cannot be stored. */
STEREO_SHARED uint32_t
stereo_store_disparity (float d, float scale)
{
  float steps = rintf (d * scale);
  return steps < 0 ? 0 : steps < 1 ? 1 : steps > 65535 ? 65535 : (uint32_t) steps;
}

/* The search range to 1..255: @factor is 254 / (num - 1). */
STEREO_SHARED uint32_t
stereo_store_byte (float d, float min, float factor)
{
  float steps = 1 + rintf ((d - min) * factor);
  return steps < 1 ? 1 : steps > 255 ? 255 : (uint32_t) steps;
}

/* Depth in millimetres, @focal_baseline in px * mm; infinite where the rays do not converge. */
STEREO_SHARED float
stereo_depth (float d, float focal_baseline, float offset)
{
  float convergence = d + offset;
  return convergence > 0 ? focal_baseline / convergence : INFINITY;
}

STEREO_SHARED uint32_t
stereo_store_depth (float millimetres, float steps_per_mm)
{
  float steps = rintf (millimetres * steps_per_mm);
  return steps < 1 ? 1 : steps > 65535 ? 65535 : (uint32_t) steps;
}

/* The indices i of left column @x whose partner lies in the right image: first..last, empty when
 * first > last. */
STEREO_SHARED int
stereo_first_index (int x, int width, int min_disparity)
{
  int first = x - (width - 1) - min_disparity;
  return first > 0 ? first : 0;
}

STEREO_SHARED int
stereo_last_index (int x, int disparities, int min_disparity)
{
  int last = x - min_disparity;
  return last < disparities - 1 ? last : disparities - 1;
}

#ifdef __cplusplus
}
#endif
#endif
