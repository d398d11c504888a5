/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:gststereometa
 * @title: GstStereoMeta
 * @short_description: confidence and geometry of a disparity or depth picture
 *
 * stereomatch puts a #GstStereoMeta on every buffer it makes, stereorectify and stereotestsrc on every pair of views.
 *
 * From Python:
 *
 * |[<!-- language="Python" -->
 * gi.require_version ('GstStereo', '1.0')
 * from gi.repository import GstStereo
 * meta = GstStereo.buffer_get_stereo_meta (sample.get_buffer ())
 * confidence = meta.get_confidence_bytes ().get_data ()  # meta.width * meta.height bytes
 * print (meta.valid_ratio, meta.get_depth (value_of_a_pixel), 'mm')
 * ]|
 *
 * In Python a meta is a copy, which lives as long as the program keeps it: a #GstStereoMeta is a boxed type, and bindings
 * copy it. What the program changes in it changes no buffer: gst_buffer_add_stereo_meta_copy() puts it on one.
 *
 * From C: a meta belongs to its buffer and lives as long as the buffer does; gst_stereo_meta_copy() makes one that
 * lives on. Its fields may be read at any time, and
 * written only while the buffer is writable. The functions do not lock: one thread may write at a time, as with every part of a
 * buffer. No function here posts a message or prints, except g_critical() on a %NULL argument that must not be %NULL.
 */
#ifndef GST_STEREO_META_H
#define GST_STEREO_META_H

#include <gst/gst.h>

#include "gststereohealth.h"

G_BEGIN_DECLS

#ifndef GST_STEREO_API
#ifdef BUILDING_GST_STEREO
#define GST_STEREO_API GST_API_EXPORT
#else
#define GST_STEREO_API GST_API_IMPORT
#endif
#endif

/**
 * GstStereoOutputKind:
 * @GST_STEREO_OUTPUT_KIND_DISPARITY: 16-bit samples (GRAY16_LE or GRAY16_BE): disparity in pixels times
 *     #GstStereoMeta.disparity_scale, rounded; 0 = invalid. A valid disparity of 0 is stored as 1
 * @GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE: 8-bit samples (GRAY8) that span the search range:
 *     disparity = min_disparity + (sample - 1) / disparity_scale for samples 1..255; 0 = invalid
 * @GST_STEREO_OUTPUT_KIND_DEPTH: 16-bit samples (GRAY16_LE or GRAY16_BE): depth in steps of #GstStereoMeta.depth_unit;
 *     0 = invalid, 65535 = that far or farther
 * @GST_STEREO_OUTPUT_KIND_VIEWS: the buffer holds the two views, to be matched: its samples are brightness or colour,
 *     neither disparity nor depth. The geometry in the meta is that of the cameras, and @truth belongs to the left view
 *
 * What the samples of a buffer that carries a #GstStereoMeta mean.
 */
typedef enum
{
  GST_STEREO_OUTPUT_KIND_DISPARITY,
  GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE,
  GST_STEREO_OUTPUT_KIND_DEPTH,
  GST_STEREO_OUTPUT_KIND_VIEWS
} GstStereoOutputKind;

/**
 * gst_stereo_output_kind_get_type: (skip)
 *
 * Returns: the #GType of #GstStereoOutputKind
 */
#define GST_TYPE_STEREO_OUTPUT_KIND (gst_stereo_output_kind_get_type ())
GST_STEREO_API
GType gst_stereo_output_kind_get_type (void);

typedef struct _GstStereoMeta GstStereoMeta;

