# SPDX-License-Identifier: LGPL-2.1-or-later
"""Stock PyGObject reads the metadata of a real buffer: fields, confidence, arithmetic."""
import sys

import gi

gi.require_version('Gst', '1.0')
gi.require_version('GstStereo', '1.0')
from gi.repository import Gst, GstStereo  # noqa: E402

WIDTH, HEIGHT = 32, 16

Gst.init(None)
pipeline = Gst.parse_launch(
    f'videotestsrc num-buffers=2 pattern=snow ! video/x-raw,format=GRAY8,width={2 * WIDTH},height={HEIGHT} ! '
    'stereomatch name=m packing=side-by-side num-disparities=8 min-disparity=-3 window=5 backend=cpu threads=1 '
    'focal-length=400 baseline=50 principal-offset=4 mask=0,0.75,1,0.25 ! appsink name=o sync=false')
sink = pipeline.get_by_name('o')
pipeline.set_state(Gst.State.PLAYING)
sample = sink.emit('pull-sample')
assert sample, 'no output'
buffer = sample.get_buffer()
meta = GstStereo.buffer_get_stereo_meta(buffer)
assert meta, 'no metadata'
assert (meta.width, meta.height) == (WIDTH, HEIGHT)
assert meta.kind == GstStereo.StereoOutputKind.DISPARITY
assert (meta.disparity_scale, meta.min_disparity, meta.num_disparities) == (64, -3, 8)
assert (meta.focal_length, meta.baseline, meta.principal_offset, meta.depth_unit) == (400, 50, 4, 1000)
assert meta.pair_skew == 0
assert 0 <= meta.valid_ratio <= 1 and 0 <= meta.mean_confidence <= 1

assert meta.health == GstStereo.StereoHealthFlags.OK and meta.is_reliable()
meta.health = GstStereo.StereoHealthFlags.FROZEN_RIGHT
assert not meta.is_reliable() and GstStereo.stereo_health_get_reason(meta.health) == 'right camera frozen'
assert GstStereo.stereo_health_to_string(meta.health) == 'frozen-right'
meta.health = GstStereo.StereoHealthFlags.OK

