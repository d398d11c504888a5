#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# test_methods.sh BENCH DOCUMENT: fails when the document is not what BENCH --methods prints.
set -eu

made=$("$1" --methods)
if ! printf '%s\n' "$made" | diff -u "$2" -; then
  echo "$2 is not what the registry says (+): stereo-bench --methods > docs/methods.md" >&2
  exit 1
fi
