package org.hghca.cm;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.hghca.verbs.Context;
import org.hghca.verbs.RdmaDevices;

/** The program of a process that {@link KilledServerTest} kills. */
final class KilledServer {
  private static final Duration LIMIT = Duration.ofMinutes(1);

  private KilledServer() {}

  /**
   * Prints its port, then a line when a peer has asked or is connected, and does nothing more.
   *
   * @param arguments the carrier, the address of its device, and whether it accepts
   */
  public static void main(String... arguments) throws InterruptedException {
    try (Context device = RdmaDevices.open("model:server?net=udp:" + arguments[1]);
        RdmaServer server =
            RdmaServer.listen(
                new InetSocketAddress(arguments[1], 0),
                RdmaOptions.DEFAULT
                    .withDevice(device)
                    .withCarrier(CarrierKind.valueOf(arguments[0])))) {
      System.out.println(server.localAddress().getPort());
      AutoCloseable peer =
          Boolean.parseBoolean(arguments[2])
              ? server.accept(LIMIT).orElseThrow()
              : server.next(LIMIT).orElseThrow();
      System.out.println(peer);
      new CountDownLatch(1).await();
    }
  }
}
