#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Compares stereomatch on the CPU with GStreamer's element disparity and with OpenCV's StereoBM and StereoSGBM, in the cases
# of docs/reliability.md. Prints two tables after some minutes. This is no test: nothing here passes or fails.
#
#   sh tests/others.sh [BUILD]
#
#   BUILD    the build folder (default: build)
#
# Needs Debian's packages python3-opencv, python3-gi, gstreamer1.0-plugins-base, gstreamer1.0-plugins-good and
# gstreamer1.0-tools; when one of them is missing, the exit status is 77. Without gstreamer1.0-opencv the tables have no
# column for disparity. libSGM is not compared: it needs CUDA, and Debian has no package of it.
set -u
# shellcheck source=tests/support/arguments.sh
. "$(dirname "$0")/support/arguments.sh"
check_arguments 1 "$@"
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-build}" 2> /dev/null && pwd) || { echo "there is no folder ${1:-build}: build first" >&2; exit 1; }
python=/usr/bin/python3 # Debian's packages are made for this Python

missing () { echo "skipped: $1" >&2; exit 77; }
export GST_PLUGIN_PATH="$build/gst" LD_LIBRARY_PATH="$build/gst:${LD_LIBRARY_PATH:-}" GST_DEBUG_NO_COLOR=1
command -v gst-launch-1.0 > /dev/null || missing "gst-launch-1.0 is not installed (gstreamer1.0-tools)"
"$python" -c 'import cv2, numpy' 2> /dev/null || missing "$python has no cv2 (python3-opencv)"
"$python" -c 'import gi; gi.require_version ("GstVideo", "1.0")' 2> /dev/null ||
  missing "$python has no GStreamer (python3-gi, gir1.2-gst-plugins-base-1.0)"
for element in appsrc videotestsrc pngdec pngenc stereomatch; do
  gst-inspect-1.0 "$element" > /dev/null 2>&1 || missing "there is no element $element"
done
gst-inspect-1.0 disparity > /dev/null 2>&1 && disparity=disparity || { disparity='' && echo "no element disparity (gstreamer1.0-opencv)"; }

gst-inspect-1.0 --version | tail -n +2 | head -n 1
"$python" -c 'import cv2; print ("OpenCV", cv2.__version__)'
# shellcheck disable=SC2086
exec "$python" "$here/others.py" $disparity
