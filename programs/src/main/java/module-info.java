/**
 * The programs of RDMA's users: perftest, the ping-pongs of libibverbs, the examples of librdmacm.
 */
@SuppressWarnings("module") // those that a package is exported to are not there when it is compiled
module org.hghca.programs {
  requires transitive info.picocli;
  requires transitive org.hghca.verbs;
  requires com.fasterxml.jackson.jr.ob;
  requires HdrHistogram;
  requires java.xml;
  requires org.hghca.cm;
  requires org.hghca.vfio;

  exports org.hghca.programs to
      org.hghca.tools;
  exports org.hghca.programs.peer to
      org.hghca.tools;
  exports org.hghca.programs.perf to
      org.hghca.tools;
  exports org.hghca.programs.perf.command to
      org.hghca.tools;
  exports org.hghca.programs.perf.medium to
      org.hghca.tools;
  exports org.hghca.programs.perf.page to
      org.hghca.tools;
  exports org.hghca.programs.perf.result to
      org.hghca.tools;
  exports org.hghca.programs.perf.run to
      org.hghca.tools;
  exports org.hghca.programs.perf.session to
      org.hghca.tools;
  exports org.hghca.programs.perf.suite to
      org.hghca.tools;
  exports org.hghca.programs.pingpong to
      org.hghca.tools;
  exports org.hghca.programs.rdmacm to
      org.hghca.tools;

  opens org.hghca.programs to
      info.picocli;
  opens org.hghca.programs.perf.command to
      info.picocli;
  opens org.hghca.programs.pingpong to
      info.picocli;
  opens org.hghca.programs.rdmacm to
      info.picocli;

  uses org.hghca.programs.perf.page.DeviceFacts;
}
