/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/ground/objects/cells.h"

#include <math.h>
#include <string.h>

#define LINEAR 33 /* levels of a pixel each; above them, levels of 3 % */
#define PART 0.03
#define OPEN (GST_STEREO_GROUND_NO_OBJECT - 1) /* a filled cell that is of no object yet */

typedef struct
{
  gint count;
  guint8 of[GST_STEREO_GROUND_LARGEST]; /* of each whole disparity */
  gdouble middle[GST_STEREO_GROUND_MOST_LEVELS];
} Levels;

static const Levels *
levels (void)
{
  static gsize once = 0;
  static Levels made;

  if (g_once_init_enter (&once)) {
    gint last = 0, first = 0;

    for (gint d = 0; d < GST_STEREO_GROUND_LARGEST; d++) {
      gint level = d < LINEAR ? d : LINEAR + (gint) (log ((gdouble) d / LINEAR) / log (1 + PART));

      if (level > last) {
        last++; /* no level is left out */
        first = d;
      }
      made.of[d] = (guint8) last;
      made.middle[last] = (first + d + 1) / 2.0;
    }
    made.count = last + 1;
    g_once_init_leave (&once, 1);
  }
  return &made;
}

gint
gst_stereo_ground_level_count (void)
{
  return levels ()->count;
}

const guint8 *
gst_stereo_ground_levels (void)
{
  return levels ()->of;
}

gint
gst_stereo_ground_level (gdouble disparity)
{
  return gst_stereo_ground_level_in (levels ()->of, (gfloat) MAX (0, disparity));
}

gdouble
gst_stereo_ground_level_disparity (gint level)
{
  return levels ()->middle[level];
}

void
gst_stereo_ground_cells_clear (GstStereoGroundCells *cells)
{
  g_free (cells->all);
  g_free (cells->objects);
  g_free (cells->queue);
  memset (cells, 0, sizeof *cells);
}

void
gst_stereo_ground_cells_start (GstStereoGroundCells *cells, gint columns)
{
  cells->columns = (columns + GST_STEREO_GROUND_BIN - 1) / GST_STEREO_GROUND_BIN;
  cells->levels = gst_stereo_ground_level_count ();
  gsize all = (gsize) cells->columns * (gsize) cells->levels;
  if (all > cells->room) {
    cells->all = g_renew (GstStereoGroundCell, cells->all, all);
    cells->objects = g_renew (guint32, cells->objects, all);
    cells->queue = g_renew (guint32, cells->queue, all);
    cells->room = all;
  }
  memset (cells->all, 0, all * sizeof *cells->all);
  cells->count = 0;
}

/* ---- connected cells --------------------------------------------------------------------- */

static gboolean
is_filled (const GstStereoGroundCells *cells, gint column, gint level, const GstStereoGroundRule *rule)
{
  const GstStereoGroundCell *one = cells->all + (gsize) column * (gsize) cells->levels;
  gint low = MAX (0, level - 1), high = MIN (cells->levels - 1, level + 1);
  guint standing = 0, tall = 0;

  if (one[level].standing == 0)
    return FALSE;
  for (gint at = low; at <= high; at++)
    standing += one[at].standing;
  if (standing < rule->needed)
    return FALSE;
  for (gint beside = MAX (0, column - GST_STEREO_GROUND_GAP);
       beside <= MIN (cells->columns - 1, column + GST_STEREO_GROUND_GAP); beside++)
    for (gint at = low; at <= high; at++)
      tall += cells->all[(gsize) beside * (gsize) cells->levels + (gsize) at].tall;
  return tall >= rule->tall;
}

/* Gives the open neighbours of @cell to @object, down to the level @farthest. Returns the new length of the queue. */
static guint
spread (GstStereoGroundCells *cells, guint32 cell, guint32 object, gint farthest, guint length)
{
  gint column = (gint) cell / cells->levels, level = (gint) cell % cells->levels;

  for (gint beside = MAX (0, column - GST_STEREO_GROUND_GAP);
       beside <= MIN (cells->columns - 1, column + GST_STEREO_GROUND_GAP); beside++)
    for (gint at = MAX (farthest, level - 1); at <= MIN (cells->levels - 1, level + 1); at++) {
      guint32 other = (guint32) (beside * cells->levels + at);

      if (cells->objects[other] != OPEN)
        continue;
      cells->objects[other] = object;
      cells->queue[length++] = other;
    }
  return length;
}

static void
grow (GstStereoGroundCells *cells, guint32 first, gint farthest)
{
  guint length = 1;

  cells->objects[first] = cells->count;
  cells->queue[0] = first;
  for (guint i = 0; i < length; i++)
    length = spread (cells, cells->queue[i], cells->count, farthest, length);
  cells->count++;
}

void
gst_stereo_ground_cells_connect (GstStereoGroundCells *cells, const GstStereoGroundRule *rules)
{
  for (gint column = 0; column < cells->columns; column++)
    for (gint level = 0; level < cells->levels; level++)
      cells->objects[column * cells->levels + level] = is_filled (cells, column, level, &rules[level]) ?
          OPEN :
          GST_STEREO_GROUND_NO_OBJECT;
  cells->count = 0;
  for (gint level = cells->levels - 1; level >= 0; level--)
    for (gint column = 0; column < cells->columns; column++) {
      guint32 cell = (guint32) (column * cells->levels + level);

      if (cells->objects[cell] == OPEN)
        grow (cells, cell, rules[level].farthest);
    }
}
