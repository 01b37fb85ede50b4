# shellcheck shell=bash
# All conformance tests of reliable connections, on two cabled software HCAs.

find_hcas
check "all conformance tests of reliable connections" junit suite \
  "-Dhghca.device=${HCAS[0]},${HCAS[1]}" \
  org.hghca.conformance.verbs/rc
