# SPDX-License-Identifier: LGPL-2.1-or-later
"""The files of stereopoints are read by libraries that know nothing of it: plyfile, and pypcd4, of PyPI."""
import os
import sys
import tempfile

try:
    import gi
    import numpy
    gi.require_version("Gst", "1.0")
    gi.require_version("GstStereo", "1.0")
    from gi.repository import Gst, GstStereo
except (ImportError, ValueError) as missing:
    print("skipped: %s" % missing)
    sys.exit(77)

WIDTH, HEIGHT = 64, 48


def read_ply(name):
    import plyfile
    vertex = plyfile.PlyData.read(name)["vertex"]
    return numpy.stack([vertex[axis] for axis in "xyz"], -1)


def read_pcd(name):
    import pypcd4
    cloud = pypcd4.PointCloud.from_path(name)
    return cloud.numpy(("x", "y", "z"))


def make(form, organized, folder):
    """One picture of the synthetic scene: its file, and its points by the library."""
    name = os.path.join(folder, "cloud.%s" % form)
    pipeline = Gst.parse_launch(
        "stereotestsrc num-buffers=1 pattern=random-dots ! video/x-raw,width=%d,height=%d ! "
        "stereomatch backend=cpu threads=1 ! tee name=d ! queue ! stereopoints min-confidence=0 far=0 "
        "format=%s organized=%s ! filesink location=%s d. ! queue ! appsink name=depth sync=false"
        % (2 * WIDTH, HEIGHT, form, str(organized).lower(), name))
    pipeline.set_state(Gst.State.PLAYING)
    buffer = pipeline.get_by_name("depth").emit("pull-sample").get_buffer()
    message = pipeline.get_bus().timed_pop_filtered(30 * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    assert message and message.type == Gst.MessageType.EOS, message and message.parse_error().gerror.message
    pipeline.set_state(Gst.State.NULL)
    data = GstStereo.buffer_get_stereo_meta(buffer).get_points_bytes(buffer).get_data()
    return name, numpy.frombuffer(data, numpy.float32).reshape(-1, 3)


Gst.init(None)
read = 0
with tempfile.TemporaryDirectory() as temporary:
    for kind, reader in (("ply", read_ply), ("pcd", read_pcd)):
        for whole in (False, True):
            path, expected = make(kind, whole, temporary)
            try:
                found = reader(path)
            except ImportError as absent:
                print("not read as %s: %s" % (kind, absent))
                break
            there = numpy.isfinite(expected[:, 2])
            assert there.sum() > WIDTH * HEIGHT / 4, "hardly any point"
            if not whole:
                expected = expected[there]
            assert found.shape == expected.shape, "%s points and not %s" % (found.shape, expected.shape)
            assert numpy.allclose(found, expected, rtol=1e-5, equal_nan=True), "%s has other points" % kind
            read += 1
if not read:
    print("skipped: neither plyfile nor pypcd4 is there")
    sys.exit(77)
print("%d files were read" % read)
