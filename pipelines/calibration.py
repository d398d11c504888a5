#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes OpenCV's file of a pair of cameras, which stereorectify reads, of calibrations of other programs.

calibration.py FILE [FILE] -o stereo.yml
calibration.py calib.txt -o stereo.yml --cameras 2,3     KITTI's colour pair; also two cameras of Kalibr's chain
calibration.py SN1234.conf -o stereo.yml --size 1280x720     ZED's, which has numbers for several sizes

It reads files of Kalibr, EuRoC, ORB-SLAM, ZED, KITTI, Middlebury and ROS (ost.txt, *.ini), and OpenCV's in two files. The
format is found by what is in the file. docs/calibrating.md has a table. YAML needs python3-yaml.

A format is one function here: @reads names it and tells it by a line of the file, and it returns a Pair.
"""
import argparse
import configparser
import math
import os
import re
import sys
import xml.etree.ElementTree
from dataclasses import dataclass, field

MAX_FILE = 4 << 20  # bytes; calibrations have a few thousand
MAX_NUMBERS = 64  # of one key
IDENTITY = [1.0, 0, 0, 0, 1, 0, 0, 0, 1]
PINHOLE = ("", "none", "plumb_bob", "rational_polynomial", "pinhole", "rectified", "radtan", "pinhole-radtan",
           "radial-tangential", "radial_tangential", "radialtangential")
FISHEYE = ("equidistant", "equi", "pinhole-equi", "fisheye", "kannalabrandt8", "kannala_brandt")


class Refused(Exception):
    """No calibration: the text says why, and what to do."""


@dataclass
class Pair:
    """As OpenCV has it: matrices are lists, row by row; lengths are millimetres. Of two cameras, the left one first."""
    cameras: list  # fx fy cx cy, px
    lenses: list  # k1 k2 p1 p2 k3 …, or k1 k2 k3 k4 of a fisheye lens
    fisheye: bool = False
    size: tuple = None  # of the pictures; None: not known
    pose: tuple = None  # R and T, from the left camera's frame to the right one's
    rectified: tuple = None  # R1, R2, P1, P2
    rectified_size: tuple = None


@dataclass
class Options:
    cameras: tuple = None  # numbers of the left and the right one, where a file has more than two
    size: tuple = None  # of the pictures, where a file has several
    notes: list = field(default_factory=list)  # what the user should know


FORMATS = []  # (name, regular expression, how many files, function)


def reads(name, line, files=(1,)):
    """Adds a format. @line: of a file of this format; function (texts, options) returns a Pair."""
    def add(function):
        FORMATS.append((name, re.compile(line, re.MULTILINE), files, function))
        return function
    return add


# ---- texts ------------------------------------------------------------------------------------


def load_yaml(text):
    """A mapping. OpenCV's first line is no YAML, and its tags name nothing that YAML knows."""
    try:
        import yaml
    except ImportError as error:
        raise Refused("it is YAML, and Python has no PyYAML: install python3-yaml.") from error

    class Loader(yaml.SafeLoader):
        pass

    def plain(loader, _suffix, node):
        kind = type(node)
        return loader.construct_mapping(node, deep=True) if kind is yaml.MappingNode else \
            loader.construct_sequence(node, deep=True) if kind is yaml.SequenceNode else loader.construct_scalar(node)
    Loader.add_multi_constructor("tag:yaml.org,2002:opencv", plain)
    Loader.add_multi_constructor("!", plain)
    try:
        values = next(yaml.load_all(re.sub(r"\A%YAML.*", "", text), Loader), None)
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        commas = " If its numbers have decimal commas (535,739), write them with decimal points." if re.search(
            r"\d,\d|,\s*,", text) else ""
        raise Refused(f"it is no YAML: {' '.join(str(error).split())[:200]}.{commas}") from error
    if not isinstance(values, dict):
        raise Refused("it is YAML, but has no keys.")
    return values


