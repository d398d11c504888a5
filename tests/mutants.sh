#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Puts small faults into a copy of the sources, one after another, and checks that tests of the same module find each.
#
#   sh tests/mutants.sh              every mutant of tests/mutants/list: about 30 minutes on 2 cores
#   sh tests/mutants.sh NUMBER...    the mutants with these numbers
#
#   JOBS=N   how many run at once (default: the number of cores)
#
# The copy lies in build-mutants/, which may be deleted at any time. It is built once, with every mutant in it;
# STEREO_MUTANT=NUMBER switches one on (tests/mutants/mutant.h). First the tests run without a mutant: they have to pass. The last line is
# "N mutants found, N missed"; the exit status is 1 when one was missed.
set -eu
# shellcheck source=tests/support/arguments.sh
. "$(dirname "$0")/support/arguments.sh"
for argument in "$@"; do
  case $argument in
    run_one) break ;; # this script calls itself so, to run several at once
    [1-9] | [1-9][0-9] | [1-9][0-9][0-9]) ;;
    *) check_arguments 0 "$@" ;;
  esac
done
cd "$(dirname "$0")/.."
copy=build-mutants/copy build=build-mutants/copy/build

# tests_of NUMBER: the names of its tests, one a line
tests_of () {
  sed -n "s/^$1|[^|]*|\([^|]*\)|.*/\1/p" build-mutants/numbered | tr ',' '\n' | sed 's/^ *//; s/ *$//'
}

# run NUMBER LOG TEST...: whether the tests pass with that mutant; 0 is none
run () {
  number=$1 log=$2
  shift 2
  STEREO_MUTANT=$number STEREO_TEST_DRAWS=0 STEREO_TEST_STOP=1 CK_RUN_CASE='' \
    meson test -C "$build" --no-rebuild --logbase "mutant-$number" "$@" >"$log" 2>&1 </dev/null
}

# names NUMBER: the arguments of meson for its tests, which have spaces and commas in their names
run_of () {
  tests=$(tests_of "$1")
  old=$IFS
  IFS='
'
  # shellcheck disable=SC2086
  set -- "$1" $tests
  IFS=$old
  number=$1
  shift
  run "$number" "build-mutants/$number.log" "$@"
}

if [ "${1:-}" = run_one ]; then
  if run_of "$2"; then
    echo "MISSED $(sed -n "/^$2|/p" build-mutants/numbered)"
  else
    grep -q '^Ok: ' "build-mutants/$2.log" && echo "found $2" || echo "MISSED $2: its tests did not run, see build-mutants/$2.log"
  fi
  exit
fi

mkdir -p "$copy"
{ git ls-files -co --exclude-standard 2>/dev/null || find . -path './build*' -prune -o -type f -print; } >build-mutants/files
# files that are as they were keep their times, so that only what has changed is compiled again
tar cf - -T build-mutants/files | { rm -rf build-mutants/new; mkdir build-mutants/new; tar xf - -C build-mutants/new; }
python3 tests/mutants/apply.py tests/mutants/list build-mutants/new >build-mutants/numbered
(cd build-mutants/new && find . -type f) | while read -r file; do
  cmp -s "build-mutants/new/$file" "$copy/$file" || { mkdir -p "$copy/$(dirname "$file")"; cp -p "build-mutants/new/$file" "$copy/$file"; touch "$copy/$file"; }
done
[ -f "$build/build.ninja" ] || meson setup "$build" "$copy" -Dcuda=disabled -Dintrospection=disabled \
  "-Dc_args=-w -include $PWD/tests/mutants/mutant.h" "-Dcpp_args=-w -include $PWD/tests/mutants/mutant.h" >build-mutants/setup.log
ninja -C "$build" >build-mutants/build.log 2>&1 || { grep -E 'error' build-mutants/build.log | head -20; exit 1; }

numbers=${*:-$(sed 's/|.*//' build-mutants/numbered)}
echo "without a mutant"
for number in $numbers; do tests_of "$number"; done | sort -u >build-mutants/tests
cp build-mutants/numbered build-mutants/all
printf '0|none|%s|nothing\n' "$(paste -sd, build-mutants/tests)" >>build-mutants/numbered
run_of 0 || { tail -n 30 build-mutants/0.log; echo "tests fail without a mutant"; exit 1; }
# shellcheck disable=SC2086
printf '%s\n' $numbers | xargs -P "${JOBS:-$(nproc)}" -n 1 sh tests/mutants.sh run_one | tee build-mutants/result
missed=$(grep -c '^MISSED' build-mutants/result || true)
echo "$(grep -c '^found' build-mutants/result || true) mutants found, $missed missed"
[ "$missed" = 0 ]
