# SPDX-License-Identifier: LGPL-2.1-or-later
"""Remapping a pair: stereo-remap-bench beside OpenCV's remap, on the same maps.

    python3 tests/bench/compare_remap.py build/tests/bench/stereo-remap-bench [WxH]
"""
import subprocess
import sys
import time

import cv2
import numpy

bench, size = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "1920x1080"
width, height = (int(side) for side in size.split("x"))


def maps(turn):
    u, v = numpy.meshgrid(numpy.arange(width), numpy.arange(height))
    focal = width * 0.8
    dx, dy = (u - width / 2) / focal, (v - height / 2) / focal
    rx, ry = dx * numpy.cos(turn) - dy * numpy.sin(turn), dx * numpy.sin(turn) + dy * numpy.cos(turn)
    r2 = rx * rx + ry * ry
    bend = 1 - 0.2 * r2 + 0.05 * r2 * r2
    x, y = rx * bend * focal + width / 2, ry * bend * focal + height / 2
    # OpenCV's compact form: whole places and an index of 1/32 steps
    return cv2.convertMaps(x.astype(numpy.float32), y.astype(numpy.float32), cv2.CV_16SC2)


def median(channels, threads):
    cv2.setNumThreads(threads)
    shape = (height, width) if channels == 1 else (height, width, channels)
    views = [numpy.random.default_rng(k).integers(0, 256, shape, numpy.uint8) for k in range(2)]
    targets = [numpy.empty_like(view) for view in views]
    both, times = [maps(0.012), maps(-0.01)], []
    for _ in range(33):
        start = time.perf_counter()
        for view, target, (places, steps) in zip(views, targets, both):
            cv2.remap(view, places, steps, cv2.INTER_LINEAR, target, cv2.BORDER_CONSTANT)
        times.append(time.perf_counter() - start)
    return sorted(times[2:])[15] * 1000, min(times[2:]) * 1000


for threads in 1, 2:
    print(subprocess.run([bench, "--size", size, "--threads", str(threads)], check=True, capture_output=True,
                         text=True).stdout, end="")
    for channels, name in (1, "gray"), (3, "rgb"), (4, "rgba"):
        print("%-10s %s OpenCV %s threads=%d median %.3f ms, least %.3f ms" %
              (name, size, cv2.__version__, threads, *median(channels, threads)))