def load_opencv(text):
    """A mapping of OpenCV's file, YAML or XML."""
    if not text.lstrip().startswith("<"):
        return load_yaml(text)
    try:
        root = xml.etree.ElementTree.fromstring(text.strip())
    except (xml.etree.ElementTree.ParseError, RecursionError) as error:
        raise Refused(f"it is no XML: {error}.") from error
    return {key.tag: (key.findtext("data") or "" if key.find("data") is not None else "".join(key.itertext())).split()
            for key in root}


def numbers(value, name, *counts):
    """The numbers of a value: a list, lists of lists, one number, a text, or OpenCV's matrix. @counts: how many it may have."""
    found = []

    def take(part, depth):
        if isinstance(part, dict):
            part = part.get("data")
        if isinstance(part, str):
            part = part.split() if len(part.split()) != 1 else part
        if isinstance(part, (list, tuple)) and depth < 4:
            for inner in part:
                take(inner, depth + 1)
            return
        try:
            found.append(float(part))
        except (TypeError, ValueError) as error:
            raise Refused(f"value {len(found) + 1} of {name} is {str(part)[:40]!r}, which is not a number." +
                          (" Write decimal points, not commas." if isinstance(part, str) and "," in part else "")) from error
        if not math.isfinite(found[-1]) or len(found) > MAX_NUMBERS:
            raise Refused(f"{name} has values that are not finite, or more than {MAX_NUMBERS}.")
    take([] if value is None else value, 0)
    if counts and len(found) not in counts:
        raise Refused(f"{name} has {len(found)} values, but needs {' or '.join(map(str, counts))}.")
    return found


def look_up(values, name):
    """The value of a key: of a name with dots, or of a mapping in a mapping; None: there is none."""
    if name in values:
        return values[name]
    outer, dot, inner = name.partition(".")
    return look_up(values[outer], inner) if dot and isinstance(values.get(outer), dict) else None


def need(values, *names):
    """The value of the first of these keys that is there."""
    for name in names:
        found = look_up(values, name)
        if found is not None:
            return found
    raise Refused(f"{names[0]} is missing. In the file: {', '.join(sorted(map(str, values))[:16])}.")


def size_of(value, name):
    width, height = numbers(value, name, 2)
    if not (1 <= width <= 65535 and 1 <= height <= 65535 and width % 1 == 0 and height % 1 == 0):
        raise Refused(f"{name} is {width:g} x {height:g}: two whole numbers of pixels from 1 to 65535 are needed.")
    return int(width), int(height)


def width_height(values, width, height, optional=True):
    if optional and look_up(values, width) is None and look_up(values, height) is None:
        return None
    return size_of([need(values, width), need(values, height)], f"{width} x {height}")


def one(values):
    """What both cameras must have in common: sizes, lens models."""
    if values[0] != values[1]:
        raise Refused(f"the cameras differ: {values[0]} and {values[1]}. Both must be of one kind and size.")
    return values[0]


def camera_of(value, name):
    """fx fy cx cy of a camera matrix."""
    m = numbers(value, name, 9)
    if m[3] or m[6] or m[7] or abs(m[8] - 1) > 1e-9 or abs(m[1]) > 1e-3:
        raise Refused(f"{name} is no camera matrix: the rows of one are fx 0 cx, 0 fy cy, 0 0 1 (skew is not supported).")
    return [m[0], m[4], m[2], m[5]]


def is_fisheye(*names):
    """Whether one of these names of models is of a fisheye lens."""
    for name in names:
        if str(name or "").lower() not in PINHOLE + FISHEYE:
            raise Refused(f"the lens model is {str(name)[:40]!r}, which is not supported: calibrate with plumb_bob (radtan), "
                          "rational_polynomial or equidistant (fisheye).")
    return any(str(name or "").lower() in FISHEYE for name in names)


def projection_of(value, name, unit=1000.0):
    """@unit: millimetres of a length, which stand in the fourth column."""
    return [number * (unit if i % 4 == 3 else 1) for i, number in enumerate(numbers(value, name, 12))]


# ---- frames: transformations as rows of 4 x 4 numbers; T_a_b takes a point from frame b to frame a -----


