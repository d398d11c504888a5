# SPDX-License-Identifier: LGPL-2.1-or-later
"""The properties of an element as a person sets them: numbers with a slider, choices, switches and texts.

Used by tune.py. All is read from the element itself: a new property needs no word here.
"""
import math
import re

import gi
gi.require_version("Gst", "1.0")
from gi.repository import GObject, Gst  # noqa: E402

MOST = 10 ** 12  # of a count of bytes or nanoseconds; what is beyond has no meaning on a slider
# What most people set: docs/elements.md has these in bold
FIRST = ("num-disparities", "profile", "method", "fill")
WIDE = 500  # of ranges from here on, each part of a slider is a factor and not a step


class Parameter:
    def __init__(self, element, spec):
        self.element, self.spec = element, spec
        self.name, self.text = spec.name, spec.blurb

    def get(self):
        return self.element.get_property(self.name)

    def set(self, value):
        self.element.set_property(self.name, value)

    def words(self, value):
        """As a gst-launch line has it."""
        return shown(value)

    def in_force(self):
        """What the element works with, where that can differ from what was set."""
        return self.get()


    def words_in_force(self):
        return shown(self.in_force())


class Switch(Parameter):
    pass


class Text(Parameter):
    pass


class Choice(Parameter):
    def __init__(self, element, spec):
        super().__init__(element, spec)
        kind = type(element.get_property(spec.name))
        # an enumeration of PyGObject, which is one of Python from 3.52 on
        entries = kind.__enum_values__.values() if hasattr(kind, "__enum_values__") else kind
        self.choices = {int(entry): entry.value_nick for entry in entries}

    def get(self):
        return int(super().get())

    def words(self, value):
        return self.choices[value]

    def in_force(self):
        return own_value(self, self.choices[self.get()])


class Number(Parameter):
    def __init__(self, element, spec):
        super().__init__(element, spec)
        self.whole = spec.value_type not in (GObject.TYPE_DOUBLE, GObject.TYPE_FLOAT)
        low, high = spec.minimum, min(spec.maximum, MOST)
        # "0 = own": a value that stands for what the element chooses; so does the largest of all, where it is the default
        own = re.search(r"(-?\d+) = own\b", spec.blurb)
        self.own = int(own.group(1)) if own else spec.default_value if spec.default_value > high else None
        self.odd = self.whole and bool(re.search(r"\bodd\b", spec.blurb))
        if self.own == low:
            low += 1 if self.whole else 0
        self.low, self.high = low, high
        self.step = 2 if self.odd else 1 if self.whole else 0.01 if high - low <= 10 else 0.1
        self.digits = 0 if self.whole else 3 if self.step == 0.01 else 2

    def nearest(self, value):
        """A value that the slider can have."""
        value = min(max(value, self.low), self.high)
        if not self.whole:
            return float(value)
        value = round(value)
        return value - 1 + value % 2 if self.odd and value % 2 == 0 and value > self.low else value

    def even(self, value):
        """What a slider moves evenly in. On a wide range, it is the logarithm of the distance from the least value, or from 0
        where the range lies on both sides of it."""
        if self.high - self.low <= WIDE:
            return value
        value -= max(self.low, 0)
        return math.copysign(math.log1p(abs(value)), value)

    def position(self, value):
        """0 to 1."""
        least, most = self.even(self.low), self.even(self.high)
        return (self.even(min(max(value, self.low), self.high)) - least) / (most - least)

    def at(self, position):
        least, most = self.even(self.low), self.even(self.high)
        value = least + position * (most - least)
        if self.high - self.low > WIDE:
            value = math.copysign(math.expm1(abs(value)), value) + max(self.low, 0)
        return self.nearest(value)

    def set(self, value):
        super().set(int(value) if self.whole else float(value))

    def in_force(self):
        return own_value(self, self.get())

    def words_in_force(self):
        """Nothing where the element does not tell what its own value is."""
        value = self.in_force()
        return "" if self.own is not None and value == self.own else shown(value)


def own_value(parameter, otherwise):
    """What the element's settings say, where it has such."""
    if not parameter.element.find_property("settings"):
        return otherwise
    settings = parameter.element.get_property("settings")
    value = settings.get_value(parameter.name) if settings and settings.has_field(parameter.name) else None
    return otherwise if value is None else value


def shown(value):
    """For people, and for a gst-launch line."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return f"{value:.6g}" if isinstance(value, float) else str(value)
    text = str(value)
    return text if re.fullmatch(r"[\w./:,+@%-]+", text) else '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


KINDS = ((GObject.ParamSpecBoolean, Switch), (GObject.ParamSpecEnum, Choice), (GObject.ParamSpecString, Text))
NUMBERS = (GObject.TYPE_INT, GObject.TYPE_UINT, GObject.TYPE_INT64, GObject.TYPE_UINT64, GObject.TYPE_DOUBLE,
           GObject.TYPE_FLOAT)


def parameter_of(element, spec):
    """None: it is not for a person to tune."""
    wanted = GObject.ParamFlags.READABLE | GObject.ParamFlags.WRITABLE
    if spec.flags & wanted != wanted or not int(spec.flags) & Gst.PARAM_MUTABLE_PLAYING:
        return None
    if GObject.type_is_a(spec.value_type, GObject.TYPE_ENUM):
        return Choice(element, spec)
    if spec.value_type == GObject.TYPE_BOOLEAN:
        return Switch(element, spec)
    if spec.value_type == GObject.TYPE_STRING:
        return Text(element, spec)
    return Number(element, spec) if spec.value_type in NUMBERS else None


def parameters_of(element):
    """Those of FIRST, then the others in the order in which the element has them."""
    made = (parameter_of(element, spec) for spec in element.list_properties())
    return sorted(filter(None, made), key=lambda parameter: FIRST.index(parameter.name) if parameter.name in FIRST else len(FIRST))


def launch_words(element):
    """What is set by hand, as words for gst-launch-1.0."""
    words = [element.get_factory().get_name()]
    for parameter in parameters_of(element):
        value = parameter.get()
        if value != parameter.spec.default_value and value is not None:
            words.append(f"{parameter.name}={parameter.words(value)}")
    return " ".join(words)
