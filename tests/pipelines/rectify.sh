#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The scripts with CALIBRATION: rectify.sh BUILD
set -eu
. "$(dirname "$0")/common.sh"
skip_without stereorectify depthoverlay stereotestsrc stereoconfidence videocrop capssetter multifilesink
make_truth truth $width $height
# cameras without distortion, side by side: what is rectified is what was seen
focal=$((width * 9 / 10))
matrix () {
  printf '%s: !!opencv-matrix\n   rows: %s\n   cols: %s\n   dt: d\n   data: [ %s ]\n' "$@"
}
{
  printf '%%YAML:1.0\n---\nimage_width: %s\nimage_height: %s\n' $width $height
  for camera in 1 2; do
    matrix M$camera 3 3 "$focal., 0., $((width / 2))., 0., $focal., $((height / 2))., 0., 0., 1."
    matrix D$camera 1 5 "0., 0., 0., 0., 0."
  done
  matrix R 3 3 "1., 0., 0., 0., 1., 0., 0., 0., 1."
  matrix T 3 1 "-120., 0., 0."
} >"$folder/stereo rig.yml"
# 254 steps over 24 disparities
grey=$(awk "BEGIN { print 254 / ($disparities - 1) }")
export CALIBRATION="$folder/stereo rig.yml"
for cameras in "test" "test test"; do
  into rectified GRAY8
  # shellcheck disable=SC2086
  SINK=$SINK quietly sh "$pipelines/$(test "$cameras" = test && echo side-by-side.sh || echo two-cameras.sh)" \
    $cameras num-disparities=$disparities
  counted 5 "$folder"/rectified-*.raw
  near_truth 1 "$folder/rectified-000003.raw" 1 "$grey" "$folder/truth-000003.raw"
  rm -f "$folder"/rectified-*
  into overlay GRAY8
  # shellcheck disable=SC2086
  SINK=$SINK OVERLAY="alpha=0 legend=false text=false" quietly sh "$pipelines/overlay.sh" $cameras
  counted 5 "$folder"/overlay-*.raw
  [ "$(wc -c <"$folder/overlay-000004.raw")" = $((width * height)) ] || bad "the overlay is not of the size of one view"
  rm -f "$folder"/overlay-*
done

# distances follow from the calibration: at twice the baseline the same disparity is twice as far. One of another format is
# converted.
camera="[$focal 0 $((width / 2)); 0 $focal $((height / 2)); 0 0 1]"
printf '%s\n' "cam0=$camera" "cam1=$camera" baseline=240 "width=$width" "height=$height" >"$folder/wide calib.txt"
export XDG_CACHE_HOME="$folder/cache"
for file in "$CALIBRATION" "$folder/wide calib.txt"; do
  CALIBRATION=$file SINK=fakesink quietly sh "$pipelines/truck.sh" test num-disparities=$disparities
  sed -n 's/^nearest: \([0-9]*\) mm.*/\1/p' "$folder/output" | head -n 1
done >"$folder/distances"
nearest=$(samples 2 "$folder/truth-000000.raw" | sort -rn | awk -v f=$focal '{ v[NR] = $1 }
  END { print f * 120 / (v[int (NR / 100)] / 64) }')
awk -v is="$nearest" '{ print "nearest", $1, "mm"; if ($1 < 0.95 * is * NR || $1 > 1.05 * is * NR) off++ }
  END { exit !(NR == 2 && !off) }' "$folder/distances" || bad "not $nearest mm, and twice that"

# what is recorded is computed again with the calibration that was attached to the recording
if gst-inspect-1.0 --atleast-version=0.0 --exists avenc_ffv1 && gst-inspect-1.0 --atleast-version=0.0 --exists pngenc; then
  quietly sh "$pipelines/record.sh" "$folder/rig.mkv" test test num-disparities=$disparities output=depth
  quietly sh "$pipelines/play.sh" "$folder/rig.mkv" "$folder/recorded"
  mv "$CALIBRATION" "$folder/hidden.yml"
  CALIBRATION='' quietly sh "$pipelines/play.sh" "$folder/rig.mkv" match "$folder/again"
  mv "$folder/hidden.yml" "$CALIBRATION"
  cmp "$folder/recorded/depth-000003.png" "$folder/again/depth-000003.png" || bad "the calibration was lost on the way"
  # played, too: a disparity becomes a distance, and depthoverlay would warn of one that does not
  quietly sh "$pipelines/record.sh" "$folder/disparity.mkv" test test num-disparities=$disparities
  into played RGB
  CALIBRATION='' SINK=$SINK quietly sh "$pipelines/play.sh" "$folder/disparity.mkv"
  counted 5 "$folder"/played-*.raw
  if grep -q WARNING "$folder/output"; then
    cat "$folder/output"
    bad "the distances were lost on the way"
  fi
fi

refused "no file no.yml" env CALIBRATION=no.yml sh "$pipelines/side-by-side.sh" test
refused "no file no.yaml" env CALIBRATION="$CALIBRATION,no.yaml" sh "$pipelines/two-cameras.sh" test test
echo "cam0=[1 2 3]" >"$folder/broken.txt"
refused "broken.txt: Middlebury" env CALIBRATION="$folder/broken.txt" sh "$pipelines/side-by-side.sh" test
echo "M1: 5" >"$folder/broken.yml"
refused "broken.yml" env CALIBRATION="$folder/broken.yml" SINK=fakesink sh "$pipelines/overlay.sh" test
