#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Rectifies, matches, and shows the live view with depth in colours over it and the distance of the nearest thing.
#
#   CALIBRATION=stereo.yml sh pipelines/overlay.sh /dev/video0 /dev/video2 [stereomatch properties]
#   CALIBRATION=left.yaml,right.yaml OVERLAY=warn-distance=1500 sh pipelines/overlay.sh /dev/video0     side by side
#   sh pipelines/overlay.sh test test
#   sh pipelines/overlay.sh --out depth.mp4 left.mp4 right.mp4 focal-length=700 baseline=120     into a file
#
# --out FILE: the name says what is written: .mp4, .mov or .mkv has H.264, .webm has VP8. Ctrl-C ends it properly.
# CALIBRATION: a file of OpenCV, two of ROS, or what calibration.py reads. Without it the views must be rectified already, and
# focal-length=... (px) baseline=... (mm) are needed for distances. Variables: pipelines/README.md.
set -eu
# shellcheck source=pipelines/common.sh
. "$(dirname "$0")/common.sh"

# add_file FILE: encoder and muxer by its name
add_file () {
  case $1 in
    *.mp4) muxer=mp4mux ;;
    *.mov) muxer=qtmux ;;
    *.mkv) muxer=matroskamux ;;
    *.webm) muxer=webmmux ENCODER=${ENCODER:-vp8enc deadline=1 target-bitrate=4000000} ;;
    *) fail "--out $1: a name ends in .mp4, .mov, .mkv or .webm. record.sh writes depth as PNG, Matroska or points" ;;
  esac
  need $muxer
  : "${ENCODER:=x264enc speed-preset=veryfast}"
  add_h264
  add $muxer ! filesink "location=$1"
}

out=
if [ "${1:-}" = --out ]; then
  usage_unless $# -ge 3
  out=$2
  shift 2
  [ -z "${SINK:-}" ] || fail "--out and SINK both say where the picture goes: leave one out"
  check_out "$out" "$@"
fi
usage_unless $# -ge 1
add_overlay "$@"
if [ -n "$out" ]; then
  add_file "$out"
  launch -e
fi
add !
add_screen
launch
