#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The library exports the functions that debian/libgststereo-1.0-0.symbols promises, and no others. A new function gets a
# line there, with the version that brings it. No line goes before the library gets another soname.
#
#   sh tests/gst/meta/symbols.sh LIBRARY SYMBOLS
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# a build that counts lines has gcov's own, too
nm -D --defined-only "$1" | sed -n 's/.* [TDBR] //p' | grep -vE '^(__gcov|mangle_path$)' | sort >"$work/exported"
sed -n 's/^ \(.*\)@.*/\1/p' "$2" | sort >"$work/promised"
[ -s "$work/promised" ]
diff "$work/promised" "$work/exported"
