# SPDX-License-Identifier: LGPL-2.1-or-later
"""RtAW and RtAW+MP (Yu et al., figure 14), plainly: truncated differences of luma, two passes of support weights of the left view, and of RtAW+MP
before each pass the message step of equations 17 to 21. Constants are those of ESAW and of ESMP, as the paper says."""
import collections

import cv2
import numpy

Constants = collections.namedtuple("Constants", "gamma_color gamma_distance truncation scale smoothness smoothness_max")
KINDS = {"rtaw": Constants(17, 36, 12, 1, None, None), "rtaw-plain": Constants(17, 36, 255, 1, None, None),
         "rtaw+mp": Constants(18, 29, 17, 0.15, 1, 0.0375)}  # the last one is of the number of disparities


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


def averaged(volume, colors, window, axis, kind):
    """Weighted means along an axis of the picture (0: columns, 1: rows); taps outside are left out."""
    total, weights, length = numpy.zeros_like(volume), numpy.zeros(colors.shape[:2], numpy.float32), colors.shape[axis]
    for by in range(-(window // 2), window // 2 + 1):
        if abs(by) >= length:
            continue
        to, of = slice(max(0, -by), length - max(0, by)), slice(max(0, by), length + min(0, by))
        inner = [(slice(None),) * axis + (part,) for part in (to, of)]
        difference = numpy.abs(colors[inner[0]] - colors[inner[1]]).max(-1)
        weight = numpy.exp(-difference / kind.gamma_color - abs(by) / kind.gamma_distance)
        weights[inner[0]] += weight
        total[(slice(None), *inner[0])] += weight * volume[(slice(None), *inner[1])]
    return total / weights


def disparity(files, disparities, window, name):
    left, right = (cv2.imread(path) for path in files)
    kind = KINDS[name]
    volume, colors = costs(left, right, disparities, kind), left.astype(numpy.float32)
    for axis in (1, 0):
        if kind.smoothness:
            messages(volume, kind.smoothness, kind.smoothness_max * disparities)
        volume = averaged(volume, colors, window, axis, kind)
    found = cv2.medianBlur(volume.argmin(0).astype(numpy.uint8), 3).astype(numpy.float64)
    return numpy.where(found > 0, found, 1 / 64)  # 0 is a disparity
