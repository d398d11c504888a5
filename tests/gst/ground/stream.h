/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A stream of made pictures through stereoground. */
#ifndef GROUND_STREAM_H
#define GROUND_STREAM_H

#include <gst/check/gstharness.h>
#include <gst/video/video.h>

#include "tests/gst/ground/made.h"
#include "tests/support/random.h"

typedef struct GroundStream
{
  GstHarness *harness;
  GstBus *bus;
  MadeScene scene;
  MadePicture *picture;
  gint width, height; /* of the stream */
  GstClockTime next;
} GroundStream;

/* A road with one box, of an odd size, spoilt by @random. @properties: "name=value ..." */
GroundStream ground_stream_new (const gchar *properties, GstStereoOutputKind kind, Random *random);
void ground_stream_free (GroundStream *stream);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (GroundStream, ground_stream_free)
/* Format of the samples of @kind. */
GstVideoFormat ground_stream_format (GstStereoOutputKind kind);
void ground_stream_set_caps (GroundStream *stream, GstVideoFormat format, gint width, gint height);
/* The picture as a buffer with metadata, rows padded by @padding bytes. */
GstBuffer *ground_stream_matched (GroundStream *stream, GstStereoOutputKind kind, gint padding);
/* Pushes it, and returns what comes out. */
GstBuffer *ground_stream_pass (GroundStream *stream, GstBuffer *buffer);
/* The next message about a frame; gst_structure_free() it. NULL: there is none. */
GstStructure *ground_stream_message (GroundStream *stream);
/* How many regions of interest @buffer has. */
guint ground_stream_regions (GstBuffer *buffer);
/* Whether the metadata of @out has a ground. */
gboolean ground_stream_has (GstBuffer *out);
/* Its free distances, of which there are @count. */
gdouble ground_stream_column (GstBuffer *out, guint column, guint count);
/* The metadata of @out has the ground of @scene. */
void ground_stream_check (GstBuffer *out, const MadeScene *scene);

#endif
