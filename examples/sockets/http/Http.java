import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.Executors;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * The JDK's HTTP server, with and without TLS, which answers a request with the complement of its
 * body, and the JDK's HTTP client, which verifies it.
 */
final class Http {
  private static final int REQUESTS = 100;
  private static final char[] PASSWORD = "changeit".toCharArray();

  private Http() {}

  /** {@code server ADDRESS KEYS} or {@code client ADDRESS KEYS PORT}, with a file of PKCS #12. */
  public static void main(String[] args) throws Exception {
    SSLContext tls = tls(Path.of(args[2]));
    if (args[0].equals("server")) {
      serve(args[1], tls);
    } else {
      int port = Integer.parseInt(args[3]);
      request("http://%s:%d/".formatted(args[1], port), tls);
      request("https://%s:%d/".formatted(args[1], port + 1), tls);
    }
  }

  private static SSLContext tls(Path file) throws IOException, GeneralSecurityException {
    KeyStore store = KeyStore.getInstance(file.toFile(), PASSWORD);
    KeyManagerFactory keys = KeyManagerFactory.getInstance("PKIX");
    keys.init(store, PASSWORD);
    TrustManagerFactory trusted = TrustManagerFactory.getInstance("PKIX");
    trusted.init(store);
    SSLContext context = SSLContext.getInstance("TLSv1.3");
    context.init(keys.getKeyManagers(), trusted.getTrustManagers(), null);
    return context;
  }

  private static void serve(String address, SSLContext tls) throws IOException {
    HttpServer plain = HttpServer.create(new InetSocketAddress(address, 8080), 0);
    HttpsServer secure = HttpsServer.create(new InetSocketAddress(address, 8081), 0);
    secure.setHttpsConfigurator(new HttpsConfigurator(tls));
    for (HttpServer server : new HttpServer[] {plain, secure}) {
      server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
      server.createContext("/", Http::answer);
      server.start();
    }
    System.out.println("listening on 8080");
  }

  private static void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      byte[] body = complement(exchange.getRequestBody().readAllBytes());
      exchange.sendResponseHeaders(200, body.length);
      exchange.getResponseBody().write(body);
    }
  }

  private static byte[] complement(byte[] bytes) {
    byte[] result = new byte[bytes.length];
    for (int i = 0; i < bytes.length; i++) {
      result[i] = (byte) ~bytes[i];
    }
    return result;
  }

  private static void request(String server, SSLContext tls)
      throws IOException, InterruptedException {
    Random random = new Random(1);
    long verified = 0;
    try (HttpClient client =
        HttpClient.newBuilder().sslContext(tls).version(HttpClient.Version.HTTP_1_1).build()) {
      for (int i = 1; i <= REQUESTS; i++) {
        byte[] body = new byte[i * 997];
        random.nextBytes(body);
        HttpRequest request =
            HttpRequest.newBuilder(URI.create(server))
                .POST(BodyPublishers.ofByteArray(body))
                .build();
        byte[] answer = client.send(request, BodyHandlers.ofByteArray()).body();
        if (!Arrays.equals(answer, complement(body))) {
          throw new IOException("request %d has another answer".formatted(i));
        }
        verified += answer.length;
      }
    }
    System.out.println("%s: %d bytes verified".formatted(server, verified));
  }
}
