#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Looks at an installed gst-stereo as its user does: an element, a C program by pkg-config, a Python program, a script.
#
#   sh tests/installed.sh [SCRIPTS]      SCRIPTS: the folder of the installed scripts; without it none is tried
#
# The environment stays as it is: what needs GST_PLUGIN_PATH, GI_TYPELIB_PATH or LD_LIBRARY_PATH must be given them.
set -eu
# shellcheck source=tests/support/arguments.sh
. "$(dirname "$0")/support/arguments.sh"
check_arguments 1 "$@"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export GST_REGISTRY="$work/registry.bin"

gst-inspect-1.0 stereomatch >"$work/inspect"
echo "plugin: $(sed -n 's/^ *Filename *//p' "$work/inspect")"
gst-launch-1.0 -q videotestsrc num-buffers=3 ! video/x-raw,width=128,height=48 ! \
  stereomatch num-disparities=16 backend=cpu ! fakesink

cat >"$work/reads.c" <<'END'
#include <gst/stereo/gststereometa.h>

int
main (int argc, char **argv)
{
  GstBuffer *buffer;

  gst_init (&argc, &argv);
  buffer = gst_buffer_new_allocate (NULL, 4, NULL);
  g_print ("C: %u pixels wide\n", gst_buffer_add_stereo_meta (buffer, 2, 2, NULL)->width);
  gst_buffer_unref (buffer);
  return 0;
}
END
# a list of words
# shellcheck disable=SC2046
${CC:-cc} "$work/reads.c" -o "$work/reads" $(pkg-config --cflags --libs gststereo-1.0)
"$work/reads"

/usr/bin/python3 -c '
import gi
gi.require_version("Gst", "1.0"); gi.require_version("GstStereo", "1.0")
from gi.repository import Gst, GstStereo
Gst.init(None)
print("Python:", GstStereo.StereoMeta.new(2, 2, None).width, "pixels wide")'

[ $# -eq 0 ] || SIZE=160x120 TEST_SOURCE="is-live=false num-buffers=3" SINK=fakesink \
  sh "$1/side-by-side.sh" test num-disparities=24 >"$work/output" || { cat "$work/output"; exit 1; }
echo "installed: plugin, headers, typelib${1:+, scripts}"
