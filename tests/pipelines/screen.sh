#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# two-cameras.sh and side-by-side.sh, what all scripts say to wrong words: screen.sh BUILD
set -eu
. "$(dirname "$0")/common.sh"
skip_without stereotestsrc stereoconfidence videocrop capssetter multifilesink

make_truth truth $width $height

# 254 steps over 24 disparities
grey=$(awk "BEGIN { print 254 / ($disparities - 1) }")
for script in "two-cameras.sh test" "side-by-side.sh"; do
  name=${script%.sh*}
  into "$name" GRAY8
  # shellcheck disable=SC2086
  SINK=$SINK quietly sh "$pipelines"/$script test num-disparities=$disparities
  grep -q "gst-launch-1.0 stereotestsrc" "$folder/output" || bad "$script did not say its line"
  counted 5 "$folder/$name"-*.raw
  for frame in 000000 000004; do
    near_truth 1 "$folder/$name-$frame.raw" 1 "$grey" "$folder/truth-$frame.raw"
  done
done

# a movie in place of a camera
quietly gst-launch-1.0 -q stereotestsrc num-buffers=5 "seed=$seed" ! \
  "video/x-raw,width=$((2 * width)),height=$height,format=GRAY8" ! matroskamux ! \
  filesink "location=$folder/both views.mkv"
into movie GRAY8
SINK=$SINK quietly sh "$pipelines/side-by-side.sh" "$folder/both views.mkv" num-disparities=$disparities
counted 5 "$folder"/movie-*.raw
near_truth 1 "$folder/movie-000002.raw" 1 "$grey" "$folder/truth-000002.raw"

refused "no camera /dev/video-none" sh "$pipelines/two-cameras.sh" test /dev/video-none
# a device that is no camera: the lines for cameras are at least put together rightly
for jpeg in "" 1; do
  refused "/dev/null" env JPEG=$jpeg SINK=fakesink sh "$pipelines/two-cameras.sh" /dev/null /dev/null
  grep -q "ERROR: from element .*v4l2src" "$folder/output" || bad "another error than the camera's: $(cat "$folder/output")"
done
refused "there is no file no.mkv" sh "$pipelines/side-by-side.sh" no.mkv
echo "no movie" >"$folder/text.mp4"
refused "text.mp4 cannot be decoded: gstreamer1.0-libav" sh "$pipelines/side-by-side.sh" "$folder/text.mp4"
refused "side-by-side.sh" sh "$pipelines/two-cameras.sh" test num-disparities=24
refused "two-cameras.sh" sh "$pipelines/side-by-side.sh" test test
refused "properties of stereomatch" sh "$pipelines/two-cameras.sh" test test fast
refused "method is one of: asw .* bm" sh "$pipelines/two-cameras.sh" test test method=foo
refused "paths is one of: .*none" sh "$pipelines/two-cameras.sh" test test paths=some
refused "SIZE=640" env SIZE=640 sh "$pipelines/side-by-side.sh" test
refused "there is no element nosuchsink$" env SINK=nosuchsink sh "$pipelines/side-by-side.sh" test
refused "window" env SINK=fakesink sh "$pipelines/side-by-side.sh" test window=32
if sh "$pipelines/two-cameras.sh" 2>"$folder/output"; then
  bad "two-cameras.sh without cameras"
fi
grep -q "two-cameras.sh /dev/video0 /dev/video2" "$folder/output" || bad "no usage"
sh "$pipelines/two-cameras.sh" --help | grep -q "CALIBRATION=stereo.yml" || bad "--help says no usage"
