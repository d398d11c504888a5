#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Checks the CPU side of the project with compilers and analysis tools. tests/run.sh runs a short form of this.
#
#   sh tests/tools.sh [PART...]      (default: all parts)
#
#   gcc        compiles everything with gcc -Werror
#   clang      compiles everything with clang -Werror, gcc's vector builtins included
#   cppcheck   has no findings in stereo/ and gst/
#   leaks      no element test leaves an object, by the leaks tracer of GStreamer
#   valgrind   memcheck of the element tests, with tests/valgrind.supp
#   tsan       ThreadSanitizer on the engine with 1 to 8 threads, and on every element test where TSAN_LIBS is set
#   fuzz       libFuzzer with AddressSanitizer and UBSan on every target
#
#   JOBS=N               how much runs at once (default 2)
#   TESTS_BUILD=FOLDER   a finished build, whose tests the parts leaks and valgrind run (default: a build of their own)
#   LEAKS_TESTS, VALGRIND_TESTS, TSAN_ENGINE_TESTS, TSAN_TESTS, FUZZ_TARGETS   run only the tests or targets named
#   TSAN_LIBS=FOLDER     GLib's and GStreamer's libraries, built with -Db_sanitize=thread
#   FUZZ_SECONDS=N       seconds for each fuzz target (default 60)
#   TOOLS_QUICK=1        clang checks the sources and generates no code
#
# Builds lie in build-tools/, which may be deleted at any time. A part whose tool is not installed is skipped. Inputs on
# which libFuzzer failed lie in build-tools/fuzz/found; once the fault is mended, they belong into tests/fuzz/corpus.
# The last line is "N parts passed, N failed, N skipped".
set -u
# shellcheck source=tests/support/arguments.sh
. "$(dirname "$0")/support/arguments.sh"
all_parts="gcc clang cppcheck leaks valgrind tsan fuzz"
case ${1:-} in
  leaks_of | valgrind_of) ;; # this script calls itself so, to run several tests at once
  *) check_arguments $# "$@" && check_parts "$all_parts" "$@" ;;
esac
cd "$(dirname "$0")/.." || exit 1
root=$PWD
jobs=${JOBS:-2}
tests_build=${TESTS_BUILD:-build-tools/gcc}
passed=0 failed=0 skipped=0

say () { printf '== %s\n' "$*"; }

# need TOOL...: whether all are installed
need () {
  for tool in "$@"; do
    command -v "$tool" > /dev/null || { echo "skipped: $tool is not installed"; return 1; }
  done
}

# build NAME OPTION...: configures once, then builds; shows errors and warnings when that fails
build () {
  name=$1
  shift
  { [ -f "build-tools/$name/build.ninja" ] || meson setup "build-tools/$name" -Dcuda=disabled -Dintrospection=disabled "$@"; } \
    > "build-tools/$name.log" 2>&1 && ninja -k 0 -j "$jobs" -C "build-tools/$name" $targets >> "build-tools/$name.log" 2>&1 ||
    { grep -E 'error|warning|ERROR' "build-tools/$name.log" | head -40; return 1; }
}

do_gcc () {
  need gcc || return 77
  targets='' CC=gcc build gcc -Dwerror=true -Dc_args=-g
}

do_clang () {
  need clang || return 77
  if [ -n "${TOOLS_QUICK:-}" ]; then
    clang_check
    return
  fi
  targets='' CC=clang build clang -Dwerror=true
}

