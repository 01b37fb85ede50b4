package org.hghca.model.card;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.hghca.vfio.DeviceBus;
import org.hghca.vfio.DmaWindow;
import org.hghca.wire.MemoryPieces;

/**
 * The HCA's access to host memory: enabled only while bus mastering is on, through windows until
 * the end of a step in which it is turned off. In a step the HCA goes through windows of the bus
 * where there are any; what these cannot do goes by calls of the bus, which record what is refused.
 */
public final class HostMemory {
  private static final int SLOTS = 256;
  private static final int PAGE_SHIFT = 12;

  /** In place of an epoch: nothing is good. */
  private static final long NONE = -2;

  private final Faults faults;
  private final Runnable catastrophe;
  private volatile DeviceBus bus;
  private volatile boolean enabled;

  /** By the low bits of the page number: hints that must be checked. */
  private final DmaWindow[] windows = new DmaWindow[SLOTS];

  /** Of the bus: the windows are good for this number. */
  private long mappings = DeviceBus.NO_WINDOWS;

  /** Whether there is a run of the bus. */
  private boolean running;

  private long epoch;

  /**
   * The epoch if windows may be used: in a step that began with bus mastering on, on a bus that has
   * them; otherwise NONE.
   */
  private long current = NONE;

  /**
   * @param catastrophe run when the card cannot access one of its tables
   */
  public HostMemory(Faults faults, Runnable catastrophe) {
    this.faults = faults;
    this.catastrophe = catastrophe;
  }

  public void attach(DeviceBus bus) {
    this.bus = bus;
  }

  /**
   * Enables or disables the access: the bus master bit of the command register. That through
   * windows ends with the step.
   */
  public void enable(boolean on) {
    enabled = on;
  }

  /** What is known of the memory of a window until the end of a step. */
  public static MemoryPieces.Kind kind(DmaWindow window) {
    return window.stays() ? MemoryPieces.Kind.STAYS : MemoryPieces.Kind.MAY_END;
  }

  /** A step begins: until {@link #endStep} the host takes no memory away. */
  public void beginStep() {
    if (running) {
      throw new IllegalStateException("a step in a step: the bus would let memory go");
    }
    DeviceBus host = bus;
    long present = host == null ? DeviceBus.NO_WINDOWS : host.beginRun();
    if (present != mappings) {
      mappings = present;
      epoch++;
      Arrays.fill(windows, null);
    }
    running = present != DeviceBus.NO_WINDOWS;
    current = running && enabled ? epoch : NONE;
  }

  /** The step ends. */
  public void endStep() {
    current = NONE;
    if (running) {
      running = false;
      bus.endRun();
    }
  }

  /** The card's tables have changed: nothing that is kept of them or of windows is good. */
  public void change() {
    epoch++;
    current = current == NONE ? NONE : epoch;
  }

  /** The epoch of what is read now. */
  public long epoch() {
    return epoch;
  }

  /** The epoch of what is good now: never one of {@link #epoch} unless windows may be used. */
  public long current() {
    return current;
  }

  /**
   * The window that holds some bytes, for this step and later ones of the same {@link #epoch}.
   *
   * @return null when they must be accessed by {@link #read} and {@link #write}
   */
  public DmaWindow window(long iova, long length) {
    if (current == NONE) {
      return null;
    }
    int slot = (int) (iova >>> PAGE_SHIFT) & SLOTS - 1;
    DmaWindow window = windows[slot];
    if (window != null && window.holds(iova, length)) {
      return window;
    }
    window = bus.window(iova);
    windows[slot] = window;
    return window != null && window.holds(iova, length) ? window : null;
  }

  /** Whether windows may be used now. */
  public boolean isDirect() {
    return current != NONE;
  }

  /**
   * Reads by I/O address.
   *
   * @return whether all bytes were read; a refusal is recorded as a fault
   */
  public boolean read(long iova, MemorySegment target, long offset, long length) {
    DmaWindow window = length == 0 ? null : window(iova, length);
    return window != null && read(window, iova, target, offset, length)
        || enabled && bus.read(iova, target, offset, length)
        || refused("read", iova, length);
  }

  /**
   * Writes by I/O address.
   *
   * @return whether all bytes were written; a refusal is recorded as a fault
   */
  public boolean write(long iova, MemorySegment source, long offset, long length) {
    DmaWindow window = length == 0 ? null : window(iova, length);
    return window != null
            && window.access().writable()
            && write(window, iova, source, offset, length)
        || enabled && bus.write(iova, source, offset, length)
        || refused("write", iova, length);
  }

  /**
   * Reads a number of two bytes, in little-endian order, through a window.
   *
   * @return 0 to 65535; -1 when there is no window, and {@link #read} has to be tried
   */
  public int readShort(long iova) {
    DmaWindow window = window(iova, Short.BYTES);
    try {
      return window == null ? -1 : window.readShort(iova);
    } catch (IllegalStateException | InternalError e) {
      return -1;
    }
  }

  /** Reads through a window; returns false when its memory has gone. */
  public static boolean read(
      DmaWindow window, long iova, MemorySegment target, long offset, long length) {
    try {
      window.read(iova, target, offset, length);
      return true;
    } catch (IllegalStateException | InternalError e) {
      return false;
    }
  }

  /** Writes through a window that is writable; returns false when its memory has gone. */
  public static boolean write(
      DmaWindow window, long iova, MemorySegment source, long offset, long length) {
    try {
      window.write(iova, source, offset, length);
      return true;
    } catch (IllegalStateException | InternalError e) {
      return false;
    }
  }

  /** {@link #read} of a whole table entry; a failure is fatal for the card. */
  public boolean readTable(long iova, MemorySegment target, long length) {
    return read(iova, target, 0, length) || lost();
  }

  /** {@link #write} of a whole table entry; a failure is fatal for the card. */
  public boolean writeTable(long iova, MemorySegment source, long length) {
    return writeTable(iova, source, 0, length);
  }

  /** {@link #write} of a part of a table entry; a failure is fatal for the card. */
  public boolean writeTable(long iova, MemorySegment source, long offset, long length) {
    return write(iova, source, offset, length) || lost();
  }

  private boolean lost() {
    catastrophe.run();
    return false;
  }

  /** Raises an interrupt, which is a write to host memory too. */
  public void raise(int vector) {
    if (enabled) {
      bus.raise(vector);
    }
  }

  private boolean refused(String access, long iova, long length) {
    faults.record(
        "DMA %s of %d bytes at IOVA 0x%x %s"
            .formatted(
                access,
                length,
                iova,
                enabled ? "refused by the host" : "while bus mastering is off"));
    return false;
  }
}
