package org.hghca.benchmarks;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import org.hghca.vfio.DmaWindow;
import org.hghca.virtio.abi.AvailableRing;
import org.hghca.virtio.abi.Descriptor;
import org.hghca.virtio.abi.Field;
import org.hghca.virtio.abi.UsedRing;

/** A virtqueue as its device uses it, whose chains have one buffer. */
final class DeviceQueue {
  private static final Field HEAD = Field.le16("head", 0);

  private final BenchVirtioFunction function;
  private final int size;
  private final MemorySegment descriptors;
  private final MemorySegment available;
  private final MemorySegment used;
  private int taken;
  private MemorySegment buffer;
  private long at;

  DeviceQueue(BenchVirtioFunction function, int size, long descriptors, long available, long used) {
    this.function = function;
    this.size = size;
    this.descriptors = from(descriptors);
    this.available = from(available);
    this.used = from(used);
  }

  private MemorySegment from(long iova) {
    DmaWindow window = function.memory(iova);
    return window.memory().asSlice(iova - window.iova());
  }

  /** Looks at the next chain, which must be there: its buffer is {@link #buffer}. */
  void look() {
    if ((AvailableRing.INDEX.get(available, 0) - taken & 0xffff) == 0) {
      throw new IllegalStateException("the driver has posted no more");
    }
    long iova = Descriptor.ADDRESS.getLong(descriptors, (long) head() * Descriptor.SIZE);
    DmaWindow window = function.memory(iova);
    buffer = window.memory();
    at = iova - window.iova();
  }

  /** The memory that holds the buffer. */
  MemorySegment buffer() {
    return buffer;
  }

  /** Where the buffer begins in the memory. */
  long at() {
    return at;
  }

  private int head() {
    return HEAD.get(available, AvailableRing.entry(taken & size - 1));
  }

  /** Gives the next chain back, of which bytes were written. */
  void use(int written) {
    long entry = UsedRing.entry(taken & size - 1);
    UsedRing.ENTRY_ID.set(used, entry, head());
    UsedRing.ENTRY_LENGTH.set(used, entry, written);
    taken++;
  }

  /** Shows the driver what was given back. */
  void publish() {
    VarHandle.releaseFence();
    UsedRing.INDEX.set(used, 0, taken & 0xffff);
  }
}
