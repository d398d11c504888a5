#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Shows what rtp-send.sh sends.
#
#   sh pipelines/rtp-receive.sh 5000
#
# SINK: in place of autovideosink.
set -eu
# shellcheck source=pipelines/common.sh
. "$(dirname "$0")/common.sh"

usage_unless $# -eq 1
check_port "$1"
need udpsrc rtpjitterbuffer rtph264depay avdec_h264
add udpsrc "port=$1" "caps=$rtp_caps" ! rtpjitterbuffer ! rtph264depay ! avdec_h264 !
add_screen
launch
