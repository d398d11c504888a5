#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shows a pipeline in browsers: web.py [--control] [--allow NAME]... ADDRESS PORT WORD..., as web.sh calls it. Its last element is an
appsink, name=jpeg; appsinks depth (JPEGs of the depth alone) and values (the depth itself) may be there."""
import collections
import errno
import math
import socket
import sys
import threading
import time

import stream
from parameters import Controls
from stream import Gst
from structures import members_of
from webserver import OLDEST, Hub, Server, at_age

try:
    stream.gi.require_version("GstStereo", "1.0")
    stream.gi.require_version("GstVideo", "1.0")
    from gi.repository import GstStereo, GstVideo
except (ImportError, ValueError):
    GstStereo = None  # without the typelib, the distance under the mouse is not known

VIEWS = {"blended": 0.5, "side by side": 0}  # opacity of the colours over the picture
COUNTED = 4  # seconds over which rates are taken
PASSING = 30  # seconds that a warning is shown which nothing takes back


class Trouble:
    """What is wrong with the input, in sentences: what stereo-health says until that is over, other warnings for a while, and that
    nothing is known where no depth comes."""

    def __init__(self, clock=time.monotonic):
        self.clock, self.lasting, self.passing = clock, {}, {}
        self.pairs, self.came, self.begun = 0, None, clock()  # came: when the newest depth came

    def on_health(self, health):
        kind = health.get("kind"), health.get("view")
        if health.get("active"):
            self.lasting[kind] = (health.get("text") or " ".join(map(str, kind)), self.clock())
        else:
            self.lasting.pop(kind, None)

    def note_exchange(self, exchanged):
        """That is a warning at its beginning, and a figure as long as it lasts."""
        if not exchanged:
            self.lasting.pop("exchanged", None)
        elif "exchanged" not in self.lasting:
            self.lasting["exchanged"] = ("Left and right look exchanged: exchange the cameras.", self.clock())

    def on_warning(self, text):
        self.passing[text] = self.clock()

    def note_pairs(self, pairs):
        """@pairs were matched until now. It starts again at 0 where the stream does."""
        if pairs > self.pairs:
            self.came = self.clock()
        self.pairs = pairs

    def silence(self):
        """A list of one line where nobody has looked at the views for a while: stereomatch does when it matches them."""
        age = self.clock() - (self.begun if self.came is None else self.came)
        if self.came is not None and age <= OLDEST:
            return []
        return [{"text": "No depth comes. Whether anything is wrong with the cameras is not known.", "age": age}]

    def lines(self, stats):
        now = self.clock()
        self.note_exchange(stats.get("exchanged"))
        self.note_pairs(stats.get("pairs", 0))
        said = {text for text, _ in self.lasting.values()}
        self.passing = {text: since for text, since in self.passing.items() if now - since <= PASSING}
        lines = list(self.lasting.values()) + [(text, since) for text, since in self.passing.items() if text not in said]
        return self.silence() + [{"text": text, "age": now - since} for text, since in lines]


class Rates:
    """Pictures and depths a second, over the last seconds."""

    def __init__(self, clock=time.monotonic):
        self.clock, self.looks = clock, collections.deque()

    def on_picture(self, pairs):
        self.looks.append((self.clock(), pairs))
        while self.looks[-1][0] - self.looks[0][0] > COUNTED:
            self.looks.popleft()

    def read(self):
        """None until a second has passed."""
        passed = self.looks[-1][0] - self.looks[0][0] if self.looks else 0
        if passed < 1:
            return None
        return {"pictures": (len(self.looks) - 1) / passed, "depths": max(0, self.looks[-1][1] - self.looks[0][1]) / passed}


class Stream(stream.Stream):
    def __init__(self, words, hub):
        super().__init__(words)
        self.match = self.pipeline.get_by_name("match")
        if not self.match:
            sys.exit("web.py: the pipeline must have a stereomatch with name=match")
        self.hub, self.lock = hub, threading.Lock()
        self.nearest, self.heard = None, None
        self.judge = self.pipeline.get_by_name("nearest")  # of two that post, the one that is not behind the delay of the picture
        self.trouble, self.controls = Trouble(), Controls(self.match)
        self.live, self.latency, self.rates = None, None, Rates()
        self.depth, self.overlay = Hub(), self.pipeline.get_by_name("overlay")
        for name, take in ("jpeg", self.on_sample), ("depth", self.on_depth):
            sink = self.pipeline.get_by_name(name)
            if sink:
                for key, value in ("emit-signals", True), ("max-buffers", 1), ("drop", True):
                    sink.set_property(key, value)
                sink.connect("new-sample", take)
        self.values = self.pipeline.get_by_name("values")
        if self.values:
            self.values.set_property("max-buffers", 1)
            self.values.set_property("drop", True)
        self.newest = None  # sample of depth

    def on_depth(self, sink):
        sample = sink.emit("pull-sample")
        if sample:
            self.depth.put(sample.get_buffer().extract_dup(0, sample.get_buffer().get_size()))
        return Gst.FlowReturn.OK

    def at(self, across, down):
        """For any thread: what is known now of the pixel at these shares of the picture's width and height."""
        with self.lock:
            self.newest = self.values and self.values.emit("try-pull-sample", 0) or self.newest
            sample = self.newest
        if not sample or not GstStereo:
            return {}
        buffer, shape = sample.get_buffer(), sample.get_caps().get_structure(0)
        meta, width, height = GstStereo.buffer_get_stereo_meta(buffer), shape.get_value("width"), shape.get_value("height")
        age = self.since(sample.get_segment().to_running_time(Gst.Format.TIME, buffer.pts))
        if (age or 0) > OLDEST or GstStereo.stereo_health_get_reason(meta.health):
            return {}
        x, y = (min(max(int(share * size), 0), size - 1) for share, size in ((across, width), (down, height)))
        size = 2 if shape.get_value("format") == "GRAY16_LE" else 1
        placed = GstVideo.buffer_get_video_meta(buffer)
        stride = placed.stride[0] if placed else (width * size + 3) // 4 * 4
        number = int.from_bytes(buffer.extract_dup(y * stride + x * size, size), "little")
        confidence = meta.get_confidence_bytes()
        found = {"distance": meta.get_depth(number), "disparity": meta.get_disparity(number),
                 "confidence": confidence.get_data()[y * width + x] / 255 if confidence else None}
        return {key: value if value is not None and math.isfinite(value) else None for key, value in found.items()}

    def on_sample(self, sink):
        sample = sink.emit("pull-sample")
        if sample:  # none while it stops
            buffer = sample.get_buffer()
            self.measure(sample, buffer)
            with self.lock:
                pairs = self.match.get_property("stats").get_value("pairs")
                self.rates.on_picture(pairs)
                self.trouble.note_pairs(pairs)
            self.hub.put(buffer.extract_dup(0, buffer.get_size()))
        return Gst.FlowReturn.OK

    def measure(self, sample, buffer):
        """The time from the capture of a frame until now, in milliseconds. A film has none: it is not captured now."""
        if self.live is None:
            query = Gst.Query.new_latency()
            self.live = self.pipeline.query(query) and query.parse_latency()[0]
        seconds = self.since(sample.get_segment().to_running_time(Gst.Format.TIME, buffer.pts))
        if seconds is not None:
            self.latency = 1000 * seconds

    def since(self, captured):
        """Seconds from that running time to now; None where nothing is live, or the time is not known."""
        clock = self.pipeline.get_clock()
        if not self.live or not clock or captured in (None, Gst.CLOCK_TIME_NONE):
            return None
        return max(0, clock.get_time() - self.pipeline.get_base_time() - captured) / Gst.SECOND

    def on_structure(self, structure, source):
        with self.lock:
            if structure.get_name() == "stereo-nearest" and self.judge in (None, source):
                self.nearest, self.heard = members_of(structure), time.monotonic()
            elif structure.get_name() == "stereo-health":
                self.trouble.on_health(members_of(structure))

    def say(self, text):
        self.on_warning(None, text)

    def on_warning(self, source, text):
        super().say(f"{source.get_name()}: {text}" if source else text)
        with self.lock:
            self.trouble.on_warning(text)

    def on_error(self, source, text):
        super().say(f"{source.get_name()}: {text}")
        self.stop(1)

    def on_end(self):
        """A movie begins again."""
        movie = any(element.get_factory().get_name() == "filesrc" for element in stream.elements_of(self.pipeline))
        if not movie or not self.pipeline.seek_simple(Gst.Format.TIME, Gst.SeekFlags.FLUSH | Gst.SeekFlags.KEY_UNIT, 0):
            self.stop(0)

    def change(self, name, value):
        """For any thread."""
        if name == "view" and self.overlay and value in VIEWS:
            self.overlay.set_property("alpha", VIEWS[value])
            return None
        with self.lock:
            return self.controls.change(name, value)

    def age(self):
        """Of the depth that the last message is about, in seconds: from its capture to now where the stream is live, else from
        the message."""
        if self.heard is None:
            return None
        seconds = self.since(self.nearest.get("running-time"))
        return time.monotonic() - self.heard if seconds is None else seconds

    def state(self):
        """For any thread. One verdict: it is unknown where no depth comes."""
        with self.lock:
            stats = members_of(self.match.get_property("stats"))
            trouble = self.trouble.lines(stats)
            age = self.age()
            nearest = at_age(self.nearest, age)
            silent = self.trouble.silence()
            if nearest and silent:
                nearest = at_age(nearest, math.inf)
            return {"nearest": nearest, "age": age, "oldest": OLDEST, "trouble": trouble, "latency": self.latency,
                    "rates": self.rates.read(), "controls": self.controls.describe(), "words": self.controls.words(),
                    "view": "side by side" if self.overlay and self.overlay.get_property("alpha") == 0 else "blended",
                    "backend": self.match.get_property("active-backend"), "stats": stats}


