#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Says which tests run, for tests/run.sh: meson prints a test only when it has ended.
#
#   progress.sh start FOLDER PROGRAM ARGUMENT...   a wrapper of meson test: writes down in FOLDER what runs, then becomes it
#   progress.sh watch FOLDER LOG                   prints a line every 20 seconds, until it or its caller is killed; LOG is
#                                                  meson's output
set -eu
what=$1 folder=$2

if [ "$what" = start ]; then
  shift 2
  name=
  for word in "$@"; do
    case $word in
      sh | */sh | */env | *python3*) ;;
      -*) ;;
      *) name="${name:+$name }${word##*/}" ;;
    esac
  done
  # the program that follows keeps this number of a process
  printf '%s %.60s\n' "$(date +%s)" "$name" >"$folder/$$"
  exec "$@"
fi

while sleep 20 && kill -0 "$PPID" 2>/dev/null; do
  now=$(date +%s) names=
  for file in "$folder"/*; do
    process=${file##*/}
    if [ -d "/proc/$process" ]; then
      read -r start name <"$file" || continue
      names="${names:+$names, }$name ($((now - start)) s)"
    else
      rm -f "$file"
    fi
  done
  ended=$(sed -n 's/^ *\([0-9]*\)\/\([0-9]*\) .*/\1 of \2/p' "$3" 2>/dev/null | tail -n 1)
  [ -z "$names" ] || echo "   ${ended:-none} ended; running: $names"
done
