/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * The stereo engine: two rectified images in, disparity and confidence out.
 *
 * This is its whole public face: plain C11 (and C++), no GStreamer, no CUDA types.
 *
 *   StereoParams params;
 *   StereoError error;
 *   stereo_params_init (&params);
 *   params.num_disparities = 70;
 *   StereoPlan *plan = stereo_plan_new (&params, 741, 497, &error);
 *   if (!plan) { fputs (error.message, stderr); … }
 *   stereo_plan_execute (plan, &left, &right, &output, &stats, &error);   // once per frame; or submit and collect
 *   stereo_plan_free (plan);
 *
 * Conventions
 * - The pixel (x, y) of the left view lies at (x - d, y) in the right one; d is the disparity in
 *   pixels. Disparities searched: min_disparity <= d < min_disparity + num_disparities.
 * - The left view is what the thesis calls the target image, the right one its reference image.
 * - A plan is not locked: one thread at a time. Any number of plans may live side by side.
 * - Every failure carries a message for the user: what was asked, what is wrong, what to set instead.
 */
#ifndef STEREO_H
#define STEREO_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- errors ------------------------------------------------------------------------------ */

typedef enum StereoStatus
{
  STEREO_OK = 0,
  STEREO_ERROR_PARAMETER,       /* a parameter or a combination of parameters makes no sense */
  STEREO_ERROR_SIZE,            /* the image size cannot be matched (zero, negative, absurd) */
  STEREO_ERROR_MEMORY,          /* memory-limit or the machine's memory is exceeded */
  STEREO_ERROR_NO_DEVICE,       /* backend=cuda, and no usable device or no CUDA in this build */
  STEREO_ERROR_BACKEND          /* the device failed while planning or computing */
} StereoStatus;

typedef struct StereoError
{
  StereoStatus status;
  char message[512];            /* a whole sentence, never empty on failure */
} StereoError;

/* ---- parameters --------------------------------------------------------------------------
 * Names, ranges, defaults and texts of all of them: stereo_param_info(). "Own" values (0 or -1, see
 * the table) are replaced by what profile and method call for when a plan is made. */

typedef enum StereoProfile { STEREO_PROFILE_BALANCED, STEREO_PROFILE_FAST, STEREO_PROFILE_QUALITY, STEREO_PROFILE_THESIS, STEREO_PROFILES } StereoProfile;
typedef enum StereoMethod
{
  STEREO_METHOD_ASW, STEREO_METHOD_ESAW, STEREO_METHOD_ESMP, STEREO_METHOD_SGM, STEREO_METHOD_BM,
  STEREO_METHODS
} StereoMethod;
typedef enum StereoCost
{
  STEREO_COST_AUTO,
  STEREO_COST_CENSUS_7X5, STEREO_COST_CENSUS_9X7, STEREO_COST_MIXED, STEREO_COST_AD, STEREO_COST_SAD,
  STEREO_COST_SD, STEREO_COST_SSD, STEREO_COST_NSSD, STEREO_COST_NCC, STEREO_COST_ZNCC,
  STEREO_COSTS
} StereoCost;
typedef enum StereoAggregation { STEREO_AGGREGATION_TWO_PASS, STEREO_AGGREGATION_FULL } StereoAggregation;
typedef enum StereoSupport { STEREO_SUPPORT_AUTO, STEREO_SUPPORT_BOTH, STEREO_SUPPORT_LEFT } StereoSupport;
typedef enum StereoRefineMode { STEREO_REFINE_AUTO, STEREO_REFINE_TWO_PASS, STEREO_REFINE_FULL, STEREO_REFINE_IDR } StereoRefineMode;
typedef enum StereoFill { STEREO_FILL_AUTO, STEREO_FILL_KEEP, STEREO_FILL_NONE, STEREO_FILL_BACKGROUND } StereoFill;
typedef enum StereoOutputKind { STEREO_OUTPUT_DISPARITY, STEREO_OUTPUT_DEPTH } StereoOutputKind;
typedef enum StereoBackendChoice { STEREO_BACKEND_AUTO, STEREO_BACKEND_CUDA, STEREO_BACKEND_CPU } StereoBackendChoice;

