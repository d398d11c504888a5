#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs a pipeline to its end and says how many pixels of its last disparity have a value: pair.py WORD...

The pipeline is written as for gst-launch-1.0, and has a stereomatch with name=match; pair.sh puts it together.
"""
import sys

try:
    import gi
    gi.require_version("Gst", "1.0")
    from gi.repository import GLib, Gst
except (ImportError, ValueError) as error:
    sys.exit(f"pair.py: {error}: install python3-gi and gir1.2-gstreamer-1.0, and start this with /usr/bin/python3")


def main(words):
    Gst.init(None)
    try:
        pipeline = Gst.parse_launchv(words)
    except GLib.Error as error:
        sys.exit(f"pair.py: {error.message}")
    match = pipeline.get_by_name("match")
    pipeline.set_state(Gst.State.PLAYING)
    last = pipeline.get_bus().timed_pop_filtered(Gst.CLOCK_TIME_NONE, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    stats, caps = match.get_property("stats"), match.get_static_pad("src").get_current_caps()
    pipeline.set_state(Gst.State.NULL)
    if last.type == Gst.MessageType.ERROR or not caps:
        sys.exit("pair.py: " + (last.parse_error()[0].message if last.type == Gst.MessageType.ERROR else "there was no pair"))
    size = caps.get_structure(0)
    print(f"{size.get_value('width')}x{size.get_value('height')} pixels, {100 * stats.get_value('valid-ratio'):.1f} % have "
          f"a value, mean confidence {stats.get_value('mean-confidence'):.3f}")


main(sys.argv[1:])
