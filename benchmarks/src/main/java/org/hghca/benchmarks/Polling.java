package org.hghca.benchmarks;

import org.hghca.verbs.Completions;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;

/**
 * Polling alone: before each batch of 128, outside the measured time, requests are posted and
 * completed. One operation is one completion.
 */
public class Polling extends RigPath {
  private final Completions one = new Completions(1);

  /** The profile of the card, or {@code virtio} for a device of that kind. */
  @Param({"s", Rig.VIRTIO})
  public String profile;

  @Setup(Level.Trial)
  public void open() {
    rig = new Rig(false, false, profile);
  }

  @Setup(Level.Invocation)
  public void complete() {
    for (int i = 0; i < Rig.BATCH; i += Rig.POLL) {
      rig.qp.postSend(rig.sends);
    }
    rig.completeSends();
  }

  /** Sixteen completions a poll. */
  @Benchmark
  @OperationsPerInvocation(Rig.BATCH)
  public int sixteen() {
    return rig.pollAll(rig.sendQueue);
  }

  /** One completion a poll. */
  @Benchmark
  @OperationsPerInvocation(Rig.BATCH)
  public int one() {
    int taken = 0;
    while (taken < Rig.BATCH) {
      taken += rig.sendQueue.poll(one);
    }
    return taken;
  }
}
