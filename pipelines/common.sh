# SPDX-License-Identifier: LGPL-2.1-or-later
# Sourced by the scripts here: cameras, rectification, the overlay, and a pipeline put together word by word, for stream.py.
# README.md beside it lists the environment variables that all of them heed.

# Variables that are lists of words are split at blanks, and nothing else: a * in them is no name of a file.
set -f

fail () {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

# The comment at the top of the script.
usage () {
  sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"
}

# usage_unless CONDITION...: of test
usage_unless () {
  [ "$@" ] || { usage >&2; exit 2; }
}

case ${1:-} in
  -h | --help)
    usage
    exit 0
    ;;
esac

# Built beside this folder and not installed: GStreamer, the loader and Python are told where.
build=${STEREO_BUILD:-$(dirname "$0")/../build}
environment=
if [ -f "$build/gst/libgststereovision.so" ]; then
  build=$(cd "$build" && pwd)
  export GST_PLUGIN_PATH="$build/gst${GST_PLUGIN_PATH:+:$GST_PLUGIN_PATH}"
  export LD_LIBRARY_PATH="$build/gst${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
  export GI_TYPELIB_PATH="$build/gst${GI_TYPELIB_PATH:+:$GI_TYPELIB_PATH}"
  environment="GST_PLUGIN_PATH=$build/gst "
elif [ -n "${STEREO_BUILD:-}" ]; then
  fail "STEREO_BUILD=$STEREO_BUILD holds no gst/libgststereovision.so: build there, or unset it"
fi

# ---- what is there ---------------------------------------------------------------------------

# where_from ELEMENT: what gives it, on Debian
where_from () {
  case $1 in
    depthoverlay) echo "gst-stereo, built with libpango1.0-dev" ;;
    stereorectify) echo "gst-stereo, built with libyaml-dev" ;;
    stereo*) echo "gst-stereo: ninja -C build, or install it" ;;
    avenc_* | avdec_*) echo "gstreamer1.0-libav" ;;
    x264enc) echo "gstreamer1.0-plugins-ugly" ;;
    openh264* | nv*) echo "gstreamer1.0-plugins-bad" ;;
    video[cst]* | compositor | decodebin | appsink | appsrc | capsfilter | fakesink) echo "gstreamer1.0-plugins-base" ;;
    ximagesink | xvimagesink) echo "gstreamer1.0-x" ;;
    autovideosink | *mux | *demux | png* | jpeg* | multifile* | v4l2src | vp[89]* | gamma | deinterlace | rtp*pay) echo "gstreamer1.0-plugins-good" ;;
  esac
}

# --exists alone wants GStreamer's own version of it
have () {
  gst-inspect-1.0 --atleast-version=0.0 --exists "$1" 2>/dev/null
}

# need ELEMENT...
need () {
  command -v gst-launch-1.0 >/dev/null 2>&1 || fail "there is no gst-launch-1.0: install gstreamer1.0-tools"
  for element in "$@"; do
    have "$element" || {
      origin=$(where_from "$element")
      fail "there is no element $element${origin:+; it comes with: $origin}"
    }
  done
}

is_png () {
  [ "$(od -An -v -tx1 -N 8 "$1" | tr -d ' \n')" = 89504e470d0a1a0a ]
}

# For which qtdemux of GStreamer 1.22 says that the right view comes first, also where it does not.
is_mp4 () {
  [ "$(od -An -v -tx1 -j 4 -N 4 "$1" | tr -d ' \n')" = 66747970 ]
}

is_matroska () {
  [ "$(od -An -v -tx1 -N 4 "$1" | tr -d ' \n')" = 1a45dfa3 ]
}

# ---- the line --------------------------------------------------------------------------------

pipeline=

# quoted WORD: as the shell wants it, for eval
quoted () {
  case $1 in
    '') echo "''" ;;
    *[!A-Za-z0-9_./:=,+@%!-]*) printf '%s\n' "$1" | sed "s/'/'\\\\''/g; 1s/^/'/; \$s/\$/'/" ;;
    *) printf '%s\n' "$1" ;;
  esac
}

# add WORD...: to the pipeline
add () {
  for word in "$@"; do
    pipeline="$pipeline $(quoted "$word")"
  done
}

# become PROGRAM [WORD...]: runs a program of this folder with these words and the pipeline, so that a signal meets it
become () {
  line="$(quoted "$(python)") $(quoted "$(dirname "$0")/$1")"
  shift
  for word in "$@"; do
    line="$line $(quoted "$word")"
  done
  eval "exec $line$pipeline"
}

