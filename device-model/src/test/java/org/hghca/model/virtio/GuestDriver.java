package org.hghca.model.virtio;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.hghca.model.SoftwareHca;
import org.hghca.model.VirtioProvider;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.Locator;
import org.hghca.vfio.MmioRegion;
import org.hghca.vfio.PciFunction;

/** A minimal driver of a virtio network card, with literal offsets, that may break every rule. */
final class GuestDriver implements AutoCloseable {
  static final int QUEUE = 16;
  static final int DEVICE = 0x2000;
  static final int NOTIFY = 0x3000;
  static final int HEADER = 12;
  static final int WRITE = 2;
  static final int NEXT = 1;
  static final int INDIRECT = 4;

  /** MTU, MAC, STATUS, CTRL_VQ, CTRL_RX, CTRL_MAC_ADDR, VERSION_1, ACCESS_PLATFORM, RING_RESET. */
  static final long PLAIN = 1L << 3 | 1L << 5 | 7L << 16 | 1L << 23 | 3L << 32 | 1L << 40;

  static final long ALL = PLAIN | 1L << 28 | 1L << 29;

  static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  final PciFunction function;
  final MmioRegion registers;
  final Ring receive;
  final Ring transmit;
  final Ring control;

  GuestDriver(String locator) {
    function = new VirtioProvider().open(Locator.parse(locator));
    registers = function.region(0);
    function.configuration().busMaster(true);
    receive = new Ring(0);
    transmit = new Ring(1);
    control = new Ring(2);
  }

  SoftwareHca card() {
    return VirtioProvider.card(function.locator()).orElseThrow();
  }

  int status() {
    return registers.readByte(20);
  }

  void status(int value) {
    registers.writeByte(20, value);
  }

  long features() {
    registers.writeInt(0, 0);
    long low = Integer.toUnsignedLong(registers.readInt(4));
    registers.writeInt(0, 1);
    return Integer.toUnsignedLong(registers.readInt(4)) << 32 | low;
  }

  /** Negotiates; returns the status that follows. */
  int negotiate(long features) {
    status(0);
    status(1);
    status(3);
    registers.writeInt(8, 0);
    registers.writeInt(12, (int) features);
    registers.writeInt(8, 1);
    registers.writeInt(12, (int) (features >>> 32));
    status(11);
    return status();
  }

  /** Negotiates and starts all queues. */
  GuestDriver start(long features) {
    negotiate(features);
    receive.enable();
    transmit.enable();
    control.enable();
    status(15);
    return this;
  }

  void notifyQueue(int index) {
    registers.writeShort(NOTIFY + 4L * index, index);
  }

  /** Sends a frame, given as hexadecimal digits. */
  void send(String hex) {
    transmit.offer(transmit.buffer("00".repeat(HEADER) + hex, 0));
    transmit.kick();
  }

  /** Gives the card buffers to receive into. */
  void listen(int buffers) {
    for (int i = 0; i < buffers; i++) {
      receive.offer(receive.room(HEADER + 1518));
    }
    receive.kick();
  }

  /** The frames that were received since the last call. */
  List<String> received() {
    List<String> frames = new ArrayList<>();
    for (Used used : receive.used()) {
      String hex = receive.content(used.id, used.length);
      frames.add(hex.substring(2 * HEADER));
    }
    return frames;
  }

  /** Executes a command, given without its answer; returns the answer. */
  int command(String hex) {
    int first = control.buffer(hex, NEXT);
    int answer = control.room(1);
    control.offer(first);
    control.kick();
    Used used = control.used().getLast();
    return used.length == 1
        ? control.memory.segment().get(ValueLayout.JAVA_BYTE, control.dataAt(answer))
        : -1;
  }

  @Override
  public void close() {
    function.close();
  }

  /** What the card has given back. */
  record Used(int id, int length) {}

