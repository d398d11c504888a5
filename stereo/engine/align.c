/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * When an aligner sees which pair. The first pair is measured before it is computed, so that it is aligned itself. From then
 * on the aligner follows, and looks at a pair while a device computes it. A look takes about as long as a device needs for a pair:
 * one pair in DEVICE_INTERVAL is looked at there. Of views in device memory, the rows needed are copied.
 */
#include "stereo/engine/engine.h"

#include <math.h>
#include <stdlib.h>

#define DEVICE_INTERVAL 4
#define NOTICEABLE 0.01 /* px: a smaller change is not handed on */

StereoStatus
stereo_align_open (StereoPlan *plan, StereoError *error)
{
  if (plan->params.align == STEREO_ALIGN_OFF)
    return STEREO_OK;
  plan->aligner = stereo_aligner_new (plan->width, plan->height, plan->min_disparity, plan->disparities);
  if (!plan->aligner)
    return stereo_fail (error, STEREO_ERROR_MEMORY,
        "No memory to align views of %dx%d pixels: set align=off, or reduce the size.", plan->width, plan->height);
  return STEREO_OK;
}

void
stereo_align_close (StereoPlan *plan)
{
  stereo_aligner_free (plan->aligner);
  free (plan->align_copy);
  plan->aligner = NULL;
  plan->align_copy = NULL;
}

/* ---- images ------------------------------------------------------------------------------------- */

/* Where rows of an image lie: @size bytes from @start on. @shift: from there to where row 0 would be. */
typedef struct Extent
{
  const uint8_t *start;
  size_t size;
  ptrdiff_t shift;
} Extent;

static Extent
extent_of (const StereoPlan *plan, const StereoImage *image, int first, int end)
{
  int sample, last, low = image->stride < 0 ? end - 1 : first;
  ptrdiff_t stride = image->stride < 0 ? -image->stride : image->stride;

  stereo_sample_range (image, &sample, &last);
  ptrdiff_t shift = -(low * image->stride + sample);
  return (Extent){ image->data - shift,
    (size_t) ((end - first - 1) * stride + (ptrdiff_t) (plan->width - 1) * image->pixel_stride + last - sample + 1),
    shift };
}

/* Memory for copies of both views; NULL: there is none. */
static uint8_t *
fit_copy (StereoPlan *plan, size_t size)
{
  if (size > plan->align_copy_size) {
    free (plan->align_copy);
    plan->align_copy = malloc (size);
    plan->align_copy_size = plan->align_copy ? size : 0;
  }
  return plan->align_copy;
}

/* Rows @first to @end - 1 of both views in host memory, as @images; 0: that is not possible. */
static int
fetch (StereoPlan *plan, int first, int end, StereoImage images[2])
{
  Extent extents[2];
  size_t size = 0;
  uint8_t *place;

  for (int v = 0; v < 2; v++) {
    images[v] = plan->input[v];
    extents[v] = extent_of (plan, &images[v], first, end);
    size += images[v].memory == STEREO_MEMORY_HOST ? 0 : extents[v].size;
  }
  if (!size)
    return 1;
  place = fit_copy (plan, size);
  for (int v = 0; v < 2 && place; v++) {
    if (images[v].memory == STEREO_MEMORY_HOST)
      continue;
    if (plan->backend->copy_view (plan, place, extents[v].start, extents[v].size))
      return 0;
    images[v].data = place + extents[v].shift;
    images[v].memory = STEREO_MEMORY_HOST;
    place += extents[v].size;
  }
  return place != NULL;
}

/* ---- the estimate ------------------------------------------------------------------------------- */

/* Hands the estimate to the align stage, for the next pair that is computed. */
static void
hand_on (StereoPlan *plan)
{
  const StereoAlignment *a = stereo_aligner_result (plan->aligner);
  static const double largest[6] = { 1, 0.5, 0.5, 0.25, 0.25, 0.25 }; /* largest value of each term */
  StereoAlignSteps steps = { a->active };
  double change = 0;

  for (int i = 0; i < 6 && a->active; i++) {
    double c = rint (a->coefficients[i] * (1 << STEREO_ALIGN_SHIFT));
    steps.c[i] = (int32_t) (c < -STEREO_ALIGN_TOP ? -STEREO_ALIGN_TOP : c > STEREO_ALIGN_TOP ? STEREO_ALIGN_TOP : c);
    change += largest[i] * abs (steps.c[i] - plan->align.c[i]);
  }
  if (steps.active != plan->align.active || change > NOTICEABLE * (1 << STEREO_ALIGN_SHIFT))
    plan->align = steps;
}

static void
follow (StereoPlan *plan)
{
  StereoImage images[2];
  int first, end;

  stereo_aligner_rows (plan->aligner, &first, &end);
  if (first >= end || !fetch (plan, first, end, images))
    return;
  stereo_aligner_follow (plan->aligner, &images[STEREO_LEFT], &images[STEREO_RIGHT]);
  hand_on (plan);
}

void
stereo_align_before (StereoPlan *plan)
{
  StereoImage images[2];

  if (!plan->aligner || plan->submitted > 1 || !fetch (plan, 0, plan->height, images))
    return;
  stereo_aligner_measure (plan->aligner, &images[STEREO_LEFT], &images[STEREO_RIGHT]);
  hand_on (plan);
}

void
stereo_align_after (StereoPlan *plan)
{
  unsigned frame = plan->submitted - 1, interval = plan->backend->choice == STEREO_BACKEND_CUDA ? DEVICE_INTERVAL : 1;

  if (plan->aligner && frame > 0 && frame % interval == 0)
    follow (plan);
}

void
stereo_plan_alignment (const StereoPlan *plan, StereoAlignment *alignment)
{
  *alignment = plan->aligner ? *stereo_aligner_result (plan->aligner) : (StereoAlignment){ 0 };
}
