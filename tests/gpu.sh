#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Runs everything that needs a GPU: comparison tests, memory and race checks, measurements of time.
#
#   sh tests/gpu.sh [BUILD] [SCENES]
#
#   BUILD    the build folder (default: build); it may have been built on another machine
#   SCENES   the folder of the real scenes (default: the folder that STEREO_DATA names; without one, parts that need
#            real scenes leave them out)
#
#   GPU_PARTS="engine stages golden sanitizer elements pipeline rate streams soak bench"   runs only the parts named
#   GPU_DRAWS=N              random cases of the stage tests (default 60)
#   GPU_EPISODES=N, GPU_SOAK_SECONDS=N, GPU_SOAK_JOBS=N, GPU_SOAK_MOST=N, GPU_SOAK_FRAMES=N   settings of the part soak
#
# The parts elements, pipeline, rate and streams need GStreamer's gst-launch-1.0; without it they do nothing. The last
# line is "GPU: all passed" or "GPU: N failed"; the exit status is 1 when something failed.
set -u
# shellcheck source=tests/support/arguments.sh
. "$(dirname "$0")/support/arguments.sh"
check_arguments 2 "$@"
all_parts="engine stages golden sanitizer elements pipeline rate streams soak bench"
build=${1:-build}
scenes=${2:-${STEREO_DATA:-}}
parts=${GPU_PARTS:-$all_parts}
# shellcheck disable=SC2086
check_parts "$all_parts" $parts
[ -d "$build/tests" ] || { echo "$build holds no tests: build first, meson setup $build && ninja -C $build" >&2; exit 1; }
failed=0

part () { case " $parts " in *" $1 "*) echo "== $1"; return 0 ;; *) return 1 ;; esac; }
check () { "$@" || { echo "FAILED: $*"; failed=$((failed + 1)); }; }
bench () { "$build/stereo/tools/stereo-bench" --backend cuda --runs 60 --device-input "$@"; }

# Exit status 77: the test skipped itself and said why (a volume that is too large for this device).
part engine && for test in cuda moving align flight plan remap frames cuda_faults large; do
  "$build/tests/engine/test_$test" && status=0 || status=$?
  case $status in 0 | 77) ;; *) echo "FAILED: test_$test"; failed=$((failed + 1)) ;; esac
done

part stages && check "$build/tests/stages/test_motion"
part stages && for seed in 1 2 3; do
  STEREO_TEST_SEED=$seed STEREO_TEST_DRAWS=${GPU_DRAWS:-60} "$build/tests/stages/test_stages" > "stages.$seed.log" 2>&1 ||
    { failed=$((failed + 1)); grep -v '^ok' "stages.$seed.log" | cut -c1-300 | head -20; }
  tail -n 1 "stages.$seed.log"
done

if part golden; then
  check python3 "$(dirname "$0")/golden/test_made.py" "$build/stereo/tools/stereo-bench"
  [ -n "$scenes" ] && STEREO_LONG=1 STEREO_DATA=$scenes check python3 "$(dirname "$0")/golden/test_real.py" "$build/stereo/tools/stereo-bench"
fi

# The variables that set it up are listed by tests/sanitizer.sh --help.
part sanitizer && { sh "$(dirname "$0")/sanitizer.sh" "$build" || failed=$((failed + $?)); }

# Long streams, about four minutes of them. The part runs alone, because it watches the memory of the device.
part soak && { STEREO_BACKEND=cuda STEREO_STREAM_EPISODES=${GPU_EPISODES:-100000} STEREO_STREAM_SECONDS=${GPU_SOAK_SECONDS:-100} \
  STEREO_LOAD_SECONDS=20 SOAK_JOBS=${GPU_SOAK_JOBS:-8} SOAK_SECONDS=${GPU_SOAK_MOST:-360} \
  sh "$(dirname "$0")/soak.sh" "$build" "${GPU_SOAK_FRAMES:-30000}" || failed=$((failed + $?)); }

export CK_DEFAULT_TIMEOUT=60 GST_PLUGIN_PATH="${GST_PLUGIN_PATH:-$build/gst}" LD_LIBRARY_PATH="$build/gst:${LD_LIBRARY_PATH:-}"
if part elements && command -v gst-launch-1.0 > /dev/null; then
  for test in "$build"/tests/gst/*/test_*; do
    [ -x "$test" ] && [ -f "$test" ] || continue
    case $test in
      # it measures how much memory grows: caches that malloc and GLib keep for each thread would count
      */test_load) set -- env G_SLICE=always-malloc GLIBC_TUNABLES=glibc.malloc.tcache_count=0 "$test" ;;
      *) set -- "$test" ;;
    esac
    output=$("$@" 2> /dev/null) && status=0 || status=$?
    echo "$output" | grep -E '^[0-9]+%|:[FE]:|SKIPPED|MiB' | sed "s|^|${test#"$build"/tests/gst/}: |"
    # 77: the test skipped itself and said why
    case $status in 0 | 77) ;; *) echo "FAILED: $test"; failed=$((failed + 1)) ;; esac
  done
  for test in match/test_flight rectify/test_element; do
    STEREO_TEST_BACKEND=cuda check "$build/tests/gst/$test" 2> /dev/null | grep -E '^[0-9]+%|FAIL|Fail|:F:|:E:'
  done
fi

