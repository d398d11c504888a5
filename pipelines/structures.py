# SPDX-License-Identifier: LGPL-2.1-or-later
"""A message of the elements, a Gst.Structure, as a dictionary that json writes."""
import math
import warnings

from gi.repository import Gst


def members_of(structure):
    """Structures and lists within become dictionaries and lists. None: a number that JSON does not know, or a value of another kind."""
    return {name: value_of(structure, name) for name in map(structure.nth_field_name, range(structure.n_fields()))}


def value_of(structure, name):
    for read in structure.get_array, structure.get_list:
        found, values = read(name)
        if found:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # of GLib's own; there is no other way to read them
                return [content_of(values.get_nth(i)) for i in range(values.n_values)]
    try:
        return content_of(structure.get_value(name))
    except TypeError:
        return None  # PyGObject cannot read it


def content_of(value):
    if isinstance(value, Gst.Structure):
        return members_of(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, (bool, int, float, str)) else None
