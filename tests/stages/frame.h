/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One frame of a case: pictures, output buffers and a plan, ready to be walked step by step. */
#ifndef FRAME_H
#define FRAME_H

#include "cases.h"
#include "stereo/engine/backend.h"

typedef struct Frame
{
  Picture picture[2];
  StereoPlan *plan;
  StereoOutput output;
  void *mapping[2];
  size_t mapping_size[2];
} Frame;

/* Pictures painted from @seed, so that two frames of one case and seed are the same. False and @error
 * when the plan cannot be made. */
int frame_new (
    Frame *frame, const Case *c, StereoBackendChoice backend, PictureGuard guard, uint64_t seed, StereoError *error);
void frame_free (Frame *frame);
/* Puts images and output into the plan and calls begin(). */
StereoStatus frame_begin (Frame *frame, StereoError *error);
/* Results to the output. */
StereoStatus frame_end (Frame *frame, StereoError *error);

#endif
