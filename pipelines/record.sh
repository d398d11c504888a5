#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Records disparity or depth, 16 bits and lossless, and its confidence: two FFV1 streams in one Matroska file.
#
#   CALIBRATION=stereo.yml sh pipelines/record.sh depth.mkv /dev/video0 /dev/video2 [stereomatch properties]
#   sh pipelines/record.sh depth.mkv test output=depth
#
# Ctrl-C ends the recording. What samples mean is not in the file: the line that made it is written to depth.mkv.txt.
# play.sh shows the file, or makes PNGs of it. Variables: pipelines/README.md.
set -eu
# shellcheck source=pipelines/common.sh
. "$(dirname "$0")/common.sh"

usage_unless $# -ge 2
file=$1
shift
folder=$(dirname "$file")
[ -d "$folder" ] || fail "there is no folder $folder to write $(basename "$file") to"
case $file in
  *.mkv) ;;
  *) fail "$file: the first word is the file to be written, and its name ends in .mkv" ;;
esac
need avenc_ffv1 matroskamux stereoconfidence
add_match "" "$@"
add ! video/x-raw,format=GRAY16_LE ! tee name=depth \
  depth. ! queue ! avenc_ffv1 ! matroskamux name=file ! filesink "location=$file" \
  depth. ! queue ! stereoconfidence ! avenc_ffv1 ! file.
echo "gst-launch-1.0 -e$pipeline" >"$file.txt"
launch -e
