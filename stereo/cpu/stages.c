/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of the CPU stages, one for each instruction set. */
#include "stereo/cpu/cpu.h"

const StereoStageTable CPU (table) = {
  .load = &CPU (load),
  .align = &CPU (align),
  .temporal = &CPU (temporal),
  .features = { [STEREO_FEATURES_CENSUS_7X5] = &CPU (census_7x5),
      [STEREO_FEATURES_CENSUS_9X7] = &CPU (census_9x7),
      [STEREO_FEATURES_CENSUS_7X5_GRADIENT] = &CPU (census_7x5_gradient) },
  .match = { [STEREO_METHOD_ASW] = CPU (asw),
      [STEREO_METHOD_SGM] = CPU (sgm),
      [STEREO_METHOD_ESAW] = CPU (esaw),
      [STEREO_METHOD_ESMP] = CPU (esmp),
      [STEREO_METHOD_BM] = CPU (bm) },
  .paths = &CPU (paths),
  .select = &CPU (select),
  .check = &CPU (check),
  .refine = { [STEREO_REFINE_TWO_PASS] = &CPU (refine_two_pass),
      [STEREO_REFINE_FULL] = &CPU (refine_full),
      [STEREO_REFINE_IDR] = &CPU (refine_idr) },
  .reselect = &CPU (reselect),
  .subpixel = &CPU (subpixel),
  .integer = &CPU (integer),
  .reject = &CPU (reject),
  .probability = &CPU (probability),
  .speckle = &CPU (speckle),
  .fill = &CPU (fill),
  .planes = &CPU (planes),
  .median = { &CPU (median3), &CPU (median5) },
  .threshold = &CPU (threshold),
  .store = &CPU (store),
};
