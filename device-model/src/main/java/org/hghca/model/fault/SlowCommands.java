package org.hghca.model.fault;

import org.hghca.abi.Bar;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.Hcr;

/**
 * Commands take longer, in the time of the system's clock: their end is visible late. It is legal:
 * nothing says how long a command takes.
 */
final class SlowCommands extends Injection {
  /** 50 times as long as the 20 us that a command takes here. */
  private static final long NANOS = 1_000_000;

  private long endsAt;
  private long running;

  private boolean isCommand(int bar, long offset) {
    long hcr = HardwareProfile.byName(site().type().label()).hcrBase();
    return bar == Bar.BAR0 && offset == hcr + Hcr.COMMAND;
  }

  @Override
  synchronized long read(int bar, long offset, int width, long honest) {
    boolean early = running != 0 && System.nanoTime() - endsAt < 0;
    return early && isCommand(bar, offset) ? running : honest;
  }

  @Override
  boolean write(int bar, long offset, int width, long value) {
    if (isCommand(bar, offset) && Hcr.go((int) value)) {
      synchronized (this) {
        running = value & 0xffff_ffffL;
        endsAt = System.nanoTime() + NANOS;
      }
    }
    return super.write(bar, offset, width, value);
  }

  @Override
  synchronized void reset() {
    running = 0;
  }
}
