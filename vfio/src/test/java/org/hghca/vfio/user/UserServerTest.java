package org.hghca.vfio.user;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.hghca.linux.LinuxErrno;
import org.hghca.vfio.user.UserStructures.DeviceInfo;
import org.hghca.vfio.user.UserStructures.DmaMap;
import org.hghca.vfio.user.UserStructures.DmaUnmap;
import org.hghca.vfio.user.UserStructures.IrqInfo;
import org.hghca.vfio.user.UserStructures.IrqSet;
import org.hghca.vfio.user.UserStructures.RegionAccess;
import org.hghca.vfio.user.UserStructures.RegionInfo;
import org.hghca.vfio.user.UserStructures.WriteMulti;
import org.junit.jupiter.api.Test;

/** The server's answers, by the protocol description and {@code linux/vfio.h}. */
final class UserServerTest extends WithServer {
  private static final int EINVAL = LinuxErrno.EINVAL.number();
  private static final int EOPNOTSUPP = LinuxErrno.EOPNOTSUPP.number();
  private static final int TRIGGER = IrqSet.ACTION_TRIGGER;

  @Test
  void versionIsTheOneThatWasOffered() {
    client.close();
    try (RawClient other = RawClient.connect(served.path)) {
      assertThat(other.read(7, 0, 4)).as("before the version").isEqualTo(EINVAL);
      // QEMU's message.
      assertThat(
              other.greet(
                  "{\"capabilities\": {\"pgsizes\": 4096, \"max_msg_fds\": 16, \"max_dma_maps\":"
                      + " 65535, \"max_data_xfer_size\": 1048576, \"migration\":"
                      + " {\"max_bitmap_size\": 268435456, \"pgsize\": 4096}}}"))
          .isZero();
      assertThat(other.in.getInt(0)).as("0.0").isZero();
      assertThat(other.text())
          .startsWith("{\"capabilities\":{")
          .contains("\"max_msg_fds\":", "\"max_data_xfer_size\":1048576", "\"pgsizes\":4096")
          .doesNotContain("write_multiple")
          .endsWith("}}\0");
      assertThat(other.greet("{}")).as("a second time").isEqualTo(EINVAL);
    }
    try (RawClient bare = RawClient.connect(served.path)) {
      bare.begin(UserCommand.VERSION, 4);
      assertThat(bare.call()).isZero();
    }
    try (RawClient other = RawClient.connect(served.path)) {
      other.begin(UserCommand.VERSION, 4);
      other.out.putShort(0, 1);
      assertThat(other.call()).isEqualTo(EINVAL);
      assertThat(other.greet("{}")).as("after a version that cannot be").isZero();
    }
  }

  @Test
  void deviceIsAPciFunctionWithReset() {
    client.begin(UserCommand.DEVICE_GET_INFO, DeviceInfo.BYTES);
    assertThat(client.call()).as("argsz 0").isEqualTo(EINVAL);
    client.out.command(5, UserCommand.DEVICE_GET_INFO, 0, DeviceInfo.BYTES);
    client.out.putInt(DeviceInfo.ARGSZ, DeviceInfo.BYTES);
    assertThat(client.call()).isZero();
    assertThat(client.in.payloadBytes()).isEqualTo(16);
    assertThat(client.in.getInt(DeviceInfo.FLAGS)).isEqualTo(3);
    assertThat(client.in.getInt(DeviceInfo.REGIONS)).isEqualTo(9);
    assertThat(client.in.getInt(DeviceInfo.INTERRUPTS)).isEqualTo(5);
    client.begin(UserCommand.DEVICE_RESET, 0);
    assertThat(client.call()).isZero();
    assertThat(served.device.calls).containsExactly("reset");
    served.device.canReset = false;
    assertThat(client.call()).isEqualTo(EOPNOTSUPP);
  }

  @Test
  void regionsAreNeverMappable() {
    for (int region = 0; region < 9; region++) {
      client.begin(UserCommand.DEVICE_GET_REGION_INFO, RegionInfo.BYTES);
      client.out.putInt(RegionInfo.ARGSZ, 4096);
      client.out.putInt(RegionInfo.INDEX, region);
      assertThat(client.call()).isZero();
      assertThat(client.in.descriptors()).isZero();
      long size =
          switch (region) {
            case 0, 7 -> 0x1000;
            case 2 -> 0x1_0000;
            default -> 0;
          };
      assertThat(client.in.getInt(RegionInfo.ARGSZ)).isEqualTo(32);
      assertThat(client.in.getInt(RegionInfo.INDEX)).isEqualTo(region);
      assertThat(client.in.getLong(RegionInfo.LENGTH)).isEqualTo(size);
      assertThat(client.in.getInt(RegionInfo.FLAGS)).isEqualTo(size == 0 ? 0 : 3);
    }
    client.out.putInt(RegionInfo.INDEX, 9);
    assertThat(client.call()).isEqualTo(EINVAL);
  }