if part pipeline && command -v gst-launch-1.0 > /dev/null; then
  check gst-launch-1.0 -q videotestsrc num-buffers=30 pattern=snow ! video/x-raw,format=NV12,width=2560,height=720 ! \
    stereomatch backend=cuda ! fakesink
  [ -n "$scenes" ] && check gst-launch-1.0 -v stereomatch backend=cuda num-disparities=70 name=m ! fakesink \
    filesrc location="$scenes/motorcycle/left.png" ! pngdec ! m.sink_left \
    filesrc location="$scenes/motorcycle/right.png" ! pngdec ! m.sink_right | grep -E 'm.GstPad:src: caps|ERROR|active-backend'
fi

# rate COUNT: prints when a pipeline of COUNT frames in system memory began and when it ended, in nanoseconds; the times
# of its steps go to rate.log
rate () {
  begin=$(date +%s%N)
  GST_DEBUG=stereomatch:4 GST_DEBUG_NO_COLOR=1 GST_DEBUG_FILE=rate.log \
    gst-launch-1.0 -q videotestsrc num-buffers=1 pattern=snow ! video/x-raw,format=NV12,width=3840,height=1080 ! \
    imagefreeze num-buffers="$1" ! queue ! stereomatch backend=cuda ! fakesink >&2 && echo "$begin $(date +%s%N)"
}

if part rate && command -v gst-launch-1.0 > /dev/null; then
  # the first run reads every program and library from disk, so it is not measured
  if rate 200 > /dev/null && few=$(rate 200) && many=$(rate 2200); then
    steps=$(sed -n 's/.*steps-time-mean=(guint64)\([0-9]*\).*/\1/p' rate.log)
    echo "$few $many ${steps:-0}" | awk '{ a = ($4 - $3 - $2 + $1) / 2e9; s = $5 / 1e6
      printf "pipeline, 1920x1080 NV12 side by side: %.3f ms a frame, of which steps %.3f ms: %.0f %% of their rate\n", a, s, 100 * s / a }'
  else
    echo "FAILED: the pipeline of the part rate"
    failed=$((failed + 1))
  fi
  bench --synthetic 1920x1080 --num-disparities 128
fi

# several COUNT DEVICES FRAMES: the milliseconds that a pipeline of so many streams of FRAMES frames takes, start and end included.
# imagefreeze would make 25 frames a second if nobody asked for 30.
several () {
  line="" i=0
  while [ "$i" -lt "$1" ]; do
    line="$line f. ! queue ! stereomatch backend=cuda cuda-device-id=$((i % $2)) ! fakesink sync=true"
    i=$((i + 1))
  done
  begin=$(date +%s%N)
  # shellcheck disable=SC2086
  gst-launch-1.0 -q videotestsrc num-buffers=1 pattern=snow ! video/x-raw,format=NV12,width=3840,height=1080 ! \
    imagefreeze num-buffers="$3" ! video/x-raw,framerate=30/1 ! tee name=f $line >&2 &&
    echo "$begin $(date +%s%N)" | awk '{ printf "%d\n", ($2 - $1) / 1e6 }'
}

# streams COUNT DEVICES: prints how long 5 s of COUNT streams of 1920x1080 in one process take, at 30 frames a second
streams () {
  few=$(several "$1" "$2" 30) && many=$(several "$1" "$2" 180) || return 1
  echo "$1 streams on $2 GPUs, 30 frames a second: $((many - few)) ms for 5000 ms"
}

if part streams && command -v gst-launch-1.0 > /dev/null; then
  for count in 1 11 16 20 24 28; do check streams $count 1; done
  [ "$(nvidia-smi -L | wc -l)" -lt 2 ] || for count in 40 48 56; do check streams $count 2; done
fi

if part bench; then
  bench --synthetic 741x497 --num-disparities 70
  bench --synthetic 1920x1080 --num-disparities 128
  for method in sgm "sgm --paths 4" "bm --cost sad" "bm --cost zncc"; do
    # shellcheck disable=SC2086
    bench --synthetic 1920x1080 --num-disparities 128 --method $method
  done
  bench --synthetic 1408x965 --num-disparities 256 --method sgm
  bench --synthetic 741x497 --num-disparities 64 --method sgm
  bench --synthetic 450x375 --num-disparities 60 --method esaw
  bench --synthetic 450x375 --num-disparities 60 --method esmp
  # the default before paths, filling and averages over time, with many disparities
  former="--temporal 0 --cost census-7x5 --paths none --window 33 --align off --speckle-size 0 --median 3 --refine-window 65"
  # shellcheck disable=SC2086
  bench --synthetic 1408x965 --num-disparities 320 $former --support left --refine-iterations 3
  # shellcheck disable=SC2086
  bench --synthetic 1408x965 --num-disparities 320 $former --support left --refine-iterations 7
  # shellcheck disable=SC2086
  bench --synthetic 1408x965 --num-disparities 320 $former --support both --refine-iterations 3
  for scene in ${scenes:+motorcycle teddy cones venus kitti15-000003 vintage}; do
    for setting in "--fill background" "--profile thesis"; do
      # shellcheck disable=SC2086
      bench $setting "$scenes/$scene/left.png" "$scenes/$scene/right.png"
    done
  done
fi
[ "$failed" -eq 0 ] && echo "GPU: all passed" || { echo "GPU: $failed failed"; exit 1; }
