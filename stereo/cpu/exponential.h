/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What esaw.c does for esmp.c as well: everything but the messages. */
#ifndef STEREO_CPU_EXPONENTIAL_H
#define STEREO_CPU_EXPONENTIAL_H

#include "stereo/cpu/cpu.h"
#include "stereo/cpu/vec/vec.h"
#include "stereo/exact/exponential.h"

#define CPU_MESSAGE_COLUMNS 8   /* made at a time */

/* Turns the costs of @columns pixels into messages; @scratch: 6 * depth words of a thread for each of
 * CPU_MESSAGE_COLUMNS. NULL: costs stay as they are. */
typedef void (*CpuMessage) (const StereoPlan *plan, const StereoExponential *e, uint16_t *costs, int columns,
    uint16_t *scratch);

StereoStatus CPU (exponential_prepare) (StereoPlan *plan, void *context, StereoError *error);
/* The scratch memory of messages. */
uint16_t *CPU (exponential_scratch) (const StereoPlan *plan, int thread);
StereoStatus CPU (exponential_run) (StereoPlan *plan, CpuMessage message);

#endif
