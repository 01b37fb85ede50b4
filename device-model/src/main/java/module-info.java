/** A software HCA, and a virtio network card, behind the device half of the PCI seam. */
module org.hghca.model {
  requires org.hghca.abi;
  requires org.hghca.linux;
  requires transitive org.hghca.vfio;
  requires transitive org.hghca.wire;
  requires org.hghca.log;
  requires org.hghca.virtio.abi;
  requires org.slf4j;

  exports org.hghca.model;

  provides org.hghca.vfio.PciFunctionProvider with
      org.hghca.model.ModelProvider,
      org.hghca.model.VirtioProvider;
}
