/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stereo-bench: times any method, cost and backend on a pair, or runs frames through one plan; writes what they give.
 * tests/bench/score.py finds scenes with a truth, and scores. */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "stereo/stereo.h"
#include "stereo/tools/image.h"

enum
{
  WARM_UP = 2,
  PROFILED = 20,
  MAX_STAGES = 32,
  MAX_RUNS = 10000
};

typedef struct Options
{
  StereoParams params;
  int runs;   /* 0: 20 on the CPU, 60 on CUDA */
  int frames; /* no times: so many frames through one plan; 0: times, or all frames of a sequence */
  int json;
  int device_input;     /* the views lie in the backend's memory before the clock starts */
  int width, height;    /* of a synthetic pair; 0: none */
  const char *pair[2];  /* files */
  const char *sequence; /* folder of frames */
  const char *write;    /* folder for pictures; NULL: none */
} Options;

typedef struct Times
{
  double median, min, max; /* ms */
} Times;

/* A plan with its buffers, and what was measured. */
typedef struct Bench
{
  const Options *options;
  Image view[2];
  StereoPlan *plan;
  StereoImage input[2]; /* views, or their copies in the backend's memory */
  StereoOutput output;
  StereoError error;
  int runs;             /* frames that were timed, or all frames without times */
  Times frame;          /* from the host's images to the host's results */
  Times compute;        /* the steps alone */
  double overlapped_ms; /* a frame, on average, with two in flight */
  double gde;           /* 10^9 disparities evaluated a second */
  double valid;         /* share of pixels that hold a value */
  int stages;
  double stage_ms[MAX_STAGES]; /* medians */
} Bench;

/* ---- times -------------------------------------------------------------------------------------- */

static double
now_ms (void)
{
  struct timespec t;
  clock_gettime (CLOCK_MONOTONIC, &t);
  return (double) t.tv_sec * 1e3 + (double) t.tv_nsec * 1e-6;
}

static int
ascending (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;
  return (x > y) - (x < y);
}

static Times
times_of (double *ms, int count)
{
  qsort (ms, (size_t) count, sizeof *ms, ascending);
  return (Times){ count % 2 ? ms[count / 2] : (ms[count / 2 - 1] + ms[count / 2]) / 2, ms[0], ms[count - 1] };
}

static int
run_frame (Bench *b, StereoStats *stats)
{
  return !stereo_plan_execute (b->plan, &b->input[0], &b->input[1], &b->output, stats, &b->error);
}

/* Whole frames, without the measurement of stages in between. */
static int
time_frames (Bench *b)
{
  static double ms[MAX_RUNS], steps[MAX_RUNS];
  StereoStats stats = { 0 };

  for (int k = -WARM_UP; k < b->runs; k++) {
    double start = now_ms ();
    if (!run_frame (b, &stats))
      return 0;
    if (k >= 0) {
      ms[k] = now_ms () - start;
      steps[k] = (double) stats.steps_ns * 1e-6;
    }
  }
  b->frame = times_of (ms, b->runs);
  b->compute = times_of (steps, b->runs);
  b->gde = (double) b->view[0].width * b->view[0].height * stereo_plan_params (b->plan)->num_disparities /
      b->frame.median * 1e-6;
  b->valid = stats.valid_ratio;
  return 1;
}

/* As a pipeline runs: a frame is submitted before the one ahead is collected. */
static int
time_overlapped (Bench *b)
{
  int frames = WARM_UP + b->runs;
  double start = 0;

  for (int k = 0; k <= frames; k++) {
    if ((k < frames && stereo_plan_submit (b->plan, &b->input[0], &b->input[1], &b->output, &b->error)) ||
        (k && stereo_plan_collect (b->plan, NULL, &b->error)))
      return 0;
    if (k == WARM_UP)
      start = now_ms ();
  }
  b->overlapped_ms = (now_ms () - start) / b->runs;
  return 1;
}

static int
time_stages (Bench *b)
{
  static double ms[MAX_STAGES][PROFILED];
  int runs = b->runs < PROFILED ? b->runs : PROFILED;

  b->stages = stereo_plan_stage_count (b->plan);
  stereo_plan_set_profiling (b->plan, 1);
  for (int r = 0; r < runs; r++) {
    if (!run_frame (b, NULL))
      return 0;
    for (int k = 0; k < b->stages; k++)
      ms[k][r] = stereo_plan_stage_ms (b->plan, k);
  }
  stereo_plan_set_profiling (b->plan, 0);
  for (int k = 0; k < b->stages; k++)
    b->stage_ms[k] = times_of (ms[k], runs).median;
  return 1;
}

