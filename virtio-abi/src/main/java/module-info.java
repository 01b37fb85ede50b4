/**
 * The interface of virtio devices as definitions: the PCI transport and split virtqueues, the
 * network device, and its RoCE queues. It describes no behaviour, and a driver and a device share
 * nothing else.
 */
module org.hghca.virtio.abi {
  exports org.hghca.virtio.abi;
  exports org.hghca.virtio.abi.net;
  exports org.hghca.virtio.abi.roce;
}
