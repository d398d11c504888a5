/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef GST_STEREO_HEALTH_PUBLIC_H
#define GST_STEREO_HEALTH_PUBLIC_H

/**
 * SECTION:gststereohealth
 * @title: GstStereoHealthFlags
 * @short_description: what is wrong with the views that a depth picture was made from
 *
 * stereomatch looks for what is wrong with its input. What it found stands in #GstStereoMeta.health of each frame, in the
 * element messages `stereo-health`, and in the field `health` of its `stats`. gst_stereo_health_kind() is the table behind
 * all three.
 */

#include <gst/gst.h>

G_BEGIN_DECLS

#ifndef GST_STEREO_API
#ifdef BUILDING_GST_STEREO
#define GST_STEREO_API GST_API_EXPORT
#else
#define GST_STEREO_API GST_API_IMPORT
#endif
#endif

/**
 * GstStereoHealthFlags:
 * @GST_STEREO_HEALTH_OK: nothing is known to be wrong
 * @GST_STEREO_HEALTH_FROZEN_LEFT: the left view, or a large part of it, does not change while the right one does. Both
 *     flags together: no pixel of either view changes
 * @GST_STEREO_HEALTH_FROZEN_RIGHT: likewise the right view
 * @GST_STEREO_HEALTH_COVERED_LEFT: something without texture lies before the left lens
 * @GST_STEREO_HEALTH_COVERED_RIGHT: likewise the right lens
 * @GST_STEREO_HEALTH_BLACK_LEFT: no light reaches the left sensor
 * @GST_STEREO_HEALTH_BLACK_RIGHT: likewise the right sensor
 * @GST_STEREO_HEALTH_BLOWN_OUT_LEFT: most of the left view is white
 * @GST_STEREO_HEALTH_BLOWN_OUT_RIGHT: likewise the right view
 * @GST_STEREO_HEALTH_DARK_LEFT: the left view is much darker than the right one
 * @GST_STEREO_HEALTH_DARK_RIGHT: likewise the right view
 * @GST_STEREO_HEALTH_BLURRED_LEFT: the left view is much less sharp than the right one, or than it was
 * @GST_STEREO_HEALTH_BLURRED_RIGHT: likewise the right view
 * @GST_STEREO_HEALTH_SWAPPED: the left view looks like the right one, and the right one like the left
 * @GST_STEREO_HEALTH_SAME_VIEW: both views show the picture of one camera
 * @GST_STEREO_HEALTH_OUT_OF_STEP: the two views were not taken at the same moment
 * @GST_STEREO_HEALTH_ROWS: the rows of the two views do not fit: the views are not rectified, or no longer. Not set while
 *     `stereomatch align=auto` takes it out
 * @GST_STEREO_HEALTH_MISMATCH: much less of the two views matches than should, or than did
 * @GST_STEREO_HEALTH_RANGE: something is as near as the end of the search range, or nearer
 * @GST_STEREO_HEALTH_SLOW: pairs come faster than they are computed. The depth that comes can be relied on
 * @GST_STEREO_HEALTH_FOCAL: the two views have different scales
 * @GST_STEREO_HEALTH_STILL_PATTERN: something on both lenses, or between them and the scene, is taken for the scene
 * @GST_STEREO_HEALTH_DRIFT: the timestamps of the two views drift apart. The depth that comes can be relied on
 * @GST_STEREO_HEALTH_STILL: no pixel of either view has ever changed: a still picture, or cameras that were frozen from
 *     the start. There is no message of it
 * @GST_STEREO_HEALTH_SHIFTED: something lies farther away than infinity: the views are shifted sideways, because a camera has
 *     turned, or because principal points differ and #GstStereoMeta.principal_offset does not say so
 * @GST_STEREO_HEALTH_BLANK: neither view shows more than noise: covers on both lenses, or a wall without texture. There is no
 *     message of it
 * @GST_STEREO_HEALTH_SILENT_LEFT: no frame of the left camera comes
 * @GST_STEREO_HEALTH_SILENT_RIGHT: likewise the right camera
 * @GST_STEREO_HEALTH_BEHIND: the frames come later and later after their timestamps. The depth that comes is right, and old
 *
 * What is wrong with the input of a frame. A flag that concerns one view says which.
 */
