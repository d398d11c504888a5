#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes the plot of auto-align in calibrating.md: stereotestsrc as a rig that drifts, before stereorectify.

    GST_PLUGIN_PATH=build/gst python3 docs/drift.py [OUTPUT]          default: docs/pictures/drift.svg

Ends with 77 where Python's GStreamer or an element that it needs is not there.
"""
import math
import os
import sys
import tempfile

try:
    import gi

    gi.require_version("Gst", "1.0")
    from gi.repository import Gst
except (ImportError, ValueError) as error:
    print("Python has no GStreamer (python3-gi, gir1.2-gstreamer-1.0):", error, file=sys.stderr)
    sys.exit(77)

WIDTH, HEIGHT, RATE, SECONDS = 320, 240, 30, 24
# the plot, in its own units
PLOT = {"width": 720, "height": 300, "left": 60, "right": 20, "top": 20, "bottom": 50}
MOST = 3.0  # px on the vertical axis

CALIBRATION = """%YAML:1.0
---
M1: !!opencv-matrix { rows: 3, cols: 3, dt: d, data: [ FOCAL, 0, CX, 0, FOCAL, CY, 0, 0, 1 ] }
D1: !!opencv-matrix { rows: 1, cols: 5, dt: d, data: [ 0, 0, 0, 0, 0 ] }
M2: !!opencv-matrix { rows: 3, cols: 3, dt: d, data: [ FOCAL, 0, CX, 0, FOCAL, CY, 0, 0, 1 ] }
D2: !!opencv-matrix { rows: 1, cols: 5, dt: d, data: [ 0, 0, 0, 0, 0 ] }
R: !!opencv-matrix { rows: 3, cols: 3, dt: d, data: [ 1, 0, 0, 0, 1, 0, 0, 0, 1 ] }
T: !!opencv-matrix { rows: 3, cols: 1, dt: d, data: [ -120, 0, 0 ] }
"""


def rig_at(frame):
    """Vertical offset (px) and roll (degrees): it warms up, then a screw gives way."""
    seconds = frame / RATE
    offset = 1.6 * (1 - math.exp(-max(seconds - 2, 0) / 5))
    roll = 0.35 * min(max(seconds - 12, 0) / 6, 1)
    return offset, roll


def largest(offset, roll):
    """Largest vertical displacement in the picture, px."""
    return abs(offset) + abs(math.radians(roll)) * WIDTH / 2


def stats_of(element):
    stats = element.get_property("stats")
    return stats.get_value("align-offset"), stats.get_value("align-roll")


def measure(calibration):
    """For each frame: the largest displacement without auto-align, and with it."""
    pipeline = Gst.parse_launch(
        f"stereotestsrc name=source num-buffers={RATE * SECONDS} noise=2 ! "
        f"video/x-raw,format=GRAY8,width={2 * WIDTH},height={HEIGHT},framerate={RATE}/1 ! "
        f'stereorectify name=rectify calibration="{calibration}" auto-align=true ! fakesink'
    )
    source, rectify = pipeline.get_by_name("source"), pipeline.get_by_name("rectify")
    points, made = [], [0]

    def set_rig(frame):
        offset, roll = rig_at(frame)
        source.set_property("vertical-offset", offset)
        source.set_property("roll", roll)

    def frame_made(_pad, _info):
        made[0] += 1
        set_rig(made[0])
        return Gst.PadProbeReturn.OK

    taken_out = [(0.0, 0.0)]

    def frame_out(_pad, _info):
        # what the stats say now is taken out of the next frame
        offset, roll = rig_at(len(points))
        points.append((largest(offset, roll), largest(offset - taken_out[0][0], roll - taken_out[0][1])))
        taken_out[0] = stats_of(rectify)
        return Gst.PadProbeReturn.OK

    set_rig(0)
    source.get_static_pad("src").add_probe(Gst.PadProbeType.BUFFER, frame_made)
    rectify.get_static_pad("src").add_probe(Gst.PadProbeType.BUFFER, frame_out)
    pipeline.set_state(Gst.State.PLAYING)
    message = pipeline.get_bus().timed_pop_filtered(120 * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    pipeline.set_state(Gst.State.NULL)
    if not message or message.type != Gst.MessageType.EOS:
        sys.exit(f"the pipeline failed: {message.parse_error() if message else 'no end in two minutes'}")
    return points


def place(seconds, pixels):
    across = PLOT["width"] - PLOT["left"] - PLOT["right"]
    down = PLOT["height"] - PLOT["top"] - PLOT["bottom"]
    return PLOT["left"] + across * seconds / SECONDS, PLOT["top"] + down * (1 - pixels / MOST)


def text(x, y, words, more=""):
    return f'<text x="{x:.0f}" y="{y:.0f}" {more}>{words}</text>'


def curve(values, colour):
    corners = " ".join("%.1f,%.1f" % place(i / RATE, min(v, MOST)) for i, v in enumerate(values) if i % 6 == 0)
    return f'<polyline points="{corners}" fill="none" stroke="{colour}" stroke-width="2"/>'


def draw(points):
    width, height = PLOT["width"], PLOT["height"]
    left, bottom = place(0, 0)
    right = place(SECONDS, 0)[0]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="13">',
        "<!-- SPDX-License-Identifier: LGPL-2.1-or-later; made by docs/drift.py -->",
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for pixels in range(int(MOST) + 1):
        y = place(0, pixels)[1]
        parts.append(f'<path d="M{left:.0f} {y:.1f}H{right:.0f}" stroke="#ddd"/>')
        parts.append(text(left - 8, y + 4, pixels, 'text-anchor="end"'))
    for seconds in range(0, SECONDS + 1, 4):
        parts.append(text(place(seconds, 0)[0], bottom + 18, seconds, 'text-anchor="middle"'))
    parts.append(text((left + right) / 2, height - 10, "seconds", 'text-anchor="middle"'))
    parts.append(text(18, height / 2 - 12, "px", 'text-anchor="middle"'))
    parts.append(curve([without for without, _ in points], "#c33"))
    parts.append(curve([left_over for _, left_over in points], "#269"))
    parts.append(text(left + 14, 36, "largest vertical error, the rig as it drifts", 'fill="#c33"'))
    parts.append(text(left + 14, 54, "with auto-align=true", 'fill="#269"'))
    return "\n".join(parts + ["</svg>", ""])


def main():
    if len(sys.argv) > 2 or sys.argv[1:2] in (["-h"], ["--help"]):
        print(__doc__)
        return
    Gst.init(None)
    for element in ("stereotestsrc", "stereorectify"):
        if not Gst.ElementFactory.find(element):
            print("there is no element", element, file=sys.stderr)
            sys.exit(77)
    values = {"FOCAL": WIDTH, "CX": (WIDTH - 1) / 2, "CY": (HEIGHT - 1) / 2}
    calibration = CALIBRATION
    for name, value in values.items():
        calibration = calibration.replace(name, str(float(value)))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "straight.yml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(calibration)
        points = measure(path)
    output = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "pictures", "drift.svg")
    with open(output, "w", encoding="utf-8") as file:
        file.write(draw(points))
    worst, end = max(left_over for _, left_over in points), points[-1]
    print(f"at most {worst:.2f} px with auto-align; at the end {end[0]:.2f} px without and {end[1]:.2f} px with it")
    if end[1] > end[0] / 4:
        sys.exit("auto-align did not follow")


main()
