package org.hghca.model.rtl;

import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.hghca.abi.Bar;
import org.hghca.abi.Hcr;

/**
 * The registers in BAR0: the HCR at 0, the table of interrupt messages at 5400h, an unconnected
 * port at 10000h to 9FFFFh, and nothing else. Thread-safe.
 *
 * <p>The HCR takes stores of four bytes only. One of eight is ignored; one of fewer bytes leaves
 * the register unchanged and sends an unexpected completion, so that from then on each read gets
 * the reply to the previous one. The port's third read, or its seventh write, blocks the way to all
 * registers.
 */
final class Bar0 {
  static final long ALL_ONES = -1;

  private static final int DWORD = 4;
  private static final int MSIX_TABLE = 0x5400;
  private static final int MSIX_SIZE = 0x400;
  private static final int READS_THAT_BLOCK = 3;
  private static final int WRITES_THAT_BLOCK = 7;

  private final Hazards hazards;
  private final AtomicIntegerArray hcr = new AtomicIntegerArray(Hcr.SIZE / DWORD);
  private final AtomicIntegerArray interrupts = new AtomicIntegerArray(MSIX_SIZE / DWORD);

  /** Unexpected completions; guarded by this. */
  private final ArrayDeque<Long> completions = new ArrayDeque<>();

  private volatile boolean outOfStep;

  /** Accesses to the unconnected port; guarded by this. */
  private int portReads;

  private int portWrites;
  private volatile boolean blocked;

  Bar0(Hazards hazards) {
    this.hazards = hazards;
  }

  /** Whether accesses to all BARs are blocked. */
  boolean isBlocked() {
    return blocked;
  }

  /** For an 8-byte read the register returns the first four bytes; the others are 0. */
  long read(long offset, int width) {
    if (blocked) {
      return unanswered("read of BAR0+0x%x after the port was blocked", offset);
    }
    if (isPort(offset)) {
      synchronized (this) {
        blocked |= ++portReads >= READS_THAT_BLOCK;
      }
      return unanswered("read of BAR0+0x%x", offset);
    }
    long answer = Integer.toUnsignedLong(dword(offset)) >>> Byte.SIZE * (offset % DWORD);
    return outOfStep ? shifted(answer) : answer;
  }

  private long unanswered(String what, long offset) {
    hazards.strike("12.11", what.formatted(offset) + " is never answered");
    return ALL_ONES;
  }

  private synchronized long shifted(long answer) {
    completions.add(answer);
    return completions.remove();
  }

  /**
   * A write.
   *
   * @return whether it started a command
   */
  boolean write(long offset, int width, long value) {
    if (blocked) {
      return false;
    }
    if (isPort(offset)) {
      synchronized (this) {
        blocked |= ++portWrites >= WRITES_THAT_BLOCK;
      }
      hazards.strike("12.11", "write to BAR0+0x%x, where nothing accepts it".formatted(offset));
      return false;
    }
    if (width < DWORD || offset % DWORD != 0) {
      synchronized (this) {
        completions.add(Integer.toUnsignedLong(dword(offset)));
        outOfStep = true;
      }
      return false;
    }
    return width == DWORD && store(offset, (int) value);
  }

  private boolean store(long offset, int value) {
    if (offset >= MSIX_TABLE && offset < MSIX_TABLE + MSIX_SIZE) {
      interrupts.set((int) (offset - MSIX_TABLE) / DWORD, value);
    } else if (offset < Hcr.SIZE) {
      // The token has no low half.
      hcr.set((int) offset / DWORD, offset == Hcr.TOKEN ? value & 0xffff_0000 : value);
      return offset == Hcr.COMMAND && Hcr.go(value);
    }
    return false;
  }

  private int dword(long offset) {
    if (offset >= MSIX_TABLE && offset < MSIX_TABLE + MSIX_SIZE) {
      return interrupts.get((int) (offset - MSIX_TABLE) / DWORD);
    }
    return offset < Hcr.SIZE ? hcr.get((int) offset / DWORD) : 0;
  }

  private static boolean isPort(long offset) {
    return offset >= Bar.FORBIDDEN_RTL_FIRST && offset <= Bar.FORBIDDEN_RTL_LAST;
  }

  int register(int offset) {
    return hcr.get(offset / DWORD);
  }

  /** Two registers as one number, the high half first. */
  long parameter(int offset) {
    return (long) register(offset) << Integer.SIZE
        | Integer.toUnsignedLong(register(offset + DWORD));
  }

  /** A command ends: out_param goes to 0, and status and go change at once. */
  void complete(int status) {
    hcr.set(Hcr.OUT_PARAM_HIGH / DWORD, 0);
    hcr.set(Hcr.OUT_PARAM_LOW / DWORD, 0);
    hcr.set(Hcr.COMMAND / DWORD, Hcr.completed(register(Hcr.COMMAND), status));
  }

  /** As after power-on. */
  synchronized void reset() {
    for (int i = 0; i < hcr.length(); i++) {
      hcr.set(i, 0);
    }
    for (int i = 0; i < interrupts.length(); i++) {
      interrupts.set(i, 0);
    }
    completions.clear();
    outOfStep = false;
    portReads = 0;
    portWrites = 0;
    blocked = false;
  }
}
