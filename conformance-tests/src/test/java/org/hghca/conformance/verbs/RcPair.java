package org.hghca.conformance.verbs;

import org.hghca.verbs.AddressHandle;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.Gid;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpEndpoint;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WrOpcode;

/** Two connected queue pairs with all their objects. Closing checks for leaks. */
final class RcPair implements AutoCloseable {
  final Fabric fabric;
  final Side left;
  final Side right;
  private final RcSetup setup;

  RcPair(Fabric fabric, RcSetup setup) {
    this.fabric = fabric;
    this.setup = setup;
    this.left = new Side(fabric, fabric.left(), setup);
    this.right = new Side(fabric, fabric.right(), setup);
    if (setup.connected()) {
      connect(setup.leftPsn(), setup.rightPsn());
      if (setup.type() == QpType.UD) {
        left.way = way(left, right);
        right.way = way(right, left);
      }
    }
  }

  /** A pair with the default configuration. */
  static RcPair open() {
    return new RcSetup().open();
  }

  RcSetup setup() {
    return setup;
  }

  /** Takes both queue pairs from RESET to RTS. */
  void connect(int leftPsn, int rightPsn) {
    toRtr(left.qp, right.qp, rightPsn);
    toRtr(right.qp, left.qp, leftPsn);
    toRts(left.qp, leftPsn);
    toRts(right.qp, rightPsn);
  }

  private static AddressHandle way(Side from, Side to) {
    return from.pd.createAddressHandle(AddressVector.to(to.context.queryGid(1, 0), 0));
  }

  /** Takes both queue pairs to RESET and back to RTS. */
  void reconnect() {
    left.qp.modify(QpAttributes.to(QpState.RESET));
    right.qp.modify(QpAttributes.to(QpState.RESET));
    connect(5, 6);
  }

  /** A request of the left side: an RDMA WRITE from a byte of the right side's buffer on. */
  SendRequest write(long at) {
    return left.send.rdmaWrite(right.address(at), right.buffer.rkey());
  }

  /** A request of the left side: an RDMA READ from a byte of the right side's buffer on. */
  SendRequest read(long at) {
    return left.send.rdmaRead(right.address(at), right.buffer.rkey());
  }

  /** Messages in both directions in turn, with all of their effects checked. */
  void traffic(WrOpcode opcode, int length, int iterations) {
    Transfer toRight = new Transfer(left, right, 1);
    Transfer toLeft = new Transfer(right, left, 2);
    for (int i = 0; i < iterations; i++) {
      toRight.run(opcode, Pieces.one(0, length), Pieces.one(Side.GRH, length));
      toLeft.run(opcode, Pieces.one(0, length), Pieces.one(Side.GRH, length));
    }
  }

  private void toRtr(QueuePair qp, QueuePair peer, int psn) {
    connectReceiver(setup, qp, peer, psn);
  }

  private void toRts(QueuePair qp, int psn) {
    qp.modify(setup.connection().toRts(qp.type(), psn));
  }

  static void connectReceiver(RcSetup setup, QueuePair qp, QueuePair peer, int psn) {
    qp.modify(setup.connection().toInit(qp.type()));
    qp.modify(setup.connection().toRtr(qp.type(), endpoint(peer, psn)));
  }

  /** Connects two queue pairs that were created separately. */
  static void connect(RcSetup setup, QueuePair one, QueuePair other) {
    connectReceiver(setup, one, other, setup.rightPsn());
    connectReceiver(setup, other, one, setup.leftPsn());
    one.modify(setup.connection().toRts(one.type(), setup.leftPsn()));
    other.modify(setup.connection().toRts(other.type(), setup.rightPsn()));
  }

  static QpEndpoint endpoint(QueuePair qp, int psn) {
    Gid gid = qp.protectionDomain().context().queryGid(1, 0);
    return new QpEndpoint(0, qp.number(), psn, gid);
  }

  /**
   * Moves a datagram from the left side, which learns its neighbor, unless a network finds it, to
   * the right one.
   */
  void sendDatagram(int length) {
    sendDatagram(left, right, length);
  }

  /** Sends a datagram from one of the two to the other, which receives it. */
  static void sendDatagram(Side from, Side to, int length) {
    to.postReceive(1, 0, Side.GRH + length);
    Gid gid = to.context.queryGid(1, 0);
    gid.mac().ifPresent(mac -> from.context.addNeighbor(gid, mac));
    try (AddressHandle handle = from.pd.createAddressHandle(AddressVector.to(gid, 0))) {
      from.qp.postSend(
          from.send
              .send()
              .to(handle, to.qp.number(), to.qp.query().qkey())
              .sge(from.buffer, 0, length)
              .signaled());
      Side.assertSuccess(from.sent());
      Side.assertSuccess(to.received());
    }
  }

  @Override
  public void close() {
    left.close();
    right.close();
    fabric.close();
  }
}
