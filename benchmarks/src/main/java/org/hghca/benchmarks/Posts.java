package org.hghca.benchmarks;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.TearDown;

/** What is posted to the send queue of any kind of device. */
public abstract class Posts extends RigPath {
  /** Whether posting takes a lock, or the queue pair has a single owner. */
  @Param({"locked", "singleOwner"})
  public String posting;

  final boolean hasSingleOwner() {
    return posting.equals("singleOwner");
  }

  @TearDown(Level.Invocation)
  public void complete() {
    rig.takeSends(Rig.BATCH);
  }

  /** RDMA WRITE of one element, posted one by one. */
  @Benchmark
  @OperationsPerInvocation(Rig.BATCH)
  public void writeOneSge() {
    for (int i = 0; i < Rig.BATCH; i++) {
      rig.qp.postSend(rig.send);
    }
  }

  /** RDMA WRITE of 16 bytes inline, posted one by one. */
  @Benchmark
  @OperationsPerInvocation(Rig.BATCH)
  public void writeInline() {
    for (int i = 0; i < Rig.BATCH; i++) {
      rig.qp.postSend(rig.inline);
    }
  }

  /** RDMA WRITE of one element, posted in lists of 16. */
  @Benchmark
  @OperationsPerInvocation(Rig.BATCH)
  public void writeList() {
    for (int i = 0; i < Rig.BATCH; i += Rig.POLL) {
      rig.qp.postSend(rig.sends);
    }
  }
}
