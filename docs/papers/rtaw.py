# SPDX-License-Identifier: LGPL-2.1-or-later
"""RtAW with messages (Yu et al., figure 14), plainly: truncated differences of luma, and before each of two passes of support weights of the
left view the message step of equations 17 to 21. Constants are those of ESMP."""
import cv2
import numpy

GAMMA_COLOR, GAMMA_DISTANCE, TRUNCATION, SCALE, SMOOTHNESS = 18, 29, 17, 0.15, 1


def costs(left, right, disparities):
    """[d][y][x]; outside the right picture the pixel at its edge counts."""
    grey = [cv2.cvtColor(view, cv2.COLOR_BGR2GRAY).astype(numpy.float32) for view in (left, right)]
    columns = numpy.arange(left.shape[1])
    return numpy.stack([SCALE * numpy.minimum(numpy.abs(grey[0] - grey[1][:, numpy.maximum(columns - d, 0)]), TRUNCATION)
                        for d in range(disparities)])


def messages(volume, most):
    """In place."""
    cap = volume.min(0) + most
    for d in range(1, len(volume)):
        numpy.minimum(volume[d - 1] + SMOOTHNESS, volume[d], out=volume[d])
    for d in reversed(range(len(volume))):
        if d + 1 < len(volume):
            numpy.minimum(volume[d + 1] + SMOOTHNESS, volume[d], out=volume[d])
        numpy.minimum(volume[d], cap, out=volume[d])


def averaged(volume, colors, window, axis):
    """Weighted means along an axis of the picture (0: columns, 1: rows); taps outside are left out."""
    total, weights, length = numpy.zeros_like(volume), numpy.zeros(colors.shape[:2], numpy.float32), colors.shape[axis]
    for by in range(-(window // 2), window // 2 + 1):
        if abs(by) >= length:
            continue
        to, of = slice(max(0, -by), length - max(0, by)), slice(max(0, by), length + min(0, by))
        inner = [(slice(None),) * axis + (part,) for part in (to, of)]
        difference = numpy.abs(colors[inner[0]] - colors[inner[1]]).max(-1)
        weight = numpy.exp(-difference / GAMMA_COLOR - abs(by) / GAMMA_DISTANCE)
        weights[inner[0]] += weight
        total[(slice(None), *inner[0])] += weight * volume[(slice(None), *inner[1])]
    return total / weights


def disparity(files, disparities, window, with_messages=True):
    left, right = (cv2.imread(path) for path in files)
    volume, colors = costs(left, right, disparities), left.astype(numpy.float32)
    for axis in (1, 0):
        if with_messages:
            messages(volume, 0.0375 * disparities)
        volume = averaged(volume, colors, window, axis)
    found = cv2.medianBlur(volume.argmin(0).astype(numpy.uint8), 3).astype(numpy.float64)
    return numpy.where(found > 0, found, 1 / 64)  # 0 is a disparity
