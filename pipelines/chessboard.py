# SPDX-License-Identifier: LGPL-2.1-or-later
"""What calibrate.py computes: boards found, what their views cover, the calibration, and whether it is good.

OpenCV does the mathematics. Nothing here reads a camera, draws, or prints. Lengths are millimetres, places are pixels.
"""
import os
import re
from dataclasses import dataclass

import cv2
import numpy as np

MIN_VIEWS = 10  # fewer leave the lens undetermined
MAX_VIEWS = 40  # more take minutes and add nothing
MAX_ERROR = 1.0  # px: corners of a view against the calibrated camera
MAX_ROWS = 0.5  # px: rows of a corner in the two rectified views; a matcher wants less than half a pixel
OUTLIER = 3.0  # times the median error: a view above it is left out
MIN_OUTLIER = 0.3  # px: below it, none is
TILT = 10.0  # degrees that the board has to lean towards each side
MIN_SIZE = 0.3  # the nearest board's side: root of its part of the picture
SIZE_RATIO = 1.2  # nearest to farthest
BASELINES = 5.0, 5000.0  # mm; stereorectify doubts others
BASELINE_CLOSE = 0.1  # of what was measured
LENSES = {4: cv2.CALIB_FIX_K3, 5: 0, 8: cv2.CALIB_RATIONAL_MODEL}
COLUMNS, ROWS = ("left", "middle", "right"), ("top", "middle", "bottom")


class Refused(Exception):
    """No calibration: the text says why, and what to do."""


@dataclass(frozen=True)
class Board:
    columns: int  # inner corners, where four squares meet
    rows: int
    square: float  # side of a square, mm

    @classmethod
    def parse(cls, words, square):
        match = re.fullmatch(r"(\d{1,2})x(\d{1,2})", words)
        if not match or min(map(int, match.groups())) < 3:
            raise Refused(f"--board {words}: inner corners, columns times rows, each at least 3, such as 9x6. "
                          "A board of 10 by 7 squares has 9x6.")
        if match.group(1) == match.group(2):
            raise Refused(f"--board {words}: a board with as many columns as rows looks the same when it is turned. "
                          "Take one that does not, such as 9x6.")
        if not 1 <= square <= 1000:
            raise Refused(f"--square {square:g}: the side of one square in millimetres, from 1 to 1000. Measure yours.")
        return cls(int(match.group(1)), int(match.group(2)), square)

    def points(self):
        """Its corners in the plane of the board."""
        places = np.zeros((self.columns * self.rows, 3), np.float32)
        places[:, :2] = np.mgrid[:self.columns, :self.rows].T.reshape(-1, 2) * self.square
        return places

    def size(self):
        return f"{self.columns}x{self.rows}"


@dataclass
class View:
    """The board in both pictures of a pair: corners as arrays of n x 2."""
    name: str
    left: np.ndarray
    right: np.ndarray


# ---- finding ----------------------------------------------------------------------------------


def find(board, picture, quick=False):
    """Corners of the board in a grey picture, or None. @quick: gives up early where there is no board, for live pictures."""
    flags = cv2.CALIB_CB_ADAPTIVE_THRESH | cv2.CALIB_CB_NORMALIZE_IMAGE | (cv2.CALIB_CB_FAST_CHECK if quick else 0)
    found, places = cv2.findChessboardCorners(picture, (board.columns, board.rows), None, flags)
    if not found:
        return None
    grid = places.reshape(board.rows, board.columns, 2)
    apart = min(np.linalg.norm(np.diff(grid, axis=axis), axis=2).min() for axis in (0, 1))
    half = int(max(2, min(11, apart / 2 - 1)))  # a window that reaches the next corner would be drawn to it
    end = (cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_MAX_ITER, 40, 0.001)
    return cv2.cornerSubPix(picture, places, (half, half), (-1, -1), end).reshape(-1, 2)


def same_order(left, right):
    """@right with the first corner of @left first. Of most boards the finder cannot tell which end is the first."""
    if np.dot(left[-1] - left[0], right[-1] - right[0]) < 0:
        return right[::-1].copy()
    return right


