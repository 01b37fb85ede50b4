# shellcheck shell=bash
# Sourced on the host and in guests: the programs of the project as both start them, because an
# archive of classes fits one way of starting only. PROJECT and JDK are folders, OUT takes reports.

# The JVM of every program here: a short life on a slow machine.
java() {
  "$JDK/bin/java" -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData \
    --sun-misc-unsafe-memory-access=allow "$@"
}

# The command line. JVM: options that are to stand for the archive. Interpreted, because compiling is
# what an emulated processor is slowest at, and a command ends before it pays.
hghca() {
  java -Xint "${JVM[@]:--XX:AOTCache=$PROJECT/conformance-tests/target/lab-hghca.aot}" \
    --enable-native-access=org.jnrproject.jffi,org.hghca.vfio \
    --module-path "$PROJECT/tools/target/lib" --module org.hghca.tools/org.hghca.tools.Main "$@"
}

# Runs tests, with reports in $OUT/junit-NAME: junit_run NAME [-Dkey=value...] SELECTION...
junit_run() {
  local name=$1 properties=() target=$PROJECT/conformance-tests/target
  shift
  while [[ ${1:-} == -D* ]]; do
    properties+=("$1")
    shift
  done
  java "${JVM[@]:--XX:AOTCache=$target/lab-tests.aot}" --enable-native-access=ALL-UNNAMED \
    "-Dlogback.configurationFile=$PROJECT/config/logback-test.xml" "${properties[@]}" \
    -cp "$(cat "$target/lab-tests.path")" \
    org.junit.platform.console.ConsoleLauncher execute --disable-banner --disable-ansi-colors \
    --details=testfeed --fail-if-no-tests --reports-dir "$OUT/junit-$name" "$@"
}
