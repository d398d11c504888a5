#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Every gst-launch-1.0 line of the documents that takes stereotestsrc does run: documents.sh BUILD
set -eu
. "$(dirname "$0")/common.sh"
skip_without stereotestsrc depthoverlay stereoground stereonearest stereorectify

# lines FILE: the commands of its sh blocks, one a line, what is continued joined
lines () {
  awk '/^```/ { block = $0 == "```sh"; next }
    block { if (sub (/\\$/, "")) whole = whole $0; else { print whole $0; whole = "" } }' "$1"
}

root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$folder"
count=0
for document in "$root"/README.md "$root"/docs/*.md "$root"/pipelines/README.md; do
  lines "$document" | grep '^gst-launch-1.0 .*stereotestsrc' | grep -v '@preset' >"$folder/lines" || continue
  while read -r line; do
    count=$((count + 1))
    short=$(printf '%s\n' "$line" | sed 's/stereotestsrc/stereotestsrc num-buffers=3/; s/autovideosink/fakesink/g')
    echo "$(basename "$document"): $line"
    timeout 600 sh -c "$short" >"$folder/output" 2>&1 </dev/null || { cat "$folder/output"; bad "$line"; }
    if grep -q 'WARN.*erroneous\|^ERROR' "$folder/output"; then
      cat "$folder/output"
      bad "$line"
    fi
  done <"$folder/lines"
done
[ $count -ge 5 ] || bad "$count lines were found"
