#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# tune.sh and its window, on a screen that nobody sees: tune.sh BUILD
set -eu
. "$(dirname "$0")/common.sh"
skip_without stereotestsrc depthoverlay appsink
if ! command -v Xvfb >/dev/null || ! /usr/bin/python3 -c 'import gi
gi.require_version ("Gtk", "4.0"); gi.require_version ("GstVideo", "1.0")'; then
  echo "SKIP: there is no Xvfb, or no python3-gi with gir1.2-gtk-4.0 and gir1.2-gst-plugins-base-1.0"
  exit 77
fi
unset WAYLAND_DISPLAY
refused "there is no screen: set DISPLAY" env -u DISPLAY GDK_BACKEND=x11 sh "$pipelines/tune.sh" test

mkfifo "$folder/display"
Xvfb -displayfd 9 -screen 0 1280x800x24 -nolisten tcp 9>"$folder/display" >"$folder/xvfb" 2>&1 &
running=$!
read -r number <"$folder/display"
export DISPLAY=":$number" GDK_BACKEND=x11 GSK_RENDERER=cairo XDG_DATA_HOME="$folder" PYTHONDONTWRITEBYTECODE=1
TEST_SOURCE="seed=$seed"
refused "no preset none.*there are: none yet" sh "$pipelines/tune.sh" --preset none test
refused "no such element\|no element \"nothing\"" /usr/bin/python3 "$pipelines/tune.py" nothing
refused "name=match and an appsink with name=screen" /usr/bin/python3 "$pipelines/tune.py" fakesrc ! fakesink
refused "no camera /dev/video-none" sh "$pipelines/tune.sh" /dev/video-none
/usr/bin/python3 "$(dirname "$0")/test_tune.py"

# interrupted PROCESS: Ctrl-C, again until it has ended; before the program listens to it, it does nothing
interrupted () {
  ! kill -INT "$1" 2>/dev/null
}

# as a user has it: the window, and Ctrl-C, which it must not meet in the moment before its shell ignores it
trap '' INT
sh "$pipelines/tune.sh" --preset found-here test num-disparities=$disparities >"$folder/output" 2>&1 &
window=$!
wait_until interrupted $window
wait $window || { cat "$folder/output"; bad "Ctrl-C is not an error"; }
