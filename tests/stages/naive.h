/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Every stage once more, plainly: one pixel at a time, from the papers' equations and from the comments of stereo/stereo.h and
 * stereo/engine/backend.h. Nothing here is fast, and nothing calls a formula of stereo/exact or cuda/cost.cuh: a wrong one would
 * be wrong in both. Where backends agree to the bit, the twin says in words what is rounded, and where. Numbers are doubles, in
 * which every number of such a rule is exact. tests/stages/independent.sh keeps it so.
 */
#ifndef NAIVE_H
#define NAIVE_H

#include "stereo/engine/backend.h"

#include <stdlib.h>

/* The stages: a name, the place in the backend's table @t, and the twin, which turns the state before a step into the one wanted after
 * it. That of COARSE is another plan's state: test_stages.c. DISPARITY and OUTPUT are optional, and replace several of those above. */
#define NAIVE_STAGES(ROW) \
  ROW (LOAD, t->load, naive_load) \
  ROW (ALIGN, t->align, naive_align) \
  ROW (TEMPORAL, t->temporal, naive_temporal) \
  ROW (FEATURES, t->features[plan->features], naive_features) \
  ROW (LAB, t->lab, naive_lab) \
  ROW (MATCH, t->match[p->method](p), naive_match) \
  ROW (COARSE, t->coarse, naive_nothing) \
  ROW (KEEP, t->keep, naive_keep) \
  ROW (CANDIDATES, t->candidates, naive_candidates) \
  ROW (LIST_MATCH, plan->listed && t->list_match ? t->list_match (p) : NULL, naive_list_match) \
  ROW (PRIOR, t->prior, naive_prior) \
  ROW (LIST_PATHS, t->list_paths, naive_list_paths) \
  ROW (PATHS, t->paths, naive_paths) \
  ROW (SELECT, t->select, naive_select) \
  ROW (CHECK, t->check, naive_check) \
  ROW (REFINE, t->refine[p->refine_mode], naive_refine) \
  ROW (RESELECT, t->reselect, naive_reselect) \
  ROW (SUBPIXEL, t->subpixel, naive_subpixel) \
  ROW (INTEGER, t->integer, naive_integer) \
  ROW (REJECT, t->reject, naive_reject) \
  ROW (PROBABILITY, t->probability, naive_probability) \
  ROW (MOTION, t->motion, naive_motion) \
  ROW (SPECKLE, t->speckle, naive_speckle) \
  ROW (FILL, t->fill, naive_fill) \
  ROW (PLANES, t->planes, naive_planes) \
  ROW (GAPS, t->gaps, naive_gaps) \
  ROW (MEDIAN, t->median[p->median == 5], naive_median) \
  ROW (THRESHOLD, t->threshold, naive_threshold) \
  ROW (STORE, t->store, naive_store) \
  ROW (DISPARITY, t->disparity, naive_nothing) \
  ROW (OUTPUT, t->output, naive_nothing)

/* What a step computes. */
#define NAIVE_KIND(name, stage, twin) STAGE_##name,
typedef enum StageKind
{
  NAIVE_STAGES (NAIVE_KIND) STAGE_UNKNOWN
} StageKind;

/*
 * The state before a step, becoming the state that is wanted after it: a copy of the plan whose
 * frame state lies in host memory of its own. Where the wanted value is not one value, the rest says
 * what is accepted.
 */
typedef struct Naive
{
  StereoPlan plan;          /* the first member: twins are called with it; pointers of the frame state: into @memory */
  const StereoPlan *origin; /* the plan it was taken from: its reservations point there */
  void *memory[STEREO_MAX_BUFFERS];
  uint8_t *unsure[2];   /* map: the expected disparity hangs on weights below a float's range */
  double *penalised[2]; /* [y][x][i] of the view: cost + penalty in volume steps; idr only */
  double *stored;       /* [y][x]: wanted output sample, before rounding; NaN = invalid */
} Naive;

/* Columns and places, in the view's own orientation. */
static inline int
naive_partner (const StereoPlan *p, int x, int i)
{
  return p->width - 1 - x + p->min_disparity + i;
}

static inline int
naive_inside (const StereoPlan *p, int x)
{
  return x >= 0 && x < p->width;
}

/* Whether a left or right pixel has candidate @i. */
static inline int
naive_exists (const StereoPlan *p, int x, int i)
{
  return i >= 0 && i < p->disparities && naive_inside (p, naive_partner (p, x, i));
}

/* Yu et al. read costs from a texture, whose border pixels go on outside the picture: with their profile, and nothing behind
 * the winner that needs the right view, a left pixel has all candidates of the search. */
static inline int
naive_has_all_candidates (const StereoPlan *p)
{
  const StereoParams *a = &p->params;
  int theirs = a->method == STEREO_METHOD_ESAW || a->method == STEREO_METHOD_ESMP;
  int more = a->paths != STEREO_PATHS_NONE || a->refine_iterations > 0 ||
      a->confidence_measure != STEREO_CONFIDENCE_MARGIN;
  return theirs && a->profile == STEREO_PROFILE_THESIS && !more;
}

static inline size_t
naive_image (const StereoPlan *p, int x, int y)
{
  return (size_t) y * (size_t) p->image_pitch + (size_t) x;
}

static inline size_t
naive_map (const StereoPlan *p, int x, int y)
{
  return (size_t) y * (size_t) p->map_pitch + (size_t) x;
}

