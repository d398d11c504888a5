#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Streams for long: faults by chance, 24 hours' worth of frames, many elements, more than can be done. The normal test
# run has short versions of all of it.
#
#   sh tests/soak.sh [BUILD] [FRAMES]       (default: build, and 2592000: 24 hours at 30 a second, run without a clock)
#
#   STEREO_BACKEND=cuda          on a device (default cpu)
#   STEREO_STREAM_EPISODES=N     short lives with faults by chance (default 20000)
#   STEREO_LOAD_ELEMENTS=N       elements at once (default 10 on the CPU, 32 on a device)
#   STEREO_LOAD_SECONDS=N        of a live source that is too much (default 60)
#   STEREO_TEST_SEED=N           repeats a run (default: by chance, printed)
#   SOAK_PARTS="episodes single overlay long many overload"   leaves parts out
#
# Progress goes to the terminal, the figures of every part into a table at the end. The exit status is the number of
# parts that failed.
set -u
build=${1:-build}
frames=${2:-2592000}
parts=${SOAK_PARTS:-single episodes overlay long many overload}
export STEREO_BACKEND="${STEREO_BACKEND:-cpu}"
export STEREO_STREAM_EPISODES="${STEREO_STREAM_EPISODES:-20000}"
[ "$STEREO_BACKEND" = cuda ] && elements=32 || elements=10
export STEREO_LOAD_ELEMENTS="${STEREO_LOAD_ELEMENTS:-$elements}"
export STEREO_LOAD_SECONDS="${STEREO_LOAD_SECONDS:-60}"
tests=$build/tests/elements
failed=0

if ! [ -x "$tests/test_load" ]; then
  echo "$tests/test_load is not there: build first, meson setup $build && ninja -C $build" >&2
  exit 1
fi
root=$(cd "$build" && pwd)
export GST_PLUGIN_PATH_1_0="$root/gst:$root/tests/elements" GST_PLUGIN_SYSTEM_PATH_1_0=""
export GST_REGISTRY="$root/tests/elements/soak.registry" LD_LIBRARY_PATH="$root/gst:${LD_LIBRARY_PATH:-}"
export CK_DEFAULT_TIMEOUT=0
log=$root/tests/elements/soak.log table=$root/tests/elements/soak.table
: >"$table"

# part NAME TEST CASE PATTERN: runs CASE of TEST; the lines of PATTERN go into the table
part () {
  case " $parts " in *" $1 "*) ;; *) return ;; esac
  echo "== $1"
  begin=$(date +%s) status=0
  { CK_RUN_CASE=$3 GST_CHECKS=$4 "$tests/$2" 2>&1 || echo "FAILED: $1"; } | tee "$log"
  grep -q "^FAILED" "$log" && status=1 failed=$((failed + 1))
  [ $status = 0 ] && word=ok || word=FAILED
  grep -E "$5" "$log" | tail -n 1 | sed "s/^/$1 ($word, $(($(date +%s) - begin)) s): /" >>"$table"
  [ $status = 0 ] || echo "$1 (FAILED): $(grep -E ':[FE]:|STANDS' "$log" | tail -n 1)" >>"$table"
}

GST_TRACERS=leaks
export GST_TRACERS
part single test_broken_streams general '*' '^[0-9]+%'
part episodes test_episodes general '*' '^[0-9]+ episodes,'
part overlay test_broken_overlay general '*' '^[0-9]+%'
# what the tracer keeps would count as the elements'
unset GST_TRACERS
# what malloc keeps for threads that come and go would count as in use
export GLIBC_TUNABLES=glibc.malloc.tcache_count=0
STEREO_LOAD_FRAMES=$frames
export STEREO_LOAD_FRAMES
part long test_load general 'test_memory_is_flat' '^long run'
STEREO_LOAD_FRAMES=10000
part many test_load general 'test_many_elements' '^many elements'
part overload test_overload general 'test_more_than_can_be_done' '^too much'

echo "== backend $STEREO_BACKEND, $(date -u +%Y-%m-%d)"
cat "$table"
echo "$failed failed"
exit "$failed"