  /** A queue of {@link #QUEUE} entries; each descriptor has 2 KiB of data. */
  final class Ring {
    private static final int AVAILABLE = 0x400;
    private static final int USED = 0x800;
    private static final int DATA = 0x1000;
    private static final int SLOT = 2048;

    final int index;
    final DmaMapping memory = function.allocate(DATA + QUEUE * SLOT);
    private int descriptor;
    private int offered;
    private int seen;

    Ring(int index) {
      this.index = index;
    }

    void select() {
      registers.writeShort(22, index);
    }

    void place() {
      select();
      registers.writeShort(24, QUEUE);
      registers.writeShort(26, index + 1);
      address(32, memory.iova(0));
      address(40, memory.iova(AVAILABLE));
      address(48, memory.iova(USED));
    }

    void address(int offset, long iova) {
      registers.writeInt(offset, (int) iova);
      registers.writeInt(offset + 4, (int) (iova >>> 32));
    }

    void enable() {
      place();
      registers.writeShort(28, 1);
    }

    void clear() {
      memory.segment().fill((byte) 0);
      descriptor = 0;
      offered = 0;
      seen = 0;
    }

    long dataAt(int slot) {
      return DATA + (long) slot * SLOT;
    }

    long iova(int slot) {
      return memory.iova(dataAt(slot));
    }

    /** Fills the next descriptor, which reads these bytes; returns its index. */
    int buffer(String hex, int flags) {
      byte[] bytes = HexFormat.of().parseHex(hex);
      int slot = descriptor++ % QUEUE;
      MemorySegment.copy(
          bytes, 0, memory.segment(), ValueLayout.JAVA_BYTE, dataAt(slot), bytes.length);
      describe(slot, iova(slot), bytes.length, flags, (slot + 1) % QUEUE);
      return slot;
    }

    /** Fills the next descriptor with room to write. */
    int room(int length) {
      return room(length, 0);
    }

    int room(int length, int flags) {
      int slot = descriptor++ % QUEUE;
      describe(slot, iova(slot), length, WRITE | flags, (slot + 1) % QUEUE);
      return slot;
    }

    void describe(int slot, long address, int length, int flags, int next) {
      describe(16L * slot, address, length, flags, next, memory.segment());
    }

    void describe(long at, long address, int length, int flags, int next, MemorySegment in) {
      in.set(LONG, at, address);
      in.set(INT, at + 8, length);
      in.set(SHORT, at + 12, (short) flags);
      in.set(SHORT, at + 14, (short) next);
    }

    void offer(int head) {
      memory.segment().set(SHORT, AVAILABLE + 4 + 2L * (offered % QUEUE), (short) head);
      offered++;
      availableIndex(offered);
    }

    void availableIndex(int value) {
      memory.segment().set(SHORT, AVAILABLE + 2, (short) value);
    }

    void availableFlags(int value) {
      memory.segment().set(SHORT, AVAILABLE, (short) value);
    }

    void usedEvent(int value) {
      memory.segment().set(SHORT, AVAILABLE + 4 + 2L * QUEUE, (short) value);
    }

    int availableEvent() {
      return memory.segment().get(SHORT, USED + 4 + 8L * QUEUE) & 0xffff;
    }

    int usedIndex() {
      return memory.segment().get(SHORT, USED + 2) & 0xffff;
    }

    void kick() {
      notifyQueue(index);
    }

    List<Used> used() {
      List<Used> result = new ArrayList<>();
      for (; seen != usedIndex(); seen = seen + 1 & 0xffff) {
        long at = USED + 4 + 8L * (seen % QUEUE);
        result.add(new Used(memory.segment().get(INT, at), memory.segment().get(INT, at + 4)));
      }
      return result;
    }

    String content(int slot, int length) {
      byte[] bytes = new byte[length];
      MemorySegment.copy(memory.segment(), ValueLayout.JAVA_BYTE, dataAt(slot), bytes, 0, length);
      return HexFormat.of().formatHex(bytes);
    }
  }
}
