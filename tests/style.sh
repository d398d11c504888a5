#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Checks that nothing outside tests/ includes from tests/, that no stage includes from another one, that there is no circle
# of includes, that elements map frames with gst_stereo_map() alone, that every mutant of tests/mutants/list still has its
# line in the sources, and that every C, C++ and CUDA file is formatted as .clang-format says, by clang-format 14.0.6. Other
# versions format other lines otherwise.
#
#   sh tests/style.sh            names the lines that differ
#   sh tests/style.sh --apply    formats the files
#
# Debian 12 has this version in its package clang-format-14. Elsewhere it is installed from PyPI into build-style/, which
# needs python3-venv. The exit status is 77 if neither can be had.
set -eu
# shellcheck source=tests/support/arguments.sh
. "$(dirname "$0")/support/arguments.sh"
apply=
[ "${1:-}" != --apply ] || { apply=yes; shift; }
check_arguments 0 "$@"
cd "$(dirname "$0")/.."
version=14.0.6
# Without git, every file outside build folders.
files=$(git ls-files -co --exclude-standard 2>/dev/null || find . -path './build*' -prune -o -type f -print)

# Who includes from tests/, compiles a file of it, or imports or sources one. Documents may name and link what lies there.
includes=$(echo "$files" | grep -vE '^(\./)?(tests|\.git)/|\.md$' | tr '\n' '\0' | xargs -0 grep -IsnE '#include ["<]tests/|\.\./tests/' || true)
if [ -n "$includes" ]; then
  echo "only files of tests/ may include from tests/; move what is needed to where both may include it:" >&2
  echo "$includes" >&2
  exit 1
fi
# Which stage includes from the folder of another one.
private=$(echo "$files" | grep -E '^(\./)?(cuda|stereo/cpu)/[a-z]+/.*\.(c|h|cu|cuh)$' | tr '\n' '\0' |
  xargs -0 grep -snE '#include "(cuda|stereo/cpu)/[a-z]+/' |
  grep -vE '^(\./)?((cuda|stereo/cpu)/[a-z]+/)[^:]*:[0-9]+:#include "(\2|stereo/cpu/vec/|stereo/cpu/post/pick\.h)' || true)
if [ -n "$private" ]; then
  echo "a stage may not include from another stage's folder; what stages do for each other stands in the plan (StereoFusion):" >&2
  echo "$private" >&2
  exit 1
fi
# Files that include each other, a source with its header as one. A private.h belongs to the sources of its folder.
circles=$(echo "$files" | grep -E '^(\./)?(gst|stereo|pipelines|cuda)/.*\.(c|h|cu|cuh)$' | xargs grep -HE '^#include "[a-z_]+/' | grep -v '/private\.h"$' |
  sed -nE 's,^(\./)?([^:]*)\.(c|h|cu|cuh):#include "([^"]*)\.(h|cuh)".*,\2 \4,p' | tsort 2>&1 >/dev/null || true)
if [ -n "$circles" ]; then
  echo "there may be no circle of includes; what both need goes into a header of its own:" >&2
  echo "$circles" >&2
  exit 1
fi
# Who maps a frame without a look at what the buffer says of its memory.
bare=$(echo "$files" | grep -E '^(\./)?gst/.*\.[ch]$' | grep -v 'gst/meta/map\.c$' | xargs grep -nE '\bgst_video_frame_map(_id)? \(' |
  grep -v '^[^:]*:[0-9]*: \*' || true)
if [ -n "$bare" ]; then
  echo "call gst_stereo_map() (gst/meta/map.h) in place of gst_video_frame_map():" >&2
  echo "$bare" >&2
  exit 1
fi
# tests/mutants.sh, which is seldom run, needs all of them.
echo "$files" | python3 tests/mutants/apply.py tests/mutants/list || { echo "change tests/mutants/list with the sources" >&2; exit 1; }

# is_pinned PROGRAM
is_pinned () { "$1" --version 2>/dev/null | grep -q "version $version"; }

for format in clang-format-14 clang-format build-style/bin/clang-format; do
  ! is_pinned "$format" || break
done
if ! is_pinned "$format"; then
  { python3 -m venv build-style && build-style/bin/pip install -q "clang-format==$version"; } >&2 ||
    { echo "clang-format $version cannot be had: install clang-format-14, or python3-venv and a way to PyPI" >&2; exit 77; }
fi
files=$(echo "$files" | grep -E '\.(c|h|cpp|cu|cuh)$')
if [ -n "$apply" ]; then
  echo "$files" | xargs "$format" -i
else
  echo "$files" | xargs "$format" --dry-run --Werror
fi
