/**
 * Owning a PCI function from user space: finding and opening it, its registers, DMA memory,
 * interrupts, configuration space and reset. Independent of RDMA.
 */
@SuppressWarnings("module") // those that a package is exported to are not there when it is compiled
module org.hghca.vfio {
  requires org.hghca.linux;
  requires org.hghca.log;
  requires org.slf4j;

  exports org.hghca.vfio;
  exports org.hghca.vfio.direct to
      org.hghca.driver,
      org.hghca.model,
      org.hghca.virtio.driver;
  exports org.hghca.vfio.inprocess;
  exports org.hghca.vfio.kernel;
  exports org.hghca.vfio.memory;
  exports org.hghca.vfio.trace;
  exports org.hghca.vfio.user;

  uses org.hghca.vfio.PciFunctionProvider;

  provides org.hghca.vfio.PciFunctionProvider with
      org.hghca.vfio.kernel.KernelProvider,
      org.hghca.vfio.user.UserProvider;
}
