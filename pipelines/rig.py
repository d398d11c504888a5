# SPDX-License-Identifier: LGPL-2.1-or-later
"""The GStreamer part of calibrate.py: pairs of grey pictures from two cameras, and a window."""
import os
import re
import signal
import sys

try:
    import gi
    gi.require_version("Gst", "1.0")
    gi.require_version("GstVideo", "1.0")
except (ImportError, ValueError) as error:
    sys.exit(f"calibrate.py: {error}: install python3-gi, gir1.2-gstreamer-1.0 and gir1.2-gst-plugins-base-1.0, and start this "
             "with /usr/bin/python3")
from gi.repository import Gst, GstVideo  # noqa: E402
import numpy as np  # noqa: E402
from chessboard import Refused  # noqa: E402
from cameras import stable  # noqa: E402

Gst.init(None)

PACKAGES = {"v4l2src": "gstreamer1.0-plugins-good", "jpegdec": "gstreamer1.0-plugins-good"}
GREY = "videoconvert ! video/x-raw,format=GRAY8 ! appsink sync=false name="


class Interrupted(Exception):
    """Ctrl-C, or the window was closed."""


def need(*names):
    for name in names:
        if not Gst.ElementFactory.find(name):
            raise Refused(f"There is no element {name}: install {PACKAGES.get(name, 'gstreamer1.0-plugins-base')}.")


def camera(name, options, views):
    """Words of gst-launch for a camera that gives so many views in a frame."""
    caps = ""
    if options.size:
        match = re.fullmatch(r"(\d+)x(\d+)", options.size)
        if not match:
            raise Refused(f"--size {options.size}: a view's width and height, such as 1280x720.")
        caps += f",width={views * int(match.group(1))},height={match.group(2)}"
    if options.rate:
        caps += f",framerate={options.rate}/1"
    need("v4l2src", *(["jpegdec"] if options.jpeg else []))
    kind = "image/jpeg" if options.jpeg else "video/x-raw"
    return f"v4l2src device=\"{stable(name)}\" ! {kind}{caps} ! {'jpegdec ! ' if options.jpeg else ''}"


def words_of(options):
    """Words of gst-launch, ending in appsinks: left_views and right_views, or both_views."""
    need("videoconvert", "appsink")
    if options.left:
        if stable(options.left) == stable(options.right):
            raise Refused("--left and --right are one camera.")
        return " ".join(camera(name, options, 1) + GREY + side + "_views"
                        for name, side in ((options.left, "left"), (options.right, "right")))
    if options.side_by_side:
        return camera(options.side_by_side, options, 2) + GREY + "both_views"
    if re.search(r"\bname=left\b", options.source) and re.search(r"\bname=right\b", options.source):
        return options.source + " left. ! " + GREY + "left_views right. ! " + GREY + "right_views"
    return options.source + " ! " + GREY + "both_views"


def picture(sample):
    info, buffer = GstVideo.VideoInfo.new_from_caps(sample.get_caps()), sample.get_buffer()
    meta = GstVideo.buffer_get_video_meta(buffer)
    stride = meta.stride[0] if meta else info.stride[0]
    data = np.frombuffer(buffer.extract_dup(0, buffer.get_size()), np.uint8)
    rows = np.lib.stride_tricks.as_strided(data, (info.height, info.width), (stride, 1))
    return rows.copy()


def running_time(sample):
    """Of its frame, in ns; None where the source has no clock."""
    time = sample.get_buffer().pts
    return None if time == Gst.CLOCK_TIME_NONE else sample.get_segment().to_running_time(Gst.Format.TIME, time)


