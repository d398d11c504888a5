#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Depth over the live view in browsers, by WebRTC: webrtc.py PORT WORD..., the words a pipeline that ends in encoded VP8, as

    webrtc.py 8080 stereotestsrc is-live=true ! tee name=views ! queue ! stereomatch ! queue ! show.sink_depth views. ! queue ! \\
        depthoverlay name=show ! videoconvert ! vp8enc deadline=1 keyframe-max-dist=30

A browser that opens http://127.0.0.1:PORT/ posts its offer and gets an answer (WHEP). Needs gstreamer1.0-plugins-bad, gstreamer1.0-nice and
gir1.2-gst-plugins-bad-1.0."""
import http.server
import sys
import threading
import time

import gi
gi.require_version("Gst", "1.0")
gi.require_version("GstSdp", "1.0")
gi.require_version("GstWebRTC", "1.0")
from gi.repository import GLib, Gst, GstSdp, GstWebRTC  # noqa: E402

PAGE = b"""<!doctype html><title>depth</title><video id=v autoplay muted playsinline style="width:100%"></video><script>
const peer = new RTCPeerConnection();
peer.addTransceiver("video", {direction: "recvonly"});
peer.ontrack = event => v.srcObject = event.streams[0] || new MediaStream([event.track]);
peer.createOffer().then(offer => peer.setLocalDescription(offer));
peer.onicegatheringstatechange = async () => {
  if (peer.iceGatheringState != "complete") return;
  const answer = await fetch("whep", {method: "POST", body: peer.localDescription.sdp});
  peer.setRemoteDescription({type: "answer", sdp: await answer.text()});
};</script>"""


def promised(element, signal, argument, name=None):
    """What the action signal of webrtcbin gives in the end."""
    promise = Gst.Promise.new()
    element.emit(signal, argument, promise)
    promise.wait()
    reply = promise.get_reply()  # what it has lives no longer than it
    value = name and reply.get_value(name)
    return value and value.sdp.as_text()


def described(kind, text):
    return GstWebRTC.WebRTCSessionDescription.new(kind, GstSdp.SDPMessage.new_from_text(text)[1])


class Viewers:
    """A branch with a webrtcbin for each; it goes when the connection is closed."""

    def __init__(self, words):
        self.pipeline = Gst.parse_launch(" ".join(words) + " ! tee name=out allow-not-linked=true")
        self.tee = self.pipeline.get_by_name("out")
        self.pipeline.set_state(Gst.State.PLAYING)

    def answer(self, offer):
        payload = next(line.split()[0][9:] for line in offer.splitlines() if line.startswith("a=rtpmap:") and "VP8" in line)
        branch = Gst.parse_bin_from_description(
            f"queue leaky=downstream ! rtpvp8pay pt={payload} ! webrtcbin name=peer bundle-policy=max-bundle", True)
        peer, gathered = branch.get_by_name("peer"), threading.Event()
        peer.connect("notify::ice-gathering-state", lambda *_: gathered.set() if peer.get_property(
            "ice-gathering-state") == GstWebRTC.WebRTCICEGatheringState.COMPLETE else None)
        peer.connect("notify::connection-state", lambda *_: GLib.idle_add(self.remove, branch) if peer.get_property("connection-state") in (
            GstWebRTC.WebRTCPeerConnectionState.FAILED, GstWebRTC.WebRTCPeerConnectionState.CLOSED,
            GstWebRTC.WebRTCPeerConnectionState.DISCONNECTED) else None)
        self.pipeline.add(branch)
        self.tee.request_pad_simple("src_%u").link(branch.get_static_pad("sink"))
        branch.sync_state_with_parent()
        while not peer.sinkpads[0].get_current_caps():  # the answer says what is sent
            time.sleep(0.01)
        promised(peer, "set-remote-description", described(GstWebRTC.WebRTCSDPType.OFFER, offer))
        answer = promised(peer, "create-answer", None, "answer")
        promised(peer, "set-local-description", described(GstWebRTC.WebRTCSDPType.ANSWER, answer))
        gathered.wait(10)
        return peer.get_property("local-description").sdp.as_text()

    def remove(self, branch):
        if branch.get_parent():
            pad = branch.get_static_pad("sink").get_peer()
            self.tee.release_request_pad(pad)
            self.pipeline.remove(branch)
            branch.set_state(Gst.State.NULL)
        return GLib.SOURCE_REMOVE


class Handler(http.server.BaseHTTPRequestHandler):
    def reply(self, kind, body):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.reply("text/html", PAGE)

    def do_POST(self):
        offer = self.rfile.read(min(int(self.headers.get("Content-Length", 0)), 1 << 16)).decode()
        self.reply("application/sdp", viewers.answer(offer).encode())


Gst.init(None)
viewers = Viewers(sys.argv[2:])
server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
loop = GLib.MainLoop()
bus = viewers.pipeline.get_bus()
bus.add_signal_watch()
bus.connect("message::latency", lambda *_: viewers.pipeline.recalculate_latency())
bus.connect("message::error", lambda _, message: (print(message.parse_error()[0].message, file=sys.stderr), loop.quit()))
loop.run()
