package org.hghca.tools.demo;

import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.hghca.verbs.Counters;

/** The whole demo: two sides, the classic example, further operations, and four measurements. */
public final class Demo {
  private final String serverDevice;
  private final String clientDevice;
  private final Journal journal;

  /**
   * A demo on two devices, which may be the same.
   *
   * @param server name or locator
   * @param client name or locator
   * @param steps receives the steps
   */
  public Demo(String server, String client, PrintWriter steps) {
    this.serverDevice = server;
    this.clientDevice = client;
    this.journal = new Journal(steps);
  }

  /**
   * Runs it.
   *
   * @param nanos how long to measure in all
   * @param messageBytes the size of large messages, 8 to 2^20
   * @throws CheckFailedException when a check does not hold
   * @throws NotOpenedException when a device cannot be opened
   * @throws org.hghca.verbs.VerbsException when a verb fails
   */
  public DemoResult run(long nanos, int messageBytes) {
    try (Side server = Side.open("server", serverDevice);
        Side client = Side.open("client", clientDevice)) {
      new RcExample(journal, server, client).run();
      new AtomicExample(journal, server, client).run();
      new DatagramExample(journal, server, client).run();
      DemoResult result = measure(server, client, nanos / 4, messageBytes);
      summarise(result);
      return result;
    }
  }

  /** The checks that have held so far, in order. */
  public List<String> checks() {
    return journal.checks();
  }

  private DemoResult measure(Side server, Side client, long nanos, int messageBytes) {
    Speeds speeds = Speeds.measure(journal, server, client, nanos, messageBytes);
    return new DemoResult(
        serverDevice,
        clientDevice,
        journal.checks(),
        speeds.messagesPerSecond(),
        messageBytes,
        speeds.megabytesPerSecond(),
        speeds.roundTrips(),
        speeds.writeRoundTrips(),
        counters(server, client));
  }

  private static Map<String, Counters> counters(Side... sides) {
    Map<String, Counters> counters = new LinkedHashMap<>();
    for (Side side : sides) {
      counters.put(side.role(), side.context().counters());
    }
    return counters;
  }

  private void summarise(DemoResult result) {
    journal.line("");
    tell("RDMA WRITE, 8 bytes", "%,.0f messages/s".formatted(result.messagesPerSecond()));
    tell(
        "RDMA WRITE, " + bytes(result.messageBytes()),
        "%,.1f MB/s".formatted(result.megabytesPerSecond()));
    tell("SEND ping-pong, 8 bytes", result.roundTrips());
    tell("WRITE ping-pong, 8 bytes", result.writeRoundTrips());
    journal.line(
        "All %d checks held: %s"
            .formatted(result.checks().size(), String.join(", ", result.checks())));
  }

  private void tell(String what, RoundTrips trips) {
    tell(
        what,
        "p50 %.1f, p90 %.1f, p99 %.1f, p99.9 %.1f, max %.1f us round trip (%,d of them)"
            .formatted(
                trips.p50(), trips.p90(), trips.p99(), trips.p999(), trips.max(), trips.count()));
  }

  private void tell(String what, String measured) {
    journal.line("%-24s %s".formatted(what, measured));
  }

  private static String bytes(int count) {
    return count % 1024 == 0 ? count / 1024 + " KiB" : count + " bytes";
  }
}
