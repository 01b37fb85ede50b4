package org.hghca.model.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import org.hghca.model.transport.Station.Done;
import org.hghca.wire.Packet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random programs over two lines, of which one passes runs of packets: memories, completions,
 * counters, packet sequence numbers and events are the same at every moment at which nothing is
 * left to do, whatever fails, and also where the line is disturbed for a while.
 */
class PacketRunTest {
  private static final int STEPS = 120;

  /** Steps before the first disturbance: losses make windows smaller, and then no runs pass. */
  private static final int CALM = 30;

  private static final int LONGEST = 40_000;
  private static final int AREA = 1 << 18;

  /** What can be seen of a station. */
  private record View(
      List<Done> done,
      List<QueuePairEvent> events,
      QueuePairState state,
      List<Integer> psns,
      List<Long> counters) {

    static View of(Station station) {
      TransportCounters c = station.transport.counters();
      return new View(
          List.copyOf(station.done),
          List.copyOf(station.events),
          station.state,
          List.of(station.nextSendPsn, station.oldestUnackedPsn, station.expectedPsn),
          List.of(
              c.packetsSent,
              c.packetsReceived,
              c.drops.total(),
              c.retries,
              c.timeouts,
              c.naksSent,
              c.naksReceived,
              c.rnrNaksSent,
              c.rnrNaksReceived,
              c.congestionMarks,
              c.duplicates,
              station.port.bytesSent()));
    }
  }

  /** More packets than there are. */
  private static final int NO_LIMIT = 1 << 16;

  private Line packets;
  private Line runs;

  private void both(Consumer<Line> action) {
    action.accept(packets);
    action.accept(runs);
  }

  private void compare(String when) {
    assertThat(View.of(runs.a)).as("the one side " + when).isEqualTo(View.of(packets.a));
    assertThat(View.of(runs.b)).as("the other side " + when).isEqualTo(View.of(packets.b));
    assertThat(runs.a.memory.mismatch(packets.a.memory)).as("memory " + when).isEqualTo(-1);
    assertThat(runs.b.memory.mismatch(packets.b.memory)).as("memory " + when).isEqualTo(-1);
  }

  /** Budgets end runs and packets alike only where a packet of a run counts as one. */
  private void prepare(SplittableRandom random) {
    int mtu = 256 << random.nextInt(5);
    int burst = mtu == Packet.MAX_PAYLOAD ? Line.BURST : NO_LIMIT;
    packets = new Line(Service.RC, burst);
    runs = new Line(Service.RC, burst);
    runs.passesRuns = true;
    int psn = random.nextBoolean() ? 0xff_fff0 : random.nextInt(1000);
    byte[] content = new byte[1 << 20];
    random.nextBytes(content);
    both(
        line -> {
          line.a.mtu = line.b.mtu = mtu;
          line.a.nextSendPsn = line.a.oldestUnackedPsn = line.b.expectedPsn = psn;
          line.b.nextSendPsn = line.b.oldestUnackedPsn = line.a.expectedPsn = 77;
          line.a.memory.copyFrom(MemorySegment.ofArray(content));
        });
  }

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
  void undisturbedTheyAreTheSame(int seed) {
    SplittableRandom random = new SplittableRandom(seed);
    prepare(random);
    for (int step = 0; step < STEPS; step++) {
      post(random, step, true);
      if (random.nextInt(3) == 0) {
        both(Line::run);
        compare("after step " + step);
      }
    }
    both(Line::run);
    compare("at the end");
    assertThat(packets.runs).isZero();
    assertThat(runs.runs).as("runs").isGreaterThan(STEPS / 10);
    assertThat(runs.a.state).isEqualTo(QueuePairState.RTS);
  }

