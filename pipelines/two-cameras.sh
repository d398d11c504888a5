#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Two USB cameras to disparity on the screen: near is light, black has no value.
#
#   sh pipelines/two-cameras.sh /dev/video0 /dev/video2 [stereomatch properties]
#   CALIBRATION=stereo.yml sh pipelines/two-cameras.sh /dev/video0 /dev/video2 num-disparities=96
#   sh pipelines/two-cameras.sh test test
#
# Without CALIBRATION the views must be rectified already. Variables: pipelines/README.md.
set -eu
# shellcheck source=pipelines/common.sh
. "$(dirname "$0")/common.sh"

usage_unless $# -ge 2
if is_property "$2"; then
  fail "$2 stands where the right camera should; for one camera that gives both views: side-by-side.sh"
fi
add_match "" "$@"
add ! video/x-raw,format=GRAY8 !
add_screen
launch
