#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# pair.sh: pictures of every kind, movies, and what is no pair. pair.sh BUILD
set -eu
. "$(dirname "$0")/common.sh"
skip_without stereotestsrc videocrop pngdec pngenc jpegdec jpegenc decodebin videoconvert matroskamux matroskademux

gst-launch-1.0 -q videotestsrc num-buffers=1 pattern=zone-plate kx2=20 ky2=20 ! video/x-raw,format=RGB,width=160,height=90 ! \
  pngenc ! filesink location="$folder/view.png"
# two equal views: every pixel's disparity is 0
sh "$pipelines/pair.sh" "$1" "$folder/view.png" "$folder/view.png" "$folder/out put" num-disparities=16 fill=gaps
for picture in disparity disparity-color confidence sheet; do
  [ -s "$folder/out put/$picture.png" ] || bad "$picture.png was not written"
done
# raw PICTURE NAME [left=... right=...]: its pixels, without what is cropped
raw () {
  picture=$1 name=$2
  shift 2
  quietly gst-launch-1.0 -q filesrc "location=$picture.png" ! pngdec ! videoconvert ! video/x-raw,format=RGB ! \
    videocrop "$@" ! filesink "location=$folder/$name.raw"
}
cd "$folder/out put"
raw ../view view left=0
raw disparity-color color left=0
raw confidence confidence left=0
raw sheet left right=336
raw sheet middle left=168 right=168
raw sheet right left=336
cd "$folder"
for name in left middle right; do
  [ "$(wc -c <$name.raw)" -eq $((160 * 90 * 3)) ] || bad "the sheet is not 496x90"
done
cmp view.raw left.raw || bad "the sheet does not begin with the left view"
# the far end of the colours, dark blue, and no value, black
od -An -v -w3 -tu1 color.raw | sort -u | awk '$1 + $2 + $3 && !($1 < 60 && $2 < 60 && $3 < 60) { exit 1 }' ||
  bad "the far end has another colour"
cmp confidence.raw right.raw || bad "the sheet does not end with the confidence"
# the legend: bytes that the disparity alone does not have, the near end of the colours among them
written=$(cmp -l color.raw middle.raw | wc -l)
[ "$written" -gt 500 ] && [ "$written" -lt $((160 * 90 * 3 / 2)) ] || bad "the legend has $written bytes"
od -An -v -w3 -tu1 middle.raw | awk '$1 > 130 && $2 < 30 && $3 < 30 { found = 1 } END { exit !found }' ||
  bad "the legend does not have the near end of the colours"
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
