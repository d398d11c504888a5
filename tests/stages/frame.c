/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "frame.h"

#include <sys/mman.h>

static void
make_output (Frame *frame, const Case *c, PictureGuard guard)
{
  size_t row = (size_t) c->width * stereo_sample_bytes (c->sample), rows = (size_t) c->height;

  frame->output.sample = c->sample;
  frame->output.stride = (ptrdiff_t) row;
  frame->output.data = picture_guarded (row * rows, guard, &frame->mapping[0], &frame->mapping_size[0]);
  memset (frame->output.data, 0x5A, row * rows);
  if (c->confidence) {
    size_t size = (size_t) c->width * rows;
    frame->output.confidence_stride = c->width;
    frame->output.confidence = picture_guarded (size, guard, &frame->mapping[1], &frame->mapping_size[1]);
    memset (frame->output.confidence, 0x5A, size);
  }
}

/* An alignment as a plan may have: nothing, a little, more than the bound; of any shape. */
static StereoAlignSteps
draw_alignment (Random *random)
{
  StereoAlignSteps steps = { random_range (random, 0, 7) > 0 };
  int most = random_range (random, 0, 2) ? 3 << STEREO_ALIGN_SHIFT : STEREO_ALIGN_TOP;

  for (int k = 0; k < 6; k++)
    steps.c[k] = random_range (random, 0, 3) ? random_range (random, -most, most) : 0;
  return steps;
}

int
frame_new (
    Frame *frame, const Case *c, StereoBackendChoice backend, PictureGuard guard, uint64_t seed, StereoError *error)
{
  Random random = { seed };
  StereoParams params;

  memset (frame, 0, sizeof *frame);
  stereo_params_init (&params);
  params_set (&params, "%s", c->params);
  params.backend = backend;
  frame->plan = stereo_plan_new (&params, c->width, c->height, error);
  if (!frame->plan)
    return 0;
  for (int v = 0; v < 2; v++)
    picture_new (&frame->picture[v], c->width, c->height, &c->layout, guard);
  picture_paint (&frame->picture[0], &frame->picture[1], c->kind, params.min_disparity, params.num_disparities, &random);
  if (params.align)
    frame->plan->align = draw_alignment (&random);
  make_output (frame, c, guard);
  return 1;
}

void
frame_free (Frame *frame)
{
  stereo_plan_free (frame->plan);
  for (int v = 0; v < 2; v++) {
    picture_free (&frame->picture[v]);
    if (frame->mapping[v])
      munmap (frame->mapping[v], frame->mapping_size[v]);
  }
  memset (frame, 0, sizeof *frame);
}

StereoStatus
frame_begin (Frame *frame, StereoError *error)
{
  StereoPlan *plan = frame->plan;

  for (int v = 0; v < 2; v++)
    plan->input[v] = picture_view (&frame->picture[v]);
  plan->output = frame->output;
  return plan->backend->begin ? plan->backend->begin (plan, error) : STEREO_OK;
}

StereoStatus
frame_end (Frame *frame, StereoError *error)
{
  const StereoBackend *backend = frame->plan->backend;
  StereoStatus status = backend->end ? backend->end (frame->plan, error) : STEREO_OK;

  return !status && backend->collect ? backend->collect (frame->plan, error) : status;
}
