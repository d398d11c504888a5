#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# A folder of left and one of right pictures to a folder of disparities, as KITTI has them: 16-bit PNGs, disparity times
# 256, 0 = no value, under the names of the left views.
#
#   sh pipelines/folder.sh training/image_2 training/image_3 out [stereomatch properties]
#   sh pipelines/folder.sh left right out num-disparities=192 profile=quality
#
# Both folders hold the same names; the two pictures of a pair are of one size, pairs may differ. PNGs and JPEGs are read
# as they are, other pictures that GStreamer decodes are made PNGs first. 16 bits hold 255 pixels at that scale: larger
# disparities take disparity-scale=64, for one.
#
# Each disparity is written when it is done, and Ctrl-C keeps those. Started again, folder.sh goes on with the pairs that
# have none, or an older one than their pictures; out.txt has the properties, which must be the same.
set -eu
# shellcheck source=pipelines/common.sh
. "$(dirname "$0")/common.sh"

# kind_of FILE: png, jpeg or other
kind_of () {
  case $(od -An -v -tx1 -N 8 "$1" | tr -d ' \n') in
    89504e470d0a1a0a) echo png ;;
    ffd8ff*) echo jpeg ;;
    *) echo other ;;
  esac
}

# size_of FILE.png: width and height, in its first chunk
size_of () {
  set -- "$1" "$(od -An -v -tx1 -N 24 "$1" | tr -d ' \n')"
  case $2 in
    89504e470d0a1a0a????????49484452????????????????) echo "${2#????????????????????????????????}" ;;
    *) fail "$1 is not a PNG" ;;
  esac
}

# check_sizes NAME: of a pair of PNGs; of others, stereomatch says it
check_sizes () {
  size=$(size_of "$left/$1") && other=$(size_of "$right/$1") || exit 1
  [ "$size" = "$other" ] || fail "$1 is of $((0x${size%????????}))x$((0x${size#????????})) pixels in $left" \
    "and of $((0x${other%????????}))x$((0x${other#????????})) in $right"
}

is_picture () {
  case $1 in
    *.png | *.jpg | *.jpeg | *.bmp | *.tif | *.tiff | *.webp | *.ppm | *.pgm | *.pnm) return 0 ;;
    *.PNG | *.JPG | *.JPEG | *.BMP | *.TIF | *.TIFF | *.WEBP | *.PPM | *.PGM | *.PNM) return 0 ;;
  esac
  return 1
}

# result_of NAME: always a PNG
result_of () {
  printf '%s\n' "$out/${1%.*}.png"
}

is_done () {
  result=$(result_of "$1")
  # POSIX has -nt since 2024, dash and others since ever
  # shellcheck disable=SC3013
  [ -s "$result" ] && [ "$result" -nt "$left/$1" ] && [ "$result" -nt "$right/$1" ]
}

