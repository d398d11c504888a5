#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Matches one rectified pair: pictures or movies in any format that GStreamer decodes; of movies, the first frames.
#
#   sh pipelines/pair.sh [BUILD] LEFT RIGHT FOLDER [stereomatch properties]
#   sh pipelines/pair.sh left.jpg right.jpg out num-disparities=96
#
# Leaves in FOLDER: disparity.png (16 bit, times 64, 0 = no value), disparity-color.png, confidence.png, sheet.png.
# BUILD is the build folder that is used: STEREO_BUILD stands for it too. Variables: pipelines/README.md.
set -eu
if [ $# -gt 0 ] && [ -d "$1" ]; then
  STEREO_BUILD=$1
  shift
fi
# shellcheck source=pipelines/common.sh
. "$(dirname "$0")/common.sh"

# as_png FILE VIEW: the path of the picture as a PNG
as_png () {
  [ -f "$1" ] || fail "there is no file $1"
  if is_png "$1"; then
    printf '%s\n' "$1"
    return
  fi
  finish "$work/said" gst-launch-1.0 -q filesrc "location=$1" ! decodebin ! videoconvert ! video/x-raw,format=RGB ! \
    pngenc snapshot=true ! filesink "location=$work/$2.png" || true
  [ -s "$work/$2.png" ] || {
    cat "$work/said" >&2
    fail "$1 cannot be decoded to a picture: gstreamer1.0-plugins-good has PNG and JPEG, gstreamer1.0-libav many movies"
  }
  printf '%s\n' "$work/$2.png"
}

[ $# -ne 1 ] || fail "$1 is one picture: the left view and the right one are wanted, then a folder"
usage_unless $# -ge 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
need stereomatch pngdec pngenc decodebin videoconvert
left=$1 right=$2 out=$3
shift 3
if is_property "$out"; then
  fail "$out stands where the folder for the results should"
fi
check_properties "$@"
snapshot=$(tool stereo-snapshot)
left=$(as_png "$left" left) && right=$(as_png "$right" right) || exit 1
mkdir -p "$out"

add filesrc "location=$left" ! pngdec ! videoconvert ! match.sink_left \
  filesrc "location=$right" ! pngdec ! videoconvert ! match.sink_right \
  stereomatch name=match "$@"
tail="! videoconvert ! video/x-raw,format=GRAY16_BE ! pngenc ! filesink location=$(quoted "$out/disparity.png")"
printf '%sgst-launch-1.0%s\n' "$environment" "$pipeline $tail"
# the same, with the confidence out of the buffer's metadata
eval "\"\$snapshot\" \"\$out\" \"\$left\"$pipeline"
