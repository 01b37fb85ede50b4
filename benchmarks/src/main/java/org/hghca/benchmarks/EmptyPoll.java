package org.hghca.benchmarks;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** Polling an empty queue. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class EmptyPoll {
  /** The profile of the card, or {@code virtio} for a device of that kind. */
  @Param({"s", Rig.VIRTIO})
  public String profile;

  private Rig rig;

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

  @TearDown(Level.Trial)
  public void close() {
    rig.close();
  }

  @Benchmark
  public int empty() {
    return rig.sendQueue.poll(rig.completions);
  }
}
