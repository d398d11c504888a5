#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# What else there is, in the cases of docs/reliability.md: GStreamer's element disparity and OpenCV's StereoBM and
# StereoSGBM, with stereomatch beside them on the CPU. Two tables; some minutes. No test: nothing here judges.
#
#   sh tests/others.sh [BUILD]              (default: build)
#
# Needs Debian's gstreamer1.0-opencv (without it that column is left out), python3-opencv, python3-gi,
# gstreamer1.0-plugins-base, gstreamer1.0-plugins-good and gstreamer1.0-tools; exit status 77 where one is missing.
# libSGM, which needs CUDA, is not compared: it is not among Debian's packages.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-build}" 2> /dev/null && pwd) || { echo "${1:-build} is not there: build first" >&2; exit 1; }
python=/usr/bin/python3 # the one that Debian's packages are for

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
