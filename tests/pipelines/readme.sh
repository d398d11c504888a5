#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# What README.md tells a user to type, as it stands there: readme.sh BUILD live|files|programs|browser
set -eu
. "$(dirname "$0")/common.sh"
readme=$(cd "$(dirname "$0")/../.." && pwd)/README.md

# block LANGUAGE: the code of README.md in that language, what is continued joined
block () {
  awk -v begin="\`\`\`$1" '/^```/ { inside = $0 == begin; next } inside' "$readme"
}

# line WORDS: the one line of README.md's commands that has WORDS
line () {
  block sh | sed 's/ *  # .*//' | grep -e "$1" >"$folder/line" || bad "README.md has no command with $1"
  [ "$(wc -l <"$folder/line")" = 1 ] || bad "README.md has more than one command with $1"
  cat "$folder/line"
}

# type_in WORDS [PREFIX]: runs the line that has WORDS, in $folder/here
type_in () {
  line "$1" >"$folder/command"
  (cd "$folder/here" && sh "$folder/command") >"$folder/printed" 2>"$folder/output" ||
    { cat "$folder/output"; bad "$(cat "$folder/command")"; }
}

# matrix NAME ROWS COLUMNS NUMBERS: for OpenCV; camera_info NAME ROWS COLUMNS NUMBERS: for ROS
matrix () {
  printf '%s: !!opencv-matrix\n   rows: %d\n   cols: %d\n   dt: d\n   data: [ %s ]\n' "$@"
}
camera_info () {
  printf '%s:\n  rows: %d\n  cols: %d\n  data: [%s]\n' "$@"
}

# make_calibrations WIDTH HEIGHT: stereo.yml, left.yaml and right.yaml of the synthetic scene, whose views are rectified
make_calibrations () {
  focal=$(($1 * 9 / 10)) none="0., 0., 0., 0., 0." one="1., 0., 0., 0., 1., 0., 0., 0., 1."
  camera="$focal., 0., $(($1 / 2))., 0., $focal., $(($2 / 2))., 0., 0., 1."
  {
    printf '%%YAML:1.0\n---\nimage_width: %d\nimage_height: %d\n' "$1" "$2"
    for number in 1 2; do
      matrix M$number 3 3 "$camera"
      matrix D$number 1 5 "$none"
    done
    matrix R 3 3 "$one"
    matrix T 3 1 "-120., 0., 0."
  } >stereo.yml
  for view in left right; do
    [ $view = right ] && shift_by=-$((focal * 12 / 100)) || shift_by=0
    {
      printf 'image_width: %d\nimage_height: %d\ncamera_name: %s\ndistortion_model: plumb_bob\n' "$1" "$2" $view
      camera_info camera_matrix 3 3 "$camera"
      camera_info distortion_coefficients 1 5 "$none"
      camera_info rectification_matrix 3 3 "$one"
      camera_info projection_matrix 3 4 "$focal., 0., $(($1 / 2))., $shift_by., 0., $focal., $(($2 / 2))., 0., 0., 0., 1., 0."
    } >$view.yaml
  done
}

# make_movies RATE: left.mp4 and right.mp4
make_movies () {
  mkdir "$folder/here"
  ln -s "$pipelines" "$folder/here/pipelines"
  for view in left right; do
    crop=right
    [ $view = left ] || crop=left
    quietly gst-launch-1.0 -q stereotestsrc num-buffers=$frames "seed=$seed" ! \
      "video/x-raw,width=640,height=180,framerate=$1/1" ! videocrop $crop=320 ! capssetter \
      caps="video/x-raw,multiview-mode=$view" ! videoconvert ! x264enc ! mp4mux ! filesink "location=$folder/here/$view.mp4"
  done
}

