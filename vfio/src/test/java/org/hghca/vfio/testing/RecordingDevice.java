package org.hghca.vfio.testing;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.hghca.vfio.DeviceBus;
import org.hghca.vfio.EmulatedFunction;

/** A device that records calls: BAR0 of 4 KiB, BAR2 of 64 KiB, vectors. Thread-safe. */
public abstract class RecordingDevice implements EmulatedFunction {
  public final List<String> calls = new CopyOnWriteArrayList<>();
  public final byte[] configuration = new byte[4096];
  public volatile boolean canReset = true;
  private volatile DeviceBus bus;

  protected RecordingDevice() {}

  /** The host, as this device sees it. */
  public final DeviceBus bus() {
    return bus;
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
