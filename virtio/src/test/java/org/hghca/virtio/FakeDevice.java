package org.hghca.virtio;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.hghca.vfio.DeviceBus;
import org.hghca.vfio.testing.StubDevice;

/**
 * A virtio device as its driver sees it, which does what a test says: its registers are bytes of
 * BAR4, laid out as QEMU does. All numbers are those of the specification, not those of the
 * driver's definitions. Each field is accessed in its own width; any other access is recorded in
 * {@link #wrongAccesses}.
 */
class FakeDevice extends StubDevice {
  static final int COMMON = 0x0000;
  static final int ISR = 0x1000;
  static final int DEVICE = 0x2000;
  static final int NOTIFY = 0x3000;

  /** Offsets and widths of the common configuration. */
  private static final Map<Integer, Integer> WIDTHS =
      Map.ofEntries(
          Map.entry(0, 4),
          Map.entry(4, 4),
          Map.entry(8, 4),
          Map.entry(12, 4),
          Map.entry(16, 2),
          Map.entry(18, 2),
          Map.entry(20, 1),
          Map.entry(21, 1),
          Map.entry(22, 2),
          Map.entry(24, 2),
          Map.entry(26, 2),
          Map.entry(28, 2),
          Map.entry(30, 2),
          Map.entry(32, 4),
          Map.entry(36, 4),
          Map.entry(40, 4),
          Map.entry(44, 4),
          Map.entry(48, 4),
          Map.entry(52, 4),
          Map.entry(58, 2));

  /** VERSION_1 and ACCESS_PLATFORM. */
  long features = 3L << 32;

  /** What the driver wrote. */
  long accepted;

  /** A device that clears FEATURES_OK. */
  boolean refusesFeatures;

  /** A device that never ends a reset, or that does not answer at all. */
  boolean hangsInReset;

  boolean gone;
  int status = 0x0f;
  int vectorsLeft = 64;
  int configVector = 0xffff;
  int interruptStatus;
  int generation;

  /** Reads of the generation that find it changed. */
  int changes;

  /** Reads of queue_reset that find it in progress. */
  int resetReadings;

  boolean canEnable = true;
  final byte[] configuration = new byte[32];
  final Queue[] queues = {new Queue(256), new Queue(256), new Queue(64), new Queue(0)};
  final List<String> wrongAccesses = new ArrayList<>();
  final List<Integer> notified = new ArrayList<>();
  private final Map<Integer, Integer> selectors = new HashMap<>();
  private DeviceBus bus;
  private int selected;

  /** Runs when a queue is notified. */
  Runnable onNotify = () -> {};

  /** The device's side of a queue. */
  static final class Queue {
    final int most;
    int size;
    int vector = 0xffff;
    int enabled;
    int resetLeft;
    int notifyOffset;
    long descriptors;
    long available;
    long used;
    int seen;
    int given;

    Queue(int most) {
      this.most = most;
      this.size = most;
    }
  }

  /** A buffer of a chain. */
  record Buffer(long address, int length, boolean writable) {}

  FakeDevice() {
    ByteBuffer space = space();
    space.putShort(0x00, (short) 0x1af4).putShort(0x02, (short) 0x1041);
    space.putShort(0x06, (short) 0x10).put(0x08, (byte) 1).put(0x34, (byte) 0x40);
    // MSI-X first: the driver must pass it by.
    space.put(0x40, (byte) 0x11).put(0x41, (byte) 0x50);
    capability(0x50, 0x60, 16, 1, 4, COMMON, 0x1000);
    capability(0x60, 0x70, 16, 3, 4, ISR, 0x1000);
    capability(0x70, 0x80, 16, 4, 4, DEVICE, 32);
    capability(0x80, 0x98, 20, 2, 4, NOTIFY, 0x1000);
    space.putInt(0x90, 4);
    capability(0x98, 0, 20, 5, 0, 0, 0);
    for (int i = 0; i < queues.length; i++) {
      queues[i].notifyOffset = i;
    }
  }

  ByteBuffer space() {
    return ByteBuffer.wrap(pci).order(ByteOrder.LITTLE_ENDIAN);
  }

  void capability(int at, int next, int bytes, int type, int bar, int offset, int length) {
    ByteBuffer space = space();
    space.put(at, (byte) 0x09).put(at + 1, (byte) next).put(at + 2, (byte) bytes);
    space.put(at + 3, (byte) type).put(at + 4, (byte) bar);
    space.putInt(at + 8, offset).putInt(at + 12, length);
  }

  boolean isBusMaster() {
    return (pci[4] & 4) != 0;
  }

  @Override
  public void attach(DeviceBus to) {
    bus = to;
  }

  @Override
  public long regionSize(int bar) {
    return bar == 4 ? 0x4000 : 0;
  }

  @Override
  public synchronized long read(int bar, long offset, int width) {
    if (gone) {
      return -1L >>> 64 - 8 * width;
    }
    if (offset >= COMMON && offset < 64) {
      check((int) offset, width);
      return readCommon((int) offset);
    }
    if (offset == ISR && width == 1) {
      int value = interruptStatus;
      interruptStatus = 0;
      return value;
    }
    if (offset >= DEVICE && offset + width <= DEVICE + 32) {
      long value = 0;
      for (int i = 0; i < width; i++) {
        value |= (configuration[(int) offset - DEVICE + i] & 0xffL) << 8 * i;
      }
      return value;
    }
    wrongAccesses.add("read %d at 0x%x".formatted(width, offset));
    return -1;
  }

