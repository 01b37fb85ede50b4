# shellcheck shell=bash
# The vfio layer alone, on QEMU's edu device: BAR, DMA round trip, interrupts, unmap then fault.

edu=$(functions 1234:11e8)

# $1: how the driver is to reach it, as the locator says
edu_tests() {
  junit "edu-$1" "-Dhghca.lab.edu=pci:$edu?iommu=$1" \
    --select-class org.hghca.conformance.lab.EduDeviceTest
}

the_iommu_reported_the_fault() {
  dmesg | grep "DMAR: \[DMA Write.*Request device \[${edu#0000:}\] fault addr"
}

if ! has_iommu; then
  way=noiommu
elif [ -c /dev/iommu ]; then
  way=iommufd
else
  way=group
fi
bind "$edu"
check "edu by $way: BAR, DMA, interrupts, unmap" edu_tests "$way"
[ "$way" = noiommu ] \
  || check "edu by $way: the IOMMU reported the write after the unmap" the_iommu_reported_the_fault
