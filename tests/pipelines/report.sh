#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# What report.sh writes, and what it does not: report.sh BUILD
set -eu
. "$(dirname "$0")/common.sh"
skip_without stereotestsrc stereorectify pngenc
/usr/bin/python3 -c 'import gi' || { echo "SKIP: there is no python3-gi"; exit 77; }

# the name of the user and the home folder are in words, variables, paths and the log
export HOME="$folder/home/annabel" LOGNAME=annabel
mkdir -p "$HOME"
calibration="$HOME/stereo.yml"
printf 'M1: [ %s ]\nD1: []\nM2: [ %s ]\nD2: []\nR: [ 1, 0, 0, 0, 1, 0, 0, 0, 1 ]\nT: [ -120, 0, 0 ]\n' \
  "144, 0, 80, 0, 144, 60, 0, 0, 1" "144, 0, 80, 0, 144, 60, 0, 0, 1" >"$calibration"
export TEST_SOURCE="$scene name=annabel"
# make FRAMES NAME CAMERA...: asks nobody
make () {
  FRAMES=$1 name=$2
  export FRAMES
  shift 2
  quietly sh "$pipelines/report.sh" "$folder/$name" "$@" num-disparities=$disparities method=bm </dev/null
  [ "$(cd "$folder/$name" && echo *)" = "$there" ] || { ls "$folder/$name"; bad "not $there"; }
  ! grep -r -I -i annabel "$folder/$name" || bad "the user's name is in $name"
  ! grep -r -I -w -F -e "$(uname -n)" "$folder/$name" || bad "the machine's name is in $name"
}
there="log.txt pipeline.dot report.txt"
make "" silent test
grep -q "No frames were written" "$folder/output" || bad "nothing says that frames were left out"
CALIBRATION=$calibration make no rectified test
there="calibration-0.yml left.png log.txt pipeline.dot report.txt right.png"
CALIBRATION=$calibration make yes pair test test
cmp "$calibration" "$folder/pair/calibration-0.yml" || bad "another calibration"
for view in left right; do
  quietly gst-launch-1.0 -q filesrc "location=$folder/pair/$view.png" ! pngdec ! "video/x-raw,width=$width,height=$height" ! fakesink
done
for words in '^settings:$' '"num-disparities": 24' '^stats:$' '"pairs": 5' '^messages:$' '^GStreamer 1' 'libgststereovision.so' \
  'CALIBRATION=~/stereo.yml' 'calibration=~/stereo.yml'; do
  grep -q -e "$words" "$folder/pair/report.txt" || bad "report.txt has no $words"
done
grep -q "on cpu: backend=" "$folder/pair/log.txt" || bad "log.txt does not say why this backend"
grep -q stereomatch "$folder/pair/pipeline.dot" || bad "no graph"

# a pipeline that fails is what is reported
there="log.txt pipeline.dot report.txt"
make no failing test output=depth packing=frame-by-frame
grep -q "^ERROR: match: " "$folder/failing/report.txt" || bad "the error is not reported"
refused "is there already" sh "$pipelines/report.sh" "$folder/pair" test
