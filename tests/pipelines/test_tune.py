# SPDX-License-Identifier: LGPL-2.1-or-later
"""The window of tune.py, its controls moved as a user would."""
import os
import random
import re
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../pipelines"))
import parameters  # noqa: E402
import tune  # noqa: E402
from gi.repository import GLib, Gst  # noqa: E402

PIPELINE = ("stereotestsrc is-live=true ! video/x-raw,width=320,height=120,framerate=30/1 ! tee name=views ! queue ! "
            "stereomatch name=match backend=cpu num-disparities=24 ! queue ! overlay.sink_depth "
            "views. ! queue max-size-bytes=0 ! depthoverlay name=overlay ! videoconvert ! appsink name=screen").split()


def wait_until(condition, what):
    end = time.monotonic() + 60
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("did not come true: " + what)
        GLib.MainContext.default().iteration(False)
        time.sleep(0.002)


def own_window(match):
    """The window of asw, as the text of the property has it."""
    return int(re.search(r"asw (\d+)", match.find_property("window").blurb).group(1))


class Numbers(unittest.TestCase):
    """What a slider does to every number that the element has."""

    def setUp(self):
        self.match = Gst.ElementFactory.make("stereomatch")
        self.all = {parameter.name: parameter for parameter in parameters.parameters_of(self.match)}
        self.numbers = [p for p in self.all.values() if isinstance(p, parameters.Number)]
        self.draw = random.Random()

    def test_all_are_there(self):
        settings = self.match.get_property("settings")
        names = [settings.nth_field_name(i) for i in range(settings.n_fields())]
        self.assertGreater(len(names), 40)
        self.assertLessEqual(set(names) - {"set-by-hand"}, set(self.all))

    def test_a_slider_reaches_every_value(self):
        for parameter in self.numbers:
            self.assertEqual(parameter.at(0), parameter.nearest(parameter.low), parameter.name)
            self.assertAlmostEqual(parameter.at(1) / parameter.nearest(parameter.high), 1, 6, parameter.name)
            places = sorted(self.draw.random() for _ in range(50))
            values = [parameter.at(place) for place in places]
            self.assertEqual(values, sorted(values), parameter.name)
            for value in values:
                back = parameter.at(parameter.position(value))
                self.assertAlmostEqual(back, value, delta=1e-6 * max(1, abs(value)), msg=parameter.name)

    def test_what_is_set_is_taken(self):
        for parameter in self.numbers:
            value = parameter.at(self.draw.random())
            parameter.set(value)
            self.assertAlmostEqual(parameter.get(), value, delta=1e-6 * max(1, abs(value)), msg=parameter.name)

    def test_odd_and_own(self):
        window, threshold, skew = self.all["window"], self.all["confidence-threshold"], self.all["max-skew"]
        self.assertTrue(all(window.at(k / 100) % 2 == 1 for k in range(101)))
        self.assertEqual((window.own, threshold.own, skew.own), (0, -1, 2 ** 64 - 1))
        self.assertIsNone(self.all["num-disparities"].own)
        self.assertEqual(list(self.all)[:4], ["num-disparities", "profile", "method", "fill"])
        self.assertEqual(window.in_force(), own_window(self.match))
        self.assertEqual(skew.words_in_force(), "")

    def test_words(self):
        self.assertEqual(parameters.launch_words(self.match), "stereomatch")
        self.all["num-disparities"].set(96)
        self.all["method"].set([v for v, name in self.all["method"].choices.items() if name == "bm"][0])
        self.all["mask"].set('a "b" \\c.png')
        words = parameters.launch_words(self.match)
        for part in "num-disparities=96", "method=bm":
            self.assertIn(part, words.split())
        again = Gst.parse_launch(words)
        self.assertEqual(parameters.launch_words(again), words)


