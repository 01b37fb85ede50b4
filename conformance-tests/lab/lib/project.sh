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
