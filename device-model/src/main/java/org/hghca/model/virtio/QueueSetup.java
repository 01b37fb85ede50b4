package org.hghca.model.virtio;

import org.hghca.virtio.abi.AvailableRing;
import org.hghca.virtio.abi.CommonConfig;
import org.hghca.virtio.abi.Descriptor;
import org.hghca.virtio.abi.UsedRing;

/**
 * The registers of one virtqueue. Size and addresses are fixed while it is enabled; guarded by
 * {@link CommonRegisters}, except that the vector may be read by any thread.
 */
final class QueueSetup {
  private final int most;
  private int size;
  private volatile int vector;
  private long descriptors;
  private long driver;
  private long device;
  private boolean enabled;

  /**
   * @param most entries, a power of two
   */
  QueueSetup(int most) {
    this.most = most;
    reset();
  }

  void reset() {
    size = most;
    vector = CommonConfig.NO_VECTOR;
    descriptors = 0;
    driver = 0;
    device = 0;
    enabled = false;
  }

  int size() {
    return size;
  }

  /** A size that a split queue cannot have is ignored. */
  void size(int entries) {
    if (!enabled && entries > 0 && entries <= most && Integer.bitCount(entries) == 1) {
      size = entries;
    }
  }

  int vector() {
    return vector;
  }

  void vector(int number) {
    vector = number;
  }

  long descriptors() {
    return descriptors;
  }

  long driver() {
    return driver;
  }

  long device() {
    return device;
  }

  /** Sets four bytes of an address: of the table (0), the driver's (1), the device's ring (2). */
  void address(int which, boolean high, int half) {
    if (enabled) {
      return;
    }
    switch (which) {
      case 0 -> descriptors = with(descriptors, high, half);
      case 1 -> driver = with(driver, high, half);
      default -> device = with(device, high, half);
    }
  }

  /** Four bytes of such an address. */
  int address(int which, boolean high) {
    long address =
        switch (which) {
          case 0 -> descriptors;
          case 1 -> driver;
          default -> device;
        };
    return (int) (high ? address >>> 32 : address);
  }

  private static long with(long address, boolean high, int half) {
    long value = Integer.toUnsignedLong(half);
    return high ? address & 0xffff_ffffL | value << 32 : address & ~0xffff_ffffL | value;
  }

  boolean isEnabled() {
    return enabled;
  }

  /** Enables it; returns false where a ring is not aligned. */
  boolean enable() {
    enabled =
        descriptors % Descriptor.ALIGNMENT == 0
            && driver % AvailableRing.ALIGNMENT == 0
            && device % UsedRing.ALIGNMENT == 0;
    return enabled;
  }
}
