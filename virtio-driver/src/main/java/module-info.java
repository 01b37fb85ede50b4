/** The driver of virtio-net devices with RoCE queues: a provider of RDMA verbs. */
module org.hghca.virtio.driver {
  requires org.hghca.provider;
  requires org.hghca.verbs;
  requires org.hghca.vfio;
  requires org.hghca.virtio;
  requires org.hghca.virtio.abi;

  provides org.hghca.verbs.spi.RdmaProvider with
      org.hghca.virtio.driver.VirtioProvider;
}
