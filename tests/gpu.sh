#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Everything that needs a GPU, on a machine that has one: comparison tests, memory and race checks, times.
#
#   sh tests/gpu.sh [BUILD] [SCENES]      (default: build, and the folder STEREO_DATA names)
#
# BUILD may come from another machine. With GStreamer there (GST_PLUGIN_PATH=BUILD/gst) the pipeline runs too.
# GPU_PARTS="stages golden sanitizer elements pipeline bench" leaves parts out.
set -u
build=${1:-build}
scenes=${2:-${STEREO_DATA:-}}
parts=${GPU_PARTS:-stages golden sanitizer elements pipeline bench}
failed=0

part () { case " $parts " in *" $1 "*) echo "== $1"; return 0 ;; *) return 1 ;; esac; }
check () { "$@" || { echo "FAILED: $*"; failed=$((failed + 1)); }; }
bench () { "$build/tests/bench/stereo-bench" --backend cuda --runs 60 "$@"; }

part stages && for seed in 1 2 3; do
  STEREO_TEST_SEED=$seed STEREO_TEST_DRAWS=${GPU_DRAWS:-60} "$build/tests/stages/test_stages" > "stages.$seed.log" 2>&1 ||
    { failed=$((failed + 1)); grep -v '^ok' "stages.$seed.log" | cut -c1-300 | head -20; }
  tail -n 1 "stages.$seed.log"
done

if part golden; then
  check "$build/tests/golden/test_made"
  [ -n "$scenes" ] && STEREO_LONG=1 STEREO_DATA=$scenes check "$build/tests/golden/test_real"
fi

if part sanitizer; then
  for tool in ${GPU_TOOLS:-memcheck racecheck}; do
    for setting in "" "--profile thesis --refine-iterations 1" "--aggregation full --window 9 --refine-mode full --refine-iterations 1" \
        "--refine-mode idr --refine-iterations 1 --speckle-size 20 --median 5 --cost census-9x7" "--method esaw --iterations 4" "--method esmp --iterations 3"; do
      # shellcheck disable=SC2086
      check compute-sanitizer --tool $tool --error-exitcode 9 --log-file "sanitizer.log" \
        "$build/tests/bench/stereo-bench" --backend cuda --runs 1 --num-disparities 40 $setting --synthetic 101x67 > /dev/null
      grep -E 'ERROR SUMMARY|RACECHECK SUMMARY' sanitizer.log | sed "s/^/$tool $setting: /"
    done
  done
fi

export CK_DEFAULT_TIMEOUT=60 GST_PLUGIN_PATH="${GST_PLUGIN_PATH:-$build/gst}" LD_LIBRARY_PATH="$build/gst:${LD_LIBRARY_PATH:-}"
if part elements && command -v gst-launch-1.0 > /dev/null; then
  for test in "$build"/tests/elements/test_*; do
    [ -x "$test" ] && [ -f "$test" ] && check "$test" 2> /dev/null | grep -E '^[0-9]+%|FAIL|Fail'
  done
fi

if part pipeline && command -v gst-launch-1.0 > /dev/null; then
  check gst-launch-1.0 -q videotestsrc num-buffers=30 pattern=snow ! video/x-raw,format=NV12,width=2560,height=720 ! \
    stereomatch backend=cuda ! fakesink
  [ -n "$scenes" ] && check gst-launch-1.0 -v stereomatch backend=cuda num-disparities=70 name=m ! fakesink \
    filesrc location="$scenes/motorcycle/left.png" ! pngdec ! m.sink_left \
    filesrc location="$scenes/motorcycle/right.png" ! pngdec ! m.sink_right | grep -E 'm.GstPad:src: caps|ERROR|active-backend'
fi

if part bench; then
  bench --synthetic 741x497 --num-disparities 70
  bench --synthetic 1920x1080 --num-disparities 128
  bench --synthetic 450x375 --num-disparities 60 --method esaw
  bench --synthetic 450x375 --num-disparities 60 --method esaw --profile fast
  bench --synthetic 450x375 --num-disparities 60 --method esmp
  bench --synthetic 1408x965 --num-disparities 320 --cost census-7x5 --support left --refine-iterations 3
  bench --synthetic 1408x965 --num-disparities 320 --cost census-7x5 --support both --refine-iterations 3
  [ -n "$scenes" ] && bench --scenes "$scenes" --fill background && bench --scenes "$scenes" --profile thesis
fi
[ "$failed" -eq 0 ] && echo "GPU: all passed" || { echo "GPU: $failed failed"; exit 1; }
