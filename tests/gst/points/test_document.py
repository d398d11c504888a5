# SPDX-License-Identifier: LGPL-2.1-or-later
"""The commands of docs/points.md work: test_document.py DOCUMENT. Runs its shell and Python blocks in an empty folder."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

try:
    import gi
    import numpy  # noqa: F401
    gi.require_version("Gst", "1.0")
    from gi.repository import Gst
except (ImportError, ValueError) as missing:
    print("skipped: %s" % missing)
    sys.exit(77)

FILES = ["00000.pcd", "00000.ply", "00001.pcd", "00001.ply"]

Gst.init(None)
for element in ("multifilesink", "videoconvert", "queue"):
    if not Gst.ElementFactory.find(element):
        print("skipped: there is no element %s" % element)
        sys.exit(77)
if not shutil.which("gst-launch-1.0"):
    print("skipped: there is no gst-launch-1.0")
    sys.exit(77)

with open(sys.argv[1], encoding="utf-8") as file:
    blocks = re.findall(r"^```(sh|python)\n(.*?)^```$", file.read(), re.DOTALL | re.MULTILINE)
assert [kind for kind, _ in blocks].count("sh") == 2 and "python" in dict(blocks), "other blocks than known"
with tempfile.TemporaryDirectory() as folder:
    for kind, text in blocks:
        command = ["sh", "-eu", "-c", text] if kind == "sh" else [sys.executable, "-c", text]
        done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=50, text=True)
        assert done.returncode == 0 and "Traceback" not in done.stderr, "%s\n%s" % (text, done.stderr)
        if kind == "python":
            assert re.fullmatch(r"nearest: \d+ mm\n", done.stdout), done.stdout
            assert len(text.splitlines()) <= 11, "ten lines are promised, and one that prints"
    assert sorted(os.listdir(folder)) == FILES, os.listdir(folder)
    sizes = [os.path.getsize(os.path.join(folder, name)) for name in FILES]
    assert min(sizes) > 100000, "hardly any point: %s" % sizes
