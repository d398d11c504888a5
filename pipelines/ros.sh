#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# A ROS 2 node: depth, confidence, points and cameras as topics.
#
#   CALIBRATION=stereo.yml sh pipelines/ros.sh /dev/video0 /dev/video2 [stereomatch properties]
#   sh pipelines/ros.sh test                         a made scene
#   NODE=front FRAME=front_left_optical_frame sh pipelines/ros.sh /dev/video0 /dev/video2
#
# Source ROS's setup.bash first. Without CALIBRATION, focal-length=... (px) and baseline=... (mm) are needed. Variables:
# pipelines/README.md; topics: docs/ros.md.
set -eu
# shellcheck source=pipelines/common.sh
. "$(dirname "$0")/common.sh"

usage_unless $# -ge 1
need appsink
match_profile="output=depth"
add_match '' "$@"
add ! video/x-raw,format=GRAY16_LE ! appsink name=depth max-buffers=1 drop=true sync=false
eval "exec $(quoted "$(python)") $(quoted "$(dirname "$0")/ros.py") --name ${NODE:-stereo} --frame ${FRAME:-stereo_left_optical_frame}$pipeline"
