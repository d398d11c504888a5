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
  quietly sh "$pipelines/record.sh" "$folder/pictures/" test "$@"
  for frame in 0 1 2 3 4; do
    cmp "$folder/out put/depth-00000$frame.png" "$folder/pictures/00000$frame.png" || bad "picture $frame is another one"
  done
}

one_output num-disparities=$disparities
make_truth truth $width $height
near_truth 2 "$folder/played-depth-000001.raw" 0 64 "$folder/truth-000001.raw"
# samples of 16 bits, the lower ones too
one_output output=depth depth-unit=100 num-disparities=$disparities
samples 2 "$folder/played-depth-000001.raw" | awk '$1 > 4096 && $1 % 256 { n++ } END { exit !(n > NR / 4) }' ||
  bad "depth in tenths of millimetres does not fill 16 bits"

for stream in grey confidence; do
  SINK="capsfilter caps=video/x-raw,format=GRAY8 ! multifilesink location=$folder/shown-%06d.raw" \
    quietly sh "$pipelines/play.sh" "$folder/a depth.mkv" $stream
  counted 5 "$folder"/shown-*.raw
  samples 1 "$folder/shown-000002.raw" | sort -n | awk '{ v[NR] = $1 } END { exit !(v[int (0.95 * NR)] > 48) }' ||
    bad "what is shown of $stream is black"
  rm -f "$folder"/shown-*
done

# coloured FILE: over most of the picture, which is as large as one view
coloured () {
  into shown RGB
  SINK=$SINK OVERLAY="legend=false text=false" quietly sh "$pipelines/play.sh" "$1"
  if grep -q -e WARNING "$folder/output"; then
    cat "$folder/output"
    bad "$1 was shown with a warning"
  fi
  counted 5 "$folder"/shown-*.raw
  od -An -v -tu1 -w3 "$folder/shown-000002.raw" | awk -v pixels=$((width * height)) '
    { least = most = $1; for (i = 2; i <= 3; i++) { if ($i < least) least = $i; if ($i > most) most = $i } }
    most > least + 40 { n++ } END { print n, "of", NR, "pixels are coloured"; exit !(NR == pixels && n > NR / 2) }' ||
    bad "$1 is grey"
  rm -f "$folder"/shown-*
}
if gst-inspect-1.0 --atleast-version=0.0 --exists depthoverlay; then
  coloured "$folder/a depth.mkv"
fi

# from the recorded views, everything again: the same to the bit with the properties of then, another picture with others
same_again () {
  quietly sh "$pipelines/play.sh" "$1" "$folder/out put"
  quietly sh "$pipelines/play.sh" "$1" match "$folder/again"
  for picture in depth-000000 depth-000004 confidence-000004; do
    cmp "$folder/out put/$picture.png" "$folder/again/$picture.png" || bad "$picture computed again is another picture"
  done
  quietly sh "$pipelines/play.sh" "$1" match "$folder/other" num-disparities=8
  if cmp -s "$folder/out put/depth-000004.png" "$folder/other/depth-000004.png"; then
    bad "the property after match was not taken"
  fi
}
same_again "$folder/a depth.mkv"
# on the screen, also where it is depth
SINK=fakesink quietly sh "$pipelines/play.sh" "$folder/a depth.mkv" match
quietly sh "$pipelines/record.sh" "$folder/two.mkv" test test num-disparities=$disparities
same_again "$folder/two.mkv"
if gst-inspect-1.0 --atleast-version=0.0 --exists depthoverlay; then
  coloured "$folder/two.mkv"
fi
for view in left right; do
  into "$view" GRAY8
  SINK=$SINK quietly sh "$pipelines/play.sh" "$folder/two.mkv" $view
  counted 5 "$folder/$view"-*.raw
done
if cmp -s "$folder/left-000002.raw" "$folder/right-000002.raw"; then
  bad "the two views are the same stream"
