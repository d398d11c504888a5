#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Puts small faults into a copy of the sources, one after another, and checks that tests of the same module find each.
#
#   sh tests/mutants.sh              every mutant of tests/mutants/list: about 10 minutes of CPU time
#   sh tests/mutants.sh NUMBER...    the mutants with these numbers
#
#   JOBS=N   how many run at once (default: the number of cores)
#
# The copy lies in build-mutants/, which may be deleted at any time. It is built once, with every mutant in it;
# STEREO_MUTANT=NUMBER switches one on (tests/mutants/mutant.h). The tests are those of the gate, and first they have to pass
# without a mutant. A test that hangs, and reaches its time limit, has found its mutant. The last line is
# "N mutants found, N missed"; the exit status is 1 when one was missed.
set -eu
# shellcheck source=tests/support/arguments.sh
. "$(dirname "$0")/support/arguments.sh"
one=
if [ "${1:-}" = run_one ]; then # this script calls itself so, to run several at once
  one=$2
else
  for argument in "$@"; do
    case $argument in
      *[!0-9]* | 0* | '') check_arguments 0 "$argument" ;;
    esac
  done
fi
cd "$(dirname "$0")/.."
top=build-mutants copy=build-mutants/copy build=build-mutants/copy/build
jobs=${JOBS:-$(nproc)}

# line_of NUMBER: what the list says of a mutant
line_of () {
  sed -n "s/^$1|//p" "$top/numbered"
}

# tests_of NUMBER: the names of its tests, one a line
tests_of () {
  line_of "$1" | cut -d'|' -f2 | tr ',' '\n' | sed 's/^ *//; s/ *$//'
}

# run NUMBER NAMES OPTION...: whether the tests that NAMES names, one a line, pass with that mutant; 0 is none. Of a name with
# a filter, "NAME: TEXT", those cases run that have the text in their names.
run () {
  number=$1 names=$(echo "$2" | sed 's/: .*//') filter=$(echo "$2" | sed -n 's/.*: //p')
  shift 2
  [ -z "$filter" ] || set -- "$@" --test-args "$filter"
  before=$IFS
  IFS='
'
  # shellcheck disable=SC2086
  set -- "$@" $names
  IFS=$before
  STEREO_MUTANT=$number STEREO_TEST_DRAWS=0 STEREO_TEST_STOP=1 \
    meson test -C "$build" --maxfail 1 --logbase "mutant-$number" "$@" >"$top/$number.log" 2>&1 </dev/null
}

if [ "$one" ]; then
  if MESON_TESTTHREADS=1 run "$one" "$(tests_of "$one")" --no-rebuild; then
    echo "MISSED $one: $(line_of "$one")"
  elif grep -q '^Ok: ' "$top/$one.log"; then
    echo "found $one: $(line_of "$one")"
  else
    echo "MISSED $one: its tests did not run, see $top/$one.log"
  fi
  exit
fi

mkdir -p "$copy"
{ git ls-files -co --exclude-standard 2>/dev/null || find . -path './build*' -prune -o -type f -print; } |
  python3 tests/mutants/apply.py tests/mutants/list "$copy" >"$top/numbered"
# no warnings: a mutant may leave a variable without a use. Sources that define _GNU_SOURCE do so after the first header.
[ -f "$build/build.ninja" ] || meson setup "$build" "$copy" -Dcuda=disabled -Dintrospection=disabled \
  "-Dc_args=-w -D_GNU_SOURCE -include $PWD/tests/mutants/mutant.h" "-Dcpp_args=-w -include $PWD/tests/mutants/mutant.h" >"$top/setup.log" ||
  { tail -n 20 "$top/setup.log"; exit 1; }

numbers=${*:-$(cut -d'|' -f1 "$top/numbered")}
for number in $numbers; do
  [ "$(line_of "$number")" ] || refuse "there is no mutant $number"
done
names=$(for number in $numbers; do tests_of "$number"; done | sed 's/: .*//' | sort -u)
meson test -C "$build" --list --no-suite long --no-suite clock 2>/dev/null | sed -n 's/^[^ ]*:.* \/ //p' >"$top/gate"
echo "$names" | while read -r name; do
  grep -Fqx "$name" "$top/gate" || { echo "$name is no test of the gate"; exit 1; }
done
echo "Building, and running $(echo "$names" | wc -l) tests without a mutant ..."
MESON_TESTTHREADS=$jobs run 0 "$names" || { tail -n 30 "$top/0.log"; echo "tests fail without a mutant"; exit 1; }
# shellcheck disable=SC2086
printf '%s\n' $numbers | xargs -P "$jobs" -n 1 sh tests/mutants.sh run_one | tee "$top/result"
missed=$(grep -c '^MISSED' "$top/result" || true)
echo "$(grep -c '^found' "$top/result" || true) mutants found, $missed missed"
[ "$missed" = 0 ]
