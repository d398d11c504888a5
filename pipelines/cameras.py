# SPDX-License-Identifier: LGPL-2.1-or-later
"""Names of cameras that stay the same. /dev/video0 is another camera after the next start, and left becomes right."""
import os

FOLDERS = "by-id", "by-path"  # the first names the camera, the second the socket that it is plugged in


class NoCamera(Exception):
    """The text says what is wrong with a name, and which to use."""


def known(devices="/dev"):
    """Node by stable name, as {"/dev/v4l/by-id/usb-…": "/dev/video0"}, those that name the camera first."""
    found = {}
    for folder in FOLDERS:
        path = os.path.join(devices, "v4l", folder)
        for name in sorted(os.listdir(path)) if os.path.isdir(path) else ():
            found[os.path.join(path, name)] = os.path.realpath(os.path.join(path, name))
    return found


def listed(devices="/dev"):
    """A line for each stable name; pictures come from the first node of a camera, its others carry other data."""
    names = known(devices)
    if not names:
        return [f"No camera: there is no {devices}/v4l. Plug one in; udev makes its names."]
    return [f"{name}  ({os.path.basename(node)})" for name, node in names.items() if "-index" not in name or
            name.endswith("-index0")]


def stable(name, devices="/dev"):
    """@name, where it is a stable name of a camera that is there; else NoCamera."""
    if name.startswith(os.path.join(devices, "video")):
        others = [other for other, node in known(devices).items() if node == os.path.realpath(name)]
        if others:
            raise NoCamera(f"{name} is another camera after the next start. Use {' or '.join(others)}")
        raise NoCamera(f"{name} is another camera after the next start, and it has no name that stays. "
                       "--list shows the cameras that have one.")
    if not name.startswith(os.path.join(devices, "v4l", "")):
        raise NoCamera(f"{name} is not a name under {devices}/v4l/by-id or by-path. --list shows the cameras.")
    if not os.path.exists(name):
        raise NoCamera(f"There is no camera {name}. --list shows those that are there.")
    return name
