#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Installs what is missing, builds into build-tests/, runs every test; then the same on the CPU under
# AddressSanitizer and UBSan in build-tests-asan/ (leave that out with STEREO_NO_ASAN=1), builds the Debian packages
# (STEREO_NO_PACKAGE=1), and looks at it with other tools in build-tools/, shortly: tests/tools.sh (STEREO_NO_TOOLS=1).
# The last line is "N passed, N failed, N skipped", of all of it together; a tool counts as one.
set -eu

cd "$(dirname "$0")/.."
# shellcheck source=pipelines/packages.sh
. pipelines/packages.sh

passed=0 failed=0 skipped=0

# count LABEL LOG: reads a number out of meson's summary
count () {
  number=$(sed -n "s/^$1: *\([0-9][0-9]*\).*/\1/p" "$2" | tail -n 1)
  echo "${number:-0}"
}

# run_tests BUILD ARGUMENT...: meson's own progress is shown; its counts are added up.
run_tests () {
  build=$1
  shift
  log=$build/run.log status=$build/run.status
  { meson test -C "$build" --no-rebuild --print-errorlogs "$@" && echo 0 >"$status" || echo $? >"$status"; } 2>&1 | tee "$log"
  ok=$(count Ok "$log")
  bad=$(($(count Fail "$log") + $(count Timeout "$log") + $(count 'Unexpected Pass' "$log")))
  passed=$((passed + ok))
  skipped=$((skipped + $(count Skipped "$log")))
  # a run that ended without a summary failed, whatever it counted
  [ "$(cat "$status")" = 0 ] || [ "$bad" -gt 0 ] || bad=1
  failed=$((failed + bad))
}

# configure BUILD OPTION...: once; a changed meson.build is taken up by ninja
configure () {
  [ -f "$1/build.ninja" ] || meson setup "$@"
  ninja -C "$1"
}

say "1/5 packages"
tools_packages=
# libclang-rt is libFuzzer and clang's sanitizers
[ -n "${STEREO_NO_TOOLS:-}" ] || tools_packages='clang libclang-rt-dev cppcheck valgrind'
# shellcheck disable=SC2086
install_missing $build_packages g++ gobject-introspection libgirepository1.0-dev python3-gi gir1.2-gstreamer-1.0 \
  gir1.2-gst-plugins-base-1.0 $tools_packages

say "2/5 build and test in build-tests/"
# shellcheck disable=SC2046
configure build-tests -Dwerror=true $(cuda_options -Dcuda-arch=sm_90)
run_tests build-tests

if [ -n "${STEREO_NO_ASAN:-}" ]; then
  say "3/5 left out: STEREO_NO_ASAN is set"
else
  say "3/5 build and test under AddressSanitizer and UBSan in build-tests-asan/"
  # alignment: GStreamer's own macros write 16-bit samples to odd addresses
  configure build-tests-asan -Db_sanitize=address,undefined -Db_lundef=false -Dbuildtype=debugoptimized \
    -Dc_args=-fno-sanitize=alignment -Dcuda=disabled -Dintrospection=disabled
  # GStreamer scans plugins in another program, which is not sanitized and could not load this one; a
  # sanitized process with threads must not fork
  export GST_REGISTRY_FORK=no CK_FORK=no
  export ASAN_OPTIONS=allocator_may_return_null=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
  export LSAN_OPTIONS="suppressions=$PWD/tests/lsan.supp:print_suppressions=0"
  say "letting GStreamer look at its plugins once: what they leak is not ours"
  ASAN_OPTIONS=detect_leaks=0 meson test -C build-tests-asan --no-rebuild meta >/dev/null 2>&1 || true
  export STEREO_TEST_DRAWS=30 STEREO_FUZZ_ITERATIONS=1500
  run_tests build-tests-asan --timeout-multiplier 4 --no-suite golden --no-suite bench
fi

if [ -n "${STEREO_NO_PACKAGE:-}" ]; then
  say "4/5 left out: STEREO_NO_PACKAGE is set"
else
  say "4/5 Debian packages in build-package/"
  if sh tests/package.sh; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
fi

if [ -n "${STEREO_NO_TOOLS:-}" ]; then
  say "5/5 left out: STEREO_NO_TOOLS is set"
else
  say "5/5 other tools in build-tools/: gcc was -Werror already"
  log=build-tests/tools.log
  # by itself it takes an hour: here those tests that are quick under valgrind and ThreadSanitizer, libFuzzer's targets that
  # compute no frame (the others ran under ASan above), and some seconds each
  TESTS_BUILD=build-tests TOOLS_QUICK=1 FUZZ_SECONDS=10 FUZZ_TARGETS='calibration caps meta params' \
    VALGRIND_TESTS='pairing frame formats stream flight errors meta overlay_stream rectify_stream' \
    TSAN_ENGINE_TESTS='flight plan remap' TSAN_TESTS='tsan pairing' STEREO_STREAM_EPISODES=50 JOBS=$(nproc) \
    sh tests/tools.sh clang cppcheck leaks valgrind tsan fuzz 2>&1 | tee "$log" || true
  # count_parts WHAT: out of "N parts passed, N failed, N skipped"
  count_parts () {
    number=$(sed -n "s/^[0-9]* parts passed, .*/&/p" "$log" | tail -n 1 | tr ',' '\n' | sed -n "s/^ *\([0-9]*\) .*$1\$/\1/p")
    echo "${number:-0}"
  }
  passed=$((passed + $(count_parts passed)))
  skipped=$((skipped + $(count_parts skipped)))
  failed=$((failed + $(count_parts failed)))
  # without its last line it failed, whatever it counted
  grep -q '^[0-9]* parts passed, ' "$log" || failed=$((failed + 1))
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
