/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a backend has to know of the engine: the tables that it fills in, the plan whose frame state its stages read and
 * write, and the engine functions that it may call.
 *
 * A plan is a list of steps (steps.c puts it together, once); running a frame is running these steps in order (frame.c).
 * Every step is a StereoStage of the chosen backend and works on the frame state below, which lies in memory in the same
 * way for every backend: a test can copy it from one backend to the other after any step.
 */
#ifndef STEREO_ENGINE_BACKEND_H
#define STEREO_ENGINE_BACKEND_H

#include "stereo/engine/error.h"
#include "stereo/engine/pool.h"
#include "stereo/engine/size.h"
#include "stereo/align.h"
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

/*
 * Frame state of one view.
 *
 * From load on, the right view is stored mirrored along x: true column x lies at W - 1 - x. The partner of left column x
 * at index i (disparity min + i) is then mirrored column W - 1 - x + min + i. It grows with i: rows of the volume and rows
 * of the right view run the same way.
 *
 * Images (color, luma, gradient, census, likeness) have image_pitch elements a row. There are image_pad readable elements
 * before column 0, and enough after column W - 1 that no candidate of the search leaves the row. The values in these pads never
 * reach a result. Maps have map_pitch elements a row and no pad.
 */
typedef struct StereoView
{
  uint32_t *color;          /* R | G << 8 | B << 16; grey: the luma three times */
  uint8_t *luma;            /* (77 R + 150 G + 29 B + 128) >> 8 */
  int16_t *gradient;        /* luma(x + 1) - luma(x - 1) along true x, borders repeated; NULL without that feature */
  void *census;             /* uint32_t (7x5) or uint64_t (9x7); NULL without that feature */
  uint32_t *likeness;       /* what support weights compare: color itself, or stereo_lab() of it */
  uint16_t *first, *second; /* maps: index of the lowest and second-lowest aggregated cost; NULL with lists */
  uint16_t *index;          /* map: index selected so far (after refinement); left x or right x */
  float *confidence; /* map: stereo_confidence(), 0 where the views disagree; or stereo_probability(); NULL with lists, right */
  int32_t *expected; /* map: (D-bar - min) * STEREO_EXPECT_STEPS, or STEREO_EXPECT_NONE; NULL without refinement */
} StereoView;

/* What is kept of a view from frame to frame, with temporal above 0; else all NULL. Maps. */
typedef struct StereoPast
{
  uint16_t *channel[3]; /* red, green, blue averaged, in 1/256 of a grey level */
  uint8_t *count;       /* frames in the average; 0: there is no past, and the rest means nothing */
  uint32_t *color;      /* as it was matched */
} StereoPast;

/* What is kept of the left view's disparities from frame to frame, with a motion stage; else all NULL. Maps. */
typedef struct StereoLast
{
  float *disparity;
  uint8_t *confidence; /* 0..255 */
  uint8_t *luma;
  uint8_t *age; /* 1: matched in that frame, one more for each frame before; 0: there is none, and the rest means nothing */
  uint32_t *predicted; /* with lists, else NULL: words of exact/prior.h for the next frame, which clears them */
} StereoLast;

/* Of a plan that searches coarse to fine; else all NULL. */
typedef struct StereoLists
{
  int columns, rows; /* tiles */
  uint16_t *groups; /* [row][column][STEREO_TILE_GROUPS]: of each tile, ascending; STEREO_NO_GROUP behind the last one */
  uint8_t *costs;   /* [y][x][STEREO_SLOTS]: what paths read; slot k is candidate k % 4 of group k / 4 */
  int chance; /* of these costs: two places that have nothing in common; where not known, more than a cost can be */
  int least;  /* votes of a group that is listed; the group with the most is listed in any case */
} StereoLists;

typedef struct StereoPlan StereoPlan;
typedef struct StereoBackend StereoBackend;

/*
 * The code of one step. A stage keeps its scratch memory and launch settings in a context of its own. The plan allocates
 * @context_size bytes, zeroed, once for each stage it uses, and hands the same context to every call.
 */
typedef struct StereoStage
{
  const char *name;
  size_t context_size; /* bytes; 0: the stage needs no context and gets NULL */
  /* When the plan is made: reserves scratch memory and fills in tables. It may be called several times, each time with
   * fewer plan->layers; the last call counts. NULL: nothing to prepare. */
  StereoStatus (*prepare) (StereoPlan *plan, void *context, StereoError *error);
  /* Does the work of one frame. */
  StereoStatus (*run) (StereoPlan *plan, void *context, StereoError *error);
} StereoStage;

/* Where a backend may run work of a step. A branch runs beside the steps. */
typedef enum StereoBranch
{
  STEREO_WITH_STEPS,
  STEREO_BESIDE_MATCH,  /* needs nothing but the left view, as load and the stages that change it leave it */
  STEREO_BESIDE_LEVELS, /* needs the features of the finest level, beside the coarser ones */
  STEREO_BESIDE_MAPS,   /* needs the maps of a frame, beside steps that read them too */
  STEREO_BRANCHES
} StereoBranch;

