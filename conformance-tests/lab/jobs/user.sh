# shellcheck shell=bash
# A user without privileges who may open the nodes of two groups, and nothing else.

find_hcas
useradd --no-create-home plain

# The project and the JDK may stand below folders of root's own.
for folder in "$PROJECT" "$JDK"; do
  while folder=$(dirname "$folder") && [ "$folder" != / ]; do chmod a+rx "$folder"; done
done

# What that user runs is run by a JVM of that user, who may lock 512 MiB.
# shellcheck disable=SC2034 # for start_tools and tool
TOOLS=/tmp/tools-of-plain
start_tools prlimit --memlock=536870912 \
  setpriv --reuid plain --regid plain --clear-groups --no-new-privs

give_groups() {
  local address
  for address in "${ADDRESSES[@]}"; do chown plain "/dev/vfio/$(group "$address")"; done
}

# What fails without permission must say what would give it.
is_refused_with_the_fix() {
  local output
  if output=$(hghca info -d "${HCAS[0]}" 2>&1); then
    echo "it was not refused: $output"
    return 1
  fi
  echo "$output"
  [[ $output == *"/dev/vfio/$(group "${ADDRESSES[0]}")"* && $output == *chown* ]]
}

check "a user without access is refused and told the fix" is_refused_with_the_fix
check "the groups' nodes are given to the user" give_groups
check "hghca demo as that user" hghca demo -d "${HCAS[0]}" -d "${HCAS[1]}" --seconds 0
end_tools
