#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs a pipeline to its end and says how many pixels of its last disparity have a value: pair.py WORD...

The pipeline is written as for gst-launch-1.0, and has a stereomatch with name=match; pair.sh puts it together.
"""
import sys

from stream import Stream, start


class Pair(Stream):
    def on_end(self):
        match = self.pipeline.get_by_name("match")
        stats, caps = match.get_property("stats"), match.get_static_pad("src").get_current_caps()
        if not caps:
            sys.exit("pair.py: there was no pair")
        size = caps.get_structure(0)
        print(f"{size.get_value('width')}x{size.get_value('height')} pixels, {100 * stats.get_value('valid-ratio'):.1f} % have "
              f"a value, mean confidence {stats.get_value('mean-confidence'):.3f}")
        self.stop(0)

    def on_error(self, source, text):
        print(f"pair.py: {text}", file=sys.stderr)
        self.stop(1)

    def on_warning(self, source, text):
        pass


sys.exit(start(Pair, sys.argv[1:]).run())
