#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A window with the live depth and a slider for every parameter; what was found is saved as a preset.

tune.py [--preset NAME] CAMERAS ! ... stereomatch name=match ... ! depthoverlay ... ! videoconvert ! appsink name=screen

pipelines/tune.sh puts the pipeline together. docs/tuning.md says how to go about it.
"""
import argparse
import re
import signal
import sys
import time

# What each import needs, on Debian
PACKAGES = {
    "Gdk": ("4.0", "gir1.2-gtk-4.0"),
    "Gtk": ("4.0", "gir1.2-gtk-4.0"),
    "Gst": ("1.0", "gir1.2-gstreamer-1.0"),
    "GstVideo": ("1.0", "gir1.2-gst-plugins-base-1.0"),
}

try:
    import gi
except ImportError as error:
    sys.exit(f"tune.py: {error}: install python3-gi, and start this with /usr/bin/python3")
for name, (version, package) in PACKAGES.items():
    try:
        gi.require_version(name, version)
    except ValueError as error:
        sys.exit(f"tune.py: {error}: install {package}")
from gi.repository import Gdk, GLib, Gst, GstVideo, Gtk  # noqa: E402
from stream import Cameras, Refused, build  # noqa: E402
from parameters import Choice, Number, Switch, Text, launch_words, parameters_of, shown  # noqa: E402

# Elements whose parameters the window shows, in this order
TUNED = ("stereomatch", "stereonearest", "depthoverlay", "stereoground", "stereorectify")
OLDEST = 1  # second after which a frame that is shown is called old
LOOK_EVERY = 500  # milliseconds between two looks at what is in force


class Stream:
    """The pipeline. What stereomatch warns that it does not take is taken back."""

    def __init__(self, words, on_frame, on_error):
        self.pipeline = build(words)
        self.cameras = Cameras(self.pipeline, lambda text: print(f"tune.py: {text}", file=sys.stderr, flush=True))
        found = {name: self.pipeline.get_by_name(name) for name in ("match", "screen")}
        if not all(found.values()):
            sys.exit("tune.py: the pipeline must have a stereomatch with name=match and an appsink with name=screen")
        self.match, self.screen = found["match"], found["screen"]
        self.on_frame, self.on_error = on_frame, on_error
        self.changed = None  # the last parameter, and the value that it had before
        self.waiting = False  # a frame that the window has not taken yet
        self.screen.set_property("caps", Gst.Caps.from_string("video/x-raw,format=RGBA"))
        self.screen.set_property("max-buffers", 1)
        self.screen.set_property("drop", True)
        self.screen.set_property("emit-signals", True)
        self.screen.connect("new-sample", self.on_sample)
        bus = self.pipeline.get_bus()
        bus.add_signal_watch()
        bus.connect("message::error", self.on_bus_error)
        bus.connect("message::warning", self.on_bus_warning)
        bus.connect("message::latency", lambda *_: self.pipeline.recalculate_latency())

    def elements(self):
        """Those that the window shows."""
        found = {}
        iterator = self.pipeline.iterate_recurse()
        while True:
            result, element = iterator.next()
            if result != Gst.IteratorResult.OK:
                break
            factory = element.get_factory()
            if factory:
                found.setdefault(factory.get_name(), element)
        return [found[name] for name in TUNED if name in found]

    def start(self):
        self.pipeline.set_state(Gst.State.PLAYING)

    def stop(self):
        self.pipeline.set_state(Gst.State.NULL)
        self.pipeline.get_bus().remove_signal_watch()

    def set(self, parameter, value):
        self.changed = (parameter, parameter.get())
        parameter.set(value)

    def on_sample(self, screen):
        """In the streaming thread. Where the window is slower than the stream, it takes the newest frame."""
        sample = screen.emit("pull-sample")
        if sample and not self.waiting:
            self.waiting = True
            GLib.idle_add(self.hand_over, sample)
        return Gst.FlowReturn.OK

    def hand_over(self, sample):
        self.waiting = False
        buffer, info = sample.get_buffer(), GstVideo.VideoInfo.new_from_caps(sample.get_caps())
        self.on_frame(info.width, info.height, info.stride[0], buffer.extract_dup(0, buffer.get_size()))
        return GLib.SOURCE_REMOVE

    def on_bus_error(self, _bus, message):
        if self.cameras.on_error(message):
            return
        text = f"{message.src.get_name()}: {message.parse_error()[0].message}"
        self.pipeline.set_state(Gst.State.NULL)
        self.on_error(text, again=True)

    def on_bus_warning(self, _bus, message):
        text = message.parse_warning()[0].message
        if self.changed and message.src == self.match and "stay in force" in text:
            parameter, value = self.changed
            self.changed = None
            parameter.set(value)
            self.on_error(f"{text} \u2013 {parameter.name} is {parameter.words(value)} again", again=False)


# ---- a row of the window for each parameter ---------------------------------------------------


class Row:
    """A control that sets a parameter, and shows it where something else has set it."""

    def __init__(self, parameter, on_change):
        self.parameter, self.on_change = parameter, on_change
        self.silent = False
        self.label = Gtk.Label(label=parameter.name, xalign=0, tooltip_text=parameter.text)
        self.in_force = Gtk.Label(xalign=1, width_chars=10, tooltip_text="in force", css_classes=["dim-label"])
        self.control = Gtk.Box(spacing=6, hexpand=True, tooltip_text=parameter.text)
        self.build()
        self.show()

    def change(self, value):
        if not self.silent and value != self.parameter.get():
            self.on_change(self.parameter, value)

    def show(self):
        self.silent = True
        self.show_value(self.parameter.get())
        self.silent = False


class ChoiceRow(Row):
    def build(self):
        self.values = list(self.parameter.choices)
        self.drop_down = Gtk.DropDown.new_from_strings(list(self.parameter.choices.values()))
        self.drop_down.connect("notify::selected", lambda *_: self.change(self.values[self.drop_down.get_selected()]))
        self.control.append(self.drop_down)

    def show_value(self, value):
        self.drop_down.set_selected(self.values.index(value))


class SwitchRow(Row):
    def build(self):
        self.switch = Gtk.Switch(halign=Gtk.Align.START)
        self.switch.connect("notify::active", lambda *_: self.change(self.switch.get_active()))
        self.control.append(self.switch)

    def show_value(self, value):
        self.switch.set_active(value)


class TextRow(Row):
    def build(self):
        self.entry = Gtk.Entry(hexpand=True)
        self.entry.connect("activate", lambda *_: self.change(self.entry.get_text() or None))
        self.control.append(self.entry)

    def show_value(self, value):
        if not self.entry.has_focus():  # nobody is typing
            self.entry.set_text(value or "")


class NumberRow(Row):
    """A slider, a field for the exact value, and a tick for the element's own."""

    def build(self):
        parameter = self.parameter
        self.slider = Gtk.Scale.new_with_range(Gtk.Orientation.HORIZONTAL, 0, 1, 0.01)
        self.slider.set_draw_value(False)
        self.slider.set_hexpand(True)
        self.slider.set_size_request(120, -1)
        self.slider.connect("value-changed", lambda *_: self.change(parameter.at(self.slider.get_value())))
        self.field = Gtk.SpinButton.new_with_range(parameter.low, parameter.high, parameter.step)
        self.field.set_digits(parameter.digits)
        self.field.set_width_chars(8)
        self.field.connect("value-changed", lambda *_: self.change(parameter.nearest(self.field.get_value())))
        self.own = Gtk.CheckButton(label="own", visible=parameter.own is not None)
        self.own.connect("toggled", self.on_own)
        for widget in self.slider, self.field, self.own:
            self.control.append(widget)

    def on_own(self, _button):
        """Without the tick it starts from what was in force, which is what the user sees."""
        if self.own.get_active():
            self.change(self.parameter.own)
        else:
            self.change(self.parameter.nearest(self.parameter.in_force()))

    def show_value(self, value):
        own = self.parameter.own is not None and value == self.parameter.own
        self.own.set_active(own)
        value = self.parameter.nearest(self.parameter.in_force() if own else value)
        if self.parameter.at(self.slider.get_value()) != value:
            self.slider.set_value(self.parameter.position(value))
        if self.parameter.nearest(self.field.get_value()) != value:  # else what is being typed would be lost
            self.field.set_value(value)
        self.slider.set_sensitive(not own)
        self.field.set_sensitive(not own)