class Tuning(unittest.TestCase):
    def setUp(self):
        self.window = tune.Window(PIPELINE)
        self.window.window.present()
        self.window.stream.start()
        self.rows = {(row.parameter.element.get_factory().get_name(), row.parameter.name): row
                     for row in self.window.rows}
        self.match = self.window.stream.match
        self.wait_for_frames()

    def tearDown(self):
        self.window.stream.stop()
        self.window.window.destroy()

    def wait_for_frames(self):
        """Three more, so that at least one was matched with what was set before."""
        seen = []
        on_frame = self.window.stream.on_frame
        self.window.stream.on_frame = lambda *frame: (on_frame(*frame), seen.append(frame[:2]))
        wait_until(lambda: len(seen) >= 3, "frames")
        self.window.stream.on_frame = on_frame
        self.assertEqual(seen[0], (160, 120))
        paintable = self.window.picture.get_paintable()
        self.assertEqual((paintable.get_intrinsic_width(), paintable.get_intrinsic_height()), (160, 120))

    def sample(self):
        caps = Gst.Caps.from_string("video/x-raw,format=RGBA,width=160,height=120,framerate=30/1")
        return Gst.Sample.new(Gst.Buffer.new_wrapped(bytes(160 * 120 * 4)), caps, None, None)

    def test_sliders(self):
        row = self.rows["stereomatch", "num-disparities"]
        row.slider.set_value(row.parameter.position(40))
        self.assertEqual(self.match.get_property("num-disparities"), 40)
        self.assertEqual(row.field.get_value(), 40)
        self.assertIn("num-disparities=40", self.window.words.get_label())
        self.wait_for_frames()
        row.field.set_value(32)
        self.assertEqual(self.match.get_property("num-disparities"), 32)
        alpha = self.rows["depthoverlay", "alpha"]
        alpha.slider.set_value(0.25)
        self.assertAlmostEqual(alpha.parameter.element.get_property("alpha"), 0.25)
        self.wait_for_frames()
        wait_until(lambda: "ms each on cpu" in self.window.status.get_label(), "the line of figures")

    def test_own(self):
        row = self.rows["stereomatch", "window"]
        own = own_window(self.match)
        wait_until(lambda: row.in_force.get_label() == str(own), "the window of asw")
        self.assertFalse(row.slider.get_sensitive())
        row.own.set_active(False)
        self.assertEqual(self.match.get_property("window"), own)
        self.assertTrue(row.slider.get_sensitive())
        row.slider.set_value(0)
        self.assertEqual(self.match.get_property("window"), row.parameter.low)
        row.own.set_active(True)
        self.assertEqual(self.match.get_property("window"), 0)

    def test_a_contradiction_is_taken_back(self):
        cost = self.rows["stereomatch", "cost"]
        names = list(cost.parameter.choices.values())
        before = cost.parameter.get()
        cost.drop_down.set_selected(names.index("zncc"))
        # one that was matched before, and comes late
        self.window.stream.hand_over(self.sample())
        wait_until(self.window.error.get_visible, "an error")
        self.assertIn("zncc", self.window.error.get_label())
        self.assertIn("cost is auto again", self.window.error.get_label())
        self.assertEqual((cost.parameter.get(), cost.drop_down.get_selected()), (before, cost.values.index(before)))
        self.wait_for_frames()
        # another change takes the message away
        self.rows["stereomatch", "qos"].switch.set_active(False)
        self.assertFalse(self.window.error.get_visible())

    def test_an_error_of_another_kind_stops(self):
        self.match.post_message(Gst.Message.new_error(self.match, GLib.Error("the cable"), "was pulled"))
        wait_until(self.window.again.get_visible, "a way to go on")
        self.assertIn("the cable", self.window.error.get_label())
        self.window.again.emit("clicked")
        self.assertFalse(self.window.error.get_visible())
        self.wait_for_frames()

    def test_presets(self):
        for name in "", "two words", 'a"b':
            self.window.preset.set_text(name)
            self.window.on_save(None)
            self.assertIn("needs a name", self.window.saved.get_label())
        self.assertEqual(self.match.get_preset_names() or [], [])
        self.rows["stereomatch", "p2"].own.set_active(False)
        self.rows["stereomatch", "p2"].slider.set_value(0.5)
        self.window.preset.set_text("found-here")
        self.window.preset.emit("activate")
        self.assertIn('stereomatch @preset=found-here', self.window.saved.get_label())
        again = Gst.parse_launch("stereomatch @preset=found-here")
        for name in "p2", "num-disparities":
            self.assertEqual(again.get_property(name), self.match.get_property(name))


if __name__ == "__main__":
    Gst.init(None)
    unittest.main()
