#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The test of pair.sh: tests/pipelines/pair.sh BUILD. Two equal views: every pixel's disparity is 0.
set -eu

here=$(dirname "$0")/../../pipelines
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for tool in "filesrc" "pngdec" "pngenc" "videoconvert"; do
  gst-inspect-1.0 --exists "$tool" || { echo "SKIP: there is no $tool"; exit 77; }
done
gst-launch-1.0 -q videotestsrc num-buffers=1 pattern=zone-plate kx2=20 ky2=20 ! video/x-raw,format=RGB,width=160,height=90 ! \
  pngenc ! filesink location="$folder/view.png"
sh "$here/pair.sh" "$1" "$folder/view.png" "$folder/view.png" "$folder/out put" num-disparities=16 profile=quality
for picture in disparity disparity-color confidence sheet; do
  [ -s "$folder/out put/$picture.png" ] || { echo "$picture.png was not written"; exit 1; }
done
if sh "$here/pair.sh" "$1" "$folder/view.png" "$folder/view.png" "$folder/no" window=32 2>"$folder/message"; then
  echo "an even window was taken"
  exit 1
fi
grep -q "window=32" "$folder/message"