/* ---- views -------------------------------------------------------------------------------------- */

/* Smooth texture with detail at several scales, 0..255, that can be looked up between pixels. */
static double
texture (double x, double y, int channel)
{
  double value = 0;
  for (int k = 0; k < 4; k++) {
    double f = 0.11 * (1 + 1.7 * k), phase = 1.3 * channel + 2.1 * k;
    value += sin (f * x * 1.9 + 3 * sin (f * 0.71 * y + phase) + phase) *
        sin (f * 1.31 * y + 2 * sin (f * x * 0.83) + 2 * phase);
  }
  return 127.5 + 30 * value;
}

/* A plane whose disparity rises from 0.2 to 0.5 of the range down the picture; before it a square at 0.8 of the range. */
static int
make_views (Bench *b)
{
  int width = b->options->width, height = b->options->height, range = b->options->params.num_disparities - 1;
  double front = rint (0.8 * range);

  for (int v = 0; v < 2; v++) {
    uint8_t *data = malloc ((size_t) width * (size_t) height * 3);
    b->view[v] = (Image){ width, height, 3, data };
    if (!data) {
      fprintf (stderr, "no memory for a pair of %dx%d pixels\n", width, height);
      return 0;
    }
    for (int y = 0; y < height; y++)
      for (int x = 0; x < width; x++) {
        double at = v ? x + front : x; /* where the left view shows the square */
        int covered = at >= width * 0.4 && at < width * 0.7 && y >= height * 0.3 && y < height * 0.7;
        double shift = !v ? 0 : covered ? front : (0.2 + 0.3 * y / height) * range;
        for (int c = 0; c < 3; c++) {
          double value = texture (x + shift + (covered ? 911 : 0), y, c);
          *data++ = (uint8_t) (value < 0 ? 0 : value > 255 ? 255 : lrint (value));
        }
      }
  }
  return 1;
}

static void
free_views (Bench *b)
{
  for (int v = 0; v < 2; v++) {
    if (b->options->device_input && b->plan)
      stereo_plan_image_free (b->plan, &b->input[v]);
    free (b->view[v].data);
    b->view[v].data = NULL;
  }
}

/* Reads a pair of the size of the plan, where there is one. */
static int
read_views (Bench *b, const char *left, const char *right)
{
  int width = b->view[0].width, height = b->view[0].height;
  const char *path[2] = { left, right };

  free_views (b);
  for (int v = 0; v < 2; v++) {
    if (!image_read_png (path[v], &b->view[v]))
      return 0;
    if ((v || b->plan) && (b->view[v].width != width || b->view[v].height != height)) {
      fprintf (stderr, "%s is %dx%d: it must have the size of the %s, %dx%d\n", path[v], b->view[v].width,
          b->view[v].height, v ? "left view" : "frames before", width, height);
      return 0;
    }
    width = b->view[v].width;
    height = b->view[v].height;
  }
  return 1;
}

/* Hands the views to the plan: where they are, or where the backend reads them without a transfer. */
static int
place_views (Bench *b)
{
  for (int v = 0; v < 2; v++) {
    const Image *image = &b->view[v];
    StereoImage view = { .data = image->data,
      .stride = (ptrdiff_t) image->width * image->channels,
      .pixel_stride = image->channels,
      .channels = image->channels,
      .offset = { 0, 1, 2 } };
    if (!b->options->device_input)
      b->input[v] = view;
    else if (stereo_plan_image_new (b->plan, &view, &b->input[v], &b->error))
      return 0;
  }
  return 1;
}

/* ---- what is shown and written ------------------------------------------------------------------------ */

