/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the files of this folder share: the state of the element and of a sink pad. Where nothing else is said, only the task of the
 * source pad uses a member or calls a function.
 */
#ifndef GST_STEREO_PAIRING_PRIVATE_H
#define GST_STEREO_PAIRING_PRIVATE_H

#include "gst/pairing/aggregator.h"
#include "gst/video/properties.h"

G_BEGIN_DECLS

GST_DEBUG_CATEGORY_EXTERN (gst_stereo_aggregator_debug);
#define GST_CAT_DEFAULT gst_stereo_aggregator_debug

#define NONE GST_STEREO_TIME_NONE
#define GST_STEREO_MAX_SKEW_AUTO G_MAXUINT64
#define GST_STEREO_MOST_BITS 16 /* of a sample */

/* Of two views, and of what has one member for each. */
enum
{
  LEFT,
  RIGHT
};

/* sources.c. By the element's clock, ns. */
typedef struct
{
  GstClockTime heard;   /* when the last frame or gap came; 0 = none did */
  gboolean receiving;   /* upstream's thread is in the pad with a frame */
  gboolean held;        /* it was held up there: the next frame comes late because of that */
  gboolean over;        /* upstream has sent its end */
  gint64 since, window; /* when this second began, 0 = none did; the least delay in it, or NONE */
  gint64 delay, growth; /* the least delay of the second before, or NONE; and by how much it grew */
  gint trend;           /* seconds in a row in which it grew; below 0: in which it did not */
  gboolean behind;
} GstStereoSource;

/* ---- pad.c: a sink pad, and those of its frames that are being decided upon ---------------- */

#define GST_TYPE_STEREO_PAD (gst_stereo_pad_get_type ())
G_DECLARE_FINAL_TYPE (GstStereoPad, gst_stereo_pad, GST, STEREO_PAD, GstAggregatorPad)

struct _GstStereoPad
{
  GstAggregatorPad parent;

  gboolean packed, right;    /* from the pad's template, and never changed: both views, or the right one alone */
  GstPadChainFunction chain; /* of the base class */
  gint flushed;              /* atomic: the task has to forget its frames */

  GstStereoFrame *head;  /* the next frame: its buffer leaves GstAggregator's queue when it is decided upon */
  GstStereoFrame *first; /* of a bundle, before its second frame came */
  GstVideoInfo info;
  gboolean have_info, warned;                 /* warned: of these caps */
  gboolean ended, resumed;                    /* no frame will come; a stream began after the end of another one */
  gboolean began;                             /* a frame came since the start */
  gboolean marked;                            /* some frame was marked as first of its bundle */
  gboolean in_gap;                            /* the next frame follows a gap */
  gint64 gap_end;                             /* no frame earlier than this will come, or NONE */
  gint64 last_time;                           /* of the frame that left last */
  gint64 spacing;                             /* of the frame that came last */
  gint64 intervals[GST_STEREO_INTERVALS - 1]; /* to the frames that left last, the last one first, ns; 0 = unknown */
  gboolean turned;                            /* it was said that its pictures are to be turned */

  GstStereoSource source; /* protected by the object lock */

  GMutex lock;       /* held around calls that touch GstAggregator's queue */
  gboolean released; /* protected by it: that queue must not be touched any more */
};

/* @frame may be NULL. */
void gst_stereo_frame_free (GstStereoFrame *frame);
/* GstAggregatorClass.create_new_pad: sink, sink_left or sink_right. */
GstAggregatorPad *gst_stereo_pad_create (
    GstAggregator *aggregator, GstPadTemplate *template, const gchar *name, const GstCaps *caps);
/* For gst_element_foreach_sink_pad(). If the pad was flushed, and between two runs: forgets the frames at hand. */
gboolean gst_stereo_pad_obey_flush (GstElement *element, GstPad *pad, gpointer data);
gboolean gst_stereo_pad_forget_run (GstElement *element, GstPad *pad, gpointer data);
/* gst_aggregator_pad_has_buffer(), until the pad is released. */
gboolean gst_stereo_pad_has_buffer (GstStereoPad *pad);
/* Reads the next frame of the queue, its head, unless there is one. Returns a gap that came before: its empty buffer, with its
 * segment; free it, and read again. @error: why a frame cannot be used. @packing: of views whose caps do not name it. */
