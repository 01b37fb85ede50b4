/**
 * Sockets over RDMA: channels and a selector as the JDK's, and the stream protocol beneath them,
 * which C programs know as rsocket. No service is declared: a {@code SelectorProvider} takes all
 * sockets of a program, so a program names it.
 */
module org.hghca.sockets {
  requires org.hghca.cm;
  requires org.slf4j;

  exports org.hghca.sockets;
}
