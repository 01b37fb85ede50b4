package org.hghca.tools.demo;

import static org.hghca.verbs.AccessFlag.LOCAL_WRITE;
import static org.hghca.verbs.AccessFlag.REMOTE_ATOMIC;
import static org.hghca.verbs.AccessFlag.REMOTE_WRITE;

import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.ConnectionOptions;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;

/**
 * Two connected queue pairs, and memory of the same size on both sides. One thread plays both
 * sides, so that another core is free for the software HCAs.
 */
final class Connection implements AutoCloseable {
  /** Outstanding requests of each queue. */
  static final int DEPTH = 128;

  private static final int INLINE_BYTES = 8;
  private static final int PSN = 0;

  private final Side server;
  private final Side client;
  private final MemoryRegion serverMemory;
  private final MemoryRegion clientMemory;
  private final QueuePair serverQp;
  private final QueuePair clientQp;

  /**
   * Connects.
   *
   * @param bytes of memory on either side
   */
  Connection(Side server, Side client, long bytes) {
    this.server = server;
    this.client = client;
    serverMemory = server.pd().allocate(bytes, access(server));
    clientMemory = client.pd().allocate(bytes, access(client));
    serverQp = createQueuePair(server);
    clientQp = createQueuePair(client);
    connect(server, serverQp, client, clientQp);
    connect(client, clientQp, server, serverQp);
  }

  private static QueuePair createQueuePair(Side side) {
    return side.pd()
        .createQueuePair(
            QueuePairConfig.rc(side.cq(), side.cq())
                .sendDepth(DEPTH)
                .receiveDepth(DEPTH)
                .maxInline(canInline(side) ? INLINE_BYTES : 0));
  }

  private static AccessFlag[] access(Side side) {
    return side.context().queryDevice().atomics()
        ? new AccessFlag[] {LOCAL_WRITE, REMOTE_WRITE, REMOTE_ATOMIC}
        : new AccessFlag[] {LOCAL_WRITE, REMOTE_WRITE};
  }

  private static boolean canInline(Side side) {
    return side.context().queryDevice().maxInline() >= INLINE_BYTES;
  }

  private static void connect(Side side, QueuePair qp, Side peer, QueuePair peerQp) {
    ConnectionOptions options =
        ConnectionOptions.DEFAULT
            .withPathMtu(side.context().queryPort(Side.PORT).activeMtu())
            .withAccess(access(side));
    qp.modify(options.toInit(QpType.RC));
    qp.modify(options.toRtr(QpType.RC, peer.endpoint(peerQp, PSN)));
    qp.modify(options.toRts(QpType.RC, PSN));
  }

  Side server() {
    return server;
  }

  Side client() {
    return client;
  }

  MemoryRegion serverMemory() {
    return serverMemory;
  }

  MemoryRegion clientMemory() {
    return clientMemory;
  }

  QueuePair serverQp() {
    return serverQp;
  }

  QueuePair clientQp() {
    return clientQp;
  }

  /** Whether a request of either side can carry this number of inline bytes. */
  boolean canInline(int bytes) {
    return bytes <= clientQp.capabilities().maxInline()
        && bytes <= serverQp.capabilities().maxInline();
  }

  @Override
  public void close() {
    clientQp.close();
    serverQp.close();
    clientMemory.close();
    serverMemory.close();
  }
}
