#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Matches two rectified PNGs: pipelines/pair.sh BUILD LEFT.png RIGHT.png FOLDER [stereomatch properties]
# Leaves in FOLDER: disparity.png (16 bit, times 64, 0 = no value), disparity-color.png, confidence.png, sheet.png.
set -eu

if [ $# -lt 4 ]; then
  echo "pair.sh BUILD LEFT.png RIGHT.png FOLDER [stereomatch properties]" >&2
  exit 2
fi
build=$(cd "$1" && pwd) left=$2 right=$3 out=$4
shift 4
export GST_PLUGIN_PATH="$build/gst${GST_PLUGIN_PATH:+:$GST_PLUGIN_PATH}"
mkdir -p "$out"

set -- filesrc "location=$left" ! pngdec ! videoconvert ! match.sink_left \
  filesrc "location=$right" ! pngdec ! videoconvert ! match.sink_right \
  stereomatch name=match "$@"
echo "GST_PLUGIN_PATH=$build/gst gst-launch-1.0 $* ! videoconvert ! video/x-raw,format=GRAY16_BE ! pngenc ! filesink location=$out/disparity.png"
gst-launch-1.0 -q "$@" ! videoconvert ! video/x-raw,format=GRAY16_BE ! pngenc ! filesink "location=$out/disparity.png"
# the same once more, with the confidence out of the buffer's metadata
"$build/pipelines/stereo-snapshot" "$out" "$left" "$@"
