# shellcheck shell=bash
# The conformance tests of reliable connections, on two cabled software HCAs behind the IOMMU.

classes=(FirstMessageTest ScatterGatherTest CompletionChannelTest)

find_hcas
check "conformance tests of reliable connections" junit "rc" \
  "-Dhghca.device=${HCAS[0]},${HCAS[1]}" \
  "${classes[@]/#/--select-class=org.hghca.conformance.verbs.}"
