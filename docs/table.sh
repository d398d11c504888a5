#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# table.sh DOCUMENT PROGRAM: fails when what stands between the two comments that name the program is not what it prints.
set -eu

name=$(basename "$2")
made=$("$2")
if ! sed -n "/^<!-- $name begins -->\$/,/^<!-- $name ends -->\$/p" "$1" | sed '1d;$d' |
  { printf '%s\n' "$made" | diff -u - /dev/fd/3; } 3<&0; then
  echo "$1 is not what the code says (-): put what $name prints between its two comments" >&2
  exit 1
fi