typedef enum
{
  GST_STEREO_HEALTH_OK = 0,
  GST_STEREO_HEALTH_FROZEN_LEFT = 1 << 0,
  GST_STEREO_HEALTH_FROZEN_RIGHT = 1 << 1,
  GST_STEREO_HEALTH_COVERED_LEFT = 1 << 2,
  GST_STEREO_HEALTH_COVERED_RIGHT = 1 << 3,
  GST_STEREO_HEALTH_BLACK_LEFT = 1 << 4,
  GST_STEREO_HEALTH_BLACK_RIGHT = 1 << 5,
  GST_STEREO_HEALTH_BLOWN_OUT_LEFT = 1 << 6,
  GST_STEREO_HEALTH_BLOWN_OUT_RIGHT = 1 << 7,
  GST_STEREO_HEALTH_DARK_LEFT = 1 << 8,
  GST_STEREO_HEALTH_DARK_RIGHT = 1 << 9,
  GST_STEREO_HEALTH_BLURRED_LEFT = 1 << 10,
  GST_STEREO_HEALTH_BLURRED_RIGHT = 1 << 11,
  GST_STEREO_HEALTH_SWAPPED = 1 << 12,
  GST_STEREO_HEALTH_SAME_VIEW = 1 << 13,
  GST_STEREO_HEALTH_OUT_OF_STEP = 1 << 14,
  GST_STEREO_HEALTH_ROWS = 1 << 15,
  GST_STEREO_HEALTH_MISMATCH = 1 << 16,
  GST_STEREO_HEALTH_RANGE = 1 << 17,
  GST_STEREO_HEALTH_SLOW = 1 << 18,
  GST_STEREO_HEALTH_FOCAL = 1 << 19,
  GST_STEREO_HEALTH_STILL_PATTERN = 1 << 20,
  GST_STEREO_HEALTH_DRIFT = 1 << 21,
  GST_STEREO_HEALTH_STILL = 1 << 22,
  GST_STEREO_HEALTH_SHIFTED = 1 << 23,
  GST_STEREO_HEALTH_BLANK = 1 << 24,
  GST_STEREO_HEALTH_SILENT_LEFT = 1 << 25,
  GST_STEREO_HEALTH_SILENT_RIGHT = 1 << 26,
  GST_STEREO_HEALTH_BEHIND = 1 << 27
} GstStereoHealthFlags;

/**
 * gst_stereo_health_flags_get_type: (skip)
 *
 * Returns: the #GType of #GstStereoHealthFlags
 */
#define GST_TYPE_STEREO_HEALTH_FLAGS (gst_stereo_health_flags_get_type ())
GST_STEREO_API
GType gst_stereo_health_flags_get_type (void);

/**
 * GstStereoHealthKind: (skip)
 * @nick: its name in `stereo-health` and in `stats`: "frozen"
 * @left: the flag where it concerns the left view
 * @right: the flag where it concerns the right view; the same as @left where it concerns the pair
 * @unreliable: depth cannot be relied on while it lasts
 * @hold: for how long it has to be seen before it counts, in nanoseconds of stream time
 * @words: what people are told, where it concerns the pair; else what follows "left camera", "right camera" or "both
 *     cameras"
 * @recognised: how it is recognised, a sentence without its full stop
 * @advice: what helps, in whole sentences; empty where no message says it
 *
 * A row of the table of all that can be wrong. The strings are static.
 */
typedef struct
{
  const gchar *nick;
  GstStereoHealthFlags left;
  GstStereoHealthFlags right;
  gboolean unreliable;
  GstClockTime hold;
  const gchar *words;
  const gchar *recognised;
  const gchar *advice;
} GstStereoHealthKind;

/**
 * gst_stereo_health_kind: (skip)
 * @index: from 0
 *
 * Returns: (nullable): row @index of the table; %NULL behind the last one
 */
GST_STEREO_API
const GstStereoHealthKind *gst_stereo_health_kind (guint index);

/**
 * gst_stereo_health_is_reliable:
 * @flags: what is wrong with a pair
 *
 * Returns: whether depth from that pair can be relied on. %FALSE also for flags that this version does not know
 */
GST_STEREO_API
gboolean gst_stereo_health_is_reliable (GstStereoHealthFlags flags);

/**
 * gst_stereo_health_get_reason:
 * @flags: what is wrong with a pair
 *
 * Returns: (transfer full) (nullable): in words, why depth cannot be relied on: "right camera frozen", or several of that
 *     kind with commas between them, the one first that explains most. %NULL where it can be relied on
 */
GST_STEREO_API
gchar *gst_stereo_health_get_reason (GstStereoHealthFlags flags);

/**
 * gst_stereo_health_to_string:
 * @flags: what is wrong with a pair
 *
 * Returns: (transfer full): the names of all that is wrong, as `stats` of stereomatch has them: "frozen-right, range";
 *     "ok" where nothing is
 */
GST_STEREO_API
gchar *gst_stereo_health_to_string (GstStereoHealthFlags flags);

G_END_DECLS

#endif
