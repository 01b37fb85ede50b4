# shellcheck shell=bash
# The virtio transport on QEMU's own network card: negotiation, control queue, frames, reset.

net=$(functions 1af4:1041)

# $1: how the driver is to reach it, as the locator says
net_tests() {
  junit virtio-net "-Dhghca.lab.virtio=pci:$net?iommu=$1" org.hghca.conformance.lab.VirtioNetTest
}

way=group
has_iommu || way=noiommu
check "vfio-pci takes the network card" bind "$net"
check "virtio-net by $way: negotiation, control queue, ARP and ping, reset" net_tests "$way"
