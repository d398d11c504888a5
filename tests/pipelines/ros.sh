#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# ros.sh with a stand-in of ROS: ros.sh BUILD
set -eu
. "$(dirname "$0")/common.sh"
skip_without stereotestsrc appsink
export PYTHONDONTWRITEBYTECODE=1 GI_TYPELIB_PATH="$1/gst" NODE=front FRAME=lens FAKE_ROS="$folder/published"
if [ ! -f "$1/gst/GstStereo-1.0.typelib" ] ||
  ! /usr/bin/python3 -c 'import gi, numpy; gi.require_version ("GstVideo", "1.0")'; then
  echo "SKIP: the typelib was not built, or there is no python3-gi, gir1.2-gst-plugins-base-1.0 or python3-numpy"
  exit 77
fi
/usr/bin/python3 -c 'import rclpy' 2>/dev/null || refused "install ROS 2" sh "$pipelines/ros.sh" test
export PYTHONPATH="$(cd "$(dirname "$0")/ros" && pwd)${PYTHONPATH:+:$PYTHONPATH}"
quietly sh "$pipelines/ros.sh" test num-disparities=$disparities
/usr/bin/python3 "$(dirname "$0")/test_ros.py" "$folder/published"
if ${PYTHON:-/usr/bin/python3} -c 'import rosbags' 2>/dev/null; then
  quietly sh "$pipelines/ros.sh" --record "$folder/bag" test num-disparities=$disparities
  ${PYTHON:-/usr/bin/python3} "$(dirname "$0")/test_bag.py" "$folder/bag"
  refused "not there yet" sh "$pipelines/ros.sh" --record "$folder/bag" test num-disparities=$disparities
else
  refused "pip install rosbags" sh "$pipelines/ros.sh" --record "$folder/bag" test
  echo "there is no package rosbags: bags are not tested"
fi
refused "no camera /dev/video-none" sh "$pipelines/ros.sh" /dev/video-none
refused "appsink with name=depth" /usr/bin/python3 "$pipelines/ros.py" fakesrc ! fakesink
refused "set output=depth" sh "$pipelines/ros.sh" test output=disparity num-disparities=$disparities
refused "window" sh "$pipelines/ros.sh" test window=32
