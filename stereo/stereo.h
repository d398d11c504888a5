/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * The stereo engine: two rectified images in, disparity or depth and confidence out.
 *
 * The interface is plain C11 (and C++), without GStreamer and without CUDA types. rectify.h and remap.h are the rest of it.
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
 * - The pixel (x, y) of the left view lies at (x - d, y) in the right view; d is the disparity in pixels. The search
 *   covers min_disparity <= d < min_disparity + num_disparities.
 * - The left view is the target image of the thesis (Hillerstrom 2017), the right view its reference image.
 * - Only one thread at a time may use a plan: plans have no lock. Any number of plans may exist side by side.
 * - Every function that can fail fills in a StereoError, whose message tells the user what was asked, what is wrong and
 *   what to set instead. An @error of NULL is accepted everywhere.
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
  STEREO_ERROR_PARAMETER, /* a parameter or a combination of parameters is not possible */
  STEREO_ERROR_SIZE,      /* images of this size are not possible */
  STEREO_ERROR_MEMORY,    /* memory-limit, or the memory of the machine or of the device, is exceeded */
  STEREO_ERROR_NO_DEVICE, /* backend=cuda, and there is no usable device or no CUDA in this build */
  STEREO_ERROR_BACKEND    /* the device failed while a plan was made or a frame was computed */
} StereoStatus;

typedef struct StereoError
{
  StereoStatus status;
  char message[512]; /* whole sentences; never empty after a failure */
} StereoError;

/* ---- parameters --------------------------------------------------------------------------
 * stereo_param_info() has the names, ranges, defaults and texts of all parameters. "0 = own" below (or -1, or AUTO) means
 * that this value, the default, stands for "not set": a plan replaces it by the preset of the profile and the method. The
 * defaults of method and align are values of their own: stereo_param_set() and stereo_param_parse() note what was set by hand. */

typedef enum StereoProfile
{
  STEREO_PROFILE_BALANCED, /* best quality for the time: for live streams */
  STEREO_PROFILE_THESIS,   /* the constants of the paper of the method */
  STEREO_PROFILE_ROAD,     /* best quality on roads: for vehicles */
  STEREO_PROFILES
} StereoProfile;