typedef struct StereoParams
{
  int profile;                  /* StereoProfile */
  int method;                   /* StereoMethod */
  int cost;                     /* StereoCost */
  int min_disparity;            /* px */
  int num_disparities;          /* px, 1..1024 */
  int window;                   /* px, odd; 0 = own */
  int aggregation;              /* StereoAggregation */
  int support;                  /* StereoSupport */
  double gamma_color;           /* asw: SAD over R, G, B (0..765); esaw, esmp: the largest of the three (0..255); 0 = own */
  double gamma_distance;        /* px; 0 = own */
  int iterations;               /* esaw, esmp; 0 = own */
  double step_base;             /* iteration t reaches round (step_base^(t - 1)) px; 0 = own */
  double truncation;            /* cost units (ad: grey levels); 0 = own */
  double cost_scale;            /* factor of the truncated cost; 0 = own */
  double smoothness;            /* scaled cost per pixel of disparity; 0 = own */
  double smoothness_max;        /* scaled cost; 0 = own */
  double p1, p2;                /* cost units; 0 = own, a pair per direction */
  int paths;                    /* 4, 8 */
  int refine_iterations;        /* -1 = own, 0 = off */
  int refine_mode;              /* StereoRefineMode */
  int refine_window;            /* px, odd; 0 = own */
  double refine_gamma_color;    /* 0 = own */
  double refine_gamma_distance; /* px; 0 = own */
  double refine_alpha;          /* cost units (raw Hamming bits) per pixel; 0 = own */
  int consistency;              /* px; -1 = off */
  int subpixel;                 /* -1 = own, 0 = off, 1 = on */
  int median;                   /* -1 = own, 0 = off, 3, 5 */
  int speckle_size;             /* px²; 0 = off */
  double speckle_range;         /* px */
  double confidence_threshold;  /* 0..1 */
  int fill;                     /* StereoFill */
  int output;                   /* StereoOutputKind */
  double disparity_scale;       /* output steps per pixel of disparity */
  double focal_length;          /* px */
  double baseline;              /* mm */
  double principal_offset;      /* px, added to the disparity: x of the right principal point minus the left's */
  double depth_unit;            /* µm per output step */
  int backend;                  /* StereoBackendChoice */
  int cuda_device_id;           /* -1 = the one the driver prefers; -2 = the caller's current context */
  int threads;                  /* 0 = all cores */
  int scratch_layers;           /* disparities aggregated at a time; 0 = chosen */
  uint64_t memory_limit;        /* bytes for one plan; 0 = none */
} StereoParams;

typedef enum StereoParamType { STEREO_PARAM_INT, STEREO_PARAM_DOUBLE, STEREO_PARAM_ENUM, STEREO_PARAM_SIZE } StereoParamType;

/* One value of an enumeration. Arrays of these end with a NULL name. */
typedef struct StereoChoice
{
  int value;
  const char *name;             /* "two-pass" */
  const char *text;             /* one line */
} StereoChoice;

/* One parameter: enough to make a property, a command-line option or a row of a table from it. */
typedef struct StereoParamInfo
{
  const char *name;             /* "min-disparity" */
  const char *text;             /* unit, meaning and what the special values do */
  StereoParamType type;
  size_t offset;                /* of the field in StereoParams: int, double, int or uint64_t */
  double min, max, initial;
  const StereoChoice *choices;  /* of an enumeration, else NULL */
} StereoParamInfo;

/* The parameter table's rows from 0 on; NULL past the last. */
const StereoParamInfo *stereo_param_info (int index);
/* The row of that name, or NULL. */
const StereoParamInfo *stereo_param_find (const char *name);
/* All defaults. */
void stereo_params_init (StereoParams *params);
/* Any parameter as a number (enumerations by value). The setter does not check ranges: the plan does. */
double stereo_param_get (const StereoParams *params, const StereoParamInfo *info);
void stereo_param_set (StereoParams *params, const StereoParamInfo *info, double value);
/* From text: a number, or an enumeration's name. */
StereoStatus stereo_param_parse (StereoParams *params, const char *name, const char *value, StereoError *error);
/* The parameter as text, into a buffer of at least 32 bytes; returns it. */
const char *stereo_param_format (const StereoParams *params, const StereoParamInfo *info, char *buffer, size_t size);
/* Checks everything that does not depend on the image, and replaces every own value by what is in
 * force. stereo_plan_new() does this too. @in and @out may be the same. */
StereoStatus stereo_params_resolve (const StereoParams *in, StereoParams *out, StereoError *error);

/* ---- registry ---------------------------------------------------------------------------- */

typedef struct StereoMethodInfo
{
  const char *name, *text, *source;     /* source: paper and equations */
  uint32_t costs;               /* bit 1 << StereoCost for every cost it takes */
  const char *const *reads;     /* names of the parameters only this method reads, NULL at the end */
} StereoMethodInfo;

typedef struct StereoCostInfo
{
  const char *name, *text, *source;
  int max;                      /* largest raw value of one pixel pair */
  double unit;                  /* raw steps that make one cost unit (of refine-alpha) */
} StereoCostInfo;

const StereoMethodInfo *stereo_method_info (int method);        /* NULL past the last */
const StereoCostInfo *stereo_cost_info (int cost);      /* NULL past the last, and for STEREO_COST_AUTO */

/* ---- images ------------------------------------------------------------------------------ */

typedef enum StereoMemory { STEREO_MEMORY_HOST, STEREO_MEMORY_CUDA } StereoMemory;

/* A view of 8-bit pixels wherever they lie: any stride, any packing, host or device memory, so that
 * GRAY8, the luma of NV12 or YUY2, RGB in any order and every packed stereo layout is one of these
 * without a copy. Sample c of pixel (x, y) is data[y * stride + x * pixel_stride + offset[c]]. */
