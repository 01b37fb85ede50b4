# shellcheck shell=bash
# Does the card do what it should? What whoever has one runs first.

find_hcas
check "hghca bringup" \
  hghca bringup -d "${HCAS[0]}" --loop "peer=${HCAS[1]}" --skip speed --junit "$OUT/TEST-bringup.xml" -v
