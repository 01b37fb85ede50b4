package org.hghca.conformance.hazards;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.Completions;
import org.hghca.verbs.ConnectionOptions;
import org.hghca.verbs.Context;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpEndpoint;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WcStatus;

/** Two queue pairs of one card, each the other's peer, with four completion queues. */
final class TwoQueuePairs implements AutoCloseable {
  static final int DEPTH = 16;
  static final int SLOT = 4096;

  /** Limit for any wait, in real time: the driver's time-outs use the system's clock. */
  private static final Duration LIMIT = Duration.ofSeconds(20);

  /** A completion as a value. */
  record Done(long wrId, WcStatus status, int bytes, int qpNumber, int vendorError) {}

  /** One of the two. */
  static final class Half {
    final CompletionQueue sent;
    final CompletionQueue received;
    final QueuePair qp;

    Half(ProtectionDomain pd, int ring) {
      CompletionQueueConfig config = CompletionQueueConfig.of(ring).withRingEntries(ring);
      sent = pd.context().createCompletionQueue(config);
      received = pd.context().createCompletionQueue(config);
      qp =
          pd.createQueuePair(
              QueuePairConfig.rc(sent, received)
                  .sendDepth(DEPTH)
                  .receiveDepth(DEPTH)
                  .maxInline(0)
                  .signalAll());
    }

    void close() {
      qp.close();
      sent.close();
      received.close();
    }
  }

  final ProtectionDomain pd;
  final MemoryRegion buffer;
  final Half left;
  final Half right;
  private final SendRequest send = new SendRequest();
  private final ReceiveRequest receive = new ReceiveRequest();

  TwoQueuePairs(Context context, int ring) {
    pd = context.allocateProtectionDomain();
    buffer = pd.allocate(4L * DEPTH * SLOT, Set.of(AccessFlag.LOCAL_WRITE));
    left = new Half(pd, ring);
    right = new Half(pd, ring);
  }

  /** Takes both to RTS. */
  void connect(int leftPsn, int rightPsn, int timeout) {
    ready(left, right, rightPsn);
    ready(right, left, leftPsn);
    left.qp.modify(toRts(leftPsn, timeout));
    right.qp.modify(toRts(rightPsn, timeout));
  }

  private static void ready(Half half, Half peer, int psn) {
    ConnectionOptions options = ConnectionOptions.DEFAULT;
    half.qp.modify(options.toInit(QpType.RC));
    half.qp.modify(
        options.toRtr(
            QpType.RC,
            new QpEndpoint(
                0, peer.qp.number(), psn, half.qp.protectionDomain().context().queryGid(1, 0))));
  }

  private static QpAttributes toRts(int psn, int timeout) {
    return ConnectionOptions.DEFAULT.toRts(QpType.RC, psn).timeout(timeout).retryCount(0);
  }

  /** What a message contains: never 0, as memory has before one has come. */
  private static byte mark(long wrId) {
    return (byte) (1 + wrId % 255);
  }

  /** Posts a message that contains its number. */
  void send(Half half, long wrId, int place, int bytes) {
    long at = (long) place * SLOT;
    buffer.segment().asSlice(at, bytes).fill(mark(wrId));
    half.qp.postSend(send.send().wrId(wrId).sge(buffer, at, bytes));
  }

  void receive(Half half, long wrId, int place) {
    half.qp.postReceive(receive.wrId(wrId).into(buffer, (long) place * SLOT, SLOT));
  }

  /** Checks that a slot holds a message. */
  void assertHolds(int place, long wrId, int bytes) {
    for (int i = 0; i < bytes; i++) {
      assertThat(buffer.segment().get(ValueLayout.JAVA_BYTE, (long) place * SLOT + i))
          .isEqualTo(mark(wrId));
    }
  }

  /** Waits until a slot holds a message, without polling: the driver sends it in time. */
  void awaitHeld(int place, long wrId, int bytes) {
    long last = (long) place * SLOT + bytes - 1;
    long start = System.nanoTime();
    while (buffer.segment().get(ValueLayout.JAVA_BYTE, last) != mark(wrId)) {
      assertThat(System.nanoTime() - start)
          .as("waiting for message %d", wrId)
          .isLessThan(LIMIT.toNanos());
      Thread.onSpinWait();
    }
    assertHolds(place, wrId, bytes);
  }

  /** The completions in a queue, up to a maximum. */
  static List<Done> poll(CompletionQueue queue, int most) {
    Completions found = new Completions(Math.max(1, most));
    List<Done> done = new ArrayList<>();
    for (int i = 0, n = most == 0 ? 0 : queue.poll(found, most); i < n; i++) {
      done.add(
          new Done(
              found.wrId(i),
              found.status(i),
              (int) found.byteLength(i),
              found.qpNumber(i),
              found.vendorError(i)));
    }
    return done;
  }

  /** Waits until a queue has returned this number of completions. */
  static List<Done> await(CompletionQueue queue, int count) {
    List<Done> done = new ArrayList<>();
    long start = System.nanoTime();
    while (done.size() < count) {
      done.addAll(poll(queue, count - done.size()));
      assertThat(System.nanoTime() - start)
          .as("waiting for %d completions, with %s", count, done)
          .isLessThan(LIMIT.toNanos());
      Thread.onSpinWait();
    }
    return done;
  }

  @Override
  public void close() {
    left.close();
    right.close();
    buffer.close();
    pd.close();
  }
}
