# shellcheck shell=bash
# Sourced by the scripts that start a program of this tree, after jdk.sh; needs $root.

# Allows as many open files as a program needs: the JVM keeps every jar open, Maven more; a device takes some besides.
allow_open_files() {
  local files=256
  if [ "$(ulimit -Sn)" != unlimited ] && [ "$(ulimit -Sn)" -lt $files ] \
    && ! ulimit -Sn $files 2> /dev/null; then
    echo "hghca: this shell allows $(ulimit -Hn) open files and hghca needs $files: ulimit -n $files" \
      "in a shell that may, LimitNOFILE=$files in a service" >&2
    return 1
  fi
}

# What hghca is made of, as a program uses it.
HGHCA_MODULES="abi virtio-abi linux log vfio virtio mailbox icm-manager uar verbs provider-base wire device-model"
HGHCA_MODULES+=" hghca-driver virtio-driver connection-manager sockets"

# is_built <module> <module>...: whether target/lib of the first one is complete and newer than the sources of all of them.
# The mark is set by Maven when all of the module path stands there.
is_built() {
  local module mark=$root/$1/target/lib.complete sources=("$root/pom.xml" "$root/bom/pom.xml")
  [ -e "$mark" ] || return 1
  for module in "$@"; do
    sources+=("$root/$module/pom.xml" "$root/$module/src/main")
  done
  [ -z "$(find "${sources[@]}" -newer "$mark" -print -quit)" ]
}

# show_build: reads Maven's lines and says on stderr which module is built, on a terminal in one line.
show_build() {
  local line number name='' fetched=0 shown='' start=$SECONDS
  while IFS= read -r line; do
    case $line in
      '[INFO] Building '*']')
        number=${line##*\[}
        number=${number%]}
        name=${line#'[INFO] Building '}
        name=${name%% *} ;;
      *'Downloaded from '*) fetched=$((fetched + 1)) ;;
      *) continue ;;
    esac
    line="hghca: building ${name:-} ${number:+(${number%/*} of ${number#*/})}"
    if [ -z "$name" ]; then line="hghca: fetching what Maven needs"; fi
    if [ -t 2 ] && [ "${TERM:-dumb}" != dumb ]; then
      printf '\r\033[K%s, %d files fetched, %d s' "$line" $fetched $((SECONDS - start)) >&2
    elif [ "$line" != "$shown" ]; then
      printf '%s\n' "$line" >&2
    fi
    shown=$line
  done
  if [ -n "$shown" ] && [ -t 2 ] && [ "${TERM:-dumb}" != dumb ]; then printf '\n' >&2; fi
}

# can_fetch: whether Maven can write what it fetches; says so if not.
can_fetch() {
  local repository=${HOME:-/}/.m2/repository
  case " ${MAVEN_ARGS:-} ${MAVEN_OPTS:-} " in *-Dmaven.repo.local=*) return 0 ;; esac
  while [ ! -e "$repository" ] && [ "$repository" != / ]; do repository=$(dirname "$repository"); done
  if [ ! -d "$repository" ] || [ ! -w "$repository" ]; then
    echo "hghca must be built first, and Maven cannot write to $repository:" \
      "MAVEN_ARGS=-Dmaven.repo.local=DIR names another folder" >&2
    return 1
  fi
}

# build <jdk> <module>: Maven builds the module and what it uses.
build() {
  local jdk=$1 module=$2 target=$root/$2/target errors
  local log=$target/build.log start=$target/build.start
  if ! { mkdir -p "$target" && touch "$start" "$log"; } 2> /dev/null; then
    echo "hghca must be built first, and $(id -un) cannot write to $target: call it once as the" \
      "owner of that folder, or give it room" >&2
    return 1
  fi
  if ! command -v mvn > /dev/null; then
    echo "hghca is not built yet, and building it needs Maven (mvn): apt install maven" >&2
    return 1
  fi
  can_fetch || return 1
  # Maven itself runs on any Java from 17; where there is none it gets ours.
  command -v java > /dev/null || export JAVA_HOME="$jdk"
  echo "hghca: building (first use, or sources changed; with an empty Maven repository 95 MB are" \
    "fetched, and it takes 3 minutes of processor time) ..." >&2
  if ! (
    set -o pipefail
    cd "$root"
    mvn -B package -pl "$module" -am -Dmaven.test.skip -Dmaven.javadoc.skip -Dmaven.source.skip \
      -Dcyclonedx.skip 2>&1 | tee "$log" | show_build
  ); then
    # Maven marks what went wrong; when it was killed, or never began, the end says more.
    errors=$(grep -m 30 '^\[ERROR\]' "$log") || errors=$(tail -n 30 "$log")
    printf '%s\n' "$errors" >&2
    echo "hghca: the build failed; its whole log is in $log" >&2
    return 1
  fi
  # A source that was changed while the build ran is to count as newer.
  touch -r "$start" "$target/lib.complete"
}

# ensure_built <jdk> <module> <module>...: builds the first module if it is not built or older than the sources of any.
ensure_built() {
  local jdk=$1
  shift
  if ! is_built "$@"; then
    # One build at a time; a process that waited finds it done. This script serves as the lock file.
    exec 9< "$root/tools/sh/build.sh"
    flock 9
    is_built "$@" || build "$jdk" "$1" || return 1
    exec 9<&-
  fi
}
