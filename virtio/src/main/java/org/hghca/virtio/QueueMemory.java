package org.hghca.virtio;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.PciFunction;
import org.hghca.virtio.abi.AvailableRing;
import org.hghca.virtio.abi.Descriptor;
import org.hghca.virtio.abi.UsedRing;

/**
 * The three parts of a split virtqueue in memory that the device shares. Each part is contiguous
 * for the device. Plain accesses but for the indices, flags and events, which are the only words
 * that both sides use at once.
 */
final class QueueMemory {
  private static final VarHandle SHORT =
      ValueLayout.JAVA_SHORT.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();

  /** Cache lines that the driver writes hold nothing that the device writes. */
  private static final int CACHE_LINE = 64;

  private final DmaMapping mapping;
  private final MemorySegment bytes;
  private final int entries;
  private final long available;
  private final long used;

  private QueueMemory(DmaMapping mapping, int entries) {
    this.mapping = mapping;
    this.bytes = mapping.segment();
    this.entries = entries;
    this.available = behind((long) Descriptor.SIZE * entries, AvailableRing.size(entries));
    this.used = behind(available + AvailableRing.size(entries), UsedRing.size(entries));
  }

  /**
   * Allocates a queue, smaller if the device would see a larger one in pieces.
   *
   * @param most entries, a power of two
   */
  static QueueMemory allocate(PciFunction function, int most) {
    for (int entries = most; ; entries /= 2) {
      DmaMapping mapping = function.allocate(size(entries));
      QueueMemory memory = new QueueMemory(mapping, entries);
      if (memory.isContiguous()) {
        return memory;
      }
      mapping.close();
    }
  }

  private static long size(int entries) {
    long available = behind((long) Descriptor.SIZE * entries, AvailableRing.size(entries));
    return behind(available + AvailableRing.size(entries), UsedRing.size(entries))
        + UsedRing.size(entries);
  }

  /** Where a part begins that follows another one: in the same page if it fits there. */
  private static long behind(long end, int bytes) {
    long line = -Math.floorDiv(-end, CACHE_LINE) * CACHE_LINE;
    long page = -Math.floorDiv(-end, DmaMapping.PAGE_SIZE) * DmaMapping.PAGE_SIZE;
    return line == page || line + bytes <= page ? line : page;
  }

  private boolean isContiguous() {
    return isContiguous(0, (long) Descriptor.SIZE * entries)
        && isContiguous(available, AvailableRing.size(entries))
        && isContiguous(used, UsedRing.size(entries));
  }

  private boolean isContiguous(long from, long length) {
    long first = mapping.iova(from);
    for (long at = DmaMapping.PAGE_SIZE; at < length; at += DmaMapping.PAGE_SIZE) {
      if (mapping.iova(from + at) != first + at) {
        return false;
      }
    }
    return true;
  }

  /** Number of entries, a power of two. */
  int entries() {
    return entries;
  }

  /** Bus address of the descriptors. */
  long descriptorsAddress() {
    return mapping.iova(0);
  }

  /** Bus address of the available ring. */
  long availableAddress() {
    return mapping.iova(available);
  }

  /** Bus address of the used ring. */
  long usedAddress() {
    return mapping.iova(used);
  }

  /** As after the allocation: all zero. The device must not use the queue. */
  void clear() {
    bytes.fill((byte) 0);
  }

  void putDescriptor(int id, long address, int length, int flags) {
    long at = (long) Descriptor.SIZE * id;
    Descriptor.put(bytes, at, address, length, flags);
  }

  void link(int id, int flags, int next) {
    long at = (long) Descriptor.SIZE * id;
    Descriptor.FLAGS.set(bytes, at, flags);
    Descriptor.NEXT.set(bytes, at, next);
  }

  /** Names a chain in the available ring; the device does not look before the index says so. */
  void putAvailable(int index, int head) {
    SHORT.set(bytes, available + AvailableRing.entry(index & entries - 1), (short) head);
  }

  /** All earlier writes, of descriptors, entries and buffers, are visible before the index. */
  void publishAvailable(int index) {
    SHORT.setRelease(bytes, available + AvailableRing.INDEX.offset(), (short) index);
  }

  /** Tells the device whether interrupts are wanted, without event index. */
  void putAvailableFlags(int flags) {
    SHORT.setOpaque(bytes, available + AvailableRing.FLAGS.offset(), (short) flags);
  }

  /** Tells the device at which used entry an interrupt is wanted, with event index. */
  void putUsedEvent(int index) {
    SHORT.setOpaque(bytes, available + AvailableRing.usedEvent(entries), (short) index);
  }

  /** The device's index; what it wrote before the index is visible after this. */
  int usedIndex() {
    return (short) SHORT.getAcquire(bytes, used + UsedRing.INDEX.offset()) & 0xffff;
  }

  int usedFlags() {
    return (short) SHORT.getOpaque(bytes, used + UsedRing.FLAGS.offset()) & 0xffff;
  }

  /** At which available entry the device wants a notification, with event index. */
  int availableEvent() {
    return (short) SHORT.getOpaque(bytes, used + UsedRing.availableEvent(entries)) & 0xffff;
  }

  /** A used entry: the number of its chain, and in the upper half what the device wrote. */
  long usedEntry(int index) {
    return UsedRing.ENTRY.getLong(bytes, used + UsedRing.entry(index & entries - 1));
  }

  /** Frees the memory; the device must not use it. */
  void close() {
    mapping.close();
  }
}
