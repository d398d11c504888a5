#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The same as truck.c, in Python: embeds a pipeline and reads what depth it sees.

truck.py CAMERAS ! ... stereomatch name=match ... depthoverlay name=overlay warn-distance=1500 ! ... ! autovideosink

pipelines/truck.sh --python puts the pipeline together. Ctrl-C ends the stream, and a second one the program.
"""
import math
import signal
import sys

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


def say(text):
    print(text, flush=True)


def depth_ahead(pad, buffer, meta):
    """Millimetres in the middle of the picture; NaN: no value there, or no camera known."""
    info = GstVideo.VideoInfo.new_from_caps(pad.get_current_caps())
    placed = GstVideo.buffer_get_video_meta(buffer)
    size = 2 if info.finfo.format == GstVideo.VideoFormat.GRAY16_LE else 1
    at = info.height // 2 * (placed or info).stride[0] + info.width // 2 * size
    return meta.get_depth(int.from_bytes(buffer.extract_dup(at, size), "little"))


def state_of(nearest):
    """What a vehicle goes by. Unknown is not clear: something may be near that the cameras do not see."""
    if nearest.get_value("warning"):
        return " WARNING"
    if nearest.get_value("state") == "clear":
        return ", clear"
    if nearest.get_value("state") == "near":
        return ""  # there is no distance to warn below
    return f", UNKNOWN: {math.floor(100 * nearest.get_value('coverage'))} % of the region is seen"


class Truck:
    def __init__(self, words):
        self.pipeline = Gst.parse_launchv(words)
        match = isinstance(self.pipeline, Gst.Bin) and self.pipeline.get_by_name("match")
        if not match:
            sys.exit("truck.py: the pipeline must have a stereomatch with name=match")
        self.loop = GLib.MainLoop()
        self.next = 0
        self.ending = False
        self.status = 0
        match.get_static_pad("src").add_probe(Gst.PadProbeType.BUFFER, self.read_meta)
        bus = self.pipeline.get_bus()
        bus.add_signal_watch()
        bus.connect("message", self.on_message)
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
        ahead.set_value("depth", depth_ahead(pad, buffer, meta))
        ahead.set_value("valid", meta.valid_ratio)
        ahead.set_value("confidence", meta.mean_confidence)
        self.pipeline.post_message(Gst.Message.new_application(self.pipeline, ahead))
        return Gst.PadProbeReturn.OK

    def say_ahead(self, ahead):
        depth = ahead.get_value("depth")
        say(f"depth: {100 * ahead.get_value('valid'):.1f} % of the pixels, "
            f"mean confidence {ahead.get_value('confidence'):.3f}, "
            + (f"{depth:.0f} mm ahead" if math.isfinite(depth) else "none known ahead"))

    def say_nearest(self, nearest):
        if not nearest.get_value("valid"):
            say("nearest: nothing to be seen" + state_of(nearest))
            return
        if nearest.has_field("distance"):
            text = f"{nearest.get_value('distance'):.0f} mm"
        else:
            text = f"{nearest.get_value('disparity'):.1f} px (set focal-length and baseline for mm)"
        say(f"nearest: {text} at {nearest.get_value('x')},{nearest.get_value('y')}, "
            f"confidence {nearest.get_value('confidence'):.2f}" + state_of(nearest))

    def on_message(self, _bus, message):
        if message.type == Gst.MessageType.ELEMENT and message.has_name("stereo-nearest"):
            self.say_nearest(message.get_structure())
        elif message.type == Gst.MessageType.APPLICATION:
            self.say_ahead(message.get_structure())
        elif message.type == Gst.MessageType.LATENCY:
            self.pipeline.recalculate_latency()
        elif message.type == Gst.MessageType.WARNING:
            print(f"truck.py: warning: {message.src.get_name()}: {message.parse_warning()[0].message}", file=sys.stderr)
        elif message.type == Gst.MessageType.ERROR:
            print(f"truck.py: error: {message.src.get_name()}: {message.parse_error()[0].message}", file=sys.stderr)
            self.status = 1
            self.loop.quit()
        elif message.type == Gst.MessageType.EOS:
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
    if len(sys.argv) < 2:
        print("truck.py PIPELINE, with elements named match and overlay: see pipelines/truck.sh", file=sys.stderr)
        return 2
    try:
        truck = Truck(sys.argv[1:])
    except GLib.Error as error:
        print(f"truck.py: error: {error.message}", file=sys.stderr)
        return 1
    return truck.drive()


sys.exit(main())