/*
 * A stage in its place among the steps of a plan. Steps of the same stage share one context. steps.c decides on which branches the
 * step's work runs, and who waits for it: a stage neither begins a branch for another stage nor knows who waits for it. A backend
 * without branches runs all work with the steps.
 */
typedef struct StereoStep
{
  const StereoStage *stage;
  void *context;
  unsigned forks;     /* branches, as bits, that begin before this step */
  StereoBranch early; /* of work that needs only what is there where this branch begins */
  StereoBranch late;  /* of work whose results the next steps do not read */
  unsigned joins;     /* branches, as bits, that this step waits for, if anything runs on them */
} StereoStep;

/* The stage that finds the two lowest costs of each pixel; of the coarsest of several levels, the left view's lowest one. */
typedef enum StereoSelector
{
  STEREO_SELECTOR_SELECT, /* the select stage, from the volume */
  STEREO_SELECTOR_MATCH,  /* the match stage, from the costs that it makes; that of sgm has the paths */
  STEREO_SELECTOR_PATHS   /* the paths stage, from the sums that it makes */
} StereoSelector;

/* In which precision the costs that paths add are kept until they are summed. */
typedef enum StereoPathSums
{
  STEREO_PATHS_ADD_WORDS,  /* 16 bits */
  STEREO_PATHS_ADD_BYTES,  /* what one path adds is a whole number of steps that fits a byte; nothing is rounded */
  STEREO_PATHS_ADD_ROUNDED /* of sgm: what two paths add together, rounded to a byte: stereo_path_rounded() */
} StereoPathSums;

/*
 * Who does the work that stages could do for each other, in one place: decide_fusion() of steps.c fills this in before stages
 * are prepared. A stage reads it, and never asks another stage. Whatever it says, the results are the same to the bit. Each
 * level of a search from coarse to fine has one of its own.
 */
typedef struct StereoFusion
{
  StereoSelector selector;
  int keeps_costs; /* the last costs of a frame are written to the volume: selection or a later step reads them */
  int keeps_right; /* the second-lowest costs of the right view are found too: reselection reads them */
  StereoPathSums path_sums;
  int paths_together;  /* what they add fits so few bytes that a backend may sum all paths at once */
  int match_for_paths; /* the match stage writes what paths read, in bytes, and not the volume */
  int keep_for_paths;  /* the keep stage makes what paths read of the volume, which it reads in any case */
  int match_for_keep;  /* the match stage leaves the costs that the keep stage reads beside the volume */
} StereoFusion;

/* What the stages of a backend can do for each other. Zeroes: nothing. */
typedef struct StereoFusible
{
  unsigned match_selects;  /* methods, as bits, whose match stage can select if it makes all costs of a row at once */
  int paths_select;        /* the stage that sums paths can select */
  int coarse_paths_select; /* it can on the coarsest level, of four paths that add bytes */
  int left_for_paths; /* asw, in two passes with support=left, can write what paths read, or costs beside the volume */
  int keep_for_paths; /* the keep stage can make it of the volume */
} StereoFusible;

/*
 * The stages of a backend. The entry of a method or a mode that the backend lacks is NULL: a plan that needs it cannot be
 * made.
 *
 * The last three entries are optional. Each replaces several steps that follow each other at the end of a frame; its
 * stage learns from the parameters which of these steps are wanted, and leaves the frame state as they would, except for
 * state that no later step reads. A backend that has such an entry needs no stages for steps that it always replaces.
 */
