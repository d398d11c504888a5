/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the parts of the motion stage share. All of it is compiled without contraction, as exact/motion.h wants it. */
#ifndef STEREO_CUDA_MOTION_MOTION_CUH
#define STEREO_CUDA_MOTION_MOTION_CUH

#include "cuda/common.cuh"

struct MotionContext
{
  uint8_t *reduced[2];       /* device: the left view now and before */
  uint8_t *age;              /* device, map: of the pixels now */
  StereoMotionPoint *points; /* device */
  StereoMotion *motion;      /* device */
  int pitch, width, height;  /* of the reduced views */
};

/* What the kernels work on. */
struct MotionWork
{
  StereoLast last;
  MotionContext c;
};

/* points.cu: finds the points. fit.cu: their motion. */
StereoStatus cuda_motion_points (StereoPlan *plan, const Frame &f, const MotionWork &w, StereoError *error);
StereoStatus cuda_motion_fit (StereoPlan *plan, const Frame &f, const MotionWork &w, StereoError *error);

#endif
