# SPDX-License-Identifier: LGPL-2.1-or-later
"""RtAW, RtAW+MP (figure 14) and ESAW of Yu et al., plainly: truncated differences of luma, averaged by support weights of the left view, in two
passes or in exponential steps; before each pass of RtAW+MP the message step of equations 17 to 21. Constants are those of ESAW and of ESMP."""
import collections

import cv2
import numpy

Constants = collections.namedtuple("Constants", "gamma_color gamma_distance truncation scale smoothness smoothness_max")
ESAW = Constants(17, 36, 12, 1, None, None)
KINDS = {"rtaw": ESAW, "rtaw-plain": ESAW._replace(truncation=255),
         "rtaw+mp": Constants(18, 29, 17, 0.15, 1, 0.0375),  # the last one is of the number of disparities
         "esaw": ESAW, "esaw-rgb": ESAW, "esaw-mean": ESAW, "esaw-lab": ESAW, "esaw-grey": ESAW}


def costs(left, right, disparities, kind):
    """[d][y][x]; outside the right picture the pixel at its edge counts."""
    grey = [cv2.cvtColor(view, cv2.COLOR_BGR2GRAY).astype(numpy.float32) for view in (left, right)]
    columns = numpy.arange(left.shape[1])
    return numpy.stack([kind.scale * numpy.minimum(numpy.abs(grey[0] - grey[1][:, numpy.maximum(columns - d, 0)]), kind.truncation)
                        for d in range(disparities)])


def messages(volume, smoothness, most):
    """In place."""
    cap = volume.min(0) + most
    for d in range(1, len(volume)):
        numpy.minimum(volume[d - 1] + smoothness, volume[d], out=volume[d])
    for d in reversed(range(len(volume))):
        if d + 1 < len(volume):
            numpy.minimum(volume[d + 1] + smoothness, volume[d], out=volume[d])
        numpy.minimum(volume[d], cap, out=volume[d])


def colors_of(left, name):
    """What differences are taken of, and how their channels become one number: the largest, unless the name says otherwise."""
    if name == "esaw-lab":
        return cv2.cvtColor(left.astype(numpy.float32) / 255, cv2.COLOR_BGR2LAB), lambda by: numpy.linalg.norm(by, axis=-1)
    if name == "esaw-grey":
        return cv2.cvtColor(left, cv2.COLOR_BGR2GRAY).astype(numpy.float32)[..., None], lambda by: by.max(-1)
    fold = {"esaw-rgb": lambda by: numpy.linalg.norm(by, axis=-1), "esaw-mean": lambda by: by.mean(-1)}.get(name, lambda by: by.max(-1))
    return left.astype(numpy.float32), fold


def averaged(volume, colors, taps, axis, kind, fold=lambda by: by.max(-1)):
    """Weighted means of taps along an axis of the picture (0: columns, 1: rows); those outside are left out."""
    total, weights, length = numpy.zeros_like(volume), numpy.zeros(colors.shape[:2], numpy.float32), colors.shape[axis]
    for by in taps:
        if abs(by) >= length:
            continue
        to, of = slice(max(0, -by), length - max(0, by)), slice(max(0, by), length + min(0, by))
        inner = [(slice(None),) * axis + (part,) for part in (to, of)]
        difference = fold(numpy.abs(colors[inner[0]] - colors[inner[1]]))
        weight = numpy.exp(-difference / kind.gamma_color - abs(by) / kind.gamma_distance)
        weights[inner[0]] += weight
        total[(slice(None), *inner[0])] += weight * volume[(slice(None), *inner[1])]
    return total / weights


def disparity(files, disparities, size, name):
    """@size: side of the window; of esaw the number of iterations, with the base 1.9."""
    left, right = (cv2.imread(path) for path in files)
    kind, (colors, fold) = KINDS[name], colors_of(left, name)
    volume = costs(left, right, disparities, kind)
    steps = [(-r, 0, r) for r in (round(1.9 ** t) for t in range(size))] if name.startswith("esaw") else [range(-(size // 2), size // 2 + 1)]
    for taps in steps:
        for axis in (1, 0):
            if kind.smoothness:
                messages(volume, kind.smoothness, kind.smoothness_max * disparities)
            volume = averaged(volume, colors, taps, axis, kind, fold)
    found = cv2.medianBlur(volume.argmin(0).astype(numpy.uint8), 3).astype(numpy.float64)
    return numpy.where(found > 0, found, 1 / 64)  # 0 is a disparity
