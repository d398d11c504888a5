#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# current.sh DOCUMENT PROGRAM [ARGUMENT...]: fails when the document is not what the program prints.
set -eu

document=$1
shift
made=$("$@")
if ! printf '%s\n' "$made" | diff -u "$document" -; then
  echo "$document is not what the code says (+): its second line has the command that makes it" >&2
  exit 1
fi
