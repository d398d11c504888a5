#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Words with blanks, quotes and commands in them arrive as they are, in every script, and nothing of them is run: words.sh BUILD
set -eu
. "$(dirname "$0")/common.sh"
skip_without stereotestsrc stereorectify depthoverlay stereoconfidence videocrop

# The scripts lie in a folder, and take a build, whose names are no better. What they call says its words, one a line.
evil="it's \"\$(touch ran)\"; touch ran; \`touch ran\` * & | > ran"
says='#!/bin/sh
for word in "$@"; do printf "<%s>\n" "$word"; done'
scripts="$folder/scripts $evil"
build="$folder/build $evil"
mkdir "$scripts" "$build" "$build/pipelines" "$folder/bin" "$folder/here"
ln -s "$1/gst" "$build/gst"
cp "$pipelines"/*.sh "$pipelines/calibration.py" "$scripts/"
echo "$says" >"$folder/bin/gst-launch-1.0"
chmod +x "$folder/bin/gst-launch-1.0"
for name in rtsp web ros truck pair stream record report; do
  echo 'import sys
for word in sys.argv[1:]: print(f"<{word}>")' >"$scripts/$name.py"
done
export STEREO_BUILD="$build" PATH="$folder/bin:$PATH" SINK="fakesink name=*"
echo "M1: []" >"$folder/here/calibration $evil"
cd "$folder/here"

# arrives WORD... -- NAME ARGUMENT...: the script says each word
arrives () {
  : >"$folder/words"
  while [ "$1" != -- ]; do
    printf '<%s>\n' "$1" >>"$folder/words"
    shift
  done
  shift
  name=$1
  shift
  sh "$scripts/$name" "$@" >"$folder/output" 2>&1 || { cat "$folder/output"; bad "$name failed"; }
  while IFS= read -r line; do
    grep -F -x -q -e "$line" "$folder/output" || { cat "$folder/output"; bad "$name: $line did not arrive"; }
  done <"$folder/words"
  # where it would be run, and where a > would write
  [ ! -e ran ] || bad "$name ran a part of its words"
  ! grep -q -F '<name=calibration' "$folder/output" || bad "$name took * for names of files"
}

property="mask=$evil"
touch "name=calibration $evil" # what name=* would become
for name in overlay.sh side-by-side.sh; do
  arrives "$property" "name=*" -- $name test "$property"
done
arrives "$property" "name=*" -- two-cameras.sh test test "$property"
CALIBRATION="calibration $evil" arrives "calibration=calibration $evil" "name=*" -- overlay.sh test
arrives "host=$evil" "$property" -- rtp-send.sh "$evil" 5000 test "$property"
ADDRESS=$evil arrives "$evil" "$property" 8554 -- rtsp.sh 8554 test "$property"
ADDRESS=$evil arrives "$evil" "$property" 8080 -- web.sh 8080 test "$property"
arrives "$evil" --allow "a $evil" "$property" 8080 -- web.sh --allow "a $evil" --listen "$evil" 8080 test "$property"
NODE=$evil FRAME="f $evil" arrives "$evil" "f $evil" "$property" -- ros.sh test "$property"
arrives --record "$evil" -- ros.sh --record "$evil" test
# an empty word is a word
arrives --record "" "$property" -- ros.sh --record "" test "$property"
arrives --log "$evil" "$property" -- truck.sh --log "$evil" test "$property"
arrives "report $evil" "$property" -- report.sh "report $evil" test "$property"
arrives --replay "$evil" -- truck.sh --replay "$evil"
# how a PNG begins; it is 64 pixels wide
printf '\211PNG\r\n\032\n\0\0\0\015IHDR\0\0\0\100\0\0\0\100' >"view $evil"
arrives "location=view $evil" sink_1::xpos=72 "location=$evil/sheet.png" "$property" -- \
  pair.sh "view $evil" "view $evil" "$evil" "$property"
if gst-inspect-1.0 --exists avenc_ffv1; then
  CALIBRATION="calibration $evil" arrives "location=$evil.mkv" "$property" -- record.sh "$evil.mkv" test "$property"
  printf "\032\105\337\243" >"$evil.mkv" # how Matroska begins
  # what a recording says of itself was chosen by whoever made it
  cat >"$scripts/record.py" <<'END'
import os, sys
for name, text in ("views", "left right"), ("stereomatch", os.environ["ATTACHED"]), ("stereorectify", ""):
    print(text, file=open(f"{sys.argv[3]}/{name}.txt", "w"))
END
  export ATTACHED="num-disparities=16 save=$folder/here/ran output=depth"
  arrives num-disparities=16 output=depth -- play.sh "$evil.mkv" match
  ! grep -q save "$folder/output" || bad "a recording had a file written"
  export ATTACHED='num-disparities=16 ! filesink location=ran'
  refused "is no property" sh "$scripts/play.sh" "$evil.mkv" match
fi
