package org.hghca.driver.bringup;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.hghca.vfio.ConfigurationSpace;
import org.hghca.vfio.Locator;
import org.hghca.vfio.MmioHandler;
import org.hghca.vfio.MmioRegion;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.testing.StubFunction;

/**
 * A function with the properties of a test: ids, sizes, and the dwords of BAR0 that keep written
 * values. Every access is recorded.
 */
final class StrangeFunction extends StubFunction {
  /** One access to a region. */
  record Access(int bar, boolean write, long offset, int width) {}

  final List<Access> accesses = new ArrayList<>();

  /** The dwords of BAR0 that keep their value, by offset; all others read 0. */
  final Map<Long, Integer> registers = new HashMap<>();

  /** The bits of a store that a token register keeps. */
  int tokenMask = 0xffff_0000;

  boolean allOnes;

  /** The number of stores that it survives. */
  int dies = Integer.MAX_VALUE;

  boolean canReset = true;
  boolean keepsMemorySpace = true;
  int vendor = 0x10ee;
  long bar0 = 1 << 20;
  long bar2 = 8 << 20;

  private final Locator locator;
  private int command;

  StrangeFunction(String parameters) {
    locator = Locator.parse("strange:card" + parameters);
  }

  /** Places the registers of an HCR, of which 14h and 18h matter. */
  StrangeFunction withHcr(long base) {
    registers.put(base + 0x14, 0);
    registers.put(base + 0x18, 0);
    return this;
  }

  /** Whether the unconnected range of the RTL, or BAR2, was accessed. */
  boolean touchedForbidden() {
    return accesses.stream()
        .anyMatch(a -> a.bar() != 0 || a.offset() >= 0x10000 && a.offset() <= 0x9ffff);
  }

  boolean wrote() {
    return accesses.stream().anyMatch(Access::write);
  }

  @Override
  public Locator locator() {
    return locator;
  }

  @Override
  public ConfigurationSpace configuration() {
    return new ConfigurationSpace() {
      @Override
      public int read(int offset, int width) {
        return switch (offset) {
          case 0x00 -> vendor;
          case 0x02 -> 0x9038;
          case COMMAND -> command;
          case 0x08 -> 0x0207_0001;
          default -> 0;
        };
      }

      @Override
      public void write(int offset, int width, int value) {
        command = keepsMemorySpace ? value : value & ~COMMAND_MEMORY_SPACE;
      }
    };
  }

  @Override
  public MmioRegion region(int bar) {
    long size = bar == 0 ? bar0 : bar == 2 ? bar2 : 0;
    if (size == 0) {
      throw new VfioException(VfioException.Reason.INVALID, "no BAR" + bar);
    }
    return MmioRegion.trapped(
        size,
        new MmioHandler() {
          @Override
          public long read(long offset, int width) {
            accesses.add(new Access(bar, false, offset, width));
            return allOnes ? 0xffff_ffffL : registers.getOrDefault(offset, 0) & 0xffff_ffffL;
          }

          @Override
          public void write(long offset, int width, long value) {
            accesses.add(new Access(bar, true, offset, width));
            allOnes |= --dies <= 0;
            registers.computeIfPresent(
                offset, (at, old) -> (at & 0xff) == 0x14 ? (int) value & tokenMask : (int) value);
          }
        });
  }

  @Override
  public boolean canReset() {
    return canReset;
  }

  @Override
  public void reset() {}
}
