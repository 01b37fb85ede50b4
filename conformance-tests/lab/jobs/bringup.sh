# shellcheck shell=bash
# Does the card do what it should? The first command to run on a card.

# An emulated processor that shares the machine with other guests may stand still for seconds.
find_hcas
check "hghca bringup" \
  hghca bringup -d "${HCAS[0]}" --loop "peer=${HCAS[1]}" --limit PT30S --skip speed \
    --junit "$OUT/TEST-bringup.xml" -v
