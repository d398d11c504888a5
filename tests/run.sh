#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Runs the tests of the project. Missing packages of the distribution are installed first.
#
#   sh tests/run.sh            the gate, which every commit passes: about 8 minutes on 2 cores, 12 with nvcc
#   sh tests/run.sh --all      every part, as before a release: about 2 hours on 2 cores
#   sh tests/run.sh PART...    the parts named, in this order:
#
#   gate         the format of the code; a build in build-tests/, and its tests without the suites "long" and "clock"
#   long         the suites "long" (minutes of computing) and "clock" (judge times: nothing else should run beside them)
#   sanitizers   a build in build-tests-asan/ with AddressSanitizer and UBSan and without CUDA, and the gate's tests there
#   coverage     a build in build-tests-coverage/ that counts lines, the gate's tests there, and the share of the lines
#                of stereo/ and gst/ that they reach, with the ten files of which they reach least
#   packages     the Debian packages, built in build-package/: tests/package.sh
#   tools        other compilers and analysis tools in build-tools/, each for a short time: tests/tools.sh
#   mutants      small faults put into copies of the sources, each of which a test has to find: tests/mutants.sh
#
# The gate needs 200 MB of disk, all parts need 3 GB; packages that are missing come on top of it (up to 300 MB to download,
# 1.2 GB on disk). A test of the gate neither measures time nor waits for time to pass: a busy machine gives the same result.
# tests/gpu.sh runs what needs a GPU. While tests run, a line every 20 seconds says which ones. The last line is "N passed,
# N failed, N skipped", the sum over the parts; the format and each tool count as one test.
set -eu

# shellcheck source=tests/support/arguments.sh
. "$(dirname "$0")/support/arguments.sh"
all_parts='gate long sanitizers coverage packages tools mutants'
parts=gate length='about 8 minutes on 2 cores, 12 with nvcc, and 200 MB of disk'
if [ "${1:-}" = --all ]; then
  shift
  check_arguments 0 "$@"
  parts=$all_parts
elif [ $# -gt 0 ]; then
  check_arguments $# "$@"
  check_parts "$all_parts" "$@"
  parts=$*
fi
[ "$parts" = gate ] || length='up to 2 hours on 2 cores, and 3 GB of disk'
cd "$(dirname "$0")/.."
# shellcheck source=pipelines/packages.sh
. pipelines/packages.sh
begin=$(date +%s)
passed=0 failed=0 skipped=0

# part NAME TEXT: whether a part is to run; announces it with the time since the start
part () {
  case " $parts " in *" $1 "*) ;; *) return 1 ;; esac
  announce "$1: $2"
}

# announce TEXT
announce () {
  say "$1 ($(minutes) since the start)"
}

minutes () {
  seconds=$(($(date +%s) - begin))
  printf '%d:%02d min' $((seconds / 60)) $((seconds % 60))
}

# judge COMMAND...: counts a command as one test; its exit status 77 means skipped
judge () {
  "$@" && status=0 || status=$?
  case $status in
    0) passed=$((passed + 1)) ;;
    77) skipped=$((skipped + 1)) ;;
    *) failed=$((failed + 1)) ;;
  esac
}

# count LABEL LOG: prints a number of meson's summary
count () {
  number=$(sed -n "s/^$1: *\([0-9][0-9]*\).*/\1/p" "$2" | tail -n 1)
  echo "${number:-0}"
}

# configure BUILD OPTION...: configures once, then builds; ninja configures again when a meson.build has changed
configure () {
  [ -f "$1/build.ninja" ] || meson setup "$@"
  ninja -C "$1"
}

# run_tests BUILD ARGUMENT...: runs meson's tests, shows their progress and why some were skipped, and adds up the counts
run_tests () {
  build=$1
  shift
  log=$build/run.log status=$build/run.status running=$build/running
  rm -rf "$running"
  mkdir "$running"
  sh tests/support/progress.sh watch "$running" "$log" &
  watcher=$!
  # Time limits are there to end a test that hangs. A busy machine must not reach them.
  { CK_TIMEOUT_MULTIPLIER=10 STEREO_TEST_SLOWNESS=10 \
      meson test -C "$build" --no-rebuild --print-errorlogs --logbase run --timeout-multiplier 10 \
      --wrapper "sh $PWD/tests/support/progress.sh start $PWD/$running" "$@" && echo 0 >"$status" || echo $? >"$status"; } \
    2>&1 | tee "$log"
  kill "$watcher" 2>/dev/null || true
  wait "$watcher" 2>/dev/null || true
  python3 tests/support/skips.py "$build/meson-logs/run-sh.json"
  ok=$(count Ok "$log")
  bad=$(($(count Fail "$log") + $(count Timeout "$log") + $(count 'Unexpected Pass' "$log")))
  passed=$((passed + ok))
  skipped=$((skipped + $(count Skipped "$log")))
  # a run that ended without a summary is a failure, whatever its counts say
  [ "$(cat "$status")" = 0 ] || [ "$bad" -gt 0 ] || bad=1
  failed=$((failed + bad))
}

