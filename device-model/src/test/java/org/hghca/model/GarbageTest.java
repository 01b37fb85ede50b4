package org.hghca.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.SplittableRandom;
import org.hghca.abi.Doorbell;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.QueuePairContext;
import org.hghca.model.Host.Piece;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A driver that writes random values: no exception, no endless work, and a reset fixes it. */
class GarbageTest {
  private static final int ROUNDS = 3000;
  private static final int UD = 3;

  @ParameterizedTest(name = "seed {0}, service {1}")
  @CsvSource({"11, 0", "12, 0", "13, 0", "14, 1", "15, 1", "16, 1", "17, 3", "18, 3", "19, 3"})
  void hcaSurvivesADriverThatWritesRandomValues(long seed, int service) {
    SplittableRandom random = new SplittableRandom(seed);
    try (Pair pair = new Pair()) {
      pair.a.context.set(QueuePairContext.SERVICE_TYPE, service);
      pair.b.context.set(QueuePairContext.SERVICE_TYPE, service);
      pair.connect();
      Host.Buffer source = pair.left.buffer(8192, Host.ALL);
      Host.Buffer target = pair.right.buffer(8192, Host.ALL);
      for (int i = 0; i < ROUNDS; i++) {
        switch (random.nextInt(8)) {
          case 0 -> scribble(random, pair.left.icm.segment(), 64);
          case 1 -> scribble(random, pair.a.sendRing.segment(), 64);
          case 2 -> scribble(random, pair.b.receiveRing.segment(), 64);
          case 3 ->
              pair.left.bar2.writeLong(
                  8L * random.nextInt(1 << 10),
                  random.nextBoolean() ? random.nextLong() : doorbell(random, pair));
          case 4 -> command(random, pair.left);
          case 5 -> command(random, pair.right);
          case 6 -> pair.left.bar0.writeInt(4L * random.nextInt(1 << 18), 0);
          default -> {
            int at = random.nextInt(8192);
            Piece data = new Piece(source, 0, random.nextInt(5000));
            if (service == UD) {
              pair.a.datagram(pair.right, pair.b, 0x0a, 0, data);
            } else {
              pair.a.write(target, at, data);
            }
            pair.simulation.advance(Duration.ofMillis(random.nextInt(200)));
          }
        }
      }
      pair.simulation.advance(Duration.ofMinutes(10));
      assertThat(pair.leftHca().faults()).noneMatch(fault -> fault.contains("internal"));
      assertThat(pair.rightHca().faults()).noneMatch(fault -> fault.contains("internal"));
      for (Host host : new Host[] {pair.left, pair.right}) {
        host.function.reset();
        host.function.configuration().busMaster(true);
        host.renew();
      }
      pair.a = pair.left.qp();
      pair.b = pair.right.qp();
      pair.connect();
      pair.a.write(
          pair.right.buffer(4096, Host.ALL), 0, new Piece(pair.left.buffer(4096, 1), 0, 8));
      assertThat(pair.a.cq.take().failed()).isFalse();
    }
  }

  private static void scribble(SplittableRandom random, MemorySegment memory, int bytes) {
    long at = random.nextLong(memory.byteSize() - bytes);
    for (int i = 0; i < bytes; i++) {
      if (random.nextInt(4) == 0) {
        memory.set(ValueLayout.JAVA_BYTE, at + i, (byte) random.nextInt());
      }
    }
  }

  private static long doorbell(SplittableRandom random, Pair pair) {
    return Doorbell.sendQueue(
        random.nextBoolean() ? pair.a.number : random.nextInt(300),
        random.nextInt(40),
        random.nextInt(300),
        random.nextInt(2),
        random.nextInt(32));
  }

  private static void command(SplittableRandom random, Host host) {
    HcrCommand[] all = HcrCommand.values();
    HcrCommand command = all[random.nextInt(all.length)];
    if (command == HcrCommand.CLOSE_HCA && random.nextInt(20) != 0) {
      return;
    }
    if (random.nextBoolean()) {
      scribble(random, host.in(), 1024);
    }
    int opModifier = random.nextInt(8) == 0 ? random.nextInt(256) : command.opModifiers().get(0);
    long in = random.nextInt(8) == 0 ? random.nextLong() : host.inbox.iova(0);
    long out = random.nextInt(8) == 0 ? random.nextLong() : host.outbox.iova(0);
    int modifier = random.nextInt(8) == 0 ? random.nextInt() : random.nextInt(64);
    assertThat(host.command(command.code(), opModifier, in, modifier, out)).isIn(0, 2, 3);
  }
}
