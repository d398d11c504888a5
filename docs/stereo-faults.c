/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of docs/reliability.md of all that can be wrong with the input, from the table that the code works with.
 * A test compares.
 */
#include "gst/meta/gststereohealth.h"

int
main (void)
{
  const GstStereoHealthKind *kind;

  g_print ("| `kind` | view | how it is recognised | after | `state` | what is said |\n|---|---|---|---|---|---|\n");
  for (guint i = 0; (kind = gst_stereo_health_kind (i)); i++) {
    gboolean pair = kind->left == kind->right;
    g_print ("| `%s` | %s | %s | ", kind->nick, pair ? "the pair" : "each, or both", kind->recognised);
    if (kind->hold)
      g_print ("%.1f s", (gdouble) kind->hold / GST_SECOND);
    else
      g_print ("one look");
    g_print (
        " | %s | %s%s |\n", kind->unreliable ? "`unknown`" : "as measured", pair ? "" : "left camera ", kind->words);
  }
  return 0;
}
