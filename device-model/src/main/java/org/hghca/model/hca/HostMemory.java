package org.hghca.model.hca;

import java.lang.foreign.MemorySegment;
import org.hghca.vfio.DeviceBus;

/** The HCA's access to host memory: enabled only while bus mastering is on. */
public final class HostMemory {
  private final Faults faults;
  private final Runnable catastrophe;
  private DeviceBus bus;
  private volatile boolean enabled;

  /**
   * @param catastrophe run when the card cannot access one of its tables
   */
  public HostMemory(Faults faults, Runnable catastrophe) {
    this.faults = faults;
    this.catastrophe = catastrophe;
  }

  public void attach(DeviceBus bus) {
    this.bus = bus;
  }

  /** Enables or disables the access: the bus master bit of the command register. */
  public void enable(boolean on) {
    enabled = on;
  }

  /**
   * Reads by I/O address.
   *
   * @return whether all bytes were read; a refusal is recorded as a fault
   */
  public boolean read(long iova, MemorySegment target, long offset, long length) {
    return enabled && bus.read(iova, target, offset, length) || refused("read", iova, length);
  }

  /**
   * Writes by I/O address.
   *
   * @return whether all bytes were written; a refusal is recorded as a fault
   */
  public boolean write(long iova, MemorySegment source, long offset, long length) {
    return enabled && bus.write(iova, source, offset, length) || refused("write", iova, length);
  }

  /** {@link #read} of a whole table entry; a failure is fatal for the card. */
  public boolean readTable(long iova, MemorySegment target, long length) {
    return read(iova, target, 0, length) || lost();
  }

  /** {@link #write} of a whole table entry; a failure is fatal for the card. */
  public boolean writeTable(long iova, MemorySegment source, long length) {
    return write(iova, source, 0, length) || lost();
  }

  private boolean lost() {
    catastrophe.run();
    return false;
  }

  /** Raises an interrupt, which is a write to host memory too. */
  public void raise(int vector) {
    if (enabled) {
      bus.raise(vector);
    }
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
