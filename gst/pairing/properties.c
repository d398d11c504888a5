/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/pairing/properties.h"

#include "gst/video/ranges.h"

enum
{
  PROP_0,
  PROP_PACKING,
  PROP_MAX_SKEW,
  PROP_PAIRING_CLOCK,
  PROP_QOS
};

void
gst_stereo_properties_install (GObjectClass *klass)
{
  const GParamFlags rw = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING;

  g_object_class_install_property (klass, PROP_PACKING,
      gst_stereo_unchecked_spec (g_param_spec_enum ("packing", "packing",
          "How two views lie in a frame on sink whose caps do not say it; a multiview-mode in the caps wins "
          "(multiview-mode=mono counts as not saying it; multiview-flags hold in either case)",
          GST_TYPE_STEREO_PACKING, GST_STEREO_PACKING_AUTO, rw)));
  g_object_class_install_property (klass, PROP_MAX_SKEW,
      g_param_spec_uint64 ("max-skew", "max-skew",
          "Nanoseconds that the two frames of a pair may be apart; frames without a partner within that time are "
          "dropped, counted and reported; the default, 18446744073709551615, is half the left frame's duration (no "
          "limit where that duration is unknown)",
          0, G_MAXUINT64, GST_STEREO_MAX_SKEW_AUTO, rw));
  g_object_class_install_property (klass, PROP_PAIRING_CLOCK,
      gst_stereo_unchecked_spec (g_param_spec_enum ("pairing-clock", "pairing-clock",
          "Which timestamps pair the frames of sink_left and sink_right, and are compared with "
          "max-skew; stats say which ones do",
          GST_TYPE_STEREO_PAIRING_CLOCK, GST_STEREO_PAIRING_CLOCK_AUTO, rw)));
  g_object_class_install_property (klass, PROP_QOS,
      g_param_spec_boolean ("qos", "qos",
          "Drop pairs before they are computed when downstream says that they come too late, and in live pipelines "
          "when they would come later than the latency that is reported",
          TRUE, rw));
}

gboolean
gst_stereo_properties_set (GstStereoParts *parts, guint id, const GValue *value)
{
  switch (id) {
    case PROP_PACKING:
      gst_stereo_pairs_set_packing (parts->pairs, g_value_get_enum (value));
      return TRUE;
    case PROP_MAX_SKEW:
      gst_stereo_pairs_set_max_skew (parts->pairs, g_value_get_uint64 (value));
      return TRUE;
    case PROP_PAIRING_CLOCK:
      gst_stereo_clock_set_choice (parts->clock, g_value_get_enum (value));
      return TRUE;
    case PROP_QOS:
      gst_stereo_qos_set_enabled (parts->qos, g_value_get_boolean (value));
      return TRUE;
    default:
      return FALSE;
  }
}

gboolean
gst_stereo_properties_get (GstStereoParts *parts, guint id, GValue *value)
{
  switch (id) {
    case PROP_PACKING:
      g_value_set_enum (value, gst_stereo_pairs_get_packing (parts->pairs));
      return TRUE;
    case PROP_MAX_SKEW:
      g_value_set_uint64 (value, gst_stereo_pairs_get_max_skew (parts->pairs));
      return TRUE;
    case PROP_PAIRING_CLOCK:
      g_value_set_enum (value, gst_stereo_clock_get_choice (parts->clock));
      return TRUE;
    case PROP_QOS:
      g_value_set_boolean (value, gst_stereo_qos_get_enabled (parts->qos));
      return TRUE;
    default:
      return FALSE;
  }
}