def transformation(value, name):
    m = numbers(value, name, 12, 16)
    rows = [m[i:i + 4] for i in (0, 4, 8)]
    if m[12:] not in ([], [0, 0, 0, 1]):
        raise Refused(f"{name} is no transformation: its last row is not 0 0 0 1.")
    for i in range(3):
        for j in range(3):
            if abs(sum(rows[i][k] * rows[j][k] for k in range(3)) - (i == j)) > 1e-3:
                raise Refused(f"{name} is no transformation: its first three columns are not a rotation.")
    return rows


def multiply(a, b):
    """First b, then a."""
    return [[sum(row[k] * b[k][j] for k in range(3)) + (row[3] if j == 3 else 0) for j in range(4)] for row in a]


def invert(a):
    turned = [[a[j][i] for j in range(3)] for i in range(3)]
    return [row + [-sum(row[k] * a[k][3] for k in range(3))] for row in turned]


def pose_of(frame, unit=1000.0):
    """R and T of a frame whose lengths are @unit mm."""
    return [row[i] for row in frame for i in range(3)], [row[3] * unit for row in frame]


def rotation_of(vector):
    """The matrix of a rotation vector, whose length is the angle."""
    angle = math.sqrt(sum(v * v for v in vector))
    x, y, z = (v / angle for v in vector) if angle else (1, 0, 0)
    c, s = math.cos(angle), math.sin(angle)
    return [c + x * x * (1 - c), x * y * (1 - c) - z * s, x * z * (1 - c) + y * s,
            y * x * (1 - c) + z * s, c + y * y * (1 - c), y * z * (1 - c) - x * s,
            z * x * (1 - c) - y * s, z * y * (1 - c) + x * s, c + z * z * (1 - c)]


def rectified_pair(cameras, baseline, size):
    """Of views that are rectified already, the cameras @baseline mm apart."""
    projections = [[fx, 0, cx, -fx * away, 0, fy, cy, 0, 0, 0, 1, 0] for (fx, fy, cx, cy), away in zip(cameras, (0, baseline))]
    return Pair(cameras, [[0.0] * 5] * 2, size=size, rectified=(IDENTITY, IDENTITY, *projections))


# ---- formats ----------------------------------------------------------------------------------


@reads("ZED's factory calibration", r"^\[(LEFT|RIGHT)_CAM_")
def zed(texts, options):
    modes = {"hd": (1280, 720), "fhd": (1920, 1080), "2k": (2208, 1242), "vga": (672, 376), "fhd1200": (1920, 1200),
             "svga": (960, 600), "4k": (3840, 2160), "qhdplus": (3200, 1800)}
    parser = configparser.ConfigParser(strict=False, interpolation=None, allow_no_value=True)
    try:
        parser.read_string(texts[0])
    except configparser.Error as error:
        raise Refused(f"it is no INI file: {' '.join(str(error).split())[:200]}.") from error
    values = {name.lower(): dict(parser[name]) for name in parser.sections()}
    there = {mode: size for mode, size in modes.items() if "left_cam_" + mode in values}
    if not there:
        raise Refused("it has none of the sections LEFT_CAM_HD, LEFT_CAM_FHD, LEFT_CAM_2K, LEFT_CAM_VGA and so on.")
    # the size that is asked for; else one of its aspect; else the first
    width, height = options.size or next(iter(there.values()))
    mode = min(there, key=lambda name: (there[name] != (width, height), there[name][0] * height != width * there[name][1]))
    if len(there) > 1 and there[mode] != options.size:
        sizes = ["%dx%d" % size for size in there.values()]
        options.notes.append(f"it has numbers for {', '.join(sizes)}: those for {'%dx%d' % there[mode]} are taken. --size WxH takes "
                             "another one.")

    def number(*names):
        stereo = values.get("stereo", {})
        return next((numbers(stereo[name], name, 1)[0] for name in names if name in stereo), 0.0)
    cameras, lenses, fisheye = [], [], []
    for side in "left", "right":
        section = need(values, f"{side}_cam_{mode}")
        # the newer files have one distortion for all sizes, and that of a fisheye lens has no p1
        lens = {**section, **values.get(f"{side}_disto", {})}
        fisheye.append("k4" in lens and "p1" not in lens)
        cameras.append([numbers(need(section, key), key, 1)[0] for key in ("fx", "fy", "cx", "cy")])
        names = ("k1", "k2", "k3", "k4") if fisheye[-1] else ("k1", "k2", "p1", "p2", "k3", "k4", "k5", "k6")
        lenses.append([numbers(lens.get(key, 0), key, 1)[0] for key in names])
    # the rotation is a vector whose y is called CV; lengths are millimetres
    turn = [number(f"rx_{mode}", "rx"), number(f"cv_{mode}", f"ry_{mode}", "cv", "ry"), number(f"rz_{mode}", "rz")]
    away = [-number(f"baseline_{mode}", "baseline"), number(f"ty_{mode}", "ty"), number(f"tz_{mode}", "tz")]
    return Pair(cameras, lenses, one(fisheye), modes[mode], (rotation_of(turn), away))


