#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Plays what record.sh recorded, makes PNGs of every frame of it, or computes it again from the recorded views.
#
#   sh pipelines/play.sh depth.mkv                    depth in colours, over the live view where that was recorded
#   sh pipelines/play.sh depth.mkv grey               the upper 8 bits, dark parts lifted
#   sh pipelines/play.sh depth.mkv confidence         the second stream
#   sh pipelines/play.sh depth.mkv left               a view: left and right, or both where one camera gave both
#   sh pipelines/play.sh depth.mkv FOLDER/            FOLDER/depth-000000.png (16 bits as recorded), confidence-000000.png
#   sh pipelines/play.sh depth.mkv match [FOLDER/] [stereomatch properties]
#
# "match" takes the calibration and the properties that are attached to the recording, then those that follow. A folder of
# the name of a stream: ./match. SINK: in place of autovideosink. OVERLAY: properties of depthoverlay for the colours,
# as near=300 far=5000 (min-confidence hides nothing here).
set -eu
# shellcheck source=pipelines/common.sh
. "$(dirname "$0")/common.sh"

# add_pngs STREAM FORMAT: $folder/STREAM-000000.png and on, of what the pipeline ends with
add_pngs () {
  add ! videoconvert ! "video/x-raw,format=$2" ! pngenc ! multifilesink "location=${folder%/}/$1-%06d.png"
}

# show STREAM: its number
show () {
  add "file.video_$1" ! queue ! avdec_ffv1 !
  add_screen
  launch
}

# read_attachments: into $work; $views is "both", "left right", or empty
read_attachments () {
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  trap 'exit 130' INT TERM
  "$(python)" "$(dirname "$0")/record.py" --extract "$file" "$work" || exit 1
  views=
  [ ! -f "$work/views.txt" ] || views=$(cat "$work/views.txt")
}

need_views () {
  [ -n "$views" ] || fail "$file holds no views: it was recorded with VIEWS=no"
}

show_view () {
  read_attachments
  need_views
  number=2
  for view in $views; do
    [ "$view" != "$1" ] || show $number
    number=$((number + 1))
  done
  fail "$file has no view \"$1\", only: $views"
}

# add_attached TEXT: its words. Whoever made the recording chose them: they are properties, no elements, and write no file.
add_attached () {
  # shellcheck disable=SC2013
  for word in $(cat "$work/$1"); do
    is_property "$word" || fail "$file: \"$word\" in its $1 is no property: record.sh did not write that"
    case $word in
      save=*) ;;
      *) add "$word" ;;
    esac
  done
}

# add_attached_calibration NEXT: stereorectify before the pad or element NEXT, where the views were rectified. $taker: where
# the views go
add_attached_calibration () {
  calibration=
  [ -n "$views" ] || return 0
  set +f
  for one in "$work"/calibration-*; do
    set -f
    [ ! -f "$one" ] || calibration="$calibration${calibration:+,}$one"
  done
  [ -n "$calibration" ] || return 0
  need stereorectify
  taker=rectify
  add stereorectify name=rectify "calibration=$calibration"
  add_attached stereorectify.txt
  add ! "$1"
}

# add_view NUMBER: the Nth of the streams, decoded
add_view () {
  add "file.video_$1" ! queue max-size-bytes=0 ! avdec_ffv1 ! videoconvert !
}

# add_views: to $taker
add_views () {
  number=2
  for view in $views; do
    sink=sink_$view
    [ "$view" != both ] || sink=sink
    add_view $number
    add "$taker.$sink"
    number=$((number + 1))
  done
}

# in_colours: no file keeps the metadata that depthoverlay needs: play.py makes it of the attached properties
in_colours () {
  need depthoverlay appsrc
  read_attachments
  [ -f "$work/stereomatch.txt" ] ||
    fail "$file does not say what its samples mean: record.sh did not make it. \"play.sh $file grey\" shows it in grey"
  taker=overlay
  # all of it waits for the first rectified view
  add file.video_0 ! queue max-size-buffers=0 max-size-bytes=0 max-size-time=0 ! avdec_ffv1 ! \
    fakesink name=depth async=false \
    appsrc name=described format=time handle-segment-change=true block=true ! overlay.sink_depth
  add_attached_calibration overlay.sink
  if [ -n "$views" ] && [ $taker = overlay ]; then
    # the left one of two, or both in one frame
    add_view 2
    add overlay.sink
  else
    add_views
  fi
  # OVERLAY is a list of words
  # shellcheck disable=SC2086
  add depthoverlay name=overlay ${OVERLAY:-} !
  add_screen
  # the calibration is read from $work, which goes at the end
  printf '%sgst-launch-1.0%s\n' "$environment" "$pipeline"
  (become play.py "$(tr '\n' ' ' <"$work/stereomatch.txt")")
}

# match [FOLDER/] [property=value...]
match () {
  folder=
  if [ $# -gt 0 ] && ! is_property "$1"; then
    folder=$1
    shift
  fi
  check_properties "$@"
  read_attachments
  need_views
  need stereomatch
  taker=match
  add_attached_calibration match.
  add_views
  # later ones win
  add stereomatch name=match qos=false
  add_attached stereomatch.txt
  add "$@" !
  if [ -z "$folder" ]; then
    # depth has 16 bits in any case
    need depthoverlay
    add colors.sink_depth depthoverlay name=colors text=false min-confidence=0 !
    add_screen
  else
    need pngenc multifilesink stereoconfidence
    mkdir -p "$folder"
    add video/x-raw,format=GRAY16_LE ! tee name=depth depth. ! queue
    add_pngs depth GRAY16_BE
    add depth. ! queue ! stereoconfidence
    add_pngs confidence GRAY8
  fi
  # the calibration is read from $work, which goes at the end
  (launch)
}

usage_unless $# -ge 1
file=$1
shift
[ -f "$file" ] || fail "there is no file $file"
is_matroska "$file" || fail "$file is no recording of record.sh. For depth of a movie: overlay.sh $file, or overlay.sh LEFT RIGHT"
need matroskademux avdec_ffv1 videoconvert
add filesrc "location=$file" ! matroskademux name=file
case ${1:-} in
  match)
    shift
    match "$@"
    exit
    ;;
esac
usage_unless $# -le 1
case ${1:-} in
  '') in_colours ;;
  grey)
    need gamma
    add file.video_0 ! queue ! avdec_ffv1 ! videoconvert ! video/x-raw,format=I420 ! gamma gamma=2 !
    add_screen
    launch
    ;;
  confidence) show 1 ;;
  left | right | both) show_view "$1" ;;
  *)
    need pngenc multifilesink
    folder=$1
    mkdir -p "$folder"
    add file.video_0 ! queue ! avdec_ffv1
    add_pngs depth GRAY16_BE
    add file.video_1 ! queue ! avdec_ffv1
    add_pngs confidence GRAY8
    launch
    ;;
esac
