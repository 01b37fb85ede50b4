package org.hghca.tools.demo;

import java.util.LinkedHashMap;
import java.util.Map;
import org.hghca.programs.peer.PeerException;
import org.hghca.verbs.Counters;

/** The whole demo: the classic example, further operations, and four measurements. */
final class DemoRun {
  private static final Message<String> DEVICE = new Message<>("device", name -> name, name -> name);
  private static final int MEASUREMENTS = 4;

  private final Sides sides;

  DemoRun(Sides sides) {
    this.sides = sides;
  }

  /**
   * Runs it.
   *
   * @throws CheckFailedException when a check fails
   * @throws PeerException when the other process fails
   * @throws org.hghca.verbs.VerbsException when a verb fails
   */
  DemoResult run(Plan plan) {
    String server = sides.server().share(DEVICE, Side::device);
    String client = sides.client().share(DEVICE, Side::device);
    new RcExample(sides).run();
    sides.release();
    new AtomicExample(sides).run();
    sides.release();
    new DatagramExample(sides).run();
    sides.release();
    Speeds speeds = new Measurements(sides, plan.nanos() / MEASUREMENTS).run(plan.messageBytes());
    sides.release();
    DemoResult result =
        new DemoResult(
            server, client, sides.journal().checks(), plan.messageBytes(), speeds, counters());
    summarise(result);
    return result;
  }

  /** The counters of the sides in this process. */
  private Map<String, Counters> counters() {
    Map<String, Counters> counters = new LinkedHashMap<>();
    sides.server().run(side -> counters.put(side.role(), side.context().counters()));
    sides.client().run(side -> counters.put(side.role(), side.context().counters()));
    return counters;
  }

  private void summarise(DemoResult result) {
    sides.journal().line("");
    print("RDMA WRITE, 8 bytes", "%,.0f messages/s".formatted(result.speeds().messagesPerSecond()));
    print(
        "RDMA WRITE, " + bytes(result.messageBytes()),
        "%,.1f MB/s".formatted(result.speeds().megabytesPerSecond()));
    print("SEND ping-pong, 8 bytes", result.speeds().roundTrips());
    print("WRITE ping-pong, 8 bytes", result.speeds().writeRoundTrips());
    sides
        .journal()
        .line(
            "All %d checks held: %s"
                .formatted(result.checks().size(), String.join(", ", result.checks())));
  }

  private void print(String what, RoundTrips trips) {
    print(
        what,
        "p50 %.1f, p90 %.1f, p99 %.1f, p99.9 %.1f, max %.1f us round trip (%,d of them)"
            .formatted(
                trips.p50(), trips.p90(), trips.p99(), trips.p999(), trips.max(), trips.count()));
  }

  private void print(String what, String measured) {
    sides.journal().line("%-24s %s".formatted(what, measured));
  }

  private static String bytes(int count) {
    return count % 1024 == 0 ? count / 1024 + " KiB" : count + " bytes";
  }
}
