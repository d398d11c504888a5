#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# --help of every script prints help and does nothing else, wherever it is called from: help.sh BUILD
set -eu
. "$(dirname "$0")/common.sh"

# none of these may be called: each leaves a word behind
mkdir "$folder/bin" "$folder/here"
for command in apt-get apt-cache dpkg sudo meson ninja gst-launch-1.0 gst-inspect-1.0 mkdir; do
  printf '#!/bin/sh\necho "%s $*" >>"%s/called"\n' $command "$folder" >"$folder/bin/$command"
  chmod +x "$folder/bin/$command"
done
cd "$folder/here"
scripts=0
for script in "$pipelines"/*.sh; do
  name=$(basename "$script")
  case $name in common.sh | packages.sh) continue ;; esac
  scripts=$((scripts + 1))
  for option in --help -h; do
    PATH="$folder/bin:$PATH" sh "$script" $option >"$folder/output" 2>&1 || bad "$name $option ends with $?"
    grep -q "sh pipelines/$name" "$folder/output" || { cat "$folder/output"; bad "$name $option does not say how it is called"; }
    grep -q "^set -\|SPDX\|^#" "$folder/output" && bad "$name $option prints its code"
    [ ! -e "$folder/called" ] || bad "$name $option calls $(cat "$folder/called")"
  done
done
[ -z "$(ls -A "$folder/here")" ] || bad "--help leaves $(ls -A "$folder/here")"
[ $scripts -ge 12 ] || bad "there are $scripts scripts"

# nothing is installed or built for words that make no sense
before () {
  expected=$1
  shift
  status=0
  PATH="$folder/bin:$PATH" sh "$pipelines/quickstart.sh" "$@" >"$folder/output" 2>&1 || status=$?
  [ $status -eq 2 ] || bad "quickstart.sh $* ends with $status"
  grep -q "$expected" "$folder/output" || { cat "$folder/output"; bad "quickstart.sh $*: '$expected' was not said"; }
  [ ! -e "$folder/called" ] || bad "quickstart.sh $* calls $(cat "$folder/called")"
}
echo picture >left.png
before "one picture alone" left.png
before "no file right.png" left.png right.png
before "no option" --fast

# without rosbags, too
/usr/bin/python3 -S "$pipelines/ros_bag.py" --help | grep -q "rosbags" || bad "ros_bag.py --help"
