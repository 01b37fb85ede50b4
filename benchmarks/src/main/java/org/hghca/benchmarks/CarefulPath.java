package org.hghca.benchmarks;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;

/**
 * The whole path of a work request as in {@link HotPath}, on the document's card and on the RTL,
 * where requests are checked and a queue pair has one request in flight. One operation is one
 * request.
 */
public class CarefulPath extends RigPath {
  /** The profile of the card. */
  @Param({"s", "r1"})
  public String profile;

  /**
   * Whether posting takes a lock, or the queue pair has a single owner; on the RTL it locks in any
   * case.
   */
  @Param({"locked", "singleOwner"})
  public String posting;

  /** Whether the card has had a READ: from then on, bytes count on the RTL. */
  @Param({"false", "true"})
  public boolean read;

  @Setup(Level.Trial)
  public void open() {
    rig = new Rig(false, posting.equals("singleOwner"), profile);
    if (read) {
      rig.read();
    }
  }

  /** RDMA WRITE of one element, complete before the next one is posted. */
  @Benchmark
  @OperationsPerInvocation(Rig.BATCH)
  public int writeOneSge() {
    int taken = 0;
    for (int i = 0; i < Rig.BATCH; i++) {
      rig.qp.postSend(rig.send);
      taken += rig.takeSends(1);
    }
    return taken;
  }

  /** RDMA WRITE of 16 bytes inline, complete before the next one is posted. */
  @Benchmark
  @OperationsPerInvocation(Rig.BATCH)
  public int writeInline() {
    int taken = 0;
    for (int i = 0; i < Rig.BATCH; i++) {
      rig.qp.postSend(rig.inline);
      taken += rig.takeSends(1);
    }
    return taken;
  }

  /** RDMA WRITE of one element, posted in lists of 16. */
  @Benchmark
  @OperationsPerInvocation(Rig.BATCH)
  public int writeList() {
    int taken = 0;
    while (taken < Rig.BATCH) {
      rig.qp.tryPostSend(rig.sends, 0, Rig.POLL);
      taken += rig.takeSends(Rig.POLL);
    }
    return taken;
  }

  /** RDMA WRITE of one element, 128 at once: on the RTL all but one wait in the ring. */
  @Benchmark
  @OperationsPerInvocation(Rig.BATCH)
  public int writeBatch() {
    for (int i = 0; i < Rig.BATCH; i++) {
      rig.qp.postSend(rig.send);
    }
    return rig.takeSends(Rig.BATCH);
  }
}