/* Source papers: stereo_method_info(), stereo_cost_info(). */
typedef enum StereoMethod
{
  STEREO_METHOD_ASW,
  STEREO_METHOD_ESAW,
  STEREO_METHOD_ESMP,
  STEREO_METHOD_SGM,
  STEREO_METHOD_BM,
  STEREO_METHODS
} StereoMethod;
typedef enum StereoCost
{
  STEREO_COST_AUTO,
  STEREO_COST_CENSUS_7X5,
  STEREO_COST_CENSUS_9X7,
  STEREO_COST_MIXED,
  STEREO_COST_AD,
  STEREO_COST_SAD,
  STEREO_COST_SD,
  STEREO_COST_SSD,
  STEREO_COST_NSSD,
  STEREO_COST_NCC,
  STEREO_COST_ZNCC,
  STEREO_COSTS
} StereoCost;
typedef enum StereoAggregation
{
  STEREO_AGGREGATION_TWO_PASS, /* along the column, then along the row (thesis, 3.2.2) */
  STEREO_AGGREGATION_FULL      /* every pixel of the window (3.2.1) */
} StereoAggregation;
typedef enum StereoSupport
{
  STEREO_SUPPORT_AUTO,
  STEREO_SUPPORT_BOTH, /* the product of the weights of both views */
  STEREO_SUPPORT_LEFT  /* the weights of the left view */
} StereoSupport;
/* What support weights compare of two pixels: the sum of absolute differences of three channels. */
typedef enum StereoColorDifference
{
  STEREO_COLOR_RGB,
  STEREO_COLOR_LAB /* of CIELAB (thesis, 4.3.1) */
} StereoColorDifference;
typedef enum StereoRefineMode
{
  STEREO_REFINE_AUTO,
  STEREO_REFINE_TWO_PASS, /* towards the expected disparity of a window (3.2.3), in two passes */
  STEREO_REFINE_FULL,     /* the same, over every pixel of the window */
  STEREO_REFINE_IDR       /* the last approximation of Kowalczuk et al. 2013 */
} StereoRefineMode;
/* Where a value is a number, the constant is that number. */
typedef enum StereoPaths
{
  STEREO_PATHS_AUTO = -1,
  STEREO_PATHS_NONE = 0,
  STEREO_PATHS_4 = 4, /* along rows and columns */
  STEREO_PATHS_8 = 8  /* along diagonals too */
} StereoPaths;
typedef enum StereoSubpixel
{
  STEREO_SUBPIXEL_AUTO = -1,
  STEREO_SUBPIXEL_OFF,
  STEREO_SUBPIXEL_ON
} StereoSubpixel;
typedef enum StereoMedian
{
  STEREO_MEDIAN_AUTO = -1,
  STEREO_MEDIAN_OFF = 0,
  STEREO_MEDIAN_3 = 3,
  STEREO_MEDIAN_5 = 5
} StereoMedian;
/* What a pixel gets where the two views disagree. */
typedef enum StereoFill
{
  STEREO_FILL_AUTO,
  STEREO_FILL_KEEP,       /* the disparity that the method selected */
  STEREO_FILL_NONE,       /* it is invalid */
  STEREO_FILL_BACKGROUND, /* occluded: the smaller disparity of the two nearest valid pixels in its row; mismatched: the lower
                             median of the nearest valid pixels all around */
  STEREO_FILL_PLANES, /* as background, and then the plane of the surface that this value belongs to */
  STEREO_FILL_GAPS /* as planes, but invalid where no surface bounds the hole: it is open to the top of the picture, as the
                         sky is, or a large part of the picture has hardly any sure pixel */
} StereoFill;
/* What happens to a small vertical disparity between the views. */
typedef enum StereoAlign
{
  STEREO_ALIGN_OFF,
  STEREO_ALIGN_AUTO /* it is measured and followed, and the right view resampled where that helps */
} StereoAlign;
/* Which disparities of a pixel are looked at. */
typedef enum StereoSearch
{
  STEREO_SEARCH_AUTO, /* coarse to fine with method asw, profile balanced and more than 32 disparities; else full */
  STEREO_SEARCH_FULL, /* all */
  STEREO_SEARCH_COARSE_TO_FINE /* up to 32 of them, near those that a full search at half the size finds */
} StereoSearch;
/* What the confidence of a pixel means. */
typedef enum StereoConfidenceMeasure
{
  STEREO_CONFIDENCE_AUTO,
  STEREO_CONFIDENCE_MARGIN,     /* F = (c2 - c1) / c2 of the two lowest costs (Hillerstrom 2017, 3.2.3) */
  STEREO_CONFIDENCE_PROBABILITY /* the share of pixels of that confidence whose disparity is right within 1 px */
} StereoConfidenceMeasure;
typedef enum StereoOutputKind
{
  STEREO_OUTPUT_DISPARITY,
  STEREO_OUTPUT_DEPTH
} StereoOutputKind;
typedef enum StereoBackendChoice
{
  STEREO_BACKEND_AUTO,
  STEREO_BACKEND_CUDA,
  STEREO_BACKEND_CPU
} StereoBackendChoice;