/**
 * GstStereoMeta:
 * @meta: parent
 * @width: width in pixels of @confidence, @truth and @mask, at least 1. It is the width of the disparity or depth picture, and
 *     that of one view where the buffer holds two
 * @height: height in pixels of @confidence, @truth and @mask, at least 1
 * @kind: what the samples of the buffer mean
 * @disparity_scale: steps of a sample per pixel of disparity, above 0; see #GstStereoOutputKind. Initially 1
 * @min_disparity: smallest disparity that was searched, in pixels; may be negative. Initially 0
 * @num_disparities: how many disparities were searched, in pixels: the range is [@min_disparity, @min_disparity +
 *     @num_disparities). For %GST_STEREO_OUTPUT_KIND_VIEWS: how many have to be searched; 0 = unknown
 * @focal_length: horizontal focal length in pixels; 0 = unknown. See @focal_length_y
 * @baseline: distance between the two cameras in millimetres; 0 = unknown
 * @principal_offset: pixels to add to a disparity before it becomes depth: x of the right view's principal point minus
 *     x of the left view's; may be negative. 0 = the two are the same, or unknown
 * @depth_unit: micrometres per step of a depth sample, above 0; 1000 = a step is a millimetre. Initially 1000
 * @pair_skew: timestamp of the right frame minus that of the left frame, in nanoseconds, by the clock that paired them:
 *     their capture timestamps (#GstReferenceTimestampMeta) or the buffers'; 0 also where either frame had no timestamp,
 *     and where one buffer held both views
 * @valid_ratio: share of the pixels that count (see @mask) whose sample is valid, 0..1; 0 for
 *     %GST_STEREO_OUTPUT_KIND_VIEWS
 * @mean_confidence: mean of the confidence over all pixels that count, invalid ones included, 0..1; 0 for
 *     %GST_STEREO_OUTPUT_KIND_VIEWS
 * @confidence: (nullable): a GRAY8 picture of @width x @height with a #GstVideoMeta: 0..255 for a confidence of 0..1;
 *     0 = this pixel has no value. %NULL = there is none, as for
 *     %GST_STEREO_OUTPUT_KIND_VIEWS. Owned by the meta; read only
 * @truth: (nullable): the true disparity of the left view, a GRAY16_LE picture of @width x @height with a
 *     #GstVideoMeta: disparity in pixels times %GST_STEREO_TRUTH_SCALE; 0 = unknown at this pixel. %NULL = not known,
 *     as from real cameras. Owned by the meta; read only
 * @principal_x: x of the left view's principal point, in pixels whose centres have whole numbers: the first column is 0.
 *     0 = unknown; the middle of the picture, (@width - 1) / 2, then stands for it
 * @principal_y: y of the left view's principal point, likewise; 0 = unknown: (@height - 1) / 2
 * @mask: (nullable): a GRAY8 picture of @width x @height: 0 = the pixel is excluded and counts nowhere, as with
 *     `stereomatch mask`; 255 = it counts. Readers take every value but 0 for 255. The sample and the confidence of
 *     an excluded pixel are 0. %NULL = every pixel counts. Owned by the meta, which may share it with other metas; read
 *     only
 * @focal_length_y: vertical focal length in pixels; 0 = @focal_length, as wherever pixels are square
 * @health: all that is known to be wrong with the pair that this picture was made from. Depth can be relied on where
 *     gst_stereo_meta_is_reliable() says so; %GST_STEREO_HEALTH_OK for %GST_STEREO_OUTPUT_KIND_VIEWS
 *
 * What a stereo matcher knows about its picture beyond the samples: the confidence of every pixel, and all that is
 * needed to turn a sample into pixels of disparity or into millimetres. gst_stereo_meta_get_disparity() and
 * gst_stereo_meta_get_depth() do that arithmetic:
 *
 *     depth = focal_length * baseline / (disparity + principal_offset)
 *
 * gst_stereo_meta_get_point() and gst_stereo_meta_get_points() give points in space:
 *
 *     X = (x - principal_x) * depth / focal_length
 *     Y = (y - principal_y) * depth / focal_length_y
 *     Z = depth
 *
 * They are millimetres from the left camera, in the coordinates of its rectified view: X to the right, Y down, Z
 * forward.
 *
 * All lengths in pixels are pixels of the buffer as it is now. When an element such as videoscale changes the width by
 * a factor s, it does not change the values of the samples. The meta then divides @disparity_scale by s, and multiplies
 * @min_disparity, @num_disparities, @focal_length and @principal_offset by s: the same sample still gives the same
 * depth, and its disparity is that of the scaled picture. The principal point stays on its spot of the picture:
 * @principal_x becomes (@principal_x + 0.5) s - 0.5, and @principal_y the same with the factor of the height. Where
 * the two factors differ, @focal_length_y becomes the vertical focal length times the factor of the height. @confidence,
 * @truth and @mask are scaled by the nearest neighbour, and the disparities in @truth are multiplied by s. Use
 * `videoscale method=nearest-neighbour` for the picture too: other methods mix the 0 of invalid pixels into valid ones.
 *
 * The ranges are those of the properties of stereomatch: @width and @height 1 to 65536, @disparity_scale 0.001 to 65535,
 * @min_disparity -1024 to 1024, @num_disparities 0 to 1024, @focal_length, @focal_length_y and @baseline 0 to 1000000,
 * @principal_offset -100000 to 100000, @depth_unit 0.001 to 1000000, @principal_x and @principal_y -1000000 to 1000000,
 * @valid_ratio and @mean_confidence 0 to 1. Elements refuse a meta with another number, with an error that names it, and
 * a meta with a picture that reaches beyond its memory.
 *
 * The meta is copied with its buffer. It is dropped where the picture was cropped, turned or cut, where scaling changed the
 * display aspect ratio (the picture may then have borders), and where scaling gave a number that is outside its range. The
 * meta of two views is also dropped where scaling mixed their rows or columns, or left a frame that cannot be halved.
 */
