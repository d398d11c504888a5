#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs a pipeline that shows a recording of record.sh in colours: play.py "SETTINGS" WORD...

depthoverlay reads in the GstStereoMeta of each frame what the samples mean, and no file keeps metadata. This program takes the frames
that come to the sink "depth", adds it, and gives them to the appsrc "described". SETTINGS are the properties of the stereomatch that made the recording, as
"output=depth num-disparities=96". A stereorectify with the name rectify knows the cameras of the calibration. play.sh puts the
pipeline together.
"""
import sys
import threading

from stream import Gst, Refused, Stream, gi, start

gi.require_version("GstStereo", "1.0")
from gi.repository import GstStereo  # noqa: E402

CAMERAS = "focal-length", "baseline", "principal-offset"
MEANING = "disparity-scale", "min-disparity", "num-disparities", "depth-unit"


def resolve(text):
    """All parameters, those included that profile and method choose."""
    match = Gst.ElementFactory.make("stereomatch")
    for word in text.split():
        name, _, value = word.partition("=")
        if match.find_property(name):
            Gst.util_set_object_arg(match, name, value)
    settings = match.get_property("settings")
    if not settings:
        raise Refused(f"no stereomatch takes these settings together: {text}")
    return settings


class Play(Stream):
    def __init__(self, text, words):
        settings = resolve(text)
        super().__init__(words)
        self.values = {name: settings.get_value(name) for name in CAMERAS + MEANING}
        self.kind = GstStereo.StereoOutputKind.DEPTH if settings.get_value("output") == "depth" else \
            GstStereo.StereoOutputKind.DISPARITY
        self.described, self.known = self.pipeline.get_by_name("described"), threading.Event()
        depth, rectify = self.pipeline.get_by_name("depth"), self.pipeline.get_by_name("rectify")
        # not an appsink's samples: it would wait for the sink of the overlay, which waits for depth
        depth.get_static_pad("sink").add_probe(Gst.PadProbeType.BUFFER | Gst.PadProbeType.EVENT_DOWNSTREAM, self.on_depth)
        if rectify:
            rectify.get_static_pad("src").add_probe(
                Gst.PadProbeType.BUFFER | Gst.PadProbeType.EVENT_DOWNSTREAM, self.on_rectified)
        else:
            self.known.set()

    def on_rectified(self, _pad, info):
        """The first frame says the cameras, or the stream ends without one. A property that was set goes before the calibration."""
        if info.type & Gst.PadProbeType.BUFFER:
            meta = GstStereo.buffer_get_stereo_meta(info.get_buffer())
            for name in CAMERAS if meta else ():
                self.values[name] = self.values[name] or getattr(meta, name.replace("-", "_"))
        elif info.get_event().type != Gst.EventType.EOS:
            return Gst.PadProbeReturn.OK
        self.known.set()
        return Gst.PadProbeReturn.REMOVE

    def on_depth(self, pad, info):
        """The queue before this pad has no limit, so that a frame that waits here never keeps the views from rectify."""
        if not info.type & Gst.PadProbeType.BUFFER:
            if info.get_event().type == Gst.EventType.EOS:
                self.described.emit("end-of-stream")
            return Gst.PadProbeReturn.OK
        caps, buffer = pad.get_current_caps(), info.get_buffer().copy_deep()
        self.known.wait()
        meta = GstStereo.StereoMeta.new(*(caps.get_structure(0).get_value(name) for name in ("width", "height")), None)
        meta.kind = self.kind
        for name, value in self.values.items():
            setattr(meta, name.replace("-", "_"), value)
        GstStereo.buffer_add_stereo_meta_copy(buffer, meta)
        segment = pad.get_sticky_event(Gst.EventType.SEGMENT, 0).parse_segment()
        self.described.emit("push-sample", Gst.Sample.new(buffer, caps, segment, None))
        return Gst.PadProbeReturn.DROP

    def stop(self, status):
        self.known.set()
        super().stop(status)

    def on_interrupt(self):
        self.known.set()
        return super().on_interrupt()


if __name__ == "__main__":
    sys.exit(start(Play, sys.argv[1], sys.argv[2:]).run())
