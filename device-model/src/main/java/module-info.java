/** A software HCA behind the device half of the PCI seam. */
module org.hghca.model {
  requires org.hghca.abi;
  requires transitive org.hghca.vfio;
  requires transitive org.hghca.wire;
  requires org.slf4j;

  exports org.hghca.model;

  provides org.hghca.vfio.PciFunctionProvider with
      org.hghca.model.ModelProvider;
}
