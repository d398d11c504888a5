#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# A folder of left and one of right PNGs to a folder of disparities, as KITTI has them: 16-bit PNGs, disparity times
# 256, 0 = no value, under the names of the left views.
#
#   sh pipelines/folder.sh training/image_2 training/image_3 out [stereomatch properties]
#   sh pipelines/folder.sh left right out num-disparities=192 profile=quality
#
# Both folders hold the same names; the two pictures of a pair are of one size, pairs may differ. 16 bits hold 255
# pixels at that scale: larger disparities take disparity-scale=64, for one.
set -eu
# shellcheck source=pipelines/common.sh
. "$(dirname "$0")/common.sh"

# size_of FILE.png: width and height, in its first chunk
size_of () {
  set -- "$1" "$(od -An -v -tx1 -N 24 "$1" | tr -d ' \n')"
  case $2 in
    89504e470d0a1a0a????????49484452????????????????) echo "${2#????????????????????????????????}" ;;
    *) fail "$1 is not a PNG" ;;
  esac
}

# check_pair NAME: the same in both folders
check_pair () {
  [ -f "$right/$1" ] || fail "$right has no $1, which $left has"
  size=$(size_of "$left/$1") && other=$(size_of "$right/$1") || exit 1
  [ "$size" = "$other" ] || fail "$1 is of $((0x${size%????????}))x$((0x${size#????????})) pixels in $left" \
    "and of $((0x${other%????????}))x$((0x${other#????????})) in $right"
}

usage_unless $# -ge 3
left=$1 right=$2 out=$3
shift 3
for folder in "$left" "$right"; do
  [ -d "$folder" ] || fail "there is no folder $folder"
done
check_properties "$@"
need multifilesrc pngdec videoconvert stereomatch pngenc multifilesink

# one pipeline for all: links with numbers in place of names
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
count=0
for picture in "$left"/*.png; do
  [ -f "$picture" ] || fail "$left holds no PNGs"
  name=$(basename "$picture")
  check_pair "$name"
  ln -s "$(cd "$left" && pwd)/$name" "$work/left-$(printf %06d $count).png"
  ln -s "$(cd "$right" && pwd)/$name" "$work/right-$(printf %06d $count).png"
  count=$((count + 1))
done
for picture in "$right"/*.png; do
  name=$(basename "$picture")
  [ -f "$left/$name" ] || fail "$left has no $name, which $right has"
done

mkdir -p "$out"
for view in left right; do
  add multifilesrc "location=$work/$view-%06d.png" "caps=image/png,framerate=1/1" ! pngdec ! videoconvert ! \
    queue max-size-buffers=4 ! "match.sink_$view"
done
add stereomatch name=match qos=false disparity-scale=256 "$@" ! video/x-raw,format=GRAY16_LE ! videoconvert ! \
  video/x-raw,format=GRAY16_BE ! pngenc ! multifilesink "location=$work/out-%06d.png"
(launch)
made=0
for picture in "$left"/*.png; do
  result=$work/out-$(printf %06d $made).png
  [ -s "$result" ] || fail "$(basename "$picture"): nothing came out of this pair, nor of those behind it"
  cp "$result" "$out/$(basename "$picture")"
  made=$((made + 1))
done
echo "$made disparities in $out"
