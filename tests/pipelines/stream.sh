#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# rtp-send.sh and the line that it prints, rtsp.sh with GStreamer's client: stream.sh BUILD rtp|rtsp
set -eu
. "$(dirname "$0")/common.sh"
skip_without stereotestsrc depthoverlay x264enc rtph264pay rtph264depay avdec_h264 multifilesink udpsink
port=$((20000 + ($$ + seed) % 20000))
# a still scene: whichever frame comes first; not live, so that the view waits for its depth
TEST_SOURCE="is-live=false num-buffers=1 seed=$seed motion=0 noise=0"
luma="capsfilter caps=video/x-raw,format=GRAY8 ! multifilesink location=$folder"
SINK="$luma/sent-%06d.raw" OVERLAY="text=false" quietly sh "$pipelines/overlay.sh" test num-disparities=$disparities
TEST_SOURCE="seed=$seed motion=0 noise=0"
# a busy machine is late
export OVERLAY="text=false max-lag=100000 max-age=60000000000"

# like_sent: one of the pictures that came is the one that was sent, but for what H.264 changes. Others may show no depth:
# a live view does not wait for it.
like_sent () {
  for picture in "$folder"/came-*.raw; do
    is_like_sent "$picture" && return
  done
  return 1
}

is_like_sent () {
  samples 1 "$folder/sent-000000.raw" >"$folder/ours"
  samples 1 "$1" | paste - "$folder/ours" | awk '
    { off += $1 > $2 ? $1 - $2 : $2 - $1; spread += $2 > 128 ? $2 - 128 : 128 - $2 }
    END { printf "%.2f grey levels off, of a picture with %.0f\n", off / NR, spread / NR
      exit !(NR > 0 && off < spread / 5) }'
}

case $2 in
  rtp)
    sh "$pipelines/rtp-send.sh" 127.0.0.1 $port test num-disparities=$disparities >"$folder/sender" 2>&1 &
    sender=$!
    running=$sender
    wait_until grep -q "^to be run on 127.0.0.1: gst-launch-1.0 .* autovideosink" "$folder/sender"
    # as it was said, but for the screen
    # shellcheck disable=SC2046
    $(sed -n "s|^to be run on [^ ]* \(.*\)autovideosink|\1|p" "$folder/sender") $luma/came-%06d.raw >"$folder/receiver" 2>&1 &
    receiver=$!
    running="$receiver $sender"
    wait_until like_sent
    kill "$sender" "$receiver"
    refused "70000 is not a port" sh "$pipelines/rtp-send.sh" 127.0.0.1 70000 test
    refused "is not a port" sh "$pipelines/rtp-send.sh" 127.0.0.1 localhost test
    refused "nosuchenc" env ENCODER=nosuchenc sh "$pipelines/rtp-send.sh" 127.0.0.1 $port test
    ;;
  rtsp)
    skip_without rtspsrc
    /usr/bin/python3 -c 'import gi
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GstRtspServer' || {
      echo "SKIP: there is no gir1.2-gst-rtsp-server-1.0"
      exit 77
    }
    sh "$pipelines/rtsp.sh" $port test num-disparities=$disparities >"$folder/server" 2>&1 &
    server=$!
    running=$server
    wait_until grep -q "^rtsp://127.0.0.1:$port/depth" "$folder/server"
    refused "cannot listen at" sh "$pipelines/rtsp.sh" $port test
    # shellcheck disable=SC2086
    gst-launch-1.0 rtspsrc "location=rtsp://127.0.0.1:$port/depth" protocols=tcp ! rtph264depay ! avdec_h264 ! \
      videoconvert ! $luma/came-%06d.raw >"$folder/client" 2>&1 &
    client=$!
    running="$server $client"
    wait_until like_sent
    kill -INT "$server"
    wait "$server" || bad "Ctrl-C is not an error of the server"
    kill "$client" 2>/dev/null || true
    running=
    refused "is not a port" sh "$pipelines/rtsp.sh" eightyfive test

    # a camera that ends is opened again, and the client sees more than the camera gave at once
    port=$((port + 1))
    /usr/bin/python3 "$pipelines/rtsp.py" 127.0.0.1 $port stereotestsrc name=camera_0 is-live=true num-buffers=40 ! \
      video/x-raw,width=320,height=120,framerate=30/1 ! videoconvert ! x264enc tune=zerolatency key-int-max=5 ! \
      rtph264pay name=pay0 config-interval=1 >"$folder/server" 2>&1 &
    server=$!
    running=$server
    wait_until grep -q "^rtsp://127.0.0.1:$port/depth" "$folder/server"
    # shellcheck disable=SC2086
    timeout 600 gst-launch-1.0 -e rtspsrc "location=rtsp://127.0.0.1:$port/depth" protocols=tcp ! rtph264depay ! avdec_h264 ! \
      identity eos-after=60 ! fakesink sync=false >"$folder/client" 2>&1 || { cat "$folder/client"; bad "the client saw the end"; }
    grep -q "camera_0 is lost: its stream ended" "$folder/server" || bad "that it is lost was not said"
    grep -q "camera_0 gives pictures again" "$folder/server" || bad "that it is back was not said"
    kill -INT "$server"
    wait "$server" || bad "Ctrl-C is not an error of the server"
    running=
    ;;
esac
