# SPDX-License-Identifier: LGPL-2.1-or-later
"""stream.py: a camera that fails or ends is opened again, and the rest of the pipeline goes on. test_stream.py BUILD"""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../pipelines"))
from stream import GLib, Gst, Refused, Stream, build, start  # noqa: E402

RIG = "stereotestsrc name=camera_0 is-live=true ! video/x-raw,width=320,height=120,framerate=30/1 ! fakesink name=out"


class Camera(unittest.TestCase):
    def setUp(self):
        self.stream = start(Stream, RIG.split())
        self.stream.cameras.delay = 0.1
        self.said, self.stream.cameras.say, self.count = [], None, 0
        self.stream.cameras.say = self.said.append
        self.camera = self.stream.pipeline.get_by_name("camera_0")
        self.stream.pipeline.get_by_name("out").get_static_pad("sink").add_probe(Gst.PadProbeType.BUFFER, self.on_picture)

    def on_picture(self, *_):
        self.count += 1
        if self.count == 5:
            GLib.idle_add(self.lose)
        if self.count == 20:
            GLib.idle_add(self.stream.loop.quit)
        return Gst.PadProbeReturn.OK

    def run_until_back(self):
        GLib.timeout_add_seconds(60, self.stream.loop.quit)
        self.assertEqual(self.stream.run(), 0)
        self.assertGreaterEqual(self.count, 20, self.said)
        self.assertEqual(len(self.said), 2, self.said)
        self.assertIn("camera_0 is lost", self.said[0])
        self.assertIn("gives pictures again", self.said[1])

    def test_end(self):
        self.lose = lambda: self.camera.send_event(Gst.Event.new_eos()) and False
        self.run_until_back()

    def test_error(self):
        def lose():
            self.camera.set_state(Gst.State.NULL)
            error = GLib.Error.new_literal(Gst.ResourceError.quark(), "Unplugged.", Gst.ResourceError.READ)
            self.camera.post_message(Gst.Message.new_error(self.camera, error, ""))
        self.lose = lose
        self.run_until_back()


class Served(unittest.TestCase):
    def test_errors(self):
        """Of a camera that gave pictures they stay within what rtsp.py serves, and others do not."""
        try:
            from rtsp import Media
        except SystemExit as missing:
            self.skipTest(missing)
        pipeline, media = Gst.Pipeline(), Media(build(RIG.split()))
        pipeline.add(media)
        for name, seen, passes in ("camera_0", False, True), ("camera_0", True, False), ("out", True, True):
            element = media.get_by_name(name)
            if seen and name != "out":
                media.cameras.seen.add(element)
            error = GLib.Error.new_literal(Gst.ResourceError.quark(), "Unplugged.", Gst.ResourceError.READ)
            element.post_message(Gst.Message.new_error(element, error, ""))
            self.assertEqual(bool(pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)), passes)


class Words(unittest.TestCase):
    def test_values_are_no_elements(self):
        name = "/tmp/a\t! filesink location=b \"c\n"
        source = build(["filesrc", f"location={name}", "!", "fakesink"]).children[-1]
        self.assertEqual(source.get_property("location"), name)

    def test_refused(self):
        for words in ["fakesrc", "no-such=a b", "!", "fakesink"], ["fakesrc", "name=a b", "!", "fakesink"], ["fakesrc"]:
            self.assertRaises(Refused, build, words)


if __name__ == "__main__":
    Gst.init(None)
    os.environ["GST_PLUGIN_PATH"] = os.path.join(sys.argv.pop(), "gst")
    unittest.main()
