/** The lines of the project's log: what they are about, and each condition once, with a count. */
@SuppressWarnings("module") // those that it is exported to are not there when it is compiled
module org.hghca.log {
  requires org.slf4j;

  // For the modules of the project; the package is no public API.
  exports org.hghca.log to
      org.hghca.cm,
      org.hghca.driver,
      org.hghca.icm,
      org.hghca.model,
      org.hghca.provider,
      org.hghca.sockets,
      org.hghca.tools,
      org.hghca.vfio,
      org.hghca.wire;
}
