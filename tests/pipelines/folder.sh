#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# folder.sh: pairs of several sizes, names kept, samples as KITTI has them. folder.sh BUILD
set -eu
. "$(dirname "$0")/common.sh"
skip_without stereotestsrc stereoconfidence videocrop pngdec pngenc multifilesrc multifilesink
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
quietly sh "$pipelines/folder.sh" "$left" "$right" "$out" num-disparities=$disparities
grep -q "^4 disparities in" "$folder/said" || bad "the number of pairs was not said"
counted 4 "$out"/*
check 000000_10 $width $height
check 000001_10 204 92
check "a b" 204 92
check im0 $width $height

mv "$right/im0.png" "$right/im1.png"
refused "right has no im0.png" sh "$pipelines/folder.sh" "$left" "$right" "$out"
cp "$right/im1.png" "$right/im0.png"
refused "has no im1.png" sh "$pipelines/folder.sh" "$left" "$right" "$out"
rm "$right/im1.png"
cp "$right/000001_10.png" "$right/im0.png"
refused "im0.png is of ${width}x$height pixels in .* and of 204x92" sh "$pipelines/folder.sh" "$left" "$right" "$out"
echo "no picture" >"$right/im0.png"
refused "im0.png is not a PNG" sh "$pipelines/folder.sh" "$left" "$right" "$out"
# a PNG by its first bytes alone
head -c 60 "$left/im0.png" >"$right/im0.png"
refused "im0.png" sh "$pipelines/folder.sh" "$left" "$right" "$out"
mkdir "$folder/empty"
refused "holds no PNGs" sh "$pipelines/folder.sh" "$folder/empty" "$right" "$out"
refused "no folder $folder/none" sh "$pipelines/folder.sh" "$folder/none" "$right" "$out"
