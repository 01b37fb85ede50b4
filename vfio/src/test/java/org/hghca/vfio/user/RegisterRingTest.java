package org.hghca.vfio.user;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.hghca.linux.Linux;
import org.hghca.linux.SealedFile;
import org.hghca.linux.SystemCalls;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A ring of register writes, without a connection. */
final class RegisterRingTest {
  private static final SystemCalls LINUX = Linux.system();

  private record Write(int region, long offset, int width, long value) {}

  private final List<Write> written = new ArrayList<>();
  private final ClientRing client = new ClientRing();
  private int hangUps;
  private final RegisterRingReceiver server = map(client.file);

  private RegisterRingReceiver map(int file) {
    return RegisterRingReceiver.map(
        LINUX,
        file,
        (region, offset, width, value) -> written.add(new Write(region, offset, width, value)),
        () -> hangUps++);
  }

  @AfterEach
  void close() {
    server.close();
    client.close();
  }

  @Test
  void writesOfAllWidthsArriveInTheirOrderThroughManyLaps() {
    Random random = new Random(1);
    List<Write> expected = new ArrayList<>();
    for (int i = 0; i < 20_000; i++) {
      int width = 1 << random.nextInt(4);
      Write write = new Write(random.nextInt(6), random.nextLong(), width, random.nextLong());
      client.put(write.region, write.offset, write.width, write.value);
      expected.add(write);
      if (client.isFull() || random.nextInt(700) == 0) {
        while (server.take(1 + random.nextInt(40))) {
          // until it is empty
        }
        assertThat(client.taken()).isEqualTo(expected.size());
      }
    }
    assertThat(server.drain()).isTrue();
    assertThat(written).isEqualTo(expected);
    assertThat(client.taken()).isEqualTo(expected.size());
  }

  @Test
  void takesNoMoreThanItsShare() {
    for (int i = 0; i < 10; i++) {
      client.put(0, 8L * i, 8, i);
    }
    assertThat(server.take(4)).isTrue();
    assertThat(written).hasSize(4);
    assertThat(server.take(4)).isTrue();
    assertThat(server.take(4)).isTrue();
    assertThat(written).hasSize(10);
    assertThat(server.take(4)).isFalse();
  }

  @Test
  void fullRingIsTakenWhole() {
    for (int i = 0; i < RegisterRing.ENTRIES; i++) {
      client.put(2, 0, 4, i);
    }
    assertThat(client.isFull()).isTrue();
    assertThat(server.drain()).isTrue();
    assertThat(written).hasSize(RegisterRing.ENTRIES);
    assertThat(client.taken()).isEqualTo(RegisterRing.ENTRIES);
  }

  @Test
  void sleepIsToldBeforeTheLastLook() {
    assertThat(client.serverSleeps()).isFalse();
    assertThat(server.sleep()).isTrue();
    assertThat(client.serverSleeps()).isTrue();
    client.put(0, 0, 8, 1);
    assertThat(server.sleep()).as("there is a write").isFalse();
    server.wakeUp();
    assertThat(client.serverSleeps()).isFalse();
    assertThat(server.take(1)).isTrue();
    assertThat(server.sleep()).isTrue();
  }

  /** A client wakes the server once for each sleep. */
  @Test
  void sleepsAreToldApart() {
    long before = 0;
    for (int i = 0; i < 5; i++) {
      assertThat(server.sleep()).isTrue(); // without waking up between them
      long now = client.memory.get(ValueLayout.JAVA_LONG, 0x40);
      assertThat(now).isNotEqualTo(before).isOdd();
      before = now;
    }
  }

  /** The client's memory may hold anything: that is no index, no length and no address here. */
  @Test
  void whateverIsInTheMemoryIsRefusedOrAWrite() {
    Random random = new Random(7);
    int failures = 0;
    int writes = 0;
    for (int i = 0; i < 100_000; ) {
      try (ClientRing bent = new ClientRing();
          RegisterRingReceiver receiver = map(bent.file)) {
        written.clear();
        int before = hangUps;
        while (receiver.failure() == null && i < 100_000) {
          i++;
          if (random.nextInt(3) == 0) {
            bent.scribble(word(random), edge(random));
          } else {
            bent.put(random.nextInt(256), edge(random), random.nextInt(256), edge(random));
          }
          int had = written.size();
          boolean took = receiver.take(1 + random.nextInt(8));
          assertThat(took).isEqualTo(written.size() > had);
          if (random.nextInt(4) == 0) {
            boolean _ = receiver.sleep();
            receiver.wakeUp();
          }
        }
        writes += written.size();
        if (receiver.failure() != null) {
          failures++;
          assertThat(receiver.failure())
              .hasMessageContaining("in its ring of register writes: entry ");
          assertThat(hangUps).isEqualTo(before + 1);
          int had = written.size();
          assertThat(receiver.take(8)).as("after a failure").isFalse();
          assertThat(receiver.drain()).isFalse();
          assertThat(written).hasSize(had);
        }
      }
    }
    assertThat(failures).isGreaterThan(100);
    assertThat(writes).isGreaterThan(1000);
  }

  private static long word(Random random) {
    long words = RegisterRing.BYTES / Long.BYTES;
    return Long.BYTES * (random.nextBoolean() ? random.nextLong(words) : 512 + random.nextLong(64));
  }

  private static long edge(Random random) {
    return switch (random.nextInt(6)) {
      case 0 -> 0;
      case 1 -> -1;
      case 2 -> 1L << random.nextInt(64);
      case 3 -> 1L << 16 | random.nextInt(1 << 16);
      case 4 -> 2L << 16 | random.nextInt(1 << 16);
      default -> random.nextLong();
    };
  }

  @Test
  void failureOfTheRegistersEndsTheRing() {
    try (RegisterRingReceiver failing =
        RegisterRingReceiver.map(
            LINUX,
            client.file,
            (region, offset, width, value) -> {
              throw new StackOverflowError("deep");
            },
            () -> hangUps++)) {
      client.put(0, 0, 8, 1);
      assertThat(failing.drain()).isFalse();
      assertThat(failing.failure()).hasMessageContaining("deep");
      assertThat(hangUps).isEqualTo(1);
    }
  }

  @Test
  void closedRingTakesNothing() {
    client.put(0, 0, 8, 1);
    server.close();
    server.close();
    assertThat(server.take(1)).isFalse();
    assertThat(server.drain()).isTrue();
    assertThat(server.sleep()).isTrue();
    server.wakeUp();
    assertThat(written).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 4096, RegisterRing.BYTES - 4096, RegisterRing.BYTES + 4096})
  void fileOfAnotherSizeIsNoRing(long bytes) {
    int file = SealedFile.create(LINUX, "other", Math.max(1, bytes));
    assertThatThrownBy(() -> map(file))
        .isInstanceOf(Refusal.class)
        .hasMessageContaining("a memory file of %d bytes".formatted(RegisterRing.BYTES));
    LINUX.close(file);
  }

  /** Seals: 1 SEAL, 2 SHRINK, 4 GROW, 8 WRITE. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 4, 3, 5, 6, 15})
  void fileWithOtherSealsIsNoRing(int seals) {
    int file = LINUX.memfdCreate("other", 0x3);
    assertThat(LINUX.ftruncate(file, RegisterRing.BYTES)).isZero();
    assertThat(LINUX.fcntl(file, 1033, seals)).isZero();
    assertThatThrownBy(() -> map(file)).isInstanceOf(Refusal.class);
    LINUX.close(file);
  }
}
