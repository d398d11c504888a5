#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# A window with depth over the live view, and a slider for every parameter of stereomatch, depthoverlay and stereorectify. What
# was found is saved as a preset, which "stereomatch @preset=NAME" of gst-launch-1.0 takes.
#
#   sh pipelines/tune.sh /dev/video0 /dev/video2 [stereomatch properties]
#   sh pipelines/tune.sh /dev/video0                 one camera that gives both views
#   sh pipelines/tune.sh test                        a synthetic scene
#   sh pipelines/tune.sh --preset NAME test          begins with a preset
#
# The window wants GTK 4: gir1.2-gtk-4.0. Variables: pipelines/README.md; how to tune: docs/tuning.md.
set -eu
# shellcheck source=pipelines/common.sh
. "$(dirname "$0")/common.sh"

usage_unless $# -ge 1
options=
if [ "$1" = --preset ]; then
  usage_unless $# -ge 2
  options="--preset $(quoted "$2")"
  shift 2
fi
usage_unless $# -ge 1
need videoconvert appsink
add_overlay "$@"
add ! videoconvert ! appsink name=screen
eval "become tune.py $options"
