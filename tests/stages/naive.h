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

/* What a step computes, known from its place in the backend's table. */
typedef enum StageKind
{
  STAGE_LOAD,
  STAGE_ALIGN,
  STAGE_TEMPORAL,
  STAGE_FEATURES,
  STAGE_LAB,
  STAGE_MATCH,
  STAGE_COARSE,
  STAGE_KEEP,
  STAGE_CANDIDATES,
  STAGE_LIST_MATCH,
  STAGE_PRIOR,
  STAGE_LIST_PATHS,
  STAGE_PATHS,
  STAGE_SELECT,
  STAGE_CHECK,
  STAGE_REFINE,
  STAGE_RESELECT,
  STAGE_SUBPIXEL,
  STAGE_INTEGER,
  STAGE_REJECT,
  STAGE_PROBABILITY,
  STAGE_MOTION,
  STAGE_SPECKLE,
  STAGE_FILL,
  STAGE_PLANES,
  STAGE_GAPS,
  STAGE_MEDIAN,
  STAGE_THRESHOLD,
  STAGE_STORE,
  /* the optional ones, each of which replaces several of those above */
  STAGE_DISPARITY,
  STAGE_OUTPUT,
  STAGE_UNKNOWN
} StageKind;

/*
 * The state before a step, becoming the state that is wanted after it: a copy of the plan whose
 * frame state lies in host memory of its own. Where the wanted value is not one value, the rest says
 * what is accepted.
 */
typedef struct Naive
{
  StereoPlan plan;          /* pointers of the frame state: into @memory */
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

/* naive_cost.c */
void naive_load (StereoPlan *p);
void naive_align (StereoPlan *p);
void naive_features (StereoPlan *p);
void naive_lab (StereoPlan *p);
/* The cost of the pixel pair at those places of the two images. */
int naive_raw_cost (const StereoPlan *p, size_t left, size_t right);
void naive_asw (StereoPlan *p);
/* naive_sgm.c */
void naive_sgm (StereoPlan *p);
void naive_paths (StereoPlan *p);
/* naive_bm.c */
void naive_bm (StereoPlan *p);
/* naive_exponential.c: esaw and esmp */
void naive_exponential (StereoPlan *p);
/* naive_select.c */
void naive_select (StereoPlan *p);
void naive_check (StereoPlan *p);
void naive_refine (Naive *naive);
void naive_reselect (StereoPlan *p);
/* naive_finish.c */
void naive_subpixel (StereoPlan *p);
void naive_integer (StereoPlan *p);
void naive_reject (StereoPlan *p);
void naive_speckle (StereoPlan *p);
void naive_median (StereoPlan *p);
void naive_threshold (StereoPlan *p);
void naive_store (Naive *naive);
/* naive_probability.c */
typedef struct NaiveMeasures
{
  uint8_t agreement, distinctness; /* exact/confidence.h */
} NaiveMeasures;
/* For every pixel, rows without padding, from both views' indices and the volume. Free with free(). */
NaiveMeasures *naive_measures (const StereoPlan *p);
void naive_probability (StereoPlan *p);
/* naive_lists.c: a search from coarse to fine */
void naive_halve (StereoPlan *p, StereoPlan *half);
void naive_keep (StereoPlan *p);
void naive_candidates (StereoPlan *p);
void naive_list_match (StereoPlan *p);
void naive_prior (StereoPlan *p);
void naive_list_paths (StereoPlan *p);
void naive_list_probability (StereoPlan *p);
NaiveMeasures *naive_list_measures (StereoPlan *p);
int naive_by_chance (const StereoPlan *p, int x, int y, int i);
/* Whether the half size found, at that pixel, disparities that are half of that of candidate @i: within a pixel of its own after
 * the paths, within 2.5 before them. */
int naive_levels_agree (const StereoPlan *p, int x, int y, int i);
/* Whether a stage reads that slot's cost: there is such a candidate. */
int naive_slot_is_read (const StereoPlan *p, int x, int y, int slot);
/* naive_fill.c */
void naive_fill (StereoPlan *p);
void naive_planes (StereoPlan *p);
/* naive_gaps.c */
void naive_gaps (StereoPlan *p);
/* naive_temporal.c */
void naive_temporal (StereoPlan *p);
/* naive_motion.c */
void naive_motion (StereoPlan *p);

/* Memory of a test: never NULL. */
void *naive_allocate (size_t count, size_t size);

#endif