typedef struct StereoParams
{
  int profile;           /* StereoProfile */
  int method;            /* StereoMethod; not set: sgm with profile road */
  int cost;              /* StereoCost */
  int min_disparity;     /* px, -1024..1024 */
  int num_disparities;   /* px, 1..1024; default 128 */
  int search;            /* StereoSearch */
  int window;            /* px, odd; 0 = own */
  int aggregation;       /* StereoAggregation; asw */
  int support;           /* StereoSupport; asw */
  int color_difference;  /* StereoColorDifference; asw */
  double gamma_color;    /* asw: SAD over R, G, B or L, a, b; esaw, esmp: the largest of the three (0..255); 0 = own */
  double gamma_distance; /* px; asw, esaw, esmp; 0 = own */
  int iterations;        /* esaw, esmp; 0 = own */
  double step_base;      /* iteration t reaches round (step_base^(t - 1)) px; esaw, esmp; 0 = own */
  double truncation;     /* cost units (ad: grey levels); esaw, esmp, asw with ad; 0 = own */
  double cost_scale;     /* factor of the truncated cost; esaw, esmp; 0 = own */
  double smoothness;     /* scaled cost per pixel of change in disparity; esmp; 0 = own */
  double smoothness_max; /* largest scaled cost of a change in disparity; esmp; 0 = own */
  double p1, p2;         /* penalties of paths, cost units; 0 = own; sgm: its own is a pair for each direction */
  int paths;             /* StereoPaths */
  double path_weight_vertical, path_weight_diagonal; /* of the costs of such paths, 0..4; along rows: 1 */
  int penalty_step;             /* luma step along a path at which its penalties are lowered; -1 = own, 0 = off */
  int refine_iterations;        /* -1 = own, 0 = off */
  int refine_mode;              /* StereoRefineMode */
  int refine_window;            /* px, odd; 0 = own */
  double refine_gamma_color;    /* as gamma_color of asw; 0 = own */
  double refine_gamma_distance; /* px; 0 = own */
  double refine_alpha;          /* cost units (raw Hamming bits) per pixel; 0 = own */
  int consistency;              /* px by which the views may disagree; -2 = own, -1 = off */
  int subpixel;                 /* StereoSubpixel */
  int median;                   /* StereoMedian */
  int speckle_size;             /* pixels of a region; smaller ones become invalid; -1 = own, 0 = off */
  double speckle_range;         /* px of disparity between neighbours of one region; default 1 */
  int confidence_measure;       /* StereoConfidenceMeasure */
  double confidence_threshold;  /* 0..1: pixels of a lower confidence become invalid; -1 = own, 0 = off */
  int fill;                     /* StereoFill */
  int align;                    /* StereoAlign; not set: off with profile thesis */
  double temporal;              /* 0..1: how much of the past enters the views; -1 = own, 0 = off */
  int output;                   /* StereoOutputKind */
  double disparity_scale;       /* output steps per pixel of disparity; default 64 */
  double focal_length;          /* px; 0 = unknown */
  double baseline;              /* mm; 0 = unknown */
  double principal_offset;      /* px, added to the disparity: x of the right principal point minus the left's */
  double depth_unit;            /* µm per output step; default 1000: an output in mm */
  int backend;                  /* StereoBackendChoice */
  int cuda_device_id;           /* -1 = the one the driver prefers; -2 = the caller's current context */
  int threads;                  /* 0 = as many as there are processors */
  int scratch_layers;           /* disparities aggregated at a time; 0 = chosen */
  uint64_t memory_limit;        /* bytes that a plan may take; 0 = no limit */
  uint64_t set;                 /* bit i: row i of the table was set by hand, be it to its default */
} StereoParams;

typedef enum StereoParamType
{
  STEREO_PARAM_INT,
  STEREO_PARAM_DOUBLE,
  STEREO_PARAM_ENUM,
  STEREO_PARAM_SIZE
} StereoParamType;

/* One value of an enumeration. An array of these ends with a NULL name. */
typedef struct StereoChoice
{
  int value;
  const char *name; /* "two-pass" */
  const char *text; /* one line */
} StereoChoice;

/* One parameter: all that is needed to make a property, a command-line option or a row of a table of it. */
typedef struct StereoParamInfo
{
  const char *name; /* "min-disparity" */
  const char *text; /* unit, meaning and what the special values do */
  StereoParamType type;
  size_t offset; /* of the field in StereoParams: int, double, int or uint64_t */
  double min, max, initial;
  const StereoChoice *choices; /* of an enumeration, else NULL */
} StereoParamInfo;

/* Row @index of the parameter table, from 0 on; NULL past the last row. */
const StereoParamInfo *stereo_param_info (int index);
/* The row of the parameter @name; NULL if there is none. */
const StereoParamInfo *stereo_param_find (const char *name);
/* Sets all parameters to their defaults. */
void stereo_params_init (StereoParams *params);
/* A parameter as a number (enumerations by value). The setter checks no range, as the plan does, and notes that it was set. */
double stereo_param_get (const StereoParams *params, const StereoParamInfo *info);
void stereo_param_set (StereoParams *params, const StereoParamInfo *info, double value);
/* Notes that the field was set by hand. */
void stereo_param_note (StereoParams *params, const StereoParamInfo *info);
/* Whether it was set by hand: by these functions, or to another value than its default. */
int stereo_param_is_set (const StereoParams *params, const StereoParamInfo *info);
/* Sets method and align to what the profile has for them, where they were not set by hand. A plan does this too. */
void stereo_params_choose (StereoParams *params);
/* Sets a parameter from text: a number, or an enumeration's value by its name or its number. Fails
 * (STEREO_ERROR_PARAMETER) if there is no such parameter, or the text is neither. */
StereoStatus stereo_param_parse (StereoParams *params, const char *name, const char *value, StereoError *error);
/* Writes a parameter as text to @buffer, of at least 32 bytes, and returns @buffer. */
const char *stereo_param_format (const StereoParams *params, const StereoParamInfo *info, char *buffer, size_t size);
/* Checks all that does not depend on the images, and replaces every value that stands for "not set" by the preset.
 * stereo_plan_new() does this too. @in and @out may be the same. Fails with STEREO_ERROR_PARAMETER. */
StereoStatus stereo_params_resolve (const StereoParams *in, StereoParams *out, StereoError *error);

