package org.hghca.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.hghca.vfio.trace.DeviceTrace;
import org.hghca.vfio.trace.TraceFile;
import org.hghca.vfio.trace.TraceKind;
import org.hghca.vfio.trace.TraceText;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;

/** One event of a trace, beside the reading of the clock that is part of it. */
@Fork(2)
public class TraceEvent extends TimedPath {
  private static final TraceKind KIND =
      TraceKind.data("event", r -> TraceText.of("track", "event").with("value", r.first()));

  private Path name;
  private TraceFile file;
  private DeviceTrace trace;
  private long value;

  @Setup(Level.Trial)
  public void open() throws IOException {
    name = Files.createTempFile("trace", ".jsonl");
    file = TraceFile.open(name.toString());
    trace = TraceFile.device(name.toString(), "bench:card").orElseThrow();
  }

  @TearDown(Level.Trial)
  public void close() throws IOException {
    file.close();
    Files.delete(name);
  }

  @Benchmark
  public void record() {
    trace.record(KIND, value++, 1, 2, 3);
  }

  @Benchmark
  public long clock() {
    return System.nanoTime();
  }
}