GstStereoFrame *gst_stereo_pad_read (GstStereoPad *pad, GstStereoPacking packing, gchar **error);
/* The head, as input of the pairing decision. */
GstStereoStream gst_stereo_pad_describe (GstStereoPad *pad);
/* The head leaves; free it. NULL where a flush was faster. */
GstStereoFrame *gst_stereo_pad_take (GstStereoPad *pad);

/* ---- the element --------------------------------------------------------------------------- */

/* The pads of the element. */
typedef struct
{
  GstStereoPad *view[2]; /* references: of the left and the right view, which may be one; NULL: there is no such pad */
  gboolean packed;       /* it is one */
  gboolean live;         /* sensors give the frames */
  gboolean silent[2];    /* nothing comes: frames of the other view do not wait */
} GstStereoInputs;

GstStereoInputs gst_stereo_aggregator_get_inputs (GstStereoAggregator *self);
void gst_stereo_inputs_clear (GstStereoInputs *inputs);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (GstStereoInputs, gst_stereo_inputs_clear)

/* pairs.c */
typedef struct
{
  /* protected by the element's object lock */
  GstStereoPacking packing;
  guint64 max_skew; /* ns, or GST_STEREO_MAX_SKEW_AUTO */
  gint choice;      /* of gst_stereo_pairing_clocks */
  guint64 dropped[2];
  const gchar *clock; /* what paired the last pair: "buffer", the name of the reference caps, or "none"; static */

  gint64 left_spacing; /* of the last left frames, ns */
  gint64 matched;      /* time of the left frame of the last pair, or NONE */
  gboolean paired;     /* there was a pair */
  gboolean apart;      /* it was said that the capture timestamps are not of one clock */
  gint64 last;         /* time of the last bundle's second frame */
  gboolean broken;     /* the next output buffer does not continue the last one */

  /* since the last report */
  guint unreported[2];
  gint64 skew;          /* of the nearest two frames that were too far apart, ns; 0 = none */
  gchar *why;           /* sentences; NULL = nothing is known */
  gboolean rates, said; /* the views differ in their rate; that was said */
  gint64 silent;        /* monotonic µs of the last drop for a silent view, until the next pair; 0 = none */
  gint64 reported;      /* monotonic µs; 0 = never */
} GstStereoPairs;

/* qos.c. Protected by the object lock. Times in ns. */
typedef struct
{
  gboolean enabled;
  GstClockTime earliest_time; /* running time; earlier pairs are late for downstream */
  gdouble proportion;         /* from the last QoS event */
  GstClockTime wait_time;     /* for the later frame of a pair */
  GstClockTime announced;     /* the latency of this element */
  GstClockTime configured;    /* the latency of the pipeline, as the sinks have it; 0 = not known */
  guint64 pairs, late;        /* computed, dropped */
  guint64 compute_last, compute_total, compute_recent; /* recent: mean of about the last ten */

  gint64 frame;                     /* from one pair to the next; 0 = not known */
  gint64 expected, allowed, excess; /* expected: 0 = nothing was measured yet */
  gint64 since, slowest;            /* when this period began; its slowest pair, 0 = none */
  gboolean stalled;                 /* a pair of it was not counted */
  gint64 late_since;                /* since the first late pair after the last computed one; G_MAXINT64 = none */
  /* of the pair at hand: when it was decided upon, by the running time, and how long it had waited then */
  gboolean live, forced; /* forced: it is late, and computed */
  gint64 decided, waited, spare;
} GstStereoQos;

/* deep.c */
typedef struct
{
  gint bits;             /* the property; protected by the element's object lock */
  guint lowest, highest; /* of the samples so far, but for rare ones */
} GstStereoDeep;

typedef struct _GstStereoAggregatorPrivate
{
  GstStereoPairs pairs;
  GstStereoDeep deep;
  GstStereoQos qos;

  /* protected by the object lock */
  guint64 silence_timeout;
  GstStereoHealthFlags sources; /* what is wrong with them */

  GMutex lock;
  GCond changed; /* with it: a frame came */
  gint closed; /* atomic: 1 + the view whose frames can find no partner any more, and whose source is told so; 0 = none */

  GstSegment segment; /* of the source pad */
  gboolean have_segment;
  gint64 alone;         /* monotonic µs since which one view has no linked partner; 0 = both have */
  GstClockTime latency; /* of the element and upstream; GST_CLOCK_TIME_NONE = not live */
  GstClockTime since;   /* by the element's clock: silence before does not count */
  GstClockTime watched; /* when the sources were last looked at, by the same clock; 0 = never */
  gboolean judged;      /* the delays of both views were compared */
  gint64 delay;         /* with which pairs arrive, or NONE */
} GstStereoAggregatorPrivate;

