#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# From a fresh Debian 12 or 13 to depth: installs the packages that are missing, builds into build/ of this project, matches a
# real stereo pair, leaves pictures of it in out/ where you stand, and says which command shows live depth on this machine. Then it
# installs what movies, recordings and programs need, while that command already works.
#
#   sh pipelines/quickstart.sh                      the motorcycle of Middlebury 2014 (out of Debian's python3-skimage)
#   sh pipelines/quickstart.sh LEFT RIGHT [stereomatch properties]
#
# LEFT and RIGHT: a rectified pair, in any format that GStreamer decodes. No GPU is needed. On a fresh Debian it downloads
# about 300 MB (200 MB until the command for live depth is there), takes about 1.1 GB of disk, and about 3 minutes on 2 cores
# besides the downloads; with a GPU and nvcc, 3 more.
# STEREO_BUILD: another folder than build/.
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
build=${STEREO_BUILD:-$root/build}
here=$(dirname "$0")

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

# configure: meson once; once more only where packages have come that the last time did not find
configure () {
  if [ ! -f "$build/build.ninja" ]; then
    # no tests and benchmarks, and without a GPU no CUDA backend
    # shellcheck disable=SC2046
    meson setup "$build" "$root" -Dtests=disabled $(cuda_options -Dcuda=disabled)
  elif [ -n "$wanted" ]; then
    meson setup --reconfigure "$build" "$root"
  fi
}

# has_screen: whether autovideosink finds a sink that can open a screen; it takes a fakesink where there is none
has_screen () {
  /usr/bin/python3 - 2>/dev/null <<'END'
import gi
gi.require_version("Gst", "1.0")
from gi.repository import Gst
Gst.init(None)
sink = Gst.ElementFactory.make("autovideosink")
opened = sink.set_state(Gst.State.READY) != Gst.StateChangeReturn.FAILURE
found = [child.get_factory().get_name() for child in sink.children]
sink.set_state(Gst.State.NULL)
raise SystemExit(not opened or found in ([], ["fakesink"]) or found == ["fakevideosink"])
END
}

# What 2 cores match in time.
fast='method=sgm paths=4 num-disparities=64'

say_what_is_next () {
  say "the left view, its disparity and its confidence (black 0, white 1): $PWD/out/sheet.png"
  if has_screen; then
    say "live depth of a synthetic scene on this screen, until Ctrl-C:"
    echo "   sh $here/overlay.sh test $fast"
    say "the same of two rectified cameras: sh $here/overlay.sh /dev/video0 /dev/video2"
  else
    say "there is no display here. Live depth of a synthetic scene in a browser, at http://127.0.0.1:8080/ until Ctrl-C:"
    echo "   sh $here/web.sh 8080 test $fast"
    say "for browsers on other machines: sh $here/web.sh --listen 0.0.0.0 8080 test $fast"
  fi
}

say "installs packages that are missing, builds into $build, matches a stereo pair: about 3 minutes on 2 cores, and on a" \
  "fresh Debian 300 MB of downloads and 1.1 GB of disk; 200 MB until the command for live depth is there"
say "1/5 packages for building and for pictures"
# A pair of the user's may be movies.
[ $# -lt 2 ] || picture_packages="$picture_packages $use_packages"
# lists
# shellcheck disable=SC2086
install_missing $picture_packages $screen_packages

say "2/5 building (half a minute on 2 cores; with a GPU and nvcc, 3 minutes more)"
configure
ninja -C "$build"

if [ $# -ge 2 ]; then
  say "3/5 the pair: $1 and $2"
  left=$1 right=$2
  shift 2
else
  left=$build/quickstart/left.png right=$build/quickstart/right.png
  if [ -f "$left" ] && [ -f "$right" ]; then
    say "3/5 the pair is there: $build/quickstart"
  else
    say "3/5 getting the motorcycle pair out of Debian's python3-skimage (21 MB; not installed)"
    fetch_pair "$build/quickstart"
  fi
  set -- num-disparities=70 fill=gaps
fi

say "4/5 matching"
STEREO_BUILD=$build sh "$root/pipelines/pair.sh" "$left" "$right" out "$@"
say_what_is_next

say "5/5 packages for movies, recordings and programs; the command above works already, in another terminal"
# shellcheck disable=SC2086
install_missing $build_packages $use_packages
if [ -n "$wanted" ]; then
  configure
  ninja -C "$build" # the typelib
  say_what_is_next
fi
