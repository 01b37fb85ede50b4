package org.hghca.tools.perf.peers;

/** What carries messages from one end to the other. */
enum Carrier {
  /** Two software HCAs of one process, joined by a cable. */
  CABLE,
  /** Software HCAs that share memory. */
  SHARED_MEMORY,
  /** Software HCAs that send RoCE v2 over the loopback interface. */
  ROCE,
  /** Sockets over software HCAs that share memory. */
  SOCKETS_SHARED_MEMORY,
  /** Sockets over software HCAs that send RoCE v2 over the loopback interface. */
  SOCKETS_ROCE,
  /** A TCP connection over the loopback interface. */
  TCP,
  /** UDP sockets of the loopback interface. */
  DATAGRAMS,
  /** Copies of memory in one thread. */
  COPY;

  /** Whether the two ends are two processes. */
  boolean joinsProcesses() {
    return this != CABLE && this != COPY;
  }
}