struct _GstStereoMeta
{
  GstMeta meta;

  guint width;
  guint height;
  GstStereoOutputKind kind;
  gdouble disparity_scale;
  gdouble min_disparity;
  gdouble num_disparities;
  gdouble focal_length;
  gdouble baseline;
  gdouble principal_offset;
  gdouble depth_unit;
  gint64 pair_skew;
  gdouble valid_ratio;
  gdouble mean_confidence;

  GstBuffer *confidence;
  GstBuffer *truth;

  gdouble principal_x;
  gdouble principal_y;

  GstBuffer *mask;

  gdouble focal_length_y;

  GstStereoHealthFlags health;

  /*< private >*/
  /* Nothing is reserved: only the library makes a meta, so more members may follow. */
};

/**
 * GST_STEREO_TRUTH_SCALE:
 *
 * Steps of a sample of #GstStereoMeta.truth per pixel of disparity.
 */
#define GST_STEREO_TRUTH_SCALE 64

/**
 * gst_stereo_meta_get_type: (skip)
 *
 * A boxed type: gst_stereo_meta_copy() and gst_stereo_meta_free().
 *
 * Returns: the #GType of #GstStereoMeta
 */
#define GST_TYPE_STEREO_META (gst_stereo_meta_get_type ())
GST_STEREO_API
GType gst_stereo_meta_get_type (void);

/**
 * gst_stereo_meta_new:
 * @width: width of the matched view in pixels, at least 1
 * @height: height of the matched view in pixels, at least 1
 * @confidence: (transfer none) (nullable): as for gst_buffer_add_stereo_meta()
 *
 * A meta that belongs to no buffer, to be filled in and given to gst_buffer_add_stereo_meta_copy(). From C,
 * gst_buffer_add_stereo_meta() does both at once.
 *
 * Returns: (transfer full): the meta, with the initial values of gst_buffer_add_stereo_meta()
 */
GST_STEREO_API
GstStereoMeta *gst_stereo_meta_new (guint width, guint height, GstBuffer *confidence);

/**
 * gst_stereo_meta_copy:
 * @meta: a #GstStereoMeta
 *
 * Returns: (transfer full): a meta with the values of @meta and references to its pictures, which belongs to no buffer
 */
GST_STEREO_API
GstStereoMeta *gst_stereo_meta_copy (const GstStereoMeta *meta);

/**
 * gst_stereo_meta_free:
 * @meta: (transfer full) (nullable): a meta of gst_stereo_meta_new() or gst_stereo_meta_copy(), never one of a buffer
 */
GST_STEREO_API
void gst_stereo_meta_free (GstStereoMeta *meta);

#define GST_STEREO_META_API_TYPE (gst_stereo_meta_api_get_type ())
/**
 * gst_stereo_meta_api_get_type: (skip)
 *
 * The API is tagged as video, as dependent on its size and on its orientation.
 *
 * Returns: the #GType of the API, for gst_buffer_get_meta() and the like
 */
GST_STEREO_API
GType gst_stereo_meta_api_get_type (void);

#define GST_STEREO_META_INFO (gst_stereo_meta_get_info ())
/**
 * gst_stereo_meta_get_info: (skip)
 *
 * Registers the meta with GStreamer when it is called first. May be called from any thread.
 *
 * Returns: (transfer none): the registered implementation, never %NULL
 */