mask = meta.get_mask_bytes().get_data()
assert list(mask) == [255] * (WIDTH * HEIGHT * 3 // 4) + [0] * (WIDTH * HEIGHT // 4), 'the lower quarter is excluded'
assert meta.get_mask().get_size() == WIDTH * HEIGHT

confidence = meta.get_confidence_bytes().get_data()
assert len(confidence) == WIDTH * HEIGHT
assert abs(sum(confidence) / 255 / mask.count(255) - meta.mean_confidence) < 0.003

picture = meta.get_confidence()
ok, mapped = picture.map(Gst.MapFlags.READ)
assert ok and bytes(mapped.data[:WIDTH]) == confidence[:WIDTH]
picture.unmap(mapped)

assert meta.get_disparity(128) == 2
assert abs(meta.get_depth(128) - 400 * 50 / (2 + 4)) < 1e-9
assert meta.get_depth(0) != meta.get_depth(0), 'an invalid sample has no depth'
assert meta.get_truth() is None
assert abs(meta.get_nearest_distance() - 400 * 50 / (-3 + 8 - 1 + 4)) < 1e-9
meta.principal_offset = -4
assert meta.get_nearest_distance() == float('inf'), 'the largest disparity lies at infinity'
meta.principal_offset, meta.baseline = 4, 0
assert meta.get_nearest_distance() == 0, 'unknown without a baseline'
meta.baseline = 50

found, x, y, z = meta.get_point(WIDTH / 2, 0, 128)
assert found and abs(z - 400 * 50 / 6) < 1e-9 and abs(x - 0.5 * z / 400) < 1e-9 and abs(y + 7.5 * z / 400) < 1e-9
assert not meta.get_point(3, 4, 0)[0]

copy = Gst.Buffer.new()
restored = GstStereo.buffer_add_stereo_meta_from_bytes(copy, meta.to_bytes())
assert restored.get_confidence_bytes().get_data() == confidence
assert restored.get_mask_bytes().get_data() == mask
restored.set_mask(None)
assert restored.get_mask() is None and restored.get_mask_bytes() is None

stats = pipeline.get_by_name('m').get_property('stats')
assert stats.get_uint64('pairs')[1] >= 1

views = Gst.parse_launch(f'stereotestsrc num-buffers=1 ! video/x-raw,width={2 * WIDTH},height={HEIGHT} ! '
                         'appsink name=o sync=false')
views.set_state(Gst.State.PLAYING)
pair = views.get_by_name('o').emit('pull-sample').get_buffer()
meta_of_pair = GstStereo.buffer_get_stereo_meta(pair)
assert meta_of_pair.kind == GstStereo.StereoOutputKind.VIEWS
truth = meta_of_pair.get_truth_bytes().get_data()
assert len(truth) == 2 * WIDTH * HEIGHT
assert all(0 < truth[2 * i] + 256 * truth[2 * i + 1] <= 3 * 64 for i in range(WIDTH * HEIGHT)), 'a tenth of 32 pixels'
assert meta_of_pair.get_confidence() is None
assert (meta_of_pair.principal_x, meta_of_pair.principal_y) == ((WIDTH - 1) / 2, (HEIGHT - 1) / 2)
assert meta_of_pair.get_disparity(64) != meta_of_pair.get_disparity(64), 'views are no disparity'
del meta_of_pair, pair
views.set_state(Gst.State.NULL)

bare = Gst.Buffer.new()
assert GstStereo.buffer_get_stereo_meta(bare) is None

del meta, picture, sample, buffer
pipeline.set_state(Gst.State.NULL)
print(f'PyGObject {gi.__version__} reads it', file=sys.stderr)

ground = Gst.parse_launch(
    f'videotestsrc num-buffers=1 pattern=snow ! video/x-raw,format=GRAY8,width={2 * WIDTH},height={HEIGHT} ! '
    'stereomatch packing=side-by-side num-disparities=8 backend=cpu threads=1 focal-length=400 baseline=50 ! '
    'stereoground columns=5 ! appsink name=o sync=false')
ground.set_state(Gst.State.PLAYING)
passed = ground.get_by_name('o').emit('pull-sample').get_buffer()
judged = passed.get_custom_meta('GstStereoGroundMeta').get_structure()
assert judged.get_boolean('ground') == (True, False), 'noise is no ground'
assert judged.get_string('reason') == 'no ground is seen'
del passed
ground.set_state(Gst.State.NULL)
del ground

# what a program makes reaches elements, and what they found outlives its buffer
made = GstStereo.StereoMeta.new(WIDTH, HEIGHT, None)
made.kind = GstStereo.StereoOutputKind.DEPTH
made.focal_length, made.baseline, made.health = 400, 50, GstStereo.StereoHealthFlags.FROZEN_RIGHT
nearest = Gst.parse_launch(
    f'appsrc name=i format=time caps=video/x-raw,format=GRAY16_LE,width={WIDTH},height={HEIGHT},framerate=30/1 ! '
    'stereonearest ! appsink name=o sync=false')
nearest.set_state(Gst.State.PLAYING)
filled = Gst.Buffer.new_wrapped(bytes([0, 4]) * (WIDTH * HEIGHT))
GstStereo.buffer_add_stereo_meta_copy(filled, made)
filled.pts = 0
nearest.get_by_name('i').emit('push-buffer', filled)
read = nearest.get_by_name('o').emit('pull-sample').get_buffer().get_custom_meta('GstStereoNearestMeta').get_structure()
del filled
nearest.set_state(Gst.State.NULL)
del nearest
assert (read.get_string('state'), read.get_string('reason')) == ('unknown', 'right camera frozen')
assert read.get_boolean('valid') == (True, False) and not read.has_field('disparity')
assert Gst.Buffer.new().get_custom_meta('GstStereoNearestMeta') is None
assert judged.get_string('reason') == 'no ground is seen', 'it outlives its buffer'

# a copy holds its pictures, not its buffer, and gives them back
picture = Gst.Buffer.new_wrapped(bytes([7]) * 4)
alone = picture.mini_object.refcount
bare = Gst.Buffer.new_wrapped(bytes(8))
GstStereo.buffer_add_stereo_meta_copy(bare, GstStereo.StereoMeta.new(4, 1, picture))
kept = GstStereo.buffer_get_stereo_meta(bare)
ok, mapped = bare.map(Gst.MapFlags.WRITE)
assert ok, 'the buffer can be written to beside its metadata'
bare.unmap(mapped)
assert picture.mini_object.refcount == alone + 2
del bare
assert picture.mini_object.refcount == alone + 1 and kept.get_confidence_bytes().get_data() == bytes([7]) * 4
del kept
assert picture.mini_object.refcount == alone
