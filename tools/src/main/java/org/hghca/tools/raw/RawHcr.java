package org.hghca.tools.raw;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import org.hghca.abi.Bar;
import org.hghca.abi.Hcr;
import org.hghca.mailbox.CommandSpan;
import org.hghca.vfio.MmioRegion;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.trace.DeviceTrace;

/**
 * The HCR by single accesses, for cases that the typed commands do not allow: other opcodes, the
 * event bit, missing mailboxes.
 */
public final class RawHcr {
  private static final int SPINS = 200;
  private static final long PAUSE_NANOS = 50_000;

  private final MmioRegion registers;
  private final long base;
  private final Duration limit;
  private final Optional<DeviceTrace> trace;

  /**
   * The HCR of a card that decodes memory.
   *
   * @param function of the card
   * @param base where it is in BAR0
   * @param limit how long a command may take
   */
  public RawHcr(PciFunction function, long base, Duration limit) {
    this.registers = function.region(Bar.BAR0);
    this.trace = function.trace();
    this.base = base;
    this.limit = limit;
  }

  /** Reads a dword of the HCR, see {@link Hcr}. */
  public int read(int offset) {
    return registers.readInt(base + offset);
  }

  /** Writes a dword of the HCR. */
  public void write(int offset, int value) {
    registers.writeInt(base + offset, value);
  }

  /** Dword 18h. */
  public int command() {
    return read(Hcr.COMMAND);
  }

  /**
   * Gives a command and waits for its end, or for an interrupt of the thread.
   *
   * @param word dword 18h with go set
   * @return dword 18h at the end
   * @throws CardStoppedException when the end does not come
   * @throws IllegalStateException when the thread is interrupted; the command may go on
   */
  public int give(int word, long inParam, int inModifier, long outParam, int token) {
    awaitFree("is not free for a command");
    write(Hcr.IN_PARAM_HIGH, (int) (inParam >>> 32));
    write(Hcr.IN_PARAM_LOW, (int) inParam);
    write(Hcr.IN_MODIFIER, inModifier);
    write(Hcr.OUT_PARAM_HIGH, (int) (outParam >>> 32));
    write(Hcr.OUT_PARAM_LOW, (int) outParam);
    write(Hcr.TOKEN, Hcr.tokenRegister(token));
    long begin = System.nanoTime();
    int status = CommandSpan.UNANSWERED;
    try {
      write(Hcr.COMMAND, word);
      int ended = awaitFree("did not end opcode %03xh".formatted(Hcr.op(word)));
      status = Hcr.status(ended);
      return ended;
    } finally {
      record(begin, word, inModifier, inParam, status);
    }
  }

  private void record(long begin, int word, int inModifier, long inParam, int status) {
    trace.ifPresent(t -> CommandSpan.record(t, begin, word, inModifier, inParam, status));
  }

  private int awaitFree(String complaint) {
    long start = System.nanoTime();
    for (int reads = 0; ; reads++) {
      boolean last = System.nanoTime() - start > limit.toNanos();
      int word = command();
      if (word == -1) {
        throw new CardStoppedException(
            "the HCR at BAR0 + 0x%x reads all ones: the card is gone".formatted(base));
      }
      if (!Hcr.go(word)) {
        return word;
      }
      if (Thread.currentThread().isInterrupted()) {
        throw new IllegalStateException(
            "the wait for the HCR at BAR0 + 0x%x was interrupted".formatted(base));
      }
      if (last) {
        throw new CardStoppedException(
            "the HCR at BAR0 + 0x%x %s within %s (dword 18h is %08x)"
                .formatted(base, complaint, limit, word));
      }
      if (reads < SPINS) {
        Thread.onSpinWait();
      } else {
        LockSupport.parkNanos(PAUSE_NANOS);
      }
    }
  }
}
