/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the tests of device memory share: stereomatch behind elements that upload frames, and its output for random
 * frames.
 */
#ifndef ELEMENTS_DEVICE_H
#define ELEMENTS_DEVICE_H

#include "tests/support/gst/util.h"

#define DEVICE_FEATURE "memory:CUDAMemory"
#define ON_DEVICE "video/x-raw(" DEVICE_FEATURE ")"

/* Why the CUDA backend cannot be tested here; NULL: it can. */
const gchar *device_missing (void);
/* Why device memory cannot be tested here; NULL: it can. */
const gchar *cuda_missing (void);
/* For SUITE_IF(), with one of these reasons: says it. Tests of a device run in one process: a child process cannot use a device that
 * its parent has looked at. */
gboolean device_is_there (const gchar *missing);

/* A bin of stereomatch and of what stands before each of its pads. */
typedef struct
{
  GstElement *bin, *matcher;
  GstHarness *left, *right; /* right is NULL for packed frames */
  GstBus *bus;
} Line;

/* @left, @right: factories, "identity" for none; @right NULL: packed frames on sink. */
void line_new (Line *line, const gchar *left, const gchar *right, const gchar *properties);
void line_free (Line *line);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Line, line_free)
/* Whether frames came to that pad in device memory. */
gboolean line_on_device (Line *line, const gchar *pad);
/* Whether the plan at work lives in the context of the frames. */
gboolean line_shares_context (Line *line);

/* Disparity and confidence of so many pairs of random frames; g_byte_array_unref. */
GByteArray *line_run (Line *line, GstVideoFormat format, gint width, gint height, guint seed, guint pairs);
/* Appends what @buffer holds, of those sizes, and unrefs it. */
void append_output (GByteArray *bytes, GstHarness *harness, GstBuffer *buffer);
void check_equal (GByteArray *bytes, GByteArray *expected, const gchar *what);

#endif