GST_STEREO_API
const GstMetaInfo *gst_stereo_meta_get_info (void);

/**
 * gst_buffer_add_stereo_meta: (skip)
 * @buffer: a writable #GstBuffer
 * @width: width of the matched view in pixels, at least 1
 * @height: height of the matched view in pixels, at least 1
 * @confidence: (transfer none) (nullable): a GRAY8 picture of that size, with a #GstVideoMeta if its rows are padded
 *     other than GStreamer's default; the meta takes a reference. %NULL = there is none
 *
 * Adds a #GstStereoMeta to @buffer. Its other fields start at 0 (@disparity_scale at 1, @depth_unit at 1000) and may be
 * set directly while @buffer is writable. The size of @confidence is not checked here.
 *
 * Returns: (transfer none): the meta, owned by @buffer
 */
GST_STEREO_API
GstStereoMeta *gst_buffer_add_stereo_meta (GstBuffer *buffer, guint width, guint height, GstBuffer *confidence);

/**
 * gst_buffer_add_stereo_meta_copy:
 * @buffer: a writable #GstBuffer
 * @meta: a #GstStereoMeta, of another buffer or of none
 *
 * Adds a #GstStereoMeta to @buffer that has the values of @meta, and references to its pictures.
 *
 * Returns: (transfer none): the new meta, owned by @buffer. In Python this is a copy, as everywhere
 */
GST_STEREO_API
GstStereoMeta *gst_buffer_add_stereo_meta_copy (GstBuffer *buffer, const GstStereoMeta *meta);

/**
 * gst_buffer_get_stereo_meta:
 * @buffer: a #GstBuffer
 *
 * Returns: (transfer none) (nullable): the first #GstStereoMeta of @buffer, valid as long as @buffer is; %NULL when it
 *     has none. In Python this is a copy
 */
GST_STEREO_API
GstStereoMeta *gst_buffer_get_stereo_meta (GstBuffer *buffer);

/**
 * gst_stereo_meta_get_confidence:
 * @meta: a #GstStereoMeta
 *
 * The rows of the picture may be padded: map it with gst_video_frame_map(), or use
 * gst_stereo_meta_get_confidence_bytes().
 *
 * Returns: (transfer none) (nullable): the confidence, a GRAY8 picture of @meta's width and height, owned by @meta;
 *     %NULL when there is none
 */
GST_STEREO_API
GstBuffer *gst_stereo_meta_get_confidence (const GstStereoMeta *meta);

/**
 * gst_stereo_meta_get_confidence_bytes:
 * @meta: a #GstStereoMeta
 *
 * Returns: (transfer full) (nullable): a copy of the confidence: width * height bytes, row after row without padding,
 *     0..255 for a confidence of 0..1, 0 where there is no value. %NULL when there is none, or when it cannot be
 *     read
 */
GST_STEREO_API
GBytes *gst_stereo_meta_get_confidence_bytes (const GstStereoMeta *meta);

/**
 * gst_stereo_meta_set_truth:
 * @meta: a #GstStereoMeta of a writable buffer
 * @truth: (transfer none) (nullable): a GRAY16_LE picture of @meta's width and height: disparity in pixels times
 *     %GST_STEREO_TRUTH_SCALE, 0 = unknown; the meta takes a reference. %NULL = not known
 *
 * For sources that know the true disparity. Replaces the one that @meta had.
 */
GST_STEREO_API
void gst_stereo_meta_set_truth (GstStereoMeta *meta, GstBuffer *truth);

/**
 * gst_stereo_meta_get_truth:
 * @meta: a #GstStereoMeta
 *
 * The rows of the picture may be padded: map it with gst_video_frame_map(), or use gst_stereo_meta_get_truth_bytes().
 *
 * Returns: (transfer none) (nullable): the true disparity of the left view, a GRAY16_LE picture of @meta's width and
 *     height, owned by @meta: disparity in pixels times %GST_STEREO_TRUTH_SCALE, 0 = unknown. %NULL when it is not
 *     known
 */
GST_STEREO_API
GstBuffer *gst_stereo_meta_get_truth (const GstStereoMeta *meta);

/**
 * gst_stereo_meta_get_truth_bytes:
 * @meta: a #GstStereoMeta
 *
 * Returns: (transfer full) (nullable): a copy of the true disparity: width * height little-endian 16-bit values, row
 *     after row without padding, disparity in pixels times %GST_STEREO_TRUTH_SCALE, 0 = unknown. %NULL when there is
 *     none, or when it cannot be read
 */
