#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Makes the pictures of choosing.md, obstacles.md and troubleshooting.md from stereotestsrc; no other data is read.
#
#   sh docs/pictures.sh [BUILD [FOLDER]]          default: build docs/pictures
#
# For every panel it prints how many pixels hold a value. Ends with 77 where an element that it needs is not there.
# Strings without quotes below are lists of words.
# shellcheck disable=SC2086
set -eu

cd "$(dirname "$0")/.."
build=$(cd "${1:-build}" && pwd) out=${2:-docs/pictures}
export GST_PLUGIN_PATH="$build/gst${GST_PLUGIN_PATH:+:$GST_PLUGIN_PATH}"
for element in stereotestsrc stereomatch stereoground depthoverlay capssetter compositor jpegenc pngdec pngenc \
  videobox videoconvert videocrop; do
  gst-inspect-1.0 --atleast-version=0.0 --exists $element || { echo "there is no element $element" >&2; exit 77; }
done
python=/usr/bin/python3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
mkdir -p "$out"

width=256 height=192 gap=6
source="stereotestsrc max-disparity=32"
caps="video/x-raw,format=RGB,width=$((2 * width)),height=$height,framerate=30/1,multiview-mode=side-by-side"
half="capssetter caps=video/x-raw,multiview-mode=mono"
# half pixels: fewer colours make a smaller file
match="stereomatch name=match backend=cpu num-disparities=40 disparity-scale=2"

# panel NAME WORD...: a pipeline up to stereomatch; its first disparity: far blue, near red, black without a value
panel () {
  name=$1
  shift
  printf '%-24s' "$name"
  $python pipelines/pair.py "$@" ! color.sink_depth depthoverlay name=color min-confidence=0 text=false legend=false ! \
    videoconvert ! video/x-raw,format=RGB ! pngenc snapshot=true ! filesink "location=$work/$name.png"
}

# pair NAME FIRST SECOND WORD...: the views one by one, being what comes behind each source; then stereomatch
pair () {
  name=$1 first=$2 second=$3
  shift 3
  panel "$name" $source $first ! match.sink_left $source $second ! match.sink_right "$@"
}

# strip PICTURE PANEL...: side by side
strip () {
  picture=$1 x=0 pads='' inputs=''
  shift
  for name in "$@"; do
    number=$((x / (width + gap)))
    pads="$pads sink_$number::xpos=$x"
    inputs="$inputs filesrc location=$work/$name.png ! pngdec ! videoconvert ! video/x-raw,format=RGB ! c.sink_$number"
    x=$((x + width + gap))
  done
  gst-launch-1.0 -q compositor name=c background=white $pads ! \
    "video/x-raw,format=RGB,width=$((x - gap)),height=$height" ! \
    pngenc compression-level=9 ! filesink "location=$out/$picture.png" $inputs
}

left="! $caps ! videocrop right=$width ! $half"
right="! $caps ! videocrop left=$width ! $half"
gst-launch-1.0 -q $source num-buffers=1 $left ! videoconvert ! video/x-raw,format=GRAY8 ! pngenc ! \
  filesink "location=$work/left.png"

# the range
for number in 12 40 160; do
  panel range-$number $source ! "$caps" ! $match num-disparities=$number
done
strip range left range-12 range-40 range-160

# window, in a dim picture
for number in 5 9 33; do
  panel asw-$number $source noise=12 ! "$caps" ! $match paths=none window=$number
done
panel bm-9 $source noise=12 ! "$caps" ! $match method=bm window=9
strip window asw-5 asw-9 asw-33 bm-9

# profiles
for word in balanced road thesis; do
  panel $word $source noise=12 ! "$caps" ! $match profile=$word
done
strip profiles balanced road thesis

# what is not known
for word in none background keep; do
  panel fill-$word $source noise=6 ! "$caps" ! $match fill=$word
done
for number in 0 0.9; do
  panel threshold-$number $source noise=6 ! "$caps" ! $match confidence-threshold=$number
done
strip fill fill-none fill-background fill-keep threshold-0 threshold-0.9

# video: two frames in a row, each matched alone, and averaged over time
for number in 0 0.75; do
  mkdir "$work/film-$number"
  gst-launch-1.0 -q $source noise=12 motion=0 num-buffers=12 ! "$caps" ! \
    stereomatch backend=cpu num-disparities=40 temporal=$number ! overlay.sink_depth \
    depthoverlay name=overlay text=false legend=false ! videoconvert ! video/x-raw,format=RGB ! pngenc ! \
    multifilesink "location=$work/film-$number/%d.png"
done
for frame in 10 11; do
  cp "$work/film-0/$frame.png" "$work/alone-$frame.png"
  cp "$work/film-0.75/$frame.png" "$work/averaged-$frame.png"
done
strip film alone-10 alone-11 averaged-10 averaged-11

# a road: what stands on it, and how far it is free
road="stereotestsrc pattern=road camera-height=1500 camera-pitch=4 obstacle-height=900 obstacle-distance=7000 noise=2"
gst-launch-1.0 -q $road num-buffers=6 ! video/x-raw,width=1280,height=360,framerate=10/1 ! tee name=views ! queue ! \
  stereomatch profile=road confidence-threshold=0.33 num-disparities=64 backend=cpu ! stereoground ! queue ! \
  overlay.sink_depth views. ! queue max-size-bytes=0 ! \
  depthoverlay name=overlay nearest=obstacle near=2000 far=40000 scale=logarithmic ! videoconvert ! \
  jpegenc quality=70 ! multifilesink "location=$work/road-%d.jpg"
cp "$work/road-5.jpg" "$out/obstacles.jpg"

# mistakes
pair right "$left" "$right" $match
pair swapped "$right" "$left" $match
strip swapped left right swapped
for number in 1 2 4; do
  pair rows-$number "$left" "$right ! videobox top=-$number bottom=$number" $match
done
strip unrectified right rows-1 rows-2 rows-4
source="$source motion=4"
# the left views of frame 0 meet the right ones of frame 1 and 3
for number in 1 3; do
  pair late-$number "timestamp-offset=$((number * 1000000000 / 30)) $left" "$right" $match
done
strip unsynchronised right late-1 late-3

# 16 bits shown as 8
depth="stereomatch backend=cpu num-disparities=40"
gst-launch-1.0 -q $source num-buffers=1 ! "$caps" ! $depth output=depth ! \
  videoconvert ! video/x-raw,format=GRAY8 ! pngenc ! filesink "location=$work/depth-as-8.png"
gst-launch-1.0 -q $source num-buffers=1 ! "$caps" ! $depth ! \
  videoconvert ! video/x-raw,format=GRAY8 ! pngenc ! filesink "location=$work/disparity-as-8.png"
gst-launch-1.0 -q $source num-buffers=1 ! "$caps" ! $depth ! video/x-raw,format=GRAY8 ! \
  pngenc ! filesink "location=$work/gray8.png"
strip gray8 depth-as-8 disparity-as-8 gray8
