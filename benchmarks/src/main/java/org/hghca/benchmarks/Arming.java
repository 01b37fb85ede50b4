package org.hghca.benchmarks;

import org.hghca.verbs.CompletionChannel;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.Context;
import org.hghca.verbs.RdmaDevices;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;

/** Arming an empty queue of a software device of this process, until the device knows of it. */
public class Arming extends TimedPath {
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
