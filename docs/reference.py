#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""docs/elements.md: every element with its pads and properties, as the plugins have them.

reference.py > docs/elements.md     a test compares; frames in device memory are left out, as whether they are taken depends on the build
reference.py --defaults methods.md  prints the tables of defaults; which method reads what stands in the first table of that page
reference.py --stats streams.md     fails where the tables of the fields of `stats` in that page lack one
"""
import re
import sys
import tempfile

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
    if spec.value_type.is_a(GObject.TYPE_ENUM):  # whose default is a number from PyGObject 3.52 on
        return f"`{next(choice.value_nick for choice in choices_of(element, spec) if int(choice) == int(value))}`"
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


def value_in_force(at, other, name, method):
    """In words. @at, @other: settings with 128 and 64 disparities: some values follow the range."""
    value = at.get_value(name)
    if not isinstance(value, float):
        return str(value).lower() if isinstance(value, bool) else str(value)
    if name in ("p1", "p2") and value == 0:
        return "[by direction](#sgm)" if method == "sgm" else "no paths"
    if value != other.get_value(name):
        return f"{value / 7:.3g} * log2 (num-disparities)" if name == "p2" else f"{value / 128:g} * num-disparities"
    return f"{value:g}"


def print_defaults(page):
    """Of the parameters that method and profile choose: a column for all methods, or one for each, with the profiles in turn."""
    with open(page, encoding="utf-8") as file:
        rows = re.findall(r"^\| `(asw|esaw|esmp|sgm|bm)` \|[^|]*\|([^|]*)\|", file.read(), re.MULTILINE)
    reads = {method: re.findall(r"`([\w-]+)`", names) for method, names in rows}
    special = {name for names in reads.values() for name in names}
    element = Gst.ElementFactory.make("stereomatch")
    profiles = [choice.value_nick for choice in choices_of(element, element.find_property("profile"))]
    tables, settings = {True: [], False: []}, {}
    for method in reads:
        for profile in profiles:
            for range_ in (128, 64):
                for name, value in ("method", method), ("profile", profile), ("num-disparities", str(range_)):
                    Gst.util_set_object_arg(element, name, value)
                settings[method, profile, range_] = element.get_property("settings")
    for spec in element.list_properties():
        if spec.name in ("method", "profile", "num-disparities") or not settings["asw", profiles[0], 128].has_field(spec.name):
            continue
        initial = default_of(element, spec).strip("`") if spec.value_type.is_a(GObject.TYPE_ENUM) else spec.default_value
        if spec.name not in special and all(at.get_value(spec.name) == initial for at in settings.values()):
            continue
        cells = []
        for method in reads:
            found = [value_in_force(settings[method, profile, 128], settings[method, profile, 64], spec.name, method) for profile in profiles]
            read = spec.name not in special or spec.name in reads[method]
            cells.append("" if not read else found[0] if len(set(found)) == 1 else " / ".join(found))
        shared = len(set(cells)) == 1
        tables[shared].append(f"| `{spec.name}` |" + "".join(f" {cell} |" if cell else " |" for cell in (cells[:1] if shared else cells)))
    print("| parameter | all methods |", "|---|---|", *tables[True], "", "| parameter |" + "".join(f" `{method}` |" for method in reads),
          "|---|" + "---|" * len(reads), *tables[False], sep="\n")


CALIBRATION = "".join(f"M{n}: [ 96, 0, 63.5, 0, 96, 47.5, 0, 0, 1 ]\nD{n}: []\n" for n in (1, 2)) + "R: [ 1, 0, 0, 0, 1, 0, 0, 0, 1 ]\nT: [ -120, 0, 0 ]\n"


def check_fields(page, kind, properties):
    """The table of the fields of `stats` in that page has those that the element gives, in their order."""
    with open(page, encoding="utf-8") as file:
        table = re.search(f"<!-- fields of {kind} begin -->(.*?)<!-- fields of {kind} end -->", file.read(), re.DOTALL)[1]
    told = [name for cell in re.findall(r"^\| (`[^|]*) \|", table, re.MULTILINE) for name in re.findall(r"[\w-]+", cell)]
    pipeline = Gst.parse_launch(f"stereotestsrc num-buffers=3 ! video/x-raw,width=256,height=96 ! {kind} name=asked {properties} ! fakesink")
    pipeline.set_state(Gst.State.PLAYING)
    pipeline.get_bus().timed_pop_filtered(Gst.CLOCK_TIME_NONE, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    stats = pipeline.get_by_name("asked").get_property("stats")
    given = [stats.nth_field_name(i) for i in range(stats.n_fields())]
    pipeline.set_state(Gst.State.NULL)
    return "" if told == given else f"{page} has the fields {told} of {kind}, which gives {given}\n"


if __name__ == "__main__":
    Gst.init(None)
    if sys.argv[1:2] == ["--stats"]:
        with tempfile.NamedTemporaryFile("w", suffix=".yml") as made:
            made.write(CALIBRATION)
            made.flush()
            sys.exit(check_fields(sys.argv[2], "stereomatch", "backend=cpu")
                     + check_fields(sys.argv[2], "stereorectify", f"backend=cpu calibration={made.name}") or 0)
    if sys.argv[1:2] == ["--defaults"]:
        sys.exit(print_defaults(sys.argv[2]))
    known, features = {}, [feature for plugin in ("stereovision", "stereooverlay")
                           for feature in Gst.Registry.get().get_feature_list_by_plugin(plugin)]
    if not features:
        sys.exit("The plugin was not found: set GST_PLUGIN_PATH to the folder of libgststereovision.so.")
    print(HEAD)
    for made in sorted(filter(lambda feature: isinstance(feature, Gst.ElementFactory), features), key=lambda feature: feature.get_name()):
        print(f"\n## {made.get_name()}\n\n{made.get_metadata('description')}.\n")
        print_pads(made)
        print_properties(made.create(None), made.get_name(), known)