@reads("ROS' INI file (ost.txt)", r"^\[image\]", files=(1, 2))
def ros_ini(texts, _options):
    """A heading, and lines of numbers below it. A section of a camera has any name; left or right in it tells, else the order."""
    found = {}  # by camera
    sizes, order = [], 0
    for text in texts:
        section = heading = ""
        values, size = {}, {}
        for line in map(str.strip, text.splitlines()):
            if not line or line[0] in "#;":
                continue
            if line[0] == "[":
                section, heading, values = line.strip("[]").lower(), "", {}
                size = {} if section == "image" else size
            elif re.match(r"[-+.]?\d", line) or line.lower() in ("nan", "inf"):
                if not heading:
                    raise Refused(f"section [{section}] has numbers without a name: {line[:40]!r}.")
                (size if section == "image" else values).setdefault(heading, []).extend(line.split())
            else:
                heading = line.lower()
                if heading == "camera matrix":
                    side = [name for name in ("left", "right") if name in section] if len(texts) == 1 else []
                    found[side[0] if len(side) == 1 else ("left", "right")[min(order, 1)]] = values
                    sizes.append(size)
                    order += 1
    if len(found) != 2:
        raise Refused("this is the calibration of one camera: give both cameras' files, the left one first.")
    both = [found["left"], found["right"]]
    return Pair([camera_of(need(v, "camera matrix"), "camera matrix") for v in both],
                [numbers(need(v, "distortion"), "distortion") for v in both],
                size=one([width_height(s, "width", "height", optional=False) for s in sizes[:2]]),
                rectified=(*(numbers(need(v, "rectification"), "rectification", 9) for v in both),
                           *(projection_of(need(v, "projection"), "projection") for v in both)))


@reads("Kalibr's camchain", r"^cam\d+:\s*$|^\s*\"?cam0\"?\s*:\s*\{")
def kalibr(texts, options):
    values = load_yaml(texts[0])
    chosen = options.cameras or (0, 1)
    cams = [need(values, f"cam{n}") for n in chosen]
    cameras = [numbers(need(c, "intrinsics"), f"cam{n}.intrinsics", 4) for c, n in zip(cams, chosen)]
    lenses = [numbers(need(c, "distortion_coeffs"), "distortion_coeffs") for c in cams]
    fisheye = one([is_fisheye(c.get("camera_model"), c.get("distortion_model")) for c in cams])

    def in_first(n):
        """From the first camera to camera n, along the chain; or from the inertial sensor, which OpenVINS has backwards."""
        frame = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]
        for k in range(1, n + 1):
            name = f"cam{k}.T_cn_cnm1"
            frame = multiply(transformation(need(values, name), name), frame)
        return frame

    def in_imu(n):
        if look_up(values, f"cam{n}.T_cam_imu"):
            return transformation(need(values, f"cam{n}.T_cam_imu"), "T_cam_imu")
        return invert(transformation(need(values, f"cam{n}.T_imu_cam"), "T_imu_cam"))
    chain = "T_cn_cnm1" in need(values, f"cam{max(chosen)}") or not {"T_cam_imu", "T_imu_cam"} & set(cams[1])
    left, right = map(in_first if chain else in_imu, chosen)
    sizes = [size_of(c["resolution"], "resolution") if "resolution" in c else None for c in cams]
    return Pair(cameras, lenses, fisheye, one(sizes), pose_of(multiply(right, invert(left))))


