# shellcheck shell=bash
# The conformance tests of reliable connections, on two cabled software HCAs behind the IOMMU.

# In guests with another IOMMU than the first one's, the classes that move data every way there is.
classes=(FirstMessageTest MessageSizeTest ScatterGatherTest CompletionChannelTest)
[ "$SCENARIO" != c-intel ] || classes+=(AtomicTest RemoteErrorTest RequestFlagsTest CompletionQueueTest
  RegistrationTest RingWrapTest LifecycleTest)

find_hcas
check "conformance tests of reliable connections" junit "rc" \
  "-Dhghca.device=${HCAS[0]},${HCAS[1]}" \
  "${classes[@]/#/--select-class=org.hghca.conformance.verbs.}"
