#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The live view with depth over it, as H.264 over RTP to another machine.
#
#   CALIBRATION=stereo.yml sh pipelines/rtp-send.sh 192.0.2.7 5000 /dev/video0 /dev/video2 [stereomatch properties]
#   sh pipelines/rtp-send.sh 127.0.0.1 5000 test
#
# There: the line that is printed. ENCODER: in place of x264enc and its properties.
# H.264 has 8 bits and is lossy: for people to look at. record.sh keeps the numbers. Variables: pipelines/README.md.
set -eu
# shellcheck source=pipelines/common.sh
. "$(dirname "$0")/common.sh"

usage_unless $# -ge 3
host=$1 port=$2
shift 2
check_port "$port"
need rtph264pay udpsink
add_overlay "$@"
add_h264
add rtph264pay config-interval=1 ! udpsink "host=$host" "port=$port"
echo "to be run on $host: gst-launch-1.0 udpsrc port=$port" \
  "caps=application/x-rtp,media=video,encoding-name=H264,payload=96,clock-rate=90000 ! rtpjitterbuffer ! rtph264depay !" \
  "avdec_h264 ! videoconvert ! autovideosink"
launch