typedef struct StereoImage
{
  const uint8_t *data;
  ptrdiff_t stride;             /* bytes from row to row */
  int pixel_stride;             /* bytes from pixel to pixel, 1..8 */
  int channels;                 /* 1: luma; 3: red, green, blue */
  uint8_t offset[3];            /* 0..3 */
  StereoMemory memory;
} StereoImage;

typedef enum StereoSample
{
  STEREO_SAMPLE_U8,             /* disparity: the search range to 1..255, 0 = invalid */
  STEREO_SAMPLE_U16,            /* disparity * scale or depth / unit, 0 = invalid, or a disparity below zero */
  STEREO_SAMPLE_F32             /* disparity in pixels or depth in millimetres, NaN = invalid */
} StereoSample;

/* Where the results go: host memory, any stride. @confidence may be NULL; its samples are bytes,
 * 0..255 for a confidence of 0..1, 0 where the two views disagree. */
typedef struct StereoOutput
{
  void *data;
  ptrdiff_t stride;
  StereoSample sample;
  uint8_t *confidence;
  ptrdiff_t confidence_stride;
} StereoOutput;

typedef struct StereoStats
{
  double valid_ratio;           /* share of output pixels that hold a value, 0..1 */
  double mean_confidence;       /* over all pixels, 0..1 */
  uint64_t compute_ns;          /* from the call (execute, submit) to the results in place, however late collected */
  uint64_t steps_ns;            /* of that, the steps by the device's own clock: no copies to it and from it */
} StereoStats;

/* ---- plans ------------------------------------------------------------------------------- */

typedef struct StereoPlan StereoPlan;

/* Validates, chooses the functions, allocates everything a frame needs. NULL and @error on failure.
 * backend=auto takes CUDA where a device is usable, else the CPU: see stereo_plan_backend_reason(). */
StereoPlan *stereo_plan_new (const StereoParams *params, int width, int height, StereoError *error);
/* Runs one frame: submit and collect in one. A frame that cannot be matched (STEREO_ERROR_PARAMETER) is refused and
 * changes nothing; after any other failure the output is undefined and the plan can only be freed. */
StereoStatus stereo_plan_execute (StereoPlan *plan, const StereoImage *left, const StereoImage *right,
    const StereoOutput *output, StereoStats *stats, StereoError *error);
/* The same in two halves, so that copies and computation of neighbouring frames overlap: frames are collected in the
 * order they were submitted, STEREO_MAX_IN_FLIGHT of them can be in flight (while profiling: one), and none is when
 * execute is called. The cpu backend does all work in submit.
 * - Images in host memory are the caller's again when submit returns; images in device memory when their frame is
 *   collected, and so is the output.
 * - submit fails only for a frame that it refuses, and that is then not in flight; what goes wrong later is reported by
 *   the frame's collect, and the plan can then be collected from and freed, but takes no more frames. */
#define STEREO_MAX_IN_FLIGHT 2
StereoStatus stereo_plan_submit (StereoPlan *plan, const StereoImage *left, const StereoImage *right,
    const StereoOutput *output, StereoError *error);
StereoStatus stereo_plan_collect (StereoPlan *plan, StereoStats *stats, StereoError *error);
/* Frames submitted and not collected. */
int stereo_plan_in_flight (const StereoPlan *plan);
/* A copy of @image (of the plan's size) in the memory that the plan's backend reads without a transfer: device memory
 * for cuda, host memory for cpu. For images that serve many frames. To be freed before the plan. */
StereoStatus stereo_plan_image_new (StereoPlan *plan, const StereoImage *image, StereoImage *copy, StereoError *error);
void stereo_plan_image_free (StereoPlan *plan, StereoImage *copy);
/* NULL is fine. */
void stereo_plan_free (StereoPlan *plan);

/* The parameters in force: every own value replaced. */
const StereoParams *stereo_plan_params (const StereoPlan *plan);
/* "cpu" or "cuda", and a sentence why. */
const char *stereo_plan_backend (const StereoPlan *plan);
const char *stereo_plan_backend_reason (const StereoPlan *plan);
/* What was set and is not read by the chosen method, as a sentence; "" when nothing. */
const char *stereo_plan_warning (const StereoPlan *plan);
/* Bytes of the one arena (host memory for cpu, device memory for cuda). */
size_t stereo_plan_memory (const StereoPlan *plan);

/* Timing of each stage, for benchmarks: switches a measurement (and on CUDA an event per stage) on, which
 * slows frames down: steps_ns of the stats is measured without.
 * A stage that runs several times per frame is one entry; the sum is reported. */
void stereo_plan_set_profiling (StereoPlan *plan, int on);
int stereo_plan_stage_count (const StereoPlan *plan);
const char *stereo_plan_stage_name (const StereoPlan *plan, int stage);
double stereo_plan_stage_ms (const StereoPlan *plan, int stage);       /* of the last frame */

/* Whether a backend can be used here and now; @reason (may be NULL) gets a sentence. */
int stereo_backend_available (StereoBackendChoice backend, int cuda_device_id, char *reason, size_t size);

#ifdef __cplusplus
}
#endif
#endif
