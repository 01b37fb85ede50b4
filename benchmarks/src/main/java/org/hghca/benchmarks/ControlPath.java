package org.hghca.benchmarks;

import java.util.concurrent.TimeUnit;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.Context;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.PortAttributes;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.RdmaDevices;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** Commands and memory registration against a software HCA, inline and on its own thread. */
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
public class ControlPath extends TimedPath {
  /** Which thread runs the software HCA. */
  @Param({"inline", "threaded"})
  public String mode;

  private Context context;
  private ProtectionDomain pd;
  private MemoryRegion small;
  private MemoryRegion large;

  @Setup(Level.Trial)
  public void open() {
    context = RdmaDevices.open("model:control-path?mode=" + mode);
    pd = context.allocateProtectionDomain();
    small = pd.allocate(4096, AccessFlag.LOCAL_WRITE);
    large = pd.allocate(64L << 20, AccessFlag.LOCAL_WRITE);
  }

  @TearDown(Level.Trial)
  public void close() {
    large.close();
    small.close();
    pd.close();
    context.close();
  }

  /** One command with an outbox: MAD_IFC. */
  @Benchmark
  public PortAttributes command() {
    return context.queryPort(1);
  }

  @Benchmark
  public int registerAndDeregister4KiB() {
    try (MemoryRegion region = pd.register(small.segment(), AccessFlag.LOCAL_WRITE)) {
      return region.lkey();
    }
  }

  @Benchmark
  public int registerAndDeregister64MiB() {
    try (MemoryRegion region = pd.register(large.segment(), AccessFlag.LOCAL_WRITE)) {
      return region.lkey();
    }
  }
}
