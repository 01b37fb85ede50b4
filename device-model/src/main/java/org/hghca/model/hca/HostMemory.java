package org.hghca.model.hca;

import java.lang.foreign.MemorySegment;
import org.hghca.vfio.DeviceBus;

/** The HCA's way to host memory: open only while configuration space lets it master the bus. */
final class HostMemory {
  private final Faults faults;
  private DeviceBus bus;
  private volatile boolean enabled;

  HostMemory(Faults faults) {
    this.faults = faults;
  }

  void attach(DeviceBus bus) {
    this.bus = bus;
  }

  /** Opens or closes the way: the bus master bit of the command register. */
  void enable(boolean on) {
    enabled = on;
  }

  /**
   * Reads by I/O address.
   *
   * @return whether all bytes were read; a refusal is recorded as a fault
   */
  boolean read(long iova, MemorySegment target, long offset, long length) {
    return enabled && bus.read(iova, target, offset, length) || refused("read", iova, length);
  }

  /**
   * Writes by I/O address.
   *
   * @return whether all bytes were written; a refusal is recorded as a fault
   */
  boolean write(long iova, MemorySegment source, long offset, long length) {
    return enabled && bus.write(iova, source, offset, length) || refused("write", iova, length);
  }

  private boolean refused(String access, long iova, long length) {
    faults.record(
        "DMA %s of %d bytes at IOVA 0x%x %s"
            .formatted(
                access,
                length,
                iova,
                enabled ? "refused by the host" : "while bus mastering is off"));
    return false;
  }
}
