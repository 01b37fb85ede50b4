# shellcheck shell=bash
# The conformance tests of reliable connections that a device behind an IOMMU may fail where one in
# the same process does not: memory in parts, interrupts, many requests and doorbells.

classes=(FirstMessageTest ScatterGatherTest CompletionChannelTest)

find_hcas
check "conformance tests of reliable connections" junit rc \
  "-Dhghca.device=${HCAS[0]},${HCAS[1]}" \
  "${classes[@]/#/org.hghca.conformance.verbs.}"