@reads("EuRoC's sensor.yaml", r"^T_BS:", files=(2,))
def euroc(texts, _options):
    both = [load_yaml(text) for text in texts]
    size = one([size_of(need(v, "resolution"), "resolution") for v in both])
    # from the sensor to the body
    left, right = (transformation(need(v, "T_BS"), "T_BS") for v in both)
    return Pair([numbers(need(v, "intrinsics"), "intrinsics", 4) for v in both],
                [numbers(need(v, "distortion_coefficients"), "distortion_coefficients") for v in both],
                one([is_fisheye(v.get("camera_model"), v.get("distortion_model")) for v in both]), size,
                pose_of(multiply(invert(right), left)))


@reads("ORB-SLAM's settings", r"^(LEFT|RIGHT)\.K:")
def orbslam(texts, _options):
    values = load_yaml(texts[0])
    sides = ("LEFT", "RIGHT")
    sizes = [width_height(values, f"{s}.width", f"{s}.height") or width_height(values, "Camera.width", "Camera.height")
             for s in sides]
    return Pair([camera_of(need(values, f"{s}.K"), f"{s}.K") for s in sides],
                [numbers(need(values, f"{s}.D"), f"{s}.D") for s in sides], is_fisheye(values.get("Camera.type")),
                one(sizes), rectified=(*(numbers(need(values, f"{s}.R"), f"{s}.R", 9) for s in sides),
                                       *(projection_of(need(values, f"{s}.P"), f"{s}.P") for s in sides)))


@reads("ORB-SLAM's settings of raw or rectified views", r"^Camera[12]?\.fx:")
def orbslam3(texts, _options):
    values = load_yaml(texts[0])
    first = "Camera1" if "Camera1.fx" in values else "Camera"
    fisheye = is_fisheye(values.get("Camera.type"))
    names = ("k1", "k2", "k3", "k4") if fisheye else ("k1", "k2", "p1", "p2", "k3", "k4", "k5", "k6")

    def take(prefix):
        return ([numbers(need(values, f"{prefix}.{key}"), f"{prefix}.{key}", 1)[0] for key in ("fx", "fy", "cx", "cy")],
                [numbers(values.get(f"{prefix}.{key}", 0), f"{prefix}.{key}", 1)[0] for key in names])
    size = width_height(values, "Camera.width", "Camera.height")
    camera, lens = take(first)
    if "Camera2.fx" in values:
        # from the right camera to the left one
        frame = invert(transformation(need(values, "Stereo.T_c1_c2", "Tlr"), "Stereo.T_c1_c2"))
        other, other_lens = take("Camera2")
        return Pair([camera, other], [lens, other_lens], fisheye, size, pose_of(frame))
    if any(lens):
        raise Refused("these settings have a distortion and one camera: of raw views LEFT.K LEFT.D LEFT.R LEFT.P and RIGHT.K … "
                      "are needed, or Camera2.fx … and Stereo.T_c1_c2.")
    # Camera.bf is the baseline times the focal length
    baseline = numbers(need(values, "Stereo.b", "Camera.bf"), "Stereo.b", 1)[0]
    return rectified_pair([camera, camera], 1000 * baseline / (1 if "Stereo.b" in values else camera[0]), size)


def lines_of(text, sign):
    """Keys and what follows the sign; rows of numbers without a key are P0, P1 …"""
    values, row = {}, 0
    for line in map(str.strip, text.splitlines()):
        key, found, rest = line.partition(sign)
        if not line or line[0] == "#":
            continue
        if not found and not re.match(r"[-+.\d]", line):
            raise Refused(f"a line has neither a key and '{sign}' nor a number: {line[:40]!r}.")
        values[key.strip() if found else f"P{row}"] = rest.strip() if found else line
        row += not found
        if row > 4:
            raise Refused("it has more than 4 rows of numbers: a calibration has one row of 12 for each camera. Is this a file "
                          "of poses?")
    return values


def kitti_cameras(values, key, options):
    """Names of the left and the right camera: grey, or colour where a file has no others."""
    grey = key.format(0) in values or key.format(1) in values or key.format(2) not in values
    return options.cameras or ((0, 1) if grey else (2, 3))


