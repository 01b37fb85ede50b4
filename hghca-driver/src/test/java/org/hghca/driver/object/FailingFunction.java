package org.hghca.driver.object;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import org.hghca.abi.Bar;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.Hcr;
import org.hghca.vfio.ConfigurationSpace;
import org.hghca.vfio.DmaAccess;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.ForwardingFunction;
import org.hghca.vfio.ForwardingMapping;
import org.hghca.vfio.Interrupts;
import org.hghca.vfio.Locator;
import org.hghca.vfio.MmioHandler;
import org.hghca.vfio.MmioRegion;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.VfioException;

/**
 * A software HCA that fails at one command or one allocation, counts the remaining mappings, and
 * can be unplugged. Then it behaves as a card of the kernel does, or one of a server that has
 * ended: its registers and configuration space read all ones and ignore stores, a wait for an
 * interrupt reports the removal, and so does every other call except the closing of open objects.
 */
public final class FailingFunction extends ForwardingFunction {
  /** The function's knowledge of its end. */
  static final String PULLED = "the card was pulled out";

  private static final int STATUS_BAD_PARAM = 3;

  private final PciFunction function;
  private final Interrupts interrupts;
  private final Locator locator;
  private final int hcr;
  private final Set<DmaMapping> mappings = new HashSet<>();

  /** Operations on the function as a whole, oldest first. */
  private final List<String> history = new ArrayList<>();

  private int commandsUntilFailure = Integer.MAX_VALUE;
  private int allocationsUntilFailure = Integer.MAX_VALUE;
  private boolean answerFailure;
  private boolean resetFails;
  private int accesses;
  private int lostAfter = Integer.MAX_VALUE;
  private volatile boolean lost;
  private volatile boolean wanted;
  private volatile boolean mute;
  private volatile boolean doorbellsCutOff;

  /** Counted down when a listener was notified that the card is requested back. */
  final CountDownLatch heard = new CountDownLatch(1);

  private Runnable onCommand = () -> {};
  private int opcode;
  private boolean closed;
  private int mappingsAtClose;
  private boolean busMasterAtClose;

  public FailingFunction(PciFunction function) {
    this(function, function.locator());
  }

  public FailingFunction(PciFunction function, Locator locator) {
    super(function);
    this.function = function;
    this.interrupts = function.interrupts();
    this.locator = locator;
    String profile = function.locator().parameter("profile").orElse("s");
    this.hcr = HardwareProfile.byName(profile).hcrBase();
  }

  /** Makes the card refuse a command, after some accepted ones. */
  public void failCommand(int after) {
    commandsUntilFailure = after;
  }

  /** Makes an allocation fail, after some successful ones. */
  public void failAllocation(int after) {
    allocationsUntilFailure = after;
  }

  /** Makes every reset from now on fail. */
  public void failReset() {
    resetFails = true;
  }

  /** Takes the card out of its slot. */
  public void lose() {
    lost = true;
    interrupts.wake();
  }

  /**
   * Makes registers read all ones, as those of a card that is unplugged before the kernel notices
   * it.
   */
  void mute() {
    mute = true;
  }

  /** Removes the doorbells, as a server does that ends while a program rings one. */
  void cutOffDoorbells() {
    doorbellsCutOff = true;
  }

  /** Requests the card back, by an interrupt alone: all else works as before. */
  void want() {
    wanted = true;
    interrupts.wake();
  }

  /** Removes the card after so many more accesses to its registers. */
  synchronized void loseAfter(int more) {
    lostAfter = accesses + more;
  }

  boolean isLost() {
    return lost;
  }

  /** The number of accesses to its registers. */
  synchronized int accesses() {
    return accesses;
  }

  /** Runs an action while the card executes each command. */
  public void onCommand(Runnable action) {
    onCommand = action;
  }

  /** The inbox of the command that is being issued. */
  MemorySegment inbox() {
    MmioRegion registers = function.region(0);
    long address = (long) registers.readInt(hcr) << 32 | registers.readInt(hcr + 4) & 0xffff_ffffL;
    return mappings.stream()
        .filter(mapping -> mapping.iova(0) == address)
        .map(DmaMapping::segment)
        .findFirst()
        .orElse(MemorySegment.NULL);
  }

  /** The opcode of the command that is being issued. */
  int opcode() {
    return opcode;
  }

  public synchronized boolean isClosed() {
    return closed;
  }

  synchronized int mappings() {
    return mappings.size();
  }

  @Override
  public long mappedBytes() {
    return mappings.stream().mapToLong(mapping -> mapping.segment().byteSize()).sum();
  }

  public int mappingsAtClose() {
    return mappingsAtClose;
  }

  public boolean busMasterAtClose() {
    return busMasterAtClose;
  }

