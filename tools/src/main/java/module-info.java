/** The command line. */
module org.hghca.tools {
  requires ch.qos.logback.classic;
  requires ch.qos.logback.core;
  requires com.fasterxml.jackson.jr.ob;
  requires info.picocli;
  requires java.management;
  requires java.xml;
  requires jdk.httpserver;
  requires jdk.management;
  requires HdrHistogram;
  requires org.hghca.abi;
  requires org.hghca.cm;
  requires org.hghca.driver;
  requires org.hghca.icm;
  requires org.hghca.linux;
  requires org.hghca.log;
  requires org.hghca.mailbox;
  requires org.hghca.model;
  requires org.hghca.programs;
  requires org.hghca.provider;
  requires org.hghca.sockets;
  requires org.hghca.uar;
  requires org.hghca.verbs;
  requires org.hghca.vfio;
  requires org.hghca.virtio;
  requires org.hghca.virtio.abi;
  requires org.hghca.virtio.driver;
  requires org.hghca.wire;
  requires org.slf4j;

  opens org.hghca.tools to
      info.picocli;
  opens org.hghca.tools.bind to
      info.picocli;
  opens org.hghca.tools.bringup.board to
      info.picocli;
  opens org.hghca.tools.bringup.command to
      info.picocli;
  opens org.hghca.tools.capture to
      info.picocli;
  opens org.hghca.tools.card.command to
      info.picocli;
  opens org.hghca.tools.demo to
      info.picocli;
  opens org.hghca.tools.info to
      info.picocli;
  opens org.hghca.tools.model to
      info.picocli;
  opens org.hghca.tools.monitor to
      info.picocli;
  opens org.hghca.tools.perf.peers to
      info.picocli;
  opens org.hghca.tools.replay to
      info.picocli;
  opens org.hghca.tools.sockets to
      info.picocli;

  uses org.hghca.provider.DeviceDriver;
  uses org.hghca.vfio.PciFunctionProvider;

  provides ch.qos.logback.classic.spi.Configurator with
      org.hghca.tools.launch.LogConfigurator;
  provides org.hghca.programs.perf.page.DeviceFacts with
      org.hghca.tools.info.CardFacts;
  provides java.util.spi.ToolProvider with
      org.hghca.tools.HghcaTool;
}
