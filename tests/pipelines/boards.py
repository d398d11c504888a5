# SPDX-License-Identifier: LGPL-2.1-or-later
"""A rig whose cameras are known, and pictures that it would take of a chessboard."""
import os
import sys

import cv2
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../pipelines"))
from chessboard import Board, View  # noqa: E402

BOARD = Board(9, 6, 30.0)
# centre in the left picture as parts of its size, distance in mm, degrees that the right and the lower side are nearer
PLACES = [(0.40, 0.25, 480, 22, 0), (0.56, 0.25, 480, 0, 22), (0.74, 0.25, 480, -22, 0),
          (0.40, 0.50, 470, 0, -22), (0.57, 0.50, 350, 8, 8), (0.74, 0.50, 480, 15, 15),
          (0.40, 0.75, 480, -15, 15), (0.56, 0.75, 480, 15, -15), (0.74, 0.75, 480, 20, 10),
          (0.50, 0.45, 700, -25, 5), (0.65, 0.55, 700, 5, 25), (0.58, 0.50, 560, -20, -20)]


class Made:
    """Cameras with lenses that bend, @baseline mm apart, the right one turned a little."""

    def __init__(self, size=(480, 360), baseline=60.0, seed=None):
        self.draw = np.random.default_rng(seed)
        self.size = size
        focal = 0.9 * size[0]
        self.cameras = [np.array([[focal * zoom, 0, size[0] / 2 + x], [0, focal * zoom, size[1] / 2 + y], [0, 0, 1]])
                        for zoom, x, y in ((1.0, 5.0, -3.0), (1.01, -4.0, 4.0))]
        self.lenses = [np.array([-0.20, 0.06, 1e-3, -5e-4, 0.0]), np.array([-0.18, 0.05, -5e-4, 1e-3, 0.0])]
        self.turn = cv2.Rodrigues(np.radians([0.8, -1.0, 0.6]))[0]
        self.shift = self.turn @ np.array([-baseline, 0.8, -1.2])
        self.poses = [self.pose(*place) for place in PLACES]

    def pose(self, u, v, far, yaw, pitch):
        """Turn and shift of the board, moved by chance as far as all of it stays in both pictures."""
        for _ in range(1000):
            angles = np.radians([-pitch, yaw, 0]) + np.radians(self.draw.uniform(-3, 3, 3))
            turn, distance = cv2.Rodrigues(angles)[0], far * self.draw.uniform(0.97, 1.03)
            at = (np.array([u, v]) + self.draw.uniform(-0.02, 0.02, 2)) * self.size
            ray = np.array([*((at - self.cameras[0][:2, 2]) / self.cameras[0][0, 0]), 1.0])
            middle = BOARD.points().mean(axis=0)
            pose = turn, ray * distance - turn @ middle
            corners = [self.corners(pose, side) for side in (0, 1)]
            if all((c > 18).all() and (c < np.array(self.size) - 19).all() for c in corners):
                return pose
        raise AssertionError(f"no place for {u}, {v}, {far}")

    def of_camera(self, pose, side):
        turn, shift = pose
        return (turn, shift) if side == 0 else (self.turn @ turn, self.turn @ shift + self.shift)

    def corners(self, pose, side):
        turn, shift = self.of_camera(pose, side)
        points = BOARD.points().astype(np.float64)
        return cv2.projectPoints(points, cv2.Rodrigues(turn)[0], shift, self.cameras[side], self.lenses[side])[0][:, 0]

    def views(self, noise=0.05):
        """What a corner finder would find."""
        return [View(f"made {i}", *((self.corners(pose, side) + self.draw.normal(0, noise, (54, 2))).astype(np.float32)
                                    for side in (0, 1))) for i, pose in enumerate(self.poses)]

    def rays(self, side):
        if not hasattr(self, "_rays"):
            grid = np.mgrid[:self.size[0], :self.size[1]].T.reshape(-1, 1, 2).astype(np.float64)
            self._rays = [cv2.undistortPoints(grid, camera, lens)[:, 0]
                          for camera, lens in zip(self.cameras, self.lenses)]
        return self._rays[side]

    def picture(self, pose, side):
        """Grey, with soft edges and noise: a white sheet with the board on a dark wall."""
        turn, shift = self.of_camera(pose, side)
        rays = np.column_stack((self.rays(side), np.ones(len(self.rays(side)))))
        away = (turn[:, 2] @ shift) / (rays @ turn[:, 2])
        places = (rays * away[:, None] - shift) @ turn / BOARD.square  # in squares; corners are whole numbers
        x, y = places[:, 0], places[:, 1]
        sharp = self.cameras[side][0, 0] * BOARD.square / away / np.pi  # an edge is about two pixels wide
        black = np.clip(0.5 + 0.5 * np.sin(np.pi * x) * np.sin(np.pi * y) * sharp, 0, 1)
        inside = (x > -1) & (x < BOARD.columns) & (y > -1) & (y < BOARD.rows)
        sheet = (x > -1.8) & (x < BOARD.columns + 0.8) & (y > -1.8) & (y < BOARD.rows + 0.8)
        grey = np.where(inside, 225 - 190 * black, np.where(sheet, 225, 120))
        grey = grey + self.draw.normal(0, 1.5, grey.shape)
        return np.clip(grey, 0, 255).round().astype(np.uint8).reshape(self.size[1], self.size[0])

    def write(self, folder, sides=("left", "right")):
        for side, name in enumerate(sides):
            os.makedirs(os.path.join(folder, name), exist_ok=True)
            for i, pose in enumerate(self.poses):
                cv2.imwrite(os.path.join(folder, name, f"{i:02}.png"), self.picture(pose, side))
