#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What report.sh starts: report.py FOLDER WORD... runs a pipeline for ten seconds, and writes what a bug report needs to FOLDER."""
import getpass
import json
import os
import re
import shutil
import socket
import subprocess
import sys

from stream import GLib, Gst, Stream, start
from structures import members_of

SECONDS = 10
VARIABLES = "SIZE RATE JPEG CALIBRATION RECTIFY RIGHT_FIRST TEST_SOURCE STEREO_CPU CUDA_VISIBLE_DEVICES".split()
COMMANDS = ("uname -srm", "grep PRETTY_NAME /etc/os-release", "grep -m 1 model.name /proc/cpuinfo", "nproc",
            "nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader", "gst-inspect-1.0 --version",
            "gst-inspect-1.0 stereovision", "gst-inspect-1.0 stereomatch")


class Report(Stream):
    def __init__(self, folder, words):
        super().__init__(words)
        self.words, self.messages, self.frames, self.ended = words, [], {}, False
        self.folder = folder

    def on_start(self):
        GLib.timeout_add_seconds(SECONDS, self.stop, 0)

    def on_structure(self, structure, source):
        self.messages.append(json.dumps({"message": structure.get_name(), **members_of(structure)}))

    def on_warning(self, source, text):
        self.messages.append(f"WARNING: {source.get_name()}: {text}")

    def on_error(self, source, text):
        self.messages.append(f"ERROR: {source.get_name()}: {text}")
        self.stop(0)

    def say(self, text):
        self.messages.append(text)

    def stop(self, status):
        """While the elements still know what they did."""
        if not self.ended:
            match = self.pipeline.get_by_name("match")
            self.write("pipeline.dot", Gst.debug_bin_to_dot_data(self.pipeline, Gst.DebugGraphDetails.ALL))
            self.write("report.txt", "\n\n".join(
                [" ".join(self.words), "\n".join(f"{name}={os.environ[name]}" for name in VARIABLES if name in os.environ)]
                + [f"{name}:\n{json.dumps(members_of(value), indent=1) if value else 'none'}"
                   for name in ("settings", "stats") for value in [match.get_property(name)]]
                + ["messages:\n" + "\n".join(self.messages)] + [f"$ {command}\n{said_by(command)}" for command in COMMANDS]) + "\n")
            for view in "left", "right", "both":
                sink = self.pipeline.get_by_name(f"frame_{view}")
                if sink and sink.get_property("last-sample"):
                    self.frames[view] = sink.get_property("last-sample")
        self.ended = True
        super().stop(status)
        return GLib.SOURCE_REMOVE

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8", errors="replace") as file:
            file.write(text)

    def write_frames(self):
        import gi
        gi.require_version("GstVideo", "1.0")
        from gi.repository import GstVideo
        for view, sample in self.frames.items():
            png = GstVideo.video_convert_sample(sample, Gst.Caps.from_string("image/png"), 10 * Gst.SECOND).get_buffer()
            with open(os.path.join(self.folder, f"{view}.png"), "wb") as file:
                file.write(png.extract_dup(0, png.get_size()))
        for number, name in enumerate(filter(None, os.environ.get("CALIBRATIONS", "").split(","))):
            shutil.copy(name, os.path.join(self.folder, f"calibration-{number}{os.path.splitext(name)[1]}"))


def said_by(command):
    try:
        return subprocess.run(command.split(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                              timeout=60).stdout.strip()
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)


def hide(text):
    """Who it is, and on which machine."""
    home = os.path.expanduser("~")
    text = re.sub(re.escape(home) if len(home) > 1 else r"/root\b", "~", text)
    text = re.sub(r"/home/[^/\s\"'\\]+", "~", text)
    for name, word in (getpass.getuser(), "USER"), (socket.gethostname(), "HOST"):
        # words; a graph has its line breaks as two characters
        text = re.sub(rf"(?:(?<![A-Za-z0-9])|(?<=\\[nl])){re.escape(name)}(?![A-Za-z0-9])", word, text)
    return text


def may_write_frames():
    answer = os.environ.get("FRAMES", "")
    if not answer and sys.stdin.isatty():
        answer = input("Write one pair of frames, and the calibration? They show what the cameras see. [y/N] ")
    return answer.lower() in ("y", "yes")


if __name__ == "__main__":
    folder = sys.argv[1]
    # the libraries write to the log, this program to the terminal
    sys.stderr = os.fdopen(os.dup(2), "w")
    os.dup2(os.open(os.path.join(folder, "log.txt"), os.O_WRONLY | os.O_CREAT, 0o644), 2)
    report = start(Report, folder, sys.argv[2:])
    report.run()
    for entry in os.listdir(folder):
        with open(os.path.join(folder, entry), encoding="utf-8", errors="replace") as log:
            said = log.read()
        report.write(entry, hide(said))
    if report.frames and may_write_frames():
        report.write_frames()
    else:
        print("No frames were written; FRAMES=yes writes them without asking.")
    print(f"{folder}: {' '.join(sorted(os.listdir(folder)))}. Look through them before you send them.")
