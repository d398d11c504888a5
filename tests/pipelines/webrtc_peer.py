# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a browser does with docs/examples/webrtc.py: posts an offer, takes the answer, and decodes five frames. webrtc_peer.py URL"""
import sys
import threading
import urllib.request

import gi
gi.require_version("Gst", "1.0")
gi.require_version("GstSdp", "1.0")
gi.require_version("GstWebRTC", "1.0")
from gi.repository import GLib, Gst, GstSdp, GstWebRTC  # noqa: E402

FRAMES = 5
Gst.init(None)
pipeline, loop, gathered, frames = Gst.Pipeline(), GLib.MainLoop(), threading.Event(), []
peer = Gst.ElementFactory.make("webrtcbin")
pipeline.add(peer)
peer.emit("add-transceiver", GstWebRTC.WebRTCRTPTransceiverDirection.RECVONLY,
          Gst.Caps.from_string("application/x-rtp,media=video,encoding-name=VP8,payload=101,clock-rate=90000"))


def on_frame(_sink, buffer, _pad):
    frames.append(buffer.pts)
    if len(frames) == FRAMES:
        loop.quit()


def on_pad(_peer, pad):
    decoder = Gst.parse_bin_from_description("rtpvp8depay ! vp8dec ! fakesink name=sink signal-handoffs=true", True)
    decoder.get_by_name("sink").connect("handoff", on_frame)
    pipeline.add(decoder)
    decoder.sync_state_with_parent()
    pad.link(decoder.get_static_pad("sink"))


def on_gathering(*_):
    if peer.get_property("ice-gathering-state") == GstWebRTC.WebRTCICEGatheringState.COMPLETE:
        gathered.set()


def described(kind, text):
    return GstWebRTC.WebRTCSessionDescription.new(kind, GstSdp.SDPMessage.new_from_text(text)[1])


peer.connect("pad-added", on_pad)
peer.connect("notify::ice-gathering-state", on_gathering)
pipeline.set_state(Gst.State.PLAYING)
promise = Gst.Promise.new()
peer.emit("create-offer", None, promise)
promise.wait()
reply = promise.get_reply()
offer = reply.get_value("offer")
peer.emit("set-local-description", described(GstWebRTC.WebRTCSDPType.OFFER, offer.sdp.as_text()), Gst.Promise.new())
gathered.wait(10)
posted = peer.get_property("local-description").sdp.as_text().encode()
with urllib.request.urlopen(urllib.request.Request(sys.argv[1], posted, method="POST"), timeout=100) as answered:
    answer = answered.read().decode()
peer.emit("set-remote-description", described(GstWebRTC.WebRTCSDPType.ANSWER, answer), Gst.Promise.new())
GLib.timeout_add_seconds(100, loop.quit)
loop.run()
sys.exit(len(frames) < FRAMES)