# launch [-e]: says the line, and runs it. Names of files are never a part of what is parsed: stream.py
launch () {
  printf '%sgst-launch-1.0%s%s\n' "$environment" "${*:+ $*}" "$pipeline"
  become stream.py "$@"
}

# finish LOG WORD...: runs a pipeline to its end, or its error
finish () {
  log=$1
  shift
  "$(python)" "$(dirname "$0")/stream.py" "$@" >"$log" 2>&1
}

# add_screen: what shows pictures
add_screen () {
  # SINK is a list of words
  # shellcheck disable=SC2086
  set -- ${SINK:-autovideosink}
  need videoconvert "$1"
  add videoconvert ! "$@"
}

# errors_of LOG: what was wrong
errors_of () {
  sed -n 's/^ERROR: from element [^ ]*: //p; s/^.*\(No decoder available for type .*\)/\1/p' "$1" | sort -u
}

# ---- cameras ---------------------------------------------------------------------------------

is_property () {
  case $1 in
    @preset=*) return 0 ;;
    [!a-z]* | *[!a-z0-9-]*=*) return 1 ;;
    *=*) return 0 ;;
  esac
  return 1
}

# choices PROPERTY: the words that a property of stereomatch takes, one a line; none where it takes numbers
choices () {
  gst-inspect-1.0 stereomatch 2>/dev/null | awk -v name="$1" '
    /^  [a-z]/ { inside = $1 == name }
    inside && $1 ~ /^\([0-9-]*\):$/ { print $2 }'
}

# check_choice PROPERTY=WORD: gst-launch-1.0 would not say which words there are
check_choice () {
  case ${1#*=} in
    '' | *[!a-z0-9-]* | [0-9]* | -*) return ;;
  esac
  there=$(choices "${1%%=*}")
  [ -z "$there" ] || printf '%s\n' "$there" | grep -q -x -e "${1#*=}" ||
    fail "$1: ${1%%=*} is one of: $(printf '%s\n' "$there" | tr '\n' ' ')"
}

# check_properties WORD...: what is left of the command line goes to stereomatch
check_properties () {
  for word in "$@"; do
    is_property "$word" || fail "$word: after the cameras come properties of stereomatch, such as num-disparities=96"
    check_choice "$word"
  done
}

read_size () {
  size=${SIZE:-640x480} rate=${RATE:-30}
  width=${size%x*} height=${size#*x}
  case $size/$rate in
    *[!0-9x/]* | x* | *x*x* | *x/* | */) size= ;;
    *x*) ;;
    *) size= ;;
  esac
  [ -n "$size" ] ||
    fail "SIZE=${SIZE:-} RATE=${RATE:-}: a view's width and height and frames a second, such as SIZE=640x480 RATE=30"
}

# A camera's frames are let go where the matcher is not done with earlier ones; a file's and a test's own are not.
live=yes
buffer="queue leaky=downstream max-size-buffers=2"
wait_for_all () {
  live=no
  buffer="queue max-size-bytes=0"
}
case ${TEST_SOURCE:-} in
  *is-live=false*) wait_for_all ;;
esac

# lose_pairs: queues that let frames go would each let others go, and leave frames without a partner. stereomatch drops whole
# pairs that are late, but for recordings.
lose_pairs () {
  [ -n "${match_defaults:-}" ] || buffer="queue max-size-bytes=0"
}

rig=

# add_test VIEW: the synthetic scene. Both views are of one source, as those of a rig whose cameras are started together: two
# live sources would each count time from its own first frame.
add_test () {
  need stereotestsrc
  lose_pairs
  if [ "$1" != right ] || [ -z "$rig" ]; then
    # TEST_SOURCE is a list of words
    # shellcheck disable=SC2086
    add stereotestsrc is-live=true ${TEST_SOURCE:-} ! \
      "video/x-raw,width=$((2 * width)),height=$height,framerate=$rate/1,multiview-mode=side-by-side" !
  fi
  [ "$1" = both ] && return
  need videocrop capssetter
  [ -n "$rig" ] || add tee name=rig
  rig=made
  case $1 in
    left) add rig. ! queue max-size-bytes=0 ! videocrop "right=$width" ! ;;
    right) add rig. ! queue max-size-bytes=0 ! videocrop "left=$width" ! ;;
  esac
  # that this is one view now is not known to videocrop
  add capssetter "caps=video/x-raw,multiview-mode=$1" !
}

