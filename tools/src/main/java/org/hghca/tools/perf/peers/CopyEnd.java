package org.hghca.tools.perf.peers;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.hghca.programs.perf.PerfException;
import org.hghca.programs.perf.result.LatencyResult;

/** Copies of memory in one thread: what any way to move messages is measured by. */
final class CopyEnd implements End {
  private static final int PAGE = 4096;

  private final Arena arena = Arena.ofShared();
  private final MemorySegment here = arena.allocate(Task.LARGEST, PAGE).fill((byte) 1);
  private final MemorySegment there = arena.allocate(Task.LARGEST, PAGE);
  private final boolean client;

  /** Of the client, which copies, or of the server, which has nothing to do. */
  CopyEnd(boolean client) {
    this.client = client;
  }

  @Override
  public Outcome run(Task task) {
    if (!client) {
      return new Outcome(0, 0, 0, 0);
    }
    there.fill((byte) 0);
    ProcessorTime processor = new ProcessorTime();
    Outcome outcome =
        task.kind() == Task.Kind.STREAM
            ? stream(task, processor)
            : roundTrips(task.size(), new long[task.count() + 1], processor);
    if (here.asSlice(0, task.size()).mismatch(there.asSlice(0, task.size())) >= 0) {
      throw new PerfException("the copy is not what was copied");
    }
    return outcome;
  }

  private Outcome stream(Task task, ProcessorTime processor) {
    long start = System.nanoTime();
    for (int i = 0; i < task.count(); i++) {
      MemorySegment.copy(here, 0, there, 0, task.size());
    }
    long nanos = System.nanoTime() - start;
    processor.ends();
    return Outcome.ofStream(task.count(), nanos, processor.nanos());
  }

  private Outcome roundTrips(int size, long[] times, ProcessorTime processor) {
    times[0] = System.nanoTime();
    for (int i = 1; i < times.length; i++) {
      MemorySegment.copy(here, 0, there, 0, size);
      MemorySegment.copy(there, 0, here, 0, size);
      times[i] = System.nanoTime();
    }
    processor.ends();
    return Outcome.of(LatencyResult.of(size, times, false), 1, processor.nanos());
  }

  @Override
  public void close() {
    arena.close();
  }
}
