#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# record.py: texts come out of a recording as they went in, and files of odd kinds are refused. attachments.sh BUILD
set -eu
. "$(dirname "$0")/common.sh"
skip_without stereotestsrc avenc_ffv1 matroskamux matroskademux
cat >"$folder/recorder" <<END
#!/bin/sh
exec /usr/bin/python3 "$pipelines/record.py" "\$@"
END
chmod +x "$folder/recorder"
recorder=$folder/recorder

# what is recorded; the recorder adds nothing but the texts
pipeline="stereotestsrc $scene ! video/x-raw,width=320,height=120 ! stereomatch name=match num-disparities=16 !
  video/x-raw,format=GRAY16_LE ! avenc_ffv1 ! matroskamux name=file ! filesink location=$folder/a.mkv"

# shellcheck disable=SC2086
attach () {
  refused "$1" "$recorder" --attach "calibration=$2" $pipeline
}

seq 1 1000 >"$folder/rig.txt"
ln -s rig.txt "$folder/link"
mkfifo "$folder/fifo"
# shellcheck disable=SC2086
quietly "$recorder" --attach calibration="$folder/link" --text views.txt="left right" $pipeline
mkdir "$folder/out"
quietly "$recorder" --extract "$folder/a.mkv" "$folder/out"
cmp "$folder/rig.txt" "$folder/out/calibration" || bad "the attached file changed"
[ "$(cat "$folder/out/views.txt")" = "left right" ] || bad "the attached text is $(cat "$folder/out/views.txt")"

# what is no text file, or too large
truncate -s 4194305 "$folder/large"
printf 'a\0b' >"$folder/binary"
cp "$folder/a.mkv" "$folder/before.mkv"
attach "--attach calibration=$folder/fifo cannot be read: it is a FIFO" "$folder/fifo"
attach "a device" /dev/zero
attach "a folder" "$folder"
attach "the limit is 4194304" "$folder/large"
attach "this is no text" "$folder/binary"
cmp "$folder/a.mkv" "$folder/before.mkv" || bad "something was recorded"

# a recording that is none
refused "RECORDING=$folder/fifo cannot be read: it is a FIFO" "$recorder" --extract "$folder/fifo" "$folder/out"
refused "a device" "$recorder" --extract /dev/zero "$folder/out"
refused "RECORDING=$folder/none cannot be read" "$recorder" --extract "$folder/none" "$folder/out"

# over what is there already: a file that a link leads to is written, a FIFO is not replaced
mkdir "$folder/odd"
echo old >"$folder/target"
ln -s ../target "$folder/odd/calibration"
mkfifo "$folder/odd/views.txt"
refused "odd/views.txt cannot be written: it is a FIFO" "$recorder" --extract "$folder/a.mkv" "$folder/odd"
[ -p "$folder/odd/views.txt" ] || bad "the FIFO was replaced"
[ -L "$folder/odd/calibration" ] || bad "the link was replaced"
cmp "$folder/rig.txt" "$folder/target" || bad "the file behind the link was not written"
[ "$(ls -A "$folder/odd" | wc -l)" -eq 2 ] || bad "something is left: $(ls -A "$folder/odd")"
refused "FOLDER=$folder/none/" "$recorder" --extract "$folder/a.mkv" "$folder/none"
