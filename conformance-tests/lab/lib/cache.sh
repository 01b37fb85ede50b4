# shellcheck shell=bash
# Sourced by run: the cache of entries that take long to create.
#
# An entry is a folder $CACHE/NAME-HASH. The hash is over the files it is made from, so a changed
# script makes a new one. It is created under another name and renamed: a folder with its final name
# is complete. Two concurrent runs create it one after the other.

# Prints the folder of an entry, whether it exists or not.
# $1: name; $2...: the files it is made from
cache_entry() {
  local name=$1
  shift
  printf '%s/%s-%s\n' "$CACHE" "$name" "$(cat "$@" | sha256sum | cut -c 1-16)"
}

# Makes an entry when it is missing.
# $1: folder, as cache_entry prints it; $2...: command, which gets the folder to fill as its last
# argument
fill_cache() {
  local entry=$1 name making
  shift
  if [ ! -d "$entry" ]; then
    mkdir -p "$CACHE"
    name=$(basename "$entry")
    making=$CACHE/.making-$name
    exec 8> "$CACHE/.lock-$name"
    flock 8
    if [ ! -d "$entry" ]; then
      step "making ${name%-*} (log: $CACHE/$name.log)"
      rm -rf --one-file-system "$making"
      mkdir "$making"
      if ! "$@" "$making" > "$CACHE/$name.log" 2>&1; then
        tail -n 20 "$CACHE/$name.log" >&2
        die "could not make ${name%-*}; the whole log is $CACHE/$name.log"
      fi
      mv -T "$making" "$entry"
    fi
    exec 8>&-
  fi
  touch "$entry"
}

# Removes what no run has used for a month.
forget_old_entries() {
  find "$CACHE" -mindepth 1 -maxdepth 1 -mtime +30 -exec rm -rf --one-file-system {} +
}
