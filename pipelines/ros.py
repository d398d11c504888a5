#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A ROS 2 node that publishes the depth, the confidence, the points and the cameras of stereomatch.

ros.py [--name NODE] [--frame FRAME] CAMERAS ! ... stereomatch output=depth ! appsink name=depth

pipelines/ros.sh puts the pipeline together; docs/ros.md has the topics.
"""
import argparse
import signal
import sys

import ros_messages

try:
    import gi
    for name in "Gst", "GstVideo", "GstStereo":
        gi.require_version(name, "1.0")
    from gi.repository import GLib, Gst, GstStereo, GstVideo
except (ImportError, ValueError) as error:
    sys.exit(f"ros.py: {error}: see what pipelines/truck.py needs")
try:
    import rclpy
    from builtin_interfaces.msg import Time
    from sensor_msgs.msg import CameraInfo, Image, PointCloud2, PointField
    from std_msgs.msg import Header
except ImportError as error:
    sys.exit(f"ros.py: {error}: install ROS 2 with the packages rclpy and sensor_msgs, and source its setup.bash first. "
             "It has to be that of this Python, " + sys.executable)

TYPES = {"header": Header, "stamp": Time, "fields": PointField}
QUEUE = 2  # messages that wait for a slow subscriber


def fill(message, fields):
    """Dictionaries and lists of them become messages."""
    for field, value in fields.items():
        if isinstance(value, dict):
            value = fill(TYPES[field](), value)
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            value = [fill(TYPES[field](), one) for one in value]
        setattr(message, field, value)
    return message


class Publisher:
    def __init__(self, node, frame):
        self.frame = frame
        self.clock = node.get_clock()
        self.warned = False
        self.topics = {topic: (kind, node.create_publisher(kind, "~/" + topic, QUEUE)) for topic, kind in (
            ("depth/image", Image), ("depth/camera_info", CameraInfo), ("right/camera_info", CameraInfo),
            ("confidence", Image), ("points", PointCloud2))}

    def publish(self, topic, fields):
        kind, publisher = self.topics[topic]
        if fields:
            publisher.publish(fill(kind(), fields))

    def picture(self, buffer, info, age):
        """Of one buffer of depth, captured @age nanoseconds ago."""
        meta = GstStereo.buffer_get_stereo_meta(buffer)
        if not meta or meta.kind != GstStereo.StereoOutputKind.DEPTH:
            sys.exit("ros.py: error: that is no depth: set output=depth on stereomatch")
        head = ros_messages.header(self.clock.now().nanoseconds - age, self.frame)
        placed = GstVideo.buffer_get_video_meta(buffer)
        self.publish("depth/image", ros_messages.depth_image(
            head, buffer.extract_dup(0, buffer.get_size()), info.width, info.height, (placed or info).stride[0], meta.depth_unit))
        confidence = meta.get_confidence_bytes()
        if confidence:
            self.publish("confidence", ros_messages.confidence_image(head, confidence.get_data(), meta.width, meta.height))
        self.publish("depth/camera_info", ros_messages.camera_info(head, meta))
        self.publish("right/camera_info", ros_messages.camera_info(head, meta, right=True))
        points = meta.get_points_bytes(buffer)
        if points:
            self.publish("points", ros_messages.point_cloud(head, points.get_data(), meta.width, meta.height))
        elif not self.warned:
            self.warned = True
            print("ros.py: warning: no focal length: neither points nor cameras are published", file=sys.stderr)


def age_of(pipeline, sample):
    """Nanoseconds since the frame was captured, as far as its timestamp tells."""
    clock, buffer = pipeline.get_clock(), sample.get_buffer()
    if not clock or buffer.pts == Gst.CLOCK_TIME_NONE:
        return 0
    running = sample.get_segment().to_running_time(Gst.Format.TIME, buffer.pts)
    return max(0, clock.get_time() - pipeline.get_base_time() - running)


def serve(pipeline, sink, publisher, stop):
    """In this thread: a slow subscriber delays no camera, for the appsink drops what nobody took."""
    bus = pipeline.get_bus()
    pipeline.set_state(Gst.State.PLAYING)
    while not stop:
        sample = sink.emit("try-pull-sample", 100 * Gst.MSECOND)
        if sample:
            info = GstVideo.VideoInfo.new_from_caps(sample.get_caps())
            publisher.picture(sample.get_buffer(), info, age_of(pipeline, sample))
        message = bus.pop_filtered(Gst.MessageType.ERROR | Gst.MessageType.EOS)
        if message and message.type == Gst.MessageType.ERROR:
            print(f"ros.py: error: {message.src.get_name()}: {message.parse_error()[0].message}", file=sys.stderr)
            return 1
        if message or (not sample and sink.get_property("eos")):
            return 0
    return 0


def main():
    Gst.init(None)
    parser = argparse.ArgumentParser(prog="ros.py", description="A ROS 2 node for the depth of stereomatch.")
    parser.add_argument("--name", default="stereo", help="of the node, and so of its topics (stereo)")
    parser.add_argument("--frame", default="stereo_left_optical_frame", help="frame_id of the messages")
    parser.add_argument("pipeline", nargs=argparse.REMAINDER, help="with an appsink named depth: see ros.sh")
    options = parser.parse_args()
    if not options.pipeline:
        parser.error("give a pipeline: see ros.sh")
    try:
        pipeline = Gst.parse_launchv(options.pipeline)
    except GLib.Error as error:
        sys.exit(f"ros.py: error: {error.message}")
    sink = pipeline.get_by_name("depth") if isinstance(pipeline, Gst.Bin) else None
    if not sink:
        sys.exit("ros.py: the pipeline must have an appsink with name=depth")
    rclpy.init(args=[])
    stop = []
    for number in signal.SIGINT, signal.SIGTERM:
        signal.signal(number, lambda *_: stop.append(True))
    node = rclpy.create_node(options.name)
    try:
        status = serve(pipeline, sink, Publisher(node, options.frame), stop)
    finally:
        pipeline.set_state(Gst.State.NULL)
        node.destroy_node()
        rclpy.try_shutdown()
    return status


if __name__ == "__main__":
    sys.exit(main())
