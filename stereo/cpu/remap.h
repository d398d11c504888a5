/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Remapping on the CPU: the function that remaps rows, once for each instruction set; backend.c calls it. */
#ifndef STEREO_CPU_REMAP_H
#define STEREO_CPU_REMAP_H

#include "stereo/cpu/cpu.h"
#include "stereo/engine/remap.h"

/* Rows @first .. @end - 1 of a target plane. */
typedef void (*CpuRemapRows) (const StereoRemapPlane *plane, const StereoRemapTable *table,
    const StereoRemapSource *source, const StereoRemapTarget *target, int first, int end);

#ifdef CPU_ISA
void CPU (remap_rows) (const StereoRemapPlane *plane, const StereoRemapTable *table, const StereoRemapSource *source,
    const StereoRemapTarget *target, int first, int end);
#endif

#endif
