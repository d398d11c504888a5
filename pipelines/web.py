#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shows a pipeline in browsers: web.py [--allow NAME]... ADDRESS PORT WORD..., as web.sh calls it. Its last element is an appsink, name=jpeg."""
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
from webserver import Hub, Server, at_age  # noqa: E402


def members_of(structure):
    """Numbers, words and truths of a structure; a number that JSON does not know is None."""
    found = {}
    for name in (structure.nth_field_name(i) for i in range(structure.n_fields())):
        try:
            value = structure.get_value(name)
        except TypeError:
            continue  # a list
        if isinstance(value, float) and not math.isfinite(value):
            value = None
        if value is None or isinstance(value, (bool, int, float, str)):
            found[name] = value
    return found


class Stream:
    def __init__(self, words, hub):
        self.pipeline = Gst.parse_launchv(words)
        self.hub, self.lock = hub, threading.Lock()
        self.nearest, self.heard = None, None
        bus = self.pipeline.get_bus()
        bus.add_signal_watch()
        bus.connect("message::element", self.on_message)
        sink = self.pipeline.get_by_name("jpeg")
        sink.set_property("emit-signals", True)
        sink.set_property("max-buffers", 1)
        sink.set_property("drop", True)
        sink.connect("new-sample", self.on_sample)
        self.bus, self.match = bus, self.pipeline.get_by_name("match")

    def on_sample(self, sink):
        sample = sink.emit("pull-sample")
        if sample:  # none while it stops
            buffer = sample.get_buffer()
            self.hub.put(buffer.extract_dup(0, buffer.get_size()))
        return Gst.FlowReturn.OK

    def on_message(self, _bus, message):
        structure = message.get_structure()
        if structure and structure.get_name() == "stereo-nearest":
            with self.lock:
                self.nearest, self.heard = members_of(structure), time.monotonic()

    def state(self):
        """For any thread."""
        with self.lock:
            age = None if self.heard is None else time.monotonic() - self.heard
            return {"nearest": at_age(self.nearest, age), "age": age,
                    "stats": members_of(self.match.get_property("stats")) if self.match else {}}


def main(names, address, port, words):
    Gst.init(None)
    hub = Hub()
    try:
        stream = Stream(words, hub)
    except GLib.Error as error:
        sys.exit(f"web.py: {error.message}")
    try:
        server = Server(address, int(port), hub, stream.state, names)
    except OSError as error:
        hint = ": is another server there?" if error.errno == errno.EADDRINUSE else \
            ": an IPv4 address of this machine is wanted, or 0.0.0.0 for all of them"
        sys.exit(f"web.py: {address}, port {port}, cannot be listened at: {error.strerror}{hint}")
    loop, failed = GLib.MainLoop(), []

    def on_error(_bus, message):
        failed.append(f"web.py: {message.src.get_name()}: {message.parse_error()[0].message}")
        loop.quit()

    stream.bus.connect("message::error", on_error)
    stream.bus.connect("message::eos", lambda *_: loop.quit())
    for number in signal.SIGINT, signal.SIGTERM:
        GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, number, loop.quit)
    stream.pipeline.set_state(Gst.State.PLAYING)
    server.start()
    host = socket.gethostname() if address == "0.0.0.0" else address
    print(f"http://{host}:{server.server_address[1]}/", flush=True)
    loop.run()
    stream.pipeline.set_state(Gst.State.NULL)
    server.stop()
    if failed:
        sys.exit(failed[0])


if __name__ == "__main__":
    arguments, allowed = sys.argv[1:], []
    while arguments[:1] == ["--allow"] and len(arguments) > 1:
        allowed.append(arguments[1])
        del arguments[:2]
    if len(arguments) < 3:
        sys.exit(__doc__)
    main(allowed, arguments[0], arguments[1], arguments[2:])
