/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What elements that take two views have in common: request pads sink, sink_left and sink_right, frames paired and
 * dropped, lateness and latency, segments and timestamps of what comes out. Abstract; stereomatch and stereorectify
 * derive from it. One object, six files:
 *   gststereoaggregator.c         properties, start and stop
 *   gststereoaggregator-pads.c    pads, events, queries
 *   gststereoaggregator-seek.c    seeks on their way upstream
 *   gststereoaggregator-pairs.c   aggregate(): from buffers to pairs, and what is dropped
 *   gststereoaggregator-silence.c says that one view has stopped without a word
 *   gststereoaggregator-output.c  what a pair gives to its output buffer
 */
#ifndef GST_STEREO_AGGREGATOR_H
#define GST_STEREO_AGGREGATOR_H

#include "gst/pairing/lateness.h"
#include "gst/pairing/pad.h"

G_BEGIN_DECLS

GST_DEBUG_CATEGORY_EXTERN (gst_stereo_aggregator_debug);

/* By hand: the macro for types that are derived from keeps their fields to one file. */
#define GST_TYPE_STEREO_AGGREGATOR (gst_stereo_aggregator_get_type ())
#define GST_STEREO_AGGREGATOR(object) \
  (G_TYPE_CHECK_INSTANCE_CAST ((object), GST_TYPE_STEREO_AGGREGATOR, GstStereoAggregator))
#define GST_STEREO_AGGREGATOR_CLASS(klass) \
  (G_TYPE_CHECK_CLASS_CAST ((klass), GST_TYPE_STEREO_AGGREGATOR, GstStereoAggregatorClass))
#define GST_STEREO_AGGREGATOR_GET_CLASS(object) \
  (G_TYPE_INSTANCE_GET_CLASS ((object), GST_TYPE_STEREO_AGGREGATOR, GstStereoAggregatorClass))
GType gst_stereo_aggregator_get_type (void);

typedef struct _GstStereoAggregator GstStereoAggregator;
typedef struct _GstStereoAggregatorClass GstStereoAggregatorClass;
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstStereoAggregator, gst_object_unref)

#define GST_STEREO_MAX_SKEW_AUTO G_MAXUINT64

/* What `stats` shows of any of them. */
typedef struct
{
  guint64 pairs, dropped_left, dropped_right, late;
  guint64 compute_last, compute_total; /* ns */
} GstStereoPairStats;

/* Frames dropped for want of a partner, since the last report. */
typedef struct
{
  guint left, right;
  gint64 skew, max_skew; /* of the last pair that was too far apart, ns */
  gint64 reported;       /* monotonic µs; 0 = never */
} GstStereoDrops;

struct _GstStereoAggregator
{
  GstAggregator parent;

  /* protected by the object lock */
  GstStereoPad *left, *right, *packed; /* request pads, not owned */
  GstStereoPacking packing;
  guint64 max_skew;
  gboolean qos;
  GstClockTime earliest_time; /* running time; earlier pairs are late for downstream */
  gdouble proportion;         /* as downstream has it; 0 = it has said nothing */
  GstStereoLateness lateness;
  GstClockTime wait_time; /* for the later frame of a pair */
  GstClockTime announced; /* the latency of this element */
  GstClockTime configured; /* that of the pipeline, as the sinks have it; 0 = not known */
  GstStereoPairStats stats;
  guint seeks;       /* that went upstream without a flush */
  guint32 last_seek; /* sequence number of the last one */
  GstClockID watch; /* waits for the second view pad */
  GstClockID listening;  /* looks now and then whether a view has gone silent; NULL when there is no need */
  GstClockTime looked;   /* last, monotonic */
  gboolean live, playing, busy; /* as some branch said; in PLAYING; in aggregate() */

  gint failed; /* atomic: an error was posted that no frame can mend */

  /* of the source pad's task */
  gboolean negotiated; /* set by the subclass: the source pad has caps */
  GstSegment segment;  /* of the source pad */
  gboolean have_segment;
  gboolean discont; /* something was dropped before the next output */
  GstStereoDrops drops;
  gint64 left_spacing; /* of the last left frame, ns */
  gint64 decided;      /* running time at which the pair at hand was not late; GST_STEREO_TIME_NONE = not live */
  gint64 waited, spare; /* it had, then: see GstStereoLateness */
  guint surplus;       /* frames read after the other view ended */
  gint64 surplus_time; /* of the first of them */
};

/* Of these only process() and input_caps() have to be there. start(), stop() and flush() of the base class are to be
 * chained up to, first. */
struct _GstStereoAggregatorClass
{
  GstAggregatorClass parent_class;

