# SPDX-License-Identifier: LGPL-2.1-or-later
# Sourced by the tests of the scripts, with the build as $1: a synthetic scene in place of cameras, and what came out of it.

pipelines=$(cd "$(dirname "$0")/../../pipelines" && pwd)
export STEREO_BUILD="$1" GST_PLUGIN_PATH="$1/gst" LD_LIBRARY_PATH="$1/gst"
# even widths by 4: rows without padding
width=160 height=120
export SIZE=${width}x$height
# every frame, as fast as they are computed
seed=$(od -An -N2 -tu2 /dev/urandom | tr -d ' ')
echo "seed=$seed"
scene="is-live=false num-buffers=5 seed=$seed"
export TEST_SOURCE="$scene"
unset CALIBRATION RECTIFY OVERLAY JPEG RATE ENCODER ADDRESS WARN SINK
disparities=24                  # a tenth of the width is the scene's own

folder=$(mktemp -d)
running=
clean_up () {
  for process in $running; do
    kill "$process" 2>/dev/null || true
  done
  rm -rf "$folder"
}
trap clean_up EXIT

bad () {
  echo "FAILED: $*" >&2
  exit 1
}

# skip_without ELEMENT...
skip_without () {
  for element in "$@"; do
    gst-inspect-1.0 --atleast-version=0.0 --exists "$element" || { echo "SKIP: there is no element $element"; exit 77; }
  done
}

# skip_without_typelib BUILD: what truck.py needs
skip_without_typelib () {
  [ -f "$1/gst/GstStereo-1.0.typelib" ] || { echo "SKIP: the typelib was not built"; exit 77; }
  /usr/bin/python3 -c 'import gi; gi.require_version("GstVideo", "1.0"); from gi.repository import GstVideo' || {
    echo "SKIP: there is no python3-gi with gir1.2-gst-plugins-base-1.0"
    exit 77
  }
}

# quietly COMMAND...: its words only when it fails
quietly () {
  "$@" >"$folder/output" 2>&1 || { cat "$folder/output"; bad "$*"; }
}

# refused WORDS COMMAND...: fails, and says WORDS. gst-launch-1.0 (1.22 to 1.26) may say an error of the first
# moment and then wait for ever, with any element, until Ctrl-C ends it: here the error ends it. The program timeout
# passes a signal on to all that a script has started.
refused () {
  expected=$1
  shift
  # what the last one said must not count, however late this one starts
  : >"$folder/output"
  timeout 600 "$@" >"$folder/output" 2>&1 &
  refusing=$!
  wait_until has_refused "$refusing"
  kill "$refusing" 2>/dev/null || true
  status=0
  wait "$refusing" 2>/dev/null || status=$?
  [ $status -ne 0 ] || bad "went through, and should have been refused with '$expected': $*"
  grep -q -e "$expected" "$folder/output" || { cat "$folder/output"; bad "'$expected' was not said by: $*"; }
}

has_refused () {
  ! kill -0 "$1" 2>/dev/null || grep -q "^ERROR: from element" "$folder/output"
}

# into NAME FORMAT: what takes the place of the screen
into () {
  SINK="capsfilter caps=video/x-raw,format=$2 ! multifilesink location=$folder/$1-%06d.raw"
}

# counted N FILE...: so many files, none of them empty
counted () {
  wanted=$1
  shift
  [ $# -eq "$wanted" ] || bad "$# files where $wanted should be: $*"
  for file in "$@"; do
    [ -s "$file" ] || bad "$file is empty or missing"
  done
}

# samples BYTES FILE: one a line
samples () {
  od -An -v --endian=little "-tu$1" "-w$1" "$2"
}

# near_truth BYTES FILE OFFSET SCALE TRUTH: disparity is (sample - OFFSET) / SCALE, 0 invalid; the truth's scale is 64
near_truth () {
  samples "$1" "$2" >"$folder/ours"
  samples 2 "$5" >"$folder/true"
  [ "$(wc -l <"$folder/ours")" = "$(wc -l <"$folder/true")" ] || bad "$2 and $5 are not of one size"
  paste "$folder/ours" "$folder/true" | awk -v offset="$3" -v scale="$4" -v name="$(basename "$2")" '
    $1 > 0 { valid++; off = ($1 - offset) / scale - $2 / 64; if (off > -1 && off < 1) good++ }
    END { printf "%s: %.1f %% valid, of these %.1f %% within 1 px\n", name, 100 * valid / NR, 100 * good / valid
      exit !(valid > 0.75 * NR && good > 0.93 * valid) }' || bad "$2 is too far from the truth"
}

# make_truth NAME WIDTH HEIGHT: $folder/NAME-000000.raw and on, of $TEST_SOURCE
make_truth () {
  # shellcheck disable=SC2086
  quietly gst-launch-1.0 -q stereotestsrc $TEST_SOURCE ! "video/x-raw,width=$((2 * $2)),height=$3" ! \
    stereomatch method=bm num-disparities=8 ! stereoconfidence show=truth ! multifilesink "location=$folder/$1-%06d.raw"
}

# wait_until COMMAND...: comes true; only a hang takes ten minutes, however busy the machine is
wait_until () {
  tries=6000
  until "$@" 2>/dev/null; do
    tries=$((tries - 1))
    [ $tries -gt 0 ] || bad "did not come true: $*"
    sleep 0.1
  done
}
