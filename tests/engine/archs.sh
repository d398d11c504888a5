#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Which GPUs cuda/arch/meson.build compiles for: a project with that file alone, an nvcc that only lists, and a driver that only
# names GPUs.
set -eu

source=$(cd "$(dirname "$0")/../.." && pwd)
command -v meson >/dev/null || { echo "meson is not in PATH"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/project" "$folder/bin"
cp -r "$source/cuda/arch" "$source/meson_options.txt" "$folder/project"
cat >"$folder/project/meson.build" <<'EOF'
project('archs')
nvcc = find_program('nvcc')
nvcc_version = '12.9'
subdir('arch')
message('archs: ' + ' '.join(cuda_archs) + '.')
EOF
for cpu in aarch64 x86_64; do
  printf '[host_machine]\n%s' "system = 'linux'
cpu_family = '$cpu'
cpu = '$cpu'
endian = 'little'
" >"$folder/$cpu.txt"
done
PATH=$folder/bin:$PATH
export PATH
failed=0

# program NAME: stdin becomes what it runs
program () {
  { echo '#!/bin/sh'; cat; } >"$folder/bin/$1"
  chmod +x "$folder/bin/$1"
}

# nvcc ARCHITECTURE...
nvcc () {
  program nvcc <<EOF
printf '%s\n' $*
EOF
}

# gpus LINE...: what the driver answers; none: that there is no driver
gpus () {
  if [ $# = 0 ]; then
    echo 'echo "NVIDIA-SMI has failed: 9.0"; exit 9' | program nvidia-smi
  else
    program nvidia-smi <<EOF
printf '%s\n' $*
EOF
  fi
}

# expect_too WHAT TEXT: meson says TEXT as well, the last time
expect_too () {
  grep -qF -e "$2" "$folder/log" && return
  echo "$1: wanted '$2', got:"
  grep -E 'archs: |WARNING|ERROR' "$folder/log" || cat "$folder/log"
  failed=1
}

# expect WHAT TEXT OPTION...: meson says TEXT
expect () {
  what=$1 text=$2
  shift 2
  rm -rf "$folder/build"
  meson setup "$folder/build" "$folder/project" "$@" >"$folder/log" 2>&1 || true
  expect_too "$what" "$text"
}

nvcc sm_50 sm_70 sm_75 sm_80 sm_86 sm_87 sm_89 sm_90 sm_90a sm_100 sm_101 sm_103 sm_120 sm_121
families='archs: sm_75 sm_80 sm_90 sm_100 sm_120 compute_120.'

gpus 9.0
expect 'a GPU' 'archs: sm_90.'
gpus 12.0 8.9 12.0
expect 'several GPUs' 'archs: sm_89 sm_120.'
gpus 12.2
expect 'a minor version that nvcc does not know' 'archs: sm_121.'
gpus 13.0
expect 'a GPU that nvcc does not know' 'archs: compute_121.'
expect_too 'a GPU that nvcc does not know' 'compute capability 13.0, and nvcc 12.9 does not know it'
gpus 6.1 8.6
expect 'an old GPU beside another' 'archs: sm_86.'
expect_too 'an old GPU beside another' 'compute capability 6.1. The CUDA backend needs 7.5'

gpus 9.0
expect 'a build for another machine' "$families" --cross-file "$folder/x86_64.txt"
expect 'families of ARM' 'archs: sm_75 sm_80 sm_87 sm_90 sm_100 sm_101 sm_120 compute_120.' \
  --cross-file "$folder/aarch64.txt" -Dcuda-arch=families
expect 'all' 'archs: sm_75 sm_80 sm_86 sm_87 sm_89 sm_90 sm_100 sm_101 sm_103 sm_120 sm_121 compute_121.' -Dcuda-arch=all
expect 'a list' 'archs: sm_86 sm_90a compute_80.' '-Dcuda-arch=sm_86, sm_90a,compute_80'
for name in sm_70 90 ''; do
  expect "the name '$name'" "\"$name\" is no architecture" "-Dcuda-arch=sm_75,$name"
done
gpus
if [ "$(uname -m)" = x86_64 ]; then
  expect 'no driver' "$families"
  gpus 6.1
  expect 'an old GPU alone' "$families"
  gpus '"[N/A]"'
  expect 'a driver that does not know' "$families"
fi
nvcc sm_50 sm_70
expect 'an nvcc that is too old' 'compiles for no GPU'

[ $failed = 0 ] && echo "all chosen as expected"
exit $failed
