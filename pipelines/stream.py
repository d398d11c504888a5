#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs a pipeline that is written as for gst-launch-1.0: stream.py [-e] WORD... The other programs here share it.

The value of a property is set on its element, and is never a part of the text that is parsed: the name of a file may have blanks,
quotes and line breaks in it. A camera that fails or ends is opened again, and the rest of the pipeline goes on without it. -e:
Ctrl-C ends the stream, so that a file is closed properly.
"""
import math
import os
import pathlib
import re
import signal
import sys

PROGRAM = os.path.basename(sys.argv[0] or "stream.py")
try:
    import gi
    gi.require_version("Gst", "1.0")
    from gi.repository import GLib, GObject, Gst
except (ImportError, ValueError) as error:
    sys.exit(f"{PROGRAM}: {error}: install python3-gi and gir1.2-gstreamer-1.0, and start this with /usr/bin/python3")

PROPERTY = re.compile(r"([a-z][a-z0-9-]*)=(.*)", re.DOTALL)
PLAIN = re.compile(r"[A-Za-z0-9_./:,+@%-]*")  # these values may be parsed
ELEMENT = re.compile(r"[a-z][a-z0-9_]*")
LONGEST = 30  # seconds between two tries to open a camera
MARGIN = 0.8  # of the warn-distance: what is that near can be measured, too


class Refused(Exception):
    """A sentence for the user."""


def set_value(element, name, value):
    """As gst-launch-1.0 would, but for texts, which are taken as they are."""
    kind, spec = element.get_factory().get_name(), element.find_property(name)
    if not spec:
        raise Refused(f"{kind} has no property {name}")
    if name == "name":
        raise Refused(f"name={value}: an element's name has letters and digits")
    if kind.startswith("multifile") and name == "location":
        folder, base = os.path.split(value)  # a % of a folder's name is no number's
        value = os.path.join(folder.replace("%", "%%"), base)
    try:
        if name == "location" and isinstance(element, Gst.URIHandler):
            element.set_uri(pathlib.Path(os.path.abspath(value)).as_uri())  # any byte
        elif spec.value_type == GObject.TYPE_STRING:
            element.set_property(name, value)
        else:
            Gst.util_set_object_arg(element, name, value)
    except (UnicodeEncodeError, TypeError):
        raise Refused(f"{name}={os.fsencode(value)!r}: {kind} takes names in UTF-8 only: rename it") from None


def build(words, flags=Gst.ParseFlags.FATAL_ERRORS):
    """The pipeline of these words. GLib.Error, Refused."""
    text, later, names, element = [], [], {}, None
    for word in words:
        found = PROPERTY.fullmatch(word)
        if found and element is not None and not PLAIN.fullmatch(found[2]):
            later.append((element, found[1], found[2]))
            continue
        if found and found[1] == "name":
            names[element] = found[2]
        elif ELEMENT.fullmatch(word):
            element = len(text)
        text.append([word])
    for at, _, _ in later:
        if at not in names:
            names[at] = f"set-{at}"
            text[at].append(f"name=set-{at}")
    try:
        pipeline = Gst.parse_launchv_full([os.fsencode(word).decode() for part in text for word in part], None, flags)
    except UnicodeDecodeError as error:
        raise Refused(f"{error.object!r} is not written in UTF-8") from None
    if not isinstance(pipeline, Gst.Bin):
        raise Refused("a pipeline has more than one element")
    for at, name, value in later:
        set_value(pipeline.get_by_name(names[at]), name, value)
    return pipeline


def elements_of(pipeline):
    found, iterator = [], pipeline.iterate_recurse()
    while True:
        result, element = iterator.next()
        if result != Gst.IteratorResult.OK:
            return found
        found.append(element)


class Cameras:
    """Opens cameras again that fail or end, and says so once. One that never gave a picture is an error. @delay: seconds before the first
    try."""

    def __init__(self, pipeline, say, delay=1):
        self.say, self.delay, self.ending = say, delay, False
        self.seen, self.lost = set(), {}  # that gave pictures; seconds to wait, of each that does not any more
        self.cameras = [element for element in elements_of(pipeline)
                        if element.get_factory().get_name() == "v4l2src" or element.get_name().startswith("camera")]
        for camera in self.cameras:
            camera.get_static_pad("src").add_probe(
                Gst.PadProbeType.BUFFER | Gst.PadProbeType.EVENT_DOWNSTREAM, self.on_data, camera)

    @staticmethod
    def name_of(camera):
        return camera.get_property("device") if camera.find_property("device") else camera.get_name()

    def on_data(self, _pad, info, camera):
        """The end of one camera is not the end of the stream."""
        if info.type & Gst.PadProbeType.BUFFER:
            self.seen.add(camera)
            if self.lost.pop(camera, None):
                GLib.idle_add(self.say, f"{self.name_of(camera)} gives pictures again")
        elif info.get_event().type == Gst.EventType.EOS and not self.ending and camera in self.seen:
            GLib.idle_add(self.lose, camera, "its stream ended.")
            return Gst.PadProbeReturn.DROP
        return Gst.PadProbeReturn.OK

    def on_error(self, message):
        """Whether it is an error of a camera, which is opened again."""
        if message.src not in self.seen or self.ending:
            return False
        self.lose(message.src, message.parse_error()[0].message)
        return True

    def lose(self, camera, why):
        if camera not in self.lost:
            self.lost[camera] = self.delay
            self.say(f"{self.name_of(camera)} is lost: {why} It is opened again as soon as that works.")
            GLib.timeout_add(int(1000 * self.delay), self.open, camera)
        return GLib.SOURCE_REMOVE

    def open(self, camera):
        """Each try takes twice as long to come as the one before."""
        if camera in self.lost and not self.ending:
            self.lost[camera] = min(2 * self.lost[camera], LONGEST)
            camera.set_state(Gst.State.NULL)
            camera.sync_state_with_parent()
            GLib.timeout_add(int(1000 * self.lost[camera]), self.open, camera)
        return GLib.SOURCE_REMOVE


def fit_range(pipeline, words, say, free):
    """Searches as many disparities as the warn-distance takes, where nobody has set how many. @free: nobody has set the warn-distance;
    it becomes larger than the blind zone, in which nothing is ever clear."""
    match, nearest, ground = (pipeline.get_by_name(name) for name in ("match", "nearest", "ground"))
    fixed = any(word.startswith("num-disparities=") for word in words)
    if not (match and nearest) or (fixed and not (free and ground)):
        return

    def on_depth(_pad, info):
        from gi.repository import GstStereo
        meta, warn = GstStereo.buffer_get_stereo_meta(info.get_buffer()), nearest.get_property("warn-distance")
        if free and ground:
            found = info.get_buffer().get_custom_meta("GstStereoGroundMeta")
            known, start = found.get_structure().get_double("ground-from") if found else (False, 0)
            if not known:
                return Gst.PadProbeReturn.OK
            if start > warn:
                warn = 500 * math.ceil(start / MARGIN / 500)
                nearest.set_property("warn-distance", warn)
                GLib.idle_add(say, f"warn-distance={warn}: none is set, and this camera sees the ground from {start / 1000:.1f} m on")
        if meta and warn and not fixed and meta.focal_length * meta.baseline > 0:
            wanted = meta.focal_length * meta.baseline / (MARGIN * warn) - meta.principal_offset - meta.min_disparity
            wanted = min(16 * math.ceil(wanted / 16), 1024)
            if wanted > meta.num_disparities:
                GLib.idle_add(say, f"num-disparities={wanted}: what is nearer than warn-distance={warn:g} mm takes so many")
                GLib.idle_add(match.set_property, "num-disparities", wanted)
        return Gst.PadProbeReturn.REMOVE

    try:
        gi.require_version("GstStereo", "1.0")
    except ValueError:
        return  # without the typelib, the metadata cannot be read
    (free and ground or match).get_static_pad("src").add_probe(Gst.PadProbeType.BUFFER, on_depth)


class Stream:
    """A pipeline from its start to its end, in a main loop. Those who need more write its functions anew."""

    def __init__(self, words, ends=False, free=False):
        """@ends: Ctrl-C ends the stream, and a second one the program. @free: the warn-distance may change. GLib.Error, Refused."""
        self.pipeline, self.loop, self.status, self.ends = build(words), GLib.MainLoop(), 0, ends
        self.cameras = Cameras(self.pipeline, self.say)
        fit_range(self.pipeline, words, self.say, free)
        self.bus = self.pipeline.get_bus()
        self.bus.add_signal_watch()
        self.bus.connect("message", self.on_message)

    def say(self, text):
        print(f"{PROGRAM}: {text}", file=sys.stderr, flush=True)

    def on_start(self):
        pass

    def on_structure(self, structure, source):
        pass

    def on_warning(self, source, text):
        print(f"WARNING: from element {source.get_path_string()}: {text}", file=sys.stderr, flush=True)

    def on_error(self, source, text):
        print(f"ERROR: from element {source.get_path_string()}: {text}", file=sys.stderr, flush=True)
        self.stop(1)

    def on_end(self):
        self.stop(0)

    def stop(self, status):
        self.status = self.status or status
        self.loop.quit()

    def on_message(self, _bus, message):
        if message.type in (Gst.MessageType.ELEMENT, Gst.MessageType.APPLICATION):
            if message.get_structure():
                self.on_structure(message.get_structure(), message.src)
        elif message.type == Gst.MessageType.LATENCY:
            self.pipeline.recalculate_latency()
        elif message.type == Gst.MessageType.WARNING:
            self.on_warning(message.src, message.parse_warning()[0].message)
        elif message.type == Gst.MessageType.ERROR:
            if not self.cameras.on_error(message):
                self.on_error(message.src, message.parse_error()[0].message)
        elif message.type == Gst.MessageType.EOS:
            self.on_end()

    def on_interrupt(self):
        if self.cameras.ending or not self.ends:
            self.loop.quit()
        else:
            self.cameras.ending = True
            self.pipeline.send_event(Gst.Event.new_eos())
        return GLib.SOURCE_CONTINUE

    def run(self):
        """Until its end. Returns the status for sys.exit()."""
        for number in signal.SIGINT, signal.SIGTERM:
            GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, number, self.on_interrupt)
        if self.pipeline.set_state(Gst.State.PLAYING) == Gst.StateChangeReturn.FAILURE:
            # once the messages that say why have been read
            GLib.idle_add(self.stop, 1, priority=GLib.PRIORITY_LOW)
        self.on_start()
        self.loop.run()
        self.pipeline.set_state(Gst.State.NULL)
        self.bus.remove_signal_watch()
        return self.status


class Launched(Stream):
    def on_start(self):
        print("PLAYING", flush=True)

    def on_end(self):
        print("end of the stream", flush=True)
        self.stop(0)


def start(kind, *arguments):
    """An object of a kind of Stream, or the end of the program with a sentence."""
    Gst.init(None)
    try:
        return kind(*arguments)
    except GLib.Error as error:
        sys.exit(f"ERROR: {error.message}")
    except Refused as error:
        sys.exit(f"ERROR: {error}")


if __name__ == "__main__":
    given = sys.argv[1:]
    if not given or given == ["-e"]:
        sys.exit(__doc__)
    sys.exit(start(Launched, given[given[0] == "-e":], given[0] == "-e").run())
