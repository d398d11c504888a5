#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Runs everything that a commit has to pass:
#   1. installs missing packages of the distribution
#   2. checks the format of the code: tests/style.sh
#   3. builds in build-tests/ and runs every test
#   4. builds in build-tests-asan/, with AddressSanitizer and UBSan and without CUDA, and runs the tests there
#   5. builds the Debian packages in build-package/ and tests them: tests/package.sh
#   6. runs other tools in build-tools/, each for a short time: tests/tools.sh
#
#   sh tests/run.sh            all steps: about 30 minutes on 2 cores, the first time with nvcc about 35
#   sh tests/run.sh --quick    steps 1 to 3: about 7 minutes on 2 cores, the first time with nvcc about 12
#
#   STEREO_NO_ASAN=1, STEREO_NO_PACKAGE=1, STEREO_NO_TOOLS=1   leave out step 4, 5 or 6
#
# The last line is "N passed, N failed, N skipped", the sum over all steps; the format and each tool count as one test.
set -eu

# shellcheck source=tests/support/arguments.sh
. "$(dirname "$0")/support/arguments.sh"
length="about 30 minutes on 2 cores, the first time with nvcc about 35; --quick takes a third"
if [ "${1:-}" = --quick ]; then
  shift
  STEREO_NO_ASAN=1 STEREO_NO_PACKAGE=1 STEREO_NO_TOOLS=1
  length="about 7 minutes on 2 cores, the first time with nvcc about 12"
fi
check_arguments 0 "$@"
cd "$(dirname "$0")/.."
# shellcheck source=pipelines/packages.sh
. pipelines/packages.sh
begin=$(date +%s)

# step NUMBER TEXT: announces a step of six, with the time since the start
step () {
  say "$1/6, after $((($(date +%s) - begin) / 60)) min: $2"
}

passed=0 failed=0 skipped=0

# count LABEL LOG: prints a number of meson's summary
count () {
  number=$(sed -n "s/^$1: *\([0-9][0-9]*\).*/\1/p" "$2" | tail -n 1)
  echo "${number:-0}"
}

# run_tests BUILD ARGUMENT...: shows the progress of meson test and adds up its counts
run_tests () {
  build=$1
  shift
  log=$build/run.log status=$build/run.status
  { meson test -C "$build" --no-rebuild --print-errorlogs "$@" && echo 0 >"$status" || echo $? >"$status"; } 2>&1 | tee "$log"
  ok=$(count Ok "$log")
  bad=$(($(count Fail "$log") + $(count Timeout "$log") + $(count 'Unexpected Pass' "$log")))
  passed=$((passed + ok))
  skipped=$((skipped + $(count Skipped "$log")))
  # a run that ended without a summary is a failure, whatever its counts say
  [ "$(cat "$status")" = 0 ] || [ "$bad" -gt 0 ] || bad=1
  failed=$((failed + bad))
}

# configure BUILD OPTION...: configures once, then builds; ninja configures again when a meson.build has changed
configure () {
  [ -f "$1/build.ninja" ] || meson setup "$@"
  ninja -C "$1"
}

say "this takes $length"
step 1 "packages"
tools_packages=
# clang-format of the version that tests/style.sh wants, or the means to install it
style_packages=python3-venv
! grep -qs '^VERSION_ID="12"' /etc/os-release || style_packages=clang-format-14
# libclang-rt-dev has libFuzzer and the sanitizers of clang
[ -n "${STEREO_NO_TOOLS:-}" ] || tools_packages='clang libclang-rt-dev cppcheck valgrind'
# shellcheck disable=SC2086
install_missing $build_packages g++ gobject-introspection $style_packages $tools_packages \
  gstreamer1.0-plugins-bad gstreamer1.0-plugins-ugly gstreamer1.0-libav gir1.2-gst-rtsp-server-1.0 python3-opencv \
  xvfb gir1.2-gtk-4.0

step 2 "format of the code"
sh tests/style.sh && status=0 || status=$?
case $status in
  0) passed=$((passed + 1)) ;;
  77) skipped=$((skipped + 1)) ;;
  *) failed=$((failed + 1)); say "the format differs: sh tests/style.sh --apply mends it" ;;
esac

step 3 "build and test in build-tests/"
# shellcheck disable=SC2046
configure build-tests -Dwerror=true $(cuda_options -Dcuda-arch=sm_90)
run_tests build-tests

if [ -n "${STEREO_NO_ASAN:-}" ]; then
  step 4 "left out: --quick, or STEREO_NO_ASAN is set"
else
  step 4 "build and test under AddressSanitizer and UBSan in build-tests-asan/"
  # no check of alignment: GStreamer's own macros write 16-bit samples to odd addresses
  configure build-tests-asan -Db_sanitize=address,undefined -Db_lundef=false -Dbuildtype=debugoptimized \
    "-Dc_args=-fno-sanitize=alignment -fsanitize=float-cast-overflow" -Dcuda=disabled -Dintrospection=disabled
  # GStreamer scans plugins in another program. That program is not sanitized, so it could not load a sanitized plugin.
  # A sanitized process with threads must not fork.
  export GST_REGISTRY_FORK=no CK_FORK=no
  export ASAN_OPTIONS=allocator_may_return_null=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
  export LSAN_OPTIONS="suppressions=$PWD/tests/lsan.supp:print_suppressions=0"
  say "filling the registry of GStreamer once, without a leak check: other plugins leak while they are scanned"
  ASAN_OPTIONS=detect_leaks=0 meson test -C build-tests-asan --no-rebuild meta >/dev/null 2>&1 || true
  export STEREO_TEST_DRAWS=15 STEREO_FUZZ_ITERATIONS=1500
  run_tests build-tests-asan --timeout-multiplier 4 --no-suite golden --no-suite bench --no-suite long
fi

if [ -n "${STEREO_NO_PACKAGE:-}" ]; then
  step 5 "left out: --quick, or STEREO_NO_PACKAGE is set"
else
  step 5 "Debian packages in build-package/"
  if sh tests/package.sh; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
fi

if [ -n "${STEREO_NO_TOOLS:-}" ]; then
  step 6 "left out: --quick, or STEREO_NO_TOOLS is set"
else
  step 6 "other tools in build-tools/ (not gcc -Werror, which was step 3)"
  log=build-tests/tools.log
  # All of tests/tools.sh takes an hour. Here run only the tests that are quick under valgrind and ThreadSanitizer, and
  # for some seconds the libFuzzer targets that compute no frame; the other targets ran under AddressSanitizer in step 4.
  TESTS_BUILD=build-tests TOOLS_QUICK=1 FUZZ_SECONDS=10 FUZZ_TARGETS='calibration caps meta params' \
    VALGRIND_TESTS="pairing frame formats stream_pairs stream_changes flight errors meta overlay_times overlay_inputs \
      rectify_stream" \
    TSAN_ENGINE_TESTS='flight plan remap' TSAN_TESTS='tsan pairing' STEREO_STREAM_EPISODES=50 JOBS=$(nproc) \
    sh tests/tools.sh clang cppcheck leaks valgrind tsan fuzz 2>&1 | tee "$log" || true
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
fi

say "done after $((($(date +%s) - begin) / 60)) min"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
