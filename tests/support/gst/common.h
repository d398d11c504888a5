/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the tests of every element share: elements and their properties, messages, ends of streams. */
#ifndef ELEMENTS_COMMON_H
#define ELEMENTS_COMMON_H

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>

/* How long a test waits for what has to come. Only a hang takes so long, however busy the machine is. */
#define PATIENCE (600 * GST_SECOND)

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstHarness, gst_harness_teardown)

/* "key=value key=value" */
void set_properties (GstElement *element, const gchar *properties);
/* Whether a property is of this project and can be set: not one of GStreamer's base classes. */
gboolean is_own_property (GParamSpec *spec);

/* An element with @properties, whose messages are on @bus. */
GstElement *element_new (const gchar *factory, const gchar *properties, GstBus **bus);
/* Frees the bus and a reference to the element. */
void element_free (GstElement *element, GstBus *bus);
/* A harness with the pads "sink" and "src" of such an element. */
GstHarness *filter_new (const gchar *factory, const gchar *properties, GstBus **bus);
void filter_free (GstHarness *harness, GstBus *bus);
/* The pipeline of a line, which is written like a format of printf(). */
GstElement *launch (const gchar *format, ...) G_GNUC_PRINTF (1, 2);
/* A harness whose upstream is @live or not before the element's thread can ask: it asks once. */
GstHarness *harness_new (GstElement *element, const gchar *sink, const gchar *src, gboolean live);

/* The text of an error or a warning, NULL of any other message; g_free. */
gchar *message_text (GstMessage *message);
/* Fails when the text of an error or a warning lacks one of @words, which end with NULL. */
void check_words (GstMessage *message, const gchar *const *words);
/* The words that a function with a variable number of arguments was called with. */
#define MOST_WORDS 8
void take_words (const gchar *words[MOST_WORDS], va_list args);

/* Waits for a message of @type from one of our elements; fails when its text has not all of the words. Unref it. */
GstMessage *expect_message (GstBus *bus, GstMessageType type, const gchar *const *words);
void expect_words (GstBus *bus, GstMessageType type, ...) G_GNUC_NULL_TERMINATED;
#define expect_error(bus, ...) expect_words (bus, GST_MESSAGE_ERROR, __VA_ARGS__)
#define expect_warning(bus, ...) expect_words (bus, GST_MESSAGE_WARNING, __VA_ARGS__)
void expect_no_message (GstBus *bus, GstMessageType type);
/* Waits for a message of @type from any element; fails when an error comes before it. */
void wait_for_message (GstBus *bus, GstMessageType type);
/* The structures of all messages @name until the stream ends; fails when an error comes before. */
GPtrArray *messages_to_end (GstBus *bus, const gchar *name);

/* What stereonearest or stereoground found: the structure of the custom meta @name of @buffer, or NULL. */
GstStructure *found_of (GstBuffer *buffer, const gchar *name);
/* The value of a field; not-a-number where there is none. */
gdouble found_number (const GstStructure *structure, const gchar *field);
/* Fails when @buffer is NULL or has another timestamp. */
void check_time (GstBuffer *buffer, GstClockTime pts);
/* Whether both have the same bytes. */
gboolean buffers_equal (GstBuffer *a, GstBuffer *b);
/* Waits for an event of @type downstream of @harness; drops those before. Unref it. */
GstEvent *wait_for_event (GstHarness *harness, GstEventType type);
void wait_for_eos (GstHarness *harness);
/* Flushes the stream of @harness, which begins anew at 0. */
void flush_stream (GstHarness *harness);
/* Plays to the end of the stream, or to an error, and sets the state to NULL. Returns the text of the error, or NULL;
 * g_free. */
gchar *play_to_end (GstElement *pipeline);
/* The first sample of the appsink "o" of a pipeline. */
GstSample *first_sample (const gchar *line);

#endif
