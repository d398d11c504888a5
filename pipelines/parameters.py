# SPDX-License-Identifier: LGPL-2.1-or-later
"""The properties of an element that a person sets while it runs. All is read from the element: a new property needs no word here."""
import math
import re

import gi
gi.require_version("Gst", "1.0")
from gi.repository import GObject  # noqa: E402

MOST = 10 ** 12  # of a count of bytes or nanoseconds; what is beyond has no meaning to a person
# What most people set: docs/elements.md has these in bold
FIRST = ("num-disparities", "profile", "method", "fill", "confidence-threshold")


class Choice:
    def __init__(self, element, spec):
        self.element, self.spec = element, spec
        kind = type(element.get_property(spec.name))
        # an enumeration of PyGObject, which is one of Python from 3.52 on
        entries = kind.__enum_values__.values() if hasattr(kind, "__enum_values__") else kind
        self.choices = {int(entry): entry.value_nick for entry in entries}

    def get(self):
        return self.choices[int(self.element.get_property(self.spec.name))]

    def value_of(self, text):
        """None: it has no such value."""
        return next((value for value, nick in self.choices.items() if nick == text), None)

    def describe(self):
        return {"choices": list(self.choices.values())}


class Switch(Choice):
    def __init__(self, element, spec):
        self.element, self.spec, self.choices = element, spec, {0: "false", 1: "true"}


class Number:
    def __init__(self, element, spec):
        self.element, self.spec = element, spec
        self.whole = spec.value_type not in (GObject.TYPE_DOUBLE, GObject.TYPE_FLOAT)
        self.low, self.high = spec.minimum, min(spec.maximum, MOST)
        self.odd = self.whole and bool(re.search(r"\bodd\b", spec.blurb))

    def get(self):
        value = self.element.get_property(self.spec.name)
        return value if self.whole else float(f"{value:.6g}")

    def value_of(self, text):
        """None: it has no such value."""
        try:
            value = float(text)
        except ValueError:
            return None
        if not math.isfinite(value) or not self.low <= value <= self.high:
            return None
        return int(value) if self.whole else value

    def describe(self):
        step = 2 if self.odd else 1 if self.whole else 0.01 if self.high - self.low <= 10 else 0.1
        return {"low": self.low - (self.odd and self.low % 2 == 0), "high": self.high, "step": step}  # from there, steps are odd


KINDS = ((GObject.TYPE_ENUM, Choice), (GObject.TYPE_BOOLEAN, Switch)) + tuple(
    (kind, Number) for kind in (GObject.TYPE_INT, GObject.TYPE_UINT, GObject.TYPE_INT64, GObject.TYPE_UINT64, GObject.TYPE_DOUBLE,
                                GObject.TYPE_FLOAT))


class Controls:
    """With a value that does not fit the others, stereomatch warns, and goes on with those before."""

    def __init__(self, element):
        self.element, self.parameters = element, {}
        # those that a preset has: neither the rig nor the output nor the machine
        there = [spec for spec in element.list_properties() if spec.name in element.get_property_names()]
        for spec in sorted(there, key=lambda spec: FIRST.index(spec.name) if spec.name in FIRST else len(FIRST)):
            kind = next((kind for base, kind in KINDS if GObject.type_is_a(spec.value_type, base)), None)
            if kind:
                self.parameters[spec.name] = kind(element, spec)

    def describe(self):
        """"in-force": what the element works with, where that is another value than what was set."""
        settings = self.element.get_property("settings")
        return [{"name": name, "text": parameter.spec.blurb, "value": parameter.get(), "first": name in FIRST,
                 "in-force": settings.get_value(name) if settings and settings.has_field(name) else parameter.get(),
                 **parameter.describe()} for name, parameter in self.parameters.items()]

    def change(self, name, text):
        """A sentence where it is refused."""
        if name == "preset":
            return self.save(text)
        parameter = self.parameters.get(name)
        if not parameter:
            return f"There is no control {name}, only {', '.join(self.parameters)}."
        value = parameter.value_of(text)
        if value is None:
            return f"{name} cannot be {text}."
        self.element.set_property(name, value)
        return None

    def save(self, name):
        if not re.fullmatch(r"[\w.+-]+", name):  # gst-launch-1.0 would not find another
            return "A preset needs a name, of letters, digits and the signs _ . + -"
        if not self.element.save_preset(name):
            return f"The preset {name} could not be written: is the folder of presets in the server's home writable?"
        return None

    def words(self):
        """What is set by hand, as words for gst-launch-1.0."""
        words = [self.element.get_factory().get_name()]
        for name, parameter in self.parameters.items():
            if self.element.get_property(name) != parameter.spec.default_value:
                words.append(f"{name}={parameter.get()}")
        return " ".join(words)
