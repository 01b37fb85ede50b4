package org.hghca.uar;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.hghca.vfio.MmioHandler;
import org.hghca.vfio.MmioRegion;
import org.hghca.vfio.testing.StubFunction;

/** A function with only a BAR2, which records every access to it. */
final class FakeFunction extends StubFunction {
  record Access(boolean write, long offset, int width, long value) {}

  final List<Access> accesses = Collections.synchronizedList(new ArrayList<>());
  private final long size;

  FakeFunction(long size) {
    this.size = size;
  }

  @Override
  public MmioRegion region(int bar) {
    if (bar != 2) {
      throw new IllegalArgumentException("no BAR" + bar);
    }
    return MmioRegion.trapped(
        size,
        new MmioHandler() {
          @Override
          public long read(long offset, int width) {
            accesses.add(new Access(false, offset, width, 0));
            return -1;
          }

          @Override
          public void write(long offset, int width, long value) {
            accesses.add(new Access(true, offset, width, value));
          }
        });
  }
}