/* ---- registry ---------------------------------------------------------------------------- */

typedef struct StereoMethodInfo
{
  const char *name, *text, *source; /* source: paper and equations */
  uint32_t costs;                   /* bit 1 << StereoCost for every cost that it takes */
  const char *const *reads; /* names of the parameters that not every method reads, but this one; NULL at the end */
} StereoMethodInfo;

typedef struct StereoCostInfo
{
  const char *name, *text, *source;
  int max;     /* largest raw value of one pixel pair */
  double unit; /* raw steps that make one cost unit (of refine-alpha) */
} StereoCostInfo;

const StereoMethodInfo *stereo_method_info (int method); /* NULL past the last */
const StereoCostInfo *stereo_cost_info (int cost);       /* NULL past the last, and for STEREO_COST_AUTO */

/* ---- images ------------------------------------------------------------------------------ */

typedef enum StereoMemory
{
  STEREO_MEMORY_HOST,
  STEREO_MEMORY_CUDA
} StereoMemory;

/* An image of 8-bit samples in any layout: GRAY8, the luma of NV12 or YUY2, RGB in any order and every packed stereo layout
 * can be described without a copy. Sample c of pixel (x, y) is data[y * stride + x * pixel_stride + offset[c]]. The size is
 * that of the plan. */
typedef struct StereoImage
{
  const uint8_t *data;
  ptrdiff_t stride;    /* bytes from row to row */
  int pixel_stride;    /* bytes from pixel to pixel, 1..8 */
  int channels;        /* 1: luma; 3: red, green, blue */
  uint8_t offset[3];   /* 0..3 */
  StereoMemory memory; /* STEREO_MEMORY_CUDA only with backend=cuda */
} StereoImage;

typedef enum StereoSample
{
  STEREO_SAMPLE_U8,  /* disparity only: the search range becomes 1..255; 0 = invalid */
  STEREO_SAMPLE_U16, /* disparity * disparity_scale, or depth / depth_unit; 0 = invalid or a negative disparity */
  STEREO_SAMPLE_F32  /* disparity in pixels or depth in millimetres, NaN = invalid */
} StereoSample;

/* Bytes of one sample. */
static inline size_t
stereo_sample_bytes (StereoSample sample)
{
  switch (sample) {
    case STEREO_SAMPLE_U8:
      return 1;
    case STEREO_SAMPLE_U16:
      return 2;
    case STEREO_SAMPLE_F32:
      return 4;
  }
  return 0;
}

/* Whether such samples hold what these parameters give, resolved or not: 16 bits the largest disparity times disparity_scale, 8 bits
 * no depth. A frame that they do not hold is refused. Fails with STEREO_ERROR_PARAMETER. */
StereoStatus stereo_params_check_sample (const StereoParams *params, StereoSample sample, StereoError *error);

/* Where the results of a frame go: host memory, any stride. A frame has the size of the plan. @confidence may be NULL; its
 * samples are bytes, 0..255 for a confidence of 0..1, and 0 where there is no disparity; with
 * confidence-measure=margin also where the two views disagree. */
typedef struct StereoOutput
{
  void *data;
  ptrdiff_t stride; /* bytes from row to row */
  StereoSample sample;
  uint8_t *confidence;
  ptrdiff_t confidence_stride; /* bytes from row to row */
} StereoOutput;

typedef struct StereoStats
{
  double valid_ratio;     /* share of output pixels that hold a value, 0..1 */
  double mean_confidence; /* over all pixels, 0..1 */
  uint64_t compute_ns;    /* from the call of execute or submit until the results are in place */
  uint64_t steps_ns; /* of that, the steps alone, by the clock of the device: no copies, and no steps beside them */
} StereoStats;

/* ---- plans ------------------------------------------------------------------------------- */

typedef struct StereoPlan StereoPlan;

/* Checks the parameters, chooses the functions, and allocates all memory that frames of @width x @height pixels need (1 x 1
 * to 32768 x 32768). backend=auto takes CUDA where a device is usable, else the CPU: see stereo_plan_backend_reason().
 * Returns NULL and fills in @error on failure, with any of the statuses. */
StereoPlan *stereo_plan_new (const StereoParams *params, int width, int height, StereoError *error);
/* Computes one frame: submit and collect in one call. @stats may be NULL. A frame that is not possible is refused
 * (STEREO_ERROR_PARAMETER) and changes nothing. After any other failure the output is undefined, and the plan can only be
 * freed.
 *
 * The frames of a plan are a stream: with temporal above 0, which is the default outside profile=thesis, noise is averaged
 * over them. Set temporal to 0 for pairs that have nothing to do with each other. */
