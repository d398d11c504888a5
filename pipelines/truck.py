#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The same as truck.c, in Python: embeds a pipeline and tells what it sees.

truck.py [--json] [--log FILE] CAMERAS ! ... stereomatch name=match ... ! stereoground ! ... depthoverlay ... ! autovideosink
truck.py [--json] --replay FILE

pipelines/truck.sh --python puts the pipeline together. Ctrl-C ends the stream, and a second one the program.
"""
import argparse
import json
import math
import os
import signal
import sys
import time
import warnings

# What each import needs, on Debian
PACKAGES = {
    "Gst": "gir1.2-gstreamer-1.0",
    "GstVideo": "gir1.2-gst-plugins-base-1.0",
    "GstStereo": "gst-stereo's own typelib: gir1.2-gststereo-1.0; or, where gst-stereo is built and not installed, "
                 "libgirepository1.0-dev, then build again, and set GI_TYPELIB_PATH and LD_LIBRARY_PATH to build/gst",
}

try:
    import gi
except ImportError as error:
    sys.exit(f"truck.py: {error}: install python3-gi, and start this with /usr/bin/python3")
for name, package in PACKAGES.items():
    try:
        gi.require_version(name, "1.0")
    except ValueError as error:
        sys.exit(f"truck.py: {error}: install {package}")
from gi.repository import GLib, Gst, GstStereo, GstVideo  # noqa: E402


FAR_SAMPLE = 65535  # of depth: that far or farther
OLDEST = 1  # second that what was said of the nearest surface holds: without a newer message it is not known


def say(text):
    print(text, flush=True)


def depth_ahead(pad, buffer, meta):
    """Millimetres in the middle of the picture; NaN: no value there, or no camera known; infinity: farther than samples go."""
    info = GstVideo.VideoInfo.new_from_caps(pad.get_current_caps())
    placed = GstVideo.buffer_get_video_meta(buffer)
    size = 2 if info.finfo.format == GstVideo.VideoFormat.GRAY16_LE else 1
    at = info.height // 2 * (placed or info).stride[0] + info.width // 2 * size
    sample = int.from_bytes(buffer.extract_dup(at, size), "little")
    far = meta.kind == GstStereo.StereoOutputKind.DEPTH and sample == FAR_SAMPLE
    return math.inf if far else meta.get_depth(sample)


# ---- messages: a Gst.Structure becomes a dictionary -------------------------------------------


def value_of(structure, name):
    """Lists and structures within become lists and dictionaries; a number that JSON does not know, None."""
    for read in (structure.get_array, structure.get_list):
        found, values = read(name)
        if found:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # of GLib's own; there is no other way to read them
                return [content_of(values.get_nth(i)) for i in range(values.n_values)]
    return content_of(structure.get_value(name))


def content_of(value):
    if isinstance(value, Gst.Structure):
        return members_of(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, (bool, int, float, str)) else None if value is None else str(value)


def members_of(structure):
    names = (structure.nth_field_name(i) for i in range(structure.n_fields()))
    return {name: value_of(structure, name) for name in names}


def structure_of(text):
    """None where @text is no structure."""
    try:
        return Gst.Structure.from_string(text)[0]
    except TypeError:
        return None


# ---- words ------------------------------------------------------------------------------------


def state_of(nearest):
    """What a vehicle goes by. Unknown is not clear: something may be near that the cameras do not see."""
    if nearest["warning"]:
        return " WARNING"
    if nearest["state"] == "clear":
        return ", clear"
    if nearest["state"] == "near":
        return ""  # there is no distance to warn below
    return f", UNKNOWN: {nearest.get('reason') or 'nobody says why'}"


def say_nearest(nearest):
    if not nearest["valid"]:
        say("nearest: nothing to be seen" + state_of(nearest))
        return
    if "distance" in nearest:
        text = f"{nearest['distance']:.0f} mm"
    else:
        text = f"{nearest['disparity']:.1f} px (set focal-length and baseline for mm)"
    say(f"nearest: {text} at {nearest['x']},{nearest['y']}, confidence {nearest['confidence']:.2f}" + state_of(nearest))


def say_obstacles(seen):
    if not seen["ground"]:
        say(f"ground: NONE, so no obstacle can be told: {seen.get('reason') or 'nobody says why'}")
        return
    free = seen["free"][len(seen["free"]) // 2] if seen["free"] else -1
    say(f"ground: camera {seen['camera-height']:.0f} mm high, pitch {seen['pitch']:.1f}, roll {seen['roll']:.1f} degrees; "
        + ("UNKNOWN whether it is free ahead" if free < 0 else f"free for {free:.0f} mm ahead"))
    for o in seen["obstacles"]:
        say(f"obstacle {o['id']}: {o['distance']:.0f} mm, {abs(o['lateral']):.0f} mm to the "
            f"{'left' if o['lateral'] < 0 else 'right'}, {o['object-width']:.0f} x {o['object-height']:.0f} mm, "
            f"probability {o['probability']:.2f}")


def say_health(health):
    say("camera: " + ("" if health["active"] else "over: ") + (health["text"] or ""))


def say_ahead(ahead):
    depth = ahead["depth"]
    if "reason" in ahead:
        say("depth: not to be relied on: " + ahead["reason"])
        return
    say(f"depth: {100 * ahead['valid-ratio']:.1f} % of the pixels, mean confidence {ahead['confidence']:.3f}, "
        + (f"{depth:.0f} mm ahead" if depth is not None else
           "farther ahead than can be told" if ahead["far"] else "none known ahead"))


WORDS = {"stereo-nearest": say_nearest, "stereo-obstacles": say_obstacles, "stereo-health": say_health, "ahead": say_ahead}


class Teller:
    """Tells messages in words or in JSON, and writes them to the log."""

    def __init__(self, options):
        self.json = options.json
        self.log = open(options.log, "w", encoding="utf-8") if options.log else None

    def tell(self, message):
        name = message.get_name()
        if name not in WORDS:
            return
        if self.json:
            say(json.dumps({"message": name, **members_of(message)}))
        else:
            WORDS[name](members_of(message))
        if self.log:
            print(message.to_string(), file=self.log, flush=True)

    def replay(self, path):
        """In the time that the messages took."""
        first, start = None, time.monotonic()
        if not os.path.isfile(path):
            sys.exit(f"truck.py: error: there is no file {path}")
        with open(path, encoding="utf-8") as log:
            for number, line in enumerate(log, 1):
                if not line.strip():
                    continue
                message = structure_of(line.strip())
                if message is None:
                    sys.exit(f"truck.py: error: line {number} of {path} is no message: --replay wants a file of --log")
                found, when = message.get_uint64("running-time")
                if found and when != Gst.CLOCK_TIME_NONE:
                    first = when if first is None else first
                    time.sleep(max(0, start + (when - first) / Gst.SECOND - time.monotonic()))
                self.tell(message)


class Truck:
    def __init__(self, teller, words):
        self.teller = teller
        self.pipeline = Gst.parse_launchv(words)
        match = isinstance(self.pipeline, Gst.Bin) and self.pipeline.get_by_name("match")
        if not match:
            sys.exit("truck.py: the pipeline must have a stereomatch with name=match")
        self.loop = GLib.MainLoop()
        self.next = 0
        self.heard = None  # when the last stereo-nearest came
        self.ending = False
        self.status = 0
        match.get_static_pad("src").add_probe(Gst.PadProbeType.BUFFER, self.read_meta)
        bus = self.pipeline.get_bus()
        bus.add_signal_watch()
        bus.connect("message", self.on_message)
        GLib.timeout_add_seconds(1, self.on_time)
        for number in signal.SIGINT, signal.SIGTERM:
            GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, number, self.on_interrupt)

    def read_meta(self, pad, probe):
        """In the streaming thread: what is found goes to the main thread by the bus."""
        buffer = probe.get_buffer()
        meta = GstStereo.buffer_get_stereo_meta(buffer)
        if not meta or (buffer.pts != Gst.CLOCK_TIME_NONE and buffer.pts < self.next):
            return Gst.PadProbeReturn.OK
        if buffer.pts != Gst.CLOCK_TIME_NONE:
            self.next = buffer.pts + Gst.SECOND
        ahead = Gst.Structure.new_empty("ahead")
        reason = GstStereo.stereo_health_get_reason(meta.health)
        depth = math.nan if reason else depth_ahead(pad, buffer, meta)
        ahead.set_value("depth", depth)
        ahead.set_value("far", math.isinf(depth))
        ahead.set_value("valid-ratio", meta.valid_ratio)
        ahead.set_value("confidence", meta.mean_confidence)
        if reason:
            ahead.set_value("reason", reason)
        self.pipeline.post_message(Gst.Message.new_application(self.pipeline, ahead))
        return Gst.PadProbeReturn.OK

    def on_time(self):
        """Once a second: where the elements are silent, the state is unknown, whatever they said last."""
        age = time.monotonic() - self.heard if self.heard else 0
        if age >= OLDEST:
            nearest = Gst.Structure.new_empty("stereo-nearest")
            for name, value in {"state": "unknown", "coverage": 0.0, "valid": False, "reason": f"no depth for {age:.0f} s",
                                "warning": False}.items():
                nearest.set_value(name, value)
            self.teller.tell(nearest)
        return GLib.SOURCE_CONTINUE

    def on_message(self, _bus, message):
        if message.type in (Gst.MessageType.ELEMENT, Gst.MessageType.APPLICATION):
            if message.get_structure().get_name() == "stereo-nearest":
                self.heard = time.monotonic()
            self.teller.tell(message.get_structure())
        elif message.type == Gst.MessageType.LATENCY:
            self.pipeline.recalculate_latency()
        elif message.type == Gst.MessageType.WARNING:
            print(f"truck.py: warning: {message.src.get_name()}: {message.parse_warning()[0].message}", file=sys.stderr)
        elif message.type == Gst.MessageType.ERROR:
            print(f"truck.py: error: {message.src.get_name()}: {message.parse_error()[0].message}", file=sys.stderr)
            self.status = 1
            self.loop.quit()
        elif message.type == Gst.MessageType.EOS:
            if not self.teller.json:
                say("end of the stream")
            self.loop.quit()

    def on_interrupt(self):
        """The end of the stream goes through all elements, so that a file is closed properly."""
        if self.ending:
            self.loop.quit()
        else:
            self.pipeline.send_event(Gst.Event.new_eos())
        self.ending = True
        return GLib.SOURCE_CONTINUE

    def drive(self):
        if self.pipeline.set_state(Gst.State.PLAYING) == Gst.StateChangeReturn.FAILURE:
            self.status = 1
            # once the messages that say why have been read
            GLib.idle_add(self.loop.quit, priority=GLib.PRIORITY_LOW)
        self.loop.run()
        self.pipeline.set_state(Gst.State.NULL)
        self.pipeline.get_bus().remove_signal_watch()
        return self.status


def main():
    Gst.init(None)
    parser = argparse.ArgumentParser(prog="truck.py", description="Tells what a pipeline of stereomatch sees.")
    parser.add_argument("--json", action="store_true", help="print lines of JSON")
    parser.add_argument("--log", metavar="FILE", help="write the messages to a file")
    parser.add_argument("--replay", metavar="FILE", help="tell the messages of such a file")
    parser.add_argument("pipeline", nargs=argparse.REMAINDER, help="with elements named match and overlay: see truck.sh")
    options = parser.parse_args()
    if bool(options.replay) == bool(options.pipeline) or (options.replay and options.log):
        parser.error("give a pipeline, or --replay FILE alone: see truck.sh")
    try:
        teller = Teller(options)
        if options.replay:
            teller.replay(options.replay)
            return 0
        truck = Truck(teller, options.pipeline)
    except (GLib.Error, OSError) as error:
        print(f"truck.py: error: {getattr(error, 'message', error)}", file=sys.stderr)
        return 1
    return truck.drive()


sys.exit(main())
