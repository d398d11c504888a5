/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The stereorectify element. One object, three files (and those of its base class, gststereoaggregator.h):
 *   gststereorectify.c         properties, start and stop
 *   gststereorectify-maps.c    from a calibration and the frames' formats to what the engine does with a frame
 *   gststereorectify-output.c  caps, and a pair becomes an output buffer with its metadata
 */
#ifndef GST_STEREO_RECTIFY_H
#define GST_STEREO_RECTIFY_H

#include "gst/pairing/aggregator.h"
#include "stereo/rectify.h"
#include "stereo/remap.h"

G_BEGIN_DECLS

GST_DEBUG_CATEGORY_EXTERN (gst_stereo_rectify_debug);

#define GST_TYPE_STEREO_RECTIFY (gst_stereo_rectify_get_type ())
G_DECLARE_FINAL_TYPE (GstStereoRectify, gst_stereo_rectify, GST, STEREO_RECTIFY, GstStereoAggregator)
GST_ELEMENT_REGISTER_DECLARE (stereorectify);

/* As set. */
typedef struct
{
  gchar *calibration;
  gdouble alpha, unit;
  gint width, height;
  StereoParams params; /* backend, cuda_device_id and threads of them */
} GstStereoRectifySettings;

/* What a remap was made for; compared as a whole. */
typedef struct
{
  guint serial;       /* of the settings */
  gint width, height; /* of a raw view */
  GstStereoPacking packing;
  GstVideoFormat left, right, out;
  GstVideoChromaSite site;
  gboolean full_range; /* black is 0 */
} GstStereoRectifyKey;

struct _GstStereoRectify
{
  GstStereoAggregator parent;

  /* protected by the object lock */
  GstStereoRectifySettings pending; /* as set; becomes settings when a batch of properties is complete */
  GstStereoRectifySettings settings;
  guint serial;                                     /* of settings */
  const gchar *backend;                             /* of the last remap; NULL before the first */
  gdouble focal_length, baseline, principal_offset; /* of the last rectification; 0 before the first */

  /* of the source pad's task */
  StereoCalibration calibration; /* as loaded for loaded_serial; 0 = none */
  guint loaded_serial;
  StereoRectification rectification; /* for rectified_key: serial, width and height of it */
  GstStereoRectifyKey rectified_key;
  StereoRemap *remap;
  GstStereoRectifyKey key; /* of the remap */
  gint chosen_backend;     /* what auto chose; STEREO_BACKEND_AUTO before that */
  GstStereoLayout layout;  /* of the pair at hand: its raw views */
  GstVideoInfo input;      /* of its left view: colours */
  gboolean negotiated;     /* the source pad has caps */
  GstVideoInfo out_info;
  gint out_par_n, out_par_d;
};

/* gststereorectify-maps.c: loads the calibration that is set now, if it is not loaded yet. FALSE after an error was
 * posted. */
gboolean gst_stereo_rectify_load (GstStereoRectify *self);
/* The rectification of views of this size. */
GstFlowReturn gst_stereo_rectify_compute (GstStereoRectify *self, const GstStereoLayout *layout);
/* The remap for such a pair; the source pad has its caps. */
GstFlowReturn gst_stereo_rectify_ensure_remap (
    GstStereoRectify *self, const GstStereoFrame *left, const GstStereoFrame *right);
/* Left planes, then right ones. */
void gst_stereo_rectify_planes (GstStereoRectify *self, const GstStereoLayout *layout, const GstVideoFrame *first,
    const GstVideoFrame *second, const GstVideoFrame *out, StereoRemapSource *sources, StereoRemapTarget *targets);
void gst_stereo_rectify_drop_remap (GstStereoRectify *self);
/* The engine's words on the bus; gives the flow that goes with them. */
GstFlowReturn gst_stereo_rectify_post_error (GstStereoRectify *self, const StereoError *error);

/* gststereorectify-output.c */
GstFlowReturn gst_stereo_rectify_process (GstStereoAggregator *base, GstStereoFrame *first, GstStereoFrame *second);
GstFlowReturn gst_stereo_rectify_update_src_caps (GstAggregator *aggregator, GstCaps *caps, GstCaps **result);
gboolean gst_stereo_rectify_negotiated_src_caps (GstAggregator *aggregator, GstCaps *caps);
gboolean gst_stereo_rectify_decide_allocation (GstAggregator *aggregator, GstQuery *query);

G_END_DECLS

#endif