GST_STEREO_API
GBytes *gst_stereo_meta_get_truth_bytes (const GstStereoMeta *meta);

/**
 * gst_stereo_meta_set_mask:
 * @meta: a #GstStereoMeta of a writable buffer
 * @mask: (transfer none) (nullable): a GRAY8 picture of @meta's width and height, with a #GstVideoMeta if its rows are
 *     padded other than GStreamer's default: 0 = the pixel is excluded, 255 = it counts; the meta takes a reference, and
 *     nobody may change the picture after that. %NULL = every pixel counts
 *
 * For elements that exclude pixels. Replaces the one that @meta had. Samples and confidence are not changed.
 */
GST_STEREO_API
void gst_stereo_meta_set_mask (GstStereoMeta *meta, GstBuffer *mask);

/**
 * gst_stereo_meta_get_mask:
 * @meta: a #GstStereoMeta
 *
 * The rows of the picture may be padded: map it with gst_video_frame_map(), or use gst_stereo_meta_get_mask_bytes().
 *
 * Returns: (transfer none) (nullable): which pixels count, a GRAY8 picture of @meta's width and height, owned by @meta:
 *     0 = the pixel is excluded, 255 = it counts. %NULL when every pixel counts
 */
GST_STEREO_API
GstBuffer *gst_stereo_meta_get_mask (const GstStereoMeta *meta);

/**
 * gst_stereo_meta_get_mask_bytes:
 * @meta: a #GstStereoMeta
 *
 * Returns: (transfer full) (nullable): a copy of the mask: width * height bytes, row after row without padding, 0 = the
 *     pixel is excluded, 255 = it counts. %NULL when every pixel counts, or when it cannot be read
 */
GST_STEREO_API
GBytes *gst_stereo_meta_get_mask_bytes (const GstStereoMeta *meta);

/**
 * gst_stereo_meta_is_reliable:
 * @meta: a #GstStereoMeta
 *
 * Returns: whether the picture can be relied on: no flag of #GstStereoMeta.health makes it wrong. A program that acts on depth
 *     must treat any other picture as if it had not come
 */
GST_STEREO_API
gboolean gst_stereo_meta_is_reliable (const GstStereoMeta *meta);

/**
 * gst_stereo_meta_get_disparity:
 * @meta: a #GstStereoMeta
 * @sample: a sample of the buffer that has @meta, 0..65535 (0..255 for %GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE)
 *
 * Returns: the disparity in pixels. Not-a-number where @sample is invalid (0), for depth where focal length or baseline
 *     are unknown, and for %GST_STEREO_OUTPUT_KIND_VIEWS
 */
GST_STEREO_API
gdouble gst_stereo_meta_get_disparity (const GstStereoMeta *meta, guint sample);

/**
 * gst_stereo_meta_get_depth:
 * @meta: a #GstStereoMeta
 * @sample: a sample of the buffer that has @meta, 0..65535 (0..255 for %GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE)
 *
 * Returns: the depth in millimetres. Infinity for a point at infinity. Not-a-number where @sample is invalid (0), for
 *     disparity where focal length or baseline are unknown, and for %GST_STEREO_OUTPUT_KIND_VIEWS
 */
GST_STEREO_API
gdouble gst_stereo_meta_get_depth (const GstStereoMeta *meta, guint sample);

/**
 * gst_stereo_meta_get_nearest_distance:
 * @meta: a #GstStereoMeta
 *
 * Nearer surfaces cannot be measured: their disparity is larger than the largest one that was searched. A consumer must not
 * take their absence for free space.
 *
 * Returns: the depth of the largest disparity that was searched, in millimetres:
 *     focal_length * baseline / (min_disparity + num_disparities - 1 + principal_offset). 0 where the focal length, the baseline
 *     or the range of disparities is unknown. Infinity where that disparity lies beyond infinity: nothing can be measured
 */
GST_STEREO_API
gdouble gst_stereo_meta_get_nearest_distance (const GstStereoMeta *meta);

