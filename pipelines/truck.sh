#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Two cameras on a vehicle: the live view with depth over it, and in words how far the nearest surface is, whether it is
# nearer than WARN millimetres (WARNING), or nothing is that near (clear), or that is UNKNOWN because too little is seen;
# and how far it is straight ahead.
#
#   CALIBRATION=stereo.yml WARN=1500 sh pipelines/truck.sh /dev/video0 /dev/video2 [stereomatch properties]
#   sh pipelines/truck.sh --python test test        truck.py in place of truck.c: a start for your own program
#   sh pipelines/truck.sh test                      one camera that gives both views
#
# stereomatch runs with profile=road. WARN is 1500 where it is not set. Without CALIBRATION the views must be rectified already, and focal-length=... (px)
# baseline=... (mm) are needed for distances. Ctrl-C ends it. Variables: pipelines/README.md.
set -eu
# shellcheck source=pipelines/common.sh
. "$(dirname "$0")/common.sh"

usage_unless $# -ge 1
language=c
if [ "$1" = --python ]; then
  language=python
  shift
  usage_unless $# -ge 1
  if [ -n "$environment" ] && [ ! -f "$build/gst/GstStereo-1.0.typelib" ]; then
    fail "$build was built without the typelib: install libgirepository1.0-dev, then" \
      "meson setup --reconfigure $build && ninja -C $build"
  fi
else
  program=$(tool truck)
fi
# for roads; a pixel that was not matched warns of nothing
match_profile="profile=road fill=none confidence-threshold=0.2"
OVERLAY="warn-distance=${WARN:-1500} ${OVERLAY:-}"
add_overlay "$@"
add !
add_screen
printf '%sgst-launch-1.0 -m%s\n' "$environment" "$pipeline"
if [ $language = c ]; then
  eval "exec \"\$program\"$pipeline"
else
  eval "exec $(python) \"\$(dirname \"\$0\")/truck.py\"$pipeline"
fi
