package org.hghca.vfio.dma;

import java.util.ArrayDeque;
import java.util.List;
import org.hghca.linux.SpinMutex;
import org.hghca.vfio.DmaFault;

/** The refused accesses of a device: their number, and the newest of them. Thread-safe. */
public final class DmaFaults {
  private static final int KEPT = 64;

  private final ArrayDeque<DmaFault> newest = new ArrayDeque<>();
  private final SpinMutex mutex = new SpinMutex();
  private long count;

  public void record(long iova, long length, boolean write, String cause) {
    mutex.lock();
    try {
      count++;
      if (newest.size() == KEPT) {
        newest.removeFirst();
      }
      newest.addLast(new DmaFault(iova, length, write, cause));
    } finally {
      mutex.unlock();
    }
  }

  /** Oldest first, the newest 64. */
  public List<DmaFault> list() {
    mutex.lock();
    try {
      return List.copyOf(newest);
    } finally {
      mutex.unlock();
    }
  }

  public long count() {
    mutex.lock();
    try {
      return count;
    } finally {
      mutex.unlock();
    }
  }
}