case $2 in
  live)
    skip_without stereotestsrc stereorectify depthoverlay jpegenc videocrop capssetter
    /usr/bin/python3 -c 'import gi' || { echo "SKIP: there is no python3-gi"; exit 77; }
    mkdir "$folder/here"
    cd "$folder/here"
    ln -s "$pipelines" pipelines
    port=$((20000 + ($$ + seed) % 20000))
    # the cameras are the synthetic scene here, and it ends
    block sh | grep '^[^#]*/\(overlay\|web\)\.sh .*\(test\|/dev/video\)' |
      sed "s/ *# .*//; s,/dev/video[0-9],test,g; s/web.sh 8080/web.sh $port/" >lines
    [ "$(wc -l <lines)" = 5 ] || bad "five commands are looked for: $(cat lines)"
    export SINK=fakesink TEST_SOURCE="is-live=false num-buffers=3 seed=$seed"
    while read -r command; do
      echo "$command"
      case $command in
        *SIZE=1280x720*) make_calibrations 1280 720 ;;
        *) make_calibrations $width $height ;;
      esac
      quietly sh -c "$command" </dev/null
      ! grep -i 'warn.*\(calibration\|size\)' "$folder/output" || bad "$command"
    done <lines
    ;;
  files)
    skip_without stereotestsrc depthoverlay stereopoints x264enc avdec_h264 mp4mux qtdemux videocrop capssetter pngenc
    skip_without_typelib "$1"
    frames=4
    make_movies 30
    cd "$folder/here"
    type_in "overlay.sh --out"
    for film in left depth; do
      quietly gst-launch-1.0 -q filesrc location=$film.mp4 ! qtdemux ! avdec_h264 ! videoconvert ! \
        video/x-raw,format=RGB,width=320,height=180 ! multifilesink location=$film-%d.raw
      counted $frames $film-*.raw
    done
    # other colours than those of the left view
    samples 1 left-0.raw >left.txt
    samples 1 depth-0.raw | paste - left.txt | awk '{ off = $1 - $2; n += off > 20 || off < -20 } END { exit !(n > NR / 4) }' ||
      bad "there is no depth in depth.mp4"
    type_in "record.sh depth/"
    counted $frames depth/*.png
    quietly gst-launch-1.0 -q filesrc location=depth/000001.png ! pngdec ! video/x-raw,format=GRAY16_BE ! videoconvert ! \
      video/x-raw,format=GRAY16_LE ! filesink location=depth.raw
    # f B = 84000 px mm, and disparities of the scene up to 32: from 2625 mm on
    samples 2 depth.raw | awk '$1 { n++; near += $1 < 2500 } END { exit !(n > NR / 2 && near < n / 20) }' ||
      bad "the PNGs are not depth in millimetres"
    type_in "record.sh points.ply"
    points=$(sed -n '/^end_header/q; s/^element vertex //p' points.ply)
    header=$(sed '/^end_header/q' points.ply | wc -c)
    [ "$points" -gt $((320 * 180 / 2)) ] && [ "$(wc -c <points.ply)" = $((header + 12 * points)) ] ||
      bad "points.ply has $points points in $(wc -c <points.ply) bytes"
    type_in "truck.sh --json"
    /usr/bin/python3 -c 'import json, sys
seen = [json.loads(line) for line in open(sys.argv[1])]
assert any(m["message"] == "stereo-nearest" for m in seen), seen' "$folder/printed" || bad "that is no JSON"
    # what overlay.sh does not write
    both="left.mp4 right.mp4"
    for name in depth.png depth depth.avi; do
      # shellcheck disable=SC2086
      refused "ends in .mp4, .mov, .mkv or .webm" sh pipelines/overlay.sh --out $name $both
      [ "$name" = depth ] || [ ! -e $name ] || bad "$name was written"
    done
    # shellcheck disable=SC2086
    refused "one of the movies" sh pipelines/overlay.sh --out left.mp4 $both
    # shellcheck disable=SC2086
    refused "no folder none" sh pipelines/overlay.sh --out none/a.mp4 $both
    # shellcheck disable=SC2086
    refused "leave one out" env SINK=fakesink sh pipelines/overlay.sh --out a.mp4 $both
    # shellcheck disable=SC2086
    refused "ends in .mkv, .ply or .pcd" sh pipelines/record.sh depth.png $both
    for name in mov mkv webm; do
      # shellcheck disable=SC2086
      quietly sh pipelines/overlay.sh --out "a film.$name" $both method=bm
      quietly gst-launch-1.0 -q filesrc "location=a film.$name" ! decodebin ! videoconvert ! \
        video/x-raw,format=GRAY8 ! multifilesink "location=$name-%d.raw"
      counted $frames $name-*.raw
    done
    ;;
  programs)
    skip_without stereotestsrc appsink
    export GI_TYPELIB_PATH="$1/gst" PKG_CONFIG_PATH="$1/meson-uninstalled"
    [ -f "$1/gst/GstStereo-1.0.typelib" ] && /usr/bin/python3 -c 'import gi, numpy' 2>/dev/null || exit 77
    mkdir "$folder/here"
    cd "$folder/here"
    block python >depth.py
    [ "$(wc -l <depth.py)" -le 15 ] || bad "the example of Python is long"
    quietly /usr/bin/python3 depth.py
    [ "$(grep -c '^[0-9]* mm: the nearest point$' "$folder/output")" = 10 ] || { cat "$folder/output"; bad "depth.py"; }
    block c >depth.c
    line "^cc depth.c" >command
    quietly sh command
    quietly ./depth
    [ "$(grep -c '^[0-9.]* % of the pixels' "$folder/output")" = 10 ] || { cat "$folder/output"; bad "depth.c"; }
    readme=$pipelines/README.md
    block python >meta.py
    quietly /usr/bin/python3 meta.py
    [ "$(grep -c '^[0-9.]* % of [0-9]*x[0-9]* pixels .* [0-9][0-9]* mm away; healthy$' "$folder/output")" = 10 ] ||
      { cat "$folder/output"; bad "meta.py"; }
    ;;
  browser)
    skip_without stereotestsrc depthoverlay jpegenc x264enc avdec_h264 mp4mux qtdemux videocrop capssetter
    frames=600
    make_movies 30
    port=$((20000 + ($$ + seed) % 20000))
    line "web.sh 8080 left.mp4" | sed "s/8080/$port/" >"$folder/command"
    # its words, so that this process becomes it
    # shellcheck disable=SC2046
    (cd "$folder/here" && exec $(cat "$folder/command")) >"$folder/output" 2>&1 &
    running=$!
    wait_until grep -q "^http://127.0.0.1:$port/" "$folder/output"
    wait_until /usr/bin/python3 -c 'import sys, urllib.request
assert urllib.request.urlopen(sys.argv[1] + "picture.jpg").read()[:2] == b"\xff\xd8"' "http://127.0.0.1:$port/"
    ;;
esac