typedef struct StereoStageTable
{
  const StereoStage *load;                          /* images -> color, luma of both views */
  const StereoStage *align;                         /* resamples the right view by plan->align */
  const StereoStage *temporal;                      /* averages color and luma of both views with plan->past */
  const StereoStage *features[STEREO_FEATURE_SETS]; /* luma -> census, gradient; [NONE] is NULL */
  const StereoStage *lab;                           /* color -> likeness of both views */
  /* features -> volume: returns the stage of the method for the parameters, NULL if the backend lacks e.g. the cost */
  const StereoStage *(*match[STEREO_METHODS]) (const StereoParams *params);
  const StereoStage *paths;       /* volume -> volume, smoothed along paths; not run after sgm, which does it itself */
  const StereoStage *select;      /* volume -> first, second, index, confidence of both views */
  const StereoStage *check;       /* zeroes the confidence where the views disagree */
  const StereoStage *refine[4];   /* [StereoRefineMode]: -> expected; idr: -> index, confidence */
  const StereoStage *reselect;    /* volume, expected -> index, confidence; not run after idr */
  const StereoStage *subpixel;    /* index, volume -> disparity */
  const StereoStage *integer;     /* index -> disparity */
  const StereoStage *reject;      /* disparity of inconsistent pixels -> NaN */
  const StereoStage *probability; /* index of both views, volume -> confidence; unlikely disparities -> NaN */
  const StereoStage *motion;      /* unlikely disparity, confidence -> those of plan->last, where they are better */
  const StereoStage *speckle;
  const StereoStage *fill;      /* right view's index -> disparity of NaN pixels: exact/fill.h */
  const StereoStage *planes;    /* the same, and then on the planes of the surfaces; color */
  const StereoStage *gaps;      /* as planes; NaN where no surface bounds the hole; confidence: exact/gaps.h */
  const StereoStage *median[2]; /* 3x3, 5x5 */
  const StereoStage *threshold; /* confidence threshold */
  const StereoStage *store;     /* disparity, confidence -> the caller's output */
  /* of a search from coarse to fine: the half size; its votes; then what match, paths, select and subpixel do, on lists */
  const StereoStage *coarse;     /* color, luma -> those of plan->coarse, and its steps */
  const StereoStage *keep;       /* in plan->coarse, before the paths: volume, or lists.costs -> winner */
  const StereoStage *candidates; /* index and winner of plan->coarse -> lists.groups */
  const StereoStage *(*list_match) (const StereoParams *params); /* features -> lists.costs */
  const StereoStage *prior; /* last.predicted, luma, lists.costs -> lists.costs; last.predicted = 0: exact/prior.h */
  const StereoStage *list_paths;    /* lists.costs -> index of both views, confidence of the left one, disparity */
  const StereoStage *reselect_last; /* reselect of the last iteration, without the right view's confidence */
  const StereoStage *disparity;     /* the last check, of the left view alone; subpixel or integer; reject */
  const StereoStage *output;        /* median, threshold, store, without the disparity they make */
  StereoFusible fusible;
} StereoStageTable;

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
  STEREO_LIFE_MATCH = 1 << 0, /* the coarser levels, and all other steps to the one that makes the costs */
  STEREO_LIFE_PATHS = 1 << 1, /* their smoothing along paths; with sgm a part of that step */
  STEREO_LIFE_MAPS = 1 << 2,  /* all steps behind them */
  STEREO_LIFE_FINER = 1 << 3, /* of a coarser level: the steps of the plan that it belongs to, in whose memory it lies apart */
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

/* The largest penalty of the prior, in steps of the costs that paths over lists read. */
int stereo_plan_prior (const StereoPlan *plan);

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

/* Whether pixels about which the views disagree lose their disparity. */
static inline int
stereo_params_reject (const StereoParams *params)
{
  return params->fill != STEREO_FILL_KEEP && params->consistency >= 0;
}

/* Whether unlikely pixels lose their disparity before speckles are removed, and not at the end of a frame. Filling comes
 * in between: it needs every value that it can get, and what it fills is seldom likely. */
static inline int
stereo_params_reject_unlikely (const StereoParams *params)
{
  return params->confidence_measure == STEREO_CONFIDENCE_PROBABILITY && params->fill == STEREO_FILL_NONE;
}

/* Whether the check leaves some near pixels alone: exact/selection.h. It is a cure for what paths do, and no published method has it. */
static inline int
stereo_params_keep_near (const StereoParams *params)
{
  return params->paths != STEREO_PATHS_NONE && params->profile != STEREO_PROFILE_THESIS;
}

/* The largest difference of luma that enters an aggregation of asw, as Yu et al. have it of RtAW: cost=ad is whole grey levels. */
static inline int
stereo_params_top_of_luma (const StereoParams *params)
{
  if (params->method != STEREO_METHOD_ASW || params->cost != STEREO_COST_AD)
    return 255;
  return params->truncation < 1 ? 1 : (int) (params->truncation + 0.5);
}

/* Whether candidates outside the right picture keep the cost of the pixel at its edge, as a texture read gives it on Yu et
 * al.'s GPU. No other view can confirm them. Only selection, the check and what needs no partner take such candidates. */
static inline int
stereo_params_keep_outside (const StereoParams *params)
{
  return params->profile == STEREO_PROFILE_THESIS &&
      (params->method == STEREO_METHOD_ESAW || params->method == STEREO_METHOD_ESMP) &&
      params->paths == STEREO_PATHS_NONE && params->refine_iterations == 0 &&
      params->confidence_measure == STEREO_CONFIDENCE_MARGIN;
}

/* The confidence from which a pixel is sure, for exact/gaps.h. A margin tells whether the views agree, and no probability. */
static inline float
stereo_params_sure (const StereoParams *params)
{
  return params->confidence_measure == STEREO_CONFIDENCE_PROBABILITY ? 0.5f : 1e-9f;
}

/* Whether unlikely disparities give way to those of the frame before. */
static inline int
stereo_params_follow (const StereoParams *params)
{
  return params->temporal > 0 && params->confidence_measure == STEREO_CONFIDENCE_PROBABILITY;
}

/* The confidence below which pixels lose their disparity before speckles are removed, and at the end; 0: none does. */
static inline double
stereo_params_first_threshold (const StereoParams *params)
{
  return stereo_params_reject_unlikely (params) ? params->confidence_threshold : 0;
}

static inline double
stereo_params_last_threshold (const StereoParams *params)
{
  return stereo_params_reject_unlikely (params) ? 0 : params->confidence_threshold;
}

/* Whether some pixels show no disparity because theirs is unlikely. */
static inline int
stereo_params_hide_unlikely (const StereoParams *params)
{
  return params->confidence_threshold > 0 || params->fill == STEREO_FILL_GAPS;
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