  @Test
  void regionsHaveNoEventsForStores() {
    for (int region : new int[] {0, 2, 7}) {
      assertThat(regionEvents(16, 0, region, 0)).isZero();
      assertThat(client.in.descriptors()).isZero();
      assertThat(client.in.payloadBytes()).isEqualTo(16);
      assertThat(client.in.getInt(0)).as("argsz").isEqualTo(16);
      assertThat(client.in.getInt(4)).as("flags").isZero();
      assertThat(client.in.getInt(8)).as("index").isEqualTo(region);
      assertThat(client.in.getInt(12)).as("count").isZero();
    }
    assertThat(regionEvents(4096, 0, 0, 0)).isZero();
    assertThat(client.in.getInt(0)).isEqualTo(16);
    assertThat(regionEvents(15, 0, 0, 0)).isEqualTo(EINVAL);
    assertThat(regionEvents((1 << 20) + 1, 0, 0, 0)).isEqualTo(EINVAL);
    assertThat(regionEvents(16, 1, 0, 0)).isEqualTo(EINVAL);
    assertThat(regionEvents(16, 0, 0, 1)).isEqualTo(EINVAL);
    assertThat(regionEvents(16, 0, 1, 0)).as("no such region").isEqualTo(EINVAL);
    assertThat(regionEvents(16, 0, 9, 0)).isEqualTo(EINVAL);
    assertThat(regionEvents(16, 0, -1, 0)).isEqualTo(EINVAL);
    client.begin(UserCommand.DEVICE_GET_REGION_IO_FDS, 15);
    assertThat(client.call()).isEqualTo(EINVAL);
  }

  private int regionEvents(int room, int flags, int region, int count) {
    client.begin(UserCommand.DEVICE_GET_REGION_IO_FDS, 16);
    client.out.putInt(0, room);
    client.out.putInt(4, flags);
    client.out.putInt(8, region);
    client.out.putInt(12, count);
    return client.call();
  }

  @Test
  void unsupportedCommandsAreRefused() {
    for (UserCommand command :
        new UserCommand[] {
          UserCommand.DIRTY_PAGES,
          UserCommand.DEVICE_FEATURE,
          UserCommand.MIGRATION_DATA_READ,
          UserCommand.MIGRATION_DATA_WRITE,
          UserCommand.DMA_READ,
          UserCommand.DMA_WRITE
        }) {
      client.begin(command, 16);
      assertThat(client.call()).as(command.name()).isEqualTo(EOPNOTSUPP);
    }
  }

  @Test
  void registersAreAccessedAsTheClientDid() {
    for (int width = 1; width <= 8; width *= 2) {
      assertThat(client.write(0, 8L * width, width, 0x8877_6655_4433_2211L)).isZero();
      assertThat(client.in.payloadBytes()).isEqualTo(16);
      assertThat(client.in.getInt(RegionAccess.COUNT)).isEqualTo(width);
      assertThat(client.read(0, 8L * width, width)).isZero();
      assertThat(client.in.payloadBytes()).isEqualTo(16 + width);
      assertThat(client.in.getLong(RegionAccess.OFFSET)).isEqualTo(8L * width);
      for (int i = 0; i < width; i++) {
        assertThat(client.in.getByte(16 + i)).isEqualTo(byteOf(width, i));
      }
    }
    assertThat(served.device.calls)
        .containsExactly(
            "write BAR0 0x8 1 0x11",
            "read BAR0 0x8 1",
            "write BAR0 0x10 2 0x2211",
            "read BAR0 0x10 2",
            "write BAR0 0x20 4 0x44332211",
            "read BAR0 0x20 4",
            "write BAR0 0x40 8 0x8877665544332211",
            "read BAR0 0x40 8");
    served.device.calls.clear();
    int[][] wrong = {
      {0, 0x1000, 4},
      {0, 0xffc, 8},
      {0, 0xffd, 4},
      {2, 0, 0x1_0001},
      {0, 0, -1},
      {1, 0, 4},
      {6, 0, 4},
      {8, 0, 4},
      {9, 0, 4},
      {-1, 0, 4},
      {0, -8, 8}
    };
    for (int[] access : wrong) {
      assertThat(client.read(access[0], access[1], access[2])).isEqualTo(EINVAL);
      int data = Math.max(0, access[2]);
      client.beginAccess(UserCommand.REGION_WRITE, access[0], access[1], access[2], data);
      assertThat(client.call()).isEqualTo(EINVAL);
    }
    int[][] noStores = {{0, 3}, {0, 16}, {2, 4}, {4, 8}, {1, 2}};
    for (int[] access : noStores) {
      client.beginAccess(UserCommand.REGION_WRITE, 0, access[0], access[1], access[1]);
      assertThat(client.call()).isEqualTo(EINVAL);
    }
    client.beginAccess(UserCommand.REGION_WRITE, 0, 0, 4, 8);
    assertThat(client.call()).as("more data than count").isEqualTo(EINVAL);
    client.beginAccess(UserCommand.REGION_WRITE, 0, 0, 8, 4);
    assertThat(client.call()).as("less data than count").isEqualTo(EINVAL);
    assertThat(served.device.calls).isEmpty();
  }