  /**
   * Keys that are wrong, receives that are missing or too short, memory that is gone for a while.
   */
  @ParameterizedTest(name = "seed {0}")
  @ValueSource(
      ints = {
        21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43
      })
  void whatFailsFailsAtTheSamePacket(int seed) {
    SplittableRandom random = new SplittableRandom(seed);
    prepare(random);
    for (int step = 0; step < STEPS; step++) {
      post(random, step, random.nextInt(40) != 0);
      if (random.nextInt(30) == 0) {
        boolean gone = random.nextInt(3) == 0;
        both(line -> line.b.memoryGone = gone);
      }
      if (random.nextInt(3) == 0) {
        both(Line::run);
        compare("after step " + step);
        boolean passes = random.nextBoolean();
        both(line -> passes(line, passes));
        compare("later than step " + step);
      }
    }
  }

  private static void passes(Line line, boolean passes) {
    for (int i = 0; passes && i < 3; i++) {
      line.pass();
    }
  }

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(ints = {51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66})
  void theyAreTheSameOnALineThatIsDisturbedForAWhile(int seed) {
    SplittableRandom random = new SplittableRandom(seed);
    prepare(random);
    for (int step = 0; step < STEPS; step++) {
      post(random, step, true);
      if (step > CALM && random.nextInt(8) == 0) {
        long disturbance = random.nextLong();
        double rate = random.nextInt(3) * 0.05;
        both(line -> line.hostile(new SplittableRandom(disturbance), rate, 0.02, 0.1));
      }
      boolean runsNow = random.nextBoolean();
      both(line -> passes(line, runsNow));
      if (random.nextInt(6) == 0) {
        both(Line::calm);
        both(line -> passes(line, true));
      }
      compare("after step " + step);
    }
    assertThat(runs.runs).as("runs").isPositive();
  }

  /** The work for a run is that of its bytes, whatever the length of a packet. */
  @ParameterizedTest
  @CsvSource({"WRITE, 4096", "WRITE, 1024", "WRITE, 256", "READ, 4096", "READ, 1024", "SEND, 1024"})
  void aTurnHasARunOf64KiB(SendOperation operation, int mtu) {
    Line line = new Line();
    line.passesRuns = true;
    line.a.mtu = line.b.mtu = mtu;
    line.b.receives.add(r -> r.pieces.add(AREA, Station.KEY, 1 << 16));
    line.a.post(
        s -> {
          s.operation = operation;
          s.remoteAddress = AREA;
          s.remoteKey = Station.KEY;
          s.pieces.add(0, Station.KEY, 1 << 16);
        });
    line.run();
    assertThat(line.a.done).extracting(Done::status).containsExactly(WorkStatus.SUCCESS);
    assertThat(line.runs).isEqualTo(1);
  }

  /** A message of 256 KiB is two turns, whose end another queue pair need not wait for. */
  @ParameterizedTest
  @ValueSource(ints = {1024, 2048, 4096})
  void aTurnHasARunOf128KiBAtMost(int mtu) {
    Line line = new Line();
    line.passesRuns = true;
    line.a.mtu = line.b.mtu = mtu;
    line.a.post(
        s -> {
          s.operation = SendOperation.WRITE;
          s.remoteAddress = 2 * AREA;
          s.remoteKey = Station.KEY;
          s.pieces.add(0, Station.KEY, AREA);
        });
    line.run();
    assertThat(line.runs).isEqualTo(2);
  }

  /** Software may write anything into a context while responses are owed. */
  @Test
  void responsesOfAContextThatHasLostItsMtuEndNoStep() {
    Line line = new Line(Service.RC, 8);
    line.passesRuns = true;
    line.a.mtu = line.b.mtu = 4096;
    line.a.post(
        s -> {
          s.operation = SendOperation.READ;
          s.remoteAddress = 2 * AREA;
          s.remoteKey = Station.KEY;
          s.pieces.add(0, Station.KEY, AREA);
        });
    line.a.step(0);
    line.b.step(0);
    assertThat(line.runs).as("runs of a part").isPositive();
    assertThat(line.a.done).isEmpty();
    line.b.transport.settle();
    line.b.mtu = 0;

    line.b.step(0);

    assertThat(line.b.state).isEqualTo(QueuePairState.RTS);
  }

