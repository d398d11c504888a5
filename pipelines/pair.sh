#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Matches one rectified pair: pictures or movies in any format that GStreamer decodes; of movies, the first frames.
#
#   sh pipelines/pair.sh [BUILD] LEFT RIGHT FOLDER [stereomatch properties]
#   sh pipelines/pair.sh left.jpg right.jpg out num-disparities=96
#
# Leaves in FOLDER: disparity.png (16 bit, times 64, 0 = no value), disparity-color.png (black = no value), confidence.png
# (black 0, white 1), and sheet.png: the left view, the disparity with a legend, and the confidence side by side.
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
  finish "$work/said" filesrc "location=$1" ! decodebin ! videoconvert ! video/x-raw,format=RGB ! \
    pngenc snapshot=true ! filesink "location=$work/$2.png" || true
  [ -s "$work/$2.png" ] || {
    errors_of "$work/said" >&2
    fail "$1 cannot be decoded to a picture: gstreamer1.0-plugins-good has PNG and JPEG, gstreamer1.0-libav many movies"
  }
  printf '%s\n' "$work/$2.png"
}

[ $# -ne 1 ] || fail "$1 is one picture: the left view and the right one are wanted, then a folder"
usage_unless $# -ge 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
need stereomatch depthoverlay stereoconfidence pngdec pngenc decodebin videoconvert compositor
left=$1 right=$2 out=$3
shift 3
if is_property "$out"; then
  fail "$out stands where the folder for the results should"
fi
check_properties "$@"
left=$(as_png "$left" left) && right=$(as_png "$right" right) || exit 1
mkdir -p "$out"

gap=8 # pixels between the pictures of the sheet
# a PNG has its width here, the highest byte first
# shellcheck disable=SC2046
set -- $(od -An -v -tu1 -j 16 -N 4 "$left") -- "$@"
width=$((($1 << 24) + ($2 << 16) + ($3 << 8) + $4))
shift 5

# add_png NAME: writes what comes
add_png () {
  add pngenc ! filesink "location=$out/$1.png"
}

add filesrc "location=$left" ! pngdec ! videoconvert ! tee name=views ! queue ! match.sink_left \
  filesrc "location=$right" ! pngdec ! videoconvert ! match.sink_right stereomatch name=match "$@" ! tee name=depth
add depth. ! queue ! videoconvert ! video/x-raw,format=GRAY16_BE !
add_png disparity
add depth. ! queue ! color.sink_depth depthoverlay name=color min-confidence=0 text=false legend=false ! videoconvert ! \
  video/x-raw,format=RGB !
add_png disparity-color
add depth. ! queue ! stereoconfidence ! tee name=confidence ! queue !
add_png confidence
add compositor name=sheet background=white "sink_1::xpos=$((width + gap))" "sink_2::xpos=$((2 * (width + gap)))" ! \
  video/x-raw,format=RGB !
add_png sheet
add views. ! queue ! videoconvert ! sheet.sink_0 \
  depth. ! queue ! legend.sink_depth depthoverlay name=legend min-confidence=0 text=false ! videoconvert ! sheet.sink_1 \
  confidence. ! queue ! videoconvert ! sheet.sink_2
printf '%sgst-launch-1.0%s\n' "$environment" "$pipeline"
become pair.py
