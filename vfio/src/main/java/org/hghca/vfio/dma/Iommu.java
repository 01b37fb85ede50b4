package org.hghca.vfio.dma;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.hghca.vfio.DmaFault;
import org.hghca.vfio.DmaWindow;
import org.hghca.vfio.GiveWay;

/**
 * The mapping from I/O addresses to memory, if this process itself serves the device's accesses.
 * The device accesses memory through the mapped segment itself, so that an access to freed memory,
 * of a closed arena or a truncated file, is a recorded fault and never a stray access; by address
 * only in a run, where memory {@linkplain DmaWindow#stays stays}.
 *
 * <p>An unmap returns only after every access to its range has ended: it waits for the end of a
 * run, and excludes accesses outside a run. Accesses in a run wait for nobody: a thread that does
 * the work of a device must not queue behind a virtual thread that has no processor.
 */
public final class Iommu {
  private static final int CACHE_SLOTS = 64;
  private static final String CUT_OFF = "the memory's file was truncated";

  /** How often a thread looks whether a run has ended before it lets others have the core. */
  private static final int LOOKS_BETWEEN_YIELDS = GiveWay.looks(100);

  /**
   * What is mapped.
   *
   * @param sorted by address; never changed
   * @param found the range last found for a page, by the low bits of the page number: a hint that
   *     must be checked. Only ranges that are mapped
   */
  private record Ranges(DmaWindow[] sorted, DmaWindow[] found) {
    DmaWindow lookup(long iova, long length) {
      int slot = (int) (iova >>> 12) & CACHE_SLOTS - 1;
      DmaWindow range = found[slot];
      if (range != null && range.holds(iova, length)) {
        return range;
      }
      int at = find(iova);
      int candidate = at >= 0 ? at : -2 - at;
      if (candidate < 0 || !sorted[candidate].holds(iova, length)) {
        return null;
      }
      found[slot] = sorted[candidate];
      return sorted[candidate];
    }

    /** The index of the range that starts at an address, or -1 minus its insertion index. */
    private int find(long iova) {
      int low = 0;
      int high = sorted.length - 1;
      while (low <= high) {
        int middle = (low + high) >>> 1;
        int order = Long.compareUnsigned(sorted[middle].iova(), iova);
        if (order == 0) {
          return middle;
        }
        if (order < 0) {
          low = middle + 1;
        } else {
          high = middle - 1;
        }
      }
      return -1 - low;
    }
  }

  /** Replaced under the monitor. */
  private volatile Ranges ranges = new Ranges(new DmaWindow[0], new DmaWindow[CACHE_SLOTS]);

  /** The number of ranges that were unmapped. */
  private final AtomicLong removals = new AtomicLong();

  /** Odd during a run of direct accesses; changed by the thread that has it. */
  private final AtomicLong run = new AtomicLong();

  /** The thread of the last run. */
  private Thread runner;

  private final DmaFaults faults = new DmaFaults();

  /**
   * Makes memory accessible to the device.
   *
   * @param window whose addresses nothing is mapped at
   */
  public synchronized void map(DmaWindow window) {
    DmaWindow[] old = ranges.sorted;
    int at = -1 - ranges.find(window.iova());
    DmaWindow[] grown = new DmaWindow[old.length + 1];
    System.arraycopy(old, 0, grown, 0, at);
    grown[at] = window;
    System.arraycopy(old, at, grown, at + 1, old.length - at);
    ranges = new Ranges(grown, ranges.found);
  }

  /**
   * Undoes {@link #map}.
   *
   * @param iova of the window's first byte
   */
  public void unmap(long iova) {
    remove(iova);
    long seen = run.get();
    if (isRunning(seen) && !Thread.currentThread().equals(runner)) {
      awaitEnd(seen);
    }
  }

  private synchronized void remove(long iova) {
    DmaWindow[] old = ranges.sorted;
    int at = ranges.find(iova);
    DmaWindow[] shrunk = new DmaWindow[old.length - 1];
    System.arraycopy(old, 0, shrunk, 0, at);
    System.arraycopy(old, at + 1, shrunk, at, shrunk.length - at);
    ranges = new Ranges(shrunk, new DmaWindow[CACHE_SLOTS]);
    removals.getAndIncrement();
  }

  /**
   * Begins a run of direct accesses by the calling thread; only one thread at a time has a run. A
   * range that is unmapped meanwhile stays until the end of the run: {@link #unmap} waits for it.
   *
   * @return the number of ranges that were unmapped so far
   */
  public long beginRun() {
    runner = Thread.currentThread();
    run.set(run.get() + 1); // before the count is read, as unmap counts before it looks for a run
    return removals.get();
  }

  /** Ends a run, after all of its accesses. */
  public void endRun() {
    run.setRelease(run.get() + 1);
  }

  private boolean runsHere() {
    return isRunning(run.get()) && Thread.currentThread().equals(runner);
  }

  private static boolean isRunning(long run) {
    return (run & 1) != 0;
  }

  private void awaitEnd(long seen) {
    boolean interrupted = false;
    for (int looks = 1; run.get() == seen; looks++) {
      if (looks % LOOKS_BETWEEN_YIELDS == 0) {
        interrupted |= GiveWay.pause(); // the run's thread may need the core
      } else {
        Thread.onSpinWait();
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * The range of an address for direct accesses, which may follow in this run and in later ones
   * until something is unmapped; null when nothing is mapped there.
   */
  public DmaWindow window(long iova) {
    return ranges.lookup(iova, 1);
  }

  /** As {@link org.hghca.vfio.DeviceBus#read}. */
  public boolean read(long iova, MemorySegment destination, long offset, long length) {
    if (runsHere()) {
      return readNow(iova, destination, offset, length);
    }
    synchronized (this) {
      return readNow(iova, destination, offset, length);
    }
  }

  private boolean readNow(long iova, MemorySegment destination, long offset, long length) {
    if (length == 0) {
      return true;
    }
    DmaWindow range = ranges.lookup(iova, length);
    if (range == null) {
      return fault(iova, length, false, "not mapped");
    }
    try {
      range.read(iova, destination, offset, length);
      return true;
    } catch (IllegalStateException | WrongThreadException e) {
      return fault(iova, length, false, e.getMessage());
    } catch (InternalError e) {
      return fault(iova, length, false, CUT_OFF);
    }
  }

  /** As {@link org.hghca.vfio.DeviceBus#write}. */
  public boolean write(long iova, MemorySegment source, long offset, long length) {
    if (runsHere()) {
      return writeNow(iova, source, offset, length);
    }
    synchronized (this) {
      return writeNow(iova, source, offset, length);
    }
  }

  private boolean writeNow(long iova, MemorySegment source, long offset, long length) {
    if (length == 0) {
      return true;
    }
    DmaWindow range = ranges.lookup(iova, length);
    if (range == null) {
      return fault(iova, length, true, "not mapped");
    }
    if (!range.access().writable()) {
      return fault(iova, length, true, "mapped read-only");
    }
    try {
      range.write(iova, source, offset, length);
      return true;
    } catch (IllegalStateException | WrongThreadException e) {
      return fault(iova, length, true, e.getMessage());
    } catch (InternalError e) {
      return fault(iova, length, true, CUT_OFF);
    }
  }

  /** The newest 64, oldest first. */
  public List<DmaFault> faults() {
    return faults.list();
  }

  /** Total number of refused accesses. */
  public long faultCount() {
    return faults.count();
  }

  private boolean fault(long iova, long length, boolean write, String cause) {
    faults.record(iova, length, write, cause);
    return false;
  }
}
