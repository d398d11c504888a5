#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""probability.py with counts whose law is known."""
import math
import random
import unittest

import probability

GROUPS = ("one", "two", "sky")


def counts_by(weights, pixels):
    """What is counted where the law with these weights holds exactly."""
    rows = []
    for a in range(0, 256, 15):
        for d in range(0, 256, 15):
            row = (a / 255, d / 255)
            right = pixels * probability.probability(weights, row)
            rows.append((*row, pixels, right, right))
    return rows


class Fit(unittest.TestCase):
    def setUp(self):
        seed = random.randrange(1 << 30)
        print("seed", seed)
        draw = random.Random(seed)
        # inside what probability() cuts off: no logit beyond 8
        self.weights = [draw.uniform(-0.5, -0.1), draw.uniform(0.5, 1.5), draw.uniform(-1, 1)]
        self.scenes = {group: {f"{group}-{k}": counts_by(self.weights, draw.randint(10, 5000)) for k in range(3)}
                       for group in GROUPS}

    def near(self, weights):
        for found, true in zip(weights, self.weights):
            self.assertAlmostEqual(found, true, 2)

    def test_finds_the_law_of_all_scenes(self):
        self.near(probability.fit(self.scenes))

    def test_leaves_a_scene_out(self):
        self.scenes["one"]["one-1"] = [(a, d, n, n - right, n - right)
                                       for a, d, n, right, _ in self.scenes["one"]["one-1"]]
        self.near(probability.fit(self.scenes, "one-1"))
        with self.assertRaises(AssertionError):
            self.near(probability.fit(self.scenes))

    def test_area_of_the_best_order(self):
        # all that is wrong is less distinct than all that is right: nothing can order them better
        rows = [(0.5, d / 255, 1000, 1000 * (d >= 60), 1000 * (d >= 60)) for d in range(256)]
        right = 196 / 256
        # of the surest k/20 those that cannot be right; the integral of the same is what is compared with
        steps = [max(0, k / 20 - right) / (k / 20) for k in range(1, 21)]
        expected = sum(steps) / 20 / (1 - right + right * math.log(right))
        self.assertAlmostEqual(probability.area_ratio([-0.3, 1.0, 0.0], rows), expected, 1)
        self.assertGreater(probability.area_ratio([-0.3, -1.0, 0.0], rows), 3 * expected)


if __name__ == "__main__":
    unittest.main()
