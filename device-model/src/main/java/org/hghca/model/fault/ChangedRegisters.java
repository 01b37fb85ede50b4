package org.hghca.model.fault;

import java.util.concurrent.atomic.AtomicInteger;
import org.hghca.abi.Bar;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.Hcr;
import org.hghca.abi.HcrCommand;

/** Register accesses that do not do what they should. */
final class ChangedRegisters {
  private static final long DWORD = 0xffff_ffffL;

  private ChangedRegisters() {}

  private static long register(Site site, int bar, long offset) {
    return bar == Bar.BAR0 ? offset - HardwareProfile.byName(site.type().label()).hcrBase() : -1;
  }

  /** No register answers. */
  static final class AllOnes extends Injection {
    @Override
    long read(int bar, long offset, int width, long honest) {
      return -1L >>> Long.SIZE - Byte.SIZE * width;
    }
  }

  /** No register of the HCR keeps a value. */
  static final class NoHcr extends Injection {
    @Override
    long read(int bar, long offset, int width, long honest) {
      return bar == Bar.BAR0 ? 0 : honest;
    }

    @Override
    boolean write(int bar, long offset, int width, long value) {
      return bar != Bar.BAR0 && super.write(bar, offset, width, value);
    }
  }

  /** A bit of a register of the HCR stays 0. */
  static final class StuckBit extends Injection {
    private static final int BIT = 13;

    @Override
    boolean write(int bar, long offset, int width, long value) {
      boolean isStuck = register(site(), bar, offset) == Hcr.IN_PARAM_LOW;
      return super.write(bar, offset, width, isStuck ? value & ~(1L << BIT) : value);
    }
  }

  /** INIT_HCA with a mailbox never ends. */
  static final class HangingInit extends Injection {
    private final AtomicInteger mailbox = new AtomicInteger();
    private volatile long hung;

    @Override
    long read(int bar, long offset, int width, long honest) {
      return hung != 0 && register(site(), bar, offset) == Hcr.COMMAND ? hung : honest;
    }

    @Override
    boolean write(int bar, long offset, int width, long value) {
      long at = register(site(), bar, offset);
      if (at == Hcr.IN_PARAM_LOW) {
        mailbox.set((int) value);
      }
      if (at == Hcr.COMMAND
          && Hcr.go((int) value)
          && Hcr.op((int) value) == HcrCommand.INIT_HCA.code()
          && mailbox.get() != 0) {
        hung = value & DWORD;
        return false;
      }
      return super.write(bar, offset, width, value);
    }

    @Override
    void reset() {
      hung = 0;
    }
  }

  /** Doorbells that do not reach the card: all of them. */
  static final class DeadDoorbells extends Injection {
    @Override
    boolean write(int bar, long offset, int width, long value) {
      return !site().watch().isDoorbell(bar, offset) && super.write(bar, offset, width, value);
    }
  }

  /** One of 37 doorbells for sends does not reach the card. */
  static final class LostDoorbells extends Injection {
    private static final int EACH = 37;

    private final AtomicInteger rung = new AtomicInteger();

    @Override
    boolean write(int bar, long offset, int width, long value) {
      boolean lost =
          site().watch().isSendDoorbell(bar, offset, width, value)
              && rung.incrementAndGet() % EACH == 0;
      return !lost && super.write(bar, offset, width, value);
    }
  }

  /** A store of eight bytes arrives as one of four, the low half. */
  static final class HalfDoorbells extends Injection {
    @Override
    boolean write(int bar, long offset, int width, long value) {
      return bar == Bar.BAR2 && width == Long.BYTES
          ? super.write(bar, offset, Integer.BYTES, value & DWORD)
          : super.write(bar, offset, width, value);
    }
  }
}
