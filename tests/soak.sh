#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Runs streams for a long time: random faults, as many frames as a camera sends in 24 hours, many elements at once, and
# more work than the machine can do. The normal test run has a short version of each part.
#
#   sh tests/soak.sh [BUILD] [FRAMES]
#
#   BUILD    the build folder (default: build)
#   FRAMES   frames of the part long (default 2592000: 24 hours at 30 frames a second; they run without a clock)
#
#   STEREO_BACKEND=cuda          computes on a device (default cpu); the test watches the memory of the device, so
#                                nothing else may use it
#   STEREO_STREAM_EPISODES=N     short streams with random faults, in each job (default 20000); stereorectify gets a
#                                quarter of them for each pixel format
#   STEREO_STREAM_SEEKS=N        seeks in a row, of each kind (default 2000)
#   STEREO_STREAM_SECONDS=N      no further episode or seek begins after this time (default 0: no limit)
#   STEREO_LOAD_ELEMENTS=N       elements at once (default 10 on the CPU, 32 on a device)
#   STEREO_LOAD_SECONDS=N        duration of each live source of the part overload (default 60)
#   STEREO_TEST_SEED=N           repeats a run (default: a random seed, which is printed)
#   SOAK_PARTS="long single ends seeks episodes rectify overlay many overload"   runs only the parts named
#   SOAK_JOBS=N                  processes that run episodes at the same time, each with a seed of its own; single, ends,
#                                seeks and overlay then run beside them (default 0: one part after the other)
#   SOAK_SECONDS=N               time for everything; a part that is still running then is stopped and counts as failed
#                                (default 0: no limit)
#
# Progress goes to the terminal. A table at the end has the figures of every part. The exit status is the number of
# parts that failed.
set -u
# shellcheck source=tests/support/arguments.sh
. "$(dirname "$0")/support/arguments.sh"
check_arguments 2 "$@"
build=${1:-build}
frames=${2:-2592000}
case $frames in '' | *[!0-9]*) refuse "FRAMES is a number, not $frames" ;; esac
export STEREO_BACKEND="${STEREO_BACKEND:-cpu}"
[ "$STEREO_BACKEND" = cuda ] && elements=32 || elements=10
all_parts="long single ends seeks episodes rectify overlay many overload"
# the parts rectify and overlay do not use the device
[ "$STEREO_BACKEND" = cuda ] && parts="long single ends seeks episodes many overload" || parts=$all_parts
parts=${SOAK_PARTS:-$parts}
# shellcheck disable=SC2086
check_parts "$all_parts" $parts
jobs=${SOAK_JOBS:-0}
most=${SOAK_SECONDS:-0}
export STEREO_STREAM_EPISODES="${STEREO_STREAM_EPISODES:-20000}"
export STEREO_STREAM_SEEKS="${STEREO_STREAM_SEEKS:-2000}"
export STEREO_LOAD_ELEMENTS="${STEREO_LOAD_ELEMENTS:-$elements}"
export STEREO_LOAD_SECONDS="${STEREO_LOAD_SECONDS:-60}"
tests=$build/tests/gst
failed=0
start=$(date +%s)

if ! [ -x "$tests/match/test_load" ]; then
  echo "there is no $tests/match/test_load: build first, meson setup $build && ninja -C $build" >&2
  exit 1