  /** The memory of the responder ends within the message. */
  @Test
  void aWriteBeyondTheEndIsRefusedAtItsFirstPacket() {
    prepare(new SplittableRandom(1));
    both(
        line -> {
          line.a.post(
              s -> {
                s.operation = SendOperation.WRITE;
                s.remoteAddress = (1 << 20) - 10_000;
                s.remoteKey = Station.KEY;
                s.pieces.add(0, Station.KEY, 20_000);
              });
          line.run();
        });
    compare("at the end");
    assertThat(runs.runs).isZero();
    assertThat(runs.a.done.getFirst().status()).isEqualTo(WorkStatus.REMOTE_ACCESS);
  }

  /** What is not usual goes as packets: they tell why. */
  @Test
  void aSendThatIsTooLongFailsAtThePacketThatDoesNotFit() {
    prepare(new SplittableRandom(2));
    both(
        line -> {
          line.a.mtu = line.b.mtu = 1024;
          line.b.receives.add(r -> r.pieces.add(AREA, Station.KEY, 10_000));
          line.a.post(s -> s.pieces.add(0, Station.KEY, 20_000));
          line.run();
        });
    compare("at the end");
    assertThat(runs.b.done.getFirst().status()).isEqualTo(WorkStatus.LOCAL_LENGTH);
    assertThat(runs.b.memory.asSlice(AREA, 9 * 1024))
        .matches(arrived -> arrived.mismatch(runs.a.memory.asSlice(0, 9 * 1024)) < 0);
  }

  private void post(SplittableRandom random, int step, boolean good) {
    int kind = random.nextInt(6);
    boolean back = random.nextInt(4) == 0;
    int length = kind == 5 ? Long.BYTES : random.nextInt(4) == 0 ? 64 : random.nextInt(LONGEST);
    long local = random.nextInt(AREA - LONGEST);
    // One side writes where the other does not read.
    long remote = (kind == 5 ? 3L * AREA : 2L * AREA + random.nextInt(AREA - LONGEST)) & ~7;
    int key = good || random.nextBoolean() ? Station.KEY : Station.KEY + 1;
    int room = good ? length : random.nextInt(length + 1);
    boolean forgotten = !good && random.nextBoolean();
    int cut = random.nextInt(length + 1);
    if (kind < 2 || kind == 3) {
      if (!forgotten) {
        both(line -> peer(line, back).receives.add(r -> receive(r, step, remote, room)));
      }
    }
    both(
        line ->
            (back ? line.b : line.a)
                .post(
                    s -> {
                      s.position = step;
                      s.operation = operation(kind);
                      s.immediate = step;
                      s.solicited = cut % 2 == 0;
                      s.fence = cut % 3 == 0;
                      s.remoteAddress = remote;
                      s.remoteKey = key;
                      s.swapAdd = 1;
                      s.pieces.add(local, Station.KEY, cut);
                      s.pieces.add(local + cut, Station.KEY, length - cut);
                    }));
  }

  private static Station peer(Line line, boolean back) {
    return back ? line.a : line.b;
  }

  private static void receive(ReceiveWork receive, int step, long at, int room) {
    receive.position = step;
    int cut = room / 3;
    receive.pieces.add(at, Station.KEY, cut);
    receive.pieces.add(at + cut, Station.KEY, room - cut);
  }

  private static SendOperation operation(int kind) {
    return switch (kind) {
      case 0 -> SendOperation.SEND;
      case 1 -> SendOperation.SEND_IMM;
      case 2 -> SendOperation.WRITE;
      case 3 -> SendOperation.WRITE_IMM;
      case 4 -> SendOperation.READ;
      default -> SendOperation.FETCH_ADD;
    };
  }
}
