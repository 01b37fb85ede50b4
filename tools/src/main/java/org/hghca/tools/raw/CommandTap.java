package org.hghca.tools.raw;

import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.hghca.abi.Bar;
import org.hghca.abi.Hcr;
import org.hghca.vfio.MmioHandler;
import org.hghca.vfio.MmioRegion;

/**
 * Wraps BAR0, records every command with its mailboxes, and blocks accesses that could stop the
 * RTL: any access that is not 32 bits wide, and any to the unconnected range of the RTL until the
 * RTL is ruled out.
 */
public final class CommandTap implements MmioHandler {
  private static final int NO_HCR = -1;

  /** How long a thread waits for the end of another one's command before it gives its own. */
  private static final long TURN_MILLIS = 1000;

  private final MmioRegion registers;
  private final MappedMemory memory;
  private final CardHistory history = new CardHistory();
  private final int[] shadow = new int[Hcr.SIZE / Integer.BYTES];
  private final List<CommandRecord> records = new ArrayList<>();
  private int base = NO_HCR;
  private boolean wholeBar;
  private Duration settle = Duration.ZERO;
  private boolean running;

  /** Whether the running command is in the record already, as one without an end. */
  private boolean told;

  /** Who gives a command: the dwords of two must not mix, and a driver has threads of its own. */
  private Thread giver;

  private long started;
  private byte[] inbox = {};

  /**
   * In front of BAR0.
   *
   * @param memory where mailboxes may be
   */
  CommandTap(MmioRegion registers, MappedMemory memory) {
    this.registers = registers;
    this.memory = memory;
  }

  /** BAR0 as seen through this. */
  MmioRegion region() {
    return MmioRegion.trapped(registers.size(), this);
  }

  /** Where the HCR is, from now on. */
  public synchronized void hcrAt(int offset) {
    base = offset;
  }

  /** The card is known, or declared by the user, to respond at all offsets. */
  public synchronized void allowWholeBar() {
    wholeBar = true;
  }

  /** Who waits for the end of a command with an answer waits for so long more. */
  public synchronized void settle(Duration time) {
    settle = time;
  }

  /** What the commands have given to the card. */
  CardHistory history() {
    return history;
  }

  /**
   * Returns and clears the record, with a command that has not completed. That one stays its
   * thread's, and is recorded again when it ends.
   */
  synchronized List<CommandRecord> take() {
    if (running && !told) {
      told = true;
      records.add(record(0, false));
    }
    List<CommandRecord> taken = List.copyOf(records);
    records.clear();
    return taken;
  }

  @Override
  public long read(long offset, int width) {
    check(offset, width);
    int value = registers.readInt(offset);
    await(settlingAfter(offset, value));
    synchronized (this) {
      if (isEnd(offset, value)) {
        end(value, value != -1);
      }
    }
    return Integer.toUnsignedLong(value);
  }

  /** Whether a value that this thread has read ends its command. */
  private boolean isEnd(long offset, int value) {
    boolean ends = offset == (long) base + Hcr.COMMAND && (!Hcr.go(value) || value == -1);
    return running && ends && Thread.currentThread().equals(giver);
  }

  private synchronized Duration settlingAfter(long offset, int value) {
    return isEnd(offset, value) && outboxSize() > 0 ? settle : Duration.ZERO;
  }

  private static void await(Duration time) {
    long end = System.nanoTime() + time.toNanos();
    for (long left = time.toNanos(); left > 0; left = end - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }

  @Override
  public void write(long offset, int width, long value) {
    check(offset, width);
    synchronized (this) {
      long at = offset - base;
      if (base != NO_HCR && at >= 0 && at < Hcr.SIZE) {
        takeTurn();
        shadow[(int) at / Integer.BYTES] = (int) value;
        if (at == Hcr.COMMAND && Hcr.go((int) value)) {
          begin();
        }
      }
    }
    registers.writeInt(offset, (int) value);
  }

  private void takeTurn() {
    boolean interrupted = false;
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(TURN_MILLIS);
    long left = TURN_MILLIS;
    while (giver != null && !giver.equals(Thread.currentThread()) && left > 0) {
      try {
        wait(left);
      } catch (InterruptedException e) {
        interrupted = true;
      }
      left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
    }
    giver = Thread.currentThread();
    if (interrupted) {
      giver.interrupt();
    }
  }

  private synchronized void check(long offset, int width) {
    if (width != Integer.BYTES) {
      throw new IllegalStateException(
          "BAR0 takes 32-bit accesses only, not %d bytes at 0x%x".formatted(width, offset));
    }
    if (!wholeBar && offset >= Bar.FORBIDDEN_RTL_FIRST && offset <= Bar.FORBIDDEN_RTL_LAST) {
      throw new IllegalStateException(
          "BAR0 + 0x%x must not be accessed before the RTL is ruled out".formatted(offset));
    }
  }

  private void begin() {
    if (running) {
      end(0, false);
    }
    running = true;
    told = false;
    int size = CommandRecord.inboxSize(dword(Hcr.COMMAND), dword(Hcr.IN_MODIFIER));
    inbox = bytes(parameter(Hcr.IN_PARAM_HIGH), size);
    started = System.nanoTime();
  }

  private void end(int answer, boolean ended) {
    CommandRecord record = record(answer, ended);
    running = false;
    giver = null;
    notifyAll();
    if (ended || !told) {
      records.add(record);
    }
    history.learn(record);
  }

  private CommandRecord record(int answer, boolean ended) {
    int word = dword(Hcr.COMMAND);
    boolean answered = ended && Hcr.status(answer) == 0;
    long outParam = parameter(Hcr.OUT_PARAM_HIGH);
    return new CommandRecord(
        word,
        dword(Hcr.IN_MODIFIER),
        parameter(Hcr.IN_PARAM_HIGH),
        outParam,
        inbox,
        answered ? bytes(outParam, outboxSize()) : new byte[0],
        answer,
        System.nanoTime() - started,
        ended);
  }

  private int outboxSize() {
    return CommandRecord.outboxSize(dword(Hcr.COMMAND));
  }

  private int dword(int offset) {
    return shadow[offset / Integer.BYTES];
  }

  private long parameter(int offset) {
    return (long) dword(offset) << 32 | Integer.toUnsignedLong(dword(offset + Integer.BYTES));
  }

  /** The memory at an address of the card; empty if it is not there in one piece. */
  private byte[] bytes(long iova, int size) {
    return size == 0
        ? new byte[0]
        : memory
            .at(iova, size)
            .map(found -> found.toArray(ValueLayout.JAVA_BYTE))
            .orElse(new byte[0]);
  }
}
