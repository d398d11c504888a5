#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Calibrates two cameras with a chessboard, and writes the file that stereorectify reads.

calibrate.py --list
calibrate.py --board 9x6 --square 25 --left /dev/v4l/by-id/… --right /dev/v4l/by-id/… [--output stereo.yml]
calibrate.py --board 9x6 --square 25 --side-by-side /dev/v4l/by-id/…
calibrate.py --board 9x6 --square 25 --pictures FOLDER
calibrate.py --board 9x6 --square 25 --source 'a bin of gst-launch-1.0'

It shows both views with the board found, takes those that tell something new, and says what is missing. When nothing is, it
calibrates. docs/calibrating.md says how to hold the board.
"""
import argparse
import os
import sys

try:
    import cv2
    import numpy as np
except ImportError as error:
    sys.exit(f"calibrate.py: {error}: install python3-opencv, and start this with /usr/bin/python3")
import cameras  # noqa: E402
import chessboard  # noqa: E402

PICTURES = (".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".pgm")


def say(text):
    print(text, flush=True)


# ---- pictures of a folder ---------------------------------------------------------------------


def files_of(folder):
    return [name for name in sorted(os.listdir(folder)) if name.lower().endswith(PICTURES)]


def pairs_of(folder):
    """Pairs of paths: of FOLDER/left and FOLDER/right in the order of their names, or of left*.png and right*.png."""
    if not os.path.isdir(folder):
        raise chessboard.Refused(f"--pictures {folder}: there is no such folder.")
    sides = [os.path.join(folder, side) for side in ("left", "right")]
    if all(map(os.path.isdir, sides)):
        lists = [[os.path.join(side, name) for name in files_of(side)] for side in sides]
    else:
        lists = [[os.path.join(folder, name) for name in files_of(folder) if name.lower().startswith(side)]
                 for side in ("left", "right")]
    if not lists[0] or len(lists[0]) != len(lists[1]):
        raise chessboard.Refused(f"--pictures {folder}: {len(lists[0])} left and {len(lists[1])} right pictures. It must have as "
                                  "many of each, in the folders left and right or as left*.png and right*.png.")
    return list(zip(*lists))


def read(path, size):
    # as the camera gave it: no decoder of GStreamer turns pictures by their EXIF orientation
    picture = cv2.imread(path, cv2.IMREAD_GRAYSCALE | cv2.IMREAD_IGNORE_ORIENTATION)
    if picture is None:
        raise chessboard.Refused(f"{path} is not a picture that OpenCV reads.")
    if size and picture.shape[::-1] != size:
        raise chessboard.Refused(f"{path} has {picture.shape[1]}x{picture.shape[0]} pixels and the first picture "
                                  f"{size[0]}x{size[1]}: both cameras must have one size, and keep it.")
    return picture


def views_of(board, folder):
    """The views of a folder, and the size of a picture."""
    views, size, first = [], None, None
    for paths in pairs_of(folder):
        pictures = []
        for path in paths:
            pictures.append(read(path, size))
            size = size or pictures[0].shape[::-1]
        first = pictures[0] if first is None else first
        name = " ".join(map(os.path.basename, paths))
        view = chessboard.find_pair(board, name, *pictures)
        say(f"{name}: {'board found' if view else 'no board in both'}")
        if view:
            views.append(view)
    if not views:
        other = chessboard.other_board(board, first)
        raise chessboard.Refused(f"No pair has a board of {board.size()} inner corners in both pictures." +
                                  (f" One of {other} is there: give --board {other}. Corners are counted, where four squares "
                                   "meet, and not squares." if other else ""))
    return views, size


# ---- a live rig -------------------------------------------------------------------------------


class Collector:
    """Takes pairs as they come and keeps the views that tell something new."""

    def __init__(self, board, max_skew):
        self.board, self.max_skew = board, max_skew
        self.views, self.size, self.before = [], None, None
        self.pairs = self.untimely = 0
        self.last = None  # a picture, to look for another board

    def take(self, left, right, skew):
        """@skew: seconds between both. Returns what the person has to know, and the view found."""
        self.pairs += 1
        self.size, self.last = left.shape[::-1], left
        if left.shape != right.shape:
            raise chessboard.Refused(f"The left camera gives {left.shape[1]}x{left.shape[0]} pixels and the right "
                                      f"{right.shape[1]}x{right.shape[0]}: set one --size that both have.")
        if skew > self.max_skew:
            self.untimely += 1
            return f"These pictures are {1000 * skew:.0f} ms apart, at most {1000 * self.max_skew:.0f} are allowed.", None
        view = chessboard.find_pair(self.board, f"view {len(self.views) + 1}", left, right, quick=True)
        before, self.before = self.before, view
        if not view:
            return "The board is not seen whole in both pictures.", None
        if not chessboard.is_new(self.board, view, self.views, self.size):
            return self.lacking(), view
        if not chessboard.is_still(view, before):
            return "Hold the board still.", view
        self.views.append(view)
        return self.lacking(), view

    def lacking(self):
        said = chessboard.missing(self.board, self.views, self.size)
        return said[0] if said else ""

    def done(self):
        return len(self.views) >= chessboard.MAX_VIEWS or bool(self.views) and not self.lacking()

    def check(self):
        """After the last pair: Refused, where it is not worth to calibrate."""
        if not self.pairs:
            raise chessboard.Refused("No pair of pictures came from the cameras.")
        if self.untimely > self.pairs / 2:
            raise chessboard.Refused(
                f"{self.untimely} of {self.pairs} pairs were taken more than {1000 * self.max_skew:.0f} ms apart: the cameras are "
                "not synchronised. Take cameras with a trigger; or hold the board still on a stand and set --max-skew.")
        if not self.views:
            other = chessboard.other_board(self.board, self.last)
            raise chessboard.Refused(f"No pair had a board of {self.board.size()} inner corners in both pictures, held still." +
                                      (f" One of {other} is there: give --board {other}." if other else ""))


def drawn(board, left, right, view, text, count):
    """Both views in colours, with the corners found and the words below."""
    both = []
    for picture, corners in ((left, view and view.left), (right, view and view.right)):
        coloured = cv2.cvtColor(picture, cv2.COLOR_GRAY2BGR)
        if corners is not None:
            cv2.drawChessboardCorners(coloured, (board.columns, board.rows), corners.reshape(-1, 1, 2), True)
        both.append(coloured)
    pictures = np.hstack(both)
    band = np.zeros((36, pictures.shape[1], 3), np.uint8)
    cv2.putText(band, f"{count} views. {text}", (8, 25), cv2.FONT_HERSHEY_SIMPLEX, 0.6, (255, 255, 255), 1, cv2.LINE_AA)
    return np.vstack((pictures, band))


def collect(board, options):
    """Views of a live rig, and the size of a picture."""
    from rig import Interrupted, Rig, Screen  # GStreamer, which pictures do not need
    collector = Collector(board, options.max_skew / 1000)
    screen = None if options.headless else Screen()
    rig = Rig(options)
    said = None
    try:
        for left, right, skew in rig.pairs():
            count = len(collector.views)
            text, view = collector.take(left, right, skew)
            if screen:
                screen.show(drawn(board, left, right, view, text, len(collector.views)))
            if (text, count) != said or len(collector.views) > count:
                say(f"{len(collector.views)} views. {text}")
                said = text, len(collector.views)
            if collector.done():
                break
    except Interrupted:
        say("ended: calibrates with what is there")
    finally:
        rig.stop()
        if screen:
            screen.stop()
    collector.check()
    return collector.views, collector.size


# ---- the program ------------------------------------------------------------------------------


def report(made):
    say("view: error left, right, rows apart (px)")
    for name, error, rows in zip(made.names, made.errors, made.rows):
        say(f"  {name}: {error[0]:.3f}, {error[1]:.3f}, {rows:.3f}")
    for name, error in made.left_out.items():
        say(f"  {name}: left out, its error is {error:.2f} px")
    camera = made.values["M1"]
    say(f"error {made.together:.3f} px (left alone {made.alone[0]:.3f}, right alone {made.alone[1]:.3f}); "
        f"rows {made.rows.mean():.3f} px apart after rectification, worst view {made.rows.max():.3f}")
    say(f"focal length {camera[0, 0]:.1f} px, baseline {made.baseline:.1f} mm")


def parse(arguments):
    parser = argparse.ArgumentParser(prog="calibrate.py", description="Calibrates two cameras with a chessboard.",
                                     epilog="docs/calibrating.md says how to hold the board.")
    add = parser.add_argument
    add("--list", action="store_true", help="the cameras that are there, by names that stay the same")
    add("--left", metavar="CAMERA", help="a name that --list shows")
    add("--right", metavar="CAMERA")
    add("--side-by-side", metavar="CAMERA", help="one camera that gives both views, left first")
    add("--pictures", metavar="FOLDER", help="pairs: FOLDER/left and FOLDER/right, or left*.png and right*.png in it")
    add("--source", metavar="BIN", help="of gst-launch-1.0: gives both views side by side, or ends in two elements with "
                                        "name=left and name=right")
    add("--board", default="9x6", help="inner corners, columns times rows (default 9x6)")
    add("--square", type=float, default=25, help="side of one square in mm, 1 to 1000 (default 25)")
    add("--output", default="stereo.yml", metavar="FILE", help="default stereo.yml")
    add("--baseline", type=float, metavar="MM", help="between the lenses, measured: a calibration 10 %% from it is refused")
    add("--lens", type=int, default=5, choices=sorted(chessboard.LENSES),
        help="coefficients of distortion: 4 usual, 5 (default), 8 for wide angles")
    add("--max-error", type=float, default=chessboard.MAX_ERROR, metavar="PX",
        help=f"corners against the model, root of the mean square (default {chessboard.MAX_ERROR:g})")
    add("--max-rows", type=float, default=chessboard.MAX_ROWS, metavar="PX",
        help=f"rows apart after rectification, mean (default {chessboard.MAX_ROWS:g})")
    add("--max-skew", type=float, default=10, metavar="MS", help="between the pictures of a pair (default 10)")
    add("--size", metavar="WxH", help="of one view, such as 1280x720; default: the camera's choice")
    add("--rate", type=int, metavar="N", help="frames a second; default: the camera's choice")
    add("--jpeg", action="store_true", help="the cameras send Motion JPEG: two on one USB bus need it")
    add("--headless", action="store_true", help="no window")
    options = parser.parse_args(arguments)
    ways = [bool(options.left or options.right), bool(options.side_by_side), bool(options.pictures), bool(options.source)]
    if not options.list and (sum(ways) != 1 or bool(options.left) != bool(options.right)):
        parser.error("give --left and --right, or one of --side-by-side, --pictures and --source; --list shows the cameras")
    return options


def main(arguments=None):
    options = parse(arguments)
    if options.list:
        for line in cameras.listed():
            say(line)
        return 0
    try:
        board = chessboard.Board.parse(options.board, options.square)
        views, size = views_of(board, options.pictures) if options.pictures else collect(board, options)
        made = chessboard.make(board, views, size, options.lens, options.max_error, options.max_rows, options.baseline)
        chessboard.write(options.output, made)
    except (chessboard.Refused, cameras.NoCamera) as error:
        sys.exit(f"calibrate.py: {error}")
    report(made)
    say(f"{options.output} is written: stereorectify calibration={options.output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
