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
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** Posting receives alone, in batches of 128 as {@link Posting}. One operation is one request. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class Receiving {
  /** The profile of the card, or {@code virtio} for a device of that kind. */
  @Param({"s", "r1", Rig.VIRTIO})
  public String profile;

  private Rig rig;

  @Setup(Level.Trial)
  public void open() {
    rig = new Rig(false, false, profile);
  }

  @TearDown(Level.Trial)
  public void close() {
    rig.close();
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
