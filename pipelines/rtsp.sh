#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The live view with depth over it, as H.264 to whoever asks for it by RTSP.
#
#   CALIBRATION=stereo.yml sh pipelines/rtsp.sh 8554 /dev/video0 /dev/video2 [stereomatch properties]
#   sh pipelines/rtsp.sh 8554 test            then: gst-play-1.0 rtsp://127.0.0.1:8554/depth (or VLC)
#
# Takes Debian's gir1.2-gst-rtsp-server-1.0 and python3-gi. ADDRESS=0.0.0.0 lets other machines in too: there is no
# password. ENCODER: in place of x264enc and its properties. Variables: pipelines/README.md.
set -eu
# shellcheck source=pipelines/common.sh
. "$(dirname "$0")/common.sh"

usage_unless $# -ge 2
port=$1
shift
check_port "$port"
need rtph264pay
add_overlay "$@"
add_h264
add rtph264pay name=pay0 pt=96 config-interval=1
echo "serving:$pipeline"
become rtsp.py "${ADDRESS:-127.0.0.1}" "$port"