/* --write: disparity, not-a-number where there is none, and confidence. */
static int
write_maps (const Bench *b, int number)
{
  const char *folder = b->options->write;
  int width = b->view[0].width, height = b->view[0].height;
  size_t length = folder ? strlen (folder) + 40 : 0;

  if (!folder)
    return 1;
  if (mkdir (folder, 0777) && errno != EEXIST) {
    fprintf (stderr, "%s: cannot be made\n", folder);
    return 0;
  }
  char *path = malloc (length);
  int done = path && snprintf (path, length, "%s/%03d-disparity.pfm", folder, number) > 0 &&
      image_write_pfm (path, width, height, b->output.data) &&
      snprintf (path, length, "%s/%03d-confidence.png", folder, number) > 0 &&
      image_write_png (path, width, height, b->output.confidence);
  free (path);
  return done;
}

static void
print_json_text (const char *name, const char *text)
{
  printf ("\"%s\": \"", name);
  for (; *text; text++)
    if (*text == '"' || *text == '\\')
      printf ("\\%c", *text);
    else if ((unsigned char) *text >= ' ')
      putchar (*text);
  fputs ("\", ", stdout);
}

static void
print_json (const Bench *b)
{
  const StereoParams *params = stereo_plan_params (b->plan);
  const StereoParamInfo *info;
  char text[32];

  fputs ("[\n {", stdout);
  print_json_text ("backend", stereo_plan_backend (b->plan));
  print_json_text ("reason", stereo_plan_backend_reason (b->plan));
  printf (
      "\"width\": %d, \"height\": %d, \"disparities\": %d, \"runs\": %d, \"arena_mib\": %.2f, \"valid_ratio\": %.6f, ",
      b->view[0].width, b->view[0].height, params->num_disparities, b->runs,
      (double) stereo_plan_memory (b->plan) / (1 << 20), b->valid);
  if (b->stages) {
    printf ("\"median_ms\": %.4f, \"min_ms\": %.4f, \"max_ms\": %.4f, ", b->frame.median, b->frame.min, b->frame.max);
    printf ("\"compute_median_ms\": %.4f, \"compute_min_ms\": %.4f, \"compute_max_ms\": %.4f, ", b->compute.median,
        b->compute.min, b->compute.max);
    printf ("\"overlapped_ms\": %.4f, \"gde_per_s\": %.4f, \"stages_ms\": {", b->overlapped_ms, b->gde);
    for (int k = 0; k < b->stages; k++)
      printf ("%s\"%s\": %.4f", k ? ", " : "", stereo_plan_stage_name (b->plan, k), b->stage_ms[k]);
    fputs ("}, ", stdout);
  }
  fputs ("\"parameters\": {", stdout);
  for (int i = 0; (info = stereo_param_info (i)); i++) {
    const char *quote = info->choices ? "\"" : "";
    printf ("%s\"%s\": %s%s%s", i ? ", " : "", info->name, quote, stereo_param_format (params, info, text, sizeof text),
        quote);
  }
  puts ("}}\n]");
}

static void
print_text (const Bench *b)
{
  const StereoParams *params = stereo_plan_params (b->plan);

  printf ("%dx%d, %d disparities, %s, %s, %s, %.1f MiB, %.1f %% valid\n", b->view[0].width, b->view[0].height,
      params->num_disparities, stereo_plan_backend (b->plan), stereo_method_info (params->method)->name,
      stereo_cost_info (params->cost)->name, (double) stereo_plan_memory (b->plan) / (1 << 20), 100 * b->valid);
  if (!b->stages)
    return;
  printf ("    frame %.3f ms (%.3f to %.3f), compute %.3f (%.3f to %.3f), overlap %.3f, %.3f GDE/s\n   ",
      b->frame.median, b->frame.min, b->frame.max, b->compute.median, b->compute.min, b->compute.max, b->overlapped_ms,
      b->gde);
  for (int k = 0; k < b->stages; k++)
    printf (" %s %.3f", stereo_plan_stage_name (b->plan, k), b->stage_ms[k]);
  putchar ('\n');
}

/* ---- runs -------------------------------------------------------------------------------------- */

/* Makes the plan and the output for the views that are there. */
static int
open_plan (Bench *b)
{
  int width = b->view[0].width, height = b->view[0].height;
  size_t pixels = (size_t) width * (size_t) height;

  b->output = (StereoOutput){ malloc (pixels * sizeof (float)), width * (ptrdiff_t) sizeof (float), STEREO_SAMPLE_F32,
    malloc (pixels), width };
  b->plan = stereo_plan_new (&b->options->params, width, height, &b->error);
  if (b->plan && *stereo_plan_warning (b->plan))
    fprintf (stderr, "%s\n", stereo_plan_warning (b->plan));
  return b->plan && b->output.data && b->output.confidence;
}

