# shellcheck shell=bash
# The guest itself: what every other job builds on.
edu=$(functions 1234:11e8)

edu_is_bound() {
  local node
  bind "$edu" || return
  node=/dev/vfio/$(group "$edu")
  has_iommu || node=/dev/vfio/noiommu-$(group "$edu")
  lspci -nnk -s "$edu" && ls -l "$node" && [ -c "$node" ]
}

check "the JDK runs" "$JDK/bin/java" -version
[ -z "$edu" ] || check "vfio-pci takes the edu device and the kernel makes its group's node" edu_is_bound
