#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Embeds a pipeline and reads what depth it sees, as a vehicle would:

truck.py [--json] [--log FILE] [--free] CAMERAS ! ... stereomatch name=match ... ! stereoground ! ... depthoverlay ... ! autovideosink
truck.py [--json] --replay FILE

The pipeline is written as for gst-launch-1.0; pipelines/truck.sh puts it together. stereoground's messages say where the
ground is, what stands on it and how far it is free; depthoverlay's, how far the nearest surface is, whether it is too near,
and when that is unknown; stereomatch's, what is wrong with a camera. Once a second the GstStereoMeta of stereomatch's output
is read: how many pixels have a value, how sure they are, and how far it is straight ahead.

--json prints each message as a line of JSON in place of words. --log writes each message to a file, as GStreamer writes
structures, and --replay tells them again, in the time they took. Ctrl-C ends the stream, and a second one the program.
"""
import argparse
import json
import math
import os
import signal
import socket
import sys
import time

# What each import needs, on Debian
PACKAGES = {
    "GstVideo": "gir1.2-gst-plugins-base-1.0",
    "GstStereo": "gst-stereo's own typelib: gir1.2-gststereo-1.0; or, where gst-stereo is built and not installed, "
                 "libgirepository1.0-dev, then build again, and set GI_TYPELIB_PATH and LD_LIBRARY_PATH to build/gst",
}

from stream import GLib, Gst, Stream, gi, start  # noqa: E402

for name, package in PACKAGES.items():
    try:
        gi.require_version(name, "1.0")
    except ValueError as error:
        sys.exit(f"truck.py: {error}: install {package}")
from gi.repository import GstStereo, GstVideo  # noqa: E402
from structures import members_of  # noqa: E402

FAR_SAMPLE = 65535  # of depth: that far or farther
LATE = 0.5  # seconds from the capture on, from which the age is told
OLDEST = 1  # second that what was said of the nearest surface holds: without a newer message it is not known


def say(text):
    print(text, flush=True)


def tell_systemd(words):
    """sd_notify(): nothing where systemd does not watch."""
    address = os.environ.get("NOTIFY_SOCKET")
    if address:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as watcher:
            watcher.sendto(words.encode(), address.replace("@", "\0", 1))


def depth_ahead(pad, buffer, meta):
    """Millimetres in the middle of the picture; NaN: no value there, or no camera known; infinity: farther than samples go."""
    info = GstVideo.VideoInfo.new_from_caps(pad.get_current_caps())
    placed = GstVideo.buffer_get_video_meta(buffer) or info
    size = 2 if info.finfo.format == GstVideo.VideoFormat.GRAY16_LE else 1
    at = placed.offset[0] + info.height // 2 * placed.stride[0] + info.width // 2 * size
    sample = int.from_bytes(buffer.extract_dup(at, size), "little")
    far = meta.kind == GstStereo.StereoOutputKind.DEPTH and sample == FAR_SAMPLE
    return math.inf if far else meta.get_depth(sample)


# ---- words: what is not known is said to be not known -----------------------------------------


def number(content, name):
    """NaN where there is none."""
    value = content.get(name)
    return math.nan if value is None else value


def reason_of(content):
    return content.get("reason") or "no reason is given"


def state_of(nearest):
    """What a vehicle goes by. Unknown is not clear: something may be near that the cameras do not see."""
    if nearest.get("warning"):
        return " WARNING"
    if nearest.get("state") == "clear":
        return ", clear"
    if nearest.get("state") == "near":
        return ""  # there is no distance to warn below
    return f", UNKNOWN: {reason_of(nearest)}"


def old_of(nearest):
    """Where it is not of this moment."""
    age = number(nearest, "age") / Gst.SECOND
    return f", {age:.1f} s old" if age > LATE else ""


def say_nearest(nearest):
    if not nearest.get("valid"):
        say("nearest: none" + state_of(nearest))
        return
    if "distance" in nearest:
        text = f"{number(nearest, 'distance'):.0f} mm"
    else:
        text = f"{number(nearest, 'disparity'):.1f} px (set focal-length and baseline for mm)"
    say(f"nearest: {text} at {nearest.get('x')},{nearest.get('y')}, confidence {number(nearest, 'confidence'):.2f}"
        + old_of(nearest) + state_of(nearest))


def say_obstacles(seen):
    if not seen.get("ground"):
        say(f"ground: NONE, so no obstacle can be told: {reason_of(seen)}")
        return
    distances = seen.get("free")
    ahead = distances[len(distances) // 2] if distances else None
    say(f"ground: camera {number(seen, 'camera-height'):.0f} mm high, pitch {number(seen, 'pitch'):.1f}, "
        f"roll {number(seen, 'roll'):.1f} degrees; "
        + ("UNKNOWN whether it is free ahead" if ahead is None or ahead < 0 else f"free for {ahead:.0f} mm ahead"))
    for obstacle in seen.get("obstacles") or []:
        say_obstacle(obstacle)


def say_obstacle(obstacle):
    lateral = number(obstacle, "lateral")
    say(f"obstacle {obstacle.get('id')}: {number(obstacle, 'distance'):.0f} mm, {abs(lateral):.0f} mm to the "
        f"{'left' if lateral < 0 else 'right'}, {number(obstacle, 'object-width'):.0f} x "
        f"{number(obstacle, 'object-height'):.0f} mm, probability {number(obstacle, 'probability'):.2f}")


def say_health(health):
    say("camera: " + ("" if health.get("active") else "over: ") + (health.get("text") or ""))


def say_ahead(ahead):
    depth = number(ahead, "depth")
    if "reason" in ahead:
        say(f"depth: not to be relied on: {reason_of(ahead)}")
        return
    say(f"depth: {100 * number(ahead, 'valid-ratio'):.1f} % of the pixels, mean confidence {number(ahead, 'confidence'):.3f}, "
        + ("farther ahead than can be told" if ahead.get("far") else
           "none known ahead" if math.isnan(depth) else f"{depth:.0f} mm ahead"))


WORDS = {"stereo-nearest": say_nearest, "stereo-obstacles": say_obstacles, "stereo-health": say_health, "ahead": say_ahead}


def structure_of(text):
    """None where @text is no structure."""
    try:
        return Gst.Structure.from_string(text)[0]
    except (TypeError, ValueError):
        return None


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
        if not os.path.exists(path):
            sys.exit(f"truck.py: error: there is no file {path}")
        with open(path, encoding="utf-8", errors="replace") as log:
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


class Truck(Stream):
    def __init__(self, teller, words, free):
        super().__init__(words, True, free)
        self.teller, self.next = teller, 0
        self.heard = None  # when the last stereo-nearest came
        self.judge = self.pipeline.get_by_name("nearest")  # of two that post, the one that is not behind the delay of the picture
        match = self.pipeline.get_by_name("match")
        if not match:
            sys.exit("truck.py: the pipeline must have a stereomatch with name=match")
        match.get_static_pad("src").add_probe(Gst.PadProbeType.BUFFER, self.read_meta)
        GLib.timeout_add_seconds(1, self.on_time)

    def read_meta(self, pad, probe):
        """In the streaming thread: what is found goes to the main thread by the bus."""
        buffer = probe.get_buffer()
        meta = GstStereo.buffer_get_stereo_meta(buffer)
        if not meta or (buffer.pts != Gst.CLOCK_TIME_NONE and buffer.pts < self.next):
            return Gst.PadProbeReturn.OK
        if buffer.pts != Gst.CLOCK_TIME_NONE:
            self.next = buffer.pts + Gst.SECOND
        tell_systemd("READY=1\nWATCHDOG=1")
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

    def on_structure(self, structure, source):
        if structure.get_name() == "stereo-nearest":
            if self.judge not in (None, source):
                return
            self.heard = time.monotonic()
        self.teller.tell(structure)

    def on_warning(self, source, text):
        self.say(f"warning: {source.get_name()}: {text}")

    def on_error(self, source, text):
        self.say(f"error: {source.get_name()}: {text}")
        self.stop(1)

    def on_end(self):
        if not self.teller.json:
            say("end of the stream")
        self.stop(0)


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # where nobody reads on, it ends
    Gst.init(None)
    parser = argparse.ArgumentParser(prog="truck.py", description="Tells what a pipeline of stereomatch sees.")
    parser.add_argument("--json", action="store_true", help="print lines of JSON")
    parser.add_argument("--log", metavar="FILE", help="write the messages to a file")
    parser.add_argument("--free", action="store_true", help="nobody chose the warn-distance: it may become larger than the blind zone")
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
    except OSError as error:
        print(f"truck.py: error: {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    return start(Truck, teller, options.pipeline, options.free).run()


sys.exit(main())
