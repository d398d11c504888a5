# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws a cloud of stereopoints (PLY, organized) as another camera sees it, into a PNG file.

    python3 docs/points-picture.py CLOUD.ply LEFT.rgb WIDTH HEIGHT YAW PITCH PICTURE.png      YAW, PITCH: degrees

Needs NumPy. Called by pictures.sh.
"""
import struct
import sys
import zlib

import numpy

FOCAL = 1.1  # of the picture's width


def read(name, colors):
    """Positions (mm) of a PLY file that stereopoints wrote, and the colours of the same pixels of the left view."""
    with open(name, "rb") as file:
        positions = numpy.frombuffer(file.read().partition(b"end_header\n")[2], "<f4").reshape(-1, 3)
    there = numpy.isfinite(positions[:, 2])
    return positions[there].astype(float), numpy.fromfile(colors, numpy.uint8).reshape(-1, 3)[there]


def turn(positions, yaw, pitch):
    """As a camera sees them that goes around what is near, and a little back."""
    yaw, pitch = numpy.radians([yaw, pitch])
    around = [[numpy.cos(yaw), 0, -numpy.sin(yaw)], [0, 1, 0], [numpy.sin(yaw), 0, numpy.cos(yaw)]]
    over = [[1, 0, 0], [0, numpy.cos(pitch), numpy.sin(pitch)], [0, -numpy.sin(pitch), numpy.cos(pitch)]]
    middle = numpy.array([0, 0, numpy.percentile(positions[:, 2], 20)])
    return (positions - middle) @ numpy.transpose(around) @ numpy.transpose(over) + 1.3 * middle


def draw(positions, colors, width, height):
    """Far points first, each as two by two pixels."""
    canvas = numpy.full((height, width, 3), 32, numpy.uint8)
    seen = positions[:, 2] > 1
    order = numpy.argsort(-positions[seen, 2])
    positions, colors = positions[seen][order], colors[seen][order]
    across = FOCAL * width * positions[:, 0] / positions[:, 2] + width / 2
    down = FOCAL * width * positions[:, 1] / positions[:, 2] + height / 2
    for dx in (0, 1):
        for dy in (0, 1):
            x, y = (across + dx).astype(int), (down + dy).astype(int)
            inside = (x >= 0) & (x < width) & (y >= 0) & (y < height)
            canvas[y[inside], x[inside]] = colors[inside]
    return canvas


def write(name, picture):
    """A PNG file."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width = picture.shape[:2]
    rows = b"".join(b"\0" + row.tobytes() for row in picture)
    with open(name, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
                   chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b""))


if len(sys.argv) != 8:
    sys.exit(__doc__)
cloud, shades = read(sys.argv[1], sys.argv[2])
write(sys.argv[7], draw(turn(cloud, float(sys.argv[5]), float(sys.argv[6])), shades, int(sys.argv[3]), int(sys.argv[4])))
