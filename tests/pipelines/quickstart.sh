#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# quickstart.sh where every package is there and the build is up to date: what it says and in which order, its pictures, and
# the command for live depth, without a display and with one. quickstart.sh BUILD
# $pair is a list of words
# shellcheck disable=SC2086
set -eu
. "$(dirname "$0")/common.sh"
skip_without stereotestsrc depthoverlay videocrop pngdec pngenc decodebin

# These leave their arguments in a file. The build of the tests is not touched.
mkdir "$folder/bin" "$folder/build" "$folder/here"
for program in apt-get meson ninja; do
  printf '#!/bin/sh\necho "%s $*" >>"%s/called"\n' $program "$folder" >"$folder/bin/$program"
done
printf '#!/bin/sh\nexec "$@"\n' >"$folder/bin/sudo"
# every package is there but those of $folder/missing, until they are installed
: >"$folder/missing"
cat >>"$folder/bin/apt-get" <<END
[ "\$1 \$2 \$3" = "install -q -y" ] || exit 0
for name; do sed -i "/^\$name\$/d" "$folder/missing"; done
END
cat >"$folder/bin/dpkg-query" <<END
#!/bin/sh
for name; do :; done
grep -q -x -e "\$name" "$folder/missing" || echo install ok installed
END
chmod +x "$folder"/bin/*
for part in gst pipelines; do
  ln -s "$1/$part" "$folder/build/$part"
done
for view in left right; do
  crop=right
  [ $view = left ] || crop=left
  quietly gst-launch-1.0 -q stereotestsrc num-buffers=1 "seed=$seed" ! "video/x-raw,width=$((2 * width)),height=$height" ! \
    videocrop $crop=$width ! videoconvert ! pngenc ! filesink "location=$folder/here/$view.png"
done

# quickstart ARGUMENT...: in $folder/here
quickstart () {
  (cd "$folder/here" && PATH="$folder/bin:$PATH" STEREO_BUILD="$folder/build" \
    sh "$pipelines/quickstart.sh" "$@") >"$folder/output" 2>&1 ||
    { cat "$folder/output"; bad "quickstart.sh"; }
}

pair="left.png right.png num-disparities=$disparities"
unset DISPLAY WAYLAND_DISPLAY
quickstart $pair
head -n 1 "$folder/output" | grep -q "installs .* minutes .* downloads .* disk" || { cat "$folder/output"; bad "it does not begin with what it costs" ; }
[ "$(grep -c '^meson setup' "$folder/called")" = 1 ] || bad "meson is not run once: $(cat "$folder/called")"
grep -q "^meson setup $folder/build .* -Dtests=disabled" "$folder/called" || bad "tests are built: $(cat "$folder/called")"
grep -q "^ninja -C $folder/build$" "$folder/called" || bad "nothing is built"
! grep -q "^apt-get" "$folder/called" || bad "something is installed: $(cat "$folder/called")"
[ -s "$folder/here/out/sheet.png" ] || bad "there is no sheet"
! grep "^[= ].*/disparity.png" "$folder/output" || bad "a picture of 16 bits is nothing to look at"
grep -q "no display" "$folder/output" || bad "it does not say that there is no display"
# the line that is printed is one that web.sh takes: up to the address, with what the other script prints
grep -q "http://127.0.0.1:8080/" "$folder/output" || bad "it does not name the page"
set -- $(sed -n 's/^   sh //p' "$folder/output")
[ "$1" = "$pipelines/web.sh" ] && [ -f "$1" ] && [ "$2" = 8080 ] || bad "the command for browsers is: $*"
shift 2
SINK=fakesink quietly sh "$pipelines/overlay.sh" "$@"

# configured before: not again
rm "$folder/called"
touch "$folder/build/build.ninja"
quickstart $pair
! grep "^meson" "$folder/called" || bad "meson is run again"

# Depth can be seen before what only movies and programs need is installed. Without names, the pair lies in the build.
mkdir "$folder/build/quickstart"
cp "$folder/here/left.png" "$folder/here/right.png" "$folder/build/quickstart"
printf '%s\n' ninja-build libgirepository1.0-dev gstreamer1.0-libav >"$folder/missing"
: >"$folder/called"
quickstart
sed -n 's/.*install -q -y --no-install-recommends //p; s/^\(meson setup --reconfigure\) .*/\1/p; s/^\(ninja\) .*/\1/p' \
  "$folder/called" | sed 's/ *$//' >"$folder/order"
printf '%s\n' ninja-build "meson setup --reconfigure" ninja "libgirepository1.0-dev gstreamer1.0-libav" \
  "meson setup --reconfigure" ninja | diff - "$folder/order" || bad "not in this order"
[ "$(grep -c '^apt-get update' "$folder/called")" = 1 ] || bad "the lists of packages are read twice: $(cat "$folder/called")"
[ "$(sed -n 's/^   sh .*/live/p; s/^== 5.5.*/rest/p' "$folder/output" | xargs)" = "live rest live" ] ||
  { cat "$folder/output"; bad "the command for live depth comes late"; }
# the user's own pair may be movies: what decodes them comes first
echo gstreamer1.0-libav >"$folder/missing"
: >"$folder/called"
quickstart $pair
sed -n 's/.*install -q -y --no-install-recommends //p' "$folder/called" | head -n 1 | grep -q libav || bad "there is no decoder"

command -v Xvfb >/dev/null || exit 0
gst-inspect-1.0 --exists ximagesink || exit 0
mkfifo "$folder/display"
# -noreset: it would begin anew when its last client goes, and refuse the next one meanwhile
Xvfb -noreset -displayfd 9 -screen 0 800x600x24 -nolisten tcp 9>"$folder/display" >"$folder/xvfb.log" 2>&1 &
running=$!
read -r number <"$folder/display"
export DISPLAY=":$number" GDK_BACKEND=x11
quickstart $pair
set -- $(sed -n 's/^   sh //p' "$folder/output")
[ "$1" = "$pipelines/overlay.sh" ] || bad "with a display, the command is: $*"
quietly sh "$@"
grep -q "^end of the stream$" "$folder/output" || { cat "$folder/output"; bad "not played to the end: $*"; }
