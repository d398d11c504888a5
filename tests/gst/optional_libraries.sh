#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Where Pango or libyaml cannot be loaded, the elements that do not need them still load and run. Files without contents stand
# before the real libraries: the loader refuses them, as it refuses a library that is not there.
set -eu

top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
fail() { echo "FAIL: $1" >&2; [ ! -f "$top/output" ] || cat "$top/output" >&2; exit 1; }

for library in libyaml-0.so.2 libpango-1.0.so.0 libpangocairo-1.0.so.0; do
  : >"$top/$library"
done
export LD_LIBRARY_PATH="$top:$LD_LIBRARY_PATH" GST_REGISTRY="$top/registry.bin"

{
  echo '<opencv_storage>'
  for n in 1 2; do echo "<M$n>40 0 23 0 40 15 0 0 1</M$n><D$n>0 0 0 0</D$n>"; done
  echo '<R>1 0 0 0 1 0 0 0 1</R><T>-200 0 0</T></opencv_storage>'
} >"$top/stereo.xml"
printf '%%YAML:1.0\n---\nM1: 1\n' >"$top/stereo.yml"
# what element, with what properties, has to say
plays() {
  gst-launch-1.0 -q stereotestsrc num-buffers=1 ! video/x-raw,width=96,height=32 ! "$@" ! fakesink >"$top/output" 2>&1
}
plays stereomatch backend=cpu num-disparities=16 ! stereoconfidence || fail "stereomatch or stereoconfidence does not run"
plays stereorectify backend=cpu "calibration=$top/stereo.xml" || fail "stereorectify does not read XML"
if plays stereorectify "calibration=$top/stereo.yml"; then fail "a YAML file was read without libyaml"; fi
grep -q 'install libyaml' "$top/output" || fail "it is not said that libyaml is missing"
# else this shows nothing: the element that needs Pango must be the one that is missing
if gst-inspect-1.0 depthoverlay >"$top/output" 2>&1; then fail "depthoverlay loads, so that Pango was not hidden"; fi
