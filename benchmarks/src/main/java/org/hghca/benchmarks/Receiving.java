package org.hghca.benchmarks;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;

/** Posting receives alone, in batches of 128 as {@link Posting}. One operation is one request. */
public class Receiving extends RigPath {
  /** The profile of the card, or {@code virtio} for a device of that kind. */
  @Param({"s", "r1", Rig.VIRTIO})
  public String profile;

  @Setup(Level.Trial)
  public void open() {
    rig = new Rig(false, false, profile);
  }

  @TearDown(Level.Invocation)
  public void complete() {
    rig.completeReceives();
    rig.pollAll(rig.receiveQueue);
  }

  /** Receives of one element, posted one by one. */
  @Benchmark
  @OperationsPerInvocation(Rig.BATCH)
  public void receive() {
    for (int i = 0; i < Rig.BATCH; i++) {
      rig.qp.postReceive(rig.receive);
    }
  }
}
