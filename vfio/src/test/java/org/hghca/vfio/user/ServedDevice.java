package org.hghca.vfio.user;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.hghca.vfio.DeviceBus;
import org.hghca.vfio.EmulatedFunction;

/**
 * A device that records every call, for tests: BAR0 of 4 KiB, BAR2 of 64 KiB, vectors. An 8-byte
 * write to BAR2 makes it read 8 bytes at that I/O address on the thread of the write; a read of
 * BAR2 returns the result.
 */
class ServedDevice implements EmulatedFunction {
  static final int VECTORS = 32;

  final List<String> calls = new CopyOnWriteArrayList<>();
  final byte[] configuration = new byte[4096];
  volatile boolean canReset = true;
  private DeviceBus bus;
  private volatile long found;

  /** The client, as this device sees it. */
  DeviceBus bus() {
    return bus;
  }

  /** Reads 8 bytes of the client's memory; null when they are refused. */
  Long read(long iova) {
    MemorySegment to = Arena.ofAuto().allocate(8, 8);
    return bus.read(iova, to, 0, 8) ? (Long) to.get(ValueLayout.JAVA_LONG, 0) : null;
  }

  boolean write(long iova, long value) {
    MemorySegment from = Arena.ofAuto().allocate(8, 8);
    from.set(ValueLayout.JAVA_LONG, 0, value);
    return bus.write(iova, from, 0, 8);
  }

  @Override
  public void attach(DeviceBus to) {
    bus = to;
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
    return bar == 2 ? found : 0x1122_3344_5566_7788L >>> 64 - 8 * width;
  }

  @Override
  public void write(int bar, long offset, int width, long value) {
    calls.add("write BAR%d 0x%x %d 0x%x".formatted(bar, offset, width, value));
    if (bar == 2 && width == 8) {
      Long there = read(value);
      found = there == null ? -1 : there;
    }
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
    return VECTORS;
  }

  @Override
  public boolean isInline() {
    return false;
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
