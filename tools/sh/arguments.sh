# shellcheck shell=bash
# Sourced by the scripts: --help, and arguments that make no sense.

# What the comment at the head of a script says.
print_head() { # print_head <script>
  sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$1"
}

# Answers --help with the head of the script. Any other option, or more arguments than allowed, ends it with status 2.
check_arguments() { # check_arguments <usage> <most> <argument...>
  local usage=$1 most=$2 argument
  shift 2
  for argument in "$@"; do
    case $argument in
      -h | --help) print_head "$0"; exit 0 ;;
      -*) most=-1 ;;
    esac
  done
  if [ $# -gt "$most" ]; then
    echo "usage: $usage" >&2
    exit 2
  fi
}
