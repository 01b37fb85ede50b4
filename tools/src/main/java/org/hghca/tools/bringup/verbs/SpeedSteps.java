package org.hghca.tools.bringup.verbs;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.stream.LongStream;
import org.hghca.programs.perf.Parameters;
import org.hghca.programs.perf.PerfException;
import org.hghca.programs.perf.PerfTest;
import org.hghca.programs.perf.result.BandwidthReport;
import org.hghca.programs.perf.result.DurationLatency;
import org.hghca.programs.perf.result.Figure;
import org.hghca.programs.perf.result.LatencyResult;
import org.hghca.programs.perf.run.Watcher;
import org.hghca.programs.perf.session.BothSides;
import org.hghca.programs.perf.suite.Row;
import org.hghca.programs.perf.suite.Suite;
import org.hghca.programs.perf.suite.SuiteReport;
import org.hghca.tools.bringup.board.Driver;
import org.hghca.tools.bringup.board.Loop;
import org.hghca.tools.bringup.step.Capability;
import org.hghca.tools.bringup.step.Observation;
import org.hghca.tools.bringup.step.Step;
import org.hghca.tools.bringup.step.StepFailedException;
import org.hghca.tools.raw.CardStoppedException;
import org.hghca.vfio.Locator;
import org.hghca.vfio.TimeScale;

/** Performance, measured as {@code hghca perf} does, and the end of the steps with the driver. */
public final class SpeedSteps {
  /** A shorter measurement may count no message: of the program, and in the card's time. */
  private static final Duration SHORTEST = Duration.ofMillis(50);

  private static final Duration SHORTEST_OF_CARD = Duration.ofMillis(1);

  private static final Parameters.Route ROUTE =
      Parameters.Route.tcp(Driver.PORT, OptionalInt.empty());

  private final Driver driver;

  public SpeedSteps(Driver driver) {
    this.driver = driver;
  }

  public List<Step> steps() {
    return List.of(
        Step.of(
            "speed",
            "throughput and latency",
            "none: measured as ib_write_bw and ib_send_lat do, and shown for comparison",
            "the width of the PCIe link, the clock of the card, the CPU's power settings",
            this::measure,
            Capability.SEND,
            Capability.WRITE),
        DriverSteps.closeStep(driver));
  }

  private List<Parameters> sizes(PerfTest test, long... sizes) {
    int room =
        Math.min(
            Parameters.room(driver.left().queryDevice()),
            Parameters.room(driver.right().queryDevice()));
    return LongStream.of(sizes)
        .mapToObj(size -> Parameters.reliable(test, size, room, ROUTE))
        .toList();
  }

  private BothSides open() {
    return driver.options().loop() == Loop.PEER
        ? BothSides.open(driver.peerLocator(), driver.locator(), ROUTE)
        : BothSides.inLoop(driver.locator(), ROUTE);
  }

  private void measure(Observation o) {
    if (driver.tapped().isPresent()) {
      throw Observation.skip(
          "--keep and --mark see each doorbell: speeds are measured without them");
    }
    o.expect("every message arrives; no speed is required");
    List<Row> rows = new ArrayList<>();
    Duration each = longer(driver.options().measure(), shortest());
    try (BothSides sides = open()) {
      boolean _ =
          new Suite(sides, each, _ -> Watcher.none(), rows::add)
              .run(
                  List.of(
                      sizes(PerfTest.IB_WRITE_BW, 8, 4096, 65_536),
                      sizes(PerfTest.IB_SEND_LAT, 8)));
    } catch (PerfException e) {
      throw new StepFailedException(e.getMessage());
    }
    o.measured(new SuiteReport(Map.of(), rows));
    rows.forEach(row -> report(o, row));
  }

  private Duration shortest() {
    TimeScale time = TimeScale.of(Locator.parse(driver.locator()));
    return longer(SHORTEST, time.stretch(SHORTEST_OF_CARD));
  }

  private static Duration longer(Duration one, Duration other) {
    return one.compareTo(other) < 0 ? other : one;
  }

  private void report(Observation o, Row row) {
    String what = "%s, %d bytes".formatted(row.test(), row.asked().largest());
    switch (row) {
      case Row.Measured measured -> o.saw("%s: %s".formatted(what, text(measured.figure())));
      case Row.Unsupported lacking -> o.saw("%s: %s".formatted(what, lacking.why()));
      case Row.Failed failed -> {
        String why = "%s: %s".formatted(what, failed.why());
        throw driver.isBroken() ? new CardStoppedException(why) : new StepFailedException(why);
      }
    }
  }

  private static String text(Figure figure) {
    return switch (figure) {
      case BandwidthReport report ->
          "%,.2f MiB/s, %,.0f messages/s"
              .formatted(report.average(), report.messageRate() * 1_000_000);
      case LatencyResult result ->
          "typical %.2f, 99 %% %.2f, 99.9 %% %.2f, max %.2f us (%,d of them)"
              .formatted(
                  result.typical(), result.p99(), result.p999(), result.max(), result.iterations());
      case DurationLatency result -> "average %.2f us".formatted(result.average());
    };
  }
}