@reads("KITTI's calib_cam_to_cam.txt", r"^([KS]_0\d|P_rect_0\d):")
def kitti_raw(texts, options):
    values = lines_of(texts[0], ":")
    names = [f"0{n}" for n in kitti_cameras(values, "P_rect_0{}", options)]

    def take(key, *counts):
        return [numbers(need(values, f"{key}_{n}"), f"{key}_{n}", *counts) for n in names]
    pose = None
    if f"R_{names[1]}" in values and f"T_{names[1]}" in values:
        # R_01 and T_01 take a point from camera 0 to camera 1
        left, right = ([turn[3 * i:3 * i + 3] + [away[i]] for i in range(3)]
                       for turn, away in zip(take("R", 9), take("T", 3)))
        pose = pose_of(multiply(right, invert(left)))
    sizes = [[tuple(map(int, size)) for size in take(key, 2)] for key in ("S", "S_rect")]
    return Pair([camera_of(m, "K") for m in take("K", 9)], take("D"), size=one(sizes[0]), pose=pose,
                rectified=(*take("R_rect", 9), *(projection_of(p, "P_rect") for p in take("P_rect", 12))),
                rectified_size=one(sizes[1]))


@reads("KITTI's calib.txt", r"^P[0-3]: *[-+.\d]|^[-+.e\d]+( +[-+.e\d]+){11} *$")
def kitti(texts, options):
    values = lines_of(texts[0], ":")
    names = [f"P{n}" for n in kitti_cameras(values, "P{}", options)]
    projections = [projection_of(need(values, name), name) for name in names]
    return Pair([[p[0], p[5], p[2], p[6]] for p in projections], [[0.0] * 5] * 2,
                rectified=(IDENTITY, IDENTITY, *projections))


@reads("Middlebury's calib.txt", r"^cam[01] *=")
def middlebury(texts, _options):
    values = {key: re.sub(r"[][;,]", " ", value) for key, value in lines_of(texts[0], "=").items()}
    cameras = [camera_of(need(values, name), name) for name in ("cam0", "cam1")]
    offset, given = cameras[1][2] - cameras[0][2], numbers(values.get("doffs"), "doffs")
    if given and abs(given[0] - offset) > 0.01:  # the files have three decimals
        raise Refused(f"doffs is {given[0]:g}, but the principal points of cam1 and cam0 are {offset:g} px apart: one of them "
                      "was changed without the other; set doffs to that.")
    return rectified_pair(cameras, numbers(need(values, "baseline"), "baseline", 1)[0], width_height(values, "width", "height"))


OPENCV = r"^[ \t\"]*(M1|K1|cameraMatrix1|camera_matrix_left|K_LEFT|R1|T)\"?[ \t]*:|<opencv_storage"
ROS = r"^[ \t\"]*(camera_matrix|projection_matrix|k|K)\"?[ \t]*:"


@reads("OpenCV's file of a pair", OPENCV, files=(1, 2))
def opencv(texts, _options):
    """Two files are intrinsics.yml and extrinsics.yml of its sample."""
    values = {}
    for text in reversed(texts):
        values.update(load_opencv(text))
    sides = (("1", "left", "LEFT"), ("2", "right", "RIGHT"))
    cameras = [camera_of(need(values, f"M{n}", f"K{n}", f"cameraMatrix{n}", f"camera_matrix_{side}", f"K_{big}"), f"M{n}")
               for n, side, big in sides]
    lenses = [numbers(need(values, f"D{n}", f"distCoeffs{n}", f"dist_coeffs{n}", f"distortion_coefficients_{side}",
                           f"D_{big}", f"D_{big}_FE"), f"D{n}") for n, side, big in sides]
    fisheye = is_fisheye(*(values.get(key) for key in ("distortion_model", "camera_model", "model"))) or \
        str(values.get("fisheye_model", "0")) != "0" or "D_LEFT_FE" in values
    both = [key for key in ("size", "imageSize", "image_size", "img_size", "Size") if key in values]
    size = size_of(values[both[0]], both[0]) if both else \
        next(filter(None, (width_height(values, *names) for names in (
            ("image_width", "image_height"), ("imageWidth", "imageHeight"), ("width", "height")))), None)
    rectified = pose = None
    if all(key in values for key in ("R1", "R2", "P1", "P2")):
        rectified = (*(numbers(values[key], key, 9) for key in ("R1", "R2")),
                     *(projection_of(values[key], key, 1.0) for key in ("P1", "P2")))
    if not rectified or ("R" in values and "T" in values):
        turn = numbers(need(values, "R"), "R", 3, 9)
        pose = (turn if len(turn) == 9 else rotation_of(turn), numbers(need(values, "T"), "T", 3))
    return Pair(cameras, lenses, fisheye, size, pose, rectified,
                width_height(values, "rectified_width", "rectified_height"))


