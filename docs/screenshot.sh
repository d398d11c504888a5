#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Makes the picture of tuning.md: the window of pipelines/tune.sh with a synthetic scene, on a screen that nobody sees.
#
#   sh docs/screenshot.sh [BUILD [FILE]]          default: build docs/pictures/tune.jpg
#
# Ends with 77 where Xvfb or an element that it needs is not there.
set -eu

cd "$(dirname "$0")/.."
STEREO_BUILD=$(cd "${1:-build}" && pwd) out=${2:-docs/pictures/tune.jpg}
export STEREO_BUILD
command -v Xvfb >/dev/null || { echo "there is no Xvfb" >&2; exit 77; }
for element in ximagesrc jpegenc videoconvert; do
  gst-inspect-1.0 --atleast-version=0.0 --exists $element || { echo "there is no element $element" >&2; exit 77; }
done
work=$(mktemp -d)
clean_up () {
  # shellcheck disable=SC2046
  kill $(cat "$work"/*.pid) 2>/dev/null || true
  rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 1' HUP INT TERM

mkfifo "$work/display"
Xvfb -displayfd 9 -screen 0 1240x720x24 -nolisten tcp 9>"$work/display" >"$work/xvfb.log" 2>&1 &
echo $! >"$work/xvfb.pid"
read -r number <"$work/display"
export DISPLAY=":$number" GDK_BACKEND=x11 GSK_RENDERER=cairo XDG_DATA_HOME="$work"
unset WAYLAND_DISPLAY
RATE=10 SIZE=480x360 TEST_SOURCE="max-disparity=48" sh pipelines/tune.sh test num-disparities=64 >"$work/tune.log" 2>&1 &
echo $! >"$work/tune.pid"
# the window and some seconds of the stream, so that the line of figures is there
sleep "${SECONDS_TO_WAIT:-9}"
kill -0 "$(cat "$work/tune.pid")" 2>/dev/null || { cat "$work/tune.log" >&2; exit 1; }
gst-launch-1.0 -q ximagesrc display-name="$DISPLAY" show-pointer=false num-buffers=1 ! videoconvert ! \
  jpegenc quality=70 ! filesink "location=$out"
[ -s "$out" ]
