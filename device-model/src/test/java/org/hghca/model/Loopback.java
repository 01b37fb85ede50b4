package org.hghca.model;

import org.hghca.abi.QueuePairContext;

/**
 * A queue pair that is its own peer, without timers: a timer would hide work that was overlooked.
 */
final class Loopback {
  final Host.Qp qp;
  private final Host.Buffer buffer;

  Loopback(Host host) {
    qp = host.qp();
    qp.context.set(QueuePairContext.ACK_TIMEOUT, 0);
    qp.peer(host, qp);
    qp.toRts();
    buffer = host.buffer(1 << 17, Host.ALL);
  }

  /** An RDMA write of 8 bytes. */
  void write() {
    write(8);
  }

  void write(int bytes) {
    qp.write(buffer, 0, new Host.Piece(buffer, 0, bytes));
  }
}
