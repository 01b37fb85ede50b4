package org.hghca.vfio.inprocess;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.hghca.vfio.DeviceBus;
import org.hghca.vfio.testing.RecordingDevice;

/** A device of this process that accesses host memory when a test tells it to. */
public final class FakeDevice extends RecordingDevice {
  boolean inline;
  int vectors = 4;

  /** Reads host memory as the device; null when the host refuses. */
  byte[] dmaRead(long iova, int length) {
    MemorySegment destination = Arena.ofAuto().allocate(Math.max(1, length));
    return bus().read(iova, destination, 0, length)
        ? destination.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE)
        : null;
  }

  /** Writes host memory as the device. */
  public boolean dmaWrite(long iova, int... bytes) {
    MemorySegment source = Arena.ofAuto().allocate(Math.max(1, bytes.length));
    for (int i = 0; i < bytes.length; i++) {
      source.set(ValueLayout.JAVA_BYTE, i, (byte) bytes[i]);
    }
    return bus().write(iova, source, 0, bytes.length);
  }

  @Override
  public void attach(DeviceBus to) {
    calls.add("attach");
    super.attach(to);
  }

  @Override
  public int interruptVectors() {
    return vectors;
  }

  @Override
  public boolean isInline() {
    return inline;
  }
}
