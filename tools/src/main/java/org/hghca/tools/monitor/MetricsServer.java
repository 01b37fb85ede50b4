package org.hghca.tools.monitor;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Supplier;
import org.hghca.verbs.RdmaMetrics;

/** Serves a text by HTTP at {@code /metrics}, made anew for each request. */
final class MetricsServer implements AutoCloseable {
  private static final String PATH = "/metrics";

  private final HttpServer server;
  private final ExecutorService threads = Executors.newSingleThreadExecutor();

  private MetricsServer(HttpServer server, Supplier<String> text) {
    this.server = server;
    server.createContext("/", exchange -> answer(exchange, text));
    server.setExecutor(threads);
    server.start();
  }

  /**
   * Starts it.
   *
   * @throws IOException when the address is unknown, not of this machine, or in use
   */
  static MetricsServer start(InetSocketAddress address, Supplier<String> text) throws IOException {
    if (address.isUnresolved()) {
      throw new UnknownHostException("there is no host of that name");
    }
    return new MetricsServer(HttpServer.create(address, 0), text);
  }

  /** Where it is. */
  String url() {
    InetSocketAddress address = server.getAddress();
    String host = address.getAddress().getHostAddress();
    return "http://%s:%d%s"
        .formatted(host.contains(":") ? "[" + host + "]" : host, address.getPort(), PATH);
  }

  private static void answer(HttpExchange exchange, Supplier<String> text) throws IOException {
    try (exchange) {
      if (!exchange.getRequestURI().getPath().equals(PATH)) {
        send(exchange, 404, "text/plain; charset=utf-8", "the metrics are at " + PATH + "\n");
      } else if (!exchange.getRequestMethod().equals("GET")) {
        exchange.getResponseHeaders().set("Allow", "GET");
        send(exchange, 405, "text/plain; charset=utf-8", "the only method is GET\n");
      } else {
        send(exchange, 200, RdmaMetrics.MEDIA_TYPE, text.get());
      }
    }
  }

  private static void send(HttpExchange exchange, int status, String type, String text)
      throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", type);
    exchange.sendResponseHeaders(status, bytes.length);
    exchange.getResponseBody().write(bytes);
  }

  @Override
  public void close() {
    server.stop(0);
    threads.close();
  }
}
