#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# overlay.sh: the live view untouched under a clear overlay, and coloured under another one. overlay.sh BUILD
set -eu
. "$(dirname "$0")/common.sh"
skip_without stereotestsrc depthoverlay videocrop capssetter multifilesink
# shellcheck disable=SC2086
quietly gst-launch-1.0 -q stereotestsrc $scene ! "video/x-raw,format=BGRx,width=$((2 * width)),height=$height" ! \
  videocrop right=$width ! multifilesink "location=$folder/left-%06d.raw"
for cameras in "test" "test test"; do
  for alpha in 0 0.5; do
    into "overlay-$alpha" BGRx
    # shellcheck disable=SC2086
    SINK=$SINK OVERLAY="alpha=$alpha legend=false text=false" \
      quietly sh "$pipelines/overlay.sh" $cameras num-disparities=$disparities
    counted 5 "$folder/overlay-$alpha"-*.raw
  done
  for frame in 000000 000004; do
    cmp "$folder/left-$frame.raw" "$folder/overlay-0-$frame.raw" || bad "the live view is not the left one"
    # colours have taken the place of grey over most of the picture
    samples 1 "$folder/overlay-0.5-$frame.raw" >"$folder/ours"
    samples 1 "$folder/left-$frame.raw" | paste - "$folder/ours" | awk '
      $1 != $2 { other++ } END { exit !(other > NR / 2) }' || bad "no depth lies over the live view"
  done
  rm -f "$folder"/overlay-*
done

# a source that waits for nobody, and a matcher that is slower: whole pairs are dropped, and no frame lacks its partner
for script in overlay.sh two-cameras.sh; do
  TEST_SOURCE="num-buffers=30 seed=$seed" RATE=60 SIZE=320x240 SINK="fakesink sync=true" \
    quietly sh "$pipelines/$script" test test method=asw aggregation=full threads=1 num-disparities=64
  # a leaky queue for each view lets different frames go, but not in every run: its name in the line that is said tells
  if grep -e "no partner" -e "out of step" -e leaky "$folder/output"; then
    bad "the queues of $script tear pairs apart"
  fi
done

refused "warn-distance" env SINK=fakesink OVERLAY=warn-distance=near sh "$pipelines/overlay.sh" test
refused "sink_none" env SINK="fakesink overlay.sink_none" sh "$pipelines/overlay.sh" test

# the name of a movie is a name, whatever is in it, and no part of the pipeline
quietly gst-launch-1.0 -q stereotestsrc num-buffers=3 ! video/x-raw,format=I420,width=320,height=120 ! jpegenc ! matroskamux ! \
  filesink "location=$folder/m.mkv"
mkdir "$folder/names"
cd "$folder/names"
tab=$(printf '\t')
for name in "m.mkv${tab}!${tab}filesink${tab}location=WRITTEN${tab}filesrc${tab}location=m.mkv" 'a"  "b' 'a\b' "it's %s
! filesink location=WRITTEN" '$(touch WRITTEN)' "$(printf 'a\377b')"; do
  cp ../m.mkv "$name"
  SINK=fakesink quietly sh "$pipelines/overlay.sh" "$name" num-disparities=16
  [ ! -e WRITTEN ] || bad "the name $name became elements"
done

# both views one above the other, which nothing but the property says, and a movie whose right view comes first
quietly gst-launch-1.0 -q stereotestsrc num-buffers=3 ! video/x-raw,format=I420,width=160,height=240,multiview-mode=top-bottom ! \
  jpegenc ! avimux ! filesink location=tb.avi
SINK=fakesink quietly sh "$pipelines/overlay.sh" tb.avi packing=top-bottom num-disparities=16 focal-length=300 baseline=60
if grep -q -e ERROR -e WARNING "$folder/output"; then
  cat "$folder/output"
  bad "packing= did not tag the live view"
fi