def find_pair(board, name, left, right, quick=False):
    """The View of a pair of grey pictures, or None."""
    a = find(board, left, quick)
    b = None if a is None else find(board, right, quick)
    return None if b is None else View(name, a, same_order(a, b))


def other_board(board, picture):
    """A board of nearly the asked size that is in the picture, as 9x6, or None: often squares are counted, not corners."""
    for columns, rows in ((-1, -1), (0, -1), (-1, 0), (1, 0), (0, 1), (1, 1)):
        other = Board(board.columns + columns, board.rows + rows, board.square)
        if min(other.columns, other.rows) >= 3 and find(other, picture) is not None:
            return other.size()
    return None


# ---- what the views cover ---------------------------------------------------------------------


def lean(board, corners, size):
    """Degrees that the right and the lower side of the board are nearer. The focal length is not known yet: a usual one."""
    camera = np.array([[0.9 * size[0], 0, size[0] / 2], [0, 0.9 * size[0], size[1] / 2], [0, 0, 1]])
    turn = cv2.Rodrigues(cv2.solvePnP(board.points(), corners, camera, None)[1])[0]
    normal = turn[:, 2] * (1 if turn[2, 2] > 0 else -1)
    return np.degrees(np.arctan2(normal[:2], normal[2]))


def extent(corners, size):
    return float(np.sqrt(cv2.contourArea(cv2.convexHull(corners.astype(np.float32))) / (size[0] * size[1])))


def describe(board, view, size):
    """Numbers that differ where views tell different things: place, size and lean, each about 0 to 1."""
    centre = view.left.mean(axis=0) / size
    return np.array([*centre, extent(view.left, size), *lean(board, view.left, size) / 45])


def is_new(board, view, others, size, apart=0.12):
    mine = describe(board, view, size)
    return all(np.abs(mine - describe(board, other, size)).max() >= apart for other in others)


def is_still(view, before, most=1.5):
    """No corner has moved by more than @most px since the pair before."""
    return before is not None and all(np.abs(a - b).max() <= most
                                      for a, b in ((view.left, before.left), (view.right, before.right)))


def uncovered(corners, size):
    """Ninths of the picture without a corner, as "top left"."""
    cells = np.clip((corners / size * 3).astype(int), 0, 2)
    seen = {(x, y) for x, y in cells}
    return [f"{ROWS[y]} {COLUMNS[x]}".replace("middle middle", "middle")
            for y in range(3) for x in range(3) if (x, y) not in seen]


def missing(board, views, size):
    """What the views do not cover yet, as sentences for the person with the board; empty: enough."""
    if not views:
        return [f"Show the board ({board.size()} inner corners) to both cameras."]
    said = []
    for side in "left", "right":
        places = uncovered(np.concatenate([getattr(view, side) for view in views]), size)
        if places:
            said.append(f"Hold the board in the {side} picture: {', '.join(places)}.")
    sizes = [extent(view.left, size) for view in views]
    if max(sizes) < MIN_SIZE:
        said.append(f"Hold it nearer: it fills {100 * max(sizes) ** 2:.0f} % of the picture, "
                    f"and has to fill {100 * MIN_SIZE ** 2:.0f} % once.")
    elif max(sizes) < SIZE_RATIO * min(sizes):
        said.append("Hold it farther away, and nearer: all views have it at one distance.")
    leans = np.array([lean(board, view.left, size) for view in views])
    sides = [name for name, most in zip(("right", "lower", "left", "upper"), (*leans.max(0), *-leans.min(0)))
             if most < TILT]
    if sides:
        said.append(f"Tilt it by more than {TILT:.0f} degrees, nearer with the side: {', '.join(sides)}.")
    if len(views) < MIN_VIEWS:
        said.append(f"At least {MIN_VIEWS} views are needed.")
    return said


# ---- calibrating ------------------------------------------------------------------------------


