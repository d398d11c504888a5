#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Rectification against OpenCV's, of the cameras of $STEREO_DATA/unrectified.

test_rectify.py DUMP_RECTIFY: maps of the calibration as it stands, of new projections (alpha 0, 0.5, 1), of rational and fisheye
lenses, and of calibrations that OpenCV wrote as YAML and XML. What other programs write is read by calibration.py:
tests/pipelines/test_calibration.py.
"""
import os
import subprocess
import sys
import tempfile

SKIP = 77
CLOSE = 0.05  # px between maps

try:
    import cv2
    import numpy as np
except ImportError as missing:
    print(f"SKIP: {missing}")
    sys.exit(SKIP)

FOLDER = os.path.join(os.environ.get("STEREO_DATA", ""), "unrectified")
if not os.environ.get("STEREO_DATA") or not os.path.exists(os.path.join(FOLDER, "calib_computed.yml")):
    print("SKIP: STEREO_DATA does not name the folder of the scenes")
    sys.exit(SKIP)

SIZE = (640, 480)
RATIONAL = [np.array([[0.5, -0.2, 1e-3, -5e-4, 0.05, 0.8, -0.1, 0.02]]),
            np.array([[-0.1, 0.05, -1e-3, 5e-4, 0.02, 0.2, 0.03, 0.01]])]
failures = []


def check(ok, text):
    print(("ok   " if ok else "FAIL ") + text)
    if not ok:
        failures.append(text)


def read(path):
    storage = cv2.FileStorage(path, cv2.FILE_STORAGE_READ)
    return {key: storage.getNode(key).mat() for key in ("M1", "D1", "M2", "D2", "R", "T", "R1", "R2", "P1", "P2")}


def write(folder, name, values):
    path = os.path.join(folder, name)
    storage = cv2.FileStorage(path, cv2.FILE_STORAGE_WRITE)
    for key, value in values.items():
        storage.write(key, value)
    storage.release()
    return path


def dump(folder, calibration, alpha, size=(0, 0), raw=SIZE):
    """Maps [view][x, y] and the rectification of the program under test."""
    maps = os.path.join(folder, "maps")
    arguments = [sys.argv[1], calibration, *map(str, raw), str(alpha), *map(str, size), maps]
    lines = subprocess.run(arguments, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    values = {line.split()[0]: np.array([float(word) for word in line.split()[1:]]) for line in lines}
    width, height = map(int, values["size"])
    return np.fromfile(maps, np.float32).reshape(2, 2, height, width), values


def ends_at_centres():
    """OpenCV before 4.7 or so lets a picture end one pixel past its last centre where projections are made."""
    camera, none = np.array([[100.0, 0, 50], [0, 100, 40], [0, 0, 1]]), np.zeros(5)
    projection = cv2.stereoRectify(camera, none, camera, none, (101, 81), np.eye(3), np.array([-1.0, 0, 0]), alpha=0,
                                   newImageSize=(202, 162))[2]
    return projection[0, 0] > 200.5


def difference(maps, cameras, lenses, rotations, projections, module=cv2):
    worst = 0
    for view in (0, 1):
        size = maps.shape[3], maps.shape[2]
        expected = module.initUndistortRectifyMap(cameras[view], lenses[view], rotations[view], projections[view], size,
                                               cv2.CV_32FC1)
        worst = max(worst, *(float(np.abs(expected[i] - maps[view][i]).max()) for i in (0, 1)))
    return worst


def compare_own(folder, path, file):
    maps, _ = dump(folder, path, -1)
    worst = difference(maps, (file["M1"], file["M2"]), (file["D1"], file["D2"]), (file["R1"], file["R2"]),
                       (file["P1"], file["P2"]))
    check(worst <= CLOSE, f"the file's own projections: {worst:.5f} px")


def compare_new(folder, name, path, file, alpha, size, close):
    cameras, lenses = (file["M1"], file["M2"]), (file["D1"], file["D2"])
    maps, values = dump(folder, path, alpha, size)
    result = cv2.stereoRectify(cameras[0], lenses[0], cameras[1], lenses[1], SIZE, file["R"], file["T"],
                               flags=cv2.CALIB_ZERO_DISPARITY, alpha=alpha, newImageSize=size)
    own = [values[key].reshape(3, -1) for key in ("R1", "R2", "P1", "P2")]
    turned = max(float(np.abs(own[v] - result[v]).max()) for v in (0, 1))
    lens = difference(maps, cameras, lenses, own[:2], own[2:])
    worst = difference(maps, cameras, lenses, result[:2], result[2:4])
    baseline = float(-result[3][0, 3] / result[3][0, 0])
    label = f"{name}, alpha {alpha}" + (f", {size[0]}x{size[1]}" if size[0] else "")
    check(turned < 1e-9 and abs(values["baseline"][0] - baseline) < 1e-9 * baseline,
          f"{label}: rotations within {turned:.1e}")
    check(lens <= CLOSE, f"{label}: lens alone {lens:.5f} px")
    check(worst <= close, f"{label}: {worst:.5f} px from stereoRectify's (at most {close})")


FISHEYE = [np.array([0.02, -0.01, 0.004, -0.001]), np.array([-0.015, 0.008, -0.003, 0.0007])]


def compare_fisheye(folder, file):
    cameras = (file["M1"], file["M2"])
    path = write(folder, "fisheye.yml", {"fisheye_model": 1, **{key: file[key] for key in ("M1", "M2", "R", "T")},
                                         "D1": FISHEYE[0].reshape(4, 1), "D2": FISHEYE[1].reshape(4, 1)})
    maps, values = dump(folder, path, 0)
    own = [values[key].reshape(3, -1) for key in ("R1", "R2", "P1", "P2")]
    result = cv2.stereoRectify(cameras[0], np.zeros(4), cameras[1], np.zeros(4), SIZE, file["R"], file["T"], flags=cv2.CALIB_ZERO_DISPARITY)
    turned = max(float(np.abs(own[v] - result[v]).max()) for v in (0, 1))
    lens = difference(maps, cameras, FISHEYE, own[:2], own[2:], cv2.fisheye)
    check(turned < 1e-9, f"fisheye: rotations within {turned:.1e}")
    check(lens <= CLOSE, f"fisheye: lens alone {lens:.5f} px")


def main():
    path = os.path.join(FOLDER, "calib_computed.yml")
    file = read(path)
    edge = CLOSE if ends_at_centres() else 0.25
    with tempfile.TemporaryDirectory() as folder:
        compare_own(folder, path, file)
        pose = {key: file[key] for key in ("M1", "D1", "M2", "D2", "R", "T")}
        rational = {**pose, "D1": RATIONAL[0], "D2": RATIONAL[1]}
        files = {"YAML": write(folder, "pose.yml", pose), "XML": write(folder, "pose.xml", pose)}
        for name, pose_path in files.items():
            for alpha in (0, 0.5, 1):
                compare_new(folder, name, pose_path, pose, alpha, (0, 0), CLOSE)
        compare_new(folder, "YAML", files["YAML"], pose, 0, (800, 600), CLOSE)
        compare_new(folder, "YAML", files["YAML"], pose, 1, (320, 200), CLOSE)
        for alpha in (0, 0.5, 1):
            compare_new(folder, "rational", write(folder, "rational.yml", rational), rational, alpha, (0, 0), edge)
        compare_fisheye(folder, file)
    print(f"OpenCV {cv2.__version__}: {len(failures)} failures")
    return 1 if failures else 0


sys.exit(main())
