# shellcheck shell=bash
# Does the card do what it should? The first command to run on a card.

find_hcas
check "hghca bringup" \
  bringup_by_kernel -d "${HCAS[0]}" --loop "peer=${HCAS[1]}" --junit "$OUT/TEST-bringup.xml" -v
