package org.hghca.mailbox;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.hghca.abi.Hcr;
import org.hghca.vfio.GiveWay;
import org.hghca.vfio.MmioRegion;
import org.hghca.vfio.PciFunction;

/**
 * The protocol of the HCR (interface document, tables 3-1-3 and 3-1-4): aligned 32-bit accesses
 * only, one command at a time, and no store while go is set. Guarded by the lock of its owner.
 */
final class HcrPort {
  /**
   * How long to poll without a pause: a card completes a command in less than a microsecond. If
   * register accesses trap, a single read takes longer, and the software HCA needs the processor.
   */
  private static final long SPIN_NANOS = GiveWay.looks(50_000);

  /** Of a virtual thread: the software HCA does not work on one, and needs its processor. */
  private static final long VIRTUAL_SPIN_NANOS = 2_000;

  private static final long FIRST_PAUSE_NANOS = 1_000;
  private static final long LONGEST_PAUSE_NANOS = 500_000;

  private final String place;
  private final MmioRegion registers;
  private final long base;
  private final Duration limit;
  private boolean interrupted;

  HcrPort(PciFunction function, long base, Duration limit) {
    this.registers = function.region(0);
    this.base = base;
    this.limit = limit;
    this.place = "the HCR at BAR0 + 0x%x of %s".formatted(base, function.locator());
  }

  /**
   * Looks whether an HCR is there.
   *
   * @throws DeviceFatalException with the values that were read
   */
  void check(PciFunction function) {
    HcrProbe probe = HcrProbe.at(function, base);
    if (!probe.isHcr()) {
      throw new DeviceFatalException(
          "%s %s: wrong profile, or no HCA".formatted(place, probe.describe()));
    }
  }

  /**
   * Gives one command and waits for its end. A thread interrupt has no effect; it is still pending
   * afterwards.
   *
   * @param what the command; in words only for messages
   * @return the status code
   * @throws DeviceFatalException when the card does not respond, or was reset meanwhile: a
   *     completed command leaves its opcode in the register
   */
  int execute(Object what, long inParam, int inModifier, long outParam, int command) {
    interrupted = false;
    try {
      awaitFree("%s was not free for %s", what);
      registers.writeInt(base + Hcr.IN_PARAM_HIGH, (int) (inParam >>> 32));
      registers.writeInt(base + Hcr.IN_PARAM_LOW, (int) inParam);
      registers.writeInt(base + Hcr.IN_MODIFIER, inModifier);
      // Every completion clears out_param, so each command writes it, needed or not.
      registers.writeInt(base + Hcr.OUT_PARAM_HIGH, (int) (outParam >>> 32));
      registers.writeInt(base + Hcr.OUT_PARAM_LOW, (int) outParam);
      registers.writeInt(base + Hcr.TOKEN, Hcr.tokenRegister(Hcr.POLL_TOKEN));
      // Go, last: the inbox and the other dwords must be visible to the card before it.
      registers.writeInt(base + Hcr.COMMAND, command);
      int ended = awaitFree("%s did not complete %s", what);
      if (ended == 0) {
        throw new DeviceFatalException(
            "%s was reset while %s was in progress: it has lost its state".formatted(place, what));
      }
      return Hcr.status(ended);
    } catch (DeviceFatalException e) {
      throw e;
    } catch (RuntimeException | InternalError e) {
      // An access to an unmapped register faults; the JVM reports that as an InternalError.
      throw new DeviceFatalException("%s: %s failed".formatted(place, what), e);
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Waits until go is clear and returns the dword of that read, which also contains the status. */
  private int awaitFree(String complaint, Object what) {
    long start = System.nanoTime();
    long pause = FIRST_PAUSE_NANOS;
    long spin = Thread.currentThread().isVirtual() ? VIRTUAL_SPIN_NANOS : SPIN_NANOS;
    while (true) {
      // Taken before the read, so that a delayed thread polls once more.
      long waited = System.nanoTime() - start;
      boolean last = waited >= limit.toNanos();
      int command = readCommand();
      if (!Hcr.go(command)) {
        return command;
      }
      if (last) {
        throw new CommandTimeoutException(
            (complaint + " within %s (dword 0x18 is 0x%08x): the card must be reset")
                .formatted(place, what, limit, command));
      }
      if (waited < spin) {
        Thread.onSpinWait();
      } else {
        LockSupport.parkNanos(pause);
        pause = Math.min(2 * pause, LONGEST_PAUSE_NANOS);
        // While an interrupt is pending, a pause returns at once.
        interrupted |= Thread.interrupted();
      }
    }
  }

  private int readCommand() {
    int command = registers.readInt(base + Hcr.COMMAND);
    if (command == -1) {
      throw new DeviceFatalException(
          "%s reads all ones: the card is gone, or nothing answers there".formatted(place));
    }
    return command;
  }
}
