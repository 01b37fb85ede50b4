package org.hghca.benchmarks;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Posting sends to the card alone: between two batches of 128, outside the measured time, they are
 * completed and polled. One operation is one request.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
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
