# shellcheck shell=bash
# The vfio layer alone, on QEMU's edu device: BAR, DMA round trip, interrupts, unmap then fault; and
# behind an IOMMU the cost of mapping 1 GiB for a device.

edu=$(functions 1234:11e8)

# $1: how the driver is to reach it, as the locator says; $2...: classes
edu_tests() {
  local way=$1 status
  shift
  junit "edu-$way" "-Dhghca.lab.edu=pci:$edu?iommu=$way" \
    "${@/#/org.hghca.conformance.lab.}"
  status=$?
  cp "$TOOLS/trace" "$OUT/edu-$way.trace"
  return "$status"
}

the_iommu_reported_the_fault() {
  dmesg | grep "DMAR: \[DMA Write.*Request device \[${edu#0000:}\] fault addr"
}

bind "$edu"
if ! has_iommu; then
  check "edu by noiommu: BAR, DMA, interrupts" edu_tests noiommu EduDeviceTest
else
  # One way with pages of the program, the other with huge pages: a GiB takes its time.
  way=group large=pagesOfTheProgram
  [ ! -c /dev/iommu ] || way=iommufd large=hugePages
  # 1 GiB for the test of large memory.
  echo 512 > /proc/sys/vm/nr_hugepages
  check "edu by $way: BAR, DMA, interrupts, unmap, 1 GiB at once" \
    edu_tests "$way" EduDeviceTest \
    "LargeMemoryTest#${large}AreMappedInOneCall(org.junit.jupiter.api.TestReporter)"
  check "edu by $way: the IOMMU reported the write after the unmap" the_iommu_reported_the_fault
  echo 0 > /proc/sys/vm/nr_hugepages
fi
