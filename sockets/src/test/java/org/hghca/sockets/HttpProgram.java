package org.hghca.sockets;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.channels.SocketChannel;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;

/** The JDK's HTTP server, which returns what it is sent, or its HTTP client; neither knows RDMA. */
final class HttpProgram {
  private static final int REQUESTS = 20;

  private HttpProgram() {}

  /**
   * Without an argument a server, which prints its port; with a URI the client of one, and with
   * {@code hook}, too, a client that asks when the JVM ends.
   */
  public static void main(String[] args) throws Exception {
    if (args.length == 0) {
      serve();
    } else if (args.length > 1) {
      SocketChannel.open(address(URI.create(args[0]))).close();
      Runtime.getRuntime().addShutdownHook(new Thread(() -> askAtTheEnd(URI.create(args[0]))));
    } else {
      request(URI.create(args[0]));
    }
  }

  private static void serve() throws IOException, InterruptedException {
    CountDownLatch asked = new CountDownLatch(1);
    HttpServer server = HttpServer.create(new InetSocketAddress(0), 0);
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext(
        "/",
        exchange -> {
          try (exchange) {
            byte[] body = exchange.getRequestBody().readAllBytes();
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
          }
          if (exchange.getRequestURI().getPath().equals("/end")) {
            asked.countDown();
          }
        });
    server.start();
    System.out.println(server.getAddress().getPort());
    asked.await();
    server.stop(1);
  }

  private static InetSocketAddress address(URI server) {
    return new InetSocketAddress(server.getHost(), server.getPort());
  }

  /** When all has ended that ends beside it. */
  private static void askAtTheEnd(URI server) {
    try {
      for (Thread other : Thread.getAllStackTraces().keySet()) {
        if (other.getName().startsWith("hghca-sockets")) {
          other.join();
        }
      }
      request(server);
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void request(URI server) throws IOException, InterruptedException {
    try (HttpClient client = HttpClient.newHttpClient()) {
      for (int i = 0; i < REQUESTS; i++) {
        byte[] body = Sockets.random(1 + i * 10_007);
        if (!Arrays.equals(post(client, server, body), body)) {
          throw new IllegalStateException("request " + i + " has another answer");
        }
      }
      post(client, server.resolve("/end"), new byte[1]);
    }
    System.out.println("verified");
  }

  private static byte[] post(HttpClient client, URI uri, byte[] body)
      throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(uri).POST(HttpRequest.BodyPublishers.ofByteArray(body)).build();
    return client.send(request, HttpResponse.BodyHandlers.ofByteArray()).body();
  }
}
