package org.hghca.conformance.interop;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.HashMap;
import java.util.Map;

/**
 * The verbs of the guest: requests to {@code lab/guest/verbs-agent.py}, which connects to this
 * process by TCP. One request at a time; not thread-safe.
 */
final class GuestVerbs implements AutoCloseable {
  private static final int PATIENCE_MILLIS = 180_000;

  private final Socket connection;
  private final BufferedReader answers;

  private GuestVerbs(Socket connection) throws IOException {
    this.connection = connection;
    connection.setTcpNoDelay(true);
    connection.setSoTimeout(PATIENCE_MILLIS);
    answers =
        new BufferedReader(
            new InputStreamReader(connection.getInputStream(), StandardCharsets.US_ASCII));
  }

  /**
   * Waits for the guest.
   *
   * @param folder one that the guest sees; the file {@code port} in it holds the port to connect to
   */
  static GuestVerbs await(Path folder) {
    try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      server.setSoTimeout(PATIENCE_MILLIS);
      Path port = Files.writeString(folder.resolve("port.new"), server.getLocalPort() + "\n");
      Files.move(port, folder.resolve("port"), StandardCopyOption.ATOMIC_MOVE);
      return new GuestVerbs(server.accept());
    } catch (IOException e) {
      throw new UncheckedIOException("the guest's agent did not come", e);
    }
  }

  /**
   * Makes the guest execute a request.
   *
   * @param arguments keys and values in turn
   * @return its results
   * @throws AssertionError with the agent's text when it failed
   */
  Map<String, String> ask(String request, Object... arguments) {
    StringBuilder line = new StringBuilder(request);
    for (int i = 0; i < arguments.length; i += 2) {
      line.append(' ').append(arguments[i]).append('=').append(encoded(arguments[i + 1]));
    }
    String answer;
    try {
      connection.getOutputStream().write((line + "\n").getBytes(StandardCharsets.US_ASCII));
      answer = answers.readLine();
    } catch (IOException e) {
      throw new UncheckedIOException("the guest did not answer to: " + line, e);
    }
    if (answer == null || !answer.startsWith("ok")) {
      throw new AssertionError("guest: %s, to: %s".formatted(answer, line));
    }
    Map<String, String> results = new HashMap<>();
    for (String result : answer.substring("ok".length()).trim().split(" ")) {
      int equals = result.indexOf('=');
      if (equals > 0) {
        String value = URLDecoder.decode(result.substring(equals + 1), StandardCharsets.UTF_8);
        results.put(result.substring(0, equals), value);
      }
    }
    return results;
  }

  /** Runs a command, whose words are between spaces, and waits for its end; it must succeed. */
  void run(String command) {
    Map<String, String> end = ask("run", "command", command);
    assertThat(end.get("status")).as("%s: %s", command, end.get("output")).isEqualTo("0");
  }

  /** Kills the programs that nobody has waited for. */
  void endPrograms() {
    ask("end_programs");
  }

  private static String encoded(Object value) {
    return URLEncoder.encode(value.toString(), StandardCharsets.UTF_8).replace("+", "%20");
  }

  /** Ends the agent, and with it the guest's job. */
  @Override
  public void close() throws IOException {
    connection.getOutputStream().write("end\n".getBytes(StandardCharsets.US_ASCII));
    connection.close();
  }
}