def make_server(options, shown, hub):
    remote, names, address, port = options
    try:
        return Server(address, int(port), hub, shown.state, names, change=shown.change, remote=remote, depth=shown.depth, at=shown.at)
    except OSError as error:
        hint = ": is another server there?" if error.errno == errno.EADDRINUSE else \
            ": an IPv4 address of this machine is wanted, or 0.0.0.0 for all of them"
        sys.exit(f"web.py: cannot listen at {address}, port {port}: {error.strerror}{hint}")


def main(options, words):
    hub = Hub()
    shown = stream.start(Stream, words, hub)
    server = make_server(options, shown, hub)
    server.start()
    host = socket.gethostname() if options[2] == "0.0.0.0" else options[2]
    print(f"http://{host}:{server.server_address[1]}/", flush=True)
    status = shown.run()
    server.stop()
    sys.exit(status)


def read_arguments(arguments):
    """((whether others control, names, address, port), the pipeline's words)"""
    remote, allowed = False, []
    while arguments and arguments[0] in ("--allow", "--control"):
        if arguments[0] == "--control":
            remote, arguments = True, arguments[1:]
        else:
            allowed, arguments = allowed + arguments[1:2], arguments[2:]
    if len(arguments) < 3:
        sys.exit(__doc__)
    return (remote, allowed, arguments[0], arguments[1]), arguments[2:]


if __name__ == "__main__":
    main(*read_arguments(sys.argv[1:]))
