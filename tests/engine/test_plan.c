/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Plans: what is refused and how, backends, memory. */
#include "stereo/engine/backend.h"
#include "pair.h"

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

/* ---- refusals ---------------------------------------------------------------------------- */

static void
refused (const StereoParams *params, int width, int height, StereoStatus status, const char *word, const char *word2)
{
  StereoError error = { 0 };
  StereoPlan *plan = stereo_plan_new (params, width, height, &error);

  if (!CHECK (!plan, "%dx%d was taken", width, height)) {
    stereo_plan_free (plan);
    return;
  }
  CHECK (error.status == status, "status %d, wanted %d: %s", error.status, status, error.message);
  CHECK (strstr (error.message, word) && strstr (error.message, word2), "'%s' does not say %s and %s", error.message,
      word, word2);
}

CASE (test_sizes, "sizes that cannot be matched")
{
  StereoParams params;

  params_small (&params);
  refused (&params, 0, 10, STEREO_ERROR_SIZE, "0x10", "1x1");
  refused (&params, 10, 0, STEREO_ERROR_SIZE, "10x0", "1x1");
  refused (&params, -5, 10, STEREO_ERROR_SIZE, "-5x10", "1x1");
  refused (&params, 40000, 10, STEREO_ERROR_SIZE, "40000x10", "32768");
  refused (&params, 2147483647, 2147483647, STEREO_ERROR_SIZE, "2147483647", "32768");
  params.min_disparity = 64;
  refused (&params, 64, 10, STEREO_ERROR_PARAMETER, "64", "min-disparity");
  params.min_disparity = -100;
  refused (&params, 64, 10, STEREO_ERROR_PARAMETER, "-100", "min-disparity");
}

CASE (test_no_device, "cuda without a device")
{
  StereoParams params;
  char reason[200] = "";

  params_small (&params);
  params.backend = STEREO_BACKEND_CUDA;
  if (stereo_backend_available (STEREO_BACKEND_CUDA, -1, reason, sizeof reason)) {
    params.cuda_device_id = 250;
    refused (&params, 64, 48, STEREO_ERROR_NO_DEVICE, "backend=cuda", "backend=cpu");
    return;
  }
  CHECK (reason[0], "no reason given");
  refused (&params, 64, 48, STEREO_ERROR_NO_DEVICE, "backend=cuda", "backend=cpu");
}

CASE (test_backend, "backend and reason")
{
  StereoParams params;
  StereoError error = { 0 };

  params_small (&params);
  for (int k = 0; k < 2; k++) {
    params.backend = k ? STEREO_BACKEND_AUTO : STEREO_BACKEND_CPU;
    StereoPlan *plan = stereo_plan_new (&params, 64, 48, &error);
    if (!CHECK (plan != NULL, "%s", error.message))
      return;
    CHECK (k || !strcmp (stereo_plan_backend (plan), "cpu"), "%s", stereo_plan_backend (plan));
    CHECK (strlen (stereo_plan_backend_reason (plan)) > 10, "'%s'", stereo_plan_backend_reason (plan));
    CHECK (!*stereo_plan_warning (plan), "'%s'", stereo_plan_warning (plan));
    CHECK (stereo_plan_params (plan)->window > 0, "own values are not replaced");
    stereo_plan_free (plan);
  }
  stereo_plan_free (NULL);
}

static void
frame_refused (
    StereoPlan *plan, const StereoImage *left, const StereoImage *right, const StereoOutput *output, const char *word)
{
  StereoError error = { 0 };
  CHECK (stereo_plan_execute (plan, left, right, output, NULL, &error) == STEREO_ERROR_PARAMETER, "taken: %s", word);
  CHECK (strstr (error.message, word), "'%s' does not say %s", error.message, word);
}

