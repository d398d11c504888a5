/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The row `shifted` of the table in match_rules.c: views that are shifted sideways. */
#ifndef GST_STEREO_SHIFT_RULE_H
#define GST_STEREO_SHIFT_RULE_H

#include "gst/match/diagnose/match_case.h"

G_BEGIN_DECLS

GstStereoVerdict gst_stereo_shift_judge (const GstStereoMatchCase *match);
gchar *gst_stereo_shift_describe (const GstStereoMatchCase *match, gboolean active, GstStructure *figures);
void gst_stereo_shift_learn (const GstStereoMatchCase *match, GstStereoVerdict verdict, GstStereoMatchPast *past);

G_END_DECLS

#endif
