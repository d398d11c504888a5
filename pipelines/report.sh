#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Makes a folder that belongs into a bug report: versions, properties, a log, and the settings, stats, messages and graph of a
# pipeline that runs for ten seconds. Asks before it writes one pair of frames and the calibration.
#
#   sh pipelines/report.sh FOLDER /dev/video0 /dev/video2 [stereomatch properties]
#   CALIBRATION=stereo.yml sh pipelines/report.sh FOLDER left.mp4 right.mp4
#   FRAMES=no sh pipelines/report.sh FOLDER test     does not ask: yes or no
#
# The name of the user, that of the machine and home folders are replaced in all texts. Look through the folder before you send it.
# Variables: pipelines/README.md.
set -eu
# shellcheck source=pipelines/common.sh
. "$(dirname "$0")/common.sh"

usage_unless $# -ge 2
folder=$1
shift
[ ! -e "$folder" ] || fail "$folder is there already: give another name"
raw=yes seen=both
if [ $# -ge 2 ] && ! is_property "$2"; then
  seen="left right"
fi
unset GST_DEBUG_FILE
# that of the user: CALIBRATION may become one that was made of it
CALIBRATIONS=${CALIBRATION:-}
export CALIBRATIONS GST_DEBUG="2,stereo*:5" GST_DEBUG_NO_COLOR=1
add_match "" "$@"
add ! fakesink
for view in $seen; do
  add "raw_$view." ! queue leaky=downstream max-size-buffers=1 ! fakesink "name=frame_$view" sync=false async=false
done
mkdir -p "$folder"
become report.py "$folder"
