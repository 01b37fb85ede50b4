package org.hghca.tools.bringup.verbs;

import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import org.hghca.provider.Undo;
import org.hghca.tools.bringup.board.Driver;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.AddressHandle;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.CompletionChannel;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.Completions;
import org.hghca.verbs.ConnectionOptions;
import org.hghca.verbs.Context;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpEndpoint;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;

/**
 * Two queue pairs that reach each other, left on the board and right at the other end, with memory
 * and a completion queue each. One thread at a time.
 */
public final class Pair implements AutoCloseable {
  static final int DEPTH = 8;
  static final int ELEMENTS = 3;
  static final int QKEY = 0x1234;

  static final int COMPLETIONS = 64;

  /** One end. */
  public record End(
      Context context,
      ProtectionDomain domain,
      CompletionQueue queue,
      MemoryRegion memory,
      QueuePair pair) {

    QpEndpoint endpoint() {
      return new QpEndpoint(
          context.queryPort(Driver.PORT).lid(),
          pair.number(),
          0,
          context.queryGid(Driver.PORT, 0),
          pair.offerWrapMemory());
    }
  }

  private final Driver driver;
  private final Undo resources = new Undo();

  /** Closed first, as regions may be in use by their requests: by those of the other end, too. */
  private final Undo queuePairs = new Undo();

  private final End left;
  private final End right;
  private final Completions completions = new Completions(1);

  /** Makes them; they are not connected yet. */
  public Pair(Driver driver, QpType type, int bytes, int inline) {
    this(driver, type, bytes, inline, false, DEPTH, 0);
  }

  private Pair(
      Driver driver,
      QpType type,
      int bytes,
      int inline,
      boolean notified,
      int depth,
      int ringEntries) {
    this.driver = driver;
    try {
      this.left = make(driver.left(), type, bytes, inline, false, depth, ringEntries);
      this.right = make(driver.right(), type, bytes, 0, notified, depth, ringEntries);
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  /** Like the others; in addition, completions of the right end raise events. */
  static Pair notified(Driver driver, int bytes) {
    return new Pair(driver, QpType.RC, bytes, 0, true, DEPTH, 0);
  }

  /** Like the others, with completion queues that are as short as they can be. */
  static Pair withShortRings(Driver driver, int bytes) {
    return new Pair(driver, QpType.RC, bytes, 0, false, DEPTH, COMPLETIONS);
  }

  /** Like the others, reliable, with queues of this depth, at most {@link #COMPLETIONS}. */
  public static Pair withDepth(Driver driver, int bytes, int depth) {
    return new Pair(driver, QpType.RC, bytes, 0, false, depth, 0);
  }

  private End make(
      Context context,
      QpType type,
      int bytes,
      int inline,
      boolean notified,
      int depth,
      int ringEntries) {
    ProtectionDomain domain = context.allocateProtectionDomain();
    resources.add(domain::close);
    CompletionQueueConfig config =
        CompletionQueueConfig.of(COMPLETIONS).withRingEntries(ringEntries);
    if (notified) {
      CompletionChannel channel = context.createCompletionChannel();
      resources.add(channel::close);
      config = config.withChannel(channel);
    }
    CompletionQueue queue = context.createCompletionQueue(config);
    resources.add(queue::close);
    MemoryRegion memory = domain.allocate(bytes, access(context));
    resources.add(memory::close);
    QueuePair pair =
        domain.createQueuePair(
            QueuePairConfig.of(type, queue, queue)
                .sendDepth(depth)
                .receiveDepth(depth)
                .maxSendSge(ELEMENTS)
                .maxInline(inline)
                .signalAll());
    queuePairs.add(pair::close);
    return new End(context, domain, queue, memory, pair);
  }

  /** The rights that regions of a device can have. */
  public static Set<AccessFlag> access(Context context) {
    EnumSet<AccessFlag> access =
        EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ);
    if (context.queryDevice().atomics()) {
      access.add(AccessFlag.REMOTE_ATOMIC);
    }
    return access;
  }

  public End left() {
    return left;
  }

  public End right() {
    return right;
  }

  /** Connects them, the receiver first. */
  Pair connect(ConnectionOptions options) {
    ConnectionOptions given = options.withAccess(access(left.context()).toArray(AccessFlag[]::new));
    connect(right, left, given);
    connect(left, right, given);
    return this;
  }

  /** Connects them with the port's MTU. */
  public Pair connect() {
    return connect(ConnectionOptions.DEFAULT.withPathMtu(mtu()));
  }

  /** The largest MTU of the port. */
  Mtu mtu() {
    return left.context().queryPort(Driver.PORT).activeMtu();
  }

  private static void connect(End end, End peer, ConnectionOptions options) {
    QueuePair qp = end.pair();
    qp.modify(options.toInit(qp.type()));
    QpEndpoint to = peer.endpoint();
    to.wrapMemory().ifPresent(qp::takeWrapMemory);
    qp.modify(options.toRtr(qp.type(), to));
    qp.modify(options.toRts(qp.type(), 0));
  }

  /** Makes both ends ready for datagrams. */
  public AddressHandle activate() {
    for (End end : new End[] {right, left}) {
      QueuePair qp = end.pair();
      qp.modify(QpAttributes.to(QpState.INIT).pkeyIndex(0).port(Driver.PORT).qkey(QKEY));
      qp.modify(QpAttributes.to(QpState.RTR));
      qp.modify(QpAttributes.to(QpState.RTS).sendPsn(0));
    }
    return left.domain().createAddressHandle(AddressVector.to(right.endpoint().gid(), 0));
  }

  /** What {@link #await} found. */
  public Completions completions() {
    return completions;
  }

  /**
   * Waits for one completion of an end.
   *
   * @return whether there was one
   */
  public boolean await(End end, Duration limit) {
    return driver.waits().until(() -> end.queue().poll(completions, 1) != 0, limit);
  }

  /** Deregisters a region of its ends: at once, or with them where a prompt may look at them. */
  public void release(MemoryRegion region) {
    if (driver.isKept()) {
      resources.add(region::close);
    } else {
      region.close();
    }
  }

  @Override
  public void close() {
    driver.close(this::closeAll);
  }

  /** What cannot be closed does not keep the rest open. */
  private void closeAll() {
    try (resources;
        queuePairs) {}
  }
}
