package org.hghca.model.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random traffic over a line that loses, duplicates, reorders and delays packets: over a reliable
 * connection all arrives once and in order, over an unreliable one the delivered messages are
 * complete.
 */
class HostileLineTest {
  private static final int MESSAGES = 1500;
  private static final int SLOT = 4096;
  private static final int SLOTS = 64;
  private static final int ATOMIC = 4;

  /** The offset of all atomics, behind the slots. */
  private static final long COUNTER = (long) SLOTS * SLOT;

  private static final ValueLayout.OfLong VALUE =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  @ParameterizedTest(name = "seed {0}")
  @CsvSource({
    "1, 0.03, 0.02, 0.05", "2, 0.03, 0.02, 0.05", "3, 0.03, 0.02, 0.05", "4, 0.03, 0.02, 0.05",
    "5, 0.2, 0.1, 0.2", "6, 0.2, 0.1, 0.2", "7, 0.1, 0.5, 0.5", "8, 0.4, 0.2, 0.2"
  })
  void everyMessageArrivesOnceAndInOrder(long seed, double loss, double doubles, double disorder) {
    SplittableRandom random = new SplittableRandom(seed);
    Line line = new Line().hostile(random.split(), loss, doubles, disorder);
    line.lateRate = seed % 2 == 0 ? 0.1 : 0;
    line.a.mtu = line.b.mtu = 256 << random.nextInt(3);
    // The numbers wrap around in every run.
    line.a.nextSendPsn = line.b.expectedPsn = 0xff_ffff - random.nextInt(500);
    // More than a card can count, so that no loss rate may fail a request.
    line.a.retryCount = 10_000;
    int posted = 0;
    int finished = 0;
    int[] lengths = new int[MESSAGES];
    int[] kinds = new int[MESSAGES];
    int received = 0;
    long atomics = 0;
    while (finished < MESSAGES) {
      while (posted < MESSAGES && posted - finished < SLOTS) {
        int i = posted++;
        int slot = i % SLOTS;
        int kind = random.nextInt(5);
        int length = random.nextInt(4) == 0 ? random.nextInt(8) : random.nextInt(SLOT + 1);
        if (kind == ATOMIC) {
          length = Long.BYTES;
        }
        int bytes = length;
        lengths[i] = length;
        kinds[i] = kind;
        fill(kind == 3 ? line.b.memory : line.a.memory, slot, length, i);
        fill(kind == 3 ? line.a.memory : line.b.memory, slot, SLOT, -1);
        if (kind < 2) {
          line.b.receive(i, (long) slot * SLOT, SLOT);
        }
        line.a.post(
            s -> {
              s.position = i;
              s.operation =
                  List.of(
                          SendOperation.SEND,
                          SendOperation.SEND_IMM,
                          SendOperation.WRITE,
                          SendOperation.READ,
                          SendOperation.FETCH_ADD)
                      .get(kind);
              s.immediate = i;
              s.remoteAddress = kind == ATOMIC ? COUNTER : (long) slot * SLOT;
              s.swapAdd = 1;
              s.remoteKey = Station.KEY;
              int cut = bytes / 3;
              s.pieces.add((long) slot * SLOT, Station.KEY, cut);
              s.pieces.add((long) slot * SLOT + cut, Station.KEY, bytes - cut);
            });
      }
      assertThat(line.pass() || line.a.done.size() > 0).as("it goes on").isTrue();
      for (Station.Done done : line.a.done) {
        assertThat(done.status()).isEqualTo(WorkStatus.SUCCESS);
        assertThat(done.position()).isEqualTo(finished);
        int slot = finished % SLOTS;
        if (kinds[finished] == ATOMIC) {
          assertThat(line.a.memory.get(VALUE, (long) slot * SLOT)).isEqualTo(atomics++);
        } else {
          verify(
              kinds[finished] == 3 ? line.a.memory : line.b.memory,
              slot,
              lengths[finished],
              finished);
        }
        finished++;
      }
      line.a.done.clear();
      for (Station.Done done : line.b.done) {
        while (kinds[received] > 1) {
          received++;
        }
        assertThat(done.status()).isEqualTo(WorkStatus.SUCCESS);
        assertThat(done.position()).isEqualTo(received);
        assertThat(done.length()).isEqualTo(lengths[received]);
        assertThat(done.imm()).isEqualTo(kinds[received] == 1 ? received : 0);
        received++;
      }
      line.b.done.clear();
    }
    assertThat(line.a.transport.counters().retries).isPositive();
    assertThat(line.b.transport.counters().duplicates).isPositive();
    assertThat(line.a.nextSendPsn).isEqualTo(line.b.expectedPsn);
    assertThat(line.b.memory.get(VALUE, COUNTER)).isEqualTo(atomics).isPositive();
  }

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 3, 4})
  void messagesOfAnUnreliableConnectionAreComplete(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    Line line = new Line(Service.UC).hostile(random.split(), 0.03, 0.02, 0.05);
    line.a.nextSendPsn = line.b.expectedPsn = 0xff_ffff - random.nextInt(500);
    int[] lengths = new int[MESSAGES];
    int receives = 0;
    int delivered = 0;
    for (int i = 0; i < MESSAGES; i++) {
      while (line.b.receives.size() < SLOTS / 4) {
        int position = receives++ % SLOTS;
        line.b.receive(position, (long) position * SLOT, SLOT);
      }
      int slot = i % SLOTS;
      int id = i;
      lengths[i] = random.nextInt(4) == 0 ? random.nextInt(8) : random.nextInt(SLOT + 1);
      fill(line.a.memory, slot, lengths[i], i);
      line.a.post(
          s -> {
            s.position = id;
            s.operation = SendOperation.SEND_IMM;
            s.immediate = id;
            s.pieces.add((long) slot * SLOT, Station.KEY, lengths[id]);
          });
      if (random.nextInt(8) == 0 || i == MESSAGES - 1) {
        line.run();
        for (Station.Done done : line.b.done) {
          assertThat(done.status()).isEqualTo(WorkStatus.SUCCESS);
          assertThat(done.length()).isEqualTo(lengths[done.imm()]);
          verify(line.b.memory, done.position(), lengths[done.imm()], done.imm());
        }
        delivered += line.b.done.size();
        line.b.done.clear();
      }
    }
    assertThat(line.a.done).hasSize(MESSAGES).allMatch(d -> d.status() == WorkStatus.SUCCESS);
    assertThat(delivered).isBetween(MESSAGES / 4, MESSAGES - 1);
    assertThat(line.b.transport.counters().drops.total()).isPositive();
    assertThat(line.b.state).isEqualTo(QueuePairState.RTS);
  }

  private static void fill(MemorySegment memory, int slot, int length, int value) {
    for (int i = 0; i < length; i++) {
      memory.set(ValueLayout.JAVA_BYTE, (long) slot * SLOT + i, (byte) (value * 31 + i));
    }
  }

  private static void verify(MemorySegment memory, int slot, int length, int value) {
    for (int i = 0; i < length; i++) {
      byte expected = (byte) (value * 31 + i);
      if (memory.get(ValueLayout.JAVA_BYTE, (long) slot * SLOT + i) != expected) {
        assertThat(memory.get(ValueLayout.JAVA_BYTE, (long) slot * SLOT + i))
            .as("byte %d of message %d of %d bytes", i, value, length)
            .isEqualTo(expected);
      }
    }
  }
}
