package org.hghca.conformance.hazards;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.hghca.conformance.profile.TestTime;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.BadRequestException;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.Completions;
import org.hghca.verbs.ConnectionOptions;
import org.hghca.verbs.Errno;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpEndpoint;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;

/** A card of the first RTL with queue pairs that are each other's peers, and memory for them. */
final class LoopedCard implements AutoCloseable {
  static final int PAGE = 4096;

  private static final Duration STEP = Duration.ofNanos(100_000);
  private static final int STEPS = 1000;

  /**
   * Maximum time for the driver's threads, which ring requests that wait for others: virtual time
   * does not wait for them.
   */
  private static final Duration LIMIT = TestTime.seconds(20);

  /**
   * The driver's time-outs use the system's clock, and the card makes no progress between steps.
   */
  private static final ConnectionOptions NEVER_TIMED_OUT = ConnectionOptions.DEFAULT.withTimeout(0);

  final OneCard card;
  final ProtectionDomain pd;

  /** Source of all requests: 16 pages of numbers. */
  final MemoryRegion source;

  /** Target of all requests. */
  final MemoryRegion target;

  final CompletionQueue cq;
  final QueuePair a;
  final QueuePair b;
  private final List<QueuePair> queuePairs = new ArrayList<>();
  private final Completions completions = new Completions(16);
  private String harm = "";

  LoopedCard() {
    this("");
  }

  /**
   * Opens a card.
   *
   * @param parameters more of the locator, as in {@code &key=value}
   */
  LoopedCard(String parameters) {
    card = new OneCard("r1", parameters);
    pd = card.context.allocateProtectionDomain();
    source = pd.allocate(16L * PAGE, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ);
    target =
        pd.allocate(
            16L * PAGE, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
    cq = card.context.createCompletionQueue(4096);
    a = queuePair();
    b = queuePair();
    connect(a, b);
    for (int i = 0; i < source.length(); i++) {
      source.segment().set(ValueLayout.JAVA_BYTE, i, (byte) (i * 7 + (i >> 8)));
    }
  }

  QueuePair queuePair() {
    QueuePair qp =
        pd.createQueuePair(
            QueuePairConfig.rc(cq, cq)
                .sendDepth(32)
                .receiveDepth(8)
                .maxSendSge(4)
                .maxReceiveSge(4)
                .maxInline(32)
                .signalAll());
    queuePairs.add(qp);
    return qp;
  }

  static void connect(QueuePair one, QueuePair other) {
    one.connect(
        NEVER_TIMED_OUT,
        endpoint -> {
          QpEndpoint[] local = new QpEndpoint[1];
          other.connect(
              NEVER_TIMED_OUT,
              own -> {
                local[0] = own;
                return endpoint;
              });
          return local[0];
        });
  }

  SendRequest write(long offset, long bytes) {
    return new SendRequest()
        .rdmaWrite(target.address() + offset, target.rkey())
        .sge(source, 0, bytes);
  }

  SendRequest read(long offset, long bytes) {
    return new SendRequest().rdmaRead(source.address(), source.rkey()).sge(target, offset, bytes);
  }

  SendRequest send(long bytes) {
    return new SendRequest().send().sge(source, 0, bytes);
  }

  ReceiveRequest into(long offset, long bytes) {
    return new ReceiveRequest().into(target, offset, bytes);
  }

  /** A request is refused, and the card continues unaffected. */
  void assertRefused(SendRequest request, Errno errno) {
    assertThatThrownBy(() -> a.postSend(request))
        .isInstanceOfSatisfying(
            BadRequestException.class, e -> assertThat(e.errno()).isEqualTo(errno));
    assertAlive();
  }

  void assertRefused(ReceiveRequest request, Errno errno) {
    assertThatThrownBy(() -> b.postReceive(request))
        .isInstanceOfSatisfying(
            BadRequestException.class, e -> assertThat(e.errno()).isEqualTo(errno));
    assertAlive();
  }

  /** Both directions between both queue pairs work. */
  void assertAlive() {
    for (QueuePair qp : List.of(a, b)) {
      qp.postSend(write(15L * PAGE, 40).wrId(77));
      await(1);
    }
  }

  /** Runs all pending work. */
  void settle() {
    card.hca.simulation().advance(STEP);
  }

  /** Waits for a number of successful completions; returns their wr_ids in order. */
  List<Long> await(int count) {
    List<Long> seen = new ArrayList<>();
    long start = System.nanoTime();
    for (int step = 0; seen.size() < count; step++) {
      if (step >= STEPS) {
        if (System.nanoTime() - start > LIMIT.toNanos()) {
          break;
        }
        Thread.yield();
      }
      card.hca.simulation().advance(STEP);
      for (int got = cq.poll(completions); got > 0; got = cq.poll(completions)) {
        for (int i = 0; i < got; i++) {
          assertThat(completions.isSuccess(i)).as(completions.describe(i)).isTrue();
          seen.add(completions.wrId(i));
        }
      }
    }
    assertThat(seen).as("completions; hazards %s", card.hca.hazards()).hasSize(count);
    return seen;
  }

  /** Bytes of the target are those of the source's beginning. */
  void assertArrived(long offset, long bytes) {
    assertThat(target.segment().asSlice(offset, bytes).mismatch(source.segment().asSlice(0, bytes)))
        .as("first wrong byte")
        .isEqualTo(-1);
  }

  /** Expects exactly this hazard. */
  void expectHarm(String line) {
    harm = line + ":";
  }

  @Override
  public void close() {
    if (harm.isEmpty()) {
      card.assertUnharmed();
    } else {
      assertThat(card.hca.hazards()).isNotEmpty().allMatch(what -> what.startsWith(harm));
    }
    queuePairs.forEach(QueuePair::close);
    cq.close();
    source.close();
    target.close();
    pd.close();
    card.close();
  }
}
