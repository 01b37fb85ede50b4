package org.hghca.tools.demo;

import static org.hghca.verbs.AccessFlag.LOCAL_WRITE;
import static org.hghca.verbs.AccessFlag.REMOTE_ATOMIC;
import static org.hghca.verbs.AccessFlag.REMOTE_WRITE;

import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.ConnectionOptions;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;

/** Two connected queue pairs, and memory of the same size on both sides. */
final class Connection {
  private final Part<End> server;
  private final Part<End> client;
  private final Address serverAddress;

  /**
   * Connects.
   *
   * @param bytes of memory on either side
   */
  Connection(Sides sides, long bytes) {
    server = sides.server().map(side -> End.of(side, bytes));
    client = sides.client().map(side -> End.of(side, bytes));
    serverAddress = server.share(Address.MESSAGE, End::address);
    Address clientAddress = client.share(Address.MESSAGE, End::address);
    server.run(end -> end.connect(clientAddress));
    client.run(end -> end.connect(serverAddress));
    sides.barrier("connected");
  }

  Part<End> server() {
    return server;
  }

  Part<End> client() {
    return client;
  }

  /** The server's end, for the client. */
  Address serverAddress() {
    return serverAddress;
  }

  /** One end of it. */
  record End(Side side, MemoryRegion memory, QueuePair qp) {

    private static End of(Side side, long bytes) {
      MemoryRegion memory = side.own(side.pd().allocate(bytes, access(side)));
      QueuePair qp =
          side.pd()
              .createQueuePair(
                  QueuePairConfig.rc(side.cq(), side.cq()).sendDepth(1).receiveDepth(1));
      return new End(side, memory, side.own(qp));
    }

    private static AccessFlag[] access(Side side) {
      return side.context().queryDevice().atomics()
          ? new AccessFlag[] {LOCAL_WRITE, REMOTE_WRITE, REMOTE_ATOMIC}
          : new AccessFlag[] {LOCAL_WRITE, REMOTE_WRITE};
    }

    private Address address() {
      return Address.of(side, qp, memory);
    }

    private void connect(Address peer) {
      Mtu own = side.context().queryPort(Side.PORT).activeMtu();
      ConnectionOptions options =
          ConnectionOptions.DEFAULT
              .withPathMtu(own.bytes() < peer.mtu().bytes() ? own : peer.mtu())
              .withAccess(access(side));
      qp.modify(options.toInit(QpType.RC));
      peer.endpoint().wrapMemory().ifPresent(qp::takeWrapMemory);
      qp.modify(options.toRtr(QpType.RC, peer.endpoint()));
      qp.modify(options.toRts(QpType.RC, Address.PSN));
    }
  }
}
