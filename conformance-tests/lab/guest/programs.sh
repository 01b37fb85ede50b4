# shellcheck shell=bash
# Sourced on the host and in guests: a JVM that is kept, and runs the command line and the tests. An
# emulated processor takes seconds to start a JVM, and more to warm it up. PROJECT, JDK and LAB are
# folders, OUT takes reports, TOOLS has the files of that JVM.

# Starts it; it ends by a signal, and in a guest tells its system calls to the file trace.
# start_tools [COMMAND...]: a command that starts it, as another user perhaps. JVM: options that are
# to stand for the archive of classes.
start_tools() {
  local target=$PROJECT/conformance-tests/target options
  options=("-Dlogback.configurationFile=$PROJECT/config/logback-test.xml")
  # Compiling is what an emulated processor is slowest at. There jnr calls by reflection, too, which
  # is ready sooner than code that it generates first.
  [ -z "${EMULATED:-}" ] || options=(-XX:TieredStopAtLevel=1 -XX:CompileThresholdScaling=6
    -XX:+UseTransparentHugePages -Djnr.ffi.asm.enabled=false
    "-Dlogback.configurationFile=$LAB/guest/trace.xml" "-Dhghca.lab.trace=$TOOLS/trace")
  rm -rf "$TOOLS"
  mkdir -p "$TOOLS"
  mkfifo "$TOOLS/requests" "$TOOLS/answers"
  chmod -R a+rwX "$TOOLS"
  "$@" "$JDK/bin/java" -XX:+UseSerialGC -XX:-UsePerfData "${options[@]}" \
    "${JVM[@]:--XX:AOTCache=$target/lab-tests.aot}" \
    "-Djunit.platform.execution.listeners.deactivate=org.hghca.conformance.table.*" \
    --enable-native-access=ALL-UNNAMED \
    -cp "$(cat "$target/lab-tests.path")" \
    org.hghca.conformance.lab.ToolServer "$TOOLS/output" "$TOOLS/answers" \
    <> "$TOOLS/requests" > "$TOOLS/log" 2>&1 &
  echo $! > "$TOOLS/process"
}

end_tools() {
  kill "$(cat "$TOOLS/process")"
}

# Has it run a tool: tool [-Dkey=value...] NAME [ARGUMENT...]
tool() {
  local IFS=$'\t' status='' part
  tools_live || return
  {
    echo "$*" > "$TOOLS/requests"
    # A read whose time is over has taken what was there of the line.
    while ! read -r -t 5 part; do
      status+=$part
      tools_live || return
    done
    status+=$part
  } <> "$TOOLS/answers"
  cat "$TOOLS/output"
  return "$status"
}

tools_live() {
  [ -d "/proc/$(cat "$TOOLS/process")" ] && return
  echo "the JVM of the tools has ended:"
  cat "$TOOLS/log"
  return 1
}

hghca() {
  tool hghca "$@"
}

# Runs tests, with reports in $OUT/junit-NAME: junit_run NAME [-Dkey=value...] SELECTION...
junit_run() {
  local name=$1 properties=()
  shift
  while [[ ${1:-} == -D* ]]; do
    properties+=("$1")
    shift
  done
  tool "${properties[@]}" test "$OUT/junit-$name" "$@"
}