add_device () {
  [ -c "$1" ] ||
    fail "there is no camera $1; ls /dev/video* shows what there is, and \"test\" in its place takes a synthetic scene"
  [ -r "$1" ] || fail "$1 must not be read by $(id -un): add that user to the group video"
  need v4l2src
  columns=$width
  [ "$2" = both ] && columns=$((2 * width))
  caps="width=$columns,height=$height,framerate=$rate/1"
  if [ -n "${JPEG:-}" ]; then
    need jpegdec
    add v4l2src "device=$1" ! "image/jpeg,$caps" ! jpegdec !
  else
    add v4l2src "device=$1" ! "video/x-raw,$caps" !
  fi
}

# check_movie FILE: it can be decoded. decodebin would name no package.
check_movie () {
  need decodebin videoconvert
  said=$(mktemp)
  finish "$said" filesrc "location=$1" ! decodebin ! videoconvert ! fakesink num-buffers=1 || {
    errors_of "$said" >&2
    rm -f "$said"
    fail "$1 cannot be decoded: gstreamer1.0-libav has decoders of most movies, H.264 and H.265 among them"
  }
  rm -f "$said"
}

# check_out FILE SOURCE...: FILE can be written, and is none of the movies that are read
check_out () {
  out=$1
  shift
  [ -d "$(dirname "$out")" ] || fail "there is no folder $(dirname "$out") to write $(basename "$out") to"
  for source in "$@"; do
    [ ! "$source" -ef "$out" ] || fail "$out is one of the movies that are read: give another name"
  done
}

# tag_views SOURCE: how both views lie in one frame, where packing= or RIGHT_FIRST says it
tag_views () {
  if [ -z "${packing:-}${RIGHT_FIRST:-}" ] && ! { [ -f "$1" ] && is_mp4 "$1"; }; then
    return
  fi
  need capssetter
  first_view=0
  [ -z "${RIGHT_FIRST:-}" ] || first_view=1
  add capssetter \
    "caps=video/x-raw${packing:+,multiview-mode=$packing},multiview-flags=(GstVideoMultiviewFlagsSet)$first_view:ffffffff" !
}

# add_camera SOURCE left|right|both: a device, a movie, or "test". With raw=yes, a tee raw_left, raw_right or raw_both has
# what the camera gave.
add_camera () {
  read_size
  case $1 in
    test) add_test "$2" ;;
    /dev/*) add_device "$1" "$2" ;;
    -*) fail "$1 is no option here: --help lists them" ;;
    *)
      [ -f "$1" ] || fail "there is no file $1; cameras are /dev/video0 and so on, and \"test\" is a synthetic scene"
      check_movie "$1"
      wait_for_all
      need videoflip
      add filesrc "location=$1" ! decodebin ! videoconvert ! videoflip video-direction=auto !
      ;;
  esac
  need videoconvert
  add videoconvert !
  [ "$2" != both ] || tag_views "$1"
  [ -z "${raw:-}" ] || add identity drop-allocation=true ! tee "name=raw_$2" "raw_$2." !
}

# ---- from cameras to depth -------------------------------------------------------------------

# convert_calibration: what stereorectify does not read becomes OpenCV's, in a file that the next start writes again
convert_calibration () {
  made=$(printf '%s %s' "$CALIBRATION" "${SIZE:-}" | cksum | cut -d ' ' -f 1)
  CALIBRATION=$("$(python)" "$(dirname "$0")/calibration.py" --if-needed ${SIZE:+--size "$SIZE"} \
    -o "${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/gst-stereo/calibration-$made.yml" "$CALIBRATION") || exit 1
}

check_calibration () {
  need stereorectify
  rest=$1,
  while [ -n "$rest" ]; do
    [ -f "${rest%%,*}" ] || fail "CALIBRATION=$1: there is no file ${rest%%,*}"
    rest=${rest#*,}
  done
}

# fork VIEWS: on to the matcher, and where VIEWS names a tee to what is linked to that
fork () {
  [ -z "$1" ] || add tee "name=$1" "$1." !
  # shellcheck disable=SC2086
  add $buffer !
}

# add_rectified FIRST [SECOND]
add_rectified () {
  check_calibration "$CALIBRATION"
  convert_calibration
  if [ -n "${2:-}" ]; then
    add_camera "$1" left
    # shellcheck disable=SC2086
    add $buffer ! rectify.sink_left
    add_camera "$2" right
    # shellcheck disable=SC2086
    add $buffer ! rectify.sink_right
  else
    add_camera "$1" both
    # shellcheck disable=SC2086
    add $buffer !
  fi
  # RECTIFY is a list of words
  # shellcheck disable=SC2086
  add stereorectify name=rectify "calibration=$CALIBRATION" ${RECTIFY:-} !
}

# add_match VIEWS CAMERA [CAMERA] [property=value...]: ends behind stereomatch. VIEWS, where not empty, names a tee that
# has the left view, or both views in one frame. $match_profile and $match_defaults: properties that come before those of the user.
add_match () {
  views=$1 first=$2 second=
  shift 2
  if [ $# -gt 0 ] && ! is_property "$1"; then
    second=$1
    shift
  fi
  check_properties "$@"
  need stereomatch
  packing=
  for word in "$@"; do
    [ "${word#packing=}" = "$word" ] || packing=${word#packing=}
  done
  if [ -n "${CALIBRATION:-}" ]; then
    add_rectified "$first" "$second"
    fork "$views"
  elif [ -n "$second" ]; then
    add_camera "$first" left
    fork "$views"
    add match.sink_left
    add_camera "$second" right
    # shellcheck disable=SC2086
    add $buffer ! match.sink_right
    # cropped, test pictures have lost what their source said of its cameras
    [ "$first" != test ] || set -- "focal-length=$((width * 9 / 10))" baseline=120 "$@"
  else
    add_camera "$first" both
    fork "$views"
  fi
  # one a line, for record.sh
  properties=$(printf '%s\n' "$@")
  # shellcheck disable=SC2086
  add stereomatch name=match ${match_profile:-} ${match_defaults:-} "$@"
}

# use_ground WORD...: obstacles on the ground in place of surfaces, where the command line lets distances be known. GROUND has
# properties of stereoground, or is "no".
use_ground () {
  case "${GROUND:-}/${CALIBRATION:+calibrated} $* " in
    no/*) ;;
    */calibrated* | *" focal-length="* | *" test "*)
      need stereoground
      depth_filter="stereoground name=ground message-interval=100000000 ${GROUND:-}"
      nearest=nearest=obstacle
      TEST_SOURCE=${TEST_SOURCE:-pattern=road}
      ;;
    *)
      printf '%s: without CALIBRATION or focal-length and baseline there are no distances, and neither ground nor obstacles\n' \
        "$(basename "$0")" >&2
      ;;
  esac
}

