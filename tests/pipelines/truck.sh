#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# truck.sh: what is near, ahead and on the ground, in words, as JSON and from a log. truck.sh BUILD
set -eu
. "$(dirname "$0")/common.sh"
skip_without stereotestsrc stereoconfidence depthoverlay videocrop capssetter
skip_without_typelib "$1"
# the synthetic scenes have no ground but where that is said
export SINK=fakesink GROUND=no

# run WARN CAMERA... [property=value...]
run () {
  warn=$1
  shift
  WARN=$warn quietly sh "$pipelines/truck.sh" "$@" num-disparities=$disparities
  cp "$folder/output" "$folder/report"
  tail -n 1 "$folder/report" | grep -q "^end of the stream$" ||
    bad "it does not end as it should: $(cat "$folder/report")"
}

# measure PATTERN: what there is to be found. Focal length 0.9 widths, baseline 120 mm; the nearest distance is the one
# that a hundredth of the picture is at or within: what is near in these scenes is connected.
measure () {
  TEST_SOURCE="is-live=false num-buffers=12 seed=$seed motion=0 pattern=$1"
  make_truth truth $width $height
  truth=$(samples 2 "$folder/truth-000000.raw" | sort -rn | awk -v f=$((width * 9 / 10)) '{ v[NR] = $1 }
    END { print f * 120 / (v[int (NR / 100)] / 64) }')
  middle=$(samples 2 "$folder/truth-000000.raw" | awk -v at=$((width * (height / 2) + width / 2)) \
    -v f=$((width * 9 / 10)) 'NR == at + 1 { print f * 120 / ($1 / 64) }')
  echo "$1: the nearest is $truth mm away, the middle $middle mm"
}

# near NAME TRUE: every number on standard input within a tenth, and there is one
near () {
  awk -v name="$1" -v is="$2" '{ print name, $1, "mm"; if ($1 < 0.9 * is || $1 > 1.1 * is) off++ }
    END { exit !(NR > 0 && !off) }' || { cat "$folder/report"; bad "$1: too far from $2"; }
}

# the middle of random-dots is nearer than what lies around it, that of planes farther than the disc before them
for pattern in random-dots planes; do
  measure $pattern
  for cameras in "test" "test test"; do
    # shellcheck disable=SC2086
    run "$(awk "BEGIN { print int (1.2 * $truth) }")" $cameras
    sed -n 's/^nearest: \([0-9]*\) mm at [0-9]*,[0-9]*, confidence [01].[0-9]* WARNING$/\1/p' "$folder/report" |
      near nearest "$truth"
    sed -n 's/^depth: .* \([0-9]*\) mm ahead$/\1/p' "$folder/report" | near ahead "$middle"
    sed -n 's/^depth: \([0-9.]*\) % of the pixels, mean confidence \([0-9.]*\),.*/\1 \2/p' "$folder/report" | awk '
      { ok = $1 > 60 && $1 <= 100 && $2 > 0.05 && $2 < 1 } END { exit !(NR == 1 && ok) }' || {
      cat "$folder/report"
      bad "12 frames are less than a second: one look at the metadata, with plausible numbers"
    }
  done
done
# shellcheck disable=SC2086
run "$(awk "BEGIN { print int (0.8 * $truth) }")" test
grep -q "^nearest: [0-9]* mm" "$folder/report" || bad "the nearest distance was not told"
if grep -q WARNING "$folder/report"; then
  bad "a warning without a reason"
fi
# what is seen and not near is clear; where more has to be seen than is, nothing is clear
grep -q "^nearest: [0-9]* mm .*, clear$" "$folder/report" || { cat "$folder/report"; bad "it is not clear"; }
# shellcheck disable=SC2086
OVERLAY=max-unknown=0 run "$(awk "BEGIN { print int (0.8 * $truth) }")" test
grep -q "^nearest: [0-9]* mm .*, UNKNOWN: [0-9]* % of the region is seen$" "$folder/report" || {
  cat "$folder/report"
  bad "views that do not overlap wholly cannot be seen wholly"
}
# nothing near, nothing known
TEST_SOURCE="is-live=false num-buffers=3 pattern=flat noise=0"
run 1500 test confidence-threshold=1
grep -q "^nearest: none, UNKNOWN: 0 % " "$folder/report" ||
  bad "a scene without texture has a nearest distance, or is clear: $(cat "$folder/report")"
if grep -q clear "$folder/report"; then
  bad "nothing is seen, and that is called clear: $(cat "$folder/report")"
fi
grep -q "none known ahead" "$folder/report" || { cat "$folder/report"; bad "a scene without texture has a depth ahead"; }

# farther than samples of depth go: no distance, and that is said
TEST_SOURCE="is-live=false num-buffers=3"
run 1500 test output=depth depth-unit=20 num-disparities=$disparities
grep -q "farther ahead than can be told$" "$folder/report" || { cat "$folder/report"; bad "65535 was taken for a distance"; }
sh "$pipelines/truck.sh" --json test output=depth depth-unit=20 num-disparities=$disparities >"$folder/far.json" 2>"$folder/output"
/usr/bin/python3 -c 'import json, sys
ahead = [m for m in map(json.loads, open(sys.argv[1])) if m["message"] == "ahead"]
assert ahead and all(m["far"] is True and m["depth"] is None and 0 <= m["valid-ratio"] <= 1 and "valid" not in m for m in ahead), ahead' \
  "$folder/far.json" || { cat "$folder/far.json" "$folder/output"; bad "65535 in JSON"; }

