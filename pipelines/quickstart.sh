#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# From a fresh Debian 12 or 13 to a picture of depth: installs what is missing, builds into build/ of this project, gets a
# real stereo pair, runs stereomatch on it and leaves PNGs in out/ where you stand. No GPU needed.
#
#   sh pipelines/quickstart.sh                      the motorcycle of Middlebury 2014 (out of Debian's python3-skimage)
#   sh pipelines/quickstart.sh LEFT RIGHT [stereomatch properties]
#
# LEFT and RIGHT: a rectified pair, in any format that GStreamer decodes.
set -eu

usage () {
  sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"
}

refuse () {
  echo "quickstart.sh: $*" >&2
  exit 2
}

case ${1:-} in
  -h | --help)
    usage
    exit 0
    ;;
  -*) refuse "$1 is no option: --help says what there is" ;;
esac
[ $# -ne 1 ] || refuse "$1 is one picture alone: a left view and a right one are wanted"
for picture in "${1:-}" "${2:-}"; do
  [ -z "$picture" ] || [ -f "$picture" ] || refuse "there is no file $picture"
done

root=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=pipelines/packages.sh
. "$root/pipelines/packages.sh"
build=$root/build

# fetch_pair FOLDER: the pair alone is taken out of the package; nothing of it is installed.
fetch_pair () {
  mkdir -p "$1"
  apt-cache show python3-skimage >/dev/null 2>&1 || as_root apt-get update -q
  (cd "$1" && apt-get download -q -o APT::Sandbox::User=root python3-skimage && dpkg -x python3-skimage_*.deb package)
  for view in left right; do
    find "$1/package" -name "motorcycle_$view.png" -exec cp {} "$1/$view.png" \;
  done
  rm -rf "$1/package" "$1"/python3-skimage_*.deb
  if [ ! -f "$1/left.png" ] || [ ! -f "$1/right.png" ]; then
    refuse "Debian's python3-skimage has no motorcycle pair any more: name a pair of your own, LEFT RIGHT"
  fi
}

say "1/4 packages"
# a list
# shellcheck disable=SC2086
install_missing $build_packages

say "2/4 building into $build"
# shellcheck disable=SC2046
[ -f "$build/build.ninja" ] || meson setup "$build" "$root" $(cuda_options -Dcuda-arch=sm_90)
# configured before the package of the typelib was there
[ -f "$build/gst/GstStereo-1.0.typelib" ] || [ ! -d "$build/gst/libgststereo-1.0.so.0.1.0.p" ] ||
  meson setup --reconfigure "$build" "$root"
ninja -C "$build"

if [ $# -ge 2 ]; then
  say "3/4 the pair: $1 and $2"
  left=$1 right=$2
  shift 2
else
  left=$build/quickstart/left.png right=$build/quickstart/right.png
  if [ -f "$left" ] && [ -f "$right" ]; then
    say "3/4 the pair is there: $build/quickstart"
  else
    say "3/4 getting the motorcycle pair out of Debian's python3-skimage (21 MB; not installed)"
    fetch_pair "$build/quickstart"
  fi
  set -- num-disparities=70 profile=quality
fi

say "4/4 matching"
STEREO_BUILD=$build sh "$root/pipelines/pair.sh" "$left" "$right" out "$@"
say "done; look at"
for picture in sheet disparity-color confidence disparity; do
  echo "   $PWD/out/$picture.png"
done