/* Element (x, y, i) of the volume; x is a left column. */
static inline uint16_t *
naive_cost (const StereoPlan *p, int x, int y, int i)
{
  return p->volume + ((size_t) y * (size_t) p->width + (size_t) x) * (size_t) p->depth + i;
}

/* The same for a column of either view: candidate @i of the right view at mirrored column x is the
 * left view's at the column it is the partner of. */
static inline uint16_t *
naive_view_cost (const StereoPlan *p, int view, int x, int y, int i)
{
  return naive_cost (p, view == STEREO_LEFT ? x : naive_partner (p, x, i), y, i);
}

/* One of the three bytes of R | G << 8 | B << 16. */
static inline int
naive_channel (uint32_t color, int c)
{
  return (int) (color >> 8 * c & 255);
}

/* The sum of absolute differences over the three. */
static inline int
naive_color_distance (uint32_t a, uint32_t b)
{
  int sum = 0;
  for (int c = 0; c < 3; c++)
    sum += abs (naive_channel (a, c) - naive_channel (b, c));
  return sum;
}

/* exp (-SAD / gamma_color - distance / gamma_distance), 3.2.1 and 4.3.1 */
double naive_weight (uint32_t a, uint32_t b, double distance, double gamma_color, double gamma_distance);

StageKind naive_kind (const StereoPlan *plan, const StereoStage *stage);
/* Whether a step of kind @stage does the work of one of kind @step, be it the same or one of several. */
int naive_covers (StageKind stage, StageKind step);
/* Whether a step of that kind may leave anything in a map, since no later step reads it. */
int naive_leaves (StageKind kind, const StereoReservation *map);
/* Whether every backend must give the plain stage's costs to the bit. */
int naive_exact (const StereoPlan *plan);
/* Turns the state before a step of that kind into the one wanted after it. */
void naive_run (Naive *naive, StageKind kind);

#define NAIVE_TWIN(name, stage, twin) void twin (StereoPlan *p);
NAIVE_STAGES (NAIVE_TWIN)
/* What matches by each method, of which naive_exponential() is esaw and esmp. */
void naive_asw (StereoPlan *p);
void naive_sgm (StereoPlan *p);
void naive_bm (StereoPlan *p);
void naive_exponential (StereoPlan *p);

/* The cost of the pixel pair at those places of the two images. */
int naive_raw_cost (const StereoPlan *p, size_t left, size_t right);
typedef struct NaiveMeasures
{
  uint8_t agreement, distinctness, edge; /* exact/confidence.h */
} NaiveMeasures;
/* For every pixel, rows without padding, from both views' indices and the costs. Free with free(). */
NaiveMeasures *naive_measures (StereoPlan *p);
void naive_halve (StereoPlan *p, StereoPlan *half);

/* The candidates of the lowest and of the second-lowest cost, the smaller one of equals; -1: there is none. */
typedef struct NaiveLowest
{
  int first, second;
  double cost[2];
} NaiveLowest;
#define NAIVE_NOTHING_YET \
  { \
    -1, -1, \
    { \
      0, 0 \
    } \
  }
void naive_lowest_add (NaiveLowest *l, int i, double cost);
/* 3.2.3: F = (minCost2 - minCost1) / minCost2, to the nearest float; 0 of two costs of 0, and of less than two. */
float naive_margin (const NaiveLowest *l);
/* The tip of a V whose flanks pass through the three costs and are equally steep: as steep as the steeper of the two sides is.
 * To the nearest float; 0 where the middle one is not the lowest, or all are equal. */
float naive_tip (double before, double lowest, double after);

static inline uint16_t
naive_index (int candidate)
{
  return candidate < 0 ? (uint16_t) STEREO_INVALID : (uint16_t) candidate;
}

/* A path's costs of the pixel before and of this one, by candidate; -1: no such candidate. */
typedef struct NaivePath
{
  const long *costs; /* of all candidates, in the order of the volume, in steps of the costs; or NAIVE_NONE, or NAIVE_OUTSIDE */
  long unit;         /* steps of a path's cost in one */
  long *before, *here;
  long p1, p2;       /* where the luma has no step */
  long small, large; /* from the pixel before to this one */
  long whole;        /* what the pixel before adds is a multiple of it */
} NaivePath;
#define NAIVE_NONE (-1)
#define NAIVE_OUTSIDE (-2) /* the right view: as good as the best, to the next pixel */
/* Follows a path, which comes from (dx, dy), from where it enters the picture at (x, y). It begins with pixel part[0] of it, adds its
 * costs to the sums from pixel part[1] on, and ends before pixel part[2]. */
void naive_follow (const StereoPlan *p, NaivePath *path, int x, int y, int dx, int dy, const int part[3], long *sums);
/* The sums of paths over lists, as a volume that is there until it is taken again. */
void naive_lend_sums (StereoPlan *p);
void naive_take_volume (StereoPlan *p);
int naive_by_chance (const StereoPlan *p, int x, int y, int i);
/* Whether the half size found, at that pixel, disparities that are half of that of candidate @i: within a pixel of its own after
 * the paths, within 2.5 before them. */
int naive_levels_agree (const StereoPlan *p, int x, int y, int i);
/* Whether a stage reads that slot's cost: there is such a candidate. */
int naive_slot_is_read (const StereoPlan *p, int x, int y, int slot);
/* What naive_median() does before, of 5x5. */
void naive_edges (StereoPlan *p);

/* Memory of a test: never NULL. */
void *naive_allocate (size_t count, size_t size);

#endif
