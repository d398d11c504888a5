#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# calibrate.py: on made boards, in a pipeline, on real ones (STEREO_DATA), and what it refuses: calibrate.sh BUILD
set -eu
. "$(dirname "$0")/common.sh"
/usr/bin/python3 -c 'import cv2, gi' 2>/dev/null || { echo "SKIP: there is no python3-opencv or no python3-gi"; exit 77; }
skip_without multifilesrc pngdec appsink stereorectify
export PYTHONDONTWRITEBYTECODE=1
here=$(cd "$(dirname "$0")" && pwd)
refused "give --left and --right, or one of" /usr/bin/python3 "$pipelines/calibrate.py"
mkdir "$folder/unit"
/usr/bin/python3 "$here/test_calibrate.py" "$folder/unit"
/usr/bin/python3 "$here/test_calibrated.py" "$folder"
