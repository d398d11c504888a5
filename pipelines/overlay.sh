#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Rectifies, matches, and shows the live view with depth in colours over it and the distance of the nearest thing.
#
#   CALIBRATION=stereo.yml sh pipelines/overlay.sh /dev/video0 /dev/video2 [stereomatch properties]
#   CALIBRATION=left.yaml,right.yaml OVERLAY=warn-distance=1500 sh pipelines/overlay.sh /dev/video0     side by side
#   sh pipelines/overlay.sh test test
#
# CALIBRATION: a file of OpenCV, KITTI or Middlebury, or two of ROS. Without it the views must be rectified already, and
# focal-length=... (px) baseline=... (mm) are needed for distances. Variables: pipelines/README.md.
set -eu
# shellcheck source=pipelines/common.sh
. "$(dirname "$0")/common.sh"

usage_unless $# -ge 1
add_overlay "$@"
add !
add_screen
launch
