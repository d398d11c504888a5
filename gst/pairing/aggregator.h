/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The base class of elements that take two views: stereomatch and stereorectify. It has the request pads sink,
 * sink_left and sink_right, pairs their frames, drops frames without a partner and pairs that come too late, and gives
 * the output its segment and timestamps. private.h says what each file of this folder does for it.
 */
#ifndef GST_STEREO_AGGREGATOR_H
#define GST_STEREO_AGGREGATOR_H

#include <gst/base/gstaggregator.h>

#include "gst/meta/gststereohealth.h"
#include "gst/pairing/decide.h"
#include "gst/video/frame.h"
#include "gst/video/stream.h"

G_BEGIN_DECLS

/* Written by hand: the macro for derivable types hides the instance structure. */
#define GST_TYPE_STEREO_AGGREGATOR (gst_stereo_aggregator_get_type ())
#define GST_STEREO_AGGREGATOR(object) \
  (G_TYPE_CHECK_INSTANCE_CAST ((object), GST_TYPE_STEREO_AGGREGATOR, GstStereoAggregator))
#define GST_STEREO_AGGREGATOR_CLASS(klass) \
  (G_TYPE_CHECK_CLASS_CAST ((klass), GST_TYPE_STEREO_AGGREGATOR, GstStereoAggregatorClass))
#define GST_STEREO_AGGREGATOR_GET_CLASS(object) \
  (G_TYPE_INSTANCE_GET_CLASS ((object), GST_TYPE_STEREO_AGGREGATOR, GstStereoAggregatorClass))
GType gst_stereo_aggregator_get_type (void);

typedef struct
{
  GstAggregator parent;
  struct _GstStereoAggregatorPrivate *priv;
} GstStereoAggregator;
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstStereoAggregator, gst_object_unref)

/* Views with more than 8 bits a sample (machine vision, thermal cameras, video of 10 bits), in system memory. process() gets 8 bits of
 * luma, from where the picture has its contrast: a camera of 12 bits in samples of 16 uses a sixteenth of their range. */
#define GST_STEREO_DEEP_GRAYS "GRAY16_LE, GRAY16_BE, GRAY10_LE32"
#define GST_STEREO_DEEP_FORMATS "{ " GST_STEREO_DEEP_GRAYS ", P010_10LE, I420_10LE, Y210 }"

/* A frame of a sink pad with its caps and its segment. Has one owner. */
typedef struct
{
  GstBuffer *buffer;
  GstVideoInfo info;
  GstStereoLayout layout;
  GstSegment segment;
  gint64 time;        /* running time, or GST_STEREO_TIME_NONE */
  gint64 captured;    /* capture time of a paired frame, by the pairing clock; GST_STEREO_TIME_NONE = buffer timestamps
                       * pair */
  gint64 spacing;     /* nominal time to the next frame in ns; 0 = unknown */
  gboolean after_gap; /* a GAP event came before it */
} GstStereoFrame;

/* Skew of a pair: right minus left in ns, by the pairing clock; 0 where one frame has no time. */
gint64 gst_stereo_frame_skew (const GstStereoFrame *left, const GstStereoFrame *right);

/* Maps @frame for reading, in place where it lies in @context (may be NULL). FALSE after an error was posted. */
gboolean gst_stereo_map_input (
    GstElement *element, GstVideoFrame *mapped, const GstStereoFrame *frame, GstStereoCudaContext *context);

/* Two frames of other sizes or formats: sentences that say so, and what to set; g_free. */
gchar *gst_stereo_describe_mismatch (const GstStereoFrame *left, const GstStereoFrame *right);

/* Fields of `stats` that all these elements have. */
typedef struct
{
  guint64 pairs, dropped_left, dropped_right, late;
  guint64 compute_last, compute_total, compute_recent; /* ns; compute_recent: mean of about ten pairs */
  const gchar *pairing_clock;   /* what paired the last pair: "buffer", reference caps, or "none" */
  GstStereoHealthFlags sources; /* what is wrong with them: as silence() has it */
} GstStereoPairStats;

/* A subclass has to set process() and input_caps(). Where it overrides start(), stop() or flush() of GstAggregatorClass,
 * its function calls the one of this class first. */
typedef struct
{
  GstAggregatorClass parent_class;

  /* Caps of a sink pad. Transfer full. */
  GstCaps *(*input_caps) (GstStereoAggregator *self);
  /* Computes a pair. @right is @left for a frame that holds both views. The caller keeps the references. */
  GstFlowReturn (*process) (GstStereoAggregator *self, GstStereoFrame *left, GstStereoFrame *right);
  /* For a subclass that returns from process() while the pair is still being computed: pushes such pairs, oldest first.
   * @one_may_stay: the next pair follows at once, so that one pair may stay in flight. Otherwise an element downstream may
   * wait for it. */
  GstFlowReturn (*drain) (GstStereoAggregator *self, gboolean one_may_stay);
  /* May be NULL. In a live pipeline a source has fallen silent, has come back, or falls behind or no longer does: @sources are
   * those of GST_STEREO_HEALTH_SILENT_LEFT, SILENT_RIGHT and BEHIND that hold from now on. In the source pad's task. The base class
   * posts a warning or an info message, whose text is @text. */
  void (*silence) (GstStereoAggregator *self, GstStereoHealthFlags sources, const gchar *text);
} GstStereoAggregatorClass;

/* In class_init: pad templates in the order in which linking tries them. Takes @caps. */
void gst_stereo_aggregator_class_add_templates (GstElementClass *klass, GstCaps *caps);

/* From any thread. */
void gst_stereo_aggregator_get_stats (GstStereoAggregator *self, GstStereoPairStats *stats);
/* Makes upstream negotiate again: other input caps are preferred now. */
void gst_stereo_aggregator_reconfigure (GstStereoAggregator *self);

/* ---- for process(), in the order in which it calls them ----------------------------------- */

/* TRUE where the pair would come too late. The pair is then dropped, counted and reported, and process() returns @flow. Downstream
 * gets a GAP event, unless the pipeline is live. Call this last, directly before computing and pushing: the compute time is measured
 * from here. */
gboolean gst_stereo_aggregator_drop_if_late (
    GstStereoAggregator *self, const GstStereoFrame *left, const GstStereoFrame *right, GstFlowReturn *flow);
/* Gives @out the timestamps, flags and metadata of its pair. @same_place: every object of the left view lies at the
 * same place of @out. */
void gst_stereo_aggregator_decorate (GstStereoAggregator *self, GstBuffer *out, const GstStereoFrame *left,
    const GstStereoFrame *right, gboolean same_place);
/* Counts the pair and its @compute_time, for `stats` and the latency, and pushes @out (transfer full). */
GstFlowReturn gst_stereo_aggregator_finish (
    GstStereoAggregator *self, const GstSegment *segment, GstBuffer *out, GstClockTime compute_time);

G_END_DECLS

#endif
