# SPDX-License-Identifier: LGPL-2.1-or-later
# Sourced by the scripts of tests/: their --help, and their complaint about arguments that they do not know.

# print_help: the comment at the top of the script that runs
print_help () {
  sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"
}

# refuse TEXT: ends the script
refuse () {
  echo "$0: $1; $0 --help lists what it takes" >&2
  exit 2
}

# check_arguments MOST ARGUMENT...: --help prints the help and ends the script; an unknown option, or an argument after the
# first MOST ones, ends it with an error
check_arguments () {
  most_arguments=$1
  shift
  for argument in "$@"; do
    case $argument in
      -h | --help) print_help; exit 0 ;;
      -*) refuse "unknown option $argument" ;;
    esac
  done
  [ $# -le "$most_arguments" ] && return 0
  shift "$most_arguments"
  refuse "unknown argument $1"
}

# check_parts "KNOWN..." PART...: a part that is not known ends the script with an error
check_parts () {
  known_parts=$1
  shift
  for argument in "$@"; do
    case " $known_parts " in
      *" $argument "*) ;;
      *) refuse "unknown part $argument (known are: $known_parts)" ;;
    esac
  done
}
