package org.hghca.model.virtio;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A driver that breaks the rules of the queues: the card needs a reset, and works after it. */
class HostileGuestTest {
  private static final int NEEDS_RESET = 64;
  private static final long NOWHERE = 0x7000_0000_0000L;
  private static final int ROUNDS = Integer.getInteger("hghca.fuzz", 60);

  private final GuestDriver driver =
      new GuestDriver("virtio:hostile?mode=inline&roce=none").start(GuestDriver.ALL);

  @AfterEach
  void close() {
    driver.close();
  }

  private static Arguments breach(String fault, Consumer<GuestDriver.Ring> act) {
    return Arguments.of(fault, act);
  }

  /** A breach in what the first descriptor, which is offered, leads to. */
  private static Arguments chain(String fault, Consumer<GuestDriver.Ring> describe) {
    return breach(fault, describe.andThen(ring -> ring.offer(0)));
  }

  static Stream<Arguments> breaches() {
    return Stream.of(
        breach("the available index jumps by 17 in a queue of 16", ring -> ring.availableIndex(17)),
        breach("the available index jumps by 65535", ring -> ring.availableIndex(-1)),
        breach("descriptor 16 of 16", ring -> ring.offer(16)),
        breach("descriptor 65535 of 16", ring -> ring.offer(-1)),
        chain(
            "descriptor 99 of 16", ring -> ring.describe(0, ring.iova(0), 4, GuestDriver.NEXT, 99)),
        chain(
            "a chain of more than 16 descriptors",
            ring -> {
              ring.describe(0, ring.iova(0), 4, GuestDriver.NEXT, 1);
              ring.describe(1, ring.iova(1), 4, GuestDriver.NEXT, 0);
            }),
        chain(
            "a chain of more than 16 descriptors",
            ring -> ring.describe(0, ring.iova(0), 0, GuestDriver.NEXT, 0)),
        chain(
            "a buffer to read behind one to write",
            ring -> {
              ring.describe(0, ring.iova(0), 4, GuestDriver.NEXT | GuestDriver.WRITE, 1);
              ring.describe(1, ring.iova(1), 4, 0, 0);
            }),
        chain("a buffer beyond all addresses", ring -> ring.describe(0, -2, 4, 0, 0)),
        chain(
            "a table of descriptors of 17 bytes",
            ring -> ring.describe(0, ring.iova(0), 17, GuestDriver.INDIRECT, 0)),
        chain(
            "a table of descriptors of 0 bytes",
            ring -> ring.describe(0, ring.iova(0), 0, GuestDriver.INDIRECT, 0)),
        chain(
            "a table of descriptors of 272 bytes",
            ring -> ring.describe(0, ring.iova(0), 17 * 16, GuestDriver.INDIRECT, 0)),
        chain(
            "a table of descriptors where none may be",
            ring -> ring.describe(0, ring.iova(0), 16, GuestDriver.INDIRECT | GuestDriver.NEXT, 1)),
        chain(
            "a table of descriptors where none may be",
            ring -> {
              ring.describe(0, ring.iova(0), 16, GuestDriver.INDIRECT, 0);
              ring.describe(
                  ring.dataAt(0), ring.iova(1), 16, GuestDriver.INDIRECT, 0, ring.memory.segment());
            }),
        chain(
            "descriptor 1 of 1",
            ring -> {
              ring.describe(0, ring.iova(0), 16, GuestDriver.INDIRECT, 0);
              ring.describe(
                  ring.dataAt(0), ring.iova(1), 4, GuestDriver.NEXT, 1, ring.memory.segment());
            }),
        chain(
            "a descriptor cannot be read",
            ring -> ring.describe(0, NOWHERE, 16, GuestDriver.INDIRECT, 0)),
        chain(
            "a buffer cannot be read",
            ring -> {
              ring.describe(0, NOWHERE, 72, GuestDriver.NEXT, 1);
              ring.describe(1, ring.iova(1), 4, GuestDriver.WRITE, 0);
            }));
  }

  @ParameterizedTest
  @MethodSource("breaches")
  void aBreachNeedsAReset(String fault, Consumer<GuestDriver.Ring> act) {
    for (GuestDriver.Ring ring : new GuestDriver.Ring[] {driver.transmit, driver.control}) {
      driver.registers.writeShort(16, 0);
      act.accept(ring);
      ring.kick();

      assertThat(driver.status()).isEqualTo(15 | NEEDS_RESET);
      assertThat(driver.card().faults().getLast()).startsWith("the card needs a reset: " + fault);
      assertThat(driver.function.interrupts().await(0)).isOdd();
      driver.send("ff".repeat(60));
      assertThat(driver.transmit.used()).isEmpty();
      assertWorksAfterReset();
    }
  }

  private void assertWorksAfterReset() {
    driver.receive.clear();
    driver.transmit.clear();
    driver.control.clear();
    driver.start(GuestDriver.ALL);
    assertThat(driver.status()).isEqualTo(15);
    driver.send("ff".repeat(60));
    assertThat(driver.transmit.used()).hasSize(1);
    assertThat(driver.command("000000")).isZero();
    driver.receive.clear();
    driver.transmit.clear();
    driver.control.clear();
    driver.start(GuestDriver.ALL);
  }

