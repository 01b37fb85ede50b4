/**
 * Sockets over RDMA: channels and a selector as the JDK's, and the stream protocol beneath them,
 * which C programs know as rsocket. No service is declared: a {@code SelectorProvider} takes all
 * sockets of a program, so a program names it.
 */
@SuppressWarnings("module") // those that a package is exported to are not there when it is compiled
module org.hghca.sockets {
  requires org.hghca.cm;
  requires org.hghca.log;
  requires org.slf4j;

  exports org.hghca.sockets;
  exports org.hghca.sockets.policy to
      org.hghca.tools;
}
