package org.hghca.benchmarks;

import java.util.concurrent.TimeUnit;
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
import org.openjdk.jmh.annotations.Warmup;

/**
 * Posting sends to a virtio device alone: between two batches of 128, outside the measured time,
 * they are completed and polled. One operation is one request.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class VirtioPosting extends Posts {
  /** Whether the device wants a notification of no post, or of each. */
  @Param({Rig.VIRTIO, Rig.VIRTIO_KICKED})
  public String device;

  @Setup(Level.Trial)
  public void open() {
    rig = new Rig(false, hasSingleOwner(), device);
  }
}