/* Frame @number, from 1, of those without times. */
static int
run_untimed (Bench *b, int number)
{
  StereoStats stats = { 0 };
  int done = run_frame (b, &stats) && write_maps (b, number);

  b->runs = number;
  b->valid = stats.valid_ratio;
  return done;
}

static int
is_png (const struct dirent *entry)
{
  size_t length = strlen (entry->d_name);
  return length > 4 && !strcmp (entry->d_name + length - 4, ".png");
}

/* The frames in left/ and right/, by name. */
static int
run_sequence (Bench *b)
{
  const char *folder = b->options->sequence;
  size_t length = strlen (folder) + 300;
  char *left = malloc (length), *right = malloc (length);
  struct dirent **entries = NULL;
  int most = b->options->frames, done = left && right;

  if (done)
    snprintf (left, length, "%s/left", folder);
  int count = done ? scandir (left, &entries, is_png, alphasort) : 0;
  if (count <= 0) {
    fprintf (stderr, "%s: there is no PNG in it; --sequence takes a folder with left/ and right/\n", folder);
    done = 0;
  }
  for (int k = 0; k < count; k++) {
    if (done && (!most || k < most)) {
      snprintf (left, length, "%s/left/%s", folder, entries[k]->d_name);
      snprintf (right, length, "%s/right/%s", folder, entries[k]->d_name);
      done = read_views (b, left, right) && (b->plan || open_plan (b)) && place_views (b) && run_untimed (b, k + 1);
    }
    free (entries[k]);
  }
  free (entries);
  free (left);
  free (right);
  return done;
}

static int
run_pair (Bench *b)
{
  const Options *options = b->options;

  if (!(options->width ? make_views (b) : read_views (b, options->pair[0], options->pair[1])) || !open_plan (b) ||
      !place_views (b))
    return 0;
  for (int k = 0; k < options->frames; k++)
    if (!run_untimed (b, k + 1))
      return 0;
  if (options->frames)
    return 1;
  b->runs = options->runs ? options->runs : strcmp (stereo_plan_backend (b->plan), "cuda") ? 20 : 60;
  return time_frames (b) && time_overlapped (b) && time_stages (b) && write_maps (b, 1);
}

/* ---- the command line: the engine's parameters come from its own table ------------------------------- */

static void
print_parameter (const StereoParamInfo *info)
{
  StereoParams params;
  char text[32];

  stereo_params_init (&params);
  stereo_param_format (&params, info, text, sizeof text);
  printf ("  --%-22s %s\n", info->name, info->text);
  printf ("    %-22s ", "");
  if (info->choices) {
    for (const StereoChoice *c = info->choices; c->name; c++)
      printf ("%s%s", c == info->choices ? "" : ", ", c->name);
    printf (" (%s)\n", text);
  } else {
    printf ("%.10g to %.10g (%s)\n", info->min, info->max, text);
  }
}

static void
print_help (void)
{
  const StereoParamInfo *info;
  const StereoMethodInfo *method;
  const StereoCostInfo *cost;

  puts ("Times the stereo engine, and writes what it gives. tests/bench/score.py of the sources scores it.\n"
        "\n"
        "stereo-bench [options] LEFT.png RIGHT.png\n"
        "stereo-bench [options] --synthetic WIDTHxHEIGHT\n"
        "stereo-bench [options] --sequence FOLDER       (left/NAME.png, right/NAME.png)\n"
        "\n"
        "  --runs N         timed frames, after a few untimed ones (20 on the CPU, 60 on CUDA)\n"
        "  --frames N       no times: N frames of the pair through one matcher; of --sequence, at most N\n"
        "  --device-input   the views lie in device memory already (on the CPU: packed in host memory)\n"
        "  --json           a JSON array of one object, with all that is known\n"
        "  --write FOLDER   NNN-disparity.pfm (px, NaN = none; depth with --output depth) and NNN-confidence.png; without\n"
        "                   times, of every frame\n"
        "\n"
        "frame: host images to host results; compute: the steps alone, by the device's clock, without copies;\n"
        "overlap: a frame on average with two in flight, as in a pipeline.\n"
        "\n"
        "Parameters of the engine (default in brackets):");
  for (int i = 0; (info = stereo_param_info (i)); i++)
    print_parameter (info);
  puts ("\nMethods:");
  for (int i = 0; (method = stereo_method_info (i)); i++)
    printf ("  %-12s %s\n  %-12s %s\n", method->name, method->text, "", method->source);
  puts ("\nCosts:");
  for (int i = 1; (cost = stereo_cost_info (i)); i++)
    printf ("  %-12s %s\n", cost->name, cost->text);
}

