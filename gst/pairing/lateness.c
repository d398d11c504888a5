/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/pairing/lateness.h"

#define MS G_GINT64_CONSTANT (1000000)
#define PERIOD (8000 * MS)
#define STALL 4                 /* in units of `allowed` */
#define PATIENCE (500 * MS)     /* with nothing but late pairs */
#define LONGEST (1000 * MS)     /* without a pair */
#define MOST_EXCESS (5000 * MS) /* a larger excess means that the timestamps are not of the pipeline's clock */

/* How long a pair may wait for its turn. Frames come unevenly: at high rates, half a frame is too short. */
static gint64
slack (const GstStereoLateness *self)
{
  return self->frame ? MAX (self->frame / 2, 2 * MS) : 20 * MS;
}

static gint64
and_an_eighth (gint64 time)
{
  return time + time / 8;
}

void
gst_stereo_lateness_init (GstStereoLateness *self)
{
  *self = (GstStereoLateness){ .since = G_MAXINT64, .soonest = G_MAXINT64, .late_since = G_MAXINT64 };
}

void
gst_stereo_lateness_set_frame (GstStereoLateness *self, gint64 frame)
{
  self->frame = frame;
  self->allowed = self->expected ? MAX (frame, self->expected + slack (self)) : frame;
}

void
gst_stereo_lateness_flush (GstStereoLateness *self)
{
  self->excess = 0;
  self->soonest = self->late_since = G_MAXINT64;
}

gint64
gst_stereo_lateness_latency (const GstStereoLateness *self)
{
  return self->allowed + (self->excess <= MOST_EXCESS ? self->excess : 0);
}

static gint64
most_waited (const GstStereoLateness *self, gint64 spare)
{
  return MAX (slack (self), self->allowed + spare - MAX (self->expected, self->allowed / 4));
}

gint64
gst_stereo_lateness_decide (GstStereoLateness *self, gint64 now, gint64 waited, gint64 spare)
{
  /* before the first pair, and when the clock is set back */
  self->since = MIN (self->since, now);
  if (now - self->since >= PERIOD && self->slowest) {
    /* what would have been enough in the period that is over? */
    gint64 allowed = MAX (self->frame, and_an_eighth (self->slowest) + slack (self));
    if (allowed <= self->allowed / 4 * 3)
      self->allowed = allowed;
    if (self->excess && self->soonest < -self->excess / 4)
      self->excess = MAX (0, self->excess + self->soonest);
    self->since = now;
    self->slowest = 0;
    self->soonest = G_MAXINT64;
    self->stalled = FALSE;
  }
  waited -= self->excess;
  self->soonest = MIN (self->soonest, waited);
  gint64 late = self->expected ? MAX (0, waited - most_waited (self, spare)) : 0;
  if (late && gst_stereo_lateness_is_patience_over (self, now)) {
    /* even a pair that has just come is late: waiting for an earlier one would never end */
    self->excess += waited;
    self->soonest = late = 0;
  }
  return late;
}

gboolean
gst_stereo_lateness_is_patience_over (GstStereoLateness *self, gint64 now)
{
  self->late_since = MIN (self->late_since, now);
  return now - self->late_since >= CLAMP (4 * self->frame, PATIENCE, LONGEST);
}

void
gst_stereo_lateness_took (GstStereoLateness *self, gint64 waited, gint64 spare, gint64 service)
{
  /* In overload a wait adds up with a slow pair; but for one that was computed though it was late, as the first one or without QoS. */
  gboolean adds_up = self->expected > self->frame && waited - self->excess <= most_waited (self, spare);

  self->late_since = G_MAXINT64;
  if (self->expected && service > STALL * self->allowed && !self->stalled) {
    self->stalled = TRUE;
    return;
  }
  self->expected = MAX (and_an_eighth (service), self->expected - self->expected / GST_STEREO_LATENESS_RECENT);
  self->slowest = MAX (self->slowest, service);
  if (service + slack (self) > self->allowed)
    self->allowed = and_an_eighth (service) + slack (self);
  if (adds_up)
    self->allowed = MAX (self->allowed, waited - self->excess + service - spare);
}