# Checks every source file without generating code: nearly all warnings of clang come before that.
clang_check () {
  need python3 || return 77
  [ -f build-tools/clang-check/build.ninja ] ||
    CC=clang meson setup build-tools/clang-check -Dcuda=disabled -Dintrospection=disabled -Dwerror=true \
      > build-tools/clang-check.log 2>&1 || { tail -n 5 build-tools/clang-check.log; return 1; }
  # sources include the public headers by their installed path
  ninja -C build-tools/clang-check gst/stereo/gststereometa.h gst/stereo/gststereohealth.h \
    > build-tools/clang-check.log 2>&1 || return 1
  (cd build-tools/clang-check && python3 -c 'import json, sys
for one in json.load(open("compile_commands.json")):
    sys.stdout.write(one["command"].replace(" -c ", " -fsyntax-only -c ") + "\0")' | xargs -0 -n 1 -P "$jobs" sh -c) \
    > build-tools/clang-check.log 2>&1 || { grep -E 'error|warning' build-tools/clang-check.log | head -40; return 1; }
}

# Why some findings are suppressed: the code fills vectors lane by lane and patches through a pointer to their pixels, and
# cppcheck takes both for uninitialised. The engine casts scratch memory to the types of a stage. Rows begin before column
# 0. gcc and clang keep the sign when they shift a negative number to the right. GLib ends a program that has no memory left.
do_cppcheck () {
  need cppcheck || return 77
  cppcheck -q -j "$jobs" --std=c11 --enable=warning,performance,portability --inline-suppr --library=gtk,posix \
    --error-exitcode=1 -I. -DCPU_ISA=baseline -DG_BEGIN_DECLS= -DG_END_DECLS= '-DG_DEFINE_AUTOPTR_CLEANUP_FUNC(a,b)=' \
    '-DG_DECLARE_FINAL_TYPE(a,b,c,d,e)=' '-DG_DECLARE_DERIVABLE_TYPE(a,b,c,d,e)=' '-DG_DEFINE_TYPE(a,b,c)=' \
    '-DG_DEFINE_ABSTRACT_TYPE(a,b,c)=' '-DGST_PTR_FORMAT="p"' '-DGST_TIME_FORMAT="s"' \
    '-DGST_TIME_ARGS(a)=(a)' '-DGST_STIME_FORMAT="s"' '-DGST_STIME_ARGS(a)=(a)' '-DG_GSIZE_FORMAT="zu"' \
    '-DG_GUINT64_FORMAT="lu"' '-DG_GINT64_FORMAT="ld"' '-DG_GNUC_PRINTF(a,b)=' '-DGST_ELEMENT_REGISTER_DEFINE(a,b,c,d)=' --suppress=missingIncludeSystem \
    --suppress='uninitvar:stereo/cpu/*' --suppress=uninitvar:stereo/sparse/* --suppress=nullPointerOutOfMemory --suppress=nullPointerArithmeticOutOfMemory \
    --suppress=ctunullpointerOutOfMemory --suppress='ctunullpointer:gst/*' \
    --suppress='invalidPointerCast:stereo/cpu/*' --suppress=negativeIndex:stereo/cpu/sgm.c \
    --suppress=shiftNegativeLHS:stereo/engine/remap.c --suppress=shiftNegativeLHS:stereo/exact/align.h --suppress=internalAstError:stereo/cpu/exponential.c \
    --suppress=normalCheckLevelMaxBranches stereo gst
}

# element_tests [BUILD]: prints the meson names of the element tests, without those that run another program (gst-inspect,
# Python)
element_tests () {
  meson test -C "${1:-$tests_build}" --list --suite elements 2> /dev/null | sed -n 's/^.* \/ //p' | grep -v -e '^gst-' -e ' '
}

# each FUNCTION TEST...: calls FUNCTION for every test, JOBS at once
each () {
  function=$1
  shift
  [ $# -gt 0 ] && printf '%s\n' "$@" | xargs -P "$jobs" -n 1 sh "$root/tests/tools.sh" "$function"
}

build_tests () {
  [ "$tests_build" != build-tools/gcc ] || do_gcc
}

# The tracer prints a message for every object that is alive at the end of a test.
do_leaks () {
  need pkg-config || return 77
  build_tests || return 1
  # the tests see only the plugins that they use, so the plugin of the tracer has to be added
  mkdir -p build-tools/tracers
  cp "$(pkg-config --variable=pluginsdir gstreamer-1.0)/libgstcoretracers.so" build-tools/tracers/ || return 1
  # One test runs alone first, because it writes the registry.
  # overload judges when its frames come, which other tests disturb; the leak check of AddressSanitizer sees it alone.
  # shellcheck disable=SC2046
  leaks_of meta && each leaks_of ${LEAKS_TESTS:-$(element_tests | grep -v -x -e overload)}
}

leaks_of () {
  log=$root/build-tools/leaks-$1.log
  rm -f "$log"
  # the tracer prints nothing at the end of a child process, so tests do not fork
  meson test -C "$tests_build" --suite elements --no-rebuild --timeout-multiplier 20 --logbase "leaks-$1" --wrapper "env GST_TRACERS=leaks
    GST_DEBUG=GST_TRACER:7 GST_DEBUG_NO_COLOR=1 GST_DEBUG_FILE=$log CK_FORK=no
    GST_PLUGIN_SYSTEM_PATH_1_0=$root/build-tools/tracers GST_REGISTRY=$root/build-tools/leaks-registry.bin" \
    "$1" > "$log.meson" 2>&1 && return 0
  # A test that leaves objects fails for that alone. One leak is known and GStreamer's own (1.22): two compositors in a row
  # behind a tee lose the same seek event.
  alive=$(grep -h 'object-alive, type-name=(string)[A-Z]' "$log" 2> /dev/null)
  if [ -z "$alive" ]; then
    echo "$1 fails:"
    tail -n 15 "$log.meson"
    return 1
  fi
  ! echo "$alive" | grep -v 'type-name=(string)GstEvent.*description=(string)seek event' | cut -c1-400 | head -5 | grep . ||
    { echo "$1 leaves objects"; return 1; }
}

# No test is left out. Tests with random cases run fewer of them, and watchdogs wait longer. glib.supp and
# tests/valgrind.supp name what is suppressed and why.
do_valgrind () {
  need valgrind || return 77
  build_tests || return 1
  # shellcheck disable=SC2086
  each valgrind_of ${VALGRIND_TESTS:-$(element_tests)}
}

valgrind_of () {
  glib=/usr/share/glib-2.0/valgrind/glib.supp
  [ -f "$glib" ] && glib="--suppressions=$glib" || glib=
  export G_SLICE=always-malloc G_DEBUG=gc-friendly GST_REGISTRY_FORK=no CK_FORK=no
  # valgrind does not know AVX-512
  export STEREO_CPU=avx2 STEREO_TEST_SLOWNESS=50 STEREO_TEST_COUNT=3
  export STEREO_STREAM_EPISODES=10 STEREO_LOAD_FRAMES=100 STEREO_LOAD_ELEMENTS=3 STEREO_LOAD_SECONDS=2
  log=build-tools/valgrind-$1.log
  start=$(date +%s)
  if meson test -C "$tests_build" --suite elements --no-rebuild --timeout-multiplier 20 --logbase "valgrind-$1" --print-errorlogs --wrapper \
      "valgrind -q --error-exitcode=9 --fair-sched=try --leak-check=full --show-leak-kinds=definite
      --errors-for-leak-kinds=definite --num-callers=30 --gen-suppressions=all $glib
      --suppressions=$root/tests/valgrind.supp" "$1" > "$log" 2>&1; then
    echo "$1: clean, $(($(date +%s) - start)) s"
  else
    echo "$1: FAILED after $(($(date +%s) - start)) s, see $log"
    grep -E '^==[0-9]+== |^[0-9]+%:|:[FE]:' "$log" | head -30
    return 1
  fi
}

# First the threads of the engine. ThreadSanitizer does not see the locks of a GLib that is built without it, so that the threads
# of the elements are checked only where there are such libraries. It slows everything down ten times and more.
do_tsan () {
  targets='' build tsan -Db_sanitize=thread -Db_lundef=false -Dbuildtype=debugoptimized || return 1
  # a long history: a read without its stack cannot be told from those that are suppressed
  export TSAN_OPTIONS="exitcode=66 allocator_may_return_null=1 history_size=7 suppressions=$root/tests/tsan.supp"
  bad=0
  for test in ${TSAN_ENGINE_TESTS:-pool flight plan remap frames}; do
    "build-tools/tsan/tests/engine/test_$test" > "build-tools/tsan-engine-$test.log" 2>&1 ||
      { bad=1; grep -A12 WARNING "build-tools/tsan-engine-$test.log" | head -60; tail -n 3 "build-tools/tsan-engine-$test.log"; }
  done
  [ -n "${TSAN_LIBS:-}" ] || return $bad
  export LD_LIBRARY_PATH="$TSAN_LIBS"
  # GLib would pass memory from thread to thread in its own allocator, and its history with it; a child process would end
  # without a report
  export G_SLICE=always-malloc CK_FORK=no CK_DEFAULT_TIMEOUT=0 GST_REGISTRY_FORK=no STEREO_TEST_SLOWNESS=10
  export STEREO_STREAM_EPISODES="${STEREO_STREAM_EPISODES:-100}" STEREO_LOAD_FRAMES="${STEREO_LOAD_FRAMES:-200}"
  export STEREO_LOAD_ELEMENTS="${STEREO_LOAD_ELEMENTS:-3}" STEREO_THREADS_SECONDS="${STEREO_THREADS_SECONDS:-20}"
  for test in ${TSAN_TESTS:-$(element_tests build-tools/tsan)}; do
    log=build-tools/tsan-$test.log
    meson test -C build-tools/tsan --no-rebuild --timeout-multiplier 20 --verbose "$test" > "$log" 2>&1 && continue
    bad=1
    echo "$test:"
    grep -E '^SUMMARY: ThreadSanitizer' "$log" | sort | uniq -c | head -20
    grep -E 'STANDS STILL|:[FE]:|^FAIL' "$log" | cut -c1-300 | head -5
  done
  return $bad
}

do_fuzz () {
  need clang || return 77
  echo 'int LLVMFuzzerTestOneInput (const char *data, unsigned long size) { return 0; }' |
    clang -x c - -fsanitize=fuzzer,address -o /dev/null 2> /dev/null ||
    { echo "skipped: clang has no libFuzzer (libclang-rt-dev)"; return 77; }
  targets=
  for name in ${FUZZ_TARGETS:-}; do
    targets="$targets tests/fuzz/libfuzz-$name"
  done
  targets=${targets:+$targets fuzz-plugins}
  targets=${targets:-libfuzz} CC=clang build fuzz -Dfuzz=true -Db_sanitize=address,undefined -Db_lundef=false -Dbuildtype=debugoptimized \
    "-Dc_args=-fno-sanitize=alignment -fsanitize=float-cast-overflow" || return 1
  export ASAN_OPTIONS=allocator_may_return_null=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
  export LSAN_OPTIONS="suppressions=$root/tests/lsan.supp:print_suppressions=0" GST_REGISTRY_FORK=no
  bad=0
  found=build-tools/fuzz/found
  for name in ${FUZZ_TARGETS:-$(cd build-tools/fuzz/tests/fuzz && find . -name 'libfuzz-*' -type f | sed 's/.*libfuzz-//')}; do
    program=build-tools/fuzz/tests/fuzz/libfuzz-$name
    log=$found/$name.log
    mkdir -p "$found/$name"
    corpus=
    [ -d "tests/fuzz/corpus/$name" ] && corpus=tests/fuzz/corpus/$name
    # shellcheck disable=SC2086
    if "$program" -max_total_time="${FUZZ_SECONDS:-60}" -print_final_stats=1 -artifact_prefix="$found/$name-" \
        "$found/$name" $corpus > "$log" 2>&1; then
      echo "$name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs"
    else
      echo "$name: FOUND, see $log"
      grep -vE '^(INFO|#[0-9]+\s|\s*NEW_FUNC)' "$log" | grep -v '^$' | cut -c 1-400 | head -40
      bad=1
    fi
  done
  return $bad
}

case ${1:-} in
  leaks_of | valgrind_of) "$@"; exit ;;
esac

mkdir -p build-tools || exit 1
for part in ${*:-$all_parts}; do
  say "$part"
  start=$(date +%s)
  # in a shell of its own, so that the variables that a part exports end with it
  (do_"$part") && status=0 || status=$?
  seconds=$(($(date +%s) - start))
  case $status in
    0) passed=$((passed + 1)) && echo "$part: passed in $seconds s" ;;
    77) skipped=$((skipped + 1)) ;;
    *) failed=$((failed + 1)) && echo "$part: FAILED after $seconds s" ;;
  esac
done
echo "$passed parts passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
