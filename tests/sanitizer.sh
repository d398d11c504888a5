#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Runs the stage tests of the CUDA backend, and whole frames, under the tools of NVIDIA's compute-sanitizer. All tools run
# at the same time, each for a limited time.
#
#   sh tests/sanitizer.sh [BUILD]
#
#   BUILD    the build folder (default: build); with -Ddebug=true the reports name lines of the source
#
#   GPU_TOOLS="memcheck racecheck initcheck synccheck"   runs only the tools named
#   GPU_DRAWS=N             random cases beside the cases of the table (default 20)
#   SANITIZER_SHARES=N      processes that divide the cases of a tool among them (default: one process a processor)
#   SANITIZER_SECONDS=N     time for a process; one that is still running then is stopped and counts as failed (default
#                           420)
#   SANITIZER_LOGS=FOLDER   the folder of the logs (default sanitizer.logs)
#
# Prints a line for each tool, then its reports: each place in a kernel once, with the number of its reports. The exit
# status is the number of tools that failed. initcheck finds little, because a plan zeroes its memory when it is made. The
# stage tests themselves show that no stage reads what an earlier step left: they fill all scratch memory with random
# words before every step.
set -u
# shellcheck source=tests/support/arguments.sh
. "$(dirname "$0")/support/arguments.sh"
check_arguments 1 "$@"
build=${1:-build}
tools=${GPU_TOOLS:-memcheck racecheck initcheck synccheck}
logs=${SANITIZER_LOGS:-sanitizer.logs}
limit=${SANITIZER_SECONDS:-420}
# shellcheck disable=SC2086
check_parts "memcheck racecheck initcheck synccheck" $tools
# shellcheck disable=SC2086
count=$(set -- $tools && echo $#)
shares=${SANITIZER_SHARES:-$(($(nproc) / count))}
[ "$shares" -ge 1 ] || shares=1
failed=0
export STEREO_TEST_DRAWS="${GPU_DRAWS:-20}"

command -v compute-sanitizer > /dev/null || { echo "compute-sanitizer is not in PATH: it comes with the CUDA toolkit" >&2; exit 1; }
[ -x "$build/tests/stages/test_stages" ] ||
  { echo "there is no $build/tests/stages/test_stages: build first, meson setup $build && ninja -C $build" >&2; exit 1; }
mkdir -p "$logs" && rm -f "$logs"/*.log "$logs"/*.out "$logs"/*.status || exit 1

# sanitize TOOL NAME COMMAND...: writes the reports, the output and the exit status to files named TOOL.NAME
sanitize () {
  tool=$1 name=$logs/$1.$2
  shift 2
  timeout -k 10 "$limit" compute-sanitizer --tool "$tool" --error-exitcode 9 --print-limit 1000 --log-file "$name.log" \
    "$@" > "$name.out" 2>&1
  echo $? > "$name.status"
}

# frames TOOL: whole frames, whose steps run as a CUDA graph
frames () {
  number=0
  for setting in "" "--profile thesis --refine-iterations 1" "--aggregation full --window 9 --refine-mode full --refine-iterations 1" \
      "--refine-mode idr --refine-iterations 1 --speckle-size 20 --median 5 --cost census-9x7" "--method sgm --fill planes" "--method bm --fill background" \
      "--num-disparities 100" "--num-disparities 100 --method sgm" \
      "--method esaw --iterations 4" "--method esmp --iterations 3"; do
    number=$((number + 1))
    # shellcheck disable=SC2086
    sanitize "$1" frame$number "$build/stereo/tools/stereo-bench" --backend cuda --runs 1 --num-disparities 40 $setting \
      --synthetic 101x67
  done
}

# reports TOOL: each distinct report with its place, the most frequent first
reports () {
  cat "$logs/$1".*.log 2> /dev/null | awk '
    /^========= [^ ]/ {
      head = substr ($0, 11)
      if (head ~ /^(COMPUTE-SANITIZER|ERROR SUMMARY|RACECHECK SUMMARY|Target application|LEAK SUMMARY)/)
        head = ""
      else if (head ~ / at .*[+]0x/) {
        print head
        head = ""
      }
      next
    }
    /^=========     (at|and) / { sub (/^=========     /, ""); print (head == "" ? "" : head ": ") $0; head = "" }
  ' | sort | uniq -c | sort -rn | head -n 40
}

# judge TOOL: prints the line of a tool
judge () {
  found=$(cat "$logs/$1".*.log 2> /dev/null | grep -oE '(ERROR|RACECHECK) SUMMARY: [0-9]+' | awk '{ n += $3 } END { print n + 0 }')
  cases=$(cat "$logs/$1".share*.out | grep -c '^ok cuda')
  wrong=0 word=ok
  for status in "$logs/$1".*.status; do
    name=${status%.status}
    case $(cat "$status") in
      0 | 9) ;;
      77) echo "$1: skipped: $(grep '^SKIP' "$name.out" | head -n 1)"; wrong=1 ;;
      124 | 137) echo "$1: ${name##*/} was stopped after $limit s, $(grep -c '^ok' "$name.out") cases done"; wrong=1 ;;
      *) echo "$1: ${name##*/} failed: $(tail -n 1 "$name.out" | cut -c1-300)"; wrong=1 ;;
    esac
  done
  [ "$wrong" -eq 0 ] && [ "$found" -eq 0 ] && [ "$cases" -gt 0 ] || { word=FAILED; failed=$((failed + 1)); }
  echo "$1: $word: $found reports; $cases cases of the stage suite, $(grep -lx 0 "$logs/$1".frame*.status | wc -l) of 8 whole frames"
  [ "$word" = ok ] || reports "$1"
}

begin=$(date +%s)
for tool in $tools; do
  frames "$tool" &
  share=1
  while [ "$share" -le "$shares" ]; do
    (export STEREO_TEST_SHARE="$share/$shares"; sanitize "$tool" "share$share" "$build/tests/stages/test_stages" cuda:) &
    share=$((share + 1))
  done
done
wait
for tool in $tools; do judge "$tool"; done
echo "compute-sanitizer: $failed of $count tools failed, $(($(date +%s) - begin)) s"
exit "$failed"