  @Test
  void readsOfAnyLengthAreNaturalAccesses() {
    assertThat(client.read(0, 3, 22)).isZero();
    assertThat(client.in.payloadBytes()).isEqualTo(16 + 22);
    assertThat(client.in.getInt(RegionAccess.COUNT)).isEqualTo(22);
    assertThat(served.device.calls)
        .containsExactly(
            "read BAR0 0x3 1",
            "read BAR0 0x4 4",
            "read BAR0 0x8 8",
            "read BAR0 0x10 8",
            "read BAR0 0x18 1");
    int[] widths = {1, 4, 8, 8, 1};
    int at = 16;
    for (int width : widths) {
      for (int i = 0; i < width; i++) {
        assertThat(client.in.getByte(at++)).isEqualTo(byteOf(width, i));
      }
    }
    served.device.calls.clear();
    assertThat(client.read(2, 0, 0x1_0000)).as("all of it").isZero();
    assertThat(client.in.payloadBytes()).isEqualTo(16 + 0x1_0000);
    assertThat(served.device.calls).hasSize(0x2000);
    served.device.calls.clear();
    assertThat(client.read(0, 0x1000, 0)).as("nothing").isZero();
    assertThat(client.in.getInt(RegionAccess.COUNT)).isZero();
    client.beginAccess(UserCommand.REGION_WRITE, 0, 0, 0, 0);
    assertThat(client.call()).isZero();
    assertThat(served.device.calls).isEmpty();
  }

  /** A byte of the device's read value: the high end of 0x1122334455667788. */
  private static int byteOf(int width, int index) {
    return (int) (0x1122_3344_5566_7788L >>> 64 - 8 * width + 8 * index) & 0xff;
  }

  @Test
  void configurationSpaceIsAccessedInAnyLength() {
    for (int i = 0; i < 4096; i++) {
      served.device.configuration[i] = (byte) (i * 7);
    }
    assertThat(client.read(7, 0, 4096)).isZero();
    for (int i = 0; i < 4096; i++) {
      assertThat(client.in.getByte(16 + i)).isEqualTo(i * 7 & 0xff);
    }
    assertThat(client.read(7, 3, 6)).isZero();
    assertThat(client.in.getByte(16)).isEqualTo(21);
    client.beginAccess(UserCommand.REGION_WRITE, 7, 0x41, 7, 7);
    for (int i = 0; i < 7; i++) {
      client.out.putByte(RegionAccess.DATA + i, 0xa0 + i);
    }
    assertThat(client.call()).isZero();
    assertThat(served.device.calls)
        .containsExactly(
            "write configuration 0x41 1 0xa0",
            "write configuration 0x42 2 0xa2a1",
            "write configuration 0x44 4 0xa6a5a4a3");
    assertThat(client.read(7, 0, 4097)).isEqualTo(EINVAL);
    assertThat(client.read(7, 4096, 1)).isEqualTo(EINVAL);
  }

