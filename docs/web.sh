#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Makes the picture of web.md: the page of pipelines/web.sh with a synthetic scene, as Chromium shows it.
#
#   sh docs/web.sh [BUILD [FILE]]          default: build docs/pictures/web.jpg; ends with 77 where Chromium or an element is not there
set -eu

cd "$(dirname "$0")/.."
STEREO_BUILD=$(cd "${1:-build}" && pwd) out=${2:-docs/pictures/web.jpg}
export STEREO_BUILD
command -v chromium >/dev/null || { echo "there is no chromium" >&2; exit 77; }
for element in jpegenc pngdec videoconvert; do
  gst-inspect-1.0 --atleast-version=0.0 --exists $element || { echo "there is no element $element" >&2; exit 77; }
done
work=$(mktemp -d)
server=
clean_up () {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 1' HUP INT TERM
port=$((20000 + $(od -An -N2 -tu2 /dev/urandom) % 20000))
RATE=5 SIZE=480x270 TEST_SOURCE="pattern=road obstacle-height=900 obstacle-distance=6000" WARN=8000 sh pipelines/web.sh $port test method=sgm paths=4 num-disparities=64 >"$work/said" 2>&1 &
server=$!
touch "$work/state"
# rates are counted over some seconds
until grep -q '"depths"' "$work/state"; do
  /usr/bin/python3 -c 'import sys, urllib.request
print(urllib.request.urlopen(sys.argv[1]).read().decode())' "http://127.0.0.1:$port/state.json" >"$work/state" 2>/dev/null || true
  kill -0 $server 2>/dev/null || { cat "$work/said" >&2; exit 1; }
  sleep 0.1
done
timeout 60 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$work/profile" \
  --hide-scrollbars --window-size=1366,900 --virtual-time-budget=5000 --timeout=8000 \
  --screenshot="$work/page.png" "http://127.0.0.1:$port/" >/dev/null 2>&1
gst-launch-1.0 -q filesrc "location=$work/page.png" ! pngdec ! videoconvert ! jpegenc quality=50 ! filesink "location=$out"
[ -s "$out" ]
