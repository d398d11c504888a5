#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""probability.py with counts whose law is known."""
import math
import random
import sys
import unittest

try:
    import probability
except ImportError as error:
    print(f"SKIP: {error}", file=sys.stderr)
    sys.exit(77)

GROUPS = ("one", "two", "sky")


def counts_by(weights, curve, pixels):
    """What is counted where the law with these weights and this curve holds exactly."""
    rows = []
    for a in range(0, 256, 15):
        for d in range(0, 256, 15):
            row = (a / 255, d / 255)
            right = pixels * probability.probability(weights, curve, row)
            rows.append((*row, pixels, right, right))
    return rows


class Fit(unittest.TestCase):
    def setUp(self):
        seed = random.randrange(1 << 30)
        print("seed", seed)
        draw = random.Random(seed)
        # inside what probability() cuts off: no logit beyond 8
        self.weights = [draw.uniform(-0.5, -0.1), draw.uniform(0.5, 1.5), draw.uniform(-1, 1)]
        self.draw = draw
        self.scenes = self.scenes_of(probability.KNOTS)

    def scenes_of(self, curve):
        return {group: {f"{group}-{k}": counts_by(self.weights, curve, self.draw.randint(10, 5000)) for k in range(3)}
                for group in GROUPS}

    def near(self, fitted):
        for found, true in zip(fitted[0], self.weights):
            self.assertAlmostEqual(found, true, 2)

    def off(self, fitted):
        """The largest difference of what is stated and what is true, in ten bins that have a hundredth of the pixels."""
        stated, true, pixels = [0.0] * 10, [0.0] * 10, [0.0] * 10
        for p, right, share, _ in self.stated_by(fitted):
            k = min(int(10 * p), 9)
            stated[k], true[k], pixels[k] = stated[k] + p * share, true[k] + right * share, pixels[k] + share
        return max(abs(s - t) / n for s, t, n in zip(stated, true, pixels) if n > sum(pixels) / 100)

    def stated_by(self, fitted):
        """[(stated probability, true one, share of the pixels, logit before the curve)]; every scene has the same share."""
        return [(probability.probability(*fitted, row), row[3] / row[2], row[2] / sum(r[2] for r in rows) / len(members),
                 probability.logit_of(fitted[0], row))
                for members in self.scenes.values() for rows in members.values() for row in rows]

    def off_near(self, fitted, k):
        """The sum of what is stated too little, weighed by how near knot k is: 1 at the knot, 0 at its neighbours."""
        knots, total = probability.KNOTS, 0
        for p, right, share, logit in self.stated_by(fitted):
            at = max(knots[0], min(knots[-1], logit))
            neighbour = k + (1 if at > knots[k] else -1) if at != knots[k] else None
            near = 1 if neighbour is None else max(0, 1 - (at - knots[k]) / (knots[neighbour] - knots[k]))
            total += near * (right - p) * share
        return total

    def test_finds_the_law_of_all_scenes(self):
        fitted = probability.fit(self.scenes, math.inf)
        self.near(fitted)
        self.assertLess(self.off(fitted), 0.01)

    def test_finds_a_bent_law(self):
        """Steeper in the middle than at its ends, and off by a step: no logistic function is.

        Where the likelihood is largest its derivative by each knot's value is 0: near every knot, what is stated is on
        average what is true, but for the stiffness times the change of bend there. Knots that are held alike have one
        derivative. The likelihood is concave, so nothing else has this property.
        """
        self.scenes = self.scenes_of([-4.0, -3.0, -2.5, 0.6, 2.2, 2.6, 3.0])
        fitted = probability.fit(self.scenes, math.inf)
        curve, alike = fitted[1], []
        for k, value in enumerate(curve):
            if k and value == curve[k - 1]:
                alike[-1].append(k)
            else:
                alike.append([k])
        # how far each group of knots was moved from the straight line
        moved = [curve[group[0]] - sum(probability.KNOTS[k] for k in group) / len(group) for group in alike]
        bends = [0, *(right - left for left, right in zip(moved, moved[1:])), 0]
        for group, before, behind in zip(alike, bends, bends[1:]):
            total = sum(self.off_near(fitted, k) for k in group)
            self.assertAlmostEqual(total, probability.STIFF * (before - behind), 7)

    def test_never_falls_and_ends(self):
        self.scenes = self.scenes_of([-4.0, -3.0, -1.5, 1.5, 0.0, -1.0, -1.0])
        _, curve = probability.fit(self.scenes, 0.5)
        self.assertEqual(curve, sorted(curve))
        self.assertLessEqual(curve[-1], 0.5)

    def test_leaves_a_scene_out(self):
        self.scenes["one"]["one-1"] = [(a, d, n, n - right, n - right)
                                       for a, d, n, right, _ in self.scenes["one"]["one-1"]]
        self.near(probability.fit(self.scenes, math.inf, "one-1"))
        with self.assertRaises(AssertionError):
            self.near(probability.fit(self.scenes, math.inf))

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