  @Test
  void ringsThatAreNotMappedNeedAReset() {
    for (int address = 32; address <= 48; address += 8) {
      driver.negotiate(GuestDriver.ALL);
      driver.transmit.place();
      driver.transmit.address(address, NOWHERE);
      driver.registers.writeShort(28, 1);
      driver.status(15);
      driver.send("ff".repeat(60));

      assertThat(driver.status()).as("register %d", address).isEqualTo(15 | NEEDS_RESET);
      assertWorksAfterReset();
    }
  }

  @Test
  void aBufferThatCannotBeWrittenNeedsAReset() {
    driver.control.describe(0, driver.control.iova(0), 3, GuestDriver.NEXT, 1);
    driver.control.describe(1, NOWHERE, 1, GuestDriver.WRITE, 0);
    driver.control.offer(0);
    driver.control.kick();

    assertThat(driver.card().faults().getLast()).endsWith("a buffer cannot be written");
    assertThat(driver.status()).isEqualTo(15 | NEEDS_RESET);
  }

  @Test
  void lengthsThatFitNowhereAreHarmless() {
    driver.transmit.describe(0, 0x1000, -1, GuestDriver.NEXT, 1);
    driver.transmit.describe(1, 0x1000, -1, 0, 0);
    driver.transmit.offer(0);
    driver.transmit.describe(2, driver.transmit.iova(2), 11, 0, 0);
    driver.transmit.offer(2);
    driver.transmit.describe(3, driver.transmit.iova(3), 4, GuestDriver.WRITE, 0);
    driver.transmit.offer(3);
    driver.transmit.describe(4, driver.transmit.iova(4), 25, 0, 0);
    driver.transmit.offer(4);
    driver.transmit.kick();

    assertThat(driver.transmit.used()).hasSize(4);
    assertThat(driver.status()).isEqualTo(15);
    assertThat(driver.card().counters().packetsDropped()).isEqualTo(4);
    driver.control.describe(0, driver.control.iova(0), 3, 0, 0);
    driver.control.offer(0);
    driver.control.kick();
    assertThat(driver.control.used()).containsExactly(new GuestDriver.Used(0, 0));
  }

  @Test
  void aQueueThatDoesNotExistIsNotNotified() {
    driver.notifyQueue(3);
    driver.registers.writeShort(GuestDriver.NOTIFY, 0xffff);

    assertThat(driver.card().faults())
        .containsExactly(
            "queue 3 is notified, which there is not",
            "queue 65535 is notified, which there is not");
    assertThat(driver.status()).isEqualTo(15);
  }

  @Test
  void withoutBusMasteringNothingIsAccessed() {
    driver.function.configuration().busMaster(false);
    driver.send("ff".repeat(60));
    assertThat(driver.transmit.used()).isEmpty();
    assertThat(driver.card().faults()).isEmpty();

    driver.function.configuration().busMaster(true);
    driver.transmit.kick();
    assertThat(driver.transmit.used()).hasSize(1);
  }

  /** Random registers, rings and descriptors: no exception, no hang, and a reset cures all. */
  @Test
  void randomInputIsSurvived() {
    for (int seed = 0; seed < ROUNDS; seed++) {
      RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
      for (int i = 0; i < 200; i++) {
        bother(random);
      }
      assertThat(driver.card().faults())
          .as("seed %d", seed)
          .noneMatch(f -> f.startsWith("internal"));
      assertWorksAfterReset();
    }
  }

  private void bother(RandomGenerator random) {
    GuestDriver.Ring[] rings = {driver.receive, driver.transmit, driver.control};
    GuestDriver.Ring ring = rings[random.nextInt(rings.length)];
    switch (random.nextInt(8)) {
      case 0 -> {
        int width = 1 << random.nextInt(3);
        int offset = random.nextInt(64 / width) * width;
        int value = random.nextInt(5) == 0 ? random.nextInt() : random.nextInt(64);
        if (offset != 20 || width != 1 || value % 4 != 0) {
          write(offset, width, value);
        }
      }
      case 1 ->
          driver.registers.writeShort(
              GuestDriver.NOTIFY + 4L * random.nextInt(5), random.nextInt(5));
      case 2 -> ring.availableIndex(random.nextInt(24));
      case 3, 4 -> {
        long address = random.nextInt(4) == 0 ? random.nextLong() : ring.iova(random.nextInt(16));
        int length = random.nextInt(4) == 0 ? random.nextInt() : random.nextInt(2048);
        ring.describe(random.nextInt(16), address, length, random.nextInt(8), random.nextInt(17));
      }
      case 5 -> ring.offer(random.nextInt(18));
      case 6 ->
          ring.memory
              .segment()
              .set(
                  ValueLayout.JAVA_BYTE,
                  random.nextInt((int) ring.memory.segment().byteSize()),
                  (byte) random.nextInt());
      default -> {
        if (random.nextInt(4) == 0) {
          driver.start(GuestDriver.ALL);
        } else {
          ring.kick();
        }
      }
    }
  }

  private void write(int offset, int width, int value) {
    switch (width) {
      case 1 -> driver.registers.writeByte(offset, value & 0xff);
      case 2 -> driver.registers.writeShort(offset, value & 0xffff);
      default -> driver.registers.writeInt(offset, value);
    }
  }
}
