#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Records disparity or depth, 16 bits and lossless. The first word says what is written:
#
#   CALIBRATION=stereo.yml sh pipelines/record.sh depth.mkv /dev/video0 /dev/video2 [stereomatch properties]
#   sh pipelines/record.sh depth.mkv test output=depth
#   sh pipelines/record.sh depth/ left.mp4 right.mp4 output=depth focal-length=700 baseline=120
#   sh pipelines/record.sh points.ply left.mp4 right.mp4 focal-length=700 baseline=120
#
# FILE.mkv has depth, its confidence, and both views as the cameras gave them, as FFV1 streams; the calibration and the
# properties are attached to it. FOLDER/ gets a PNG of each frame, FOLDER/000000.png and so on, and timestamps.txt: seconds and the
# name of the picture. With LEFT=1 it has the layout of TUM's data sets, which RTAB-Map and ORB-SLAM read: depth/ and rgb/ (the left
# view), and the lists depth.txt and rgb.txt, and associations.txt with the pictures of one moment. FILE.ply or FILE.pcd is the
# point cloud of the first frame, in the colours of the left view.
#
# Ctrl-C ends the recording. Movies lose no frame. Cameras do not wait: where the matcher is slower than they are, some
# frames have no disparity in the file, and a line every second says how many. Their views are recorded all the same:
# "play.sh depth.mkv match" computes everything again. The line that made FILE.mkv is written to FILE.mkv.txt.
# VIEWS=no leaves the views out. play.sh shows the file, or makes PNGs of it. Variables: pipelines/README.md.
set -eu
# shellcheck source=pipelines/common.sh
. "$(dirname "$0")/common.sh"

attached=
attach () {
  attached="$attached $1 $(quoted "$2")"
}

# attach_settings CAMERA: what computing everything again takes
attach_settings () {
  # the synthetic scene says in metadata, which no file keeps, what cameras it was seen by
  [ "$1" != test ] || [ -n "${CALIBRATION:-}" ] || properties="focal-length=$((width * 9 / 10))
baseline=120
$properties"
  attach --text "stereomatch.txt=$properties"
  attach --text "stereorectify.txt=${RECTIFY:-}"
  [ -z "$raw" ] || attach --text "views.txt=$seen"
  number=0 rest=${CALIBRATION:+$CALIBRATION,}
  while [ -n "$rest" ]; do
    one=${rest%%,*}
    # the extension tells how it is read
    case $(basename "$one") in
      *.*) attach --attach "calibration-$number.${one##*.}=$one" ;;
      *) attach --attach "calibration-$number=$one" ;;
    esac
    rest=${rest#*,} number=$((number + 1))
  done
}

# add_views: lossless, each in a stream of its own, behind depth and confidence
add_views () {
  number=2
  keep="queue max-size-buffers=0 max-size-bytes=0 max-size-time=0"
  [ $live = no ] || keep="queue leaky=downstream max-size-buffers=0 max-size-bytes=0 max-size-time=5000000000"
  for view in $seen; do
    # shellcheck disable=SC2086
    add "raw_$view." ! $keep "name=raw_queue_$view" ! videoconvert ! avenc_ffv1 ! "file.video_$number"
    number=$((number + 1))
  done
}

# nobody waits for a recording: no pair is too late
match_defaults=qos=false

# record_pictures FOLDER/ CAMERA...
record_pictures () {
  folder=${1%/}
  shift
  need pngenc multifilesink
  views=
  mkdir -p "$folder"
  if [ -n "${LEFT:-}" ]; then
    need depthoverlay
    views=views
    mkdir -p "$folder/rgb" "$folder/depth"
  fi
  add_match "$views" "$@"
  if [ -z "$views" ]; then
    add ! video/x-raw,format=GRAY16_BE ! pngenc ! multifilesink name=depth post-messages=true "location=$folder/%06d.png"
  else
    # the left view, also of a frame with both: depthoverlay shows it, and draws nothing
    add ! video/x-raw,format=GRAY16_LE ! tee name=depths ! queue ! videoconvert ! video/x-raw,format=GRAY16_BE ! pngenc ! \
      multifilesink name=depth post-messages=true "location=$folder/depth/%06d.png" depths. ! queue ! left.sink_depth \
      views. ! queue max-size-bytes=0 ! depthoverlay name=left alpha=0 text=false legend=false ! videoconvert ! video/x-raw,format=RGB ! \
      pngenc ! multifilesink name=rgb post-messages=true "location=$folder/rgb/%06d.png"
  fi
  printf '%sgst-launch-1.0 -e%s\n' "$environment" "$pipeline"
  become record.py --times "$folder"
}

# record_points FILE CAMERA...
record_points () {
  file=$1
  shift
  check_out "$file" "$@"
  need stereopoints
  add_match "" "$@"
  # identity ends the stream in place of the second frame
  add ! stereopoints "format=${file##*.}" ! identity eos-after=2 ! filesink "location=$file"
  launch
}

usage_unless $# -ge 2
case $1 in
  */) record_pictures "$@" ;;
  *.ply | *.pcd) record_points "$@" ;;
  *.mkv) ;;
  *) fail "$1: the first word is what is written: a name that ends in .mkv, .ply or .pcd, or a folder's that ends in /" ;;
esac
file=$1
shift
check_out "$file" "$@"
need avenc_ffv1 matroskamux stereoconfidence
raw=yes
[ "${VIEWS:-yes}" != no ] || raw=
seen=both
if [ $# -ge 2 ] && ! is_property "$2"; then
  seen="left right"
fi
add_match "" "$@"
add ! video/x-raw,format=GRAY16_LE ! tee name=depth \
  depth. ! queue max-size-bytes=0 ! avenc_ffv1 ! file.video_0 \
  depth. ! queue max-size-bytes=0 ! stereoconfidence ! avenc_ffv1 ! file.video_1
[ -z "$raw" ] || add_views
add matroskamux name=file ! filesink "location=$file"

attach_settings "$1"
echo "gst-launch-1.0 -e$pipeline" >"$file.txt"
printf '%sgst-launch-1.0 -e%s\n' "$environment" "$pipeline"
eval "become record.py$attached"
