#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# web.sh with urllib, a client that does not read, and a browser where one is installed: web.sh BUILD
set -eu
. "$(dirname "$0")/common.sh"
export PYTHONDONTWRITEBYTECODE=1
/usr/bin/python3 "$(dirname "$0")/test_webserver.py" "$pipelines"
skip_without stereotestsrc depthoverlay appsink jpegenc
/usr/bin/python3 -c 'import gi; gi.require_version ("Gst", "1.0")' || { echo "SKIP: there is no python3-gi"; exit 77; }
refused "is not a port" sh "$pipelines/web.sh" eighty test
refused "no camera /dev/video-none" sh "$pipelines/web.sh" 8080 /dev/video-none
refused "cannot listen at" sh "$pipelines/web.sh" --listen 127.0.0.256 8080 test

# the page says the verdict, and the picture does not say it again
python=echo sh "$pipelines/web.sh" 8080 test >"$folder/words" 2>&1
grep -q "depthoverlay name=overlay min-confidence=0 verdict=false" "$folder/words" || bad "there are two verdicts"

export XDG_DATA_HOME="$folder"
TEST_SOURCE="is-live=true seed=$seed"
port=$((20000 + $(od -An -N2 -tu2 /dev/urandom) % 20000))
sh "$pipelines/web.sh" --allow rig.example $port test num-disparities=$disparities method=bm cost=zncc >"$folder/output" 2>&1 &
running=$!
wait_until grep -q "^http://127.0.0.1:$port/" "$folder/output"
refused "cannot listen at" sh "$pipelines/web.sh" $port test
/usr/bin/python3 "$(dirname "$0")/test_web.py" "http://127.0.0.1:$port/" "$folder"
kill -INT $running
wait $running || { cat "$folder/output"; bad "Ctrl-C is not an error"; }
running=
/usr/bin/python3 - <<END || bad "the preset that the page saved is not found"
import gi
gi.require_version("Gst", "1.0")
from gi.repository import Gst
Gst.init(None)
match = Gst.parse_launch("stereomatch @preset=found-here")
assert (match.get_property("num-disparities"), match.get_property("temporal")) == (32, 0.5)
END
python=echo sh "$pipelines/web.sh" 8080 test @preset=found-here >"$folder/words"
grep -q "@preset=found-here" "$folder/words" || bad "the name of a preset is lost"