fi
refused "no view \"both\", only: left right" sh "$pipelines/play.sh" "$folder/two.mkv" both
VIEWS=no quietly sh "$pipelines/record.sh" "$folder/no views.mkv" test num-disparities=$disparities
refused "holds no views" sh "$pipelines/play.sh" "$folder/no views.mkv" match
if gst-inspect-1.0 --atleast-version=0.0 --exists depthoverlay; then
  coloured "$folder/no views.mkv"
  quietly gst-launch-1.0 -q videotestsrc num-buffers=2 ! video/x-raw,format=GRAY16_LE ! avenc_ffv1 ! matroskamux ! \
    filesink "location=$folder/other.mkv"
  refused "does not say what its samples mean" sh "$pipelines/play.sh" "$folder/other.mkv"
fi

# A source that waits for nobody, and a matcher that is slower: every view is kept, and what has no disparity is counted.
# It lasts 2.5 s, because the recorder counts once a second.
frames=150
TEST_SOURCE="num-buffers=$frames seed=$seed" RATE=60 SIZE=320x240 quietly sh "$pipelines/record.sh" "$folder/live.mkv" test \
  method=asw aggregation=full threads=1 num-disparities=64
grep -q "^so far: " "$folder/output" || { cat "$folder/output"; bad "losses were not said while it recorded"; }
set -- "$(sed -n 's/^recorded: \([0-9]*\) disparity pictures; \([0-9]*\) frames without one.*/\1 \2/p' "$folder/output")"
awk -v counts="$1" -v frames=$frames 'BEGIN { split(counts, n, " "); exit !(n[1] > 0 && n[2] > 0 && n[1] + n[2] == frames) }' ||
  { cat "$folder/output"; bad "of $frames frames were said: $1"; }
into kept GRAY8
SINK=$SINK quietly sh "$pipelines/play.sh" "$folder/live.mkv" both
counted $frames "$folder"/kept-*.raw

# Ctrl-C closes the file properly
TEST_SOURCE="seed=$seed"
sh "$pipelines/record.sh" "$folder/stopped.mkv" test method=bm num-disparities=$disparities >"$folder/recorder" 2>&1 &
running=$!
wait_until test -s "$folder/stopped.mkv"
sleep 1
kill -INT "$running"
wait "$running" || { cat "$folder/recorder"; bad "Ctrl-C is an error of record.sh"; }
running=
grep -q "^recorded: [1-9]" "$folder/recorder" || { cat "$folder/recorder"; bad "nothing was recorded until Ctrl-C"; }
quietly sh "$pipelines/play.sh" "$folder/stopped.mkv" "$folder/stopped"
[ -s "$folder/stopped/depth-000000.png" ] || bad "what Ctrl-C ended cannot be played"
TEST_SOURCE=$scene

refused "no folder $folder/none" sh "$pipelines/record.sh" "$folder/none/a.mkv" test
refused "ends in .mkv" sh "$pipelines/record.sh" test test
refused "there is no file $folder/none.mkv" sh "$pipelines/play.sh" "$folder/none.mkv"
echo "no movie" >"$folder/text.mkv"
refused "is no recording of record.sh" sh "$pipelines/play.sh" "$folder/text.mkv"
head -c 300 "$folder/no views.mkv" >"$folder/half.mkv"
refused "ERROR\|cannot\|error" env SINK=fakesink sh "$pipelines/play.sh" "$folder/half.mkv"
refused "ERROR" env SINK=fakesink sh "$pipelines/play.sh" "$folder/half.mkv" grey

# TUM's layout: times of each picture, and pictures of one moment
LEFT=1 quietly sh "$pipelines/record.sh" "$folder/tum/" test output=depth depth-unit=200 num-disparities=$disparities
counted 5 "$folder"/tum/depth/*.png
counted 5 "$folder"/tum/rgb/*.png
for list in timestamps depth rgb associations; do
  [ "$(wc -l <"$folder/tum/$list.txt")" -eq 5 ] || { cat "$folder/tum/$list.txt"; bad "$list.txt does not list 5 pictures"; }
done
[ "$(sed -n 2p "$folder/tum/associations.txt")" = "0.033333 rgb/000001.png 0.033333 depth/000001.png" ] ||
  { cat "$folder/tum/associations.txt"; bad "the times are wrong"; }
