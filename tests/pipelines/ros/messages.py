# SPDX-License-Identifier: LGPL-2.1-or-later
"""Stand-ins of ROS messages: their fields and no others, as the message files of ROS 2 name them."""


def kind(name, *fields):
    def start(self):
        for field in fields:
            setattr(self, field, None)
    return type(name, (), {"__slots__": fields, "__init__": start})


def plain(value):
    """A message as dictionaries, for JSON."""
    if hasattr(value, "__slots__"):
        return {field: plain(getattr(value, field)) for field in value.__slots__}
    if isinstance(value, list):
        return [plain(one) for one in value]
    return value.hex() if isinstance(value, bytes) else value


Time = kind("Time", "sec", "nanosec")
Header = kind("Header", "stamp", "frame_id")
Image = kind("Image", "header", "height", "width", "encoding", "is_bigendian", "step", "data")
CameraInfo = kind("CameraInfo", "header", "height", "width", "distortion_model", "d", "k", "r", "p", "binning_x", "binning_y", "roi")
PointField = kind("PointField", "name", "offset", "datatype", "count")
PointCloud2 = kind("PointCloud2", "header", "height", "width", "fields", "is_bigendian", "point_step", "row_step", "data", "is_dense")
