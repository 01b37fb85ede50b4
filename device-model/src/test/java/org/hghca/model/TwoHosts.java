package org.hghca.model;

import java.util.function.Consumer;

/** Two hosts that are brought up, a connection between them, and a buffer on each side. */
final class TwoHosts implements AutoCloseable {
  private final Host left;
  private final Host right;
  private final Host.Qp sender;
  private final Host.Buffer source;
  private final Host.Buffer target;
  private final int bytes;

  /** With messages of this many bytes. */
  TwoHosts(Host left, Host right, int bytes) {
    this(left, right, bytes, qp -> {});
  }

  /**
   * With messages of this many bytes.
   *
   * @param context sets further attributes of the queue pairs
   */
  TwoHosts(Host left, Host right, int bytes, Consumer<Host.Qp> context) {
    this.left = left.bringUp();
    this.right = right.bringUp();
    this.bytes = bytes;
    sender = left.qp();
    Host.Qp receiver = right.qp();
    context.accept(sender);
    context.accept(receiver);
    Host.connect(left, sender, right, receiver);
    source = left.buffer(bytes, Host.LOCAL);
    target = right.buffer(bytes, Host.ALL);
  }

  Host left() {
    return left;
  }

  /** The completion queue of the left side's messages. */
  Host.Cq cq() {
    return sender.cq;
  }

  /** Rings for an RDMA write of a message from the left to the right. */
  void write() {
    sender.write(target, 0, new Host.Piece(source, 0, bytes));
  }

  @Override
  public void close() {
    right.close();
    left.close();
  }
}