static int
parse_size (Options *options, const char *text)
{
  char end;
  if (sscanf (text, "%dx%d%c", &options->width, &options->height, &end) == 2 && options->width > 0 &&
      options->height > 0 && options->width <= 32768 && options->height <= 32768)
    return 1;
  fprintf (stderr, "--synthetic %s: write it as 640x480\n", text);
  return 0;
}

/* A whole number up to MAX_RUNS; 0 and a message otherwise. */
static int
parse_count (const char *name, const char *text, int *count)
{
  char end;

  if (sscanf (text, "%d%c", count, &end) == 1 && *count >= 1 && *count <= MAX_RUNS)
    return 1;
  fprintf (stderr, "--%s %s: this takes a whole number from 1 to %d\n", name, text, MAX_RUNS);
  return 0;
}

/* An option with a value; 0 and a message when it makes no sense. */
static int
parse_value (Options *options, const char *name, const char *value)
{
  StereoError error;

  if (!strcmp (name, "runs"))
    return parse_count (name, value, &options->runs);
  if (!strcmp (name, "frames"))
    return parse_count (name, value, &options->frames);
  if (!strcmp (name, "synthetic"))
    return parse_size (options, value);
  if (!strcmp (name, "sequence")) {
    options->sequence = value;
  } else if (!strcmp (name, "write")) {
    options->write = value;
  } else if (stereo_param_parse (&options->params, name, value, &error)) {
    fprintf (stderr, "%s See --help.\n", error.message);
    return 0;
  }
  return 1;
}

/* "--name value" and "--name=value". */
static int
parse_option (Options *options, char **argv, int *k)
{
  const char *name = argv[*k] + 2, *equals = strchr (name, '=');
  char copy[64];

  if (!strcmp (name, "json"))
    return options->json = 1;
  if (!strcmp (name, "device-input"))
    return options->device_input = 1;
  snprintf (copy, sizeof copy, "%.*s", equals ? (int) (equals - name) : 63, name);
  if (equals)
    return parse_value (options, copy, equals + 1);
  if (!argv[*k + 1]) {
    fprintf (stderr, "--%s needs a value. See --help.\n", copy);
    return 0;
  }
  return parse_value (options, copy, argv[++*k]);
}

/* 1 to go on, 0 after --help, -1 and a message on a mistake. */
static int
options_parse (Options *options, int argc, char **argv)
{
  int views = 0;

  memset (options, 0, sizeof *options);
  stereo_params_init (&options->params);
  for (int k = 1; k < argc; k++) {
    if (!strcmp (argv[k], "--help") || !strcmp (argv[k], "-h")) {
      print_help ();
      return 0;
    }
    if (argv[k][0] == '-' && argv[k][1] == '-') {
      if (!parse_option (options, argv, &k))
        return -1;
    } else if (views < 2) {
      options->pair[views++] = argv[k];
    } else {
      fprintf (stderr, "%s: there are two views already\n", argv[k]);
      return -1;
    }
  }
  if ((views == 2) + (options->width > 0) + (options->sequence != NULL) != 1 || views == 1) {
    fputs ("Give two views, or --synthetic WIDTHxHEIGHT, or --sequence FOLDER. See --help.\n", stderr);
    return -1;
  }
  return 1;
}

int
main (int argc, char **argv)
{
  Options options;
  Bench b = { .options = &options };
  int go = options_parse (&options, argc, argv);

  if (go <= 0)
    return go ? 2 : 0;
  int done = options.sequence ? run_sequence (&b) : run_pair (&b);
  if (done)
    (options.json ? print_json : print_text) (&b);
  else if (b.error.status)
    fprintf (stderr, "%s\n", b.error.message);
  free_views (&b);
  stereo_plan_free (b.plan);
  free (b.output.data);
  free (b.output.confidence);
  return done ? 0 : 1;
}
