package org.hghca.benchmarks;

import java.util.concurrent.TimeUnit;
import org.hghca.verbs.Completions;
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

/**
 * Polling alone: before each batch of 128, outside the measured time, requests are posted and
 * completed. One operation is one completion.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class Polling {
  private final Completions one = new Completions(1);

  /** The profile of the card, or {@code virtio} for a device of that kind. */
  @Param({"s", Rig.VIRTIO})
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
