package org.hghca.tools.perf.peers;

import java.util.function.BiFunction;
import org.hghca.programs.perf.Parameters;
import org.hghca.programs.perf.PerfTest;
import org.hghca.programs.perf.result.BandwidthReport;
import org.hghca.programs.perf.result.LatencyResult;
import org.hghca.programs.perf.run.Watcher;
import org.hghca.programs.perf.session.BothSides;

/** RDMA WRITEs over a reliable connection, as {@code ib_write_bw} and {@code ib_write_lat}. */
final class HghcaPeer implements Peer {
  private static final double MICRO = 1e3;

  private final BothSides sides;
  private final Runnable beneath;
  private final BiFunction<PerfTest, Integer, Parameters> parameters;

  /**
   * Of two devices.
   *
   * @param beneath closes what the devices need
   * @param parameters of a test and a size
   */
  HghcaPeer(
      BothSides sides, Runnable beneath, BiFunction<PerfTest, Integer, Parameters> parameters) {
    this.sides = sides;
    this.beneath = beneath;
    this.parameters = parameters;
  }

  @Override
  public Flow send(int size, int count) throws InterruptedException {
    HeapWatcher heap = new HeapWatcher(count);
    BandwidthReport report = (BandwidthReport) run(PerfTest.IB_WRITE_BW, size, count, heap);
    long nanos = (long) (report.iterations() * MICRO / report.messageRate());
    return new Flow(report.iterations(), nanos, heap.allocated());
  }

  @Override
  public double pingPong(int size, int count) throws InterruptedException {
    return ((LatencyResult) run(PerfTest.IB_WRITE_LAT, size, count, Watcher.none())).typical();
  }

  private Object run(PerfTest test, int size, int count, Watcher watcher)
      throws InterruptedException {
    BothSides.Outcome outcome = sides.run(parameters.apply(test, size).of(count), watcher);
    if (!outcome.whole()) {
      throw new InterruptedException();
    }
    return outcome.figures().getLast();
  }

  @Override
  public void close() {
    try (sides) {
      // The devices go first.
    } finally {
      beneath.run();
    }
  }
}
