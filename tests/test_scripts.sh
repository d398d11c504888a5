#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The scripts of this folder print their help, and refuse options that they do not have before they do anything.
#
#   sh tests/test_scripts.sh
set -u
tests=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failed=0

# bad TEXT: the script at hand fails
bad () {
  echo "${script##*/}: $1"
  failed=$((failed + 1))
}

for script in "$tests"/*.sh; do
  [ "${script##*/}" = test_scripts.sh ] && continue
  output=$(sh "$script" --help 2> errors) || bad "--help ends with an error"
  [ -s errors ] && bad "--help complains: $(cat errors)"
  case $output in
    *"sh tests/${script##*/}"*) ;;
    *) bad "--help does not say how to call it" ;;
  esac
  output=$(sh "$script" --no-such-option 2>&1) && bad "takes --no-such-option"
  case $output in
    *"unknown option --no-such-option"*) ;;
    *) bad "does not name --no-such-option: $output" ;;
  esac
  output=$(sh "$script" one two three 2>&1) && bad "takes three arguments that it does not know"
  case $output in
    *"unknown argument "* | *"unknown part one"*) ;;
    *) bad "names no unknown argument: $output" ;;
  esac
done
rm -f errors
[ -z "$(ls -A)" ] || bad "a script left files: $(ls -A)"
[ "$failed" = 0 ]
