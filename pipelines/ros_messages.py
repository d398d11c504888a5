# SPDX-License-Identifier: LGPL-2.1-or-later
"""What ROS messages of a depth picture contain, as dictionaries of their fields. Needs no ROS.

Units are those of REP 103 and 118: metres, depth as 16UC1 in millimetres with 0 = not known, an optical frame (X to the right, Y
down, Z forward).
"""
import sys

import numpy

FAR = 65535  # of a depth sample: that far or farther
FLOAT32 = 7  # sensor_msgs/PointField


def header(nanoseconds, frame):
    return {"stamp": {"sec": nanoseconds // 10 ** 9, "nanosec": nanoseconds % 10 ** 9}, "frame_id": frame}


def rows_of(data, width, height, stride, kind):
    """Rows without padding, as an array."""
    size = numpy.dtype(kind).itemsize
    rows = numpy.frombuffer(data, numpy.uint8, count=stride * (height - 1) + width * size)
    rows = numpy.lib.stride_tricks.as_strided(rows, (height, width * size), (stride, 1))
    return numpy.ascontiguousarray(rows).view(kind)


def image(head, array, encoding):
    """An Image of a two-dimensional array."""
    height, width = array.shape
    return {"header": head, "height": height, "width": width, "encoding": encoding,
            "is_bigendian": int(array.dtype.itemsize > 1 and sys.byteorder == "big"),
            "step": width * array.dtype.itemsize, "data": array.tobytes()}


def depth_image(head, data, width, height, stride, depth_unit):
    """Of GRAY16_LE samples in steps of @depth_unit micrometres. What is too far for them is not known."""
    samples = rows_of(data, width, height, stride, "<u2")
    depth = numpy.where(samples == FAR, 0, samples) * (depth_unit / 1000)
    return image(head, numpy.where(depth > FAR, 0, numpy.rint(depth)).astype(numpy.uint16), "16UC1")


def confidence_image(head, data, width, height):
    """0..255 for 0..1."""
    return image(head, rows_of(data, width, height, width, numpy.uint8), "mono8")


def camera_info(head, meta, right=False):
    """Of the rectified left or right view. None: the geometry is not known."""
    if not meta.focal_length > 0:
        return None
    f, vertical = meta.focal_length, meta.focal_length_y or meta.focal_length
    x = meta.principal_x or (meta.width - 1) / 2
    y = meta.principal_y or (meta.height - 1) / 2
    x += meta.principal_offset if right else 0
    shift = -f * meta.baseline / 1000 if right else 0.0
    return {"header": head, "height": meta.height, "width": meta.width, "distortion_model": "plumb_bob", "d": [0.0] * 5,
            "k": [f, 0.0, x, 0.0, vertical, y, 0.0, 0.0, 1.0], "r": [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
            "p": [f, 0.0, x, shift, 0.0, vertical, y, 0.0, 0.0, 0.0, 1.0, 0.0]}


def point_cloud(head, millimetres, width, height):
    """Organised, of X, Y and Z of each pixel; not-a-number where there is no point."""
    points = numpy.frombuffer(millimetres, numpy.float32) * numpy.float32(0.001)
    fields = [{"name": name, "offset": 4 * i, "datatype": FLOAT32, "count": 1} for i, name in enumerate("xyz")]
    return {"header": head, "height": height, "width": width, "fields": fields, "is_bigendian": sys.byteorder == "big",
            "point_step": 12, "row_step": 12 * width, "data": points.tobytes(), "is_dense": False}
