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
    return numpy.stack([vertex[axis] for axis in "xyz"], -1), numpy.stack([vertex[c] for c in ("red", "green", "blue")], -1)


def read_pcd(name):
    import pypcd4
    cloud = pypcd4.PointCloud.from_path(name)
    points = cloud.numpy(("x", "y", "z", "rgb"))
    return points[:, :3], pypcd4.PointCloud.decode_rgb(points[:, 3].astype(numpy.float32))


def make(form, organized, folder):
    """One picture of the synthetic scene: its file, its points by the library, and the live view's colours."""
    name = os.path.join(folder, "cloud.%s" % form)
    pipeline = Gst.parse_launch(
        "stereotestsrc num-buffers=1 pattern=random-dots ! video/x-raw,width=%d,height=%d ! tee name=t "
        "t. ! queue ! videoconvert ! video/x-raw,format=RGB ! tee name=l ! queue ! p.sink_live "
        "t. ! queue ! stereomatch backend=cpu threads=1 ! tee name=d ! queue ! stereopoints name=p min-confidence=0 "
        "format=%s organized=%s ! filesink location=%s "
        "d. ! queue ! appsink name=depth sync=false l. ! queue ! appsink name=live sync=false"
        % (2 * WIDTH, HEIGHT, form, str(organized).lower(), name))
    pipeline.set_state(Gst.State.PLAYING)
    buffer = pipeline.get_by_name("depth").emit("pull-sample").get_buffer()
    live = pipeline.get_by_name("live").emit("pull-sample").get_buffer()
    message = pipeline.get_bus().timed_pop_filtered(30 * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    assert message and message.type == Gst.MessageType.EOS, message and message.parse_error().gerror.message
    pipeline.set_state(Gst.State.NULL)
    data = GstStereo.buffer_get_stereo_meta(buffer).get_points_bytes(buffer).get_data()
    points = numpy.frombuffer(data, numpy.float32).reshape(-1, 3)
    colors = numpy.frombuffer(live.extract_dup(0, live.get_size()), numpy.uint8).reshape(HEIGHT, 2 * WIDTH, 3)
    return name, points, colors[:, :WIDTH].reshape(-1, 3)


Gst.init(None)
read = 0
with tempfile.TemporaryDirectory() as temporary:
    for kind, reader in (("ply", read_ply), ("pcd", read_pcd)):
        for whole in (False, True):
            path, expected, expected_colors = make(kind, whole, temporary)
            try:
                found, found_colors = reader(path)
            except ImportError as absent:
                print("not read as %s: %s" % (kind, absent))
                break
            there = numpy.isfinite(expected[:, 2])
            assert there.sum() > WIDTH * HEIGHT / 4, "hardly any point"
            if not whole:
                expected, expected_colors = expected[there], expected_colors[there]
            assert found.shape == expected.shape, "%s points and not %s" % (found.shape, expected.shape)
            assert numpy.allclose(found, expected, rtol=1e-5, equal_nan=True), "%s has other points" % kind
            assert (found_colors == expected_colors).all(), "%s has other colours" % kind
            read += 1
if not read:
    print("skipped: neither plyfile nor pypcd4 is there")
    sys.exit(77)
print("%d files were read" % read)