class Rig:
    """Pairs of pictures. Of cameras the newest, of files every one."""

    def __init__(self, options):
        words = words_of(options)
        try:
            self.pipeline = Gst.parse_launch(words)
        except Exception as error:  # GLib.Error
            raise Refused(f"{words}: {getattr(error, 'message', error)}") from error
        self.sinks = [sink for sink in map(self.pipeline.get_by_name, ("left_views", "right_views", "both_views")) if sink]
        self.bus = self.pipeline.get_bus()
        self.interrupted = False
        for number in signal.SIGINT, signal.SIGTERM:
            signal.signal(number, self.interrupt)
        live = self.pipeline.set_state(Gst.State.PAUSED) == Gst.StateChangeReturn.NO_PREROLL
        for sink in self.sinks:
            sink.set_property("max-buffers", 4)
            sink.set_property("drop", live)
        self.pipeline.set_state(Gst.State.PLAYING)

    def interrupt(self, *_):
        if self.interrupted:
            sys.exit(130)
        self.interrupted = True

    def pull(self, sink):
        """The next sample; None: the stream is over."""
        while True:
            sample = sink.emit("try-pull-sample", 100 * Gst.MSECOND)
            if sample:
                return sample
            message = self.bus.pop_filtered(Gst.MessageType.ERROR)
            if message:
                raise Refused(f"{message.src.get_name()}: {message.parse_error()[0].message}")
            if self.interrupted:
                raise Interrupted
            if sink.get_property("eos"):
                return None

    def pairs(self):
        """Left, right, and the seconds between them."""
        while True:
            samples = [self.pull(sink) for sink in self.sinks]
            if self.interrupted:
                raise Interrupted
            if len(samples) == 1:
                if not samples[0]:
                    return
                both = picture(samples[0])
                half = both.shape[1] // 2
                if both.shape[1] % 2:
                    raise Refused(f"A frame with both views has an even width; this one has {both.shape[1]} pixels.")
                yield both[:, :half].copy(), both[:, half:].copy(), 0.0
                continue
            samples = self.nearest(samples)
            if not all(samples):
                return
            yield (*map(picture, samples), self.skew(samples) or 0.0)

    def skew(self, samples):
        times = [running_time(sample) for sample in samples]
        return None if None in times else abs(times[0] - times[1]) / Gst.SECOND

    def nearest(self, samples):
        """The earlier view catches up while that brings both nearer."""
        while all(samples):
            if not self.skew(samples):
                return samples
            late = 0 if running_time(samples[0]) < running_time(samples[1]) else 1
            following = list(samples)
            following[late] = self.pull(self.sinks[late])
            if not following[late] or self.skew(following) >= self.skew(samples):
                return samples  # the sample that came too far is let go
            samples = following
        return samples

    def stop(self):
        self.pipeline.set_state(Gst.State.NULL)


class Screen:
    """A window. It shows what it can and holds nothing up."""

    def __init__(self):
        sink = os.environ.get("SINK")
        if not sink and not os.environ.get("DISPLAY") and not os.environ.get("WAYLAND_DISPLAY"):
            raise Refused("There is no screen: set DISPLAY or WAYLAND_DISPLAY, or give --headless.")
        need("appsrc", "videoconvert")
        try:
            self.pipeline = Gst.parse_launch("appsrc name=in is-live=true format=time do-timestamp=true leaky-type=downstream "
                                             f"max-buffers=2 ! videoconvert ! {sink or 'autovideosink sync=false'}")
        except Exception as error:  # GLib.Error
            raise Refused(f"SINK={sink}: {getattr(error, 'message', error)}") from error
        self.source, self.size = self.pipeline.get_by_name("in"), None

    def show(self, image):
        height, width = image.shape[:2]
        if self.size != (width, height):
            self.size = width, height
            self.source.set_property("caps", Gst.Caps.from_string(
                f"video/x-raw,format=BGRx,width={width},height={height},framerate=0/1"))
            self.pipeline.set_state(Gst.State.PLAYING)
        opaque = np.concatenate((image, np.zeros_like(image[..., :1])), axis=2)
        self.source.emit("push-buffer", Gst.Buffer.new_wrapped(opaque.tobytes()))
        message = self.pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
        if message:
            text = message.parse_error()[0].message
            if "closed" in text:
                raise Interrupted
            raise Refused(f"The window: {text} Without one, give --headless.")

    def stop(self):
        """After the last picture is shown."""
        if self.size:
            self.source.emit("end-of-stream")
            self.pipeline.get_bus().timed_pop_filtered(2 * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
        self.pipeline.set_state(Gst.State.NULL)
