# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes the messages of ros_messages.py into a bag (rosbag2, MCAP), with the package rosbags from PyPI. Needs no ROS.

ros.sh --record uses it; it is no program.
"""
import sys

if __name__ == "__main__":
    print(__doc__)  # before the imports: it can be read without rosbags
    sys.exit()

import numpy
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

TYPES = {"header": "std_msgs/msg/Header", "stamp": "builtin_interfaces/msg/Time", "fields": "sensor_msgs/msg/PointField"}
# fields that the messages of a depth picture leave alone
UNUSED = {"sensor_msgs/msg/CameraInfo": {"binning_x": 0, "binning_y": 0}}
ARRAYS = {"data": numpy.uint8, "d": numpy.float64, "k": numpy.float64, "r": numpy.float64, "p": numpy.float64}


class Bag:
    """@folder is made, and must not be there yet (WriterError)."""

    def __init__(self, folder):
        self.store = get_typestore(Stores.ROS2_HUMBLE)
        self.writer = Writer(folder, version=8, storage_plugin=StoragePlugin.MCAP)
        self.writer.open()
        self.connections = {}

    def message(self, name, fields):
        values = {**UNUSED.get(name, {})}
        if name == "sensor_msgs/msg/CameraInfo":
            values["roi"] = self.store.types["sensor_msgs/msg/RegionOfInterest"](0, 0, 0, 0, False)
        for field, value in fields.items():
            if isinstance(value, dict):
                value = self.message(TYPES[field], value)
            elif field == "fields":
                value = [self.message(TYPES[field], one) for one in value]
            elif field in ARRAYS:
                kind = ARRAYS[field]
                value = numpy.frombuffer(value, kind) if isinstance(value, bytes) else numpy.array(value, kind)
            values[field] = bool(value) if name.endswith("PointCloud2") and field.startswith("is_") else value
        return self.store.types[name](**values)

    def publish(self, topic, name, fields):
        if topic not in self.connections:
            self.connections[topic] = self.writer.add_connection(topic, name, typestore=self.store)
        stamp = fields["header"]["stamp"]
        self.writer.write(self.connections[topic], stamp["sec"] * 10 ** 9 + stamp["nanosec"],
                          self.store.serialize_cdr(self.message(name, fields), name))

    def close(self):
        self.writer.close()
