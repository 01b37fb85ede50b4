/** The command line. */
module org.hghca.tools {
  requires com.fasterxml.jackson.jr.ob;
  requires info.picocli;
  requires java.management;
  requires java.xml;
  requires jdk.management;
  requires HdrHistogram;
  requires org.hghca.abi;
  requires org.hghca.cm;
  requires org.hghca.driver;
  requires org.hghca.icm;
  requires org.hghca.mailbox;
  requires org.hghca.model;
  requires org.hghca.programs;
  requires org.hghca.provider;
  requires org.hghca.uar;
  requires org.hghca.verbs;
  requires org.hghca.vfio;
  requires org.hghca.virtio;
  requires org.hghca.virtio.abi;
  requires org.hghca.virtio.driver;
  requires org.hghca.wire;

  opens org.hghca.tools to
      info.picocli;

  uses org.hghca.provider.DeviceDriver;
  uses org.hghca.vfio.PciFunctionProvider;

  provides org.hghca.programs.perf.page.DeviceFacts with
      org.hghca.tools.CardFacts;
  provides java.util.spi.ToolProvider with
      org.hghca.tools.HghcaTool;
}
