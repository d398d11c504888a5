#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The targets of tests/fuzz with their seeds, in $OUT. CC and CFLAGS choose compiler and sanitizer. The target buffers is left out: it
# loads the plugins of a build. On a machine of your own, "sh tests/tools.sh fuzz" runs all of them.
set -eu
build=$(mktemp -d)
meson setup "$build" -Dfuzz=true -Dcuda=disabled -Dintrospection=disabled -Ddepthoverlay=disabled -Db_lundef=false \
  -Dbuildtype=debugoptimized
mkdir -p "$OUT/lib"
for name in calibration caps engine meta params; do
  program=$build/tests/fuzz/libfuzz-$name
  ninja -C "$build" "tests/fuzz/libfuzz-$name"
  cp "$program" "$OUT/$name"
  # where they run there is no GStreamer
  ldd "$program" | awk '$2 == "=>" && $3 ~ /^\// && $1 !~ /^lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+)\.so/ { print $3 }' |
    xargs -I '{}' cp '{}' "$OUT/lib/"
  # shellcheck disable=SC2016
  patchelf --force-rpath --set-rpath '$ORIGIN/lib' "$OUT/$name"
  [ ! -d "tests/fuzz/corpus/$name" ] || (cd "tests/fuzz/corpus/$name" && zip -q -r "$OUT/${name}_seed_corpus.zip" .)
done
