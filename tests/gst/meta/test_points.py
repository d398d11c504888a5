# SPDX-License-Identifier: LGPL-2.1-or-later
"""The points of a whole picture, read with NumPy, are those of OpenCV's reprojectImageTo3D."""
import os
import sys
import time

try:
    import cv2
    import gi
    import numpy
    gi.require_version("Gst", "1.0")
    gi.require_version("GstStereo", "1.0")
    from gi.repository import Gst, GstStereo
except (ImportError, ValueError) as missing:
    print("skipped: %s" % missing)
    sys.exit(77)

TOLERANCE = 1e-4  # relative to the distance from the camera
ROUNDS = 24


def draw(meta, random):
    """Random cameras; the size is a multiple of 4, so that rows have no padding."""
    meta.focal_length = random.uniform(100, 3000)
    meta.focal_length_y = random.choice([0, random.uniform(100, 3000)])
    meta.baseline = random.uniform(20, 500)
    meta.principal_offset = random.choice([0, random.uniform(-3, 30)])
    meta.principal_x = random.choice([0, random.uniform(1, meta.width)])
    meta.principal_y = random.choice([0, random.uniform(1, meta.height)])
    meta.disparity_scale = random.uniform(1, 200)
    meta.min_disparity = random.integers(-5, 20)
    # choice() would make NumPy's integers of the kinds, which newer bindings refuse
    meta.kind = (GstStereo.StereoOutputKind.DISPARITY, GstStereo.StereoOutputKind.DISPARITY_RANGE,
                 GstStereo.StereoOutputKind.DEPTH)[random.integers(3)]
    meta.depth_unit = random.uniform(100, 5000)


def disparities(meta, samples):
    """As the documents say it, not as the library does."""
    if meta.kind == GstStereo.StereoOutputKind.DISPARITY:
        return samples / meta.disparity_scale
    if meta.kind == GstStereo.StereoOutputKind.DISPARITY_RANGE:
        return meta.min_disparity + (samples - 1.0) / meta.disparity_scale
    with numpy.errstate(divide="ignore"):
        return meta.focal_length * meta.baseline / (samples * meta.depth_unit / 1000) - meta.principal_offset


def reproject(meta, disparity):
    """OpenCV's points. Its rows are as far apart as its columns: Y is stretched where ours are not."""
    x = meta.principal_x or (meta.width - 1) / 2
    y = meta.principal_y or (meta.height - 1) / 2
    stretch = meta.focal_length / meta.focal_length_y if meta.focal_length_y else 1
    to_points = numpy.array([[1, 0, 0, -x], [0, stretch, 0, -stretch * y], [0, 0, 0, meta.focal_length],
                             [0, 0, 1 / meta.baseline, meta.principal_offset / meta.baseline]])
    return cv2.reprojectImageTo3D(disparity.astype(numpy.float32), to_points)


def check(random):
    width, height = 4 * random.integers(1, 40), random.integers(1, 40)
    meta = GstStereo.StereoMeta.new(width, height, None)
    draw(meta, random)
    narrow = meta.kind == GstStereo.StereoOutputKind.DISPARITY_RANGE
    samples = random.integers(0, 256 if narrow else 65536, (height, width)).astype("u1" if narrow else "<u2")
    samples[random.random(samples.shape) < 0.2] = 0
    buffer = Gst.Buffer.new_wrapped(samples.tobytes())

    data = meta.get_points_bytes(buffer).get_data()
    points = numpy.frombuffer(data, numpy.float32).reshape(meta.height, meta.width, 3)

    disparity = disparities(meta, samples)
    with numpy.errstate(invalid="ignore"):
        there = (samples > 0) & (disparity + meta.principal_offset > 0)
    if meta.kind == GstStereo.StereoOutputKind.DEPTH:
        there &= samples < 65535
    assert (numpy.isfinite(points) == there[..., None]).all(), "other pixels have points"
    # a single-precision disparity, which OpenCV takes, does not say more than this of what is nearly at infinity
    known = there & (disparity + meta.principal_offset > 0.01 * numpy.maximum(1, numpy.abs(disparity)))
    expected = reproject(meta, numpy.where(known, disparity, 1))[known]
    apart = numpy.linalg.norm(points[known] - expected, axis=1)
    worst = (apart / numpy.linalg.norm(expected, axis=1)).max(initial=0)
    assert worst < TOLERANCE, "%g of the distance apart" % worst
    return known.sum(), worst


seed = os.environ.get("STEREO_TEST_SEED", "20261121")
seed = int(time.time()) if seed == "time" else int(seed, 0)
print("seed %d (STEREO_TEST_SEED repeats it; STEREO_TEST_SEED=time draws another)" % seed)
Gst.init(None)
generator = numpy.random.default_rng(seed)
results = [check(generator) for _ in range(ROUNDS)]
assert sum(count for count, _ in results) > 1000, "hardly any point"
print("%d points, at most %.2g of their distance apart" % (sum(r[0] for r in results), max(r[1] for r in results)))
