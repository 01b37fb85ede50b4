/** The driver of virtio-net devices with RoCE queues, beneath the verbs. */
module org.hghca.virtio.driver {
  requires transitive org.hghca.provider;
  requires transitive org.hghca.verbs;
  requires org.hghca.vfio;
  requires transitive org.hghca.virtio;
  requires org.hghca.virtio.abi;

  exports org.hghca.virtio.driver;

  provides org.hghca.provider.DeviceDriver with
      org.hghca.virtio.driver.VirtioDriver;
}
