/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Queries that an element with two views answers in a way of its own. */
#ifndef GST_STEREO_QUERIES_H
#define GST_STEREO_QUERIES_H

#include <gst/gst.h>

G_BEGIN_DECLS

/* From downstream: what only the source of the stream knows. */
gboolean gst_stereo_query_is_for_upstream (GstQuery *query);
/* From upstream: which caps a pad takes. */
gboolean gst_stereo_query_is_about_caps (GstQuery *query);
/* Answers such a query for a pad that takes @caps (transfer full). */
void gst_stereo_query_answer_caps (GstQuery *query, GstCaps *caps);

G_END_DECLS

#endif
