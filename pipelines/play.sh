#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Plays what record.sh recorded, or makes PNGs of every frame of it.
#
#   sh pipelines/play.sh depth.mkv              the upper 8 bits on the screen, dark parts lifted
#   sh pipelines/play.sh depth.mkv confidence   the second stream
#   sh pipelines/play.sh depth.mkv FOLDER/      FOLDER/depth-000000.png (16 bits as recorded), confidence-000000.png
#
# SINK: in place of autovideosink.
set -eu
# shellcheck source=pipelines/common.sh
. "$(dirname "$0")/common.sh"

usage_unless $# -ge 1
usage_unless $# -le 2
[ -f "$1" ] || fail "there is no file $1"
need matroskademux avdec_ffv1 videoconvert
add filesrc "location=$1" ! matroskademux name=file
case ${2:-} in
  '')
    need gamma
    add file.video_0 ! queue ! avdec_ffv1 ! videoconvert ! video/x-raw,format=I420 ! gamma gamma=2 !
    add_screen
    ;;
  confidence)
    add file.video_1 ! queue ! avdec_ffv1 !
    add_screen
    ;;
  *)
    need pngenc multifilesink
    mkdir -p "$2"
    for stream in depth-%06d.png:GRAY16_BE confidence-%06d.png:GRAY8; do
      add "file.video_${number:-0}" ! queue ! avdec_ffv1 ! videoconvert ! "video/x-raw,format=${stream#*:}" ! \
        pngenc ! multifilesink "location=${2%/}/${stream%:*}"
      number=1
    done
    ;;
esac
launch
