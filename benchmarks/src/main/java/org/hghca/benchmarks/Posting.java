package org.hghca.benchmarks;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;

/**
 * Posting sends to the card alone: between two batches of 128, outside the measured time, they are
 * completed and polled. One operation is one request.
 */
public class Posting extends Posts {
  /** Whether only mapped register regions, or all kinds, have been used in this process. */
  @Param({"mapped", "all"})
  public String regions;

  @Setup(Level.Trial)
  public void open() {
    rig = new Rig(regions.equals("all"), hasSingleOwner(), "s");
  }

  /** Fetch-and-add, posted one by one. */
  @Benchmark
  @OperationsPerInvocation(Rig.BATCH)
  public void fetchAndAdd() {
    for (int i = 0; i < Rig.BATCH; i++) {
      rig.qp.postSend(rig.atomic);
    }
  }
}
