#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Serves a pipeline by RTSP: rtsp.py ADDRESS PORT WORD..., as rtsp.sh calls it. Its last element is named pay0. A camera that fails
or ends is opened again, as by stream.py."""
import signal
import sys

from stream import Cameras, GLib, Gst, Refused, build

try:
    import gi
    gi.require_version("GstRtspServer", "1.0")
    from gi.repository import GstRtspServer
except (ImportError, ValueError) as error:
    sys.exit(f"rtsp.py: {error}: install gir1.2-gst-rtsp-server-1.0")


def say(text):
    print(f"rtsp.py: {text}", file=sys.stderr, flush=True)


Gst.init(None)  # before a class of its kinds


class Media(Gst.Bin):
    """Clients go on while a camera is opened again: its error stays in here."""

    def __init__(self, pipeline):
        super().__init__()
        self.add(pipeline)
        self.cameras = Cameras(pipeline, say)

    def do_handle_message(self, message):
        if message.type != Gst.MessageType.ERROR or not self.cameras.on_error(message):
            Gst.Bin.do_handle_message(self, message)


class Factory(GstRtspServer.RTSPMediaFactory):
    """The cameras can be opened once only: every client gets the same stream."""

    def __init__(self, words):
        super().__init__()
        self.words = words
        self.set_shared(True)

    def do_create_element(self, _url):
        try:
            return Media(build(self.words, Gst.ParseFlags.PLACE_IN_BIN | Gst.ParseFlags.FATAL_ERRORS))
        except (GLib.Error, Refused) as error:
            say(getattr(error, "message", error))
            return None


def main(address, port, words):
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


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