# check_names: the same in both folders, and no two for one result
check_names () {
  set +f
  for picture in "$left"/*; do
    set -f
    name=$(basename "$picture")
    is_picture "$name" || continue
    [ -f "$right/$name" ] || fail "$right has no $name, which $left has"
    printf '%s\n' "$name"
  done >"$work/names"
  [ -s "$work/names" ] || fail "$left holds no PNGs or other pictures"
  set +f
  for picture in "$right"/*; do
    set -f
    name=$(basename "$picture")
    ! is_picture "$name" || [ -f "$left/$name" ] || fail "$left has no $name, which $right has"
  done
  twice=$(sed 's/\.[^.]*$//' "$work/names" | sort | uniq -d | head -n 1)
  [ -z "$twice" ] || fail "$left holds two pictures of the name $twice, which would both become $(result_of "$twice.png")"
}

# check_settings: results of other properties are not mixed with these
check_settings () {
  settings="stereomatch $*"
  if [ -f "$out.txt" ] && [ "$(cat "$out.txt")" != "$settings" ] && [ -n "$(ls -A "$out" 2>/dev/null)" ]; then
    fail "$out holds results of \"$(cat "$out.txt")\", and now it is \"$settings\": name another folder, or delete that one"
  fi
  mkdir -p "$out"
  printf '%s\n' "$settings" >"$out.txt"
}

# choose_pairs: those that are to be done; the kind of all their pictures goes to $kind
choose_pairs () {
  kind=
  : >"$work/todo"
  while IFS= read -r name; do
    ! is_done "$name" || continue
    printf '%s\n' "$name" >>"$work/todo"
    for view in "$left" "$right"; do
      this=$(kind_of "$view/$name")
      [ "$this" != other ] || [ "${name##*.}" != png ] || fail "$view/$name is not a PNG"
      [ "${kind:-$this}" = "$this" ] || this=other
      kind=$this
    done
    [ "$kind" != png ] || check_sizes "$name" || exit 1
  done <"$work/names"
}

# place VIEW FOLDER: $work/VIEW-000000 and on, links to the pictures or, where they are of several kinds, PNGs of them
place () {
  number=0
  [ "$kind" != other ] || echo "decoding the pictures of $2"
  while IFS= read -r name; do
    picture="$(cd "$2" && pwd)/$name" at=$work/$1-$(printf %06d $number)
    if [ "$kind" != other ] || is_png "$picture"; then
      ln -s "$picture" "$at"
    else
      finish "$work/said" filesrc "location=$picture" ! decodebin ! videoconvert ! \
        pngenc snapshot=true ! filesink "location=$at" || true
      [ -s "$at" ] || { errors_of "$work/said" >&2; fail "$picture cannot be decoded: gstreamer1.0-libav knows more formats"; }
    fi
    number=$((number + 1))
  done <"$work/todo"
}

# add_results: what the pipeline made so far takes its name. $made of $total are there. Ctrl-C meets sed and mv, too: what
# it ended is done again by the next call.
add_results () {
  while :; do
    # a name appears when its picture is whole
    if [ -s "$work/out-$(printf %06d $made).png" ]; then
      mv "$work/out-$(printf %06d $made).png" "$out/.part" || return 0
    elif [ ! -f "$out/.part" ]; then
      return 0
    fi
    name=$(sed -n "$((made + 1))p" "$work/todo") || return 0
    mv "$out/.part" "$(result_of "$name")" || return 0
    made=$((made + 1))
    printf '%s/%s %s\n' $((before + made)) "$all" "$name"
  done
}

usage_unless $# -ge 3
left=$1 right=$2 out=${3%/}
shift 3
for folder in "$left" "$right"; do
  [ -d "$folder" ] || fail "there is no folder $folder"
done
if is_property "$out"; then
  fail "$out stands where the folder for the results should"
fi
check_properties "$@"
need multifilesrc pngdec jpegdec decodebin videoconvert stereomatch pngenc multifilesink

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
check_names
choose_pairs
check_settings "$@"
all=$(($(wc -l <"$work/names"))) total=$(($(wc -l <"$work/todo")))
before=$((all - total)) made=0
if [ $total = 0 ]; then
  echo "$all disparities in $out: all were there"
  exit 0
fi
[ $before = 0 ] || echo "$before of $all disparities are in $out already"
mime=image/png decoder=pngdec
[ "$kind" != jpeg ] || mime=image/jpeg decoder=jpegdec
for view in left right; do
  if [ $view = left ]; then place left "$left"; else place right "$right"; fi
  # one pipeline for all: links with numbers in place of names
  add multifilesrc "location=$work/$view-%06d" "caps=$mime,framerate=1/1" ! $decoder ! videoconvert ! \
    queue max-size-buffers=4 ! "match.sink_$view"
done
add stereomatch name=match qos=false temporal=0 disparity-scale=256 "$@" ! \
  video/x-raw,format=GRAY16_BE ! pngenc ! multifilesink "location=$work/out-%06d.png"

rm -f "$out/.part"
(launch) 2>"$work/said" &
child=$!
# not in the midst of add_results, which would lose count
stopped=
trap 'stopped=yes' INT TERM
while [ -z "$stopped" ] && kill -0 $child 2>/dev/null; do
  add_results
  sleep 0.2 || true
done
if [ -n "$stopped" ]; then
  kill $child 2>/dev/null || true
  wait $child 2>/dev/null || true
  add_results
  echo "stopped: $((before + made)) of $all disparities are in $out, and the same command goes on from there" >&2
  exit 130
fi
status=0
wait $child || status=$?
cat "$work/said" >&2
add_results
if [ $made -lt $total ]; then
  name=$(sed -n "$((made + 1))p" "$work/todo")
  fail "$name: nothing came out of this pair, nor of those behind it: $((before + made)) of $all are in $out." \
    "Without it, the same command goes on from there"
fi
[ $status = 0 ] || exit $status
echo "$all disparities in $out"
