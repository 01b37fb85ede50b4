package org.hghca.benchmarks;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import org.hghca.cm.CarrierKind;
import org.hghca.cm.RdmaConnection;
import org.hghca.cm.RdmaOptions;
import org.hghca.cm.RdmaServer;
import org.hghca.verbs.Context;
import org.hghca.verbs.RdmaDevices;

/**
 * How long connections by address take between two software HCAs in two processes over {@code
 * net=udp:}, with each carrier. {@code benchmarks/connections} runs it from its source.
 */
public final class Connecting {
  private static final int WARM_UP = 500;
  private static final double MILLISECOND = TimeUnit.MILLISECONDS.toNanos(1);
  private static final double SECOND = TimeUnit.SECONDS.toNanos(1);

  private Connecting() {}

  /**
   * Prints a line for each carrier.
   *
   * @param arguments this file, how many connections, the addresses of server and client; or {@code
   *     serve}, a carrier and an address, for the other process
   */
  public static void main(String... arguments) throws IOException, InterruptedException {
    if (arguments[0].equals("serve")) {
      serve(CarrierKind.valueOf(arguments[1]), arguments[2]);
      return;
    }
    int count = Integer.parseInt(arguments[1]);
    System.out.printf(
        "%-8s%20s%20s%20s%20s%n",
        "", "connect", "whole call", "connect, alone", count + " at once");
    for (CarrierKind kind : CarrierKind.values()) {
      measure(kind, arguments[0], count, arguments[2], arguments[3]);
    }
  }

  private static void measure(
      CarrierKind kind, String source, int count, String server, String client)
      throws IOException, InterruptedException {
    Process serving =
        new ProcessBuilder(
                ProcessHandle.current().info().command().orElseThrow(),
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                source,
                "serve",
                kind.name(),
                server)
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try (Context device = RdmaDevices.open("model:client?net=udp:" + client)) {
      String port = serving.inputReader().readLine();
      if (port == null) {
        throw new IOException("the server has ended");
      }
      measure(kind, new InetSocketAddress(server, Integer.parseInt(port)), device, count);
    } finally {
      serving.destroy();
      serving.waitFor();
    }
  }

  private static void measure(CarrierKind kind, InetSocketAddress server, Context device, int count)
      throws InterruptedException {
    RdmaOptions options = RdmaOptions.DEFAULT.withDevice(device).withCarrier(kind);
    connectAndClose(server, options, WARM_UP);
    long[][] alone = connectAndClose(server, options, count);
    long[][] besides;
    try (RdmaConnection _ = RdmaConnection.connect(server, options)) {
      besides = connectAndClose(server, options, count);
    }
    long start = System.nanoTime();
    Deque<RdmaConnection> open = new ArrayDeque<>();
    for (int i = 0; i < count; i++) {
      open.push(RdmaConnection.connect(server, options));
    }
    long opened = System.nanoTime();
    while (!open.isEmpty()) {
      open.pop().close();
    }
    System.out.printf(
        "%-8s%20s%20s%20s%20s%n",
        kind,
        quantiles(besides[0]),
        quantiles(besides[1]),
        quantiles(alone[0]),
        "%.2f s, %.2f s"
            .formatted((opened - start) / SECOND, (System.nanoTime() - opened) / SECOND));
  }

  /** The times from the request to ESTABLISHED, and of the whole calls. */
  private static long[][] connectAndClose(InetSocketAddress server, RdmaOptions options, int count)
      throws InterruptedException {
    long[][] times = new long[2][count];
    long[] prepared = new long[1];
    RdmaOptions timed = options.withPrepare(connection -> prepared[0] = System.nanoTime());
    for (int i = 0; i < count; i++) {
      long start = System.nanoTime();
      try (RdmaConnection _ = RdmaConnection.connect(server, timed)) {
        long established = System.nanoTime();
        times[0][i] = established - prepared[0];
        times[1][i] = established - start;
      }
    }
    return times;
  }

  private static String quantiles(long... times) {
    Arrays.sort(times);
    return "%.2f ms, %.2f ms"
        .formatted(
            times[times.length / 2] / MILLISECOND, times[times.length * 99 / 100] / MILLISECOND);
  }

  /** Accepts connections until the process is ended, and closes those whose client has left. */
  private static void serve(CarrierKind kind, String address) throws InterruptedException {
    try (Context device = RdmaDevices.open("model:server?net=udp:" + address);
        RdmaServer server =
            RdmaServer.listen(
                new InetSocketAddress(address, 0),
                RdmaOptions.DEFAULT.withDevice(device).withCarrier(kind))) {
      System.out.println(server.localAddress().getPort());
      while (true) {
        server
            .accept(Duration.ofMinutes(10))
            .ifPresent(
                connection -> {
                  var _ = connection.closed().thenRunAsync(connection::close);
                });
      }
    }
  }
}
