#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""docs/elements.md: every element with its pads and properties, as the plugins have them.

reference.py > docs/elements.md     a test compares; frames in device memory are left out, as whether they are taken depends on the build
reference.py --stats PIPELINE       runs the pipeline, and prints the names of the fields that `stats` of its element "asked" has at the end
"""
import re
import sys

try:
    import gi
    gi.require_version("Gst", "1.0")
    from gi.repository import GLib, GObject, Gst
except (ImportError, ValueError) as error:
    print(f"SKIP: {error}", file=sys.stderr)
    sys.exit(77)

HEAD = """<!-- SPDX-License-Identifier: LGPL-2.1-or-later -->
<!-- Made by `docs/reference.py > docs/elements.md` from the plugins themselves; a test compares. -->
# Elements

Pads with the formats of `video/x-raw` that they take, of any size and frame rate (in system memory), and properties with
(default, range and type: int where none stands). Lengths in pictures and disparities are in pixels, distances in millimetres,
times in nanoseconds, unless the text says otherwise. "Own" values are replaced by those of profile and method: `settings`
shows what is in force. Properties can change while a stream runs, but where "before playing" stands. Values of an
enumeration count from 0; a number in brackets differs.

This page is also the record of the interface: what stands here does not change before version 2, but by additions."""
GROUPS = {"packing": "Views and pairing", "active-backend": "What it tells", "profile": "What is matched, and how", "window": "Aggregation",
          "p1": "Paths", "refine-iterations": "Refinement", "consistency": "What is rejected, filled and averaged",
          "output": "Output and cameras", "backend": "Where it is computed"}  # tables of stereomatch, by their first property
BOLD = ("num-disparities", "profile", "method", "fill", "output")  # those of stereomatch that most users set
TYPES = {GObject.TYPE_INT: "", GObject.TYPE_UINT: " uint", GObject.TYPE_INT64: " int64", GObject.TYPE_UINT64: " uint64",
         GObject.TYPE_DOUBLE: " double"}
MUTABLE_PLAYING = 1 << (GObject.PARAM_USER_SHIFT + 4)  # GST_PARAM_MUTABLE_PLAYING


def formats_of(template):
    """One list, and what else is not any size and any frame rate."""
    found = []
    for part in template.get_caps().to_string().split("; "):
        name, _, fields = part.partition(",")
        if "(memory:" in name:
            continue
        values = dict(re.findall(r"([\w-]+)=\(string\)(\{[^}]*\}|[\w-]+)", fields))
        multiview = values.get("multiview-mode", "").strip("{} ")
        found.append(values.get("format", f"`{name.strip()}`").strip("{} ") + (f"; multiview-mode {multiview}" if multiview else ""))
    return ", ".join(found)


def print_pads(factory):
    before = None
    for pad in sorted(factory.get_static_pad_templates(), key=lambda pad: pad.name_template):
        presence = " on request" if pad.presence == Gst.PadPresence.REQUEST else ""
        formats = formats_of(pad)
        print(f"- `{pad.name_template}`, {'out' if pad.direction == Gst.PadDirection.SRC else 'in'}{presence}: "
              + (f"as `{before[0]}`" if before and before[1] == formats else formats))
        before = pad.name_template, formats


def choices_of(element, spec):
    """What an enumeration has, in its order."""
    kind = type(element.get_property(spec.name))
    return list(kind.__enum_values__.values() if hasattr(kind, "__enum_values__") else kind)


def default_of(element, spec):
    if not spec.flags & GObject.ParamFlags.WRITABLE:
        return "read-only"
    if spec.value_type.name == "GstValueArray":
        return ""  # PyGObject cannot read it; the text says it
    value = spec.default_value
    if spec.value_type.is_a(GObject.TYPE_ENUM):
        return f"`{value.value_nick}`"
    if spec.value_type == GObject.TYPE_STRING:
        return f"`{value}`" if value else "NULL"
    if spec.value_type == GObject.TYPE_BOOLEAN:
        return str(value).lower()
    return "none" if value == GLib.MAXUINT64 else f"{value:g}" if spec.value_type == GObject.TYPE_DOUBLE else str(value)


def range_of(spec):
    kind = spec.value_type
    if kind not in TYPES:
        return "" if kind.is_a(GObject.TYPE_ENUM) or kind == GObject.TYPE_BOOLEAN else kind.name
    shown = (lambda number: f"{number:g}") if kind == GObject.TYPE_DOUBLE else str
    most = "" if spec.maximum in (GLib.MAXDOUBLE, GLib.MAXUINT64) else shown(spec.maximum)
    return "double" if spec.minimum == -GLib.MAXDOUBLE else f"{shown(spec.minimum)}..{most}{TYPES[kind]}"


def text_of(element, spec):
    """What is said of a property after its name."""
    fixed = spec.flags & GObject.ParamFlags.WRITABLE and not int(spec.flags) & MUTABLE_PLAYING
    words = filter(None, (default_of(element, spec), range_of(spec), "before playing" if fixed else ""))
    text = f"({', '.join(words)}): {spec.blurb}"
    if spec.value_type.is_a(GObject.TYPE_ENUM):
        text += "".join(f"\n  - `{choice.value_nick}`{'' if int(choice) == i else f' ({int(choice)})'}: {choice.value_name}"
                        for i, choice in enumerate(choices_of(element, spec)))
    return text


def print_properties(element, factory, printed):
    """@printed: which element has printed a property with its text: an equal one is named, not repeated."""
    grouped, same_as, lines, groups = factory == "stereomatch", None, [], set()
    for spec in element.list_properties():
        if not spec.owner_type.name.startswith(("GstStereo", "GstDepth")):
            continue  # of GStreamer's own base classes
        if grouped and spec.name in GROUPS:
            lines += ["" if groups else None, f"### {GROUPS[spec.name]}", ""]
            groups.add(spec.name)
        text = text_of(element, spec)
        before = printed.setdefault(spec.name + text, factory)
        if before == factory:
            lines.append(f"- **`{spec.name}`** {text}" if grouped and spec.name in BOLD else f"- `{spec.name}` {text}")
        elif before == same_as:
            lines[-1] += f", `{spec.name}`"
        else:
            lines.append(f"- As of {before}: `{spec.name}`")
        same_as = before if before != factory else None
    assert not grouped or groups == set(GROUPS), "a property that begins a table is not there"
    print("\nProperties: most users set some of the five in bold, and nothing else.\n" if grouped else "\nProperties:\n")
    print("\n".join(line for line in lines if line is not None))


def print_fields(words):
    pipeline = Gst.parse_launch_full(words, None, Gst.ParseFlags.FATAL_ERRORS)
    pipeline.set_state(Gst.State.PLAYING)
    end = pipeline.get_bus().timed_pop_filtered(Gst.CLOCK_TIME_NONE, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    stats = pipeline.get_by_name("asked").get_property("stats")
    print("\n".join(stats.nth_field_name(i) for i in range(stats.n_fields())))
    pipeline.set_state(Gst.State.NULL)
    return "" if end.type == Gst.MessageType.EOS else end.parse_error()[0].message


if __name__ == "__main__":
    Gst.init(None)
    if sys.argv[1:2] == ["--stats"]:
        sys.exit(print_fields(sys.argv[2]) or 0)
    known, features = {}, [feature for plugin in ("stereovision", "stereooverlay")
                           for feature in Gst.Registry.get().get_feature_list_by_plugin(plugin)]
    if not features:
        sys.exit("The plugin was not found: set GST_PLUGIN_PATH to the folder of libgststereovision.so.")
    print(HEAD)
    for made in sorted(filter(lambda feature: isinstance(feature, Gst.ElementFactory), features), key=lambda feature: feature.get_name()):
        print(f"\n## {made.get_name()}\n\n{made.get_metadata('description')}.\n")
        print_pads(made)
        print_properties(made.create(None), made.get_name(), known)
