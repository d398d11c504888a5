#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The plain twins share no formula with what they prove: no function and no macro that stereo/exact/*.h or cuda/cost.cuh defines
# stands in their code. stereo/exact/shared.h is left out: it has no formula, but the marks and units of the frame state.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$root" || exit 1

# code FILE...: what is no comment
code () {
  cat "$@" | cc -x c -fpreprocessed -dD -E -P - || exit 1
}

for header in stereo/exact/*.h cuda/cost.cuh; do
  case $header in
    stereo/exact/shared.h) ;;
    *) code "$header" ;;
  esac
done > "$folder/formulas"
# A function's name begins a line, and a macro's follows #define.
sed -n -e 's/^\([A-Za-z_][A-Za-z0-9_]*\) (.*/\1/p' -e 's/^[[:space:]]*#[[:space:]]*define[[:space:]]*\([A-Za-z_][A-Za-z0-9_]*\).*/\1/p' \
  "$folder/formulas" | grep -v -x -e static_assert -e ROW | sort -u > "$folder/names"
for known in stereo_confidence stereo_align_drop STEREO_PIXEL_COSTS raw_cost; do
  grep -q -x "$known" "$folder/names" || { echo "$known is not among the names: has the layout of the headers changed?"; exit 1; }
done

failed=0
for twin in tests/stages/naive*.[ch]; do
  code "$twin" > "$folder/twin"
  used=$(grep -o -w -F -f "$folder/names" "$folder/twin" | sort -u | tr '\n' ' ')
  if [ -n "$used" ]; then
    echo "$twin uses $used"
    failed=1
  fi
  if grep -n -E '#[[:space:]]*include "(stereo/exact|cuda)/' "$twin"; then
    echo "$twin includes a header of formulas"
    failed=1
  fi
done
exit "$failed"
