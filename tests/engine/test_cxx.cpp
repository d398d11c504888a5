/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The headers are C++ too: compiled as such, and one plan is run. */
#include "stereo/engine/backend.h"
#include "stereo/rectify.h"
#include "stereo/engine/remap.h"
#include "stereo/stereo.h"

#include <cstdio>

int
main ()
{
  StereoParams params;
  StereoError error;
  unsigned char image[64] = { 0 };
  unsigned short result[64];

  stereo_params_init (&params);
  params.backend = STEREO_BACKEND_CPU;
  params.num_disparities = 4;
  StereoPlan *plan = stereo_plan_new (&params, 8, 8, &error);
  StereoImage view = { image, 8, 1, 1, { 0, 0, 0 }, STEREO_MEMORY_HOST };
  StereoOutput output = { result, 16, STEREO_SAMPLE_U16, nullptr, 0 };
  bool ok = plan && stereo_plan_execute (plan, &view, &view, &output, nullptr, &error) == STEREO_OK;
  stereo_plan_free (plan);
  std::printf ("%d passed, %d failed, 0 skipped\n", ok, !ok);
  return !ok;
}
