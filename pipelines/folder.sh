#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# A folder of left and one of right pictures to a folder of disparities, as KITTI has them: 16-bit PNGs, disparity times
# 256, 0 = no value, under the names of the left views.
#
#   sh pipelines/folder.sh training/image_2 training/image_3 out [stereomatch properties]
#   sh pipelines/folder.sh left right out num-disparities=192 fill=gaps
#
# Both folders hold the same names; the two pictures of a pair are of one size, pairs may differ. PNGs and JPEGs are read
# as they are, other pictures that GStreamer decodes are made PNGs first. 16 bits hold 255 pixels at that scale: larger
# disparities take disparity-scale=64, for one.
#
# Each disparity is written when it is done, and Ctrl-C keeps those. Started again, folder.sh goes on with the pairs that
# have none, or an older one than their pictures; out.txt has the properties, which must be the same.
set -eu
# shellcheck source=pipelines/common.sh
. "$(dirname "$0")/common.sh"

usage_unless $# -ge 3
left=$1 right=$2 out=${3%/}
shift 3
if is_property "$out"; then
  fail "$out stands where the folder for the results should"
fi
check_properties "$@"
need multifilesrc pngdec jpegdec decodebin videoconvert stereomatch pngenc multifilesink
add "$@"
become folder.py "$left" "$right" "$out"