# Files that are not read, by a line of them.
FOREIGN = {r"^\s*\"?(imagelist|images)\"?\s*:|<(imagelist|images)": "a list of pictures: give the calibration that was made of them",
           r"\"value0\"|^value0:": "Basalt's calibration", r"^(cam0_calib|body_T_cam0|model_type):": "VINS' settings",
           r"\"(cameraData|stereoRectificationData)\"": "a DepthAI calibration",
           r"^\"?(cameras|ncameras|sensors)\"?:": "OKVIS' or maplab's calibration"}


# ---- the files --------------------------------------------------------------------------------


def read_text(path):
    try:
        if not os.path.isfile(path):
            raise Refused(f"there is no file {path}.")
        if os.path.getsize(path) > MAX_FILE:
            raise Refused(f"{path}: it has more than {MAX_FILE} bytes, which is too long for a calibration.")
        with open(path, "rb") as file:
            data = file.read(MAX_FILE)
    except OSError as error:
        raise Refused(f"{path} cannot be read: {error.strerror}.") from error
    coding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-16-le" if data[1:2] == b"\0" else \
        "utf-16-be" if data[:1] == b"\0" else "utf-8-sig"
    return data.decode(coding, "replace").replace("\r\n", "\n")


def is_read_by_stereorectify(texts):
    """OpenCV's file with a matrix R, or a pair of ROS' camera_info: those need nothing."""
    if len(texts) == 2:
        return all(re.search(ROS, text, re.MULTILINE) and not re.search(OPENCV, text, re.MULTILINE) for text in texts)
    if not re.search(OPENCV.replace("|K_LEFT|R1|T", ""), texts[0], re.MULTILINE):
        return False
    return not re.search(r"^R: *\[[^],]*,[^],]*,[^],]*\]", texts[0], re.MULTILINE)


def convert(texts, options):
    """The Pair of one or two texts."""
    for name, line, files, function in FORMATS:
        if not line.search(texts[0]):
            continue
        if len(texts) not in files:
            raise Refused(f"this is {name}: " + ("give both cameras' files, the left one first." if len(texts) == 1 else
                                                 "it has both cameras, so give only this file."))
        if options.cameras and function not in (kalibr, kitti, kitti_raw):
            raise Refused(f"--cameras was given, and {name} has two cameras that have no numbers: leave it out.")
        try:
            return function(texts, options)
        except Refused as error:
            raise Refused(f"{name}: {error}") from error
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise Refused(f"{name}: a part is of another kind than it has to be: {error}.") from error
    for line, what in FOREIGN.items():
        if re.search(line, texts[0], re.MULTILINE):
            raise Refused(f"this is {what}. It is not read: give the numbers as OpenCV's file of a pair, M1 D1 M2 D2 and R T.")
    if len(texts) == 1 and re.search(ROS, texts[0], re.MULTILINE):
        raise Refused("this is the calibration of one camera (ROS' camera_info): give both cameras' files, the left one first.")
    raise Refused("this is no calibration of " + ", ".join(name for name, *_ in FORMATS) + ".")


def matrix(name, rows, values):
    columns = len(values) // rows
    return (f"{name}: !!opencv-matrix\n   rows: {rows}\n   cols: {columns}\n   dt: d\n   data: [ " +
            ", ".join(repr(float(value) + 0.0) for value in values) + " ]\n")


