# SPDX-License-Identifier: LGPL-2.1-or-later
"""The HTTP part of web.py, with a clock that the test moves: what is old is served as old, or not at all."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.error
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../pipelines"))
from webserver import Hub, Server, at_age  # noqa: E402

NEAR = {"state": "near", "valid": True, "warning": True, "distance": 1212.6, "running-time": 7}


class Age(unittest.TestCase):
    def setUp(self):
        self.time = 100.0
        self.hub = Hub(lambda: self.time)
        self.server = Server("127.0.0.1", 0, self.hub, lambda: {"nearest": NEAR})
        self.server.start()

    def tearDown(self):
        self.server.stop()

    def get(self, path):
        return urllib.request.urlopen(f"http://127.0.0.1:{self.server.server_address[1]}{path}", timeout=60).read()

    def state(self):
        return json.loads(self.get("/state.json"))

    def test_pictures(self):
        self.assertEqual((self.state()["picture-age"], self.state()["old"]), (None, True))
        for turn in range(2):
            self.hub.put(b"picture %d" % turn)
            for age, old in (0, False), (1, False), (1.5, True), (3600, True):
                self.time = 100 + 10000 * turn + age
                self.assertEqual((self.state()["picture-age"], self.state()["old"]), (age, old))
                if not old:
                    self.assertEqual(self.get("/picture.jpg"), b"picture %d" % turn)
                    continue
                with self.assertRaises(urllib.error.HTTPError) as raised:
                    self.get("/picture.jpg")
                self.assertEqual((raised.exception.code, raised.exception.reason), (503, f"No picture for {int(age)} s"))
            self.time = 10100.0

    def test_messages(self):
        self.assertIsNone(at_age(None, None))
        self.assertEqual(at_age(NEAR, 1), NEAR)
        old = at_age(NEAR, 8.4)
        self.assertEqual((old["state"], old["reason"], old["warning"], old["valid"], old["distance"], old["running-time"]),
                         ("unknown", "the depth is 8 s old", False, False, None, 7))


class Cameras(unittest.TestCase):
    """That nothing is wrong with them is known while depth comes."""

    def setUp(self):
        self.time = 100.0
        try:
            from web import Trouble
        except SystemExit as missing:
            self.skipTest(missing)
        self.trouble = Trouble(lambda: self.time)

    def lines(self, time, pairs):
        self.time = time
        return [(one["text"].partition(".")[0], one["age"]) for one in self.trouble.lines({"pairs": pairs})]

    def test_depth(self):
        self.assertEqual(self.lines(100.0, 0), [("No depth comes", 0)])
        self.assertEqual(self.lines(103.0, 0), [("No depth comes", 3)])
        self.assertEqual(self.lines(104.0, 1), [])
        self.assertEqual(self.lines(105.0, 1), [])
        self.assertEqual(self.lines(105.5, 1), [("No depth comes", 1.5)])
        # the stream starts again
        self.assertEqual(self.lines(106.0, 0), [("No depth comes", 2)])
        self.assertEqual(self.lines(107.0, 1), [])
        # pictures go on, and nobody asks for the state
        for second in range(110, 120):
            self.time = second
            self.trouble.note_pairs(2)
        self.assertEqual(self.lines(120.0, 2), [("No depth comes", 10)])

    def test_health_comes_after(self):
        self.trouble.on_health({"kind": "black", "view": "left", "active": True, "text": "The left view is black."})
        self.assertEqual(self.lines(102.0, 0), [("No depth comes", 2), ("The left view is black", 2)])


@unittest.skipUnless(shutil.which("chromium"), "there is no chromium")
class Page(unittest.TestCase):
    """What the page says of the cameras, in a browser."""

    def shown(self, states, wanted):
        """Its text, when the server has answered with each of @states, and then with none. At its time limit the browser breaks off
        an answer that is on its way: a page without @wanted gets more time, for the machine may be busy."""
        for milliseconds in (4000, 20000, 100000):
            text = self.shown_within(states, milliseconds)
            if wanted in text:
                break
        return text

    def shown_within(self, states, milliseconds):
        hub = Hub(lambda: 0.0)
        left = list(states)
        server = Server("127.0.0.1", 0, hub, lambda: left.pop(0))
        server.start()
        hub.put(b"picture")
        try:
            with tempfile.TemporaryDirectory() as folder:
                return subprocess.run(
                    ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     f"--user-data-dir={folder}", "--virtual-time-budget=3000", f"--timeout={milliseconds}", "--dump-dom",
                     f"http://127.0.0.1:{server.server_address[1]}/"],
                    check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout.partition("<script>")[0]
        finally:
            server.stop()

    def test_cameras(self):
        fine = {"nearest": NEAR, "age": 0.4, "oldest": 1, "trouble": [], "stats": {}, "rates": None, "latency": None, "backend": "cpu",
                "controls": []}
        wrong = {**fine, "trouble": [{"text": "No depth comes.", "age": 5.5}]}
        text = self.shown([fine] * 1000, "No fault of the cameras")
        self.assertIn("No fault of the cameras", text)
        self.assertRegex(text, "Warning: 1.21 m<small class=\"(late)?\">0.[5-9] s old")  # it grew on the way
        self.assertIn('class="blended warning"', text)
        text = self.shown([{**fine, "age": 1.1}] * 1000, "UNKNOWN")
        self.assertIn("UNKNOWN: the depth is 1 s old", text)
        self.assertNotIn("No fault of the cameras", text)
        self.assertIn('class="blended unknown"', text)
        text = self.shown([wrong] * 1000, "No depth comes")
        self.assertIn("No depth comes. (5 s)", text)
        self.assertNotIn("No fault of the cameras", text)
        text = self.shown([fine], "does not answer")
        self.assertIn("UNKNOWN: the server does not answer", text)
        self.assertIn('class="blended unknown old"', text)
        self.assertNotIn("Warning", text)
        self.assertNotIn("No fault of the cameras", text)


unittest.main()
