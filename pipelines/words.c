/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "words.h"

#include <math.h>

static void
say_ahead (const GstStructure *ahead)
{
  const char *reason = gst_structure_get_string (ahead, "reason");
  double depth = NAN, valid = 0, confidence = 0;

  if (reason) {
    g_print ("depth: not to be relied on: %s\n", reason);
    return;
  }
  gst_structure_get (ahead, "depth", G_TYPE_DOUBLE, &depth, "valid-ratio", G_TYPE_DOUBLE, &valid, "confidence",
      G_TYPE_DOUBLE, &confidence, NULL);
  g_print ("depth: %.1f %% of the pixels, mean confidence %.3f, ", 100 * valid, confidence);
  if (isfinite (depth))
    g_print ("%.0f mm ahead\n", depth);
  else if (isinf (depth))
    g_print ("farther ahead than can be told\n");
  else
    g_print ("none known ahead\n");
}

/* What a vehicle goes by. Unknown is not clear: something may be near that the cameras do not see. */
static void
say_state (const GstStructure *nearest)
{
  const char *state = gst_structure_get_string (nearest, "state");
  const char *reason = gst_structure_get_string (nearest, "reason");
  gboolean warning = FALSE;

  gst_structure_get_boolean (nearest, "warning", &warning);
  if (warning)
    g_print (" WARNING\n");
  else if (g_strcmp0 (state, "clear") == 0)
    g_print (", clear\n");
  else if (g_strcmp0 (state, "near") == 0)
    g_print ("\n"); /* there is no distance to warn below */
  else
    g_print (", UNKNOWN: %s\n", reason ? reason : "nobody says why");
}

static void
say_nearest (const GstStructure *nearest)
{
  double distance = 0, disparity = 0, confidence = 0;
  gboolean valid = FALSE;
  int x = 0, y = 0;

  gst_structure_get (nearest, "valid", G_TYPE_BOOLEAN, &valid, NULL);
  if (!valid) {
    g_print ("nearest: nothing to be seen");
    say_state (nearest);
    return;
  }
  gst_structure_get (nearest, "x", G_TYPE_INT, &x, "y", G_TYPE_INT, &y, "confidence", G_TYPE_DOUBLE, &confidence, NULL);
  if (gst_structure_get_double (nearest, "distance", &distance))
    g_print ("nearest: %.0f mm", distance);
  else if (gst_structure_get_double (nearest, "disparity", &disparity))
    g_print ("nearest: %.1f px (set focal-length and baseline for mm)", disparity);
  g_print (" at %d,%d, confidence %.2f", x, y, confidence);
  say_state (nearest);
}

static double
number_of (const GstStructure *structure, const char *name)
{
  double number = NAN;

  gst_structure_get_double (structure, name, &number);
  return number;
}

static void
say_obstacle (const GstStructure *obstacle)
{
  double lateral = number_of (obstacle, "lateral");
  int id = 0;

  gst_structure_get_int (obstacle, "id", &id);
  g_print ("obstacle %d: %.0f mm, %.0f mm to the %s, %.0f x %.0f mm, probability %.2f\n", id,
      number_of (obstacle, "distance"), fabs (lateral), lateral < 0 ? "left" : "right",
      number_of (obstacle, "object-width"), number_of (obstacle, "object-height"), number_of (obstacle, "probability"));
}

/* How far the ground is free in the middle of the picture; NAN: not known. */
static double
free_ahead (const GstStructure *obstacles)
{
  const GValue *distances = gst_structure_get_value (obstacles, "free");
  guint count = distances && GST_VALUE_HOLDS_ARRAY (distances) ? gst_value_array_get_size (distances) : 0;
  double distance = count ? g_value_get_double (gst_value_array_get_value (distances, count / 2)) : -1;

  return distance < 0 ? NAN : distance;
}

static void
say_obstacles (const GstStructure *obstacles)
{
  const GValue *list = gst_structure_get_value (obstacles, "obstacles");
  guint count = list && GST_VALUE_HOLDS_ARRAY (list) ? gst_value_array_get_size (list) : 0;
  double ahead = free_ahead (obstacles);
  const char *reason = gst_structure_get_string (obstacles, "reason");
  gboolean ground = FALSE;

  gst_structure_get_boolean (obstacles, "ground", &ground);
  if (!ground) {
    g_print ("ground: NONE, so no obstacle can be told: %s\n", reason ? reason : "nobody says why");
    return;
  }
  g_print ("ground: camera %.0f mm high, pitch %.1f, roll %.1f degrees; ", number_of (obstacles, "camera-height"),
      number_of (obstacles, "pitch"), number_of (obstacles, "roll"));
  if (isnan (ahead))
    g_print ("UNKNOWN whether it is free ahead\n");
  else
    g_print ("free for %.0f mm ahead\n", ahead);
  for (guint i = 0; i < count; i++)
    say_obstacle (gst_value_get_structure (gst_value_array_get_value (list, i)));
}

static void
say_health (const GstStructure *health)
{
  const char *text = gst_structure_get_string (health, "text");
  gboolean active = FALSE;

  gst_structure_get_boolean (health, "active", &active);
  g_print ("camera: %s%s\n", active ? "" : "over: ", text ? text : "");
}

/* ---- all of them --------------------------------------------------------------------------- */

static const struct
{
  const char *name;
  void (*say) (const GstStructure *message);
} messages[] = { { "stereo-nearest", say_nearest }, { "stereo-obstacles", say_obstacles },
  { "stereo-health", say_health }, { "ahead", say_ahead } };

gboolean
words_know (const GstStructure *message)
{
  for (guint i = 0; i < G_N_ELEMENTS (messages); i++)
    if (gst_structure_has_name (message, messages[i].name))
      return TRUE;
  return FALSE;
}

void
words_say (const GstStructure *message)
{
  for (guint i = 0; i < G_N_ELEMENTS (messages); i++)
    if (gst_structure_has_name (message, messages[i].name))
      messages[i].say (message);
}
