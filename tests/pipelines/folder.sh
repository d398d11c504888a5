#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# folder.sh: pairs of several sizes, names kept, samples as KITTI has them. folder.sh BUILD
set -eu
. "$(dirname "$0")/common.sh"
skip_without stereotestsrc stereoconfidence videocrop pngdec pngenc jpegdec jpegenc multifilesrc multifilesink
left="$folder/left views" right="$folder/right" out="$folder/out/disp_0"
mkdir "$left" "$right"

# make_pair NAME WIDTH HEIGHT SEED MAX_DISPARITY: no two of them alike
make_pair () {
  TEST_SOURCE="num-buffers=1 seed=$4 max-disparity=$5"
  make_truth "$1" "$2" "$3"
  # shellcheck disable=SC2086
  quietly gst-launch-1.0 -q stereotestsrc $TEST_SOURCE ! "video/x-raw,format=RGB,width=$((2 * $2)),height=$3" ! \
    tee name=t \
    t. ! queue ! videocrop "right=$2" ! pngenc ! filesink "location=$left/$1.png" \
    t. ! queue ! videocrop "left=$2" ! pngenc ! filesink "location=$right/$1.png"
}

# check NAME WIDTH HEIGHT
check () {
  quietly gst-launch-1.0 -q filesrc "location=$out/$1.png" ! pngdec ! \
    "video/x-raw,format=GRAY16_BE,width=$2,height=$3" ! videoconvert ! \
    video/x-raw,format=GRAY16_LE ! filesink "location=$folder/ours.raw"
  near_truth 2 "$folder/ours.raw" 0 256 "$folder/$1-000000.raw"
}

make_pair 000000_10 $width $height "$seed" 16
make_pair 000001_10 204 92 $((seed + 1)) 20
make_pair "a b" 204 92 $((seed + 2)) 12
make_pair im0 $width $height $((seed + 3)) 22
# the command that is given again and again
set -- sh "$pipelines/folder.sh" "$left" "$right" "$out" num-disparities=$disparities
quietly "$@"
grep -q "^4 disparities in" "$folder/output" || bad "the number of pairs was not said"
grep -q "^3/4 a b.png" "$folder/output" || bad "no progress was said"
counted 4 "$out"/*
check 000000_10 $width $height
check 000001_10 204 92
check "a b" 204 92
check im0 $width $height

# what a file manager leaves, and folders, are no pictures
echo hidden >"$left/._000000_10.png"
mkdir "$right/folder.png"

# once more: what is there is left alone, what is missing or older than its pictures is made
touch -d "1 hour ago" "$left"/* "$right"/*
touch -d "1 minute ago" "$out"/*
quietly "$@"
grep -q "all were there" "$folder/output" || bad "finished pairs were computed again"
rm "$out/a b.png"
touch "$right/im0.png"
touch -d "30 seconds ago" "$folder/then"
quietly "$@"
grep -q "^2 of 4 disparities are" "$folder/output" || { cat "$folder/output"; bad "it did not go on where it stopped"; }
check "a b" 204 92
check im0 $width $height
[ "$(find "$out" -newer "$folder/then" -name '*.png' | wc -l)" = 2 ] || bad "other pairs than the missing ones were made"
touch "$right/im0.png"
refused "holds results of" sh "$pipelines/folder.sh" "$left" "$right" "$out" num-disparities=32

# a pair that cannot be read takes nothing of what was done before it, and Ctrl-C does not either
cp "$left/im0.png" "$folder/kept.png"
rm "$out"/*
head -c 60 "$folder/kept.png" >"$left/im0.png"
refused "im0.png: nothing came out of this pair.*3 of 4 are in" "$@"
cp "$folder/kept.png" "$left/im0.png"
counted 3 "$out"/*
quietly "$@"
counted 4 "$out"/*
mkdir "$folder/many left" "$folder/many right"
for number in 0 1 2 3 4 5 6 7 8 9; do
  for tens in 0 1 2; do
    cp "$left/im0.png" "$folder/many left/$tens$number.png"
    cp "$right/im0.png" "$folder/many right/$tens$number.png"
  done
done
many="num-disparities=$disparities method=asw aggregation=full threads=1"
# a group of processes of its own, which Ctrl-C interrupts, as a terminal makes one
# shellcheck disable=SC2086
env --default-signal=INT setsid \
  sh "$pipelines/folder.sh" "$folder/many left" "$folder/many right" "$folder/many" $many >"$folder/output" 2>&1 &
running=$!
wait_until test -s "$folder/many/01.png"
kill -INT "-$running"
status=0
wait "$running" || status=$?
running=
[ $status = 130 ] || { cat "$folder/output"; bad "Ctrl-C ended with $status"; }
grep -q "^stopped: [0-9]* of 30 " "$folder/output" || { cat "$folder/output"; bad "Ctrl-C said nothing"; }
made=$(sed -n 's/^stopped: \([0-9]*\) of 30.*/\1/p' "$folder/output")
[ "$made" -ge 2 ] && [ "$made" -lt 30 ] || bad "$made pairs were made before Ctrl-C"
counted "$made" "$folder/many"/*
# shellcheck disable=SC2086
quietly sh "$pipelines/folder.sh" "$folder/many left" "$folder/many right" "$folder/many" $many
grep -q "^$made of 30 disparities are" "$folder/output" || bad "it did not go on where it was stopped"
counted 30 "$folder/many"/*

# JPEGs, and kinds mixed
mkdir "$folder/jpeg left" "$folder/jpeg right"
for view in left right; do
  eval "from=\$$view"
  for name in 000000_10 im0; do
    quietly gst-launch-1.0 -q filesrc "location=$from/$name.png" ! pngdec ! videoconvert ! jpegenc quality=98 ! \
      filesink "location=$folder/jpeg $view/$name.jpg"
  done
done
quietly sh "$pipelines/folder.sh" "$folder/jpeg left" "$folder/jpeg right" "$folder/jpeg" num-disparities=$disparities
counted 2 "$folder/jpeg"/*.png
whole=$out out=$folder/jpeg
check im0 $width $height
cp "$left/a b.png" "$folder/jpeg left/"
cp "$right/a b.png" "$folder/jpeg right/"
rm -r "$folder/jpeg"
quietly sh "$pipelines/folder.sh" "$folder/jpeg left" "$folder/jpeg right" "$folder/jpeg" num-disparities=$disparities
counted 3 "$folder/jpeg"/*.png
check "a b" 204 92
out=$whole
cp "$left/a b.png" "$folder/jpeg left/im0.png"
cp "$left/a b.png" "$folder/jpeg right/im0.png"
refused "two pictures of the name im0" sh "$pipelines/folder.sh" "$folder/jpeg left" "$folder/jpeg right" "$folder/jpeg"

mv "$right/im0.png" "$right/im1.png"
refused "right has no im0.png" "$@"
cp "$right/im1.png" "$right/im0.png"
refused "has no im1.png" "$@"
rm "$right/im1.png"
cp "$right/000001_10.png" "$right/im0.png"
refused "im0.png is of ${width}x$height pixels in .* and of 204x92" "$@"
echo "no picture" >"$right/im0.png"
refused "im0.png cannot be decoded" "$@"
# a PNG by its first bytes alone
head -c 60 "$left/im0.png" >"$right/im0.png"
refused "im0.png" "$@"
mkdir "$folder/empty"
refused "holds no PNGs" sh "$pipelines/folder.sh" "$folder/empty" "$right" "$out"
refused "no folder $folder/none" sh "$pipelines/folder.sh" "$folder/none" "$right" "$out"
