# SPDX-License-Identifier: LGPL-2.1-or-later
# Sourced by quickstart.sh and tests/run.sh: installs Debian packages that are missing, says what it does.

say () {
  printf '== %s\n' "$*"
}

as_root () {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null 2>&1; then
    sudo "$@"
  else
    echo "Neither root nor sudo: run this yourself, then start again: $*" >&2
    return 1
  fi
}

# missing NAME...: those that are not installed
missing () {
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || printf '%s ' "$package"
  done
}

# install_missing NAME...
install_missing () {
  wanted=
  if ! command -v apt-get >/dev/null 2>&1; then
    say "this is not Debian: what is needed is called there $*"
    return 0
  fi
  wanted=$(missing "$@")
  if [ -z "$wanted" ]; then
    say "every package is there"
    return 0
  fi
  say "installing $wanted"
  # once a run
  [ -n "${updated:-}" ] || as_root apt-get update -q
  updated=yes
  # how much that is: apt-get's own words
  # $wanted is a list
  # shellcheck disable=SC2086
  as_root env LC_ALL=C apt-get install --assume-no --no-install-recommends $wanted 2>/dev/null |
    sed -n 's/^Need to get/== to download:/p; s/^After this operation,/== on disk:/p' || true
  # shellcheck disable=SC2086
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $wanted
}

# What building the plugin needs, and what the scripts do that show and match pictures.
picture_packages='meson ninja-build gcc pkg-config libgstreamer1.0-dev libgstreamer-plugins-base1.0-dev libpng-dev
  libyaml-dev libpango1.0-dev fonts-dejavu-core gstreamer1.0-tools gstreamer1.0-plugins-base gstreamer1.0-plugins-good
  python3-gi gir1.2-gstreamer-1.0'

# And the typelib, and what reading the metadata from Python does.
build_packages="$picture_packages libgirepository1.0-dev gir1.2-gst-plugins-base-1.0"

# A window; a screen of Wayland alone has sinks of its own.
screen_packages='gstreamer1.0-x'
[ -z "${WAYLAND_DISPLAY:-}" ] || [ -n "${DISPLAY:-}" ] || screen_packages="$screen_packages gstreamer1.0-plugins-bad"

# What the scripts and the programs of README.md need besides: H.264, recordings, NumPy.
use_packages='gstreamer1.0-plugins-ugly gstreamer1.0-libav python3-numpy python3-yaml'

# cuda_options: "$1" where no GPU answers; meson finds those that do
cuda_options () {
  nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | grep -q '^[0-9]' || echo "$1"
}
