package org.hghca.tools.demo;

import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.hghca.verbs.Counters;

/** The whole demo: two sides, the classic example and what goes beyond, three measurements. */
public final class Demo {
  private static final int SMALL_BYTES = 8;
  private static final int SMALL_LIST = 16;
  private static final int LARGE_OUTSTANDING = 16;
  private static final long WARM_UP_NANOS = TimeUnit.MILLISECONDS.toNanos(300);

  private final String serverDevice;
  private final String clientDevice;
  private final Journal journal;

  /**
   * A demo on two devices, which may be the same.
   *
   * @param server name or locator
   * @param client name or locator
   * @param steps where to tell what happens
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
   * @throws org.hghca.verbs.VerbsException when a verb fails
   */
  public DemoResult run(long nanos, int messageBytes) {
    try (Side server = Side.open("server", serverDevice);
        Side client = Side.open("client", clientDevice)) {
      new RcExample(journal, server, client).run();
      new AtomicExample(journal, server, client).run();
      new DatagramExample(journal, server, client).run();
      DemoResult result = measure(server, client, nanos / 3, messageBytes);
      summarise(result);
      return result;
    }
  }

  /** Measures one thing after the other, once the code of all of them is warm. */
  private DemoResult measure(Side server, Side client, long nanos, int messageBytes) {
    try (Connection small = new Connection(server, client, (long) SMALL_BYTES * Connection.DEPTH);
        Connection large = new Connection(server, client, (long) messageBytes * LARGE_OUTSTANDING);
        Connection table = new Connection(server, client, PingPong.MEMORY_BYTES)) {
      WriteStream rate =
          new WriteStream(
              "write rate", small, SMALL_BYTES, SMALL_LIST, Connection.DEPTH / SMALL_LIST);
      WriteStream throughput =
          new WriteStream("write throughput", large, messageBytes, 1, LARGE_OUTSTANDING);
      PingPong pingPong = new PingPong("ping-pong", table);
      long warmUp = Math.min(nanos, WARM_UP_NANOS);
      rate.run(warmUp);
      throughput.run(warmUp);
      pingPong.run(warmUp);

      double messagesPerSecond = rate.run(nanos);
      journal.held("write rate");
      double largePerSecond = throughput.run(nanos);
      journal.held("write throughput");
      RoundTrips roundTrips = pingPong.run(nanos);
      journal.held("ping-pong");
      return new DemoResult(
          serverDevice,
          clientDevice,
          journal.checks(),
          messagesPerSecond,
          messageBytes,
          largePerSecond * messageBytes / 1e6,
          roundTrips,
          counters(server, client));
    }
  }

  private static Map<String, Counters> counters(Side... sides) {
    Map<String, Counters> counters = new LinkedHashMap<>();
    for (Side side : sides) {
      counters.put(side.role(), side.context().counters());
    }
    return counters;
  }

  private void summarise(DemoResult result) {
    RoundTrips trips = result.roundTrips();
    journal.line("");
    tell("RDMA WRITE, 8 bytes", "%,.0f messages/s".formatted(result.messagesPerSecond()));
    tell(
        "RDMA WRITE, " + bytes(result.messageBytes()),
        "%,.1f MB/s".formatted(result.megabytesPerSecond()));
    tell(
        "SEND ping-pong, 8 bytes",
        "p50 %.1f, p90 %.1f, p99 %.1f, p99.9 %.1f, max %.1f us round trip (%,d of them)"
            .formatted(
                trips.p50(), trips.p90(), trips.p99(), trips.p999(), trips.max(), trips.count()));
    journal.line(
        "All %d checks held: %s"
            .formatted(result.checks().size(), String.join(", ", result.checks())));
  }

  private void tell(String what, String measured) {
    journal.line("%-24s %s".formatted(what, measured));
  }

  private static String bytes(int count) {
    return count % 1024 == 0 ? count / 1024 + " KiB" : count + " bytes";
  }
}
