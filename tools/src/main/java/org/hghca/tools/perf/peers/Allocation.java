package org.hghca.tools.perf.peers;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;

/** What the threads of this process allocate on the heap. */
final class Allocation {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private Allocation() {}

  /** Bytes since the process began, of all threads. */
  static long bytes() {
    return THREADS.getTotalThreadAllocatedBytes();
  }
}
