package org.hghca.vfio.user;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.hghca.vfio.testing.RecordingDevice;

/**
 * A device behind a server. An 8-byte write to BAR2 makes it read 8 bytes at that I/O address on
 * the thread of the write; a read of BAR2 returns the result.
 */
class ServedDevice extends RecordingDevice {
  static final int VECTORS = 32;

  private volatile long found;

  /** Reads 8 bytes of the client's memory; null when they are refused. */
  Long read(long iova) {
    MemorySegment to = Arena.ofAuto().allocate(8, 8);
    return bus().read(iova, to, 0, 8) ? (Long) to.get(ValueLayout.JAVA_LONG, 0) : null;
  }

  boolean write(long iova, long value) {
    MemorySegment from = Arena.ofAuto().allocate(8, 8);
    from.set(ValueLayout.JAVA_LONG, 0, value);
    return bus().write(iova, from, 0, 8);
  }

  @Override
  public long read(int bar, long offset, int width) {
    long value = super.read(bar, offset, width);
    return bar == 2 ? found : value;
  }

  @Override
  public void write(int bar, long offset, int width, long value) {
    super.write(bar, offset, width, value);
    if (bar == 2 && width == 8) {
      Long there = read(value);
      found = there == null ? -1 : there;
    }
  }

  @Override
  public int interruptVectors() {
    return VECTORS;
  }

  @Override
  public boolean isInline() {
    return false;
  }
}
