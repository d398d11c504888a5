#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Two cameras on a vehicle: the live view with depth over it, and in words where the ground is, what stands on it, how far it is
# free, and whether something is nearer than WARN millimetres (WARNING), nothing is (clear), or that is UNKNOWN because too
# little is seen; and what is wrong with a camera.
#
#   CALIBRATION=stereo.yml WARN=1500 sh pipelines/truck.sh /dev/video0 /dev/video2 [stereomatch properties]
#   sh pipelines/truck.sh test                      one camera that gives both views
#   sh pipelines/truck.sh --json test               a line of JSON for each message, for programs in any language
#   sh pipelines/truck.sh --log drive.log test      writes the messages to a file, too
#   sh pipelines/truck.sh --replay drive.log        tells them again, in the time they took
#
# Where WARN is not set, it is 1500, or what lies beyond the blind zone of the camera, in which nothing is ever clear. stereomatch runs
# with profile=road, and searches as many disparities as WARN takes, unless num-disparities=... says how many. GROUND has properties of
# stereoground: GROUND=max-height=2000 is the height of the vehicle, above which nothing is in its way (4000 where it is not set: tree
# tops may be in the way of a lorry). GROUND=no warns of surfaces, the road among them. Without
# CALIBRATION the views must be rectified already, and focal-length=... (px) baseline=... (mm) are needed for distances, ground
# and obstacles. Ctrl-C ends it. Variables: pipelines/README.md.
set -eu
# shellcheck source=pipelines/common.sh
. "$(dirname "$0")/common.sh"

usage_unless $# -ge 1
options=
replay=
while [ $# -gt 0 ]; do
  case $1 in
    --json) options="$options --json" ;;
    --log | --replay)
      usage_unless $# -ge 2
      [ "$1" = --log ] || replay=yes
      options="$options $1 $(quoted "$2")"
      shift
      ;;
    *) break ;;
  esac
  shift
done
usage_unless -n "$replay" -o $# -ge 1
if [ -n "$environment" ] && [ ! -f "$build/gst/GstStereo-1.0.typelib" ]; then
  fail "$build was built without the typelib: install libgirepository1.0-dev, then" \
    "meson setup --reconfigure $build && ninja -C $build"
fi
if [ -n "$replay" ]; then
  usage_unless $# -eq 0
  eval "become truck.py$options"
fi

match_profile=profile=road
case "${WARN:-} ${OVERLAY:-}" in
  " "*warn-distance=*) ;;
  " "*) options="$options --free" ;;
esac
OVERLAY="warn-distance=${WARN:-1500} ${OVERLAY:-}"
use_ground "$@"
add_overlay "$@"
add !
add_screen
# standard output is for the messages
printf '%sgst-launch-1.0 -m%s\n' "$environment" "$pipeline" >&2
eval "become truck.py$options"