# what stands on the ground, in words, as JSON and again from the log
small=$SIZE
SIZE=640x360 GROUND=
TEST_SOURCE="is-live=false num-buffers=8 seed=$seed pattern=road camera-height=1500 camera-pitch=4 obstacle-height=900 obstacle-distance=5000"
run 1500 test
grep -q "warn-distance=1500 lies in the blind zone" "$folder/report" || { cat "$folder/report"; bad "the blind zone is not told"; }
grep -q "^ground: camera 1[45][0-9][0-9] mm high, pitch [34]\.[0-9], roll -\{0,1\}0\.[0-9] degrees; free for [45][0-9]* mm ahead$" "$folder/report" ||
  { cat "$folder/report"; bad "the ground is not told"; }
grep -q "^obstacle 1: [45][0-9]* mm, [0-9]* mm to the [a-z]*, [56][0-9]* x [89][0-9]* mm, probability 0\.[0-9]*$" "$folder/report" ||
  { cat "$folder/report"; bad "the obstacle is not told"; }
# standard output is JSON and nothing else
sh "$pipelines/truck.sh" --json --log "$folder/drive.log" test num-disparities=$disparities >"$folder/lines.json" \
  2>"$folder/output" || { cat "$folder/output"; bad "truck.sh --json"; }
# nobody has set WARN, and 1500 lies in the blind zone
grep -q "warn-distance=[45][05]00: none is set, and this camera sees the ground from 3\.[0-9] m on$" "$folder/output" ||
  { cat "$folder/output"; bad "the warn-distance lies in the blind zone"; }
/usr/bin/python3 -c 'import json, sys
seen = [json.loads(line) for line in open(sys.argv[1])]
assert not any("ground is not seen" in m.get("reason", "") for m in seen), seen
ground = [m for m in seen if m["message"] == "stereo-obstacles"]
assert ground and all(m["ground"] and len(m["free"]) == 64 for m in ground), ground
assert ground[-1]["obstacles"][0]["distance"] == ground[-1]["nearest"], ground[-1]
assert any(m["message"] == "stereo-nearest" for m in seen)' "$folder/lines.json" || { cat "$folder/output"; bad "that is no JSON"; }
sh "$pipelines/truck.sh" --json --replay "$folder/drive.log" >"$folder/again.json" || bad "truck.sh --json --replay"
cmp "$folder/lines.json" "$folder/again.json" || bad "the log tells something else than the drive"
quietly sh "$pipelines/truck.sh" --replay "$folder/drive.log"
grep -q "^obstacle 1: " "$folder/output" || { cat "$folder/output"; bad "the log is not told in words"; }
# what messages do not have is not known; a log may come through a pipe, and who reads may go
printf '%s;\n' stereo-nearest stereo-obstacles stereo-health ahead |
  quietly sh "$pipelines/truck.sh" --replay /dev/stdin
for words in "^nearest: none, UNKNOWN: " "^ground: NONE, " "^camera: over: " "none known ahead$"; do
  grep -q "$words" "$folder/output" || { cat "$folder/output"; bad "without fields, $words"; }
done
sh "$pipelines/truck.sh" --json --replay "$folder/drive.log" 2>"$folder/output" | head -n 1 >"$folder/first.json"
cmp -s "$folder/output" /dev/null || { cat "$folder/output"; bad "a reader that goes is an error"; }
echo "no message" >"$folder/broken.log"
refused "line 1 of .*--replay wants a file of --log" sh "$pipelines/truck.sh" --replay "$folder/broken.log"
refused "there is no file $folder/none$" env LC_ALL=C sh "$pipelines/truck.sh" --replay "$folder/none"
SIZE=$small GROUND=no
TEST_SOURCE="is-live=false num-buffers=3"

refused "window" sh "$pipelines/truck.sh" test window=32
refused "no camera /dev/video-none" sh "$pipelines/truck.sh" test /dev/video-none
refused "\-\-bar is no option" sh "$pipelines/truck.sh" --bar test
refused "no-such-property" sh "$pipelines/truck.sh" test no-such-property=1
refused "error: .*none" env SINK="filesink location=$folder/none/file" sh "$pipelines/truck.sh" test

# Ctrl-C, while it runs
TEST_SOURCE="seed=$seed"
mkfifo "$folder/lines"
sh "$pipelines/truck.sh" test num-disparities=$disparities method=bm >"$folder/lines" 2>&1 &
running=$!
while read -r line; do
  case $line in
    nearest:*) [ -z "$running" ] || kill -INT "$running" && running= ;;
  esac
  last=$line
done <"$folder/lines"
wait $! || bad "Ctrl-C is not an error"
[ "$last" = "end of the stream" ] || bad "Ctrl-C: the last word was: $last"
