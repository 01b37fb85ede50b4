package org.hghca.vfio.kernel;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.hghca.linux.Linux;
import org.hghca.linux.SystemCalls;

/** A function as vfio-pci exposes it: the answers of its descriptor. */
final class FakeCard {
  static final int EINVAL = -22;
  static final int EIO = -5;
  private static final SystemCalls LINUX = Linux.system();

  final String address;
  final int group;

  /** Of struct vfio_device_info: can be reset, is of PCI. */
  int flags = 1 | 2;

  final long[] sizes = {1 << 20, 0, 8 << 20, 0, 0, 0};

  /** Of struct vfio_region_info: can be read, written, mapped. */
  final int[] regionFlags = {7, 0, 7, 0, 0, 0};

  /** Offset and length; null when all of the region can be mapped. */
  final long[][] sparse = new long[6][];

  /** INTx, MSI, MSI-X, errors, requests. */
  final int[] irqs = {1, 8, 32, 1, 1};

  /** The number of vectors left in the system. */
  int vectorsLeft = 64;

  /** The eventfds that the kernel signals, by index; null when switched off. */
  final int[][] signals = new int[5][];

  /** Functions that a hot reset includes, as the kernel reports them; null for no hot reset. */
  List<int[]> together;

  int hotResetFlags;
  int[] hotResetProofs;
  int resets;

  /** The result of a reset, when it is not 0. */
  int resetAnswer;

  int unmasked;
  boolean present = true;
  final byte[] configuration = new byte[4096];
  private final int[] files = new int[6];

  FakeCard(String address, int group) {
    this.address = address;
    this.group = group;
    ByteBuffer.wrap(configuration).order(ByteOrder.LITTLE_ENDIAN).putInt(0, 0x9038_10ee);
    configuration[4] = 4; // the previous owner has left bus mastering on
  }

  boolean isBusMaster() {
    return (configuration[4] & 4) != 0;
  }

  /** The memory behind a BAR. */
  private int file(int bar) {
    if (files[bar] == 0) {
      files[bar] = LINUX.memfdCreate("bar", 1);
      assertThat(LINUX.ftruncate(files[bar], sizes[bar]) == 0);
    }
    return files[bar];
  }

  private static void assertThat(boolean fine) {
    if (!fine) {
      throw new AssertionError();
    }
  }

