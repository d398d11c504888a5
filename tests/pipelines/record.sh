#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# record.sh and play.sh: what is played back is what was recorded, to the bit. record.sh BUILD
set -eu
. "$(dirname "$0")/common.sh"
skip_without stereotestsrc stereoconfidence avenc_ffv1 avdec_ffv1 matroskamux matroskademux pngdec pngenc multifilesink

# same STREAM FORMAT: the PNGs of play.sh and the frames that went into the encoder
same () {
  quietly gst-launch-1.0 -q multifilesrc "location=$folder/out put/$1-%06d.png" caps=image/png,framerate=1/1 ! \
    pngdec ! videoconvert ! "video/x-raw,format=$2" ! multifilesink "location=$folder/played-$1-%06d.raw"
  counted 5 "$folder/played-$1"-*.raw
  for frame in 0 1 2 3 4; do
    cmp "$folder/$1-00000$frame.raw" "$folder/played-$1-00000$frame.raw" || bad "$1 changed, frame $frame"
  done
  # frames that are all alike would prove less
  if cmp -s "$folder/$1-000000.raw" "$folder/$1-000004.raw"; then
    bad "$1 does not change from frame to frame"
  fi
}

# one_output PROPERTY...
one_output () {
  # shellcheck disable=SC2086
  quietly gst-launch-1.0 -q stereotestsrc $scene ! "video/x-raw,width=$((2 * width)),height=$height,framerate=30/1" ! \
    stereomatch "$@" ! video/x-raw,format=GRAY16_LE ! tee name=t \
    t. ! queue ! multifilesink "location=$folder/depth-%06d.raw" \
    t. ! queue ! stereoconfidence ! multifilesink "location=$folder/confidence-%06d.raw"
  quietly sh "$pipelines/record.sh" "$folder/a depth.mkv" test "$@"
  grep -q "gst-launch-1.0 -e stereotestsrc" "$folder/a depth.mkv.txt" || bad "the line was not written beside the file"
  quietly sh "$pipelines/play.sh" "$folder/a depth.mkv" "$folder/out put"
  same depth GRAY16_LE
  same confidence GRAY8
}

one_output num-disparities=$disparities
make_truth truth $width $height
near_truth 2 "$folder/played-depth-000001.raw" 0 64 "$folder/truth-000001.raw"
# samples of 16 bits, the lower ones too
one_output output=depth depth-unit=100 num-disparities=$disparities
samples 2 "$folder/played-depth-000001.raw" | awk '$1 > 4096 && $1 % 256 { n++ } END { exit !(n > NR / 4) }' ||
  bad "depth in tenths of millimetres does not fill 16 bits"

for stream in "" confidence; do
  SINK="capsfilter caps=video/x-raw,format=GRAY8 ! multifilesink location=$folder/shown-%06d.raw" \
    quietly sh "$pipelines/play.sh" "$folder/a depth.mkv" $stream
  counted 5 "$folder"/shown-*.raw
  samples 1 "$folder/shown-000002.raw" | sort -n | awk '{ v[NR] = $1 } END { exit !(v[int (0.95 * NR)] > 48) }' ||
    bad "what is shown of ${stream:-depth} is black"
  rm -f "$folder"/shown-*
done

refused "no folder $folder/none" sh "$pipelines/record.sh" "$folder/none/a.mkv" test
refused "ends in .mkv" sh "$pipelines/record.sh" test test
refused "there is no file $folder/none.mkv" sh "$pipelines/play.sh" "$folder/none.mkv"
echo "no movie" >"$folder/text.mkv"
refused "ERROR" env SINK=fakesink sh "$pipelines/play.sh" "$folder/text.mkv"
