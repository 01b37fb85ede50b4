# shellcheck shell=bash
# Sourced by the scripts that make packages, after jdk.sh; needs $root.

# package_version: such as 0.1.0-SNAPSHOT; builds the command line if it is not built.
package_version() {
  local jar
  "$root/tools/bin/hghca" --version > /dev/null
  jar=$(basename "$root"/tools/target/lib/hghca-tools-*.jar .jar)
  printf '%s\n' "${jar#hghca-tools-}"
}

# Of all packages: the files of one time are those of the last commit.
package_time() { git -C "$root" log -1 --format=%ct; }

# stage <jdk> <folder>: puts what every package holds there, beneath usr: the command line with a Java of its own, manual
# pages, completion, the udev rule, and examples of units.
stage() {
  local jdk=$1 usr=$2/usr target=$root/tools/target share
  share=$usr/share
  umask 022
  mkdir -p "$usr/lib/hghca" "$usr/lib/udev/rules.d" "$usr/bin" "$share/doc/hghca/examples"
  # What the libraries require of the JDK; they themselves stay jars beside it, since jlink takes no automatic modules.
  "$jdk/bin/jlink" --strip-debug --no-header-files --no-man-pages --compress zip-6 \
    --add-modules java.logging,java.management,java.naming,java.xml,jdk.httpserver,jdk.jfr,jdk.management,jdk.unsupported \
    --output "$usr/lib/hghca/runtime"
  cp -r "$target/lib" "$usr/lib/hghca/lib"
  cp "$root/tools/sh/start.sh" "$usr/lib/hghca/start.sh"
  cat > "$usr/bin/hghca" <<'EOF'
#!/bin/sh
# Starts the command line of hghca in its own Java.
home=$(dirname "$(dirname "$(readlink -f "$0")")")/lib/hghca
. "$home/start.sh"
start_hghca "$home/runtime" "$home/lib" "$home/hghca.aot" "$@"
EOF
  cp "$root/tools/bin/hghca-info" "$usr/bin/hghca-info"
  chmod 755 "$usr"/bin/*
  cp -r "$target/share/." "$share"
  gzip -9 -n "$share"/man/man1/*
  cp "$root/tools/udev/60-hghca-vfio.rules" "$usr/lib/udev/rules.d"
  cp "$root"/tools/systemd/* "$share/doc/hghca/examples"
  cp "$root/LICENSE" "$share/doc/hghca/copyright"
  cp "$root/CHANGELOG.md" "$share/doc/hghca/changelog"
  gzip -9 -n "$share/doc/hghca/changelog"
  find "$2" -exec touch -h -d "@$(package_time)" {} +
}

# What the first start has made.
remove_cache='rm -f /usr/lib/hghca/hghca.aot /usr/lib/hghca/hghca.aot.*'

# The lines that packages of all kinds run as root when they are installed: the group of the udev rule, whose members may
# open cards, and the first start, which makes the cache for all users.
after_install="getent group vfio > /dev/null || groupadd --system vfio
[ ! -d /run/udev ] || udevadm control --reload || true
$remove_cache
/usr/bin/hghca --version > /dev/null 2>&1 || true"
