#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# pair.sh: pictures of every kind, movies, and what is no pair. pair.sh BUILD
set -eu
. "$(dirname "$0")/common.sh"
skip_without stereotestsrc videocrop pngdec pngenc jpegdec jpegenc decodebin videoconvert matroskamux matroskademux

gst-launch-1.0 -q videotestsrc num-buffers=1 pattern=zone-plate kx2=20 ky2=20 ! video/x-raw,format=RGB,width=160,height=90 ! \
  pngenc ! filesink location="$folder/view.png"
# two equal views: every pixel's disparity is 0
sh "$pipelines/pair.sh" "$1" "$folder/view.png" "$folder/view.png" "$folder/out put" num-disparities=16 profile=quality
for picture in disparity disparity-color confidence sheet; do
  [ -s "$folder/out put/$picture.png" ] || bad "$picture.png was not written"
done
# the sheet has legends below the pictures: colours from far to near, grey from 0 to 1, and something written
gst-launch-1.0 -q filesrc "location=$folder/out put/sheet.png" ! pngdec ! videoconvert ! video/x-raw,format=RGB ! \
  filesink location="$folder/sheet.raw"
# sheet X Y: the colour there
sheet () {
  od -An -tu1 -j $((($2 * 496 + $1) * 3)) -N 3 "$folder/sheet.raw" | xargs
}
[ "$(wc -c <"$folder/sheet.raw")" -eq $((496 * 150 * 3)) ] || bad "the sheet is not 496x150"
[ "$(sheet 174 100)" = "38 22 68" ] || bad "the legend of the disparity starts with $(sheet 174 100)"
[ "$(sheet 321 100)" = "140 14 12" ] || bad "the legend of the disparity ends with $(sheet 321 100)"
[ "$(sheet 343 100)" != "$(sheet 480 100)" ] || bad "the legend of the confidence has one grey"
# digits below the bars
for x in 168 336; do
  od -An -v -w480 -tu1 -j $((((90 + 24) * 496 + x) * 3)) -N 480 "$folder/sheet.raw" | grep -q " 0 " ||
    bad "nothing is written below the bar at $x"
done
if sh "$pipelines/pair.sh" "$1" "$folder/view.png" "$folder/view.png" "$folder/no" window=32 2>"$folder/message"; then
  bad "an even window was taken"
fi
grep -q "window=32" "$folder/message"

# JPEGs and movies, named from where the user stands
TEST_SOURCE="num-buffers=3 seed=$seed"
make_truth truth $width $height
cd "$folder"
for view in left right; do
  crop=right
  [ $view = left ] || crop=left
  # shellcheck disable=SC2086
  quietly gst-launch-1.0 -q stereotestsrc $TEST_SOURCE ! "video/x-raw,width=$((2 * width)),height=$height" ! \
    videocrop $crop=$width ! tee name=t t. ! queue ! videoconvert ! matroskamux ! filesink "location=$view movie.mkv" \
    t. ! queue ! videoconvert ! jpegenc quality=98 snapshot=true ! filesink "location=$view.jpg"
done
for kind in "jpg" " movie.mkv"; do
  [ "$kind" != jpg ] || kind=.jpg
  quietly sh "$pipelines/pair.sh" "left$kind" "right$kind" "out$kind" num-disparities=$disparities
  quietly gst-launch-1.0 -q filesrc "location=out$kind/disparity.png" ! pngdec ! videoconvert ! \
    video/x-raw,format=GRAY16_LE ! filesink location=ours.raw
  near_truth 2 ours.raw 0 64 truth-000000.raw
  [ -s "out$kind/sheet.png" ] || bad "sheet.png was not written"
done

refused "one picture" sh "$pipelines/pair.sh" left.jpg
refused "pair.sh .*LEFT RIGHT FOLDER" sh "$pipelines/pair.sh" left.jpg right.jpg
refused "no file none.png" sh "$pipelines/pair.sh" none.png right.jpg out
refused "folder for the results" sh "$pipelines/pair.sh" left.jpg right.jpg num-disparities=16
refused "properties of stereomatch" sh "$pipelines/pair.sh" left.jpg right.jpg out fast
refused "holds no gst/libgststereovision.so" sh "$pipelines/pair.sh" "$folder" left.jpg right.jpg out
echo text >text.png
refused "text.png cannot be decoded" sh "$pipelines/pair.sh" text.png right.jpg out
