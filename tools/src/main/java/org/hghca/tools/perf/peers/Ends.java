package org.hghca.tools.perf.peers;

import java.io.IOException;
import java.util.OptionalInt;
import org.hghca.programs.perf.Parameters;
import org.hghca.programs.perf.medium.Device;
import org.hghca.programs.perf.medium.Medium;

/** Opens the ends of rows. */
final class Ends {
  private Ends() {}

  /**
   * Opens one, while the other end is opened by the other side.
   *
   * @param pair a number that both ends know and no other pair on this machine has
   * @param medium to the other side
   */
  static End open(Row row, long pair, Medium medium, boolean client)
      throws IOException, InterruptedException {
    return switch (row.carrier()) {
      case CABLE -> hghca("model:%s?cable=peers", row, medium, client);
      case SHARED_MEMORY -> hghca("model:%s?net=shm:peers", row, medium, client);
      case ROCE -> hghca("model:%s?net=udp:" + loopback(pair, client), row, medium, client);
      case SOCKETS_SHARED_MEMORY -> sockets(SocketHost.sharedMemory(client), row, medium, client);
      case SOCKETS_ROCE ->
          sockets(
              SocketHost.datagrams(loopback(pair, client), loopback(pair, false)),
              row,
              medium,
              client);
      case TCP -> sockets(SocketHost.platform(), row, medium, client);
      case DATAGRAMS -> SocketEnd.datagrams(row.waiting() == Waiting.SPINNING, medium, client);
      case COPY -> new CopyEnd(client);
    };
  }

  /** An address of this host that no other pair has. */
  private static String loopback(long pair, boolean client) {
    return "127.%d.%d.%d".formatted(64 + (pair >> 8 & 63), pair & 255, client ? 1 : 2);
  }

  private static End sockets(SocketHost host, Row row, Medium medium, boolean client)
      throws IOException, InterruptedException {
    return switch (row.work()) {
      case CROWD -> new CrowdEnd(host, medium, client);
      case CONNECTS -> new ConnectEnd(host, medium, client);
      case MESSAGES, STREAM -> SocketEnd.stream(host, row.waiting(), medium, client);
    };
  }

  private static End hghca(String locator, Row row, Medium medium, boolean client) {
    Device device =
        Device.open(
            locator.formatted(client ? "near" : "far"),
            Parameters.Route.tcp(1, OptionalInt.empty()));
    return new HghcaEnd(device, row.waiting() != Waiting.SPINNING, medium, client);
  }
}
