#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Fresh Debian systems in chroots: both commands of the README run in each, then the ways to install it. As root.
#
#   sh tests/chroots.sh                           Debian 12 and 13, everything but the part all
#   sh tests/chroots.sh [SUITE]... [PART]...      SUITE: bookworm, trixie. PART: quickstart, run, all, install, packages; all is
#                                                 "sh tests/run.sh --all"
#   sh tests/chroots.sh trixie install packages
#
# Says of each part how long it took and whether it passed; of "run", its counts. Each chroot is made anew by debootstrap
# below CHROOTS (default: /tmp/gst-stereo-chroots), from the first mirror of this machine's apt, or from MIRROR; KEEP=1
# goes on in one that is there.
set -eu
# shellcheck source=tests/support/arguments.sh
. "$(dirname "$0")/support/arguments.sh"
check_arguments $# "$@"
check_parts "bookworm trixie quickstart run all install packages" "$@"

suites='' parts=''
for word in "$@"; do
  case $word in
    bookworm | trixie) suites="$suites $word" ;;
    quickstart | run | all | install | packages) parts="$parts $word" ;;
  esac
done
suites=${suites:-bookworm trixie} parts=${parts:-quickstart run install packages}
[ "$(id -u)" = 0 ] || refuse "chroots are root's: sudo sh tests/chroots.sh"
command -v debootstrap >/dev/null || refuse "there is no debootstrap: apt-get install debootstrap"

cd "$(dirname "$0")/.."
folder=${CHROOTS:-/tmp/gst-stereo-chroots}
mkdir -p "$folder"

# The mirror that this machine's packages come from.
mirror=${MIRROR:-$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null |
  sed -n 's/^deb \(\[[^]]*\] \)\{0,1\}\([^ ]*\/debian\/\{0,1\}\) .*/\2/p; s/^URIs: \([^ ]*\/debian\/\{0,1\}\)$/\1/p' | head -n 1)}
[ -n "$mirror" ] || refuse "apt's lists name no mirror of Debian: set MIRROR"

mounted=
clean_up () {
  for place in $mounted; do
    umount -l "$place" || true
  done
}
trap clean_up EXIT
trap 'exit 130' INT TERM

# bring ROOT PLACE OPTION...: a mount inside
bring () {
  root=$1 place=$2
  shift 2
  mkdir -p "$root$place"
  mount "$@" "$root$place"
  mounted="$root$place $mounted"
}

# make_root SUITE: $root has it, with this tree as a stranger gets it
make_root () {
  root=$folder/$1
  if [ -z "${KEEP:-}" ] || [ ! -d "$root/etc/apt" ]; then
    rm -rf --one-file-system "$root"
    debootstrap --variant=minbase --include=ca-certificates "$1" "$root" "$mirror" >"$folder/$1-debootstrap.log" 2>&1 ||
      { tail -n 20 "$folder/$1-debootstrap.log"; refuse "debootstrap $1 failed"; }
  fi
  bring "$root" /proc -t proc proc
  bring "$root" /dev -t tmpfs -o mode=755 tmpfs
  for device in null zero full random urandom tty; do
    : >"$root/dev/$device"
    mount --bind "/dev/$device" "$root/dev/$device"
    mounted="$root/dev/$device $mounted"
  done
  bring "$root" /dev/shm -t tmpfs tmpfs
  ln -sf /proc/self/fd "$root/dev/fd"
  ln -sf /proc/self/fd/0 "$root/dev/stdin"
  ln -sf /proc/self/fd/1 "$root/dev/stdout"
  ln -sf /proc/self/fd/2 "$root/dev/stderr"
  cp /etc/resolv.conf "$root/etc/resolv.conf"
  rm -rf "$root/gst-stereo"
  mkdir -p "$root/gst-stereo"
  { git ls-files -co --exclude-standard 2>/dev/null || find . -path './build*' -prune -o -type f -print; } |
    tar cf - -T - | tar xf - -C "$root/gst-stereo"
}

# inside SCRIPT: run by sh in the tree of the chroot, with a bare environment
inside () {
  env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
    ${http_proxy:+http_proxy=$http_proxy} \
    chroot "$root" sh -c "set -e; cd /gst-stereo; $1"
}

# What each part does. After quickstart README.md's commands and programs run, and nothing of it is installed.
quickstart='cd /tmp; sh /gst-stereo/pipelines/quickstart.sh; cd /gst-stereo
  python3 tests/pipelines/readme_picture.py /tmp/out/sheet.png
  for part in live files programs browser; do sh tests/pipelines/readme.sh /gst-stereo/build $part; done
  SINK=fakesink TEST_SOURCE="is-live=false num-buffers=3" sh pipelines/truck.sh test num-disparities=24'
run='sh tests/run.sh'
all='sh tests/run.sh --all'
# the default prefix takes two variables, GStreamer'"'"'s own none
# shellcheck disable=SC2016
install='. pipelines/packages.sh; install_missing $build_packages
  meson setup build-install -Dcuda=disabled -Dtests=disabled; ninja -C build-install
  meson install -C build-install; ldconfig; place=/usr/local/lib/$(cc -print-multiarch)
  GST_PLUGIN_PATH=$place/gstreamer-1.0 GI_TYPELIB_PATH=$place/girepository-1.0 \
    sh tests/installed.sh /usr/local/share/gst-stereo/pipelines
  ninja -C build-install uninstall; ldconfig
  meson setup --reconfigure --prefix=/usr build-install; meson install -C build-install; ldconfig
  sh tests/installed.sh /usr/share/gst-stereo/pipelines
  ninja -C build-install uninstall; ldconfig'
packages='sh tests/package.sh; rm -f build-package/*dbgsym*.deb
  DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends ./build-package/*.deb
  sh tests/installed.sh /usr/share/gst-stereo/pipelines; stereo-bench --synthetic 160x120 --runs 2 --backend cpu
  apt-get remove -q -y "libgststereo-1.0*"; rm -rf build-package'

failed=0 passed=0
for suite in $suites; do
  echo "== $suite: making the chroot"
  make_root "$suite"
  for part in $parts; do
    log=$folder/$suite-$part.log start=$(date +%s) result=passed
    echo "== $suite: $part, with all that it says in $log"
    eval "inside \"\$$part\"" >"$log" 2>&1 </dev/null || result=FAILED
    [ $result = passed ] && passed=$((passed + 1)) || failed=$((failed + 1))
    [ $result = passed ] || tail -n 30 "$log"
    took=$(($(date +%s) - start))
    counts=$(sed -n 's/^\([0-9]* passed, [0-9]* failed, [0-9]* skipped\)$/\1/p' "$log" | tail -n 1)
    printf '%s %s: %s in %d min %02d s%s\n' "$suite" "$part" $result $((took / 60)) $((took % 60)) "${counts:+: $counts}"
  done
  clean_up
  mounted=
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
