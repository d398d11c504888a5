#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# A ROS 2 node: depth, confidence, points and cameras as topics.
#
#   CALIBRATION=stereo.yml sh pipelines/ros.sh /dev/video0 /dev/video2 [stereomatch properties]
#   sh pipelines/ros.sh test                         a synthetic scene
#   sh pipelines/ros.sh --record bag test            writes a bag (rosbag2, MCAP) in place of topics; needs rosbags, and no ROS
#   NODE=front FRAME=front_left_optical_frame sh pipelines/ros.sh /dev/video0 /dev/video2
#
# Source ROS's setup.bash first. PYTHON is another Python than /usr/bin/python3, as that of an environment with rosbags. Without CALIBRATION, focal-length=... (px) and baseline=... (mm) are needed. Variables:
# pipelines/README.md; topics: docs/ros.md.
set -eu
# shellcheck source=pipelines/common.sh
. "$(dirname "$0")/common.sh"

usage_unless $# -ge 1
record=
if [ "$1" = --record ]; then
  usage_unless $# -ge 2
  record="--record $(quoted "$2")"
  shift 2
fi
usage_unless $# -ge 1
need appsink
match_profile="output=depth"
# of a recording, every picture; of topics, the newest
kept="max-buffers=1 drop=true"
[ -z "$record" ] || kept="max-buffers=4"
add_match '' "$@"
# shellcheck disable=SC2086
add ! video/x-raw,format=GRAY16_LE ! appsink name=depth $kept sync=false
python=${PYTHON:-}
eval "become ros.py $record --name \"\${NODE:-stereo}\" --frame \"\${FRAME:-stereo_left_optical_frame}\""