  @Test
  void writesWithoutReplyKeepTheirOrder() {
    for (int i = 0; i < 1000; i++) {
      client.beginWrite(0, 8, 8, i);
      client.post();
    }
    client.beginWrite(0, 3, 8, 0);
    client.post(); // refused, without a reply
    assertThat(client.read(0, 0, 4)).isZero();
    assertThat(served.device.calls)
        .containsExactlyElementsOf(
            IntStream.rangeClosed(0, 1000)
                .mapToObj(i -> i == 1000 ? "read BAR0 0x0 4" : "write BAR0 0x8 8 0x%x".formatted(i))
                .toList());
  }

  @Test
  void manyWritesInOneMessageAreDoneInOrder() {
    client.begin(UserCommand.REGION_WRITE_MULTI, WriteMulti.WRITES + 3 * WriteMulti.WRITE_BYTES);
    client.out.putLong(WriteMulti.COUNT, 3);
    for (int i = 0; i < 3; i++) {
      int at = WriteMulti.WRITES + i * WriteMulti.WRITE_BYTES;
      client.out.putLong(at + RegionAccess.OFFSET, 8L * i);
      client.out.putInt(at + RegionAccess.COUNT, 4);
      client.out.putLong(at + RegionAccess.DATA, 0x10 + i);
    }
    assertThat(client.call()).isZero();
    assertThat(client.in.getLong(WriteMulti.COUNT)).isEqualTo(3);
    assertThat(served.device.calls)
        .containsExactly(
            "write BAR0 0x0 4 0x10", "write BAR0 0x8 4 0x11", "write BAR0 0x10 4 0x12");
    client.out.putLong(WriteMulti.COUNT, 4);
    assertThat(client.call()).isEqualTo(EINVAL);
  }

  @Test
  void onlyMsixHasInterrupts() {
    for (int index = 0; index < 5; index++) {
      client.begin(UserCommand.DEVICE_GET_IRQ_INFO, IrqInfo.BYTES);
      client.out.putInt(IrqInfo.ARGSZ, IrqInfo.BYTES);
      client.out.putInt(IrqInfo.INDEX, index);
      assertThat(client.call()).isZero();
      assertThat(client.in.getInt(IrqInfo.INDEX)).isEqualTo(index);
      assertThat(client.in.getInt(IrqInfo.COUNT)).isEqualTo(index == 2 ? ServedDevice.VECTORS : 0);
      assertThat(client.in.getInt(IrqInfo.FLAGS) & 1).isEqualTo(index == 2 ? 1 : 0);
    }
    client.out.putInt(IrqInfo.INDEX, 5);
    assertThat(client.call()).isEqualTo(EINVAL);
  }

  @Test
  void memoryOfAClientMayHaveToBeWaitedFor() {
    assertThat(served.device.bus().mayWait()).as("nothing is mapped").isFalse();
    int file = client.memory(4096);
    assertThat(client.map(0x1000, 4096, file, 0)).isZero();
    assertThat(served.device.bus().mayWait()).as("memory in a file").isFalse();
    assertThat(client.map(0x3000, 4096, -1, 0)).isZero();
    assertThat(served.device.bus().mayWait()).as("memory without a file").isTrue();
    assertThat(client.unmap(0x1000, 4096, 0)).isZero();
    assertThat(served.device.bus().mayWait()).isTrue();
    assertThat(client.unmap(0, 0, DmaUnmap.FLAG_ALL)).isZero();
    assertThat(served.device.bus().mayWait()).as("it is gone").isFalse();
    client.linux.close(file);
  }

  @Test
  void vectorsSignalTheirEvents() {
    int one = client.event();
    int two = client.event();
    assertThat(client.setInterrupts(2, IrqSet.DATA_EVENTFD | TRIGGER, 3, 2, one, two)).isZero();
    served.device.bus().raise(3);
    assertThat(client.count(one)).isEqualTo(1);
    assertThat(client.count(two)).isZero();
    served.device.bus().raise(2);
    served.device.bus().raise(ServedDevice.VECTORS);
    served.device.bus().raise(-1);
    // The client may trigger one itself.
    assertThat(client.setInterrupts(2, IrqSet.DATA_NONE | TRIGGER, 4, 1)).isZero();
    assertThat(client.count(two)).isEqualTo(1);
    client.begin(UserCommand.DEVICE_SET_IRQS, IrqSet.DATA + 2);
    client.out.putInt(IrqSet.ARGSZ, IrqSet.DATA + 2);
    client.out.putInt(IrqSet.FLAGS, IrqSet.DATA_BOOL | TRIGGER);
    client.out.putInt(IrqSet.INDEX, 2);
    client.out.putInt(IrqSet.START, 3);
    client.out.putInt(IrqSet.COUNT, 2);
    client.out.putByte(IrqSet.DATA + 1, 1);
    assertThat(client.call()).isZero();
    assertThat(client.count(one)).isZero();
    assertThat(client.count(two)).isEqualTo(1);
    // A vector without an event is ignored.
    assertThat(client.setInterrupts(2, IrqSet.DATA_EVENTFD | TRIGGER, 3, 1)).isZero();
    served.device.bus().raise(3);
    served.device.bus().raise(4);
    assertThat(client.count(one)).isZero();
    assertThat(client.count(two)).isEqualTo(1);
    assertThat(client.setInterrupts(2, IrqSet.DATA_NONE | TRIGGER, 0, 0)).isZero();
    served.device.bus().raise(4);
    assertThat(client.count(two)).isZero();
    client.linux.close(one);
    client.linux.close(two);
  }

