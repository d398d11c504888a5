#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Installs what is missing, builds into build-tests/, runs every test; then the same on the CPU under
# AddressSanitizer and UBSan in build-tests-asan/ (leave that out with STEREO_NO_ASAN=1), and builds the Debian packages
# (STEREO_NO_PACKAGE=1).
# The last line is "N passed, N failed, N skipped", of both runs together.
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

say "1/4 packages"
install_missing $build_packages g++ gobject-introspection libgirepository1.0-dev python3-gi gir1.2-gstreamer-1.0 \
  gir1.2-gst-plugins-base-1.0

say "2/4 build and test in build-tests/"
# shellcheck disable=SC2046
configure build-tests $(cuda_options -Dcuda-arch=sm_90)
run_tests build-tests

if [ -n "${STEREO_NO_ASAN:-}" ]; then
  say "3/4 left out: STEREO_NO_ASAN is set"
else
  say "3/4 build and test under AddressSanitizer and UBSan in build-tests-asan/"
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
  say "4/4 left out: STEREO_NO_PACKAGE is set"
else
  say "4/4 Debian packages in build-package/"
  if sh tests/package.sh; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
