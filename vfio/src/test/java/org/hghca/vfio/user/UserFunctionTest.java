package org.hghca.vfio.user;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.hghca.vfio.testing.Failures.assertReason;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.hghca.linux.Linux;
import org.hghca.linux.SystemCalls;
import org.hghca.vfio.ConfigurationSpace;
import org.hghca.vfio.Locator;
import org.hghca.vfio.MmioRegion;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.VfioException.Reason;
import org.hghca.vfio.testing.Racers;
import org.hghca.vfio.user.UserStructures.DeviceInfo;
import org.hghca.vfio.user.UserStructures.RegionInfo;
import org.hghca.vfio.user.UserStructures.SparseAreas;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The messages over the socket when a function is opened, and when its registers are accessed. */
final class UserFunctionTest extends WithFakeServer {
  private static final int READ_WRITE = RegionInfo.FLAG_READ | RegionInfo.FLAG_WRITE;
  private static final int MAPPABLE = READ_WRITE | RegionInfo.FLAG_MMAP;

  private final SystemCalls linux = Linux.system();
  private final List<Integer> files = new ArrayList<>();

  @AfterEach
  void closeFiles() {
    files.forEach(linux::close);
  }

  private PciFunction open() {
    return open("");
  }

  @Test
  void openingNegotiatesAndQueriesDeviceAndRegions() {
    StringBuilder offered = new StringBuilder();
    server.answers.put(
        UserCommand.VERSION,
        (command, reply) -> {
          assertThat(command.getShort(0)).isZero();
          assertThat(command.getShort(2)).isZero();
          byte[] text = new byte[command.payloadBytes() - 4];
          command.get(4, MemorySegment.ofArray(text), 0, text.length);
          offered.append(new String(text, StandardCharsets.UTF_8));
          FakeServer.version(command, reply, 0, 0, "{}");
          return true;
        });
    open();
    assertThat(offered.toString())
        .isEqualTo(
            "{\"capabilities\":{\"max_msg_fds\":64,\"max_data_xfer_size\":1048576,"
                + "\"pgsizes\":4096,\"hghca_register_ring\":true,\"hghca_busy\":true}}\0");
    assertThat(server.newCalls())
        .containsExactly(
            "VERSION",
            "DEVICE_GET_INFO",
            "DEVICE_GET_REGION_INFO 0",
            "DEVICE_GET_REGION_INFO 1",
            "DEVICE_GET_REGION_INFO 2",
            "DEVICE_GET_REGION_INFO 3",
            "DEVICE_GET_REGION_INFO 4",
            "DEVICE_GET_REGION_INFO 5");
    assertThat(function.locator()).isEqualTo(Locator.parse(server.locator()));
  }

  @Test
  void versionWithoutTextHasTheProtocolsDefaults() {
    server.answers.put(
        UserCommand.VERSION,
        (command, reply) -> {
          reply.reply(command, 4);
          reply.putInt(0, 0);
          return true;
        });
    assertThat(open().region(0).size()).isEqualTo(0x1_0000);
  }

