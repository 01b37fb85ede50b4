package org.hghca.tools.demo;

import java.util.concurrent.TimeUnit;

/**
 * The performance of message exchange between two devices.
 *
 * @param messagesPerSecond RDMA WRITEs of 8 bytes
 * @param megabytesPerSecond RDMA WRITEs of large messages
 * @param roundTrips SENDs of 8 bytes back and forth
 * @param writeRoundTrips RDMA WRITEs of 8 bytes back and forth
 */
public record Speeds(
    double messagesPerSecond,
    double megabytesPerSecond,
    RoundTrips roundTrips,
    RoundTrips writeRoundTrips) {
  private static final int SMALL_BYTES = 8;
  private static final int SMALL_LIST = 16;
  private static final int LARGE_OUTSTANDING = 16;
  private static final long WARM_UP_NANOS = TimeUnit.MILLISECONDS.toNanos(300);

  /**
   * Opens two devices, which may be the same, and measures.
   *
   * @param server name or locator
   * @param client name or locator
   * @param nanos how long each of the four is measured
   * @param messageBytes the size of large messages, 8 to 2^20
   * @throws CheckFailedException when a message fails or arrives changed
   * @throws org.hghca.verbs.VerbsException when a verb fails
   */
  public static Speeds measure(String server, String client, long nanos, int messageBytes) {
    try (Side serverSide = Side.open("server", server);
        Side clientSide = Side.open("client", client)) {
      return measure(Sides.of(serverSide, clientSide, new Journal()), nanos, messageBytes);
    }
  }

  /** Runs the measurements one after another, once the code of all of them is warm. */
  static Speeds measure(Sides sides, long nanos, int messageBytes) {
    Connection small = new Connection(sides, (long) SMALL_BYTES * Connection.DEPTH);
    Connection large = new Connection(sides, (long) messageBytes * LARGE_OUTSTANDING);
    Connection table = new Connection(sides, PingPong.MEMORY_BYTES);
    Connection wall = new Connection(sides, WritePingPong.MEMORY_BYTES);
    int lists = Connection.DEPTH / SMALL_LIST;
    WriteStream rate = new WriteStream("write rate", sides, small, SMALL_BYTES, SMALL_LIST, lists);
    WriteStream throughput =
        new WriteStream("write throughput", sides, large, messageBytes, 1, LARGE_OUTSTANDING);
    PingPong pingPong = new PingPong("ping-pong", table);
    WritePingPong writePingPong = new WritePingPong("write ping-pong", wall);
    sides.barrier("receives posted");
    long warmUp = Math.min(nanos, WARM_UP_NANOS);
    rate.run(warmUp);
    throughput.run(warmUp);
    pingPong.run(warmUp);
    writePingPong.run(warmUp);

    double messagesPerSecond = rate.run(nanos);
    sides.held("write rate");
    double largePerSecond = throughput.run(nanos);
    sides.held("write throughput");
    RoundTrips roundTrips = pingPong.run(nanos);
    sides.held("ping-pong");
    RoundTrips writeRoundTrips = writePingPong.run(nanos);
    sides.held("write ping-pong");
    return new Speeds(
        messagesPerSecond, largePerSecond * messageBytes / 1e6, roundTrips, writeRoundTrips);
  }
}
