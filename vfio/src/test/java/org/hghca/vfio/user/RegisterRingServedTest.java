package org.hghca.vfio.user;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.stream.LongStream;
import org.hghca.linux.LinuxErrno;
import org.hghca.vfio.DmaAccess;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.Locator;
import org.hghca.vfio.MmioRegion;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.PciFunctions;
import org.hghca.vfio.VfioException.Reason;
import org.hghca.vfio.testing.Failures;
import org.hghca.vfio.testing.Racers;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Register writes of this project's client to its server, through a ring and by messages. */
@Timeout(120)
final class RegisterRingServedTest {
  private static final int EOPNOTSUPP = LinuxErrno.EOPNOTSUPP.number();

  @TempDir Path directory;

  private static PciFunction open(String path, String parameters) {
    return PciFunctions.open(Locator.parse("vfio-user:" + path + parameters));
  }

  private static boolean isMadeAnywhere() {
    return Descriptors.open().keySet().stream().anyMatch(kind -> kind.contains("hghca-registers"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "?ring=true", "?ring=false", "?posted=false"})
  void deviceSeesTheSameAccessesEitherWay(String parameters) {
    Map<String, Integer> before = Descriptors.open();
    try (Served served = new Served(directory)) {
      List<String> expected = new ArrayList<>();
      try (PciFunction function = open(served.path, parameters)) {
        boolean ring = parameters.isEmpty() || parameters.equals("?ring=true");
        Served.await(() -> RegisterRingPoller.shared().thread() != null == ring);
        MmioRegion zero = function.region(0);
        MmioRegion two = function.region(2);
        assertThat(zero.isMapped()).isFalse();
        assertThat(zero.isPosted()).isEqualTo(!parameters.equals("?posted=false"));
        served.device.calls.clear();
        Random random = new Random(3);
        for (int i = 0; i < 3000; i++) {
          int width = 1 << random.nextInt(4);
          long offset = random.nextLong(0x1000 / width) * width;
          long value = random.nextLong();
          if (random.nextInt(20) == 0) {
            long read = zero.read(offset, width);
            assertThat(read).isEqualTo(0x1122_3344_5566_7788L >>> 64 - 8 * width);
            expected.add("read BAR0 0x%x %d".formatted(offset, width));
          } else if (random.nextInt(60) == 0) {
            function.configuration().write(4, 2, i);
            expected.add("write configuration 0x4 2 0x%x".formatted(i));
          } else if (random.nextInt(60) == 0) {
            function.reset();
            expected.add("reset");
          } else {
            boolean isTwo = random.nextBoolean() && width < 8;
            (isTwo ? two : zero).write(offset, width, value);
            expected.add(
                "write BAR%d 0x%x %d 0x%x"
                    .formatted(isTwo ? 2 : 0, offset, width, value & -1L >>> 64 - 8 * width));
          }
        }
        assertThat(zero.readInt(0)).isEqualTo(0x1122_3344);
        expected.add("read BAR0 0x0 4");
        assertThat(served.device.calls).isEqualTo(expected);
      }
    }
    assertThat(Descriptors.open()).isEqualTo(before);
  }

  /** The device reads memory in the thread of the write: the unmap must find that done. */
  @ParameterizedTest
  @ValueSource(strings = {"", "?ring=false"})
  void writesComeBeforeAnUnmapThatFollows(String parameters) {
    try (Served served = new Served(directory);
        PciFunction function = open(served.path, parameters);
        Arena arena = Arena.ofShared()) {
      MmioRegion two = function.region(2);
      MemorySegment memory = function.memory().allocate(arena, DmaMapping.PAGE_SIZE);
      for (long i = 1; i <= 300; i++) {
        memory.set(ValueLayout.JAVA_LONG, 0, i);
        try (DmaMapping mapping = function.map(memory, DmaAccess.READ_WRITE)) {
          two.writeLong(8, mapping.iova(0));
        }
        assertThat(two.readLong(8)).as("what the device has read").isEqualTo(i);
      }
      assertThat(served.server.dmaFaultCount()).isZero();
    }
  }

  /** A device whose writes wait until they are let go, and which keeps what was written. */
  private static final class HeldDevice extends ServedDevice {
    final CountDownLatch gate = new CountDownLatch(1);
    final List<Long> values = new CopyOnWriteArrayList<>();

    @Override
    public void write(int bar, long offset, int width, long value) {
      try {
        gate.await();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
      values.add(value);
    }
  }

  @Test
  void writesWaitForRoom() throws InterruptedException {
    HeldDevice device = new HeldDevice();
    String path = directory.resolve("held").toString();
    int count = 3 * RegisterRing.ENTRIES;
    try (UserServer _ = UserServer.start(path, device);
        PciFunction function = open(path, "")) {
      MmioRegion zero = function.region(0);
      Thread writer =
          Thread.ofPlatform()
              .start(
                  () -> {
                    for (int i = 0; i < count; i++) {
                      zero.writeLong(0, i);
                    }
                  });
      // It waits for an answer, which the server gives when it has emptied the ring.
      Served.await(() -> writer.getState() == Thread.State.TIMED_WAITING);
      assertThat(device.values).isEmpty();
      device.gate.countDown();
      writer.join();
      assertThat(zero.readInt(0)).isEqualTo(0x1122_3344);
      assertThat(device.values)
          .containsExactlyElementsOf(LongStream.range(0, count).boxed().toList());
    }
  }

  /** Threads that write at the same time: each finds its own writes in their order. */
  @Test
  void writesOfSeveralThreadsKeepTheOrderOfEach() throws Exception {
    HeldDevice device = new HeldDevice();
    device.gate.countDown();
    String path = directory.resolve("many").toString();
    try (UserServer _ = UserServer.start(path, device);
        PciFunction function = open(path, "")) {
      MmioRegion zero = function.region(0);
      List<Racers.Step> writers = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        long own = (long) i << 32;
        writers.add(
            round -> {
              zero.writeLong(0, own | round);
              if (round % 16 == 0) {
                long _ = zero.readLong(0);
                assertThat(device.values).contains(own | round);
              }
            });
      }
      Racers.race(500, writers);
      long _ = zero.readLong(0);
      for (long i = 0; i < 4; i++) {
        long own = i;
        List<Long> rounds = device.values.stream().filter(value -> value >>> 32 == own).toList();
        assertThat(rounds).isSorted().doesNotHaveDuplicates().hasSizeGreaterThanOrEqualTo(500);
      }
    }
  }

  @Test
  void ringIsAnnouncedOnlyToWhoKnowsIt() {
    try (Served served = new Served(directory)) {
      for (String other : List.of("{}", "{\"capabilities\":{\"hghca_register_ring\":false}}")) {
        try (RawClient client = RawClient.connect(served.path);
            ClientRing ring = new ClientRing()) {
          assertThat(client.greet(other)).isZero();
          assertThat(client.text()).doesNotContain("hghca");
          assertThat(ClientRing.give(client, RegisterRing.LAYOUT, ring.file)).isEqualTo(EOPNOTSUPP);
          client.begin(UserCommand.LOOK_AT_RING, 0);
          assertThat(client.call()).isEqualTo(EOPNOTSUPP);
          assertThat(client.read(0, 0, 4)).isZero();
        }
      }
      try (RawClient client = RawClient.connect(served.path)) {
        assertThat(client.greet(ClientRing.GREETING)).isZero();
        assertThat(client.text()).contains("\"hghca_register_ring\":true}}");
        client.begin(UserCommand.LOOK_AT_RING, 0);
        assertThat(client.call()).as("without a ring").isEqualTo(EOPNOTSUPP);
        assertThat(client.write(0, 8, 4, 1)).as("messages go on").isZero();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "{\"capabilities\":{}}",
        "{\"capabilities\":{\"hghca_register_ring\":false}}",
        "{\"capabilities\":{\"hghca_register_ring\":1}}"
      })
  void serverThatDoesNotKnowItGetsMessages(String version) {
    try (FakeServer server = new FakeServer(directory)) {
      server.version = version;
      try (PciFunction function = PciFunctions.open(Locator.parse(server.locator()))) {
        assertThat(server.newCalls()).noneMatch(call -> call.startsWith("REGISTER_RING"));
        function.region(0).writeInt(0x10, 7);
        assertThat(function.region(0).readInt(0x10)).isEqualTo(7);
        assertThat(server.newCalls())
            .containsExactly("REGION_WRITE 0 0x10 4 = 0x7 posted", "REGION_READ 0 0x10 4");
      }
    }
  }

  @Test
  void serverThatRefusesTheRingGetsMessages() {
    try (FakeServer server = new FakeServer(directory)) {
      server.version = ClientRing.GREETING;
      server.answers.put(UserCommand.REGISTER_RING, FakeServer.refuse(12));
      try (PciFunction function = PciFunctions.open(Locator.parse(server.locator()))) {
        server.newCalls();
        assertThat(isMadeAnywhere()).isFalse();
        function.region(0).writeInt(0x10, 7);
        assertThat(function.region(0).readInt(0x10)).isEqualTo(7);
        assertThat(server.newCalls())
            .containsExactly("REGION_WRITE 0 0x10 4 = 0x7 posted", "REGION_READ 0 0x10 4");
      }
    }
  }

  /** A server that takes the ring and never looks into it. */
  @Test
  void serverThatDoesNotEmptyTheRingIsGone() {
    try (FakeServer server = new FakeServer(directory)) {
      server.version = ClientRing.GREETING;
      server.answers.put(
          UserCommand.REGISTER_RING,
          (command, reply) -> {
            reply.reply(command, 0);
            return true;
          });
      try (PciFunction function = PciFunctions.open(Locator.parse(server.locator()))) {
        MmioRegion zero = function.region(0);
        for (int i = 0; i < 2 * RegisterRing.ENTRIES; i++) {
          zero.writeInt(0, i); // dropped after that, as on a bus
        }
        assertThat(zero.readInt(0)).isEqualTo(-1);
        Failures.assertReason(Reason.CLOSED, function::reset)
            .hasMessageContaining("it does not empty the ring of register writes");
      }
    }
  }
}
