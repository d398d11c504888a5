#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# From a fresh Debian 12 to a picture of depth: installs what is missing, builds into build/, gets a real
# stereo pair, runs stereomatch on it and leaves PNGs in out/. No GPU needed.
#
#   sh pipelines/quickstart.sh                      the motorcycle of Middlebury 2014 (out of Debian's python3-skimage)
#   sh pipelines/quickstart.sh LEFT.png RIGHT.png [stereomatch properties]
set -eu

cd "$(dirname "$0")/.."
# shellcheck source=pipelines/packages.sh
. pipelines/packages.sh

# fetch_pair FOLDER: the pair alone is taken out of the package; nothing of it is installed.
fetch_pair () {
  mkdir -p "$1"
  apt-cache show python3-skimage >/dev/null 2>&1 || as_root apt-get update -q
  (cd "$1" && apt-get download -q -o APT::Sandbox::User=root python3-skimage && dpkg -x python3-skimage_*.deb package)
  for view in left right; do
    find "$1/package" -name "motorcycle_$view.png" -exec cp {} "$1/$view.png" \;
  done
  rm -rf "$1/package" "$1"/python3-skimage_*.deb
}

say "1/4 packages"
install_missing $build_packages

say "2/4 building into build/"
# shellcheck disable=SC2046
[ -f build/build.ninja ] || meson setup build $(cuda_options -Dcuda-arch=sm_90)
ninja -C build

if [ $# -ge 2 ]; then
  say "3/4 the pair: $1 and $2"
  left=$1 right=$2
  shift 2
else
  left=build/quickstart/left.png right=build/quickstart/right.png
  if [ -f "$left" ] && [ -f "$right" ]; then
    say "3/4 the pair is there: build/quickstart"
  else
    say "3/4 getting the motorcycle pair out of Debian's python3-skimage (21 MB; not installed)"
    fetch_pair build/quickstart
  fi
  set -- num-disparities=70 profile=quality
fi

say "4/4 matching"
sh pipelines/pair.sh build "$left" "$right" out "$@"
say "done; look at"
for picture in sheet disparity-color confidence disparity; do
  echo "   $PWD/out/$picture.png"
done