  /** Commands, resets, changes of bus mastering, mappings closed before it, the close. */
  public synchronized List<String> history() {
    return List.copyOf(history);
  }

  private synchronized void note(String what) {
    history.add(what);
  }

  private synchronized void count() {
    if (accesses++ == lostAfter) {
      lose();
    }
  }

  private void checkThere() {
    if (lost) {
      throw new VfioException(VfioException.Reason.CLOSED, PULLED);
    }
  }

  @Override
  public Locator locator() {
    return locator;
  }

  @Override
  public ConfigurationSpace configuration() {
    ConfigurationSpace configuration = function.configuration();
    return new ConfigurationSpace() {
      @Override
      public int read(int offset, int width) {
        return lost ? (int) (-1L >>> 64 - 8 * width) : configuration.read(offset, width);
      }

      @Override
      public void write(int offset, int width, int value) {
        if (!lost) {
          int changed = value ^ configuration.read(offset, width);
          if (offset == COMMAND && (changed & COMMAND_BUS_MASTER) != 0) {
            note((value & COMMAND_BUS_MASTER) == 0 ? "bus master off" : "bus master on");
          }
          configuration.write(offset, width, value);
        }
      }
    };
  }

  @Override
  public MmioRegion region(int bar) {
    MmioRegion region = function.region(bar);
    return MmioRegion.trapped(
        region.size(),
        new MmioHandler() {
          @Override
          public long read(long offset, int width) {
            count();
            return lost || mute ? -1L >>> 64 - 8 * width : readThere(region, offset, width);
          }

          @Override
          public void write(long offset, int width, long value) {
            count();
            if (doorbellsCutOff && bar == Bar.BAR2) {
              throw new VfioException(VfioException.Reason.CLOSED, PULLED);
            }
            if (!lost && !(bar == 0 && offset == hcr + Hcr.COMMAND && refuses((int) value))) {
              writeThere(region, offset, width, value);
            }
          }
        });
  }

  private long readThere(MmioRegion region, long offset, int width) {
    if (width == Long.BYTES) {
      return region.readLong(offset);
    }
    int value = region.readInt(offset);
    return offset == hcr + Hcr.COMMAND && answerFailure
        ? value & 0xff_ffff | STATUS_BAD_PARAM << 24
        : value;
  }

  private static void writeThere(MmioRegion region, long offset, int width, long value) {
    if (width == Long.BYTES) {
      region.writeLong(offset, value);
    } else {
      region.writeInt(offset, (int) value);
    }
  }

  /** A command is issued; returns whether it is kept from the card. */
  private boolean refuses(int command) {
    if (!Hcr.go(command)) {
      return false;
    }
    opcode = command & 0xfff;
    note("command 0x%02x".formatted(opcode));
    onCommand.run();
    answerFailure = commandsUntilFailure-- == 0;
    return answerFailure;
  }

  @Override
  public DmaMapping allocate(long bytes) {
    checkThere();
    if (allocationsUntilFailure-- == 0) {
      throw new VfioException(VfioException.Reason.NO_MEMORY, "no DMA memory left");
    }
    return track(function.allocate(bytes));
  }

  @Override
  public DmaMapping map(MemorySegment memory, DmaAccess access) {
    checkThere();
    return track(function.map(memory, access));
  }

  private synchronized DmaMapping track(DmaMapping mapping) {
    mappings.add(mapping);
    return new ForwardingMapping(mapping) {
      @Override
      public void close() {
        synchronized (FailingFunction.this) {
          if (mappings.remove(mapping) && !closed) {
            note("unmap");
          }
        }
        super.close();
      }
    };
  }

  @Override
  public Interrupts interrupts() {
    checkThere();
    return new Interrupts() {
      @Override
      public long count(int vector) {
        return interrupts.count(vector);
      }

      @Override
      public int vectors() {
        return interrupts.vectors();
      }

      @Override
      public long await(long timeoutNanos) {
        checkThere();
        long fired = interrupts.await(timeoutNanos);
        checkThere();
        if (wanted) {
          heard.countDown();
          throw new VfioException(VfioException.Reason.CLOSED, PULLED);
        }
        return fired;
      }

      @Override
      public void wake() {
        checkThere();
        interrupts.wake();
      }
    };
  }

  @Override
  public void reset() {
    checkThere();
    if (resetFails) {
      throw new VfioException(VfioException.Reason.UNSUPPORTED, "the reset failed");
    }
    note("reset");
    function.reset();
  }

  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
      note("close");
      mappingsAtClose = mappings.size();
    }
    busMasterAtClose =
        (function.configuration().read(ConfigurationSpace.COMMAND, 2)
                & ConfigurationSpace.COMMAND_BUS_MASTER)
            != 0;
    function.close();
  }
}