  @ParameterizedTest
  @CsvSource({"1,0", "0,1", "65535,65535"})
  void versionThatWasNotOfferedIsRefused(int major, int minor) {
    server.answers.put(
        UserCommand.VERSION,
        (command, reply) -> {
          FakeServer.version(command, reply, major, minor, "{}");
          return true;
        });
    assertThatThrownBy(this::open)
        .hasMessageContaining("version %d.%d to an offer of 0.0".formatted(major, minor));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"capabilities\":{\"max_data_xfer_size\":4}}",
        "{\"capabilities\":{\"pgsizes\":2097152}}"
      })
  void serverWhoseLimitsAreTooLowIsRefused(String text) {
    server.version = text;
    assertThatThrownBy(this::open).hasMessageContaining("it takes no");
  }

  @Test
  void otherDevicesThanPciFunctionsAreRefused() {
    server.deviceFlags = DeviceInfo.FLAG_RESET;
    assertReason(Reason.UNSUPPORTED, this::open).hasMessageContaining("not a PCI function");
  }

  @Test
  void refusalIsReportedWithItsErrorNumber() {
    server.answers.put(UserCommand.DEVICE_GET_INFO, FakeServer.refuse(16));
    assertReason(Reason.BUSY, this::open)
        .hasMessageContainingAll("refused DEVICE_GET_INFO", "EBUSY (16)");
  }

  @Test
  void configurationIsAccessedInItsWidthsAndWaitsForReplies() {
    ConfigurationSpace configuration = open().configuration();
    server.newCalls();
    assertThat(configuration.vendorId()).isEqualTo(0x1234);
    assertThat(configuration.read(0, 4)).isEqualTo(0x4321_1234);
    assertThat(configuration.read(3, 1)).isEqualTo(0x43);
    configuration.busMaster(true);
    assertThat(server.newCalls())
        .containsExactly(
            "REGION_READ 7 0x0 2",
            "REGION_READ 7 0x0 4",
            "REGION_READ 7 0x3 1",
            "REGION_READ 7 0x4 2",
            "REGION_WRITE 7 0x4 2 = 0x4");
    assertThat(server.configuration[4]).isEqualTo((byte) 4);
    for (int[] wrong : new int[][] {{-1, 1}, {4096, 1}, {4094, 4}, {1, 2}, {0, 3}, {0, 8}}) {
      assertThatThrownBy(() -> configuration.read(wrong[0], wrong[1]))
          .isInstanceOf(IndexOutOfBoundsException.class);
    }
    assertThat(server.newCalls()).isEmpty();
  }

  @Test
  void accessIsOneMessageOfItsWidthAndWritesNeedNoReply() {
    MmioRegion registers = open().region(0);
    server.newCalls();
    assertThat(registers.isMapped()).isFalse();
    registers.writeInt(0x10, 0x8765_4321);
    registers.writeLong(0x18, 0x8877_6655_4433_2211L);
    assertThat(registers.readInt(0x10)).isEqualTo(0x8765_4321);
    assertThat(registers.readLong(0x18)).isEqualTo(0x8877_6655_4433_2211L);
    registers.writeByte(0x13, 0xf1);
    registers.writeShort(0x10, 0xfedc);
    assertThat(registers.readByte(0x13)).isEqualTo(0xf1);
    assertThat(registers.readShort(0x10)).isEqualTo(0xfedc);
    assertThat(server.newCalls())
        .containsExactly(
            "REGION_WRITE 0 0x10 4 = 0x87654321 posted",
            "REGION_WRITE 0 0x18 8 = 0x8877665544332211 posted",
            "REGION_READ 0 0x10 4",
            "REGION_READ 0 0x18 8",
            "REGION_WRITE 0 0x13 1 = 0xf1 posted",
            "REGION_WRITE 0 0x10 2 = 0xfedc posted",
            "REGION_READ 0 0x13 1",
            "REGION_READ 0 0x10 2");
    assertReason(Reason.INVALID, () -> function.region(1)).hasMessageContaining("has no BAR1");
    assertReason(Reason.INVALID, () -> function.region(6));
    assertThatThrownBy(() -> registers.readInt(0x1_0000))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }

  @Test
  void writesWaitForTheirRepliesWhenTheLocatorSaysSo() {
    MmioRegion registers = open("?posted=false").region(2);
    server.newCalls();
    registers.writeLong(8, 5);
    assertThat(server.newCalls()).containsExactly("REGION_WRITE 2 0x8 8 = 0x5");
    assertThat(server.registers[8]).isEqualTo((byte) 5);
  }

  @Test
  void manyWritesArriveInTheirOrder() {
    MmioRegion registers = open().region(2);
    server.newCalls();
    for (int i = 0; i < 10_000; i++) {
      registers.writeInt(0, i);
    }
    assertThat(registers.readInt(0)).isEqualTo(9999);
    List<String> calls = server.newCalls();
    assertThat(calls).hasSize(10_001);
    for (int i = 0; i < 10_000; i++) {
      assertThat(calls.get(i)).isEqualTo("REGION_WRITE 2 0x0 4 = 0x%x posted".formatted(i));
    }
  }

  @Test
  void concurrentReadersEachGetTheirOwnValue() throws Exception {
    for (int i = 0; i < 8; i++) {
      server.registers[i * 8] = (byte) (i + 1);
    }
    MmioRegion registers = open().region(0);
    List<Racers.Step> readers = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      int own = i;
      readers.add(round -> assertThat(registers.readLong(own * 8L)).isEqualTo(own + 1));
    }
    Racers.race(200, readers);
  }

  @Test
  void interruptedThreadGetsItsValueAndStaysInterrupted() {
    MmioRegion registers = open().region(0);
    server.registers[0] = 9;
    Thread.currentThread().interrupt();
    assertThat(registers.readInt(0)).isEqualTo(9);
    assertThat(Thread.interrupted()).isTrue();
  }

  @Test
  void refusedReadIsAllOnesAndRefusedWriteHasNoEffect() {
    MmioRegion registers = open("?posted=false").region(0);
    server.answers.put(UserCommand.REGION_READ, FakeServer.refuse(22));
    server.answers.put(UserCommand.REGION_WRITE, FakeServer.refuse(22));
    assertThat(registers.readInt(0)).isEqualTo(-1);
    assertThat(registers.readLong(0)).isEqualTo(-1);
    assertThat(registers.readByte(0)).isEqualTo(0xff);
    assertThat(registers.readShort(0)).isEqualTo(0xffff);
    registers.writeInt(0, 1);
    assertThat(function.configuration().read(0, 2)).isEqualTo(0xffff);
    assertThat(function.configuration().read(0, 1)).isEqualTo(0xff);
    server.answers.put(UserCommand.REGION_READ, server::read);
    assertThat(registers.readInt(0)).isZero();
  }

  /** A file of memory whose first bytes of each page number the page. */
  private int file(long bytes) {
    int file = linux.memfdCreate("registers", 1);
    assertThat(linux.ftruncate(file, bytes)).isZero();
    files.add(file);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment number = arena.allocate(ValueLayout.JAVA_LONG);
      for (long page = 0; page < bytes; page += 4096) {
        number.set(ValueLayout.JAVA_LONG, 0, page / 4096);
        assertThat(linux.pwrite(file, number, page)).isEqualTo(8);
      }
    }
    return file;
  }

  /** Makes the server describe BAR4, with areas of offset and length. */
  private void describe(int flags, long size, long offset, int file, long... areas) {
    int capability = areas.length == 0 ? 0 : 16 + 8 * areas.length;
    FakeServer.Answer usual = server.answers.get(UserCommand.DEVICE_GET_REGION_INFO);
    server.answers.put(
        UserCommand.DEVICE_GET_REGION_INFO,
        (command, reply) -> {
          if (command.getInt(RegionInfo.INDEX) != 4) {
            return usual.make(command, reply);
          }
          FakeServer.region(command, reply, flags, size, offset, capability);
          if (areas.length > 0) {
            reply.putInt(32 + SparseAreas.ID, SparseAreas.SPARSE_MMAP | 1 << 16);
            reply.putInt(32 + SparseAreas.NEXT, 0);
            reply.putInt(32 + SparseAreas.COUNT, areas.length / 2);
            for (int i = 0; i < areas.length; i++) {
              reply.putLong(32 + SparseAreas.AREAS + 8 * i, areas[i]);
            }
          }
          if (file >= 0) {
            reply.attach(file);
          }
          return true;
        });
  }

  @Test
  void regionWithADescriptorIsMappedFromItsOffset() {
    int file = file(0x4000);
    describe(MAPPABLE, 0x2000, 0x1000, file);
    MmioRegion registers = open().region(4);
    server.newCalls();
    assertThat(registers.isMapped()).isTrue();
    assertThat(registers.size()).isEqualTo(0x2000);
    assertThat(registers.readLong(0)).isEqualTo(1);
    assertThat(registers.readLong(0x1000)).isEqualTo(2);
    registers.writeInt(0x1008, 0x55);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment seen = arena.allocate(ValueLayout.JAVA_LONG);
      assertThat(linux.pread(file, seen, 0x2008)).isEqualTo(8);
      assertThat(seen.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(0x55);
    }
    assertThat(server.newCalls()).isEmpty();
    function.close();
    assertThatThrownBy(() -> registers.readInt(0)).isInstanceOf(IllegalStateException.class);
  }

  /** Often enough for the compiled code to meet the fault. */
  @ParameterizedTest
  @ValueSource(ints = {1, 50_000})
  void regionTruncatedByItsServerIsAVfioException(int times) {
    int file = file(0x4000);
    describe(MAPPABLE, 0x4000, 0, file);
    MmioRegion registers = open().region(4);
    assertThat(registers.isMapped()).isTrue();
    for (int i = 0; i < times; i++) {
      registers.writeInt(0x3008, i);
      registers.writeLong(0x3010, i);
      assertThat(registers.readInt(0x3008)).isEqualTo(i);
      assertThat(registers.readLong(0x3010)).isEqualTo(i);
    }
    assertThat(linux.ftruncate(file, 0x3000)).isZero();
    List<Runnable> accesses =
        List.of(
            () -> registers.readInt(0x3008),
            () -> registers.readLong(0x3010),
            () -> registers.writeInt(0x3008, 1),
            () -> registers.writeLong(0x3010, 1));
    for (Runnable access : accesses) {
      assertReason(Reason.CLOSED, access::run)
          .hasMessageContainingAll(server.locator(), "broke the protocol", "file of region 4");
    }
    assertThat(registers.readLong(0x1000)).as("what is left of it").isEqualTo(1);
    assertReason(Reason.CLOSED, () -> function.allocate(1));
  }

  @Test
  void areaTruncatedByItsServerIsAVfioException() {
    int file = file(0x4000);
    describe(MAPPABLE | RegionInfo.FLAG_CAPS, 0x4000, 0, file, 0x1000, 0x1000);
    MmioRegion registers = open().region(4);
    assertThat(registers.readLong(0x1000)).isEqualTo(1);
    assertThat(linux.ftruncate(file, 0)).isZero();
    assertReason(Reason.CLOSED, () -> registers.readLong(0x1000));
    assertReason(Reason.CLOSED, () -> registers.writeInt(0x1000, 1));
  }

  @Test
  void regionOutsideItsAreasIsAccessedByMessages() {
    server.registers[0x2ffc] = 0x77;
    describe(
        MAPPABLE | RegionInfo.FLAG_CAPS, 0x4000, 0, file(0x4000), 0x1000, 0x1000, 0x3000, 0x1000);
    MmioRegion registers = open().region(4);
    server.newCalls();
    assertThat(registers.isMapped()).isFalse();
    assertThat(registers.readLong(0x1000)).isEqualTo(1);
    assertThat(registers.readInt(0x3000)).isEqualTo(3);
    registers.writeLong(0x3008, 0x0102_0304_0506_0708L);
    registers.writeInt(0x3010, -2);
    assertThat(registers.readLong(0x3008)).isEqualTo(0x0102_0304_0506_0708L);
    assertThat(registers.readInt(0x3010)).isEqualTo(-2);
    registers.writeByte(0x3011, 0x12);
    registers.writeShort(0x3012, 0x3456);
    assertThat(registers.readByte(0x3011)).isEqualTo(0x12);
    assertThat(registers.readShort(0x3012)).isEqualTo(0x3456);
    assertThat(registers.readInt(0x3010)).isEqualTo(0x3456_12fe);
    assertThat(server.newCalls()).isEmpty();
    assertThat(registers.readInt(0x2ffc)).isEqualTo(0x77);
    registers.writeInt(0xffc, 1);
    assertThat(registers.readInt(0)).isZero();
    assertThat(server.newCalls())
        .containsExactly(
            "REGION_READ 4 0x2ffc 4", "REGION_WRITE 4 0xffc 4 = 0x1 posted", "REGION_READ 4 0x0 4");
  }

  @ParameterizedTest
  @CsvSource({
    "the file is shorter,     7, 0x5000, 0x0000, 0, 0",
    "the offset is odd,       7, 0x1000, 0x0800, 0, 0",
    "the offset is negative,  7, 0x1000, -0x1000, 0, 0",
    "stores are not allowed,  5, 0x1000, 0x0000, 0, 0",
    "loads are not allowed,   6, 0x1000, 0x0000, 0, 0",
    "the flag is missing,     3, 0x1000, 0x0000, 0, 0",
    "the size is no page,     7, 0x1800, 0x0000, 0, 0",
    "the area is no page,    15, 0x2000, 0x0000, 0x800, 0x800",
    "the area is empty,      15, 0x2000, 0x0000, 0, 0"
  })
  void unmappableRegionIsAccessedByMessages(
      String why, int flags, String size, String offset, String area, String length) {
    long[] areas =
        (flags & RegionInfo.FLAG_CAPS) == 0
            ? new long[0]
            : new long[] {Long.decode(area), Long.decode(length)};
    describe(flags, Long.decode(size), Long.decode(offset), file(0x4000), areas);
    MmioRegion registers = open().region(4);
    server.newCalls();
    assertThat(registers.isMapped()).as(why).isFalse();
    registers.readInt(0);
    assertThat(server.newCalls()).as(why).containsExactly("REGION_READ 4 0x0 4");
  }

  @Test
  void regionWithoutThePromisedDescriptorUsesMessages() {
    describe(MAPPABLE, 0x1000, 0, -1);
    assertThat(open().region(4).isMapped()).isFalse();
  }

  @Test
  void longerDescriptionIsRequestedAgain() {
    int file = file(0x2000);
    List<Integer> rooms = new ArrayList<>();
    FakeServer.Answer usual = server.answers.get(UserCommand.DEVICE_GET_REGION_INFO);
    server.answers.put(
        UserCommand.DEVICE_GET_REGION_INFO,
        (command, reply) -> {
          if (command.getInt(RegionInfo.INDEX) != 4) {
            return usual.make(command, reply);
          }
          int room = command.getInt(RegionInfo.ARGSZ);
          rooms.add(room);
          int needed = 5000;
          boolean fits = room >= needed;
          FakeServer.region(
              command,
              reply,
              MAPPABLE | RegionInfo.FLAG_CAPS,
              0x4000,
              0,
              fits ? needed - RegionInfo.BYTES : 0);
          reply.putInt(RegionInfo.ARGSZ, needed);
          if (fits) {
            // A capability of 8 bytes with another meaning, then the areas at the very end.
            reply.putInt(32, 3 | 1 << 16);
            reply.putInt(36, needed - 32);
            reply.putInt(needed - 32, SparseAreas.SPARSE_MMAP | 1 << 16);
            reply.putInt(needed - 28, 0);
            reply.putInt(needed - 24, 1);
            reply.putLong(needed - 16, 0x1000);
            reply.putLong(needed - 8, 0x1000);
          }
          reply.attach(file);
          return true;
        });
    MmioRegion registers = open().region(4);
    assertThat(rooms).hasSize(2);
    assertThat(rooms.get(1)).isGreaterThanOrEqualTo(5000);
    server.newCalls();
    assertThat(registers.readInt(0x1000)).isEqualTo(1);
    assertThat(server.newCalls()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "-1, 0x1000",
    "0x1000, 0x2000",
    "0x2000, 0x1",
    "0x7fffffffffffffff, 0x1000",
    "0, -0x1000"
  })
  void areaOutsideItsRegionBreaksTheProtocol(String area, String length) {
    describe(
        MAPPABLE | RegionInfo.FLAG_CAPS,
        0x2000,
        0,
        file(0x2000),
        Long.decode(area),
        Long.decode(length));
    assertReason(Reason.CLOSED, this::open)
        .hasMessageContainingAll("broke the protocol", "an area");
  }

  @Test
  void resetIsOfferedWhereTheServerHasIt() {
    assertThat(open().canReset()).isTrue();
    server.newCalls();
    function.reset();
    assertThat(server.newCalls()).containsExactly("DEVICE_RESET");
  }

  @Test
  void resetIsRefusedWhereTheServerHasNone() {
    server.deviceFlags = DeviceInfo.FLAG_PCI;
    assertThat(open().canReset()).isFalse();
    server.newCalls();
    assertReason(Reason.UNSUPPORTED, function::reset);
    assertThat(server.newCalls()).isEmpty();
  }

  @Test
  void closingOnceStopsTheDeviceAndUnmapsItsMemory() {
    open();
    long iova = function.allocate(4096).iova(0);
    function.configuration().busMaster(true);
    server.newCalls();
    function.close();
    assertThat(server.newCalls())
        .containsExactly(
            "REGION_READ 7 0x4 2",
            "REGION_WRITE 7 0x4 2 = 0x0",
            "DMA_UNMAP 0x%x+0x1000".formatted(iova));
    function.close();
    assertThat(server.newCalls()).isEmpty();
    assertReason(Reason.CLOSED, () -> function.allocate(1));
    assertReason(Reason.CLOSED, () -> function.region(0));
    assertReason(Reason.CLOSED, () -> function.configuration());
    assertReason(Reason.CLOSED, () -> function.interrupts());
    assertReason(Reason.CLOSED, () -> function.reset())
        .hasMessage(function.locator() + " is closed");
    assertThat(function.canReset()).isTrue();
    assertThat(function.dmaFaults()).isEmpty();
  }
}
