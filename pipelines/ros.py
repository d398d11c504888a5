#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Depth, confidence, points and cameras of stereomatch as ROS 2 topics, or recorded in a bag.

ros.py [--name NODE] [--frame FRAME] [--record FOLDER] CAMERAS ! ... stereomatch output=depth ! appsink name=depth

pipelines/ros.sh puts the pipeline together; docs/ros.md has the topics.
"""
import argparse
import signal
import sys
import time

import ros_messages
from stream import Cameras, Refused, build

try:
    import gi
    for name in "Gst", "GstVideo", "GstStereo":
        gi.require_version(name, "1.0")
    from gi.repository import GLib, Gst, GstStereo, GstVideo
except (ImportError, ValueError) as error:
    sys.exit(f"ros.py: {error}: see what pipelines/truck.py needs")
QUEUE = 2  # messages that wait for a slow subscriber
IMAGE, CAMERA, CLOUD = (f"sensor_msgs/msg/{kind}" for kind in ("Image", "CameraInfo", "PointCloud2"))


class Node:
    """Publishes with rclpy."""

    def __init__(self, name):
        try:
            import rclpy
            from builtin_interfaces.msg import Time
            from sensor_msgs.msg import CameraInfo, Image, PointCloud2, PointField
            from std_msgs.msg import Header
        except ImportError as error:
            sys.exit(f"ros.py: {error}: install ROS 2 with the packages rclpy and sensor_msgs, and source its setup.bash first. "
                     f"It has to be that of this Python, {sys.executable}. Without ROS, --record writes a bag")
        self.parts = {"header": Header, "stamp": Time, "fields": PointField}
        self.kinds = {IMAGE: Image, CAMERA: CameraInfo, CLOUD: PointCloud2}
        self.rclpy, self.publishers = rclpy, {}
        rclpy.init(args=[])
        self.node = rclpy.create_node(name)

    def fill(self, message, fields):
        """Dictionaries and lists of them become messages."""
        for field, value in fields.items():
            if isinstance(value, dict):
                value = self.fill(self.parts[field](), value)
            elif field == "fields":
                value = [self.fill(self.parts[field](), one) for one in value]
            setattr(message, field, value)
        return message

    def publish(self, topic, name, fields):
        kind = self.kinds[name]
        if topic not in self.publishers:
            self.publishers[topic] = self.node.create_publisher(kind, topic, QUEUE)
        self.publishers[topic].publish(self.fill(kind(), fields))

    def close(self):
        self.node.destroy_node()
        self.rclpy.try_shutdown()


def open_bag(folder):
    try:
        from ros_bag import Bag
    except ImportError as error:
        sys.exit(f"ros.py: {error}: --record wants the package rosbags from PyPI: python3 -m venv --system-site-packages ENV, "
                 "ENV/bin/pip install rosbags, and start this with ENV/bin/python3")
    try:
        return Bag(folder)
    except Exception as error:  # of rosbags' own, or OSError
        sys.exit(f"ros.py: {folder} cannot be recorded into: {error}. Name a folder that is not there yet")


class Publisher:
    """What comes of a picture, to a Node or a Bag."""

    def __init__(self, target, name, frame):
        self.target, self.name, self.frame, self.warned = target, name, frame, False

    def publish(self, topic, kind, fields):
        if fields:
            self.target.publish(f"/{self.name}/{topic}", kind, fields)

    def picture(self, buffer, info, age):
        """Of one buffer of depth, captured @age nanoseconds ago."""
        meta = GstStereo.buffer_get_stereo_meta(buffer)
        if not meta or meta.kind != GstStereo.StereoOutputKind.DEPTH:
            sys.exit("ros.py: error: that is no depth: set output=depth on stereomatch")
        head = ros_messages.header(time.time_ns() - age, self.frame)
        placed = GstVideo.buffer_get_video_meta(buffer)
        self.publish("depth/image", IMAGE, ros_messages.depth_image(
            head, buffer.extract_dup(0, buffer.get_size()), info.width, info.height, (placed or info).stride[0], meta.depth_unit))
        confidence = meta.get_confidence_bytes()
        if confidence:
            self.publish("confidence", IMAGE, ros_messages.confidence_image(head, confidence.get_data(), meta.width, meta.height))
        self.publish("depth/camera_info", CAMERA, ros_messages.camera_info(head, meta))
        self.publish("right/camera_info", CAMERA, ros_messages.camera_info(head, meta, right=True))
        points = meta.get_points_bytes(buffer)
        if points:
            self.publish("points", CLOUD, ros_messages.point_cloud(head, points.get_data(), meta.width, meta.height))
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
    bus, context = pipeline.get_bus(), GLib.MainContext.default()
    cameras = Cameras(pipeline, lambda text: print(f"ros.py: {text}", file=sys.stderr, flush=True))
    pipeline.set_state(Gst.State.PLAYING)
    while not stop:
        sample = sink.emit("try-pull-sample", 100 * Gst.MSECOND)
        if sample:
            info = GstVideo.VideoInfo.new_from_caps(sample.get_caps())
            publisher.picture(sample.get_buffer(), info, age_of(pipeline, sample))
        message = bus.pop_filtered(Gst.MessageType.ERROR | Gst.MessageType.EOS)
        context.iteration(False)
        if message and message.type == Gst.MessageType.ERROR and cameras.on_error(message):
            continue
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
    parser.add_argument("--record", metavar="FOLDER", help="write a bag (rosbag2, MCAP) in place of publishing; needs no ROS")
    parser.add_argument("pipeline", nargs=argparse.REMAINDER, help="with an appsink named depth: see ros.sh")
    options = parser.parse_args()
    if not options.pipeline:
        parser.error("give a pipeline: see ros.sh")
    try:
        pipeline = build(options.pipeline)
    except (GLib.Error, Refused) as error:
        sys.exit(f"ros.py: error: {getattr(error, 'message', error)}")
    sink = pipeline.get_by_name("depth")
    if not sink:
        sys.exit("ros.py: the pipeline must have an appsink with name=depth")
    target = open_bag(options.record) if options.record else Node(options.name)
    stop = []
    for number in signal.SIGINT, signal.SIGTERM:
        signal.signal(number, lambda *_: stop.append(True))
    try:
        status = serve(pipeline, sink, Publisher(target, options.name, options.frame), stop)
    finally:
        pipeline.set_state(Gst.State.NULL)
        target.close()
    return status


if __name__ == "__main__":
    sys.exit(main())