# run_tools PART...: parts of tests/tools.sh, each of which counts as one test
run_tools () {
  log=build-tests/tools.log
  TESTS_BUILD=build-tests TOOLS_QUICK=1 FUZZ_SECONDS=10 FUZZ_TARGETS='calibration caps meta params' \
    VALGRIND_TESTS="pairing frame formats stream_pairs stream_changes flight errors meta overlay_times overlay_inputs \
      rectify_stream" \
    TSAN_ENGINE_TESTS='flight plan remap' STEREO_STREAM_EPISODES=50 JOBS=$(nproc) \
    sh tests/tools.sh "$@" 2>&1 | tee "$log" || true
  # count_parts WHAT: prints a number of the line "N parts passed, N failed, N skipped"
  count_parts () {
    number=$(sed -n "s/^[0-9]* parts passed, .*/&/p" "$log" | tail -n 1 | tr ',' '\n' | sed -n "s/^ *\([0-9]*\) .*$1\$/\1/p")
    echo "${number:-0}"
  }
  passed=$((passed + $(count_parts passed)))
  skipped=$((skipped + $(count_parts skipped)))
  failed=$((failed + $(count_parts failed)))
  # a run without its last line is a failure, whatever its counts say
  grep -q '^[0-9]* parts passed, ' "$log" || failed=$((failed + 1))
}

say "the parts $parts: $length, besides packages that are missing (up to 300 MB to download, 1.2 GB on disk)"
announce "packages"
tools_packages=
# clang-format of the version that tests/style.sh wants, or the means to install it
style_packages=python3-venv
! grep -qs '^VERSION_ID="12"' /etc/os-release || style_packages=clang-format-14
# libclang-rt-dev has libFuzzer and the sanitizers of clang
case " $parts " in *" tools "*) tools_packages='clang libclang-rt-dev cppcheck valgrind' ;; esac
# GStreamer's CUDA library, too heavy for the gate: its package needs OpenCV's
case " $parts " in *" long "*) ! PATH=$PATH:/usr/local/cuda/bin command -v nvcc >/dev/null || tools_packages="$tools_packages libgstreamer-plugins-bad1.0-dev" ;; esac
# shellcheck disable=SC2086
install_missing $build_packages g++ gobject-introspection $style_packages $tools_packages \
  gstreamer1.0-plugins-bad gstreamer1.0-plugins-ugly gstreamer1.0-libav gir1.2-gst-rtsp-server-1.0 python3-opencv python3-yaml \
  xvfb

if part gate "the format of the code, and a build in build-tests/"; then
  judge sh tests/style.sh
fi
case " $parts " in
  *" gate "* | *" long "* | *" tools "*)
    # shellcheck disable=SC2046
    configure build-tests -Dwerror=true $(cuda_options -Dcuda-arch=sm_90) ;;
esac
if part gate "the tests"; then
  run_tests build-tests --no-suite long --no-suite clock
fi

if part long "the suites long and clock"; then
  run_tests build-tests --suite long
  run_tests build-tests --suite clock --num-processes 1
fi

if part sanitizers "AddressSanitizer and UBSan in build-tests-asan/"; then
  # no check of alignment: GStreamer's own macros write 16-bit samples to odd addresses
  configure build-tests-asan -Db_sanitize=address,undefined -Db_lundef=false -Dbuildtype=debugoptimized \
    '-Dc_args=-fno-sanitize=alignment -fsanitize=float-cast-overflow' -Dcuda=disabled -Dintrospection=disabled
  # GStreamer scans plugins in another program. That program is not sanitized, so it could not load a sanitized plugin.
  # A sanitized process with threads must not fork.
  export GST_REGISTRY_FORK=no CK_FORK=no
  export ASAN_OPTIONS=allocator_may_return_null=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
  export LSAN_OPTIONS="suppressions=$PWD/tests/lsan.supp:print_suppressions=0"
  say "filling the registry of GStreamer once, without a leak check: other plugins leak while they are scanned"
  ASAN_OPTIONS=detect_leaks=0 meson test -C build-tests-asan --no-rebuild meta >/dev/null 2>&1 || true
  export STEREO_TEST_DRAWS=15 STEREO_FUZZ_ITERATIONS=1500
  run_tests build-tests-asan --no-suite golden --no-suite bench --no-suite long --no-suite clock
  unset GST_REGISTRY_FORK CK_FORK ASAN_OPTIONS UBSAN_OPTIONS LSAN_OPTIONS STEREO_TEST_DRAWS STEREO_FUZZ_ITERATIONS
fi

if part coverage "lines that no test reaches, in build-tests-coverage/"; then
  configure build-tests-coverage -Db_coverage=true -Dc_args=-fprofile-update=atomic -Dbuildtype=debugoptimized -Dcuda=disabled \
    -Dintrospection=disabled
  run_tests build-tests-coverage --no-suite long --no-suite clock --no-suite bench --no-suite pipelines --no-suite docs --no-suite scripts
  judge python3 tests/support/coverage.py build-tests-coverage
fi

if part packages "Debian packages in build-package/"; then
  judge sh tests/package.sh
fi

if part tools "clang, cppcheck, the leaks tracer, valgrind, ThreadSanitizer and libFuzzer in build-tools/"; then
  run_tools clang cppcheck leaks valgrind tsan fuzz
fi

if part mutants "faults that tests have to find"; then
  judge sh tests/mutants.sh
fi

# weight: lines of code, a part a row
weight () {
  for name in gst/*/ gst stereo cuda pipelines docs tests; do
    count=$(git ls-files -- "$name" | grep -E '\.(c|h|cpp|cu|cuh|py|sh|html)$|meson\.build$' | tr '\n' '\0' | xargs -0 cat | wc -l)
    printf '%8d lines  %s\n' "$count" "$name"
  done
}
if [ "$parts" = "$all_parts" ] && git rev-parse >/dev/null 2>&1; then
  weight
fi
announce "done"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
