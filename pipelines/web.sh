#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The live view with depth over it in a browser: the nearest distance, what is wrong with a camera, rates, and the settings of stereomatch.
#
#   CALIBRATION=stereo.yml sh pipelines/web.sh 8080 /dev/video0 /dev/video2 [stereomatch properties]
#   sh pipelines/web.sh 8080 test                     then open http://127.0.0.1:8080/
#   sh pipelines/web.sh --listen 0.0.0.0 8080 test    lets other machines in, too: there is no password
#   sh pipelines/web.sh --listen 0.0.0.0 --control 8080 test       other machines may move the controls, too
#   sh pipelines/web.sh --allow rig.example 8080 test     browsers may call it rig.example: a name in DNS, or of a proxy
#
# WARN: warns of what is nearer, millimetres. GROUND: as for truck.sh. A movie begins again at its end.
# Takes Debian's python3-gi. Variables: pipelines/README.md; what is served: docs/web.md.
set -eu
# shellcheck source=pipelines/common.sh
. "$(dirname "$0")/common.sh"

address=${ADDRESS:-127.0.0.1}
allowed=
while :; do
  case ${1:-} in
    --listen | --allow) usage_unless $# -ge 2 ;;
    --control)
      allowed="$allowed --control"
      shift
      continue
      ;;
    *) break ;;
  esac
  if [ "$1" = --listen ]; then
    address=$2
  else
    allowed="$allowed --allow $(quoted "$2")"
  fi
  shift 2
done
usage_unless $# -ge 2
port=$1
shift
check_port "$port"
need jpegenc appsink
# the page alone says the verdict: that of the picture would be of an earlier moment
OVERLAY="verdict=false ${WARN:+warn-distance=$WARN} ${OVERLAY:-}"
use_ground "$@"
depth_tee=depths
add_overlay "$@"
add ! videoconvert ! jpegenc quality=80 ! appsink name=jpeg \
  depths. ! queue ! colors.sink_depth depthoverlay name=colors text=false min-confidence=0 ! videoconvert ! \
  jpegenc quality=80 ! appsink name=depth async=false depths. ! queue ! appsink name=values async=false sync=false wait-on-eos=false
eval "become web.py$allowed \"\$address\" \$port"
