/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/overlay/label.h"

#include <string.h>

#define CHARACTERS 15 /* of the type */
#define BYTES (4 * CHARACTERS)

/* Some of these characters turn the direction of what follows, and would turn a distance round, too. */
static gboolean
is_shown (gunichar c)
{
  switch (g_unichar_type (c)) {
    case G_UNICODE_CONTROL:
    case G_UNICODE_FORMAT:
    case G_UNICODE_LINE_SEPARATOR:
    case G_UNICODE_PARAGRAPH_SEPARATOR:
      return FALSE;
    default:
      return TRUE;
  }
}

void
gst_depth_overlay_label_make (gchar label[GST_DEPTH_OVERLAY_LABEL], const gchar *type, const gchar *value)
{
  /* no character that is shown lies behind these bytes, whatever a detector wrote */
  g_autofree gchar *valid = g_utf8_make_valid (type ? type : "", type ? (gssize) strnlen (type, BYTES) : 0);
  const gchar *from = valid;
  gchar *to = label;

  for (gint i = 0; i < CHARACTERS && *from; i++) {
    gunichar c = g_utf8_get_char (from);
    to += g_unichar_to_utf8 (is_shown (c) ? c : ' ', to);
    from = g_utf8_next_char (from);
  }
  if (to > label)
    *to++ = ' ';
  g_strlcpy (to, value, GST_DEPTH_OVERLAY_LABEL - (gsize) (to - label));
}