/**
 * gst_stereo_meta_get_point:
 * @meta: a #GstStereoMeta
 * @x: column of the pixel, the first one is 0; fractions are allowed
 * @y: row of the pixel, the first one is 0; fractions are allowed
 * @sample: the sample of that pixel in the buffer that has @meta, 0..65535 (0..255 for
 *     %GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE)
 * @point_x: (out) (optional): to the right of the left camera, in millimetres
 * @point_y: (out) (optional): below the left camera, in millimetres
 * @point_z: (out) (optional): in front of the left camera, in millimetres: the depth
 *
 * The point in space that a pixel shows, in the coordinates of the left rectified view; see #GstStereoMeta. The
 * principal point counts as the middle of the picture along an axis where it is unknown.
 *
 * Returns: %FALSE where there is no point. The three are then not-a-number. There is no point where @sample is invalid (0), where
 *     a sample of depth is 65535 (that far or farther), at infinity, where focal length or baseline are unknown (depth needs no
 *     baseline), and where @meta is about two views
 */
GST_STEREO_API
gboolean gst_stereo_meta_get_point (const GstStereoMeta *meta, gdouble x, gdouble y, guint sample, gdouble *point_x,
    gdouble *point_y, gdouble *point_z);

/**
 * gst_stereo_meta_get_points: (skip)
 * @meta: a #GstStereoMeta
 * @buffer: the buffer that has @meta, whose rows may be padded as its #GstVideoMeta says. Samples of 16 bits are GRAY16_LE,
 *     unless that says GRAY16_BE
 * @points: (out caller-allocates): room for width * height * 3 values: X, Y and Z of each pixel, row after row
 *
 * All points of a picture, as gst_stereo_meta_get_point() gives them, in single precision. A pixel without a point gets three
 * times not-a-number. From Python, call gst_stereo_meta_get_points_bytes().
 *
 * Returns: %FALSE, and @points untouched, where focal length or baseline are unknown, where @meta is about two views, and
 *     where @buffer is no picture of @meta's size and kind of samples, for example after it was cropped or converted
 */
GST_STEREO_API
gboolean gst_stereo_meta_get_points (const GstStereoMeta *meta, GstBuffer *buffer, gfloat *points);

/**
 * gst_stereo_meta_get_points_bytes:
 * @meta: a #GstStereoMeta
 * @buffer: the buffer that has @meta
 *
 * All points of a picture, as gst_stereo_meta_get_points() gives them. In Python:
 *
 * |[<!-- language="Python" -->
 * data = meta.get_points_bytes (buffer).get_data ()
 * points = numpy.frombuffer (data, numpy.float32).reshape (meta.height, meta.width, 3)  # X, Y, Z in mm, or NaN
 * ]|
 *
 * Returns: (transfer full) (nullable): width * height * 3 floats in the machine's byte order: X, Y and Z of each pixel
 *     in millimetres, row after row, three times not-a-number where there is no point. %NULL where
 *     gst_stereo_meta_get_points() returns %FALSE
 */
GST_STEREO_API
GBytes *gst_stereo_meta_get_points_bytes (const GstStereoMeta *meta, GstBuffer *buffer);

/**
 * gst_stereo_meta_to_bytes:
 * @meta: a #GstStereoMeta
 *
 * For sending or recording the metadata beside its picture; gst_buffer_add_stereo_meta_from_bytes() is the reverse. The
 * bytes are the same on every machine. On GStreamer 1.24 and later gst_meta_serialize() stores the same bytes.
 *
 * Returns: (transfer full): all of @meta: 136 bytes, and width * height bytes for each byte of a pixel of the pictures
 *     that it holds. A picture that cannot be read is left out
 */
GST_STEREO_API
GBytes *gst_stereo_meta_to_bytes (const GstStereoMeta *meta);

/**
 * gst_buffer_add_stereo_meta_from_bytes:
 * @buffer: a writable #GstBuffer
 * @bytes: what gst_stereo_meta_to_bytes() gave; may come from anywhere, it is checked
 *
 * Returns: (transfer none) (nullable): the meta, owned by @buffer; %NULL, and @buffer unchanged, when @bytes are
 *     damaged or of an unknown version, or a number in them is outside the range that #GstStereoMeta names
 */
GST_STEREO_API
GstStereoMeta *gst_buffer_add_stereo_meta_from_bytes (GstBuffer *buffer, GBytes *bytes);

G_END_DECLS

#endif