  private void check(int offset, int width) {
    if (WIDTHS.getOrDefault(offset, 0) != width) {
      wrongAccesses.add("%d bytes at %d".formatted(width, offset));
    }
  }

  private long readCommon(int offset) {
    Queue queue = selected < queues.length ? queues[selected] : new Queue(0);
    return switch (offset) {
      case 4 -> features >>> 32 * selectors.getOrDefault(0, 0) & 0xffff_ffffL;
      case 16 -> configVector;
      case 18 -> queues.length;
      case 20 -> status;
      case 21 -> changes-- > 0 ? ++generation & 0xff : generation & 0xff;
      case 24 -> queue.size;
      case 26 -> queue.vector;
      case 28 -> queue.enabled;
      case 30 -> queue.notifyOffset;
      case 58 -> queue.resetLeft > 0 ? queue.resetLeft-- & 1 | 1 : 0;
      default -> 0;
    };
  }

  @Override
  public void write(int bar, long offset, int width, long value) {
    synchronized (this) {
      if (gone) {
        return;
      }
      if (offset < 64) {
        check((int) offset, width);
        writeCommon((int) offset, (int) value);
        return;
      }
      if (offset < NOTIFY || width != 2) {
        wrongAccesses.add("write %d at 0x%x".formatted(width, offset));
        return;
      }
      notified.add((int) value);
    }
    onNotify.run();
  }

  private void writeCommon(int offset, int value) {
    Queue queue = selected < queues.length ? queues[selected] : new Queue(0);
    long low = Integer.toUnsignedLong(value);
    switch (offset) {
      case 0, 8 -> selectors.put(offset, value);
      case 12 -> accepted |= low << 32 * selectors.getOrDefault(8, 0);
      case 16 -> configVector = mapped(value);
      case 20 -> writeStatus(value);
      case 22 -> selected = value;
      case 24 -> queue.size = value;
      case 26 -> queue.vector = mapped(value);
      case 28 -> queue.enabled = canEnable ? value : 0;
      case 32 -> queue.descriptors = low;
      case 36 -> queue.descriptors |= low << 32;
      case 40 -> queue.available = low;
      case 44 -> queue.available |= low << 32;
      case 48 -> queue.used = low;
      case 52 -> queue.used |= low << 32;
      case 58 -> resetQueue(queue);
      default -> wrongAccesses.add("write at %d".formatted(offset));
    }
  }

  private int mapped(int vector) {
    return vector == 0xffff || vectorsLeft-- > 0 ? vector : 0xffff;
  }

  private void writeStatus(int value) {
    if (value == 0) {
      if (!hangsInReset) {
        status = 0;
        accepted = 0;
        configVector = 0xffff;
        for (Queue queue : queues) {
          resetQueue(queue);
          queue.size = queue.most;
          queue.resetLeft = 0;
        }
      }
    } else {
      status = refusesFeatures ? value & ~8 : value;
    }
  }

  private void resetQueue(Queue queue) {
    queue.enabled = 0;
    queue.seen = 0;
    queue.given = 0;
    queue.vector = 0xffff;
    queue.resetLeft = resetReadings;
  }

  /** The next chain that the driver has made available, by its first descriptor; -1 for none. */
  int take(int index) {
    Queue queue = queues[index];
    if (queue.seen == get(queue.available + 2, 2)) {
      return -1;
    }
    int head = (int) get(queue.available + 4 + 2L * (queue.seen % queue.size), 2);
    queue.seen = queue.seen + 1 & 0xffff;
    return head;
  }

  /** The buffers of a chain. */
  List<Buffer> chain(int index, int head) {
    List<Buffer> buffers = new ArrayList<>();
    for (int id = head; ; ) {
      long at = queues[index].descriptors + 16L * id;
      long flags = get(at + 12, 2);
      buffers.add(new Buffer(get(at, 8), (int) get(at + 8, 4), (flags & 2) != 0));
      if ((flags & 1) == 0) {
        return buffers;
      }
      id = (int) get(at + 14, 2);
    }
  }

  /** Gives a chain back. */
  void use(int index, int head, int written) {
    Queue queue = queues[index];
    long at = queue.used + 4 + 8L * (queue.given % queue.size);
    put(at, 4, head);
    put(at + 4, 4, written);
    queue.given = queue.given + 1 & 0xffff;
    put(queue.used + 2, 2, queue.given);
  }

  void raise(int vector) {
    bus.raise(vector);
  }

  /** Reads memory of the driver. */
  byte[] memory(long address, int bytes) {
    byte[] values = new byte[bytes];
    if (!bus.read(address, MemorySegment.ofArray(values), 0, bytes)) {
      throw new AssertionError("no memory at 0x%x".formatted(address));
    }
    return values;
  }

  long get(long address, int width) {
    byte[] values = memory(address, width);
    long value = 0;
    for (int i = 0; i < width; i++) {
      value |= (values[i] & 0xffL) << 8 * i;
    }
    return value;
  }

  void put(long address, int width, long value) {
    MemorySegment bytes = MemorySegment.ofArray(new byte[width]);
    for (int i = 0; i < width; i++) {
      bytes.set(JAVA_BYTE, i, (byte) (value >> 8 * i));
    }
    if (!bus.write(address, bytes, 0, width)) {
      throw new AssertionError("no memory at 0x%x".formatted(address));
    }
  }
}
