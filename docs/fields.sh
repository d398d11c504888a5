#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# fields.sh DOCUMENT PYTHON REFERENCE.PY: fails when a table of the fields of `stats` has not the fields that the element gives, in
# their order.
set -eu

document=$1 python=$2 reference=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/stereo.yml" <<'END'
M1: [ 96, 0, 63.5, 0, 96, 47.5, 0, 0, 1 ]
D1: []
M2: [ 96, 0, 63.5, 0, 96, 47.5, 0, 0, 1 ]
D2: []
R: [ 1, 0, 0, 0, 1, 0, 0, 0, 1 ]
T: [ -120, 0, 0 ]
END

# compare ELEMENT PROPERTIES
compare ()
{
  sed -n "/^<!-- fields of $1 begin -->\$/,/^<!-- fields of $1 end -->\$/s/^| \(\`[^|]*\) |.*/\1/p" "$document" |
    tr , '\n' | tr -d '\` ' > "$folder/told"
  "$python" "$reference" --stats "stereotestsrc num-buffers=3 ! video/x-raw,width=256,height=96 ! $1 name=asked $2 ! fakesink" \
    > "$folder/given"
  if ! diff -u "$folder/told" "$folder/given"; then
    echo "$document has not the fields of stats that $1 gives (+)" >&2
    exit 1
  fi
}

compare stereomatch backend=cpu
compare stereorectify "backend=cpu calibration=$folder/stereo.yml"
