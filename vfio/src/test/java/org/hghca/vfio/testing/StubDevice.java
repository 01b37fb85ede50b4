package org.hghca.vfio.testing;

import org.hghca.vfio.EmulatedFunction;

/** A device with 4 vectors and a configuration space of plain bytes, which cannot be reset. */
public abstract class StubDevice implements EmulatedFunction {
  /** Of its configuration space. */
  public final byte[] pci = new byte[4096];

  protected StubDevice() {}

  @Override
  public final int readConfiguration(int offset, int width) {
    int value = 0;
    for (int i = 0; i < width; i++) {
      value |= (pci[offset + i] & 0xff) << 8 * i;
    }
    return value;
  }

  @Override
  public final void writeConfiguration(int offset, int width, int value) {
    for (int i = 0; i < width; i++) {
      pci[offset + i] = (byte) (value >> 8 * i);
    }
  }

  @Override
  public final int interruptVectors() {
    return 4;
  }

  @Override
  public final boolean isInline() {
    return true;
  }

  @Override
  public final boolean canReset() {
    return false;
  }

  @Override
  public final void reset() {
    throw new UnsupportedOperationException("reset");
  }

  @Override
  public final void close() {}
}
