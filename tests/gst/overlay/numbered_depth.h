/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Depth whose number can be read from the picture that depthoverlay makes of it: which one was shown with a frame. */
#ifndef NUMBERED_DEPTH_H
#define NUMBERED_DEPTH_H

#include "tests/support/gst/overlay.h"

#define WIDTH 16
#define HEIGHT 8
/* The picture is the depth's number, or LIVE where none is shown. */
#define NUMBERED \
  "text=false legend=false alpha=1 colormap=gray scale=linear near=1 far=25400 message-interval=0 max-lag=1000 "
#define LIVE 7
#define NO_DEPTH -1

/* Both pads, which take GRAY8 and depth of WIDTH x HEIGHT. @properties follow NUMBERED. */
Overlay *new_overlay (const gchar *properties);
void push_live (Overlay *overlay, GstClockTime pts);
/* @number: 1 to 200 */
void push_depth (Overlay *overlay, gint number, GstClockTime pts);
/* The number that the picture shows, or NO_DEPTH. */
gint number_in (GstBuffer *buffer);
/* Pulls a frame, whose timestamp and number have to be these. */
void expect_frame (Overlay *overlay, GstClockTime pts, gint number);

#endif