def text_of(pair):
    """OpenCV's file."""
    text = "%YAML:1.0\n---\n# Lengths are millimetres. Made by calibration.py.\n"
    for name, size in ("image", pair.size), ("rectified", pair.rectified_size):
        text += f"{name}_width: {size[0]}\n{name}_height: {size[1]}\n" if size else ""
    text += "distortion_model: equidistant\n" if pair.fisheye else ""
    for n, (fx, fy, cx, cy) in enumerate(pair.cameras):
        text += matrix(f"M{n + 1}", 3, (fx, 0, cx, 0, fy, cy, 0, 0, 1)) + matrix(f"D{n + 1}", 1, pair.lenses[n] or [0.0])
    if pair.pose:
        text += matrix("R", 3, pair.pose[0]) + matrix("T", 3, pair.pose[1])
    if pair.rectified:
        text += "".join(matrix(name, 3, values) for name, values in zip(("R1", "R2", "P1", "P2"), pair.rectified))
    return text


def parse(arguments):
    parser = argparse.ArgumentParser(prog="calibration.py", description=__doc__.split("\n\n")[0],
                                     epilog="docs/calibrating.md has the formats and what they are read by.")
    add = parser.add_argument
    add("files", nargs="+", metavar="FILE", help="one with both cameras, or two, the left camera's first; also LEFT,RIGHT")
    add("-o", "--output", default="stereo.yml", metavar="FILE", help="default stereo.yml")
    add("--cameras", metavar="LEFT,RIGHT", help="numbers of two cameras of a file that has more, such as 2,3")
    add("--size", metavar="WxH", help="of the pictures, where a file has numbers for several sizes")
    add("--if-needed", action="store_true", help="prints the calibration to give to stereorectify: the FILE where it reads "
        "that itself, else the output, which is written")
    options = parser.parse_args(arguments)
    chosen = Options()
    if options.cameras is not None:
        match = re.fullmatch(r"\s*(\d{1,2})\s*,\s*(\d{1,2})\s*", options.cameras)
        chosen.cameras = tuple(map(int, match.groups())) if match else None
        if not match or chosen.cameras[0] == chosen.cameras[1]:
            raise Refused(f"--cameras {options.cameras} are not two cameras: give two numbers that differ with a comma between "
                          "them, that of the left camera first, as in --cameras 2,3.")
    if options.size:
        match = re.fullmatch(r"(\d{1,5})x(\d{1,5})", options.size)
        if not match:
            raise Refused(f"--size {options.size}: width and height in pixels, such as 1280x720.")
        chosen.size = tuple(map(int, match.groups()))
    if len(options.files) == 1 and "," in options.files[0] and not os.path.exists(options.files[0]):
        options.files = [name.strip() for name in options.files[0].split(",", 1)]
    if len(options.files) > 2:
        raise Refused("more than two files: give one with both cameras, or one for each camera.")
    return options, chosen


def main(arguments=None):
    try:
        options, chosen = parse(arguments)
        texts = [read_text(name) for name in options.files]
        if is_read_by_stereorectify(texts) and not chosen.cameras:
            print(",".join(options.files) if options.if_needed else
                  f"stereorectify reads this itself: calibration={','.join(options.files)}")
            return 0
        try:
            text = text_of(convert(texts, chosen))
        except Refused as error:
            raise Refused(f"{' and '.join(options.files)}: {error}") from error
        if any(os.path.exists(options.output) and os.path.samefile(name, options.output) for name in options.files):
            raise Refused(f"{options.output} is a file that is read: give another name with -o.")
        if options.if_needed:
            os.makedirs(os.path.dirname(options.output) or ".", exist_ok=True)
        part = f"{options.output}.{os.getpid()}"  # whoever reads it has the whole file
        with open(part, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(part, options.output)
    except OSError as error:
        sys.exit(f"calibration.py: {options.output} cannot be written: {error.strerror}.")
    except Refused as error:
        sys.exit(f"calibration.py: {error}")
    for note in chosen.notes:
        print(f"calibration.py: {options.files[0]}: {note}", file=sys.stderr)
    print(options.output if options.if_needed else f"{options.output} is written: stereorectify calibration={options.output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
