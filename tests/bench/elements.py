#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Processor time of elements behind stereomatch for a frame, in milliseconds, of all threads: elements.py [BUILD]

One depth picture of a synthetic road is shown again and again. The time is that of a pipeline of many frames less that of one of few,
and less that of the same pipelines with identity in the place of the element.
"""
import os
import resource
import subprocess
import sys

FEW, MANY = 10, 110
# the element, the size of a view, and a live view of that format
ROWS = (*((f"stereopoints {words}", (1920, 1080), None) for words in ("format=ply", "format=pcd", "organized=true", "step=2")),
        *(("stereoground", size, None) for size in ((640, 480), (1242, 375), (1280, 720), (1920, 1080))),
        *((f"depthoverlay {words}", (1920, 1080), live) for words in ("warn-distance=1000", "text=false legend=false")
          for live in ("NV12", "I420", "RGBx", "BGRA", "RGB", "YUY2")))


def cpu_ms(element, size, live, frames):
    width, height = size
    depth = (f"stereotestsrc num-buffers=1 pattern=road camera-pitch=4 ! video/x-raw,format=GRAY8,width={2 * width},height={height} ! "
             f"stereomatch backend=cpu num-disparities=64 ! video/x-raw,format=GRAY16_LE ! imagefreeze num-buffers={frames}")
    line = f"{depth} ! {element} ! fakesink"
    if live:
        view = f"videotestsrc num-buffers=1 ! video/x-raw,format={live},width={width},height={height} ! imagefreeze num-buffers={frames}"
        line = (f"{depth} ! e.sink_depth {view} ! e.sink {element} name=e ! fakesink" if element != "identity"
                else f"{depth} ! fakesink {view} ! fakesink")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(["gst-launch-1.0", "-q", *line.split()], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1e3 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def main():
    build = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build")
    os.environ.update(GST_PLUGIN_PATH=f"{build}/gst", LD_LIBRARY_PATH=f"{build}/gst")
    for element, size, live in ROWS:
        many, few = ([cpu_ms(name, size, live, frames) for name in (element, "identity")] for frames in (MANY, FEW))
        print(f"{element}{', ' + live if live else ''}, {size[0]}x{size[1]}: {(many[0] - few[0] - many[1] + few[1]) / (MANY - FEW):.2f} ms", flush=True)


if __name__ == "__main__":
    main()
