#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# One USB camera that gives both views side by side, to disparity on the screen: near is light, black has no value.
#
#   sh pipelines/side-by-side.sh /dev/video0 [stereomatch properties]
#   SIZE=1280x720 JPEG=1 sh pipelines/side-by-side.sh /dev/video0 num-disparities=96      frames of 2560x720
#   sh pipelines/side-by-side.sh test
#
# SIZE is that of one view. Without CALIBRATION the views must be rectified already. Variables: pipelines/README.md.
set -eu
# shellcheck source=pipelines/common.sh
. "$(dirname "$0")/common.sh"

usage_unless $# -ge 1
if [ $# -ge 2 ] && ! is_property "$2"; then
  fail "$2 is a second camera: for two of them there is two-cameras.sh"
fi
add_match "" "$@"
add ! video/x-raw,format=GRAY8 !
add_screen
launch
