#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# current.sh DOCUMENT NAME PROGRAM [ARGUMENT...]: fails when what stands between the two comments of that name ("all": in the whole
# document) is not what the program prints.
set -eu

document=$1 name=$2
shift 2
part="/^<!-- $name begins -->\$/,/^<!-- $name ends -->\$/{/^<!-- $name /d;p;}"
[ "$name" != all ] || part=p
made=$("$@")
if ! sed -n "$part" "$document" | { printf '%s\n' "$made" | diff -u /dev/fd/3 -; } 3<&0; then
  echo "$document is not what the code says (+): it has the command that makes it" >&2
  exit 1
fi
