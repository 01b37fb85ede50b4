package org.hghca.vfio.user;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.hghca.linux.Linux;
import org.hghca.linux.SystemCalls;
import org.hghca.vfio.DmaAccess;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.Locator;
import org.hghca.vfio.MmioRegion;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.PciFunctions;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.user.UserStructures.RegionInfo;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A server that corrupts its replies at random: each call ends in time with a value or a {@link
 * VfioException}, and nothing is left behind.
 */
@Tag("long")
final class UserFuzzTest {
  private static final int ROUNDS = 40;

  private final SystemCalls linux = Linux.system();

  @TempDir Path directory;

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void nothingHangsOrLeaks(long seed) throws Exception {
    Map<String, Integer> before = Descriptors.open();
    Random random = new Random(seed);
    int file = linux.memfdCreate("registers", 1);
    assertThat(linux.ftruncate(file, 0x2000)).isZero();
    int opened = 0;
    int refused = 0;
    for (int round = 0; round < ROUNDS; round++) {
      Path place = Files.createDirectory(directory.resolve("round" + round));
      try (FakeServer server = new FakeServer(place)) {
        spoil(server, random, file);
        try (PciFunction function =
            PciFunctions.open(Locator.parse(server.locator() + "?timeout=PT0.2S"))) {
          opened++;
          use(function);
        } catch (VfioException e) {
          assertThat(e.getMessage()).isNotBlank();
          refused++;
        }
      }
    }
    linux.close(file);
    assertThat(Descriptors.open()).as("seed %d", seed).isEqualTo(before);
    // The corruption is neither too frequent nor too rare.
    assertThat(opened).isPositive();
    assertThat(refused).isPositive();
  }

  /** Every call of a function once, also those after the first failure. */
  private static void use(PciFunction function) {
    List<Runnable> calls =
        List.of(
            () -> function.configuration().vendorId(),
            () -> function.configuration().busMaster(true),
            () -> function.interrupts().await(0),
            () -> registers(function),
            () -> memory(function),
            function::reset,
            () -> function.interrupts().await(0));
    VfioException first = null;
    for (Runnable call : calls) {
      try {
        call.run();
      } catch (VfioException e) {
        first = first == null ? e : first;
      }
    }
    if (first != null) {
      throw first;
    }
  }

  private static void registers(PciFunction function) {
    for (int bar = 0; bar < 6; bar++) {
      MmioRegion region = function.region(bar);
      if (region.size() >= 8) {
        region.writeInt(0, bar);
        region.readLong(0);
      }
    }
  }

  private static void memory(PciFunction function) {
    DmaMapping allocated = function.allocate(4096);
    try (Arena arena = Arena.ofShared();
        DmaMapping mapped = function.map(arena.allocate(64), DmaAccess.READ_WRITE)) {
      assertThat(mapped.iova(0)).isNotEqualTo(allocated.iova(0));
    }
  }

  // Makes a server corrupt what it sends, after some correct messages.
  private void spoil(FakeServer server, Random random, int file) {
    FakeServer.Answer usual = server.answers.get(UserCommand.DEVICE_GET_REGION_INFO);
    server.answers.put(
        UserCommand.DEVICE_GET_REGION_INFO,
        (command, reply) -> {
          if (command.getInt(RegionInfo.INDEX) != 4) {
            return usual.make(command, reply);
          }
          FakeServer.region(command, reply, 15, 0x4000, 0, 32);
          reply.putInt(32, 1 | 1 << 16);
          reply.putInt(36, 0);
          reply.putLong(40, 1);
          reply.putLong(48, 0x1000);
          reply.putLong(56, 0x1000);
          reply.attach(file);
          return true;
        });
    int[] honest = {random.nextInt(24)};
    server.answers.replaceAll(
        (name, answer) ->
            (command, reply) -> {
              boolean made = answer.make(command, reply);
              if (honest[0]-- > 0 || random.nextInt(4) == 0) {
                return made;
              }
              return spoil(server, command, reply, random, file);
            });
  }

  private static boolean spoil(
      FakeServer server, UserMessage command, UserMessage reply, Random random, int file) {
    switch (random.nextInt(8)) {
      case 0 -> {
        return false;
      }
      case 1 -> server.channelNow().close();
      case 2 -> reply.failure(command, random.nextInt(200));
      case 3 -> {
        int payload = random.nextInt(100);
        reply.receivePayload(payload);
        reply
            .memory()
            .set(ValueLayout.JAVA_INT, UserMessage.SIZE, UserMessage.HEADER_BYTES + payload);
      }
      case 4 -> {
        for (int i = random.nextInt(4); i >= 0; i--) {
          reply.attach(file);
        }
      }
      case 5 -> {
        UserMessage ask = FakeServer.dmaRead(random.nextInt(100), random.nextLong(), 64);
        ask.putLong(8, random.nextInt(3) == 0 ? random.nextLong() : random.nextInt(5000));
        server.channelNow().send(ask);
      }
      case 6 -> {
        int at = random.nextInt(UserMessage.HEADER_BYTES);
        reply.memory().set(ValueLayout.JAVA_BYTE, at, (byte) random.nextInt(256));
      }
      default -> {
        for (int i = random.nextInt(4); i >= 0 && reply.payloadBytes() > 0; i--) {
          reply.putByte(
              random.nextInt(reply.payloadBytes()),
              random.nextBoolean() ? 0xff >> random.nextInt(8) : random.nextInt(256));
        }
      }
    }
    return true;
  }
}
