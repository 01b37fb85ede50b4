package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.conformance.profile.TestTime;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.AddressHandle;
import org.hghca.verbs.CompletionChannel;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.Context;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WcStatus;

/** One side of a connection: its objects, and the expected contents of its buffer. */
final class Side implements AutoCloseable {
  /** Bytes in front of a received datagram. */
  static final int GRH = 40;

  /** The Q_Key of {@link org.hghca.verbs.ConnectionOptions#toInit}. */
  static final int QKEY = 0x1111_1111;

  private static final Duration LIMIT = TestTime.seconds(10);

  static final Set<AccessFlag> ALL =
      Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ);

  /**
   * New data is copied from this: random bytes for each message would take a slow processor too
   * long.
   */
  private static final byte[] POOL = randomBytes(1 << 20);

  final Fabric fabric;
  final Context context;
  final ProtectionDomain pd;

  /** Null unless the setup asks for one. */
  final CompletionChannel channel;

  final CompletionQueue sendQueue;
  final CompletionQueue receiveQueue;
  final QueuePair qp;
  final MemoryRegion buffer;

  /** Requests for use by one statement at a time. */
  final SendRequest send = new SendRequest();

  final ReceiveRequest receive = new ReceiveRequest();

  /** Leads datagrams to the other side; null for other types, and before they are connected. */
  AddressHandle way;

  private final boolean waitsForEvents;
  private final Arena arena = Arena.ofShared();
  private final MemorySegment expected;

  Side(Fabric fabric, Context context, RcSetup setup) {
    this.fabric = fabric;
    this.context = context;
    this.pd = context.allocateProtectionDomain();
    this.waitsForEvents = setup.waitsForEvents();
    this.channel = setup.hasChannel() ? context.createCompletionChannel() : null;
    CompletionQueueConfig queue = CompletionQueueConfig.of(setup.depth());
    if (channel != null) {
      queue = queue.withChannel(channel);
    }
    this.sendQueue = context.createCompletionQueue(queue);
    this.receiveQueue = context.createCompletionQueue(queue);
    this.qp =
        pd.createQueuePair(setup.apply(QueuePairConfig.of(setup.type(), sendQueue, receiveQueue)));
    this.buffer = pd.allocate(setup.bufferSize(), setup.bufferAccess());
    this.expected = arena.allocate(setup.bufferSize());
    if (waitsForEvents) {
      sendQueue.requestNotify(false);
      receiveQueue.requestNotify(false);
    }
  }

  MemorySegment memory() {
    return buffer.segment();
  }

  /** The address of a byte of the buffer, for peers. */
  long address(long offset) {
    return buffer.address() + offset;
  }

  /** A request that writes into a region of a peer, from its beginning on. */
  SendRequest write(MemoryRegion region) {
    return send.rdmaWrite(region.address(), region.rkey());
  }

  /** A request that reads a region of a peer, from its beginning on. */
  SendRequest read(MemoryRegion region) {
    return send.rdmaRead(region.address(), region.rkey());
  }

  /** Waits for the completion of a send request. */
  Wc sent() {
    return next(sendQueue);
  }

  List<Wc> sent(int count) {
    return Wc.await(fabric, sendQueue, count);
  }

  /** Waits for the completion of a receive request. */
  Wc received() {
    return next(receiveQueue);
  }

  private Wc next(CompletionQueue queue) {
    if (!waitsForEvents) {
      return Wc.awaitOne(fabric, queue);
    }
    try {
      assertThat(channel.await(LIMIT)).as("completion event").contains(queue);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    queue.requestNotify(false);
    List<Wc> found = Wc.drain(queue);
    assertThat(found).hasSize(1);
    return found.getFirst();
  }

  List<Wc> received(int count) {
    return Wc.await(fabric, receiveQueue, count);
  }

  /** Posts a receive into a part of the buffer. */
  void postReceive(long wrId, long offset, long length) {
    qp.postReceive(receive.wrId(wrId).into(buffer, offset, length));
  }

  /** Checks that no completion is present and none arrives. */
  void assertQuiet() {
    fabric.settle();
    assertThat(Wc.drain(sendQueue)).isEmpty();
    assertThat(Wc.drain(receiveQueue)).isEmpty();
  }

  /** Writes new data into a part of the buffer, as the program does. */
  void randomize(long offset, long length, SplittableRandom random) {
    long half = POOL.length / 2;
    for (long done = 0; done < length; done += half) {
      int count = (int) Math.min(half, length - done);
      int from = random.nextInt((int) half);
      MemorySegment.copy(POOL, from, memory(), ValueLayout.JAVA_BYTE, offset + done, count);
    }
    MemorySegment.copy(memory(), offset, expected, offset, length);
  }

  private static byte[] randomBytes(int count) {
    byte[] bytes = new byte[count];
    new SplittableRandom(count).nextBytes(bytes);
    return bytes;
  }

  /**
   * Expects the device to copy the expected contents of a part of a peer's buffer into this one.
   */
  void expect(long offset, Side peer, long peerOffset, long length) {
    MemorySegment.copy(peer.expected, peerOffset, expected, offset, length);
  }

  /** The content of this part of the buffer is undefined: the current bytes are accepted. */
  void expectAnything(long offset, long length) {
    MemorySegment.copy(memory(), offset, expected, offset, length);
  }

  /** Checks every byte of the buffer. */
  void verify(String what) {
    long at = memory().mismatch(expected);
    if (at >= 0) {
      throw new AssertionError(
          "%s: byte %d of %d is 0x%02x instead of 0x%02x"
              .formatted(
                  what,
                  at,
                  memory().byteSize(),
                  memory().get(ValueLayout.JAVA_BYTE, at),
                  expected.get(ValueLayout.JAVA_BYTE, at)));
    }
  }

  /** As {@link #verify}, after RDMA WRITEs that a peer's completions reported have arrived. */
  void verifyWritten(String what) {
    fabric.await(() -> memory().mismatch(expected) < 0, () -> what + ": not all of it has come");
  }

  static void assertSuccess(Wc completion) {
    assertThat(completion.status()).as("%s", completion).isEqualTo(WcStatus.SUCCESS);
  }

  @Override
  public void close() {
    // The region is deregistered while queue pairs still name it, where that is allowed.
    if (TestProfile.has(Feature.DEREGISTERING_IN_USE)) {
      buffer.close();
    }
    if (way != null) {
      way.close();
    }
    qp.close();
    buffer.close();
    sendQueue.close();
    receiveQueue.close();
    if (channel != null) {
      channel.close();
    }
    pd.close();
    arena.close();
  }
}
