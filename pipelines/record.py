#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs a pipeline that records, says every second how many frames were lost so far, and keeps texts inside the recording.

record.py [--attach NAME=FILE] [--text NAME=TEXT]... WORD...    until its end, or Ctrl-C, which closes the recording properly
record.py --times FOLDER WORD...                                pictures, whose times are listed in FOLDER
record.py --extract RECORDING.mkv FOLDER                        the attached texts, under their names

record.sh puts the pipeline together. Its matroskamux is named file, its stereomatch match. Queues that let frames go (leaky) tell
what they are for by their names: raw_queue_* stand before the encoders of the views, all others before the matcher.
matroskamux writes no attachments (GStreamer 1.26): texts are kept in the comment of the recording. Each begins with a line of
its own, MARK NAME SIZE, and SIZE bytes follow it.
"""
import os
import stat
import sys

from stream import GLib, Gst, GObject, Refused, Stream, elements_of, start

MARK, RAW = "gst-stereo-file", "raw_queue_"
MOST = 4 << 20  # bytes; calibrations have a few thousand


def check_kind(what, path):
    """A FIFO would wait for ever, and a device never ends."""
    mode = os.stat(path).st_mode
    if not stat.S_ISREG(mode):
        kind = "a FIFO" if stat.S_ISFIFO(mode) else "a folder" if stat.S_ISDIR(mode) else "a device"
        raise Refused(f"{what}: it is {kind}, and a regular file is wanted")


def read_text(name, path):
    what = f"--attach {name}={path} cannot be read"
    try:
        check_kind(what, path)
        with open(path, "rb") as file:
            data = file.read(MOST + 1)
        if len(data) > MOST:
            raise Refused(f"{what}: the limit is {MOST} bytes")
        if b"\0" in data:
            raise ValueError
        return data.decode()
    except OSError as error:
        raise Refused(f"{what}: {error.strerror}") from error
    except ValueError as error:
        raise Refused(f"{what}: this is no text") from error


def attached(options):
    """The comment with all texts. @options: pairs of an option and its word."""
    comment = ""
    for option, word in options:
        name, equals, rest = word.partition("=")
        if not equals:
            raise Refused(f"{option} {word}: NAME={'FILE' if option == '--attach' else 'TEXT'} is wanted")
        text = read_text(name, rest) if option == "--attach" else rest + "\n"
        comment += f"{MARK} {name} {len(text.encode())}\n{text}"
    return comment


class Extract(Stream):
    """Everything before the first frame."""

    def __init__(self, file, folder):
        try:
            check_kind(f"RECORDING={file} cannot be read", file)
        except OSError as error:
            raise Refused(f"RECORDING={file} cannot be read: {error.strerror}") from error
        super().__init__(["filesrc", f"location={file}", "!", "matroskademux", "!", "fakesink"])
        self.folder, self.file = folder, file

    def run(self):
        self.pipeline.set_state(Gst.State.PAUSED)
        kinds = Gst.MessageType
        while True:
            message = self.bus.timed_pop_filtered(Gst.CLOCK_TIME_NONE, kinds.TAG | kinds.ASYNC_DONE | kinds.ERROR | kinds.EOS)
            if message.type == kinds.ERROR:
                print(f"ERROR: {self.file}: {message.parse_error()[0].message}", file=sys.stderr)
                self.status = 1
            if message.type != kinds.TAG:
                break
            found, comment = message.parse_tag().get_string("comment")
            if found:
                self.write(comment.encode())
        self.pipeline.set_state(Gst.State.NULL)
        return self.status

    def write(self, comment):
        """Whoever made the recording chose the names: they must not leave the folder."""
        while comment.startswith(MARK.encode() + b" "):
            line, _, comment = comment.partition(b"\n")
            name, size = line.decode().split(" ")[1:3]
            path = os.path.join(self.folder, os.path.basename(name))
            try:
                if os.path.exists(path):
                    check_kind(f"{path} cannot be written", path)
                with open(path, "wb") as file:
                    file.write(comment[:int(size)])
            except OSError as error:
                raise Refused(f"FOLDER={self.folder}/: {path} cannot be written: {error.strerror}") from error
            comment = comment[int(size):]


class Leak:
    """A queue that lets frames go. Nothing tells how many: what went in and neither came out nor is inside."""

    def __init__(self, queue):
        self.queue, self.counts = queue, {"sink": 0, "src": 0}
        for name in self.counts:
            queue.get_static_pad(name).add_probe(Gst.PadProbeType.BUFFER, self.count, name)

    def count(self, _pad, _info, name):
        self.counts[name] += 1
        return Gst.PadProbeReturn.OK

    def lost(self):
        return max(0, self.counts["sink"] - self.counts["src"] - self.queue.get_property("current-level-buffers"))


class Recorder(Stream):
    def __init__(self, options, words):
        comment = attached(options)
        super().__init__(words, True)
        self.match, mux, self.said = self.pipeline.get_by_name("match"), self.pipeline.get_by_name("file"), 0
        if not self.match or (comment and not mux):
            raise Refused("the pipeline must have a stereomatch with name=match and a matroskamux with name=file")
        if comment:
            mux.add_tag_value(Gst.TagMergeMode.REPLACE, "comment", GObject.Value(str, comment))
        queues = [element for element in elements_of(self.pipeline) if element.get_factory().get_name() == "queue"]
        self.keeps_views = any(queue.get_name().startswith(RAW) for queue in queues)
        self.leaks = [Leak(queue) for queue in queues if int(queue.get_property("leaky"))]
        GLib.timeout_add_seconds(1, self.say_losses)

    def lost(self, raw):
        return sum(leak.lost() for leak in self.leaks if leak.queue.get_name().startswith(RAW) == raw)

    def say_losses(self, end=False):
        stats = self.match.get_property("stats")
        pairs, *dropped = (stats.get_uint64(name)[1] for name in ("pairs", "dropped-left", "dropped-right", "late"))
        lost, skipped = self.lost(True), self.lost(False) + sum(dropped)
        if end or lost + skipped > self.said:
            views = ": their views are recorded" if self.keeps_views else " (VIEWS=no: nothing is left of them)"
            print(f"{'recorded' if end else 'so far'}: {pairs} disparity pictures"
                  + (f"; {skipped} frames without one, because the matcher is slower than the cameras{views}" if skipped else "")
                  + (f"; {lost} frames LOST, because this machine cannot encode the views as fast" if lost else ""), flush=True)
        self.said = max(self.said, lost + skipped)
        return GLib.SOURCE_CONTINUE

    def stop(self, status):
        self.say_losses(True)
        super().stop(status)


class Times(Recorder):
    """Lists the times of the pictures that the multifilesinks depth and rgb write: timestamps.txt, or TUM's lists."""

    def __init__(self, folder, words):
        super().__init__([], words)
        self.folder, self.lists, self.times = folder, {}, {"depth": {}, "rgb": {}}

    def line(self, name, text):
        if name not in self.lists:
            self.lists[name] = open(os.path.join(self.folder, name), "w", encoding="utf-8")
        print(text, file=self.lists[name], flush=True)

    def on_structure(self, structure, source):
        if structure.get_name() != "GstMultiFileSink":
            return
        kind, time = source.get_name(), structure.get_value("running-time") / Gst.SECOND
        path = os.path.relpath(structure.get_string("filename"), self.folder)
        if os.path.dirname(path):
            self.line(f"{kind}.txt", f"{time:.6f} {path}")
        if kind == "depth":
            self.line("timestamps.txt", f"{time:.6f} {path}")
        self.times[kind][time] = path
        if time in self.times["depth"] and time in self.times["rgb"]:
            self.line("associations.txt", f"{time:.6f} {self.times['rgb'].pop(time)} {time:.6f} {self.times['depth'].pop(time)}")


def main(words):
    if len(words) > 2 and words[0] == "--times":
        return start(Times, words[1], words[2:])
    if len(words) == 3 and words[0] == "--extract":
        return start(Extract, *words[1:])
    options = []
    while len(words) > 1 and words[0] in ("--attach", "--text"):
        options, words = options + [words[:2]], words[2:]
    if not words or words[0].startswith("-"):
        sys.exit(__doc__)
    return start(Recorder, options, words)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]).run())
    except Refused as refused:
        sys.exit(f"ERROR: {refused}")
