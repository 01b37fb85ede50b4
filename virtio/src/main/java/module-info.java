/**
 * Driving a virtio device from user space: its PCI transport, feature negotiation, split virtqueues
 * and control queue, over a function that this process owns. Independent of RDMA.
 */
module org.hghca.virtio {
  requires transitive org.hghca.vfio;
  requires transitive org.hghca.virtio.abi;

  exports org.hghca.virtio;
}
