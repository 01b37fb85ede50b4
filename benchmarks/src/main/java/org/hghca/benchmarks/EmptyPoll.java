package org.hghca.benchmarks;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;

/** Polling an empty queue. */
public class EmptyPoll extends RigPath {
  /** The profile of the card, or {@code virtio} for a device of that kind. */
  @Param({"s", Rig.VIRTIO})
  public String profile;

  @Setup(Level.Trial)
  public void open() {
    rig = new Rig(false, false, profile);
    for (int i = 0; i < 1000; i++) {
      for (int j = 0; j < Rig.BATCH; j++) {
        rig.qp.postSend(rig.send);
      }
      rig.takeSends(Rig.BATCH);
    }
  }

  @Benchmark
  public int empty() {
    return rig.sendQueue.poll(rig.completions);
  }
}
