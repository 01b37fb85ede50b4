# shellcheck shell=sh
# Sourced by what starts the command line, in the tree and where it is installed: how Java is called, and the cache of what
# it has loaded and linked (JEP 483), which the first start makes for later ones.

native=org.jnrproject.jffi,org.hghca.linux,org.hghca.vfio,ALL-UNNAMED # ALL-UNNAMED: backends that --plugin loads

# start_hghca <java home> <lib> <cache> <argument...>: <lib> holds the jars.
start_hghca() {
  java=$1 lib=$2 cache=$3 compilers=
  shift 3
  ensure_cache "$java" "$lib" "$cache" || cache=
  case ${1:-} in
    # They end, or are idle, before the second compiler of the JVM pays. What moves data needs both, and may follow an option.
    '' | -h | --help | --help-all | -V | --version | help | info | list | top | metrics | bind | unbind) compilers=-XX:TieredStopAtLevel=1 ;;
    # What is measured is what programs have, which start without.
    perf) cache= ;;
  esac
  # A cache that does not fit, or is damaged, is not used, and nothing is said: Java would say it on standard output.
  # shellcheck disable=SC2086
  exec "$java/bin/java" -XX:+UseSerialGC $compilers \
    ${cache:+"-XX:AOTCache=$cache" -XX:+VerifySharedSpaces -Xlog:aot=off,cds=off} \
    --enable-native-access=$native --module-path "$lib" --module org.hghca.tools/org.hghca.tools.Main "$@"
}

# is_fresh <java home> <lib> <cache>: whether this Java has made the cache, of these jars.
is_fresh() {
  [ -e "$3" ] && cmp -s "$1/release" "$3.release" || return 1
  for jar in "$2"/*.jar; do
    if [ "$jar" -nt "$3" ]; then return 1; fi
  done
}

# ensure_cache <java home> <lib> <cache>: makes the cache where it is missing or old; fails where there is none. A start
# beside one that makes it goes on without. Where Java cannot make one the cache is empty, so that nobody tries again.
ensure_cache() {
  if is_fresh "$@"; then
    [ -s "$3" ]
    return
  fi
  [ -w "$(dirname "$3")" ] || return 1
  (
    flock -n 9 || exit 1
    if [ -t 2 ]; then echo "hghca: preparing faster starts, once ..." >&2; fi
    rm -f "$3" "$3.new"
    # The options are those of start_hghca, as far as the cache depends on them.
    "$1/bin/java" -XX:+UseSerialGC "-XX:AOTCacheOutput=$3.new" -XX:+VerifySharedSpaces --enable-native-access=$native \
      --module-path "$2" --module org.hghca.tools/org.hghca.tools.Rehearsal > /dev/null 2>&1 < /dev/null || rm -f "$3.new"
    [ -e "$3.new" ] || : > "$3.new"
    cp "$1/release" "$3.release"
    mv -f "$3.new" "$3"
    [ -s "$3" ]
  ) 9> "$3.lock"
}
