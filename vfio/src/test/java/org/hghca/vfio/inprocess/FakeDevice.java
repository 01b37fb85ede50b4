package org.hghca.vfio.inprocess;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.hghca.vfio.DeviceBus;
import org.hghca.vfio.EmulatedFunction;

/** A device with a BAR0 of 4 KiB and a BAR2 of 64 KiB that records every call, for tests. */
public final class FakeDevice implements EmulatedFunction {
  final List<String> calls = new ArrayList<>();
  final byte[] configuration = new byte[4096];
  boolean inline;
  boolean canReset = true;
  int vectors = 4;
  private DeviceBus bus;

  /** The host, as this device sees it. */
  DeviceBus bus() {
    return bus;
  }

  /** Reads host memory as the device; null when the host refuses. */
  byte[] dmaRead(long iova, int length) {
    MemorySegment destination = Arena.ofAuto().allocate(Math.max(1, length));
    return bus.read(iova, destination, 0, length)
        ? destination.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE)
        : null;
  }

  /** Writes host memory as the device. */
  boolean dmaWrite(long iova, int... bytes) {
    MemorySegment source = Arena.ofAuto().allocate(Math.max(1, bytes.length));
    for (int i = 0; i < bytes.length; i++) {
      source.set(ValueLayout.JAVA_BYTE, i, (byte) bytes[i]);
    }
    return bus.write(iova, source, 0, bytes.length);
  }

  @Override
  public void attach(DeviceBus bus) {
    calls.add("attach");
    this.bus = bus;
  }

  @Override
  public long regionSize(int bar) {
    return switch (bar) {
      case 0 -> 0x1000;
      case 2 -> 0x1_0000;
      default -> 0;
    };
  }

  @Override
  public long read(int bar, long offset, int width) {
    calls.add("read BAR%d 0x%x %d".formatted(bar, offset, width));
    return 0x1122_3344_5566_7788L >>> 64 - 8 * width;
  }

  @Override
  public void write(int bar, long offset, int width, long value) {
    calls.add("write BAR%d 0x%x %d 0x%x".formatted(bar, offset, width, value));
  }

  @Override
  public int readConfiguration(int offset, int width) {
    int value = 0;
    for (int i = width - 1; i >= 0; i--) {
      value = value << 8 | configuration[offset + i] & 0xff;
    }
    return value;
  }

  @Override
  public void writeConfiguration(int offset, int width, int value) {
    calls.add("write configuration 0x%x %d 0x%x".formatted(offset, width, value));
    for (int i = 0; i < width; i++) {
      configuration[offset + i] = (byte) (value >> 8 * i);
    }
  }

  @Override
  public int interruptVectors() {
    return vectors;
  }

  @Override
  public boolean isInline() {
    return inline;
  }

  @Override
  public boolean canReset() {
    return canReset;
  }

  @Override
  public void reset() {
    calls.add("reset");
  }

  @Override
  public void close() {
    calls.add("close");
  }
}