/* ---- pairs.c: from frames to pairs --------------------------------------------------------- */

extern const GEnumValue gst_stereo_pairing_clocks[];

/* After a flush, or at the start, which sets all counts to 0. */
void gst_stereo_pairs_reset (GstStereoAggregator *self, gboolean start);
/* Finds the next pair on sink, or on sink_left and sink_right. @view: zeroed. It gets the frames of the pair, which are one
 * where a frame has both views; free them, whatever is returned.
 * GST_FLOW_OK: there is a pair. GST_AGGREGATOR_FLOW_NEED_DATA: a frame is missing. GST_FLOW_EOS: no further pair can
 * come. Others: an error was posted, or is downstream's. */
GstFlowReturn gst_stereo_pairs_find (GstStereoAggregator *self, const GstStereoInputs *inputs, GstStereoFrame *view[2]);

/* ---- sources.c ----------------------------------------------------------------------------- */

/* In upstream's thread: @buffer enters the pad; NULL: the thread leaves it. */
void gst_stereo_source_note (GstStereoPad *pad, GstElement *element, GstBuffer *buffer);
/* After a flush: delays are measured anew. */
void gst_stereo_source_forget (GstStereoSource *source);
/* In a live pipeline: tells of sources that are silent or fall behind, and of those that no longer are. */
void gst_stereo_sources_watch (GstStereoAggregator *self, GstStereoInputs *inputs);
/* GstAggregatorClass.get_next_time: GstAggregator waits for all pads until the latency after this running time. While a view is
 * silent, the frames of the other one are let go at once. */
GstClockTime gst_stereo_sources_next (GstAggregator *aggregator);

/* ---- qos.c: pairs that come too late ------------------------------------------------------- */

/* After a flush, or at the start, which sets all counts to 0. */
void gst_stereo_qos_reset (GstStereoAggregator *self, gboolean start);
/* New caps: the time from one pair to the next (0 = unknown), and the longest wait for the later frame of a pair; in
 * ns. Reports the latency that follows from them. */
void gst_stereo_qos_set_frame (GstStereoAggregator *self, GstClockTime frame, GstClockTime wait);
/* GstAggregatorClass.src_event: reads QoS and LATENCY events. */
gboolean gst_stereo_qos_src_event (GstAggregator *aggregator, GstEvent *event);
/* The output has a gap where the stream that gives the timestamps has one, and where a frame of that stream gives no output.
 * Without the GAP event, an element that waits for this output would go on waiting: depthoverlay is one. */
GstFlowReturn gst_stereo_aggregator_forward_gap (GstStereoAggregator *self, const GstStereoFrame *missing);

/* The rules of qos.c alone: by how much a pair is late that has waited since its time, where downstream says @late, and its source
 * has this @delay, or NONE; and that it was computed. */
gint64 gst_stereo_qos_decide (GstStereoQos *qos, gint64 now, gint64 delay, gint64 late);
void gst_stereo_qos_took (GstStereoQos *qos, gint64 service);

/* ---- deep.c, refusal.c --------------------------------------------------------------------- */

/* @view has the left and the right frame, which may be one. One that has more than 8 bits a sample becomes a frame of GRAY8 of the
 * same times and metadata; two of GRAY16 are scaled alike. FALSE after an error was posted. */
gboolean gst_stereo_deep_convert (GstStereoAggregator *self, GstStereoFrame *const view[2]);

/* Probe for events of a sink pad: posts an error when caps come that it does not take. The error names the format, and what to put
 * before the pad. */
GstPadProbeReturn gst_stereo_refusal_probe (GstPad *pad, GstPadProbeInfo *info, gpointer data);
/* GstAggregatorClass.sink_query. The same error, where the caps that a pad takes leave a source that runs no choice. */
gboolean gst_stereo_sink_query (GstAggregator *aggregator, GstAggregatorPad *pad, GstQuery *query);

G_END_DECLS

#endif
