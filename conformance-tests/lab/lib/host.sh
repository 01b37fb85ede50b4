# shellcheck shell=bash
# Sourced by run: what the machine itself must have. Everything else comes with the guest's root.

# Installs packages that are missing; a machine that has them all needs no network.
# $@: names of packages
need_packages() {
  local package missing=()
  for package in "$@"; do
    dpkg-query -W -f '${db:Status-Status}\n' "$package" 2> /dev/null | grep -qx installed \
      || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  step "apt-get install ${missing[*]}"
  apt-get -qq update > /dev/null || die "apt-get update failed"
  DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 install -y \
    --no-install-recommends "${missing[@]}" > /dev/null \
    || die "could not install ${missing[*]}"
}

# The mirror from which this machine has its Debian.
debian_mirror() {
  local mirror
  mirror=$(apt-get indextargets --format "\$(REPO_URI)" 'Created-By: Packages' 'Origin: Debian' \
    'Component: main' | grep -v security | head -n 1)
  [ -n "$mirror" ] || die "apt knows no Debian mirror; see /etc/apt/sources.list"
  echo "$mirror"
}
