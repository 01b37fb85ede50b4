package org.hghca.benchmarks;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;

/**
 * The whole path of a work request: post, completion by script (a bulk copy), poll. One operation
 * is one request of a batch of 128.
 */
public class HotPath extends RigPath {
  /** Whether only mapped register regions, or all kinds, have been used in this process. */
  @Param({"mapped", "all"})
  public String regions;

  /** Whether posting takes a lock, or the queue pair has a single owner. */
  @Param({"locked", "singleOwner"})
  public String posting;

  @Setup(Level.Trial)
  public void open() {
    rig = new Rig(regions.equals("all"), posting.equals("singleOwner"), "s");
  }

  /** RDMA WRITE of one element, posted one by one. */
  @Benchmark
  @OperationsPerInvocation(Rig.BATCH)
  public int writeOneSge() {
    for (int i = 0; i < Rig.BATCH; i++) {
      rig.qp.postSend(rig.send);
    }
    return rig.takeSends(Rig.BATCH);
  }

  /** RDMA WRITE of 16 bytes inline, posted one by one. */
  @Benchmark
  @OperationsPerInvocation(Rig.BATCH)
  public int writeInline() {
    for (int i = 0; i < Rig.BATCH; i++) {
      rig.qp.postSend(rig.inline);
    }
    return rig.takeSends(Rig.BATCH);
  }

  /** RDMA WRITE of one element, posted in lists of 16. */
  @Benchmark
  @OperationsPerInvocation(Rig.BATCH)
  public int writeList() {
    for (int i = 0; i < Rig.BATCH; i += Rig.POLL) {
      rig.qp.postSend(rig.sends);
    }
    return rig.takeSends(Rig.BATCH);
  }

  /** Receives of one element, posted one by one. */
  @Benchmark
  @OperationsPerInvocation(Rig.BATCH)
  public int receive() {
    for (int i = 0; i < Rig.BATCH; i++) {
      rig.qp.postReceive(rig.receive);
    }
    rig.completeReceives();
    return rig.pollAll(rig.receiveQueue);
  }
}
