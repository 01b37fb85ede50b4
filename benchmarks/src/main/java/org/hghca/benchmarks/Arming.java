package org.hghca.benchmarks;

import java.util.concurrent.TimeUnit;
import org.hghca.verbs.CompletionChannel;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.Context;
import org.hghca.verbs.RdmaDevices;
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

/** Arming an empty queue of a software device of this process, until the device knows of it. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class Arming {
  /** The kind of the device. */
  @Param({"model", "virtio"})
  public String kind;

  private Context context;
  private CompletionChannel channel;
  private CompletionQueue queue;

  @Setup(Level.Trial)
  public void open() {
    context = RdmaDevices.open(kind + ":arming");
    channel = context.createCompletionChannel();
    queue = context.createCompletionQueue(CompletionQueueConfig.of(128).withChannel(channel));
  }

  @TearDown(Level.Trial)
  public void close() {
    queue.close();
    channel.close();
    context.close();
  }

  @Benchmark
  public void requestNotify() {
    queue.requestNotify(false);
  }
}