CASE (test_frames, "frames that cannot be matched")
{
  StereoParams params;
  StereoError error = { 0 };
  Pair pair;

  params_small (&params);
  params.output = STEREO_OUTPUT_DEPTH;
  params.focal_length = params.baseline = 100;
  pair_new (&pair, 40, 30, 1);
  StereoPlan *plan = stereo_plan_new (&params, 40, 30, &error);
  if (!CHECK (plan != NULL, "%s", error.message))
    return;
  StereoImage good = picture_view (&pair.picture[0]), bad = good;
  StereoOutput output = { pair.result, 80, STEREO_SAMPLE_U16, NULL, 0 }, none = output;
  bad.channels = 2;
  frame_refused (plan, &bad, &good, &output, "channels");
  frame_refused (plan, &good, &bad, &output, "channels");
  bad = good;
  bad.pixel_stride = 9;
  frame_refused (plan, &good, &bad, &output, "9 bytes");
  bad = good;
  bad.data = NULL;
  frame_refused (plan, &good, &bad, &output, "data");
  bad = good;
  bad.memory = STEREO_MEMORY_CUDA;
  frame_refused (plan, &bad, &good, &output, "backend=cuda");
  none.data = NULL;
  frame_refused (plan, &good, &good, &none, "output");
  none = output;
  none.sample = STEREO_SAMPLE_U8;
  frame_refused (plan, &good, &good, &none, "16-bit");
  CHECK (!stereo_plan_execute (plan, &good, &good, &output, NULL, &error), "after the refusals: %s", error.message);
  stereo_plan_free (plan);
  pair_free (&pair);
}

/* ---- memory ------------------------------------------------------------------------------ */

CASE (test_memory_limit, "memory-limit")
{
  StereoParams params;
  StereoError error = { 0 };
  Pair free_pair, held_pair;
  char number[32];

  params_small (&params);
  params.num_disparities = 100;
  params.scratch_layers = 112;
  params.support = STEREO_SUPPORT_BOTH;
  pair_new (&free_pair, 150, 90, 3);
  pair_new (&held_pair, 150, 90, 3);
  StereoPlan *plan = stereo_plan_new (&params, 150, 90, &error);
  if (!CHECK (plan != NULL, "%s", error.message))
    return;
  size_t most = stereo_plan_memory (plan);
  int layers = plan->layers;
  execute (plan, &free_pair, NULL);
  stereo_plan_free (plan);
  CHECK (most > (size_t) 150 * 90 * 100 * 2, "%zu bytes cannot hold the volume", most);

  params.memory_limit = most;
  plan = stereo_plan_new (&params, 150, 90, &error);
  CHECK (plan && plan->layers == layers, "a limit that fits changed something: %s", error.message);
  stereo_plan_free (plan);

  params.memory_limit = most - 1;
  plan = stereo_plan_new (&params, 150, 90, &error);
  if (CHECK (plan != NULL, "%s", error.message)) {
    CHECK (stereo_plan_memory (plan) <= params.memory_limit && plan->layers < layers, "%zu bytes, %d layers",
        stereo_plan_memory (plan), plan->layers);
    execute (plan, &held_pair, NULL);
    CHECK (pair_same_results (&free_pair, &held_pair), "fewer layers change the result");
    stereo_plan_free (plan);
  }
  params.memory_limit = 100000;
  refused (&params, 150, 90, STEREO_ERROR_MEMORY, "100000", "memory-limit");
  params.memory_limit = 12345678;
  snprintf (number, sizeof number, "%d", 12345678);
  refused (&params, 2000, 1500, STEREO_ERROR_MEMORY, number, "num-disparities");
  pair_free (&free_pair);
  pair_free (&held_pair);
}

/* All disparities of the largest views need two tebibytes: refused, with the number. Where the system promises any amount of memory,
 * only the limit refuses. */
CASE (test_memory_absurd, "absurd amounts of memory")
{
  FILE *file = fopen ("/proc/sys/vm/overcommit_memory", "r");
  int mode = file ? fgetc (file) : '0';
  StereoParams params;

  if (file)
    fclose (file);
  params_small (&params);
  params.search = STEREO_SEARCH_FULL; /* lists would fit into the limit */
  params.num_disparities = 1024;
  params.memory_limit = (uint64_t) 1 << 40;
  refused (&params, 32768, 32768, STEREO_ERROR_MEMORY, "32768x32768", "memory-limit");
  params.memory_limit = 0;
  if (mode == '1' || SANITIZED)
    return;
  refused (&params, 32768, 32768, STEREO_ERROR_MEMORY, "32768x32768", "num-disparities");
}