@dataclass
class Calibration:
    size: tuple
    names: list  # of the views that it was made of
    left_out: dict  # name: error of a view that was left out, px
    alone: tuple  # error of each camera by itself, px, root of the mean square
    together: float  # of both
    errors: np.ndarray  # by view: left, right, px
    rows: np.ndarray  # by view: mean distance of the rows of a corner after rectification, px
    values: dict  # M1 D1 M2 D2 R T R1 R2 P1 P2 Q

    @property
    def baseline(self):
        return float(np.linalg.norm(self.values["T"]))


def camera_alone(board, corners, size, flags):
    """Error, camera matrix, lens, and the error of each view."""
    points = [board.points()] * len(corners)
    result = cv2.calibrateCameraExtended(points, [c.astype(np.float32) for c in corners], size, None, None, flags=flags)
    return result[0], result[1], result[2], result[7].ravel()


def without_outliers(views, errors):
    """The views whose error is usual, and the others with theirs. Never more than a fifth is left out."""
    bound = max(OUTLIER * float(np.median(errors)), MIN_OUTLIER)
    worst = sorted(range(len(views)), key=lambda i: -errors[i])[:len(views) // 5]
    out = {i for i in worst if errors[i] > bound}
    return [v for i, v in enumerate(views) if i not in out], {views[i].name: float(errors[i]) for i in sorted(out)}


def row_errors(views, values):
    """Mean distance of the rows of a view's corners when both views are rectified, by view."""
    def rows(corners, camera, lens, turn, projection):
        return cv2.undistortPoints(corners.reshape(-1, 1, 2).astype(np.float64), camera, lens, R=turn, P=projection)[:, 0, 1]
    return np.array([np.abs(rows(v.left, *(values[k] for k in ("M1", "D1", "R1", "P1"))) -
                            rows(v.right, *(values[k] for k in ("M2", "D2", "R2", "P2")))).mean() for v in views])


def calibrate(board, views, size, lens=5):
    """The Calibration of at least three views, good or not: judge() says which."""
    flags = LENSES[lens]
    alone = [camera_alone(board, [getattr(v, side) for v in views], size, flags) for side in ("left", "right")]
    kept, left_out = without_outliers(views, np.maximum(alone[0][3], alone[1][3]))
    if left_out:
        alone = [camera_alone(board, [getattr(v, side) for v in kept], size, flags) for side in ("left", "right")]
    result = cv2.stereoCalibrateExtended(
        [board.points()] * len(kept), [v.left.astype(np.float32) for v in kept],
        [v.right.astype(np.float32) for v in kept], alone[0][1].copy(), alone[0][2].copy(), alone[1][1].copy(),
        alone[1][2].copy(), size, np.eye(3), np.zeros((3, 1)), flags=flags | cv2.CALIB_USE_INTRINSIC_GUESS)
    values = dict(zip(("M1", "D1", "M2", "D2", "R", "T"), result[1:7]))
    rectified = cv2.stereoRectify(values["M1"], values["D1"], values["M2"], values["D2"], size, values["R"],
                                  values["T"], flags=cv2.CALIB_ZERO_DISPARITY, alpha=0)
    values.update(zip(("R1", "R2", "P1", "P2", "Q"), rectified[:5]))
    return Calibration(size, [v.name for v in kept], left_out, (alone[0][0], alone[1][0]), result[0], result[-1],
                       row_errors(kept, values), values)


# ---- judging ----------------------------------------------------------------------------------


def judge_position(made):
    x, y, z = made.values["T"].ravel()
    if abs(x) < max(abs(y), abs(z)):
        where = "one above the other" if abs(y) >= abs(z) else "one behind the other"
        return (f"The cameras stand {where} (right from left, in mm: {x:.1f}, {y:.1f}, {z:.1f}). A stereo matcher needs them "
                "side by side: turn the rig, or the pictures.")
    if x > 0:
        return "The cameras are swapped: what came as left stands on the right. Give --left and --right the other way round."
    return None


def judge_errors(made, max_error):
    said = []
    worst = ", ".join(made.names[i] for i in np.argsort(-made.errors.max(axis=1))[:3])
    for side, error in zip(("left", "right"), made.alone):
        if not error <= max_error:
            said.append(f"The {side} camera does not fit its views: {error:.2f} px, and {max_error:g} are allowed. Is the board "
                        f"flat, still and of the size that --board says? Worst views: {worst}.")
    if not said and not made.together <= max_error:
        said.append(f"Each camera fits its own views ({made.alone[0]:.2f} and {made.alone[1]:.2f} px), but not both together: "
                    f"{made.together:.2f} px, and {max_error:g} are allowed. The pictures of a pair are not of one moment, or a "
                    f"camera was moved between views. Worst views: {worst}.")
    return said


def judge_rows(made, max_rows):
    if made.rows.mean() <= max_rows:
        return None
    worst = ", ".join(made.names[i] for i in np.argsort(-made.rows)[:3])
    return (f"After rectification the rows of both views are {made.rows.mean():.2f} px apart, and {max_rows:g} are allowed. "
            f"Take sharper views, held still. Worst views: {worst}.")


def judge_baseline(made, board, measured):
    found = made.baseline
    if measured and abs(found - measured) > BASELINE_CLOSE * measured:
        return (f"With squares of {board.square:g} mm the cameras are {found:.1f} mm apart, and --baseline says {measured:g}: "
                f"measure a square; {board.square * measured / found:.1f} mm would fit.")
    if not BASELINES[0] <= found <= BASELINES[1]:
        return (f"With squares of {board.square:g} mm the cameras are {found:.1f} mm apart, where {BASELINES[0]:g} to "
                f"{BASELINES[1]:g} mm are usual: set --square to the side of one square in millimetres.")
    return None


def judge(made, board, max_error=MAX_ERROR, max_rows=MAX_ROWS, baseline=None):
    """Reasons why the calibration must not be used; empty: it is good."""
    errors = judge_errors(made, max_error)
    if errors:
        return errors  # the rest would be about numbers that mean nothing
    position = judge_position(made) or judge_rows(made, max_rows)
    return [text for text in (position, judge_baseline(made, board, baseline)) if text]


def make(board, views, size, lens=5, max_error=MAX_ERROR, max_rows=MAX_ROWS, baseline=None):
    """The good Calibration of the views and what they do cover, or Refused with every reason."""
    if len(views) < MIN_VIEWS:
        raise Refused(f"Too few views: the board was found in both pictures of {len(views)} pairs, and {MIN_VIEWS} are needed.")
    lacking = missing(board, views, size)
    if lacking:
        raise Refused("The views do not cover the picture. " + " ".join(lacking))
    try:
        made = calibrate(board, views, size, lens)
    except cv2.error as error:
        raise Refused(f"OpenCV cannot calibrate with these views: {str(error).strip()}") from error
    reasons = judge(made, board, max_error, max_rows, baseline)
    if reasons:
        raise Refused(" ".join(reasons))
    return made


# ---- the file ---------------------------------------------------------------------------------


def text_of(made):
    """OpenCV's YAML."""
    storage = cv2.FileStorage(".yml", cv2.FILE_STORAGE_WRITE | cv2.FILE_STORAGE_MEMORY)
    storage.writeComment("Lengths are millimetres. Made by calibrate.py; stereorectify reads it.")
    for key, value in zip(("image_width", "image_height"), made.size):
        storage.write(key, int(value))
    for key, value in made.values.items():
        storage.write(key, np.asarray(value, np.float64))
    storage.write("reprojection_error", float(made.together))
    storage.write("row_error", float(made.rows.mean()))
    return storage.releaseAndGetString()


def write(path, made):
    """As stereorectify and OpenCV read it; wholly or not at all, so that a file that was there is not lost to a full disk."""
    part = path + ".part"
    try:
        with open(part, "w", encoding="utf-8") as file:
            file.write(text_of(made))
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except OSError as error:
        if os.path.exists(part):
            os.remove(part)
        raise Refused(f"{path} cannot be written: {error.strerror}. Set --output to a file in a folder that can be.") from error
