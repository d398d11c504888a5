/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/pairing/queries.h"

gboolean
gst_stereo_query_is_for_upstream (GstQuery *query)
{
  switch (GST_QUERY_TYPE (query)) {
    case GST_QUERY_POSITION:
    case GST_QUERY_DURATION:
    case GST_QUERY_SEEKING:
    case GST_QUERY_URI:
      return TRUE;
    default:
      return FALSE;
  }
}

gboolean
gst_stereo_query_is_about_caps (GstQuery *query)
{
  return GST_QUERY_TYPE (query) == GST_QUERY_CAPS || GST_QUERY_TYPE (query) == GST_QUERY_ACCEPT_CAPS;
}

/* The part of @caps that passes @filter (may be NULL). Kinds of memory stay in our order: whoever can upload is to
 * upload. Formats come in the order of who asks. */
static GstCaps *
filter_caps (GstCaps *caps, GstCaps *filter)
{
  GstCaps *passed;

  if (!filter)
    return gst_caps_ref (caps);
  passed = gst_caps_new_empty ();
  for (guint i = 0; i < gst_caps_get_size (caps); i++) {
    GstCaps *one = gst_caps_copy_nth (caps, i);
    gst_caps_append (passed, gst_caps_intersect_full (filter, one, GST_CAPS_INTERSECT_FIRST));
    gst_caps_unref (one);
  }
  return passed;
}

void
gst_stereo_query_answer_caps (GstQuery *query, GstCaps *caps)
{
  GstCaps *other;

  if (GST_QUERY_TYPE (query) == GST_QUERY_CAPS) {
    gst_query_parse_caps (query, &other);
    other = filter_caps (caps, other);
    gst_query_set_caps_result (query, other);
    gst_caps_unref (other);
  } else {
    gst_query_parse_accept_caps (query, &other);
    gst_query_set_accept_caps_result (query, gst_caps_is_subset (other, caps));
  }
  gst_caps_unref (caps);
}
