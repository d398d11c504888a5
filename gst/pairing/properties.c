/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/pairing/properties.h"

#include "gst/pairing/parts.h"

/* ---- the parts have the values ----------------------------------------------------------------- */

static void
set_packing (GstElement *element, gpointer parts, const GValue *value)
{
  gst_stereo_pairs_set_packing (((GstStereoParts *) parts)->pairs, g_value_get_enum (value));
}

static void
get_packing (GstElement *element, gpointer parts, GValue *value)
{
  g_value_set_enum (value, gst_stereo_pairs_get_packing (((GstStereoParts *) parts)->pairs));
}

static void
set_max_skew (GstElement *element, gpointer parts, const GValue *value)
{
  gst_stereo_pairs_set_max_skew (((GstStereoParts *) parts)->pairs, g_value_get_uint64 (value));
}

static void
get_max_skew (GstElement *element, gpointer parts, GValue *value)
{
  g_value_set_uint64 (value, gst_stereo_pairs_get_max_skew (((GstStereoParts *) parts)->pairs));
}

static void
set_pairing_clock (GstElement *element, gpointer parts, const GValue *value)
{
  gst_stereo_clock_set_choice (((GstStereoParts *) parts)->clock, g_value_get_enum (value));
}

static void
get_pairing_clock (GstElement *element, gpointer parts, GValue *value)
{
  g_value_set_enum (value, gst_stereo_clock_get_choice (((GstStereoParts *) parts)->clock));
}

static void
set_qos (GstElement *element, gpointer parts, const GValue *value)
{
  gst_stereo_qos_set_enabled (((GstStereoParts *) parts)->qos, g_value_get_boolean (value));
}

static void
get_qos (GstElement *element, gpointer parts, GValue *value)
{
  g_value_set_boolean (value, gst_stereo_qos_get_enabled (((GstStereoParts *) parts)->qos));
}

/* ---- the table --------------------------------------------------------------------------------- */

const GstStereoProperty gst_stereo_pairing_properties[] = {
  { .name = "packing",
      .kind = GST_STEREO_ENUM,
      .flags = GST_STEREO_PLAYING,
      .initial = GST_STEREO_PACKING_AUTO,
      .choices = gst_stereo_packings,
      .type = "GstStereoPacking",
      .set = set_packing,
      .get = get_packing,
      .blurb = "How two views lie in a frame on sink whose caps do not say it; a multiview-mode in the caps wins "
               "(multiview-mode=mono counts as not saying it; multiview-flags hold in either case)" },
  { .name = "max-skew",
      .kind = GST_STEREO_UINT64,
      .flags = GST_STEREO_PLAYING,
      .initial = (gdouble) GST_STEREO_MAX_SKEW_AUTO,
      .set = set_max_skew,
      .get = get_max_skew,
      .blurb = "Nanoseconds that the two frames of a pair may be apart; frames without a partner within that time are "
               "dropped, counted and reported; the default, 18446744073709551615, is half the left frame's duration "
               "(no limit where that duration is unknown)" },
  { .name = "pairing-clock",
      .kind = GST_STEREO_ENUM,
      .flags = GST_STEREO_PLAYING,
      .initial = GST_STEREO_PAIRING_CLOCK_AUTO,
      .choices = gst_stereo_pairing_clocks,
      .type = "GstStereoPairingClock",
      .set = set_pairing_clock,
      .get = get_pairing_clock,
      .blurb = "Which timestamps pair the frames of sink_left and sink_right, and are compared with max-skew; "
               "stats say "
               "which ones do" },
  { .name = "qos",
      .kind = GST_STEREO_BOOLEAN,
      .flags = GST_STEREO_PLAYING,
      .initial = TRUE,
      .set = set_qos,
      .get = get_qos,
      .blurb = "Drop pairs before they are computed when downstream says that they come too late, and in "
               "live pipelines "
               "when they would come later than the latency that is reported" },
  { .name = NULL },
};
