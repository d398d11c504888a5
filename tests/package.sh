#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Builds the Debian packages of this tree in build-package/ and tests their contents without installing them: the plugin
# loads with the packaged library, a program compiles with pkg-config, and Python reads the typelib, a
# packaged script runs, and lintian has nothing to say.
#
#   sh tests/package.sh
#
#   STEREO_MESON_OPTIONS=OPTIONS   options for meson (default -Dcuda=disabled: the CUDA backend takes minutes to compile
#                                  for all architectures; an empty value includes it)
#   DEB_BUILD_OPTIONS=OPTIONS      see dpkg-buildpackage (default nocheck: the tests of the project do not run here)
#
# Missing packages of the distribution are installed first.
set -eu
# shellcheck source=tests/support/arguments.sh
. "$(dirname "$0")/support/arguments.sh"
check_arguments 0 "$@"
cd "$(dirname "$0")/.."
# shellcheck source=pipelines/packages.sh
. pipelines/packages.sh
# shellcheck disable=SC2086
install_missing $build_packages debhelper dpkg-dev g++ lintian

say "copying the tree, building the packages"
top=$PWD/build-package
rm -rf "$top"
mkdir -p "$top/gst-stereo" "$top/root"
# the files that git knows and new files; without git, every file outside build folders
{ git ls-files -co --exclude-standard 2>/dev/null || find . -path './build*' -prune -o -type f -print; } |
  tar cf - -T - | tar xf - -C "$top/gst-stereo"
export STEREO_MESON_OPTIONS="${STEREO_MESON_OPTIONS--Dcuda=disabled}" DEB_BUILD_OPTIONS="${DEB_BUILD_OPTIONS-nocheck}"
if ! (cd "$top/gst-stereo" && dpkg-buildpackage -us -uc -b) > "$top/build.log" 2>&1; then
  tail -n 40 "$top/build.log"
  exit 1
fi

say "testing the contents of the packages"
for package in "$top"/*.deb; do
  dpkg-deb -x "$package" "$top/root"
done
libraries=$(dirname "$(find "$top/root" -name 'libgststereo-1.0.so.0')")
export LD_LIBRARY_PATH="$libraries" GST_PLUGIN_PATH="$libraries/gstreamer-1.0" GST_REGISTRY="$top/registry.bin"
export GI_TYPELIB_PATH="$libraries/girepository-1.0" PKG_CONFIG_PATH="$libraries/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$top/root"
# not --exists: it compares the version of the plugin with the version of GStreamer
gst-inspect-1.0 stereomatch > /dev/null
gst-launch-1.0 -q videotestsrc num-buffers=3 ! video/x-raw,width=128,height=48 ! stereomatch num-disparities=16 backend=cpu ! fakesink
/usr/bin/python3 -c '
import gi
gi.require_version("Gst", "1.0"); gi.require_version("GstStereo", "1.0")
from gi.repository import Gst, GstStereo
Gst.init(None)
meta = GstStereo.StereoMeta.new(2, 2, None)
assert meta.width == 2'
cat > "$top/reads.c" <<'END'
#include <gst/stereo/gststereometa.h>
int main (void) { return GST_IS_BUFFER (NULL) || gst_buffer_get_stereo_meta == 0; }
END
# GStreamer's headers come from this system, not from the unpacked packages
includes=$(pkg-config --variable=includedir gststereo-1.0)
gcc "$top/reads.c" -o "$top/reads" -I"$includes/gstreamer-1.0" $(PKG_CONFIG_SYSROOT_DIR= pkg-config --cflags --libs gstreamer-1.0 gstreamer-video-1.0) \
  -L"$libraries" -lgststereo-1.0
# the installed scripts, with the installed programs beside them
scripts=$top/root/usr/share/gst-stereo/pipelines
[ -x "$top/root/usr/bin/stereo-bench" ]
python3 tests/pipelines/installed_links.py "$top/root"
mkdir "$top/pair"
STEREO_BUILD='' SIZE=160x120 TEST_SOURCE="is-live=false num-buffers=2" \
  SINK="tee name=t t. ! queue ! pngenc snapshot=true ! filesink location=$top/pair/view.png t. ! queue ! fakesink" \
  sh "$scripts/side-by-side.sh" test num-disparities=24 >"$top/output" 2>&1 || { cat "$top/output"; exit 1; }
sh "$scripts/pair.sh" "$top/pair/view.png" "$top/pair/view.png" "$top/pair" num-disparities=16 >"$top/output" 2>&1 ||
  { cat "$top/output"; exit 1; }
[ -s "$top/pair/sheet.png" ]
lintian --allow-root "$top"/*.changes >"$top/lintian" 2>/dev/null || true
if [ -s "$top/lintian" ]; then
  cat "$top/lintian"
  exit 1
fi
for package in "$top"/*.deb; do
  printf '%s: %s files\n' "$(basename "$package")" "$(dpkg-deb -c "$package" | grep -vc '/$')"
done
say "the packages in $top are good"
