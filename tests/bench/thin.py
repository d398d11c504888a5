#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Thin things on a road: how many of them a matcher finds, by their width in pixels.

stereotestsrc pattern=road thin-count=12 shows posts, level bars and slanted bars, 5 to 40 m away, in views of 1920x480 pixels. Each
picture is a single frame, which has no past. A thing is found where at least half of its pixels are within 1 px of the truth. Only
pixels that stand out from what is behind them by 2 px count, and that the right view has too. It is reported where stereonearest,
with a region around it, says its disparity within 1 px. The region ends where the ground is as near as the thing. Things that have
too few pixels do not count, and for the report those that have a nearer one beside them.

Both figures are percentages of the things. A setting is a line of properties of stereomatch. Command of docs/benchmarks.md, from the
root of the tree:

    meson setup build -Dcuda=disabled && ninja -C build && tests/bench/thin.py
"""
import argparse
import os
import sys

BUILD = "build/gst"
SIZE = (1920, 480)
THINGS = 12
KINDS = ("posts", "level bars", "slanted bars")
STANDS_OUT = 2    # px of disparity before what is behind it
LEAST = 20        # pixels of a thing
MARGIN = 30       # pixels of the region beside it
NEAR_ENOUGH = 1   # px
DISPARITIES = 128


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=BUILD, help="folder of the plugin and the typelib (default: %(default)s)")
    parser.add_argument("--widths", default="1,2,3,4,5,6,7,8", help="pixels (default: %(default)s)")
    parser.add_argument("--contrasts", default="1,0.3", help="of their texture (default: %(default)s)")
    parser.add_argument("--noise", default="1,5", help="standard deviations in grey levels (default: %(default)s)")
    parser.add_argument("--seeds", type=int, default=4, help="pictures of each kind (default: %(default)s)")
    parser.add_argument("--options", default="backend=cpu", help="properties of every setting (default: %(default)s)")
    parser.add_argument("--kinds", action="store_true", help="rows for each kind, contrast and noise too")
    parser.add_argument("settings", nargs="*", metavar="SETTING", default=["profile=balanced", "profile=road"],
                        help="(default: %(default)s)")
    return parser.parse_args()


def load(folder):
    """GStreamer with the plugin of a build. The program starts again where the loader has to know of the library."""
    folder = os.path.abspath(folder)
    if folder not in os.environ.get("LD_LIBRARY_PATH", "").split(":"):
        for name in "LD_LIBRARY_PATH", "GI_TYPELIB_PATH", "GST_PLUGIN_PATH_1_0":
            os.environ[name] = ":".join(filter(None, (folder, os.environ.get(name))))
        os.execv(sys.executable, [sys.executable, *sys.argv])
    import gi
    gi.require_version("Gst", "1.0")
    gi.require_version("GstStereo", "1.0")
    from gi.repository import Gst, GstStereo
    Gst.init(None)
    return Gst, GstStereo


class Streams:
    """Pipelines of one frame."""

    def __init__(self, gst, stereo, numpy):
        self.gst, self.stereo, self.numpy = gst, stereo, numpy

    def run(self, source, rest):
        """The buffer's bytes, its GstStereoMeta, and the messages stereo-nearest by the element's name."""
        line = f"stereotestsrc num-buffers=1 pattern=road camera-pitch=4 {source} ! video/x-raw,format=GRAY8,width={2 * SIZE[0]}," \
               f"height={SIZE[1]} ! {rest} appsink name=out sync=false"
        pipeline = self.gst.parse_launch(line)
        pipeline.set_state(self.gst.State.PLAYING)
        sample, failed, found, kinds = None, None, {}, self.gst.MessageType.ELEMENT | self.gst.MessageType.ERROR
        while not sample and not failed:
            sample = pipeline.get_by_name("out").emit("try-pull-sample", self.gst.SECOND // 10)
            while message := pipeline.get_bus().pop_filtered(kinds):
                if message.type == self.gst.MessageType.ERROR:
                    failed = message.parse_error()[0].message
                elif message.get_structure().get_name() == "stereo-nearest":
                    found[message.src.get_name()] = message.get_structure()
        pipeline.set_state(self.gst.State.NULL)
        if failed:
            sys.exit(f"{rest.split('!')[0]}: {failed}")
        buffer = sample.get_buffer()
        return buffer.extract_dup(0, buffer.get_size()), self.stereo.buffer_get_stereo_meta(buffer), found

    def truth(self, source):
        meta = self.run(source, "")[1]
        return self.picture(meta.get_truth_bytes().get_data()) / 64

    def picture(self, data):
        return self.numpy.frombuffer(data, self.numpy.uint16).reshape(SIZE[1], SIZE[0]).astype(self.numpy.float32)

    def match(self, source, options, regions):
        """The disparity, px, 0 = none; and the nearest surface of each region."""
        nearest = "".join(f"stereonearest name=n{i} message-interval=0 region=\"<{','.join(map(str, region))}>\" ! "
                          for i, region in enumerate(regions))
        data, meta, found = self.run(source, f"stereomatch num-disparities={DISPARITIES} {options} ! "
                                             f"video/x-raw,format=GRAY16_LE ! {nearest}")
        surfaces = [found[f"n{i}"] for i in range(len(regions))]
        return (self.picture(data) / meta.disparity_scale,
                [one.get_double("disparity")[1] if one.get_boolean("valid")[1] else 0 for one in surfaces])


class Thing:
    """A thin thing: its disparity, its pixels that count, and the region in which stereonearest looks for it."""

    def __init__(self, numpy, disparity, pixels, behind, truth, width):
        self.disparity, self.pixels = disparity, pixels
        rows, columns = numpy.nonzero(pixels)
        top, bottom, left, right = rows.min(), rows.max() + 1, columns.min(), columns.max() + 1
        level, upright = bottom - top <= width, right - left <= width
        self.kind = KINDS[0 if upright and not level else 1 if level and not upright else 2]
        if level:
            top, bottom = max(0, top - MARGIN), min(SIZE[1], bottom + MARGIN)
        left, right = max(0, left - MARGIN), min(SIZE[0], right + MARGIN)
        near = behind[top:bottom, left:right].max(axis=1) > disparity - STANDS_OUT
        bottom = top + (numpy.argmax(near) if near.any() else bottom - top)
        self.region = (left / SIZE[0], top / SIZE[1], (right - left) / SIZE[0], (bottom - top) / SIZE[1])
        self.alone = bottom > top and truth[top:bottom, left:right].max() <= disparity

    def is_found(self, numpy, disparity):
        return numpy.mean(numpy.abs(disparity[self.pixels] - self.disparity) <= NEAR_ENOUGH) >= 0.5


def things_of(streams, numpy, source, width):
    """Each thing has a disparity of its own."""
    truth, behind = streams.truth(f"{source} thin-count={THINGS}"), streams.truth(f"{source} thin-count=0")
    columns = numpy.arange(SIZE[0])[None, :]
    shown = (truth != behind) & (truth - behind >= STANDS_OUT) & (columns >= truth)
    things = []
    for disparity in numpy.unique(truth[shown]):
        pixels = shown & (truth == disparity)
        if pixels.sum() >= LEAST:
            things.append(Thing(numpy, disparity, pixels, behind, truth, width))
    return things


def measure(streams, numpy, options, add):
    for width in map(int, options.widths.split(",")):
        for seed in range(options.seeds):
            # max-disparity: the search has to reach all of the scene, with things or without
            place = f"seed={seed} thin-width={width} max-disparity={DISPARITIES - 1}"
            things = things_of(streams, numpy, place, width)
            regions = [thing.region for thing in things if thing.alone]
            for contrast in options.contrasts.split(","):
                for noise in options.noise.split(","):
                    source = f"{place} thin-count={THINGS} thin-contrast={contrast} noise={noise}"
                    for setting in options.settings:
                        disparity, nearest = streams.match(source, f"{options.options} {setting}", regions)
                        nearest = iter(nearest)
                        for thing in things:
                            reported = abs(next(nearest) - thing.disparity) <= NEAR_ENOUGH if thing.alone else None
                            add(setting, (contrast, noise), thing.kind, width, thing.is_found(numpy, disparity), reported)


def share(values):
    known = [value for value in values if value is not None]
    return f"{100 * sum(known) / len(known):.0f}" if known else ""


def main():
    options = arguments()
    gst, stereo = load(options.build)
    import numpy
    records = []
    measure(Streams(gst, stereo, numpy), numpy, options, lambda *record: records.append(record))
    widths = sorted({record[3] for record in records})
    print(f"| setting | what | {' | '.join(f'{width} px' for width in widths)} |\n|---|---|{'---|' * len(widths)}")

    def row(setting, what, column, keep=lambda record: True):
        cells = [share([r[column] for r in records if r[0] == setting and r[3] == width and keep(r)]) for width in widths]
        print(f"| `{setting}` | {what} | {' | '.join(cells)} |")

    for setting in options.settings:
        row(setting, "found", 4)
        row(setting, "reported", 5)
        for kind in KINDS if options.kinds else ():
            row(setting, f"found: {kind}", 4, lambda r, kind=kind: r[2] == kind)
        for key in dict.fromkeys(record[1] for record in records) if options.kinds else ():
            row(setting, "found: contrast {}, noise {}".format(*key), 4, lambda r, key=key: r[1] == key)
    print(f"{len(records)} things, {sum(record[5] is not None for record in records)} of them with a region of their own")


if __name__ == "__main__":
    main()