StereoStatus stereo_plan_execute (StereoPlan *plan, const StereoImage *left, const StereoImage *right,
    const StereoOutput *output, StereoStats *stats, StereoError *error);
/* The same in two halves, so that the copies of a frame overlap with the computation of its neighbours. Frames are collected
 * in the order in which they were submitted. STEREO_MAX_IN_FLIGHT frames can be in flight, one while profiling, and none
 * when execute is called. The cpu backend does all work in submit.
 * - Images in host memory may be changed or freed when submit returns; images in device memory, and the output, when their
 *   frame is collected.
 * - submit fails only for a frame that it refuses; such a frame is not in flight. A later failure is reported by the
 *   frame's collect. Frames in flight can then still be collected and the plan can be freed, but it takes no more frames. */
#define STEREO_MAX_IN_FLIGHT 2
StereoStatus stereo_plan_submit (StereoPlan *plan, const StereoImage *left, const StereoImage *right,
    const StereoOutput *output, StereoError *error);
StereoStatus stereo_plan_collect (StereoPlan *plan, StereoStats *stats, StereoError *error);
/* Forgets all frames before the next one that is submitted, so that it gets what a new plan would give it, except for what
 * align=auto knows of the rig. For a cut, a seek, a gap: with temporal above 0, a frame is averaged with those before it where
 * they agree. Frames in flight are not touched. Fails with STEREO_ERROR_BACKEND. */
StereoStatus stereo_plan_forget (StereoPlan *plan, StereoError *error);
/* Number of frames that are submitted and not yet collected. */
int stereo_plan_in_flight (const StereoPlan *plan);
/* Copies @image, which lies in host memory, to the memory that the plan's backend reads without a transfer: device memory
 * for cuda, host memory for cpu. For images that are matched in many frames. Free the copy before the plan. */
StereoStatus stereo_plan_image_new (StereoPlan *plan, const StereoImage *image, StereoImage *copy, StereoError *error);
void stereo_plan_image_free (StereoPlan *plan, StereoImage *copy);
/* Waits for frames in flight. NULL is fine. */
void stereo_plan_free (StereoPlan *plan);

/* The parameters in force: no value stands for "not set" any more. */
const StereoParams *stereo_plan_params (const StereoPlan *plan);
/* "cpu" or "cuda", and a sentence that says why. */
const char *stereo_plan_backend (const StereoPlan *plan);
const char *stereo_plan_backend_reason (const StereoPlan *plan);
/* A sentence that names the parameters that are set and that the chosen method does not read; "" if there are none. */
const char *stereo_plan_warning (const StereoPlan *plan);
/* Bytes of the plan's one allocation (host memory for cpu, device memory for cuda). */
size_t stereo_plan_memory (const StereoPlan *plan);

/* The vertical disparity between the views, as align=auto follows it: a point of the left view at row y lies at row y + dy
 * of the right one, dy = c[0] + c[1] v + c[2] u + c[3] u^2 + c[4] u v + c[5] v^2 pixels, with u = x / width - 1/2 at the
 * point's column in the right view and v = y / height - 1/2. */
typedef struct StereoAlignment
{
  int active;             /* whether the right view is resampled */
  double coefficients[6]; /* c */
  double rms, max;        /* px: of dy over the picture */
  int points;             /* measured points that agree with it */
  double before, after;   /* px: root mean square of the points' vertical disparity without and with the alignment */
} StereoAlignment;

/* The estimate after the pair submitted last, by which the next pair is aligned; the first pair is aligned by its own. With
 * align=off all values are 0; while too little is known all but points are. */
void stereo_plan_alignment (const StereoPlan *plan, StereoAlignment *alignment);

/* Times of each stage, for benchmarks. Profiling takes the time of every step, which slows frames down: compare steps_ns of
 * frames without it. A stage that runs several times in a frame is one entry, with the sum of its times. */
void stereo_plan_set_profiling (StereoPlan *plan, int on);
int stereo_plan_stage_count (const StereoPlan *plan);
const char *stereo_plan_stage_name (const StereoPlan *plan, int stage);
double stereo_plan_stage_ms (const StereoPlan *plan, int stage); /* of the last frame */

/* Whether a backend can be used on this machine at this time. Writes a sentence to @reason, which may be NULL. */
int stereo_backend_available (StereoBackendChoice backend, int cuda_device_id, char *reason, size_t size);

#ifdef __cplusplus
}
#endif
#endif
