package org.hghca.virtio.driver;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Function;
import org.hghca.vfio.DeviceBus;
import org.hghca.vfio.testing.StubDevice;

/**
 * A virtio-net device with RoCE queues that says and does what a test tells it, by numbers of the
 * specifications and not by those of the driver's definitions. It answers commands of the control
 * queue at once; requests wait until a test takes them and completes them.
 *
 * <p>4 completion queues and 4 queue pairs; virtqueues: 2 of Ethernet, control 2, completions 3 to
 * 6, then send and receive of each queue pair from 7 on.
 */
final class ScriptedDevice extends StubDevice {
  static final int CONTROL = 2;
  static final int FIRST_CQ = 3;
  static final int FIRST_SQ = 7;
  static final int FIRST_RQ = 8;

  private static final int NOTIFY = 0x3000;
  private static final int DEVICE = 0x2000;
  private static final int ISR = 0x1000;
  private static final int NO_ANSWER = -1;

  /** ROCE, ACCESS_PLATFORM, VERSION_1, CTRL_VQ, STATUS, MAC, MTU. */
  long features = 1L << 55 | 3L << 32 | 1 << 17 | 1 << 16 | 1 << 5 | 1 << 3;

  long accepted;
  int status = 0x0f;
  int queueCount = 15;
  int generation;

  /** Whether work queues and completion queues want notifications. */
  boolean wantsKicks = true;

  final ByteBuffer configuration = ByteBuffer.allocate(32).order(ByteOrder.LITTLE_ENDIAN);

  /** Every command in hexadecimal: class, command, data. */
  final List<String> commands = new CopyOnWriteArrayList<>();

  /** Queues that were notified, but the control queue. */
  final List<Integer> notified = new CopyOnWriteArrayList<>();

  private final Map<Integer, Function<byte[], byte[]>> answers = new HashMap<>();
  private final Map<Integer, Queue> queues = new HashMap<>();
  private final int[] selectors = new int[2];
  private int selected;
  private DeviceBus bus;

  private static final class Queue {
    int size = 256;
    int vector = 0xffff;
    int enabled;
    final long[] addresses = new long[3];
    int seen;
    int given;
  }

  ScriptedDevice() {
    ByteBuffer space = ByteBuffer.wrap(pci).order(ByteOrder.LITTLE_ENDIAN);
    space.putShort(0x00, (short) 0x1af4).putShort(0x02, (short) 0x1041);
    space.putShort(0x06, (short) 0x10).put(0x08, (byte) 1).put(0x34, (byte) 0x50);
    capability(space, 0x50, 0x60, 1, 0, 0x1000);
    capability(space, 0x60, 0x70, 3, ISR, 0x1000);
    capability(space, 0x70, 0x80, 4, DEVICE, 32);
    capability(space, 0x80, 0, 2, NOTIFY, 0x1000);
    space.putInt(0x90, 4);
    configuration.put(0, HexFormat.of().parseHex("02000000000a"));
    configuration.putShort(6, (short) 1).putShort(8, (short) 1).putShort(10, (short) 1500);
    configuration.putInt(24, 4).putInt(28, 4);
    answer(0, "00".repeat(128), ScriptedDevice::limits);
    answer(1, data -> bytes(32).putInt(0, 16).putInt(4, 0x80_0000).array());
    answer(2, data -> number(0));
    answer(4, data -> number(5));
    answer(7, data -> bytes(12).putInt(0, 3).putInt(4, 0x345).putInt(8, 0x346).array());
    answer(9, data -> number(2));
    answer(13, data -> number(6));
    for (int command : new int[] {3, 5, 8, 10, 12, 14, 15, 16, 17}) {
      answer(command, data -> new byte[0]);
    }
    answer(11, data -> new byte[120]);
  }

  private static void capability(
      ByteBuffer space, int at, int next, int type, int offset, int length) {
    space.put(at, (byte) 9).put(at + 1, (byte) next).put(at + 2, (byte) (type == 2 ? 20 : 16));
    space.put(at + 3, (byte) type).put(at + 4, (byte) 4);
    space.putInt(at + 8, offset).putInt(at + 12, length);
  }

  private static void limits(ByteBuffer limits) {
    limits.putLong(8, -1).putLong(16, 0xffff_f000L).putInt(24, 7).putInt(28, 128).putInt(32, 8);
    limits.putInt(36, 4).putInt(40, 8).putInt(44, 64).putInt(48, 100).putInt(52, 50);
    limits.putInt(56, 16).putInt(60, 8).putInt(64, 20).put(68, (byte) 15);
  }

  static ByteBuffer bytes(int size) {
    return ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
  }