ROWS = {Choice: ChoiceRow, Switch: SwitchRow, Number: NumberRow, Text: TextRow}


# ---- the window -------------------------------------------------------------------------------


class Window:
    def __init__(self, words, preset=None):
        self.pairs = 0
        self.shown = None  # when the frame that is seen came
        self.rows = []
        self.window = Gtk.Window(title="stereomatch: tuning", default_width=1240, default_height=720)
        self.stream = Stream(words, self.on_frame, self.on_error)
        if preset and not self.stream.match.load_preset(preset):
            known = ", ".join(self.stream.match.get_preset_names()) or "none yet"
            sys.exit(f"tune.py: there is no preset {preset}; there are: {known}")
        panes = Gtk.Paned(start_child=self.build_view(), end_child=self.build_side(), position=680,
                          shrink_end_child=False)
        self.window.set_child(panes)
        GLib.timeout_add(LOOK_EVERY, self.look)

    def build_view(self):
        box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=6)
        self.picture = Gtk.Picture(hexpand=True, vexpand=True, can_shrink=True)
        self.status = Gtk.Label(label="no pair yet", xalign=0, margin_start=6, wrap=True)
        self.old = Gtk.Label(xalign=0, margin_start=6, visible=False, css_classes=["error"])
        self.error = Gtk.Label(xalign=0, margin_start=6, wrap=True, selectable=True, visible=False,
                               css_classes=["error"])
        self.again = Gtk.Button(label="Start again", halign=Gtk.Align.START, margin_start=6, visible=False)
        self.again.connect("clicked", self.on_again)
        for widget in self.picture, self.old, self.status, self.error, self.again:
            box.append(widget)
        return box

    def build_side(self):
        box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=6, margin_end=6, margin_bottom=6)
        tabs = Gtk.Notebook(vexpand=True)
        for element in self.stream.elements():
            tabs.append_page(self.build_page(element), Gtk.Label(label=element.get_factory().get_name()))
        box.append(tabs)
        # the words of a gst-launch line for what is set now, to copy
        self.words = Gtk.Label(xalign=0, wrap=True, selectable=True, max_width_chars=60)
        box.append(self.words)
        saving = Gtk.Box(spacing=6)
        self.preset = Gtk.Entry(placeholder_text="name of a preset", hexpand=True)
        self.preset.connect("activate", self.on_save)
        save = Gtk.Button(label="Save preset")
        save.connect("clicked", self.on_save)
        saving.append(self.preset)
        saving.append(save)
        box.append(saving)
        self.saved = Gtk.Label(xalign=0, wrap=True, selectable=True, visible=False)
        box.append(self.saved)
        return box

    def build_page(self, element):
        grid = Gtk.Grid(column_spacing=8, row_spacing=2, margin_start=6, margin_end=12, margin_top=6)
        for number, parameter in enumerate(parameters_of(element)):
            row = ROWS[type(parameter)](parameter, self.on_change)
            for column, widget in enumerate((row.label, row.control, row.in_force)):
                grid.attach(widget, column, number, 1, 1)
            self.rows.append(row)
        return Gtk.ScrolledWindow(child=grid, hscrollbar_policy=Gtk.PolicyType.NEVER, min_content_width=480)

    def on_frame(self, width, height, stride, data):
        self.shown = time.monotonic()
        self.picture.set_paintable(Gdk.MemoryTexture.new(
            width, height, Gdk.MemoryFormat.R8G8B8A8, GLib.Bytes.new(data), stride))

    def on_change(self, parameter, value):
        self.error.set_visible(False)
        self.stream.set(parameter, value)
        self.show_values()

    def show_values(self):
        for row in self.rows:
            row.show()
            row.in_force.set_label(row.parameter.words_in_force())
        self.words.set_label(launch_words(self.stream.match))

    def on_error(self, text, again):
        self.error.set_label(text)
        self.error.set_visible(True)
        self.again.set_visible(again)
        self.show_values()

    def on_again(self, _button):
        self.error.set_visible(False)
        self.again.set_visible(False)
        self.stream.start()

    def on_save(self, _widget):
        name = self.preset.get_text().strip()
        if not re.fullmatch(r"[\w.+-]+", name):  # gst-launch-1.0 would not find another
            text = "A preset needs a name, of letters, digits and the signs _ . + -"
        elif self.stream.match.save_preset(name):
            text = f"Saved: stereomatch @preset={name}"
        else:
            text = f"The preset {name} could not be written: is the folder of presets in your home writable?"
        self.saved.set_label(text)
        self.saved.set_visible(True)

    def look(self):
        stats = self.stream.match.get_property("stats")
        pairs, before = stats.get_uint64("pairs")[1], self.pairs
        self.pairs = pairs
        self.status.set_label(
            f"{(pairs - before) * 1000 / LOOK_EVERY:.0f} pairs a second, "
            f"{stats.get_uint64('compute-time-mean')[1] / 1e6:.1f} ms each "
            f"on {self.stream.match.get_property('active-backend')}; "
            f"{100 * stats.get_double('valid-ratio')[1]:.1f} % of the pixels have a value" if pairs > before
            else "no pair is matched")
        age = time.monotonic() - self.shown if self.shown else 0
        self.old.set_label(f"no picture for {age:.0f} s")
        self.old.set_visible(age > OLDEST)
        self.picture.set_opacity(0.2 if age > OLDEST else 1)
        self.show_values()
        return GLib.SOURCE_CONTINUE


def main():
    Gst.init(None)
    parser = argparse.ArgumentParser(prog="tune.py", description="A window to tune stereomatch live.")
    parser.add_argument("--preset", metavar="NAME", help="start with this preset")
    parser.add_argument("pipeline", nargs=argparse.REMAINDER, help="with elements named match and screen: see tune.sh")
    options = parser.parse_args()
    if not options.pipeline:
        parser.error("give a pipeline: see tune.sh")
    if not Gdk.Display.get_default():
        sys.exit("tune.py: there is no screen: set DISPLAY or WAYLAND_DISPLAY")
    try:
        window = Window(options.pipeline, options.preset)
    except (GLib.Error, Refused) as error:
        sys.exit(f"tune.py: error: {getattr(error, 'message', error)}")
    loop = GLib.MainLoop()
    window.window.connect("close-request", lambda *_: loop.quit())
    for number in signal.SIGINT, signal.SIGTERM:
        # kept, so that a second Ctrl-C does not cut the stop short
        GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, number, lambda: loop.quit() or GLib.SOURCE_CONTINUE)
    window.window.present()
    window.stream.start()
    loop.run()
    window.stream.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
