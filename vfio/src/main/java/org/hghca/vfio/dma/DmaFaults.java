package org.hghca.vfio.dma;

import java.util.ArrayDeque;
import java.util.List;
import org.hghca.vfio.DmaFault;

/** The refused accesses of a device: their number, and the newest of them. Thread-safe. */
public final class DmaFaults {
  private static final int KEPT = 64;

  private final ArrayDeque<DmaFault> newest = new ArrayDeque<>();
  private long count;

  public synchronized void record(long iova, long length, boolean write, String cause) {
    count++;
    if (newest.size() == KEPT) {
      newest.removeFirst();
    }
    newest.addLast(new DmaFault(iova, length, write, cause));
  }

  /** Oldest first, the newest 64. */
  public synchronized List<DmaFault> list() {
    return List.copyOf(newest);
  }

  public synchronized long count() {
    return count;
  }
}
