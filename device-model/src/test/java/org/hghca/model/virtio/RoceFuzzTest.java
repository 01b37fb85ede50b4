package org.hghca.model.virtio;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.util.HexFormat;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.api.Test;

/**
 * A driver whose RoCE queues, requests and commands are random, or right but for a few bytes: the
 * card throws nothing and hangs nowhere, and after a reset it does a right request.
 */
class RoceFuzzTest extends RoceFixture {
  private static final int ROUNDS = Integer.getInteger("hghca.fuzz", 60);
  private static final int STEPS = 200;
  private static final int FIRST_CQ = 3;
  private static final int FIRST_SQ = 3 + 32;
  private static final int RC = 2;

  private GuestDriver.Ring completions;
  private GuestDriver.Ring sends;
  private GuestDriver.Ring receives;

  @Test
  void randomQueuesRequestsAndCommandsAreSurvived() {
    for (int seed = 0; seed < ROUNDS; seed++) {
      RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
      connect();
      for (int i = 0; i < STEPS; i++) {
        bother(random);
      }
      assertThat(driver.card().faults())
          .as("seed %d", seed)
          .noneMatch(fault -> fault.startsWith("internal"));
      assertWorksAfterReset();
    }
  }

  /** A connection to the card's own address. */
  private void connect() {
    restart();
    int qp = connectable(RC);
    completions = driver.new Ring(FIRST_CQ);
    sends = driver.new Ring(FIRST_SQ + 2 * qp);
    receives = driver.new Ring(FIRST_SQ + 2 * qp + 1);
    for (GuestDriver.Ring ring : List.of(completions, sends, receives)) {
      ring.enable();
    }
    assertThat(does(10, modify(qp, 1 | ACCESS, 1, 3, 1))).isTrue();
    assertThat(does(10, modify(qp, TO_RTR, 2, 3, 1))).isTrue();
    assertThat(does(10, modify(qp, TO_RTS, 3, 3, 1))).isTrue();
    for (int i = 0; i < 8; i++) {
      completions.offer(completions.room(48));
    }
  }

  private void restart() {
    if (completions != null) {
      for (GuestDriver.Ring ring : List.of(completions, sends, receives)) {
        ring.memory.close();
      }
    }
    driver.receive.clear();
    driver.transmit.clear();
    driver.control.clear();
    driver.start(GuestDriver.ALL | 1L << 55);
    assertThat(driver.status()).isEqualTo(15);
  }

  /** A request that names no memory fails with its number, and the next one is flushed. */
  private void assertWorksAfterReset() {
    connect();
    sends.offer(sends.buffer(request(7, 2, 2, 1) + le(0, 0, 16, 0x12345678), 0));
    sends.offer(sends.buffer(request(8, 2, 2, 0), 0));
    sends.kick();
    assertThat(completions.used()).hasSize(2);
    assertThat(completions.content(0, 9)).isEqualTo(le(7, 0) + "03");
    assertThat(sends.used()).hasSize(2);
  }

  private static String request(int number, int opcode, int flags, int pieces) {
    return le(number, 0)
        + "%02x%02x0000".formatted(opcode & 0xff, flags & 0xff)
        + "00".repeat(560 - 12)
        + le(pieces)
        + "00".repeat(12);
  }

  private void bother(RandomGenerator random) {
    switch (random.nextInt(25)) {
      case 0 -> breach(List.of(completions, sends, receives).get(random.nextInt(3)), random);
      case 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 -> post(random);
      case 12, 13, 14, 15 -> {
        receives.offer(receives.buffer(bent(le(9, 0, 1, 0, 0, 0, 0, 0, 64, 1), random), 0));
        receives.kick();
      }
      case 16, 17, 18, 19, 20 ->
          completions.offer(completions.room(random.nextInt(50) == 0 ? 47 : 48));
      case 21, 22 -> command(random);
      default -> completions.kick();
    }
  }

  /** Something in the memory of a virtqueue that is against its rules, or may be. */
  private static void breach(GuestDriver.Ring ring, RandomGenerator random) {
    switch (random.nextInt(3)) {
      case 0 -> ring.availableIndex(random.nextInt(24));
      case 1 -> {
        long address = random.nextInt(4) == 0 ? random.nextLong() : ring.iova(random.nextInt(16));
        int length = random.nextInt(4) == 0 ? random.nextInt() : random.nextInt(2048);
        ring.describe(random.nextInt(16), address, length, random.nextInt(8), random.nextInt(17));
      }
      default ->
          ring.memory
              .segment()
              .set(
                  ValueLayout.JAVA_BYTE,
                  random.nextInt((int) ring.memory.segment().byteSize()),
                  (byte) random.nextInt());
    }
  }

  private void post(RandomGenerator random) {
    int pieces = random.nextInt(3);
    String element = request(random.nextInt(256), random.nextInt(7), random.nextInt(16), pieces);
    sends.offer(sends.buffer(bent(element + le(0, 0, 16, 0).repeat(pieces), random), 0));
    sends.kick();
  }

  /** A command of any number with data that is right for some, and bytes changed. */
  private void command(RandomGenerator random) {
    String data =
        switch (random.nextInt(5)) {
          case 0 -> modify(random.nextInt(4), random.nextInt(), random.nextInt(8), 3, 1);
          case 1 -> createQp(random.nextInt(3), random.nextInt(5), 0, 0, random.nextInt(1024));
          case 2 -> le(random.nextInt(40), random.nextInt(4));
          case 3 -> le(random.nextInt(3), 7) + le(random.nextInt(), 0, 4096, 0, 1, 0, 0, 0, 0, 0);
          default -> "";
        };
    GuestDriver.Ring control = driver.control;
    int first = control.buffer("06%02x".formatted(random.nextInt(20)), GuestDriver.NEXT);
    if (!data.isEmpty()) {
      control.buffer(bent(data, random), GuestDriver.NEXT);
    }
    control.room(random.nextInt(4) == 0 ? random.nextInt(3) : 128);
    control.offer(first);
    control.kick();
  }

  /** Bytes in hexadecimal, mostly with a few of them changed or left out. */
  private static String bent(String hex, RandomGenerator random) {
    byte[] bytes = HexFormat.of().parseHex(hex);
    if (random.nextInt(3) != 0) {
      for (int i = random.nextInt(4); i > 0; i--) {
        bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
      }
    }
    int end = random.nextInt(8) == 0 ? random.nextInt(bytes.length) : bytes.length;
    return HexFormat.of().formatHex(bytes, 0, end);
  }
}
