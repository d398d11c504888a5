#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Streams for long: faults by chance, 24 hours' worth of frames, many elements, more than can be done. The normal test
# run has short versions of all of it.
#
#   sh tests/soak.sh [BUILD] [FRAMES]       (default: build, and 2592000: 24 hours at 30 a second, run without a clock)
#
#   STEREO_BACKEND=cuda          on a device, which nothing else may use: its memory is looked at (default cpu)
#   STEREO_STREAM_EPISODES=N     short lives with faults by chance, of each job (default 20000), and of each rectifier a
#                                quarter of that
#   STEREO_STREAM_SEEKS=N        seeks in a row, of each kind (default 2000)
#   STEREO_STREAM_SECONDS=N      no more of them begin after that (default 0: all of them)
#   STEREO_LOAD_ELEMENTS=N       elements at once (default 10 on the CPU, 32 on a device)
#   STEREO_LOAD_SECONDS=N        of a live source that is too much (default 60)
#   STEREO_TEST_SEED=N           repeats a run (default: by chance, printed)
#   SOAK_PARTS="long single ends seeks episodes rectify overlay many overload"   leaves parts out
#   SOAK_JOBS=N                  processes for episodes, with seeds of their own, beside the parts of single faults
#                                (default 0: one part after the other)
#   SOAK_SECONDS=N               of everything: what is not done by then is stopped, and has failed (default 0: no bound)
#
# Progress goes to the terminal, the figures of every part into a table at the end. The exit status is the number of
# parts that failed.
set -u
build=${1:-build}
frames=${2:-2592000}
export STEREO_BACKEND="${STEREO_BACKEND:-cpu}"
[ "$STEREO_BACKEND" = cuda ] && elements=32 || elements=10
# overlay and rectification have nothing to do with a device here
parts="long single ends seeks episodes many overload"
[ "$STEREO_BACKEND" = cuda ] || parts="long single ends seeks episodes rectify overlay many overload"
parts=${SOAK_PARTS:-$parts}
jobs=${SOAK_JOBS:-0}
most=${SOAK_SECONDS:-0}
export STEREO_STREAM_EPISODES="${STEREO_STREAM_EPISODES:-20000}"
export STEREO_STREAM_SEEKS="${STEREO_STREAM_SEEKS:-2000}"
export STEREO_LOAD_ELEMENTS="${STEREO_LOAD_ELEMENTS:-$elements}"
export STEREO_LOAD_SECONDS="${STEREO_LOAD_SECONDS:-60}"
tests=$build/tests/gst
failed=0
start=$(date +%s)

if ! [ -x "$tests/test_load" ]; then
  echo "$tests/test_load is not there: build first, meson setup $build && ninja -C $build" >&2
  exit 1
fi
root=$(cd "$build" && pwd)
export GST_PLUGIN_PATH_1_0="$root/gst:$root/tests/gst" GST_PLUGIN_SYSTEM_PATH_1_0=""
export LD_LIBRARY_PATH="$root/gst:${LD_LIBRARY_PATH:-}"
export CK_DEFAULT_TIMEOUT=0
logs=$root/tests/gst/soak
mkdir -p "$logs" && rm -f "$logs"/*.log "$logs"/*.figures || exit 1

wanted () { case " $parts " in *" $1 "*) return 0 ;; *) return 1 ;; esac; }

# run NAME TEST CASES PATTERN: runs CASES of TEST; the last line of PATTERN is its figures
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
  # a part that says nothing has shown nothing
  [ -n "$line" ] || word=FAILED
  echo "$1 ($word, $(($(date +%s) - begin)) s): $line" > "$figures"
  if [ "$word" = FAILED ]; then
    grep -q 'exit status \(124\|137\)' "$log" && echo "$1 (FAILED): stopped, $most s are over" >> "$figures"
    grep -E ':[FE]:|STANDS|SKIP' "$log" | head -n 3 | sed "s/^/$1 (FAILED): /" >> "$figures"
  fi
}

# Random seeds that are printed, and not each other's.
episodes () {
  number=1
  seed=${STEREO_TEST_SEED:-$(od -An -N3 -tu4 /dev/urandom | tr -d ' ')}
  while [ "$number" -le "$jobs" ]; do
    (export STEREO_TEST_SEED=$((seed + (number - 1) * 1000000)); run "episodes$number" test_episodes '*' '^[0-9]+ episodes,') &
    number=$((number + 1))
  done
  [ "$jobs" -gt 0 ] || run episodes test_episodes '*' '^[0-9]+ episodes,'
}

# first, and alone: where memory is looked at, nobody else may take any. What malloc and GLib's own allocator keep for
# threads that come and go would count as in use.
wanted long && (
  export GLIBC_TUNABLES=glibc.malloc.tcache_count=0 G_SLICE=always-malloc STEREO_LOAD_FRAMES="$frames"
  run long test_load test_memory_is_flat '^long run')

# what the tracer keeps would count as the elements' above
GST_TRACERS=leaks
export GST_TRACERS
# stream NAME TEST PATTERN: beside the others where there are jobs
stream () {
  wanted "$1" || return 0
  if [ "$jobs" -gt 0 ]; then run "$1" "$2" '*' "$3" & else run "$1" "$2" '*' "$3"; fi
}

# Not built where calibration files cannot be read.
rectify () {
  [ -x "$tests/test_rectify_stream" ] || return 0
  STEREO_STREAM_EPISODES=$((STEREO_STREAM_EPISODES / 4))
  for element in stereorectify stereorectify-i420 stereorectify-nv12; do
    export STEREO_STREAM_ELEMENT="$element"
    run "$element-single" test_broken_streams '*' '^[0-9]+%'
    run "$element-ends" test_stream_ends '*' '^[0-9]+%'
    run "$element-seeks" test_seeks '*' '^[0-9]+%'
    run "$element-episodes" test_episodes '*' '^[0-9]+ episodes'
  done
}

wanted episodes && episodes
stream single test_broken_streams '^[0-9]+%'
stream ends test_stream_ends '^[0-9]+%'
stream seeks test_seeks '^[0-9]+%'
stream overlay test_broken_overlay '^[0-9]+%'
wait
wanted rectify && (rectify)
unset GST_TRACERS

STEREO_LOAD_FRAMES=10000
export STEREO_LOAD_FRAMES
wanted many && run many test_load test_many_elements '^many elements'
wanted overload && run overload test_overload test_more_than_can_be_done '^too much'

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
