package org.hghca.tools.bringup;

import java.util.List;
import org.hghca.tools.demo.CheckFailedException;
import org.hghca.tools.demo.RoundTrips;
import org.hghca.tools.demo.Speeds;

/** Performance, and the end of the steps that use the driver. */
final class SpeedSteps {
  private static final int LARGE = 64 * 1024;

  private final Driver driver;

  SpeedSteps(Driver driver) {
    this.driver = driver;
  }

  List<Step> steps() {
    return List.of(
        Step.of(
            "speed",
            "throughput and latency",
            "none: measured, and shown for comparison",
            "the width of the PCIe link, the clock of the card, the CPU's power settings",
            this::measure,
            "rc.send",
            "rc.write"),
        DriverSteps.closeStep(driver));
  }

  private void measure(Observation o) {
    o.expect("every message arrives; no speed is required");
    try {
      Speeds speeds =
          Speeds.measure(
              driver.peerLocator(), driver.locator(), driver.options().measure().toNanos(), LARGE);
      RoundTrips trips = speeds.roundTrips();
      o.saw("RDMA WRITE of 8 bytes: %,.0f messages/s".formatted(speeds.messagesPerSecond()));
      o.saw("RDMA WRITE of 64 KiB: %,.1f MB/s".formatted(speeds.megabytesPerSecond()));
      o.saw(
          "SEND round trip, 8 bytes: p50 %.1f, p99 %.1f, p99.9 %.1f, max %.1f us (%,d of them)"
              .formatted(trips.p50(), trips.p99(), trips.p999(), trips.max(), trips.count()));
    } catch (CheckFailedException e) {
      throw new StepFailedException(e.getMessage());
    }
  }
}
