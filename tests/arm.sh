#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Builds for 64-bit ARM with Debian's cross compiler, without CUDA, in build-arm/, and runs the tests there by emulation.
#
#   sh tests/arm.sh                              all tests but those that measure time: an hour on 2 cores
#   ARM_TESTS="stages meta" sh tests/arm.sh      these tests
#
# What the programs need of ARM lies in build-arm-root/: packages of this Debian's release, unpacked. On another system than
# Debian, or without what the script installs, it ends with 77.
set -eu
# shellcheck source=tests/support/arguments.sh
. "$(dirname "$0")/support/arguments.sh"
check_arguments 0 "$@"
cd "$(dirname "$0")/.."
# shellcheck source=pipelines/packages.sh
. pipelines/packages.sh

command -v apt-get >/dev/null 2>&1 || { say "this is not Debian: there is no root for ARM"; exit 77; }
install_missing gcc-aarch64-linux-gnu g++-aarch64-linux-gnu qemu-user mmdebstrap meson ninja-build pkg-config

root=$PWD/build-arm-root
if [ ! -f "$root/complete" ]; then
  say "unpacking packages for ARM in build-arm-root/"
  rm -rf "$root"
  # shellcheck source=/dev/null
  as_root mmdebstrap --architectures=arm64 --variant=extract --include="$(printf %s 'libc6-dev,libgstreamer1.0-dev,
    libgstreamer-plugins-base1.0-dev,libpng-dev,libyaml-dev,libpango1.0-dev,gstreamer1.0-plugins-base,
    gstreamer1.0-plugins-good,gstreamer1.0-tools,fonts-dejavu-core' | tr -d ' \n')" "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$root"
  touch "$root/complete"
fi

mkdir -p build-arm
cat >build-arm/cross.ini <<END
[binaries]
c = ['aarch64-linux-gnu-gcc', '--sysroot=$root']
cpp = ['aarch64-linux-gnu-g++', '--sysroot=$root']
ar = 'aarch64-linux-gnu-ar'
strip = 'aarch64-linux-gnu-strip'
pkgconfig = 'pkg-config'
exe_wrapper = ['qemu-aarch64', '-L', '$root']
gst-launch-1.0 = ['qemu-aarch64', '-L', '$root', '$root/usr/bin/gst-launch-1.0']
gst-inspect-1.0 = ['qemu-aarch64', '-L', '$root', '$root/usr/bin/gst-inspect-1.0']

[properties]
sys_root = '$root'
pkg_config_libdir = '$root/usr/lib/aarch64-linux-gnu/pkgconfig:$root/usr/share/pkgconfig'

[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'aarch64'
endian = 'little'
END
[ -f build-arm/build.ninja ] ||
  meson setup build-arm --cross-file build-arm/cross.ini -Dcuda=disabled -Dintrospection=disabled -Dwerror=true
ninja -C build-arm

say "running tests by emulation: each takes some 30 times as long"
# fewer random cases: an instruction is an instruction
export STEREO_TEST_DRAWS="${STEREO_TEST_DRAWS:-6}" STEREO_FUZZ_ITERATIONS="${STEREO_FUZZ_ITERATIONS:-200}" STEREO_LOAD_FRAMES=100
export QEMU_LD_PREFIX="$root"
if [ -n "${ARM_TESTS:-}" ]; then
  # shellcheck disable=SC2086
  meson test -C build-arm --no-rebuild --print-errorlogs --timeout-multiplier 20 $ARM_TESTS
else
  # scripts would start this machine's own gst-launch-1.0
  meson test -C build-arm --no-rebuild --print-errorlogs --timeout-multiplier 20 \
    --no-suite long --no-suite clock --no-suite bench --no-suite golden --no-suite pipelines --no-suite docs --no-suite scripts
fi
