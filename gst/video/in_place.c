/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/video/in_place.h"

/* The picture is passed on in the same memory: upstream has to allocate what downstream wants. */
static gboolean
propose_allocation (GstBaseTransform *base, GstQuery *decide, GstQuery *query)
{
  return gst_pad_peer_query (GST_BASE_TRANSFORM_SRC_PAD (base), query);
}

/* No buffer is allocated here. */
static gboolean
decide_allocation (GstBaseTransform *base, GstQuery *query)
{
  while (gst_query_get_n_allocation_pools (query) > 0)
    gst_query_remove_nth_allocation_pool (query, 0);
  return TRUE;
}

/* Metadata is added to a buffer that others hold too: the copy shares its memory. */
static GstFlowReturn
prepare_output_buffer (GstBaseTransform *base, GstBuffer *in, GstBuffer **out)
{
  *out = gst_buffer_is_writable (in) ? in : gst_buffer_copy (in);
  return GST_FLOW_OK;
}

void
gst_stereo_in_place_class_init (GstBaseTransformClass *klass)
{
  klass->propose_allocation = propose_allocation;
  klass->decide_allocation = decide_allocation;
  klass->prepare_output_buffer = prepare_output_buffer;
}
