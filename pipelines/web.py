#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shows a pipeline in browsers: web.py [--control] [--allow NAME]... ADDRESS PORT WORD..., as web.sh calls it. Its last element is an
appsink, name=jpeg."""
import collections
import errno
import math
import signal
import socket
import sys
import threading
import time

try:
    import gi
    gi.require_version("Gst", "1.0")
    from gi.repository import GLib, Gst
except (ImportError, ValueError) as error:
    sys.exit(f"web.py: {error}: install python3-gi and gir1.2-gstreamer-1.0, and start this with /usr/bin/python3")
from parameters import FIRST, Choice, Number, parameters_of  # noqa: E402
from structures import members_of  # noqa: E402
from webserver import OLDEST, Hub, Server, at_age  # noqa: E402

CONTROLS = FIRST + ("confidence-threshold",)
SETTLED = 4  # so many pairs after a change one was matched with it: the ones before were on their way
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


class Controls:
    """The few settings that the page changes. One that the stream cannot work with is taken back."""

    def __init__(self, match):
        self.match = match
        self.parameters = {p.name: p for p in parameters_of(match) if p.name in CONTROLS and isinstance(p, (Choice, Number))}
        self.changed, self.settled = None, 0

    def pairs(self):
        return self.match.get_property("stats").get_value("pairs")

    def describe(self):
        return [self.description(self.parameters[name]) for name in CONTROLS if name in self.parameters]

    @staticmethod
    def description(parameter):
        words = {"name": parameter.name, "text": parameter.text, "value": parameter.in_force()}
        if isinstance(parameter, Choice):
            return {**words, "choices": list(parameter.choices.values())}
        return {**words, "value": parameter.nearest(parameter.in_force()), "low": parameter.low, "high": parameter.high,
                "step": parameter.step}

    def value_of(self, parameter, text):
        """None: it has no such value."""
        if isinstance(parameter, Choice):
            return next((value for value, nick in parameter.choices.items() if nick == text), None)
        try:
            value = float(text)
        except ValueError:
            return None
        return value if math.isfinite(value) and parameter.low <= value <= parameter.high else None

    def change(self, name, text):
        """A sentence where it is refused."""
        parameter = self.parameters.get(name)
        if not parameter:
            return f"There is no control {name}, only {', '.join(self.parameters)}."
        value = self.value_of(parameter, text)
        if value is None:
            return f"{name} cannot be {text}."
        self.changed, self.settled = (parameter, parameter.get()), self.pairs() + SETTLED
        parameter.set(value)
        return None

    def take_back(self):
        """What was changed last, in words, where that may be why the stream has failed."""
        changed, self.changed = self.changed, None
        if not changed or self.pairs() >= self.settled:
            return None
        parameter, value = changed
        parameter.set(value)
        return f"{parameter.name} is {parameter.words(value)} again"


class Stream:
    def __init__(self, words, hub):
        self.pipeline = Gst.parse_launchv(words)
        self.match = self.pipeline.get_by_name("match")
        if not self.match:
            sys.exit("web.py: the pipeline must have a stereomatch with name=match")
        self.hub, self.lock = hub, threading.Lock()
        self.nearest, self.heard = None, None
        self.trouble, self.controls = Trouble(), Controls(self.match)
        self.live, self.latency, self.rates = None, None, Rates()
        self.bus = self.pipeline.get_bus()
        self.bus.add_signal_watch()
        self.bus.connect("message::element", self.on_message)
        self.bus.connect("message::warning", self.on_warning)
        self.bus.connect("message::latency", lambda *_: self.pipeline.recalculate_latency())
        sink = self.pipeline.get_by_name("jpeg")
        sink.set_property("emit-signals", True)
        sink.set_property("max-buffers", 1)
        sink.set_property("drop", True)
        sink.connect("new-sample", self.on_sample)

    def on_sample(self, sink):
        sample = sink.emit("pull-sample")
        if sample:  # none while it stops
            buffer = sample.get_buffer()
            self.measure(sample, buffer)
            with self.lock:
                self.rates.on_picture(self.controls.pairs())
                self.trouble.note_pairs(self.controls.pairs())
            self.hub.put(buffer.extract_dup(0, buffer.get_size()))
        return Gst.FlowReturn.OK

    def measure(self, sample, buffer):
        """The time from the capture of a frame until now, in milliseconds. A film has none: it is not captured now."""
        clock, at = self.pipeline.get_clock(), sample.get_segment().to_running_time(Gst.Format.TIME, buffer.pts)
        if self.live is None:
            query = Gst.Query.new_latency()
            self.live = self.pipeline.query(query) and query.parse_latency()[0]
        if self.live and clock and at != Gst.CLOCK_TIME_NONE:
            self.latency = (clock.get_time() - self.pipeline.get_base_time() - at) / Gst.MSECOND

    def on_message(self, _bus, message):
        structure = message.get_structure()
        name = structure.get_name() if structure else ""
        with self.lock:
            if name == "stereo-nearest":
                self.nearest, self.heard = members_of(structure), time.monotonic()
            elif name == "stereo-health":
                self.trouble.on_health(members_of(structure))

    def on_warning(self, _bus, message):
        text = message.parse_warning()[0].message
        print(f"web.py: {message.src.get_name()}: {text}", file=sys.stderr, flush=True)
        with self.lock:
            self.trouble.on_warning(text)

    def recover(self, text):
        """After an error: whether the stream goes on without the last change."""
        with self.lock:
            words = self.controls.take_back()
            if words:
                self.trouble.on_warning(f"{text} – {words}")
        if words:
            self.pipeline.set_state(Gst.State.NULL)
            self.pipeline.set_state(Gst.State.PLAYING)
        return words

    def change(self, name, value):
        """For any thread."""
        with self.lock:
            return self.controls.change(name, value)

    def state(self):
        """For any thread."""
        with self.lock:
            age = None if self.heard is None else time.monotonic() - self.heard
            stats = members_of(self.match.get_property("stats"))
            return {"nearest": at_age(self.nearest, age), "age": age, "trouble": self.trouble.lines(stats), "latency": self.latency,
                    "rates": self.rates.read(),
                    "controls": self.controls.describe(), "backend": self.match.get_property("active-backend"), "stats": stats}


def make_server(options, stream, hub):
    remote, names, address, port = options
    try:
        return Server(address, int(port), hub, stream.state, names, change=stream.change, remote=remote)
    except OSError as error:
        hint = ": is another server there?" if error.errno == errno.EADDRINUSE else \
            ": an IPv4 address of this machine is wanted, or 0.0.0.0 for all of them"
        sys.exit(f"web.py: cannot listen at {address}, port {port}: {error.strerror}{hint}")


def main(options, words):
    Gst.init(None)
    hub = Hub()
    try:
        stream = Stream(words, hub)
    except GLib.Error as error:
        sys.exit(f"web.py: {error.message}")
    server = make_server(options, stream, hub)
    loop, failed = GLib.MainLoop(), []

    def on_error(_bus, message):
        text = f"{message.src.get_name()}: {message.parse_error()[0].message}"
        if not stream.recover(text):
            failed.append(f"web.py: {text}")
            loop.quit()

    stream.bus.connect("message::error", on_error)
    stream.bus.connect("message::eos", lambda *_: loop.quit())
    for number in signal.SIGINT, signal.SIGTERM:
        GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, number, lambda: loop.quit() or GLib.SOURCE_CONTINUE)
    stream.pipeline.set_state(Gst.State.PLAYING)
    server.start()
    address = options[2]
    host = socket.gethostname() if address == "0.0.0.0" else address
    print(f"http://{host}:{server.server_address[1]}/", flush=True)
    loop.run()
    stream.pipeline.set_state(Gst.State.NULL)
    server.stop()
    if failed:
        sys.exit(failed[0])


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
