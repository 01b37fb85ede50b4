# shellcheck shell=bash
# Sourced by the scripts: finds a JDK that can build and run hghca.

HGHCA_JDK_MINIMUM=25

# Prints the home of the first JDK of at least HGHCA_JDK_MINIMUM: JAVA_HOME, then the java on the
# PATH, then the usual folders. Reads each JDK's "release" file, so that no JVM is started.
find_jdk() {
  local home java version
  java=$(command -v java) && java=$(readlink -f "$java")
  for home in "${JAVA_HOME:-}" "${java%/bin/java}" /usr/lib/jvm/* "${HOME:-}"/.jdks/* \
    "${HOME:-}"/.sdkman/candidates/java/*; do
    [ -x "$home/bin/javac" ] && [ -r "$home/release" ] || continue
    version=$(sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$home/release")
    if [ "${version:-0}" -ge "$HGHCA_JDK_MINIMUM" ]; then
      printf '%s\n' "$home"
      return 0
    fi
  done
  return 1
}

# Says what was looked for and how to get it.
explain_missing_jdk() {
  cat >&2 <<EOF
hghca needs a JDK $HGHCA_JDK_MINIMUM or newer and found none.
  Looked at: JAVA_HOME (${JAVA_HOME:-not set}), java on the PATH ($(command -v java || echo none)),
             /usr/lib/jvm/*, ~/.jdks/*, ~/.sdkman/candidates/java/*
  Get one:   a .deb or .tar.gz from https://adoptium.net/temurin/releases/?version=$HGHCA_JDK_MINIMUM
             (unpack it under /usr/lib/jvm), or, where the distribution has it,
             apt install openjdk-$HGHCA_JDK_MINIMUM-jdk-headless
  Or set JAVA_HOME to the JDK if it stands elsewhere.
EOF
}
