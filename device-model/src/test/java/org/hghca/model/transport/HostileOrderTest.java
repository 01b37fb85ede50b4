package org.hghca.model.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * WRITEs, READs and atomics of one connection to the same memory, over a line that loses,
 * duplicates, reorders and delays packets: each sees the effects of those before it and none of
 * those behind it, and is executed once. Operations that change memory wait for the READs before
 * them with a fence; all other orders are kept without one (InfiniBand specification, volume 1,
 * 10.8.3.3).
 */
class HostileOrderTest {
  private static final int OPERATIONS = 800;
  private static final int WORDS = 512;
  private static final int SLOTS = 64;
  private static final long SLOT = 8L * WORDS;

  private static final ValueLayout.OfLong VALUE =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /** The expected result of a READ or an atomic. */
  private record Expected(int slot, long[] values) {}

  private final Line line = new Line();
  private final long[] model = new long[WORDS];
  private final ArrayDeque<Expected> underWay = new ArrayDeque<>();

  /** Whether a READ was posted and no fence after it. */
  private boolean readBefore;

  private int posted;
  private int finished;

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
  void everyOperationSeesThoseBeforeItAndNoneBehindIt(long seed) {
    SplittableRandom choice = new SplittableRandom(seed);
    double badness = choice.nextDouble();
    line.hostile(choice.split(), 0.2 * badness, 0.3 * badness, 0.3 * badness);
    line.lateRate = 0.2 * choice.nextDouble();
    line.a.mtu = line.b.mtu = 256 << choice.nextInt(3);
    // The numbers wrap around in every run.
    line.a.nextSendPsn = line.b.expectedPsn = 0xff_ffff - choice.nextInt(1000);
    // More than a card can count, so that no loss rate may fail a request.
    line.a.retryCount = 10_000;
    line.a.maxReads = line.b.maxReadsServed = 1 << choice.nextInt(5);
    while (finished < OPERATIONS) {
      while (posted < OPERATIONS && posted - finished < SLOTS && choice.nextInt(16) > 0) {
        post(choice, posted++);
      }
      if (choice.nextInt(20) == 0) {
        drain();
      }
      assertThat(line.pass() || !line.a.done.isEmpty() || underWay.isEmpty())
          .as("it goes on")
          .isTrue();
      check();
    }
    for (int i = 0; i < WORDS; i++) {
      assertThat(line.b.memory.get(VALUE, 8L * i)).as("word %d", i).isEqualTo(model[i]);
    }
    assertThat(line.a.nextSendPsn).isEqualTo(line.b.expectedPsn);
    assertThat(line.a.state).isEqualTo(QueuePairState.RTS);
    assertThat(line.b.state).isEqualTo(QueuePairState.RTS);
    assertThat(line.b.events).isEmpty();
  }

  /** Takes the send queue to SQD and back when it is drained. */
  private void drain() {
    line.a.events.clear();
    modify(QueuePairState.SQD);
    line.a.transport.notifyDrained(Station.QPN);
    while (line.a.events.isEmpty()) {
      assertThat(line.pass() || !line.a.events.isEmpty()).as("it drains").isTrue();
    }
    int before = line.a.done.size();
    int psn = line.b.expectedPsn;
    while (line.pass()) {
      // until nothing moves
    }
    assertThat(line.a.done).hasSize(before);
    assertThat(line.b.expectedPsn).isEqualTo(psn);
    assertThat(line.a.events).containsExactly(QueuePairEvent.SEND_QUEUE_DRAINED);
    modify(QueuePairState.RTS);
  }

  private void modify(QueuePairState state) {
    line.a.transport.settle();
    line.a.state = state;
    line.a.transport.modified(Station.QPN, state);
  }

  private void post(SplittableRandom choice, int position) {
    int slot = position % SLOTS;
    SendOperation operation =
        switch (choice.nextInt(4)) {
          case 0 -> SendOperation.WRITE;
          case 1 -> SendOperation.READ;
          case 2 -> SendOperation.FETCH_ADD;
          default -> SendOperation.COMPARE_SWAP;
        };
    // A few words are used often; long messages cover many.
    int word = choice.nextInt(4);
    int words = operation.isAtomic() ? 1 : choice.nextBoolean() ? 1 : choice.nextInt(WORDS - 4);
    boolean fence = readBefore && operation != SendOperation.READ;
    readBefore = operation == SendOperation.READ || readBefore && !fence;
    long[] before = Arrays.copyOfRange(model, word, word + words);
    // Words change from 0 to 1 and back, so that a repeated swap has an effect.
    long compare = choice.nextInt(2);
    long operand = operation == SendOperation.COMPARE_SWAP ? 1 - compare : choice.nextInt(3) - 1;
    if (operation == SendOperation.WRITE) {
      for (int i = 0; i < words; i++) {
        model[word + i] = choice.nextInt(2);
        line.a.memory.set(VALUE, slot * SLOT + 8L * i, model[word + i]);
      }
    } else if (operation == SendOperation.FETCH_ADD) {
      model[word] += operand;
    } else if (operation == SendOperation.COMPARE_SWAP && model[word] == compare) {
      model[word] = operand;
    }
    underWay.add(new Expected(slot, operation == SendOperation.WRITE ? new long[0] : before));
    line.a.post(
        s -> {
          s.operation = operation;
          s.position = position;
          s.fence = fence;
          s.remoteAddress = 8L * word;
          s.remoteKey = Station.KEY;
          s.swapAdd = operand;
          s.compare = compare;
          s.pieces.add(slot * SLOT, Station.KEY, 8 * words);
        });
  }

  private void check() {
    for (Station.Done done : line.a.done) {
      assertThat(done.status()).isEqualTo(WorkStatus.SUCCESS);
      assertThat(done.position()).isEqualTo(finished++);
      Expected expected = underWay.remove();
      for (int i = 0; i < expected.values().length; i++) {
        assertThat(line.a.memory.get(VALUE, expected.slot() * SLOT + 8L * i))
            .as("word %d of operation %d", i, done.position())
            .isEqualTo(expected.values()[i]);
      }
    }
    line.a.done.clear();
  }
}
