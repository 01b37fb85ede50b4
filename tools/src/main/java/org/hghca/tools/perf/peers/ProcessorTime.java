package org.hghca.tools.perf.peers;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import org.hghca.programs.perf.run.Progress;
import org.hghca.programs.perf.run.Watcher;

/** How long the threads of this process run during a measurement. Not thread-safe. */
final class ProcessorTime implements Watcher {
  private static final OperatingSystemMXBean SYSTEM =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  private long start = SYSTEM.getProcessCpuTime();
  private long ran;

  @Override
  public void begins(Progress progress) {
    start = SYSTEM.getProcessCpuTime();
  }

  @Override
  public void ends() {
    ran = SYSTEM.getProcessCpuTime() - start;
  }

  /** Nanoseconds from the beginning to the end; the system counts in hundredths of a second. */
  long nanos() {
    return ran;
  }
}