  static byte[] number(int value) {
    return bytes(4).putInt(0, value).array();
  }

  /**
   * Sets the answer of a command.
   *
   * @param script returns what follows the result, or null to refuse
   */
  void answer(int command, Function<byte[], byte[]> script) {
    answers.put(command, script);
  }

  private void answer(int command, String zeros, Consumer<ByteBuffer> script) {
    answer(
        command,
        data -> {
          ByteBuffer answer =
              ByteBuffer.wrap(HexFormat.of().parseHex(zeros)).order(ByteOrder.LITTLE_ENDIAN);
          script.accept(answer);
          return answer.array();
        });
  }

  /** The commands of a number, their data in hexadecimal. */
  List<String> commands(int number) {
    String prefix = "06%02x".formatted(number);
    return commands.stream()
        .filter(command -> command.startsWith(prefix))
        .map(command -> command.substring(prefix.length()))
        .toList();
  }

  // ---- queues

  private Queue queue(int index) {
    return queues.computeIfAbsent(index, i -> new Queue());
  }

  /** Whether the driver has enabled a virtqueue. */
  boolean isEnabled(int index) {
    return queue(index).enabled == 1;
  }

  /** What the device does with a virtqueue when the object is destroyed to which it belongs. */
  void rewind(int index) {
    queue(index).seen = 0;
    queue(index).given = 0;
  }

  /** Number of buffers that the driver has made available and the device has not taken. */
  int available(int index) {
    Queue queue = queue(index);
    return (int) get(queue.addresses[1] + 2, 2) - queue.seen & 0xffff;
  }

  /** Takes the request that is next in a work queue, which has one buffer. */
  byte[] take(int index) {
    Queue queue = queue(index);
    if (available(index) == 0) {
      throw new AssertionError("queue %d has no request".formatted(index));
    }
    long at = queue.addresses[0] + 16 * head(queue);
    queue.seen++;
    return memory(get(at, 8), (int) get(at + 8, 4));
  }

  private long head(Queue queue) {
    return get(queue.addresses[1] + 4 + 2L * (queue.seen % queue.size), 2);
  }

  /** Gives the oldest taken request of a work queue back. */
  void use(int index) {
    Queue queue = queue(index);
    long head = get(queue.addresses[1] + 4 + 2L * (queue.given % queue.size), 2);
    put(queue.addresses[2] + 4 + 8L * (queue.given % queue.size), 4, head);
    put(queue.addresses[2] + 8 + 8L * (queue.given % queue.size), 4, 0);
    queue.given++;
    put(queue.addresses[2] + 2, 2, queue.given & 0xffff);
  }

  /** Writes an entry of 48 bytes into a completion queue. */
  void complete(int cqn, byte[] entry) {
    Queue queue = queue(FIRST_CQ + cqn);
    if (available(FIRST_CQ + cqn) == 0) {
      throw new AssertionError("completion queue %d has no buffer".formatted(cqn));
    }
    long head = head(queue);
    queue.seen++;
    write(get(queue.addresses[0] + 16 * head, 8), entry);
    long used = queue.addresses[2] + 4 + 8L * (queue.given % queue.size);
    put(used, 4, head);
    put(used + 4, 4, entry.length);
    queue.given++;
    put(queue.addresses[2] + 2, 2, queue.given & 0xffff);
  }

  /** Whether a virtqueue has memory. */
  boolean isUsable(int index) {
    return queue(index).addresses[2] != 0;
  }

  /** Says that it has used so many chains more than it has. */
  void advance(int index, int chains) {
    if (isUsable(index)) {
      queue(index).given += chains;
      put(queue(index).addresses[2] + 2, 2, queue(index).given & 0xffff);
    }
  }

  /** Writes something somewhere into the memory of a virtqueue. */
  void scribble(int index, Random random) {
    if (isUsable(index)) {
      Queue queue = queue(index);
      int part = random.nextInt(3);
      int bytes = new int[] {16 * queue.size, 6 + 2 * queue.size, 6 + 8 * queue.size}[part];
      byte[] values = new byte[1 + random.nextInt(8)];
      random.nextBytes(values);
      int most = random.nextBoolean() ? Math.min(bytes, 64) : bytes; // where there is something
      write(queue.addresses[part] + random.nextInt(most - values.length), values);
    }
  }

  /** Raises the vector of a virtqueue. */
  void interrupt(int index) {
    bus.raise(queue(index).vector);
  }

  /** Raises the vector of configuration changes. */
  void configurationChanged() {
    generation++;
    bus.raise(0);
  }