  /** Contents of a BAR, as the card sees it. */
  long register(int bar, long offset) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment buffer = arena.allocate(JAVA_LONG);
      assertThat(LINUX.pread(file(bar), buffer, offset) == 8);
      return buffer.get(JAVA_LONG, 0);
    }
  }

  void register(int bar, long offset, long value) {
    try (Arena arena = Arena.ofConfined()) {
      assertThat(LINUX.pwrite(file(bar), arena.allocateFrom(JAVA_LONG, value), offset) == 8);
    }
  }

  /** An interrupt, an error or a request, if it is enabled. */
  void raise(int index, int vector) {
    try (Arena arena = Arena.ofConfined()) {
      assertThat(LINUX.write(signals[index][vector], arena.allocateFrom(JAVA_LONG, 1L)) == 8);
    }
  }

  long mmap(long length, long offset) {
    int bar = (int) (offset >> 40);
    long at = offset & (1L << 40) - 1;
    boolean fits =
        sparse[bar] == null
            ? at + length <= sizes[bar]
            : areas(bar).stream().anyMatch(area -> area[0] == at && area[1] == length);
    return (regionFlags[bar] & 4) == 0 || !fits ? EINVAL : LINUX.mmap(length, 3, 1, file(bar), at);
  }

  private List<long[]> areas(int bar) {
    List<long[]> areas = new ArrayList<>();
    for (int i = 0; i < sparse[bar].length; i += 2) {
      areas.add(new long[] {sparse[bar][i], sparse[bar][i + 1]});
    }
    return areas;
  }

  long access(MemorySegment buffer, long offset, boolean write) {
    int region = (int) (offset >> 40);
    long at = offset & (1L << 40) - 1;
    if (!present) {
      return EIO;
    }
    if (region < 6) {
      return write ? LINUX.pwrite(file(region), buffer, at) : LINUX.pread(file(region), buffer, at);
    }
    MemorySegment bytes = MemorySegment.ofArray(configuration);
    if (write) {
      MemorySegment.copy(buffer, 0, bytes, at, buffer.byteSize());
    } else {
      MemorySegment.copy(bytes, at, buffer, 0, buffer.byteSize());
    }
    return buffer.byteSize();
  }

  int ioctl(Ioctl request, MemorySegment structure) {
    return switch (request) {
      case VFIO_DEVICE_GET_INFO -> deviceInfo(structure);
      case VFIO_DEVICE_GET_REGION_INFO -> regionInfo(structure);
      case VFIO_DEVICE_GET_IRQ_INFO -> irqInfo(structure);
      case VFIO_DEVICE_SET_IRQS -> setIrqs(structure);
      case VFIO_DEVICE_RESET -> reset();
      case VFIO_DEVICE_GET_PCI_HOT_RESET_INFO -> hotResetInfo(structure);
      case VFIO_DEVICE_PCI_HOT_RESET -> hotReset(structure);
      default -> -25; // ENOTTY
    };
  }

  private int deviceInfo(MemorySegment info) {
    if (info.get(JAVA_INT, 0) < 16) {
      return EINVAL;
    }
    info.set(JAVA_INT, 4, flags);
    info.set(JAVA_INT, 8, 9);
    info.set(JAVA_INT, 12, 5);
    return 0;
  }

  private int regionInfo(MemorySegment info) {
    int argsz = info.get(JAVA_INT, 0);
    int index = info.get(JAVA_INT, 8);
    if (argsz < 32 || index > 8) {
      return EINVAL;
    }
    boolean bar = index < 6;
    info.set(JAVA_INT, 4, bar ? regionFlags[index] : 3);
    info.set(JAVA_INT, 12, 0);
    info.set(JAVA_LONG, 16, bar ? sizes[index] : index == 7 ? 4096 : 0);
    info.set(JAVA_LONG, 24, (long) index << 40);
    if (bar && sparse[index] != null) {
      // Another capability first, so that the chain has to be followed.
      int needed = 32 + 8 + 16 + 8 * sparse[index].length;
      info.set(JAVA_INT, 4, regionFlags[index] | 8);
      if (argsz < needed) {
        info.set(JAVA_INT, 0, needed);
      } else {
        info.set(JAVA_INT, 12, 32);
        info.set(JAVA_INT, 32, 3 | 1 << 16);
        info.set(JAVA_INT, 36, 40);
        info.set(JAVA_INT, 40, 1 | 1 << 16);
        info.set(JAVA_INT, 48, sparse[index].length / 2);
        MemorySegment.copy(sparse[index], 0, info, JAVA_LONG, 56, sparse[index].length);
      }
    }
    return 0;
  }

  private int irqInfo(MemorySegment info) {
    int index = info.get(JAVA_INT, 8);
    if (info.get(JAVA_INT, 0) < 16 || index > 4) {
      return EINVAL;
    }
    info.set(JAVA_INT, 4, 1);
    info.set(JAVA_INT, 12, irqs[index]);
    return 0;
  }

  private int setIrqs(MemorySegment set) {
    int size = set.get(JAVA_INT, 0);
    int what = set.get(JAVA_INT, 4);
    int index = set.get(JAVA_INT, 8);
    int start = set.get(JAVA_INT, 12);
    int count = set.get(JAVA_INT, 16);
    if (size < 20 || index > 4 || start != 0 || count > irqs[index]) {
      return EINVAL;
    }
    if (what == (1 | 1 << 4) && index == 0 && count == 1 && signals[0] != null) {
      unmasked++;
      return 0;
    }
    if (what == (1 | 1 << 5) && count == 0) {
      signals[index] = null;
      return 0;
    }
    if (what != (1 << 2 | 1 << 5) || size != 20 + 4 * count) {
      return EINVAL;
    }
    boolean message = index == 1 || index == 2;
    boolean other = index < 3 && (signals[0] != null || signals[1] != null || signals[2] != null);
    if (other && !(message && signals[index] != null && count <= signals[index].length)) {
      return EINVAL; // one kind at a time, and no more vectors than at first
    }
    if (message && count > vectorsLeft) {
      return vectorsLeft == 0 ? -28 : vectorsLeft;
    }
    signals[index] = set.asSlice(20, 4L * count).toArray(JAVA_INT);
    return 0;
  }

  private int reset() {
    if ((flags & 1) == 0) {
      return EINVAL;
    }
    resets++;
    return resetAnswer;
  }

  private int hotResetInfo(MemorySegment info) {
    if (together == null) {
      return -19; // ENODEV
    }
    int room = (info.get(JAVA_INT, 0) - 12) / 8;
    info.set(JAVA_INT, 4, room < together.size() ? 0 : hotResetFlags);
    info.set(JAVA_INT, 8, together.size());
    if (room < together.size()) {
      return -28; // ENOSPC
    }
    for (int i = 0; i < together.size(); i++) {
      info.set(JAVA_INT, 12 + 8L * i, together.get(i)[0]);
      info.set(JAVA_INT, 16 + 8L * i, together.get(i)[1] << 16 | together.get(i)[2] << 24);
    }
    return 0;
  }

  private int hotReset(MemorySegment reset) {
    int count = reset.get(JAVA_INT, 8);
    if (reset.get(JAVA_INT, 0) != 12 + 4 * count) {
      return EINVAL;
    }
    hotResetProofs = reset.asSlice(12, 4L * count).toArray(JAVA_INT);
    resets++;
    return 0;
  }

  /** The kernel's end of a descriptor that is no longer open. */
  void released() {
    Arrays.fill(signals, null);
    configuration[4] &= ~4;
  }
}
