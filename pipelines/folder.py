#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Two folders of pictures to one of disparities: folder.py LEFT RIGHT OUT PROPERTY..., as folder.sh calls it."""
import os
import pathlib
import shutil
import sys
import tempfile

from stream import Stream, start

PICTURES = (".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".webp", ".ppm", ".pgm", ".pnm")
PNG, JPEG = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"
DECODERS = {PNG: ("image/png", "pngdec"), JPEG: ("image/jpeg", "jpegdec")}


def fail(text):
    sys.exit(f"folder.sh: {text}")


def kind_of(path):
    """PNG, JPEG, or None: another one."""
    with open(path, "rb") as file:
        head = file.read(len(PNG))
    return next((kind for kind in DECODERS if head.startswith(kind)), None)


def size_of(path):
    """Of a PNG, in its first chunk."""
    with open(path, "rb") as file:
        head = file.read(24)
    return f"{int.from_bytes(head[16:20], 'big')}x{int.from_bytes(head[20:], 'big')}"


class Decode(Stream):
    """Makes a PNG of another picture."""

    def on_interrupt(self):
        sys.exit(130)

    def on_error(self, source, text):
        fail(f"{self.pipeline.get_by_name('picture').get_property('location')} cannot be decoded: {text} gstreamer1.0-libav knows more formats")


class Folder(Stream):
    """One pipeline for all pairs: links with numbers stand in place of names."""

    def __init__(self, pairs, work, settings, before):
        self.pairs, self.work, self.before = pairs, work, before
        kinds = {kind_of(path) for left, right, _ in pairs for path in (left, right)}
        kind = kinds.pop() if len(kinds) == 1 else None
        mime, decoder = DECODERS[kind or PNG]
        words = []
        for at, view in enumerate(("left", "right")):
            for number, pair in enumerate(pairs):
                place = os.path.join(work, f"{view}-{number:06}")
                if kind or kind_of(pair[at]) == PNG:
                    os.symlink(pair[at].absolute(), place)
                else:
                    start(Decode, ["filesrc", "name=picture", f"location={pair[at]}", "!", "decodebin", "!", "videoconvert", "!", "pngenc",
                                   "snapshot=true", "!", "filesink", f"location={place}"]).run()
            words += ["multifilesrc", f"location={work}/{view}-%06d", f"caps={mime},framerate=1/1", "!", decoder, "!", "videoconvert",
                      "!", "queue", "max-size-buffers=4", "!", f"match.sink_{view}"]
        words += ["stereomatch", "name=match", "qos=false", "temporal=0", "disparity-scale=256", *settings, "!",
                  "video/x-raw,format=GRAY16_BE", "!", "pngenc", "!", "multifilesink", "post-messages=true",
                  f"location={work}/out-%06d.png"]
        super().__init__(words)
        self.made, self.interrupted = 0, False

    def take(self):
        """What was made takes its name: a name appears when its picture is whole."""
        while self.made < len(self.pairs) and os.path.exists(made := f"{self.work}/out-{self.made:06}.png"):
            left, _, result = self.pairs[self.made]
            os.replace(shutil.move(made, result.with_name(".part")), result)
            self.made += 1
            print(f"{self.before + self.made}/{self.before + len(self.pairs)} {left.name}", flush=True)

    def on_structure(self, structure, source):
        if structure.get_name() == "GstMultiFileSink":
            self.take()

    def on_interrupt(self):
        self.interrupted = True
        return super().on_interrupt()


def pairs_of(left, right, out):
    """(left picture, right picture, disparity) of each pair: the same names in both folders, and no two for one result."""
    names = {folder: {path.name for path in folder.iterdir() if path.suffix.lower() in PICTURES and path.is_file()
                      and not path.name.startswith(".")} for folder in (left, right)}
    if not names[left]:
        fail(f"{left} holds no PNGs or other pictures")
    for there, other in (left, right), (right, left):
        for name in names[there] - names[other]:
            fail(f"{other} has no {name}, which {there} has")
    pairs = {}
    for name in sorted(names[left]):
        result = out / (os.path.splitext(name)[0] + ".png")
        if result in pairs:
            fail(f"{left} holds two pictures of the name {result.stem}, which would both become {result}")
        pairs[result] = (left / name, right / name, result)
    return list(pairs.values())


def check_settings(out, settings):
    """Results of other properties are not mixed with these."""
    said, now = out.with_name(out.name + ".txt"), " ".join(["stereomatch", *settings])
    before = said.read_text(errors="surrogateescape").strip() if said.exists() else now
    if before != now and out.is_dir() and any(out.iterdir()):
        fail(f"{out} holds results of \"{before}\", and now it is \"{now}\": name another folder, or delete that one")
    out.mkdir(parents=True, exist_ok=True)
    said.write_text(now + "\n", errors="surrogateescape")


def main(left, right, out, *settings):
    sys.stdout.reconfigure(errors="surrogateescape")  # any byte may be in a name
    for missing in (folder for folder in (left, right) if not os.path.isdir(folder)):
        fail(f"there is no folder {missing}")
    left, right, out = map(pathlib.Path, (left, right, out))
    pairs = pairs_of(left, right, out)
    todo = [(a, b, result) for a, b, result in pairs
            if not result.exists() or result.stat().st_mtime <= max(a.stat().st_mtime, b.stat().st_mtime)]
    for path, other, _ in todo:
        if kind_of(path) == kind_of(other) == PNG and size_of(path) != size_of(other):
            fail(f"{path.name} is of {size_of(path)} pixels in {left} and of {size_of(other)} in {right}")
    check_settings(out, settings)
    before = len(pairs) - len(todo)
    if not todo:
        print(f"{before} disparities in {out}: all were there")
        return 0
    if before:
        print(f"{before} of {len(pairs)} disparities are in {out} already", flush=True)
    with tempfile.TemporaryDirectory() as work:
        folder = start(Folder, todo, work, settings, before)
        status = folder.run()
        folder.take()
    there = f"{before + folder.made} of {len(pairs)}"
    if folder.interrupted:
        print(f"stopped: {there} disparities are in {out}, and the same command goes on from there", file=sys.stderr)
        return 130
    if folder.made < len(todo):
        fail(f"{todo[folder.made][0].name}: nothing came out of this pair, nor of those behind it: {there} are in {out}. "
             "Without it, the same command goes on from there")
    print(f"{len(pairs)} disparities in {out}")
    return status


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
