# SPDX-License-Identifier: LGPL-2.1-or-later
"""The HTTP part of web.py, with a clock that the test moves: what is old is served as old, or not at all."""
import json
import os
import sys
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
                         ("unknown", "no message for 8 s", False, False, None, 7))


unittest.main()
