#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The programs of docs/integrating.md: integrating.sh BUILD page|service|webrtc
set -eu
. "$(dirname "$0")/common.sh"
docs=$(cd "$(dirname "$0")/../../docs" && pwd)
export GI_TYPELIB_PATH="$1/gst" PKG_CONFIG_PATH="$1/meson-uninstalled"
skip_without stereotestsrc appsrc appsink
skip_without_typelib "$1"

case $2 in
  page)
    awk '/^```/ { inside = $0 == "```python"; next } inside' "$docs/integrating.md" >"$folder/near.py"
    quietly /usr/bin/python3 "$folder/near.py"
    # the scene's wall, and what stereonearest found on each of ten buffers
    [ "$(grep -c '^[0-9]* mm in the middle; .*near.* [0-9]* mm$' "$folder/output")" = 10 ] || { cat "$folder/output"; bad "near.py"; }
    sed -n 's/^ \* *\(cc appsrc.c .*\)$/\1/p' "$docs/examples/appsrc.c" >"$folder/command"
    cd "$folder"
    cp "$docs/examples/appsrc.c" .
    quietly sh command
    quietly ./appsrc
    # 500 px * 100 mm / 20 px
    [ "$(awk '/^[0-9]* mm in the middle$/ && $1 > 2450 && $1 < 2550' output | wc -l)" = 5 ] || { cat output; bad "appsrc"; }
    ;;
  service)
    unit="$docs/examples/truck.service"
    sed -n 's/^ExecStart=//p' "$unit" | grep -q '^/bin/sh /usr/share/gst-stereo/pipelines/truck.sh --json ' || bad "ExecStart of $unit"
    # it is told that the program is ready, and that it lives; a watchdog of 30 seconds has many of these
    cat >"$folder/watch.py" <<'END'
import os, socket, subprocess, sys
watcher = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
watcher.bind(sys.argv[1])
watcher.settimeout(300)
truck = subprocess.Popen(sys.argv[2:], env={**os.environ, "NOTIFY_SOCKET": sys.argv[1]}, stdout=subprocess.DEVNULL)
for _ in range(3):
    assert watcher.recv(99) == b"READY=1\nWATCHDOG=1"
truck.wait()
END
    SINK=fakesink TEST_SOURCE="is-live=false num-buffers=90 seed=$seed" quietly /usr/bin/python3 "$folder/watch.py" "$folder/notify" \
      sh "$pipelines/truck.sh" --json test num-disparities=$disparities method=bm
    ;;
  webrtc)
    skip_without webrtcbin nicesrc dtlssrtpenc vp8enc rtpvp8pay depthoverlay
    /usr/bin/python3 -c 'import gi; gi.require_version("GstWebRTC", "1.0")' || { echo "SKIP: there is no gir1.2-gst-plugins-bad-1.0"; exit 77; }
    port=$((20000 + ($$ + seed) % 20000))
    /usr/bin/python3 "$docs/examples/webrtc.py" $port stereotestsrc is-live=true ! video/x-raw,width=$((2 * width)),height=$height,framerate=10/1 ! \
      tee name=views ! queue ! stereomatch method=bm num-disparities=$disparities ! queue ! show.sink_depth views. ! queue ! \
      depthoverlay name=show ! videoconvert ! vp8enc deadline=1 keyframe-max-dist=10 >"$folder/output" 2>&1 &
    running=$!
    wait_until /usr/bin/python3 -c 'import sys, urllib.request
assert b"RTCPeerConnection" in urllib.request.urlopen(sys.argv[1]).read()' "http://127.0.0.1:$port/"
    timeout 200 /usr/bin/python3 "$(dirname "$0")/webrtc_peer.py" "http://127.0.0.1:$port/whep" || { cat "$folder/output"; bad "no picture came"; }
    ;;
esac