# add_overlay CAMERA [CAMERA] [property=value...]: ends behind depthoverlay. What warns is measured, and what is shown is filled
# within surfaces. $depth_filter: what stands behind stereomatch; $nearest: properties of stereonearest; $depth_tee: the name of a
# tee that has the depth.
add_overlay () {
  need depthoverlay stereonearest
  shown=
  # OVERLAY is a list of words, of which some are for stereonearest
  for word in ${OVERLAY:-}; do
    case $word in
      warn-distance=* | nearest=* | nearest-percentile=* | max-unknown=* | region=* | message-interval=*)
        nearest="${nearest:-} $word"
        ;;
      *) shown="$shown $word" ;;
    esac
  done
  match_profile=${match_profile:-fill=gaps}
  add_match views "$@"
  # shellcheck disable=SC2086
  add ${depth_filter:+! $depth_filter} ! stereonearest name=nearest min-confidence=0.33 ${nearest:-} \
    ${depth_tee:+! tee name=$depth_tee $depth_tee.} ! queue ! overlay.sink_depth \
    views. ! queue max-size-bytes=0 ! depthoverlay name=overlay min-confidence=0 $shown
}

# ---- over a network --------------------------------------------------------------------------

check_port () {
  case $1 in
    *[!0-9]* | '' | ??????*) fail "$1 is not a port: give a number from 1 to 65535, such as 5000" ;;
  esac
  if [ "$1" -lt 1 ] || [ "$1" -gt 65535 ]; then
    fail "$1 is not a port: give a number from 1 to 65535, such as 5000"
  fi
}

# add_h264: from the overlay on
add_h264 () {
  # ENCODER is a list of words
  # shellcheck disable=SC2086
  set -- ${ENCODER:-x264enc tune=zerolatency speed-preset=veryfast key-int-max=30}
  need "$1"
  add ! videoconvert ! video/x-raw,format=I420 ! "$@" !
}

# The system's Python, whose PyGObject it is; another one may come first in PATH. $python: in its place.
python () {
  for candidate in ${python:+"$python"} /usr/bin/python3 python3; do
    if command -v "$candidate" >/dev/null 2>&1; then
      echo "$candidate"
      return
    fi
  done
  fail "there is no python3"
}
