package org.hghca.tools.perf.peers;

import org.hghca.programs.perf.run.Progress;
import org.hghca.programs.perf.run.Watcher;

/**
 * What is allocated for each message of a measurement, from a quarter of the messages to three
 * quarters: what both ends allocate to set it up and to report it is outside of that.
 */
final class HeapWatcher implements Watcher {
  private static final int PARTS = 4;
  private static final long PAUSE_MILLIS = 1;

  private final int count;
  private Thread sampler;
  private long first;
  private long before;
  private long last;
  private long after;

  /** For a number of messages. */
  HeapWatcher(int count) {
    this.count = count;
  }

  @Override
  public void begins(Progress progress) {
    first = 0;
    before = Allocation.bytes();
    sampler = Thread.ofPlatform().daemon().name("heap").start(() -> sample(progress));
  }

  private void sample(Progress progress) {
    try {
      await(progress, count / PARTS);
      first = progress.messages();
      before = Allocation.bytes();
      await(progress, count - count / PARTS);
    } catch (InterruptedException _) {
      // The measurement was shorter than the pauses.
    }
    last = progress.messages();
    after = Allocation.bytes();
  }

  private static void await(Progress progress, int messages) throws InterruptedException {
    while (progress.messages() < messages) {
      Thread.sleep(PAUSE_MILLIS);
    }
  }

  @Override
  public void ends() {
    sampler.interrupt();
    boolean interrupted = false;
    while (sampler.isAlive()) {
      try {
        sampler.join();
      } catch (InterruptedException _) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Bytes of each message, of all threads of this process. */
  double allocated() {
    return (double) (after - before) / Math.max(1, last - first);
  }
}
