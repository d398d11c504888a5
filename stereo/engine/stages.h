/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Steps, stages and the state of a frame that they read and write.
 *
 * A plan is a list of steps (steps.c puts it together, once); running a frame is running these steps in order (frame.c).
 * Every step is a StereoStage of the chosen backend and works on the frame state, which lies in memory in the same way for every
 * backend: a test can copy it from one backend to the other after any step. StereoPlan, in backend.h, holds this state.
 */
#ifndef STEREO_ENGINE_STAGES_H
#define STEREO_ENGINE_STAGES_H

#include "stereo/engine/error.h"
#include "stereo/exact/cost.h"
#include "stereo/exact/lists.h"
#include "stereo/exact/sample.h"
#include "stereo/stereo.h"

#ifdef __cplusplus
extern "C" {
#endif

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
  int32_t *noise;      /* likewise: one number, stereo_temporal_in_place() of the left view of this frame */
} StereoLast;

/* Set in a plan that searches coarse to fine; else all NULL. */
typedef struct StereoLists
{
  int columns, rows; /* tiles */
  uint16_t *groups; /* [row][column][STEREO_TILE_GROUPS]: of each tile, ascending; STEREO_NO_GROUP behind the last one */
  uint8_t *costs; /* [y][x][STEREO_SLOTS]: what paths read; slot k is candidate k % 4 of group k / 4. On the CPU they lie tile by
                       tile: stereo/cpu/lists/lists.h */
  int chance; /* of these costs: two places that have nothing in common; where not known, more than a cost can be */
} StereoLists;

typedef struct StereoPlan StereoPlan;

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
  STEREO_BESIDE_LEVELS, /* needs the views of the finest level, beside the coarser ones */
  STEREO_BESIDE_COARSE, /* the same of coarser levels with lists, beside those below them; then every second band of paths */
  STEREO_BESIDE_MAPS, /* needs the maps of a frame, or the costs of a coarser level, beside steps that read them too */
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
  int match_for_paths; /* the match stage writes what paths read, in bytes; and no costs, but for the keep stage */
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
 * The last two entries are optional. Each replaces several steps that follow each other at the end of a frame; its
 * stage learns from the parameters which of these steps are wanted, and leaves the frame state as they would, except for
 * state that no later step reads. A backend that has such an entry needs no stages for steps that it always replaces.
 */
typedef struct StereoStageTable
{
  const StereoStage *load;     /* images -> color, luma of both views */
  const StereoStage *align;    /* resamples the right view by plan->align */
  const StereoStage *temporal; /* averages color and luma of both views with past; sets last.noise */
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
  const StereoStage *prior; /* last.predicted, last.noise, luma, lists.costs -> lists.costs; last.predicted = 0: exact/prior.h */
  const StereoStage *list_paths; /* lists.costs -> index of both views, confidence of the left one, disparity */
  const StereoStage *disparity;  /* the last check, of the left view alone; subpixel or integer; reject */
  const StereoStage *output;     /* median, threshold, store, without the disparity they make */
  StereoFusible fusible;
} StereoStageTable;

#ifdef __cplusplus
}
#endif

#endif
