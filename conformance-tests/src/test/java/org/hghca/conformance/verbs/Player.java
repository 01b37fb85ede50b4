package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.hghca.conformance.profile.TestTime;
import org.hghca.verbs.AddressHandle;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.CompletionChannel;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.Context;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpEndpoint;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.SharedReceiveQueue;
import org.hghca.verbs.SharedReceiveQueueConfig;

/**
 * One of two players, as in rdma-core's tests: queue pairs of one type, one completion queue for
 * both directions, one buffer for sending and receiving. It writes its own letter and expects the
 * other's.
 */
final class Player implements AutoCloseable {
  /** Bytes of global route header before the data of a datagram. */
  static final int GRH = 40;

  /** The Q_Key of {@link org.hghca.verbs.ConnectionOptions#toInit}. */
  static final int QKEY = 0x1111_1111;

  private static final Duration LIMIT = TestTime.seconds(10);

  final Fabric fabric;
  final Context context;
  final ProtectionDomain pd;
  final Optional<CompletionChannel> channel;
  final CompletionQueue queue;
  final Optional<SharedReceiveQueue> shared;
  final MemoryRegion region;
  final List<QueuePair> qps = new ArrayList<>();
  final PlayerSetup setup;
  final byte letter;

  /** Requests for use by one statement at a time. */
  final SendRequest send = new SendRequest();

  final ReceiveRequest receive = new ReceiveRequest();

  private final Arena arena = Arena.ofShared();
  private final List<Wc> unread = new ArrayList<>();

  /** Address handle of the other player's datagram queue pairs; null for other types. */
  private AddressHandle way;

  Player(Fabric fabric, Context context, PlayerSetup setup, char letter) {
    this.fabric = fabric;
    this.context = context;
    this.setup = setup;
    this.letter = (byte) letter;
    pd = context.allocateProtectionDomain();
    channel = setup.hasEvents() ? Optional.of(context.createCompletionChannel()) : Optional.empty();
    CompletionQueueConfig config = CompletionQueueConfig.of(2 * setup.depth());
    queue = context.createCompletionQueue(channel.map(config::withChannel).orElse(config));
    channel.ifPresent(given -> queue.requestNotify(false));
    shared =
        setup.isShared()
            ? Optional.of(
                pd.createSharedReceiveQueue(SharedReceiveQueueConfig.of(setup.depth(), 1)))
            : Optional.empty();
    long size = offset() + Math.max(setup.messageSize(), 8);
    region = pd.register(arena.allocate(size, 4096), setup.memoryAccess());
    for (int i = 0; i < setup.queuePairs(); i++) {
      QueuePairConfig qp = setup.apply(QueuePairConfig.of(setup.type(), queue, queue));
      qps.add(pd.createQueuePair(shared.map(qp::sharedReceiveQueue).orElse(qp)));
    }
  }

  QueuePair qp() {
    return qps.getFirst();
  }

  /** Offset of messages in the buffer. */
  long offset() {
    return setup.type() == QpType.UD ? GRH : 0;
  }

  long address() {
    return region.address() + offset();
  }

  QpEndpoint endpoint(int index) {
    return new QpEndpoint(0, qps.get(index).number(), 0x1234 + index, context.queryGid(1, 0));
  }

  /** Brings all queue pairs from RESET to RTS. */
  void connect(Player peer) {
    for (int i = 0; i < qps.size(); i++) {
      QueuePair qp = qps.get(i);
      qp.modify(setup.connection().toInit(qp.type()));
      qp.modify(setup.connection().toRtr(qp.type(), peer.endpoint(i)));
      qp.modify(setup.connection().toRts(qp.type(), endpoint(i).psn()));
    }
    if (setup.type() == QpType.UD && way == null) {
      way = pd.createAddressHandle(AddressVector.to(peer.context.queryGid(1, 0), 0));
    }
  }

  AddressHandle way() {
    return way;
  }

  /** Fills the buffer's data with the letter. */
  void write() {
    data().fill(letter);
  }

  /** The part of the buffer that holds a message. */
  MemorySegment data() {
    return region.segment().asSlice(offset(), setup.messageSize());
  }

  /** Checks that the buffer holds the message of a letter. */
  void assertHolds(byte expected) {
    MemorySegment data = data();
    for (long i = 0; i < data.byteSize(); i++) {
      byte found = data.get(ValueLayout.JAVA_BYTE, i);
      if (found != expected) {
        throw new AssertionError(
            "byte %d of %d is '%c' instead of '%c'"
                .formatted(i, data.byteSize(), (char) found, (char) expected));
      }
    }
  }

  /**
   * Waits until the buffer holds the message of a letter: an unacknowledged write completes when it
   * is sent.
   */
  void awaitHolds(byte expected) {
    MemorySegment data = data();
    long last = data.byteSize() - 1;
    fabric.await(
        () -> last < 0 || data.get(ValueLayout.JAVA_BYTE, last) == expected,
        () -> "the last byte has not come");
    assertHolds(expected);
  }

  void postReceive() {
    postReceive(0);
  }

  /** Posts a receive into the whole buffer. */
  void postReceive(int index) {
    receive.wrId(1000 + index).into(region);
    if (shared.isPresent()) {
      shared.get().postReceive(receive);
    } else {
      qps.get(index).postReceive(receive);
    }
  }

  /**
   * Completes a request with all data of the buffer, signaled, to the peer's queue pair of an
   * index.
   */
  SendRequest whole(SendRequest request, Player peer, int index) {
    request.wrId(index).signaled();
    if (setup.messageSize() > 0) {
      request.sge(region, offset(), setup.messageSize());
    }
    if (way != null) {
      request.to(way, peer.qps.get(index).number(), QKEY);
    }
    return request;
  }

  /** Takes all queue pairs to RESET, which discards their outstanding requests. */
  void reset() {
    qps.forEach(qp -> qp.modify(QpAttributes.to(QpState.RESET)));
    assertThat(Wc.drain(queue)).as("completions after RESET").isEmpty();
    unread.clear();
  }

  /** Waits for the next completion, whatever its status: on the channel, if there is one. */
  Wc next() {
    if (unread.isEmpty() && channel.isEmpty()) {
      fabric.await(
          () -> {
            unread.addAll(Wc.drain(queue));
            return !unread.isEmpty();
          },
          () -> "no completion");
    }
    while (unread.isEmpty()) {
      awaitEvent();
      queue.requestNotify(false);
      unread.addAll(Wc.drain(queue));
    }
    return unread.removeFirst();
  }

  private void awaitEvent() {
    try {
      assertThat(channel.orElseThrow().await(LIMIT)).as("completion event").contains(queue);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** Waits for the next completion, which must be a success. */
  Wc poll() {
    Wc completion = next();
    Side.assertSuccess(completion);
    return completion;
  }

  /** Checks that no completion is present and none arrives. */
  void assertQuiet() {
    fabric.settle();
    unread.addAll(Wc.drain(queue));
    assertThat(unread).isEmpty();
  }

  @Override
  public void close() {
    if (way != null) {
      way.close();
    }
    qps.forEach(QueuePair::close);
    shared.ifPresent(SharedReceiveQueue::close);
    region.close();
    queue.close();
    channel.ifPresent(CompletionChannel::close);
    pd.close();
    arena.close();
  }
}
