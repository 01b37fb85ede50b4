package org.hghca.benchmarks;

import java.util.concurrent.atomic.AtomicLong;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Group;
import org.openjdk.jmh.annotations.GroupThreads;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.infra.Control;

/**
 * One thread posts to a queue pair while another completes the requests by script and polls it.
 * They wait for each other: the figures of both are those of a request's whole path. One operation
 * is one request of a burst of 16.
 */
@State(Scope.Group)
public class TwoThreads extends RigPath {
  private static final int BURST = Rig.POLL;

  /** The number of posted requests; published once a burst, so that its cost is small. */
  private final AtomicLong posted = new AtomicLong();

  /** The poster's. */
  private long posts;

  /** The poller's: the number of complete requests. */
  private long completed;

  @Setup(Level.Trial)
  public void open() {
    rig = new Rig(false, false, "s");
  }

  @Benchmark
  @Group("writeOneSge")
  @GroupThreads(1)
  @OperationsPerInvocation(Rig.POLL)
  public long post(Control control) {
    for (int i = 0; i < BURST; i++) {
      while (!rig.qp.tryPostSend(rig.send)) {
        if (control.stopMeasurement) {
          posted.setRelease(posts);
          return posts;
        }
        Thread.onSpinWait();
      }
      posts++;
    }
    posted.setRelease(posts);
    return posts;
  }

  @Benchmark
  @Group("writeOneSge")
  @GroupThreads(1)
  @OperationsPerInvocation(Rig.POLL)
  public int poll(Control control) {
    int taken = 0;
    while (taken < BURST && !control.stopMeasurement) {
      int more = (int) Math.min(BURST, posted.getAcquire() - completed);
      if (more != 0) {
        completed += rig.completeSends(more);
      }
      taken += rig.sendQueue.poll(rig.completions);
    }
    return taken;
  }
}
