#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Serves a pipeline by RTSP: rtsp.py ADDRESS PORT WORD..., as rtsp.sh calls it. Its last element is named pay0."""
import signal
import sys

from stream import GLib, Gst, Refused, build

try:
    import gi
    gi.require_version("GstRtspServer", "1.0")
    from gi.repository import GstRtspServer
except (ImportError, ValueError) as error:
    sys.exit(f"rtsp.py: {error}: install gir1.2-gst-rtsp-server-1.0")


def say(text):
    print(f"rtsp.py: {text}", file=sys.stderr, flush=True)


class Factory(GstRtspServer.RTSPMediaFactory):
    """The cameras can be opened once only: every client gets the same stream."""

    def __init__(self, words):
        super().__init__()
        self.words = words
        self.set_shared(True)

    def do_create_element(self, _url):
        try:
            return build(self.words, Gst.ParseFlags.PLACE_IN_BIN | Gst.ParseFlags.FATAL_ERRORS)
        except (GLib.Error, Refused) as error:
            say(getattr(error, "message", error))
            return None


def main(address, port, words):
    Gst.init(None)
    server, factory = GstRtspServer.RTSPServer(address=address, service=port), Factory(words)
    server.get_mount_points().add_factory("/depth", factory)
    if server.attach(None) == 0:
        sys.exit(f"rtsp.py: cannot listen at {address}, port {port}: is another server there?")
    print(f"rtsp://{address}:{port}/depth", flush=True)
    loop = GLib.MainLoop()
    for number in signal.SIGINT, signal.SIGTERM:
        GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, number, loop.quit)
    loop.run()
    # clients are told, and the cameras closed
    server.client_filter(lambda _server, _client: GstRtspServer.RTSPFilterResult.REMOVE)


if len(sys.argv) < 4:
    sys.exit(__doc__)
main(sys.argv[1], sys.argv[2], sys.argv[3:])
