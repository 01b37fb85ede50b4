# shellcheck shell=bash
# Sourced by run: the project as it runs here. tools/target/lib is the module path of the command
# line; with conformance-tests/target/lab-tests.jar and test-lib it is the class path of what guests
# run.

# Whether all of it stands and no source is newer.
project_is_built() {
  local mark=$PROJECT/conformance-tests/target/test-lib.complete
  [ -e "$mark" ] && [ -e "$PROJECT/tools/target/lib.complete" ] || return 1
  [ -z "$(find "$PROJECT"/pom.xml "$PROJECT"/*/pom.xml "$PROJECT"/*/src -newer "$mark" -print -quit)" ]
}

build_project() {
  project_is_built && return 0
  need_packages maven
  local log=$PROJECT/conformance-tests/target/lab-build.log start
  mkdir -p "$(dirname "$log")"
  start=$(mktemp "$SOCKETS/start.XXXX")
  step "building the project (log: $log)"
  if ! (cd "$PROJECT" && PATH=$JDK/bin:$PATH JAVA_HOME=$JDK mvn -B -ntp package -pl conformance-tests,tools -am -DskipTests \
    -Dmaven.javadoc.skip -Dmaven.source.skip) > "$log" 2>&1; then
    grep -E '^\[ERROR\]' "$log" | head -n 30 >&2
    die "the build failed; its whole log is $log"
  fi
  # A source that was changed while the build ran is to count as newer.
  touch -r "$start" "$PROJECT/conformance-tests/target/test-lib.complete" \
    "$PROJECT/tools/target/lib.complete"
}

# Makes an archive of loaded classes: a JVM starts in half the time with one, of which an emulated
# machine has none to give away. It learns on the host, over vfio-user. The JVM leaves an archive
# alone that does not fit.
archive_classes() {
  local target=$PROJECT/conformance-tests/target jar path tests
  tests=$target/lab-tests.aot
  [ "$tests" -nt "$target/test-lib.complete" ] \
    && [ "$tests" -nt "$PROJECT/tools/target/lib.complete" ] && return 0
  step "archiving classes (log: $target/lab-archive.log)"
  rm -f "$tests" "$target/lab-archive.log"
  # An archive knows jars only, and a class path only as it is written.
  "$JDK/bin/jar" --create --file "$target/lab-tests.jar" -C "$target/test-classes" . \
    || die "no jar of the tests"
  path=$target/lab-tests.jar
  for jar in "$target"/test-lib/*.jar "$PROJECT"/tools/target/lib/*.jar; do
    # A library that both have is taken once.
    case $path in */"${jar##*/}"*) ;; *) path=$path:$jar ;; esac
  done
  printf '%s' "$path" > "$target/lab-tests.path"
  mkdir -p "$OUT/archive"
  start_server archive hcas "$SOCKETS/archive-right" "$PROJECT/tools/bin/hghca" model serve \
    --socket "$SOCKETS/archive-left" --peer "$SOCKETS/archive-right"
  start_server archive nics "$SOCKETS/archive-far" "$PROJECT/tools/bin/hghca" model serve --kind virtio \
    --socket "$SOCKETS/archive-near" -o roce=rfc-v2 --peer "$SOCKETS/archive-far" --peer-option roce=rfc-v2
  (
    # shellcheck disable=SC2030 # for what runs here alone
    OUT=$OUT/archive TOOLS=$OUT/archive/tools
    # shellcheck source=conformance-tests/lab/guest/programs.sh
    . "$LAB/guest/programs.sh"
    left=vfio-user:$SOCKETS/archive-left right=vfio-user:$SOCKETS/archive-right
    JVM=("-XX:AOTCacheOutput=$tests")
    # shellcheck disable=SC2119 # its arguments are a command
    start_tools
    hghca info --system
    hghca info -d "$left"
    hghca bringup -d "$left" --loop "peer=$right" --seconds 0
    hghca demo -d "$left" -d "$right" --seconds 0
    hghca info -d "vfio-user:$SOCKETS/archive-near"
    hghca bringup -d "vfio-user:$SOCKETS/archive-near" --seconds 0
    hghca demo -d "vfio-user:$SOCKETS/archive-near" -d "vfio-user:$SOCKETS/archive-far" --seconds 0
    junit_run archive "-Dhghca.device=$left,$right" org.hghca.conformance.verbs/rc
    end_tools
    wait
  ) >> "$target/lab-archive.log" 2>&1
  end_servers archive
  [ -e "$tests" ] || echo "no archive of classes; see lab-archive.log" >&2
}