  /* Caps of a sink pad. Transfer full. */
  GstCaps *(*input_caps) (GstStereoAggregator *self);
  /* @second is @first for a frame that holds both views. The caller unrefs their buffers. */
  GstFlowReturn (*process) (GstStereoAggregator *self, GstStereoFrame *first, GstStereoFrame *second);
  /* Pushes all that is being computed: before an event. */
  GstFlowReturn (*land) (GstStereoAggregator *self);
  /* At the end of aggregate(), which came to @flow: pushes what need not wait; gives the flow to return. */
  GstFlowReturn (*settle) (GstStereoAggregator *self, GstStereoPad *const *pads, guint count, GstFlowReturn flow);
};

/* gststereoaggregator.c: in class_init; pad templates in the order in which linking tries them. Takes @caps. */
void gst_stereo_aggregator_class_add_templates (GstElementClass *klass, GstCaps *caps);

/* gststereoaggregator-pads.c: FALSE after an error was posted (both kinds of pads in use); starts the watch for a
 * missing pad, which becomes an error when that pad does not turn up. */
gboolean gst_stereo_aggregator_check_pads (GstStereoAggregator *self);
void gst_stereo_aggregator_stop_watch (GstStereoAggregator *self);
GstAggregatorPad *gst_stereo_aggregator_create_new_pad (
    GstAggregator *aggregator, GstPadTemplate *template, const gchar *name, const GstCaps *caps);
void gst_stereo_aggregator_release_pad (GstElement *element, GstPad *pad);
gboolean gst_stereo_aggregator_sink_event (GstAggregator *aggregator, GstAggregatorPad *pad, GstEvent *event);
gboolean gst_stereo_aggregator_src_event (GstAggregator *aggregator, GstEvent *event);
gboolean gst_stereo_aggregator_src_query (GstAggregator *aggregator, GstQuery *query);
gboolean gst_stereo_aggregator_sink_query (GstAggregator *aggregator, GstAggregatorPad *pad, GstQuery *query);
GstBuffer *gst_stereo_aggregator_clip (GstAggregator *aggregator, GstAggregatorPad *pad, GstBuffer *buffer);

/* Reports the latency that pairs need, where that has changed. */
void gst_stereo_aggregator_announce_latency (GstStereoAggregator *self);

/* gststereoaggregator-seek.c. Takes @event. */
gboolean gst_stereo_aggregator_seek (GstStereoAggregator *self, GstEvent *event);

/* gststereoaggregator-pairs.c */
GstFlowReturn gst_stereo_aggregator_aggregate (GstAggregator *aggregator, gboolean timeout);

/* gststereoaggregator-silence.c. Begins to look whether a view goes silent, where there is reason to: in live pipelines that
 * play. To be called when one of these may have become true. */
void gst_stereo_aggregator_listen (GstStereoAggregator *self);
/* Begins, too, if what is before @pad is live. */
void gst_stereo_aggregator_ask_live (GstStereoAggregator *self, GstPad *pad);
void gst_stereo_aggregator_set_playing (GstStereoAggregator *self, gboolean playing);
void gst_stereo_aggregator_set_busy (GstStereoAggregator *self, gboolean busy);
/* After a flush, or a start (@all). */
void gst_stereo_aggregator_forget_silence (GstStereoAggregator *self, gboolean all);
GstFlowReturn gst_stereo_aggregator_sink_event_pre_queue (
    GstAggregator *aggregator, GstAggregatorPad *pad, GstEvent *event);

/* gststereoaggregator-output.c, in the order of a pair's way. TRUE, and said so, when it would come too late. To be
 * asked last, when nothing is left to do but compute and push: how long those take is measured from here on. */
gboolean gst_stereo_aggregator_is_late (GstStereoAggregator *self, const GstStereoFrame *frame);
/* After an error was posted: the two views are of different sizes or formats. */
GstFlowReturn gst_stereo_aggregator_mismatch (
    GstStereoAggregator *self, const GstStereoFrame *left, const GstStereoFrame *right);
/* FALSE after an error was posted. */
gboolean gst_stereo_aggregator_map (
    GstStereoAggregator *self, GstVideoFrame *mapped, const GstStereoFrame *frame, GstStereoCudaContext *context);
/* Timestamps, flags and metas. @other's timestamps stand in where the left view of a bundle has none. @same_place: what
 * lies at a place of the left view lies at the same place of @out. */
void gst_stereo_aggregator_decorate (GstStereoAggregator *self, GstBuffer *out, const GstStereoFrame *left,
    const GstStereoFrame *other, gboolean same_place);
/* Counts a pair that took so long to compute (also for the latency), and pushes @out (transfer full). */
GstFlowReturn gst_stereo_aggregator_finish (
    GstStereoAggregator *self, const GstSegment *segment, GstBuffer *out, GstClockTime compute_time);

G_END_DECLS

#endif