/* The coarser levels lie where later steps of the plan keep what they need, but for the maps that these steps read. */
static void
check_levels (const StereoPlan *plan)
{
  const StereoPlan *coarse = plan->coarse;
  const StereoReservation *levels = NULL;
  size_t all = 0, kept = 0;

  for (int k = 0; k < plan->reservation_count; k++) {
    const StereoReservation *r = &plan->reservations[k];
    all += stereo_round_up (r->size, 256);
    if (r->where == &coarse->arena)
      levels = r;
  }
  if (!CHECK (levels != NULL, "the coarser levels have no place"))
    return;
  CHECK (stereo_plan_memory (plan) + levels->size <= all,
      "%zu bytes: the %zu of the coarser levels add to the %zu of all", stereo_plan_memory (plan), levels->size, all);
  for (int k = 0; k < coarse->state_count; k++) {
    const StereoReservation *r = &coarse->reservations[k];
    size_t at = (size_t) ((char *) *r->where - (char *) plan->arena), from = at - levels->place;
    int inside = at >= levels->place && from + r->size <= levels->size;
    CHECK (inside == !(r->life & STEREO_LIFE_FINER), "%s of view %d lies at %zu", r->name, r->view, at);
    kept += r->life & STEREO_LIFE_FINER ? r->size : 0;
  }
  CHECK (kept == 3 * (size_t) coarse->map_pitch * (size_t) coarse->height * sizeof (uint16_t),
      "%zu bytes of indices and winners are kept", kept);
}

/* A search from coarse to fine: what is in force, its memory against that of all disparities, limits, and levels in levels. */
CASE (test_coarse, "coarse to fine")
{
  StereoParams params;
  StereoError error = { 0 };
  size_t memory[2] = { 0 };

  params_small (&params);
  params.profile = STEREO_PROFILE_BALANCED;
  params.num_disparities = 256;
  for (int k = 0; k < 2; k++) {
    params.search = k ? STEREO_SEARCH_AUTO : STEREO_SEARCH_FULL;
    StereoPlan *plan = stereo_plan_new (&params, 1300, 200, &error);
    if (!CHECK (plan != NULL, "%s", error.message))
      return;
    memory[k] = stereo_plan_memory (plan);
    const StereoParams *used = stereo_plan_params (plan);
    CHECK (used->search == (k ? STEREO_SEARCH_COARSE_TO_FINE : STEREO_SEARCH_FULL), "search is %d", used->search);
    CHECK (used->refine_iterations == !k, "%d refinements", used->refine_iterations);
    CHECK (!k == !plan->coarse, "levels: %d", plan->coarse != NULL);
    /* 650 columns are enough for a half of them, 325 are not */
    CHECK (!k || (plan->coarse->coarse && !plan->coarse->coarse->coarse), "three levels");
    CHECK (!k || plan->coarse->coarse->width == 325, "%d columns", plan->coarse->coarse->width);
    if (k)
      check_levels (plan);
    stereo_plan_free (plan);
  }
  CHECK (2 * memory[1] < memory[0], "%zu bytes, and %zu of all disparities", memory[1], memory[0]);
  params.memory_limit = memory[1] / 2;
  refused (&params, 1300, 200, STEREO_ERROR_MEMORY, "1300x200", "memory-limit");
  params.memory_limit = 0;
  for (int more = 0; more < 2; more++) {
    params.num_disparities = STEREO_SLOTS + more; /* one list holds all of them, or all but one */
    StereoPlan *plan = stereo_plan_new (&params, 1300, 200, &error);
    CHECK (plan && !plan->coarse == !more, "%d disparities: %s", params.num_disparities, error.message);
    stereo_plan_free (plan);
  }
}

/* Every method has weights: both measures count, and whoever is surest of both is likely to be right. */
CASE (test_probability, "probability of every method")
{
  for (int k = 0; k < 2 * STEREO_METHODS; k++) {
    StereoParams params;
    StereoProbability table;
    int method = k / 2;

    stereo_params_init (&params);
    params.method = method;
    params.paths = k % 2 || method == STEREO_METHOD_SGM ? STEREO_PATHS_4 : STEREO_PATHS_NONE;
    stereo_probability_table (&params, &table);
    for (uint32_t m = 1; m < 256; m++)
      CHECK (stereo_probability (&table, m, 255, 0, 0, 1) >= stereo_probability (&table, m - 1, 255, 0, 0, 1) &&
              stereo_probability (&table, 255, m, 0, 0, 1) >= stereo_probability (&table, 255, m - 1, 0, 0, 1) &&
              stereo_probability (&table, m, m, 0, 0, 1) >= stereo_probability (&table, m, m, 1, 0, 1),
          "%s: surer by the measures at %u, and less likely", stereo_method_info (method)->name, m);
    float best = stereo_probability (&table, 255, 255, 0, 0, 1), doubted = stereo_probability (&table, 0, 255, 0, 0, 1),
          alike = stereo_probability (&table, 255, 0, 0, 0, 1);
    CHECK (best > 0.85f && doubted < best - 0.05f && alike < 0.3f,
        "%s: %g; %g where the views disagree, %g without distinctness", stereo_method_info (method)->name,
        (double) best, (double) doubted, (double) alike);
  }
}
