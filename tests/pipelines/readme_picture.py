#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""README.md's picture is roughly what quickstart.sh writes: readme_picture.py BUILD|SHEET

SHEET: out/sheet.png of quickstart.sh. With BUILD, the sheet is made of the pair that quickstart.sh has left in BUILD/quickstart or in
build/quickstart of the sources. Ends with 77 where there is none, or no NumPy or decoder.
"""
import os
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
GAP = 8             # pixels between the pictures of the sheet
# Mean differences in grey levels. Another method or a confidence of another kind differs by several times as much.
MOST = {"left view": 0, "disparity": 3, "confidence": 8}

try:
    import numpy
except ImportError:
    print("SKIP: there is no python3-numpy")
    sys.exit(77)


def pixels_of(png, folder):
    """(height, width, 3)"""
    raw = os.path.join(folder, "raw")
    done = subprocess.run(["gst-launch-1.0", "-v", "filesrc", f"location={png}", "!", "pngdec", "!", "videoconvert", "!",
                           "video/x-raw,format=RGBx", "!", "filesink", f"location={raw}"], check=True, capture_output=True, text=True)
    width = int(done.stdout.split("width=(int)")[1].split(",")[0])
    return numpy.fromfile(raw, numpy.uint8).reshape(-1, width, 4)[:, :, :3].astype(float)


def make_sheet(build, folder):
    """The path, or None without a pair."""
    for place in (build, os.path.join(ROOT, "build")):
        left, right = (os.path.join(place, "quickstart", f"{view}.png") for view in ("left", "right"))
        if os.path.isfile(left) and os.path.isfile(right):
            subprocess.run(["sh", os.path.join(ROOT, "pipelines", "pair.sh"), build, left, right, folder, "num-disparities=70",
                            "fill=gaps"], check=True, stdout=subprocess.DEVNULL)
            return os.path.join(folder, "sheet.png")
    return None


def main(word):
    if subprocess.run(["gst-inspect-1.0", "--exists", "pngdec"], check=False).returncode:
        print("SKIP: there is no pngdec")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        sheet = word if os.path.isfile(word) else make_sheet(word, folder)
        if not sheet:
            print("SKIP: quickstart.sh has left no pair here")
            return 77
        now, shown = pixels_of(sheet, folder), pixels_of(os.path.join(ROOT, "docs", "motorcycle.png"), folder)
    if now.shape != shown.shape:
        print(f"docs/motorcycle.png has the shape {shown.shape}, and quickstart.sh writes {now.shape}")
        return 1
    width = (now.shape[1] - 2 * GAP) // 3
    found = {name: abs(now[:, x:x + width] - shown[:, x:x + width]).mean()
             for name, x in zip(MOST, range(0, 3 * (width + GAP), width + GAP))}
    print(found)
    stale = [name for name, most in MOST.items() if not found[name] <= most]
    if stale:
        print(f"docs/motorcycle.png is stale ({', '.join(stale)}): copy out/sheet.png of quickstart.sh there")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