  @Test
  void maskedVectorRecordsThatItWasRaised() {
    int event = client.event();
    assertThat(client.setInterrupts(2, IrqSet.DATA_EVENTFD | TRIGGER, 0, 1, event)).isZero();
    assertThat(client.setInterrupts(2, IrqSet.DATA_NONE | IrqSet.ACTION_MASK, 0, 1)).isZero();
    served.device.bus().raise(0);
    served.device.bus().raise(0);
    assertThat(client.count(event)).isZero();
    assertThat(client.setInterrupts(2, IrqSet.DATA_NONE | IrqSet.ACTION_UNMASK, 0, 1)).isZero();
    assertThat(client.count(event)).isEqualTo(1);
    assertThat(client.setInterrupts(2, IrqSet.DATA_NONE | IrqSet.ACTION_UNMASK, 0, 1)).isZero();
    assertThat(client.count(event)).isZero();
    client.linux.close(event);
  }

  @Test
  void fullEventBlocksNoThread() {
    int event = client.linux.eventfd(0, 0); // one whose writer waits for room
    assertThat(client.setInterrupts(2, IrqSet.DATA_EVENTFD | TRIGGER, 0, 1, event)).isZero();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment most = arena.allocate(8, 8);
      most.set(ValueLayout.JAVA_LONG, 0, -2);
      assertThat(client.linux.write(event, most)).isEqualTo(8);
    }
    served.device.bus().raise(0);
    assertThat(client.count(event)).isEqualTo(-2);
    served.device.bus().raise(0);
    assertThat(client.count(event)).isEqualTo(1);
    client.linux.close(event);
  }

  @Test
  void eventThatBecomesBlockingBlocksNoThread() {
    int event = client.event();
    assertThat(client.setInterrupts(2, IrqSet.DATA_EVENTFD | TRIGGER, 0, 1, event)).isZero();
    assertThat(client.linux.fcntl(event, 4, 0)).as("F_SETFL: it waits for room now").isZero();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment most = arena.allocate(8, 8);
      most.set(ValueLayout.JAVA_LONG, 0, -2);
      assertThat(client.linux.write(event, most)).isEqualTo(8);
    }
    assertThat(CompletableFuture.runAsync(() -> served.device.bus().raise(0)))
        .succeedsWithin(Duration.ofSeconds(30));
    assertThat(client.count(event)).isEqualTo(-2);
    client.linux.close(event);
  }

  /** As in the reference: the client decides which file gets the 8 bytes. */
  @Test
  void eventMayBeAnyFileThatTakesEightBytes() {
    int file = client.memory(0);
    assertThat(client.setInterrupts(2, IrqSet.DATA_EVENTFD | TRIGGER, 5, 1, file)).isZero();
    served.device.bus().raise(5);
    assertThat(client.get(file, 0)).isEqualTo(1);
    int folder = client.linux.open(directory.toString(), 0);
    assertThat(client.setInterrupts(2, IrqSet.DATA_EVENTFD | TRIGGER, 5, 1, folder)).isZero();
    served.device.bus().raise(5);
    assertThat(client.read(7, 0, 4)).as("the server still replies").isZero();
    client.linux.close(folder);
    client.linux.close(file);
  }

  @Test
  void structuresHaveTheirLength() {
    client.begin(UserCommand.DEVICE_SET_IRQS, IrqSet.DATA);
    client.out.putInt(IrqSet.ARGSZ, IrqSet.DATA - 1);
    client.out.putInt(IrqSet.FLAGS, IrqSet.DATA_NONE | TRIGGER);
    client.out.putInt(IrqSet.INDEX, 2);
    client.out.putInt(IrqSet.COUNT, 1);
    assertThat(client.call()).isEqualTo(EINVAL);
    client.out.command(7, UserCommand.DEVICE_SET_IRQS, 0, IrqSet.DATA);
    client.out.putInt(IrqSet.ARGSZ, IrqSet.DATA);
    assertThat(client.call()).isZero();
    client.beginMap(0x1_0000, 4096, 0, 3);
    client.out.putInt(DmaMap.ARGSZ, DmaMap.BYTES - 1);
    assertThat(client.call()).isEqualTo(EINVAL);
    client.out.command(8, UserCommand.DMA_MAP, 0, DmaMap.BYTES);
    client.out.putInt(DmaMap.ARGSZ, DmaMap.BYTES);
    assertThat(client.call()).isZero();
    for (int room : new int[] {DmaUnmap.BYTES - 1, (1 << 20) + 1, DmaUnmap.BYTES}) {
      client.begin(UserCommand.DMA_UNMAP, DmaUnmap.BYTES);
      client.out.putInt(DmaUnmap.ARGSZ, room);
      client.out.putLong(DmaUnmap.ADDRESS, 0x1_0000);
      client.out.putLong(DmaUnmap.LENGTH, 4096);
      assertThat(client.call()).isEqualTo(room == DmaUnmap.BYTES ? 0 : EINVAL);
    }
  }

  @Test
  void booleansMatchTheNumberOfVectors() {
    for (int bytes : new int[] {0, 1, 2, 3, 4}) {
      client.begin(UserCommand.DEVICE_SET_IRQS, IrqSet.DATA + bytes);
      client.out.putInt(IrqSet.ARGSZ, IrqSet.DATA + bytes);
      client.out.putInt(IrqSet.FLAGS, IrqSet.DATA_BOOL | TRIGGER);
      client.out.putInt(IrqSet.INDEX, 2);
      client.out.putInt(IrqSet.COUNT, 2);
      assertThat(client.call()).as("%d", bytes).isEqualTo(bytes == 2 ? 0 : EINVAL);
    }
  }

  @Test
  void impossibleInterruptsAreRefused() {
    int event = client.event();
    int events = IrqSet.DATA_EVENTFD | TRIGGER;
    int most = ServedDevice.VECTORS;
    assertThat(client.setInterrupts(2, events, most, 1, event)).isEqualTo(EINVAL);
    assertThat(client.setInterrupts(2, events, most - 1, 2, event, event)).isEqualTo(EINVAL);
    assertThat(client.setInterrupts(2, events, -1, 2, event, event)).isEqualTo(EINVAL);
    assertThat(client.setInterrupts(2, events, 0, -1, event)).isEqualTo(EINVAL);
    assertThat(client.setInterrupts(2, events, 0, 2, event)).as("too few").isEqualTo(EINVAL);
    assertThat(client.setInterrupts(2, events, 0, 1, event, event)).as("many").isEqualTo(EINVAL);
    assertThat(client.setInterrupts(2, events, 0, 0)).isEqualTo(EINVAL);
    assertThat(client.setInterrupts(0, events, 0, 1, event)).isEqualTo(EINVAL);
    assertThat(client.setInterrupts(5, events, 0, 1, event)).isEqualTo(EINVAL);
    assertThat(client.setInterrupts(2, IrqSet.DATA_NONE | TRIGGER, 0, 1, event)).isEqualTo(EINVAL);
    assertThat(client.setInterrupts(2, IrqSet.DATA_BOOL | TRIGGER, 0, 4)).isEqualTo(EINVAL);
    assertThat(client.setInterrupts(2, IrqSet.DATA_EVENTFD | IrqSet.ACTION_MASK, 0, 1, event))
        .isEqualTo(EINVAL);
    assertThat(client.setInterrupts(2, 0, 0, 1)).isEqualTo(EINVAL);
    assertThat(client.setInterrupts(2, TRIGGER, 0, 1)).isEqualTo(EINVAL);
    assertThat(client.setInterrupts(2, -1, 0, 1)).isEqualTo(EINVAL);
    assertThat(client.setInterrupts(0, IrqSet.DATA_NONE | TRIGGER, 0, 0)).isEqualTo(EINVAL);
    client.linux.close(event);
  }
}