fi
root=$(cd "$build" && pwd)
export GST_PLUGIN_PATH_1_0="$root/gst:$root/tests/gst" GST_PLUGIN_SYSTEM_PATH_1_0=""
export LD_LIBRARY_PATH="$root/gst:${LD_LIBRARY_PATH:-}"
export CK_DEFAULT_TIMEOUT=0
logs=$root/tests/gst/soak
mkdir -p "$logs" && rm -f "$logs"/*.log "$logs"/*.figures || exit 1

wanted () { case " $parts " in *" $1 "*) return 0 ;; *) return 1 ;; esac; }

# run NAME TEST CASES PATTERN: runs CASES of TEST; the last line that matches PATTERN has its figures
run () {
  log=$logs/$1.log figures=$logs/$1.figures begin=$(date +%s) bound=""
  echo "== $1"
  if [ "$most" -gt 0 ]; then
    left=$((most - begin + start))
    [ "$left" -ge 1 ] || left=1
    bound="timeout -k 5 $left"
  fi
  # shellcheck disable=SC2086
  { GST_REGISTRY=$logs/$1.registry CK_RUN_CASE=general GST_CHECKS=$3 $bound "$tests/$2" 2>&1 || echo "FAILED: $1, exit status $?"; } |
    tee "$log" | sed "s/^/$1: /"
  word=ok
  grep -q '^FAILED' "$log" && word=FAILED
  line=$(grep -E "$4" "$log" | tail -n 1)
  # a part without figures has tested nothing
  [ -n "$line" ] || word=FAILED
  echo "$1 ($word, $(($(date +%s) - begin)) s): $line" > "$figures"
  if [ "$word" = FAILED ]; then
    grep -q 'exit status \(124\|137\)' "$log" && echo "$1 (FAILED): stopped: the $most s for everything were over" >> "$figures"
    grep -E ':[FE]:|STANDS|SKIP' "$log" | head -n 3 | sed "s/^/$1 (FAILED): /" >> "$figures"
  fi
}

# Every job has a seed of its own, so that no two jobs run the same episodes.
episodes () {
  number=1
  seed=${STEREO_TEST_SEED:-$(od -An -N3 -tu4 /dev/urandom | tr -d ' ')}
  while [ "$number" -le "$jobs" ]; do
    (export STEREO_TEST_SEED=$((seed + (number - 1) * 1000000)); run "episodes$number" pairing/test_episodes '*' '^[0-9]+ episodes,') &
    number=$((number + 1))
  done
  [ "$jobs" -gt 0 ] || run episodes pairing/test_episodes '*' '^[0-9]+ episodes,'
}

# This part measures memory, so it runs first and alone. Caches that malloc and GLib's allocator keep for each thread
# would count as memory in use.
wanted long && (
  export GLIBC_TUNABLES=glibc.malloc.tcache_count=0 G_SLICE=always-malloc STEREO_LOAD_FRAMES="$frames"
  run long match/test_load test_memory_is_flat '^long run')

# Not before the part long: the memory of the tracer would count as memory of the elements.
GST_TRACERS=leaks
export GST_TRACERS
# stream NAME TEST PATTERN: runs beside the other parts when there are jobs
stream () {
  wanted "$1" || return 0
  if [ "$jobs" -gt 0 ]; then run "$1" "$2" '*' "$3" & else run "$1" "$2" '*' "$3"; fi
}

# A build without libyaml cannot read calibrations and has no stereorectify.
rectify () {
  [ -x "$tests/rectify/test_stream" ] || return 0
  STEREO_STREAM_EPISODES=$((STEREO_STREAM_EPISODES / 4))
  for element in stereorectify stereorectify-i420 stereorectify-nv12; do
    export STEREO_STREAM_ELEMENT="$element"
    run "$element-single" pairing/test_broken_streams '*' '^[0-9]+%'
    run "$element-ends" pairing/test_stream_ends '*' '^[0-9]+%'
    run "$element-seeks" pairing/test_seeks '*' '^[0-9]+%'
    run "$element-episodes" pairing/test_episodes '*' '^[0-9]+ episodes'
  done
}

wanted episodes && episodes
stream single pairing/test_broken_streams '^[0-9]+%'
stream ends pairing/test_stream_ends '^[0-9]+%'
stream seeks pairing/test_seeks '^[0-9]+%'
stream overlay overlay/test_broken_depth '^[0-9]+%'
wait
wanted rectify && (rectify)
unset GST_TRACERS

STEREO_LOAD_FRAMES=10000
export STEREO_LOAD_FRAMES
wanted many && run many match/test_load test_many_elements '^many elements'
wanted overload && run overload match/test_overload test_more_than_can_be_done '^too much'

echo "== backend $STEREO_BACKEND, $(date -u +%Y-%m-%d)"
for figures in "$logs"/*.figures; do
  [ -f "$figures" ] || continue
  cat "$figures"
  grep -q '(FAILED' "$figures" && failed=$((failed + 1))
done
[ "$jobs" -gt 1 ] && cat "$logs"/episodes*.figures 2> /dev/null | awk '
  / episodes, / { sub (/^[^:]*: /, ""); e += $1; f += $3; p += $6 } END { printf "all episodes: %d, %d frames in, %d pairs out\n", e, f, p }'
echo "$failed failed, $(($(date +%s) - start)) s"
exit "$failed"
