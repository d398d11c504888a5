# SPDX-License-Identifier: LGPL-2.1-or-later
"""A stand-in of rclpy: what is published goes to the file FAKE_ROS as lines of JSON."""
import json
import os
import time

from messages import plain


class Publisher:
    def __init__(self, kind, topic):
        self.kind, self.topic = kind, topic

    def publish(self, message):
        assert isinstance(message, self.kind)
        with open(os.environ["FAKE_ROS"], "a", encoding="utf-8") as log:
            print(json.dumps({"topic": self.topic, **plain(message)}), file=log)


class Node:
    def __init__(self, name):
        self.name = name

    def create_publisher(self, kind, topic, _queue):
        return Publisher(kind, topic.replace("~", "/" + self.name))

    def get_clock(self):
        return self

    def now(self):
        return self

    @property
    def nanoseconds(self):
        return time.time_ns()

    def destroy_node(self):
        pass


def init(args):
    assert args == []


def create_node(name):
    return Node(name)


def try_shutdown():
    pass
