/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What esaw and esmp have in common: everything but the messages. esaw.c has the code. */
#ifndef STEREO_CPU_EXPONENTIAL_STAGE_H
#define STEREO_CPU_EXPONENTIAL_STAGE_H

#include "stereo/cpu/cpu.h"
#include "stereo/cpu/vec/vec.h"
#include "stereo/exact/exponential.h"

#define CPU_MESSAGE_COLUMNS 8 /* columns whose messages are computed at a time */

/* Turns the costs of @columns pixels into messages. @scratch: 6 * depth words of a thread for each of
 * CPU_MESSAGE_COLUMNS. */
typedef void (*CpuMessage) (
    const StereoPlan *plan, const StereoExponential *e, uint16_t *costs, int columns, uint16_t *scratch);

/* The context of both stages. */
typedef struct CpuExponential
{
  uint16_t *volume;  /* the second one: iterations read one volume and write the other */
  uint16_t *scratch; /* per thread: see lay_out() in esaw.c */
  /* of the frame at hand */
  CpuMessage message;     /* NULL: costs are averaged as they are */
  const StereoTaps *taps; /* of the iteration at work */
  int iteration;
} CpuExponential;

StereoStatus CPU (exponential_prepare) (StereoPlan *plan, void *context, StereoError *error);
/* A thread's scratch memory for messages. */
uint16_t *CPU (exponential_scratch) (const StereoPlan *plan, const CpuExponential *e, int thread);
StereoStatus CPU (exponential_run) (StereoPlan *plan, CpuExponential *e, CpuMessage message);

#endif