  private void control() {
    Queue queue = queue(CONTROL);
    while (available(CONTROL) > 0) {
      long head = head(queue);
      ByteBuffer in = ByteBuffer.allocate(1 << 16);
      List<long[]> out = new ArrayList<>();
      for (long id = head; ; ) {
        long at = queue.addresses[0] + 16 * id;
        long flags = get(at + 12, 2);
        int length = (int) get(at + 8, 4);
        if ((flags & 2) != 0) {
          out.add(new long[] {get(at, 8), length});
        } else {
          in.put(memory(get(at, 8), length));
        }
        if ((flags & 1) == 0) {
          break;
        }
        id = get(at + 14, 2);
      }
      queue.seen++;
      int written = execute(in.flip(), out);
      if (written == NO_ANSWER) {
        return;
      }
      put(queue.addresses[2] + 4 + 8L * (queue.given % queue.size), 4, head);
      put(queue.addresses[2] + 8 + 8L * (queue.given % queue.size), 4, written);
      queue.given++;
      put(queue.addresses[2] + 2, 2, queue.given & 0xffff);
    }
  }

  private int execute(ByteBuffer in, List<long[]> out) {
    byte[] command = new byte[in.remaining()];
    in.get(command);
    commands.add(HexFormat.of().formatHex(command));
    byte[] answer = answers.get((int) command[1]).apply(command);
    ByteBuffer result = bytes(1 + (answer == null ? 0 : answer.length));
    result.put((byte) (answer == null ? 1 : 0));
    if (answer != null) {
      result.put(answer);
    }
    result.flip();
    int written = result.remaining();
    for (long[] buffer : out) {
      byte[] part = new byte[(int) Math.min(buffer[1], result.remaining())];
      result.get(part);
      write(buffer[0], part);
    }
    return written;
  }

  // ---- memory

  byte[] memory(long address, int bytes) {
    byte[] values = new byte[bytes];
    if (!bus.read(address, MemorySegment.ofArray(values), 0, bytes)) {
      throw new AssertionError("no memory at 0x%x".formatted(address));
    }
    return values;
  }

  private long get(long address, int width) {
    long value = 0;
    byte[] values = memory(address, width);
    for (int i = 0; i < width; i++) {
      value |= (values[i] & 0xffL) << 8 * i;
    }
    return value;
  }

  private void put(long address, int width, long value) {
    byte[] values = new byte[width];
    for (int i = 0; i < width; i++) {
      values[i] = (byte) (value >> 8 * i);
    }
    write(address, values);
  }

  private void write(long address, byte[] values) {
    if (!bus.write(address, MemorySegment.ofArray(values), 0, values.length)) {
      throw new AssertionError("no memory at 0x%x".formatted(address));
    }
  }

  // ---- registers

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
    if (offset >= DEVICE && offset < DEVICE + 32) {
      long value = 0;
      for (int i = 0; i < width; i++) {
        value |= (configuration.get((int) offset - DEVICE + i) & 0xffL) << 8 * i;
      }
      return value;
    }
    Queue queue = queue(selected);
    return switch ((int) offset) {
      case 4 -> features >>> 32 * selectors[0] & 0xffff_ffffL;
      case 18 -> queueCount;
      case 20 -> status;
      case 21 -> generation;
      case 24 -> queue.size;
      case 26 -> queue.vector;
      case 28 -> queue.enabled;
      case 30 -> selected;
      default -> 0;
    };
  }

  @Override
  public void write(int bar, long offset, int width, long value) {
    if (offset >= NOTIFY) {
      if (value == CONTROL) {
        control();
      } else {
        notified.add((int) value);
      }
      return;
    }
    synchronized (this) {
      writeCommon((int) offset, value);
    }
  }

  private void writeCommon(int offset, long value) {
    Queue queue = queue(selected);
    switch (offset) {
      case 0 -> selectors[0] = (int) value;
      case 8 -> selectors[1] = (int) value;
      case 12 -> accepted |= (value & 0xffff_ffffL) << 32 * selectors[1];
      case 20 -> {
        status = (int) value;
        if (status == 0) {
          accepted = 0;
          queues.clear();
        }
      }
      case 22 -> selected = (int) value;
      case 24 -> queue.size = (int) value;
      case 26 -> queue.vector = (int) value;
      case 28 -> {
        queue.enabled = (int) value;
        if (!wantsKicks && selected != CONTROL) {
          put(queue.addresses[2], 2, 1);
        }
      }
      case 32, 36, 40, 44, 48, 52 -> {
        int part = (offset - 32) / 8;
        long half = value & 0xffff_ffffL;
        queue.addresses[part] =
            offset % 8 == 0 ? half : queue.addresses[part] & 0xffff_ffffL | half << 32;
      }
      default -> {
        // Vector of the configuration.
      }
    }
  }
}
