# shellcheck shell=bash
# Sourced by run: the project as the guests run it: tools/target/lib is the module path of the
# command line, conformance-tests/target/test-lib and test-classes are the class path of the tests.

# Whether all of it stands and no source is newer.
project_is_built() {
  local mark=$PROJECT/conformance-tests/target/test-lib.complete
  [ -e "$mark" ] && [ -e "$PROJECT/tools/target/lib.complete" ] || return 1
  [ -z "$(find "$PROJECT"/pom.xml "$PROJECT"/*/pom.xml "$PROJECT"/*/src -newer "$mark" -print -quit)" ]
}

build_project() {
  project_is_built && return 0
  need_packages maven
  local log=$CACHE/build.log start
  start=$(mktemp "$SOCKETS/start.XXXX")
  step "building the project (log: $log)"
  if ! (cd "$PROJECT" && JAVA_HOME=$JDK mvn -B -ntp package -pl conformance-tests -am -DskipTests \
    -Dmaven.javadoc.skip -Dmaven.source.skip) > "$log" 2>&1; then
    grep -E '^\[ERROR\]' "$log" | head -n 30 >&2
    die "the build failed; its whole log is $log"
  fi
  # A source that was changed while the build ran is to count as newer.
  touch -r "$start" "$PROJECT/conformance-tests/target/test-lib.complete" \
    "$PROJECT/tools/target/lib.complete"
}

# Makes an archive of loaded classes for the command line: a JVM starts in half the time with it, of
# which an emulated machine has none to give away. The JVM leaves an archive alone that does not fit.
archive_classes() {
  local archive=$PROJECT/conformance-tests/target/lab.aot lib=$PROJECT/tools/target/lib
  [ "$archive" -nt "$PROJECT/tools/target/lib.complete" ] && return 0
  "$JDK/bin/java" -XX:AOTCacheOutput="$archive" -XX:TieredStopAtLevel=1 -XX:+UseSerialGC \
    -XX:-UsePerfData --sun-misc-unsafe-memory-access=allow \
    --enable-native-access=org.jnrproject.jffi,org.hghca.vfio --module-path "$lib" \
    --module org.hghca.tools/org.hghca.tools.Main demo --seconds 0 > "$CACHE/archive.log" 2>&1 \
    || echo "no archive of classes: $CACHE/archive.log" >&2
}
