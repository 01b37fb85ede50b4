package org.hghca.tools.demo;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PipedReader;
import java.io.PipedWriter;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.hghca.tools.CommandLineRun;
import org.hghca.tools.LyingProvider;
import org.hghca.tools.Main;
import org.hghca.tools.OwnProgram;
import org.hghca.vfio.kernel.Machine;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Server and client of the demo, each with its own HCA: in two threads, and in two processes. */
@Tag("long")
class DemoServerTest {
  private static final String LEFT = "model:left?cable=demo-server";
  private static final String RIGHT = "model:right?cable=demo-server";
  private static final int SECONDS = 60;

  @TempDir private Path folder;
  private final List<AutoCloseable> open = new ArrayList<>();

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable closeable : open.reversed()) {
      closeable.close();
    }
  }

  /** A server that serves so many clients in a thread of its own. */
  private final class Serving {
    private final StringWriter out = new StringWriter();
    private final BlockingQueue<String> failures = new LinkedBlockingQueue<>();
    private final DemoServer server;
    private final CompletableFuture<List<Boolean>> outcomes;

    Serving(String device, int clients) {
      server =
          new DemoServer(
              device,
              new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
              new PrintWriter(out),
              failure -> failures.add(failure.getMessage()));
      open.add(server);
      outcomes = new CompletableFuture<>();
      Thread.ofPlatform().start(() -> serve(clients));
    }

    private void serve(int clients) {
      try {
        List<Boolean> held = new ArrayList<>();
        for (int i = 0; i < clients; i++) {
          held.add(server.serve());
        }
        outcomes.complete(held);
      } catch (RuntimeException e) {
        outcomes.completeExceptionally(e);
      }
    }

    String port() {
      return Integer.toString(server.address().getPort());
    }

    List<Boolean> outcomes() throws Exception {
      return outcomes.get(SECONDS, TimeUnit.SECONDS);
    }

    String failure() throws InterruptedException {
      return failures.poll(SECONDS, TimeUnit.SECONDS);
    }

    Socket connect() throws IOException {
      Socket socket = new Socket(server.address().getAddress(), server.address().getPort());
      open.add(socket);
      return socket;
    }

    void send(String text) throws IOException {
      connect().getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
    }

    CommandLineRun client(String device, String... options) {
      List<String> arguments =
          new ArrayList<>(
              List.of("demo", "client", "127.0.0.1", "-p", port(), "-d", device, "--seconds=0"));
      arguments.addAll(List.of(options));
      return CommandLineRun.of(arguments.toArray(String[]::new));
    }
  }

  @Test
  void eachSidePrintsItsOwnStepsAndTheSameResult() throws Exception {
    Serving serving = new Serving(LEFT, 1);
    CommandLineRun client = serving.client(RIGHT, "--counters");

    assertThat(client.exitCode()).as(client.err()).isZero();
    assertThat(client.err()).isEmpty();
    assertThat(serving.outcomes()).containsExactly(true);
    assertThat(serving.failures).isEmpty();
    String[] server = serving.out.toString().split("\nRDMA WRITE, 8 bytes", 2);
    String[] printed = client.out().split("\nRDMA WRITE, 8 bytes", 2);
    assertThat(server[0])
        .containsSubsequence(
            "waiting for a client on 127.0.0.1:" + serving.port() + ", device " + LEFT,
            "serving the client 127.0.0.1:",
            "server  device " + LEFT + ": port 1 PORT_ACTIVE",
            "INIT -> RTR -> RTS",
            "server  buffer loaded with 'SEND operation'",
            "server  completion: wr_id 1: success (0), SEND",
            "server  buffer loaded with 'RDMA read operation'",
            "server  buffer verified, 64 bytes: 'RDMA write operation'",
            "server  buffer verified: the number is 7",
            "server  woken by an event: wr_id 1: success (0), RECV",
            "server  'datagram: it is me' was posted")
        .doesNotContain("client  ");
    assertThat(printed[0])
        .containsSubsequence(
            "client  device " + RIGHT + ": port 1 PORT_ACTIVE",
            "INIT -> RTR -> RTS",
            "client  buffer verified, 64 bytes: 'SEND operation'",
            "client  buffer verified, 64 bytes: 'RDMA read operation'",
            "client  completion: wr_id 1: success (0), RDMA_WRITE",
            "client  the number was 42",
            "client  buffer verified: 'datagram: it is me'")
        .doesNotContain("server  ");
    String verdict =
        "All 10 checks held: connect, send, rdma read, rdma write, atomics, datagrams, write rate,"
            + " write throughput, ping-pong, write ping-pong\n";
    assertThat(server[1]).endsWith(verdict);
    assertThat(printed[1])
        .startsWith(server[1])
        .containsPattern("counters of the client:\n\tsends_posted +[1-9]")
        .doesNotContain("counters of the server");
  }

  /** On cards of the RTL: no atomics, and only the number of a datagram's sender is known. */
  @ParameterizedTest
  @CsvSource({"r1", "r2"})
  void missingFeaturesAreReportedOnBothSides(String profile) throws Exception {
    Serving serving = new Serving("model:l?cable=demo-%1$s&profile=%1$s".formatted(profile), 1);
    CommandLineRun client =
        serving.client("model:r?cable=demo-%1$s&profile=%1$s".formatted(profile));

    assertThat(client.exitCode()).as(client.err()).isZero();
    assertThat(serving.outcomes()).containsExactly(true);
    String missing = "server  not supported by this card: ATOMICS; the example leaves them out\n";
    assertThat(client.out()).contains(missing).contains("All 9 checks held: ");
    assertThat(serving.out.toString())
        .contains(missing)
        .contains("server  a quirk of this card: NO_GRH")
        .contains("All 9 checks held: ");
  }

  @Test
  void jsonIsThatOfTheDemo() throws Exception {
    Serving serving = new Serving(LEFT, 1);
    CommandLineRun client = serving.client(RIGHT, "--json", "-s", "4096");

    assertThat(client.exitCode()).as(client.err()).isZero();
    assertThat(serving.outcomes()).containsExactly(true);
    CommandLineRun demo = CommandLineRun.of("demo", "--json", "--seconds=0");
    assertThat(JSON.std.mapFrom(client.out()))
        .containsOnlyKeys(JSON.std.mapFrom(demo.out()).keySet())
        .containsEntry("server", LEFT)
        .containsEntry("client", RIGHT)
        .containsEntry("message_bytes", 4096)
        .containsEntry("checks", JSON.std.mapFrom(demo.out()).get("checks"));
  }

  @Test
  void invalidGreetingsDoNotEndTheServer() throws Exception {
    Serving serving = new Serving(LEFT, 1);

    serving.connect().close();
    assertThat(serving.failure()).startsWith("the client 127.0.0.1:");
    serving.send("GET / HTTP/1.1\r\n\r\n");
    assertThat(serving.failure()).endsWith("is no hghca demo: it sent 'GET / HTTP/1.1?'");
    serving.send("hghca-demo 2\n");
    assertThat(serving.failure()).contains("speaks version 2 of the demo");
    serving.send("x".repeat(5000));
    assertThat(serving.failure()).contains("a line of more than 4096 bytes");
    serving.send("hghca-demo 1\nvalue plan=0 7\n");
    assertThat(serving.failure()).contains("a message must have 8 to 1048576 bytes");
    Socket silent = serving.connect();
    assertThat(serving.failure())
        .isEqualTo(
            "the client 127.0.0.1:%d sent no line for 5000 ms".formatted(silent.getLocalPort()));

    CommandLineRun client = serving.client(RIGHT);
    assertThat(client.exitCode()).as(client.err()).isZero();
    assertThat(serving.outcomes()).containsExactly(true);
  }

  @Test
  void secondClientWaitsAndReportsIt() throws Exception {
    Serving serving = new Serving(LEFT, 2);
    Socket first = serving.connect();
    first
        .getOutputStream()
        .write("hghca-demo 1\nvalue plan=0 64\n".getBytes(StandardCharsets.UTF_8));
    BufferedReader greeting =
        new BufferedReader(new InputStreamReader(first.getInputStream(), StandardCharsets.UTF_8));
    assertThat(greeting.readLine()).isEqualTo("hghca-demo 1");

    PipedReader notes = new PipedReader();
    PrintWriter err = new PrintWriter(new PipedWriter(notes), true);
    CompletableFuture<Integer> second =
        CompletableFuture.supplyAsync(
            () ->
                Main.run(
                    Machine.local(),
                    new PrintWriter(new StringWriter()),
                    err,
                    "demo",
                    "client",
                    "127.0.0.1",
                    "-p",
                    serving.port(),
                    "-d",
                    RIGHT,
                    "--seconds=0"),
            task -> Thread.ofPlatform().start(task));
    assertThat(new BufferedReader(notes).readLine())
        .isEqualTo("hghca: waiting for the server, which may be serving another client");
    first.close();
    assertThat(serving.failure()).startsWith("the c");
    assertThat(second).succeedsWithin(SECONDS, TimeUnit.SECONDS);
    assertThat(second.get()).isZero();
    assertThat(serving.outcomes()).containsExactly(false, true);
  }

  @Test
  void checkThatFailsOnOneSideIsReportedOnTheOther() throws Exception {
    Serving serving = new Serving(LyingProvider.SENDER, 1);
    CommandLineRun client = serving.client(LyingProvider.RECEIVER, "--json");

    String failure =
        "check 'send' failed: the client's buffer is not 'SEND operation': byte 0 differs";
    assertThat(client.exitCode()).isEqualTo(1);
    assertThat(client.err()).isEqualTo("hghca: " + failure + "\n");
    assertThat(JSON.std.mapFrom(client.out()))
        .containsEntry("server", "127.0.0.1:" + serving.port())
        .containsEntry("client", LyingProvider.RECEIVER)
        .containsEntry("checks", List.of("connect"))
        .containsEntry("error", failure);
    assertThat(serving.outcomes()).containsExactly(false);
    assertThat(serving.failure())
        .startsWith("the client 127.0.0.1:")
        .endsWith(" reports: " + failure);
    assertThat(serving.out.toString()).doesNotContain("checks held");
  }

  @Test
  void failuresOfBothSidesAreReportedOnBoth() throws Exception {
    Serving serving = new Serving(LyingProvider.FAILING_SENDER, 1);
    CommandLineRun client = serving.client(LyingProvider.RECEIVER);

    assertThat(client.exitCode()).isEqualTo(1);
    assertThat(client.err().lines())
        .satisfiesExactly(
            own -> assertThat(own).startsWith("hghca: check 'send' failed: the client's buffer"),
            other ->
                assertThat(other)
                    .startsWith("hghca: the server 127.0.0.1:" + serving.port() + " reports: ")
                    .contains("check 'send' failed: the server's completion wr_id 1: "));
    assertThat(serving.outcomes()).containsExactly(false);
    assertThat(serving.failure()).startsWith("check 'send' failed: the server's completion");
  }

  @Test
  void closingTheServerEndsItsWait() throws Exception {
    Serving serving = new Serving(LEFT, 1);
    serving.server.close();
    assertThat(serving.outcomes()).containsExactly(false);
    assertThat(serving.failures).isEmpty();
  }

  @Test
  void missingDeviceEndsTheServer() {
    CommandLineRun run = CommandLineRun.of("demo", "server", "-p", "0", "-d", "mlx4_0");
    assertThat(run.exitCode()).isEqualTo(3);
    assertThat(run.err()).startsWith("hghca: no RDMA device 'mlx4_0'");
  }

  @Test
  void portInUseIsAFailure() throws IOException {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      CommandLineRun run =
          CommandLineRun.of("demo", "server", "-d", LEFT, "-p", "" + taken.getLocalPort());
      assertThat(run.exitCode()).isEqualTo(1);
      assertThat(run.err())
          .startsWith("hghca: cannot listen on 127.0.0.1:" + taken.getLocalPort() + ": ");
    }
  }

  @Test
  void missingServerIsAFailure() throws IOException {
    int port;
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }
    CommandLineRun run = CommandLineRun.of("demo", "client", "127.0.0.1", "-d", LEFT, "-p" + port);
    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.err())
        .startsWith("hghca: cannot connect to 127.0.0.1:" + port + ": Connection refused; ");
  }

  @Test
  void wrongUsageIsExitCode2() {
    assertUsage("<host>", "client");
    assertUsage("--port must be from 0 to 65535", "client", "127.0.0.1", "-d", LEFT, "-p", "65536");
    assertUsage("--size must be", "client", "127.0.0.1", "-d", LEFT, "-s", "7");
    assertUsage("--seconds must be", "client", "127.0.0.1", "-d", LEFT, "--seconds", "3601");
    assertUsage("--port must be from 0 to 65535", "server", "-d", LEFT, "-p", "-1");
    assertUsage("--seconds", "server", "-d", LEFT, "--seconds", "1");
  }

  private static void assertUsage(String message, String... arguments) {
    List<String> all = new ArrayList<>(List.of("demo"));
    all.addAll(List.of(arguments));
    CommandLineRun run = CommandLineRun.of(all.toArray(String[]::new));
    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).contains(message).contains("Usage: hghca demo " + arguments[0]);
  }

  /** A command line in a process of its own. */
  private final class Started implements AutoCloseable {
    private final Process process;
    private final BufferedReader lines;

    Started(String... arguments) throws IOException {
      process =
          new ProcessBuilder(OwnProgram.command(arguments))
              .redirectError(Files.createTempFile(folder, "stderr", "").toFile())
              .start();
      lines = process.inputReader(StandardCharsets.UTF_8);
      open.add(this);
    }

    String line() throws IOException {
      return lines.readLine();
    }

    @Override
    public void close() {
      process.destroyForcibly();
    }
  }

  /** Three processes: two served software HCAs, the server on one, the client on the other. */
  @Test
  void processesRunTheDemoOnServedHcas() throws Exception {
    Path left = folder.resolve("left");
    Path right = folder.resolve("right");
    Started hcas = new Started("model", "serve", "--socket=" + left, "--peer=" + right);
    assertThat(hcas.line()).endsWith(" on " + left);
    assertThat(hcas.line()).endsWith(" on " + right);
    assertDemosBetweenProcesses("vfio-user:" + left, "vfio-user:" + right);
  }

  /** Two processes, each with a software HCA of its own, and packets by the kernel's UDP. */
  @Test
  void processesRunTheDemoOverANetwork() throws Exception {
    // Of this process: another build on the machine has other addresses.
    String host = "127.31.%d.".formatted(ProcessHandle.current().pid() & 0xff);
    assertDemosBetweenProcesses(
        "model:server?net=udp:" + host + 1, "model:client?net=udp:" + host + 2);
  }

  /** The peers find each other by an IPv6 address, and their devices have several addresses. */
  @Test
  void processesFindEachOtherByIpv6() throws Exception {
    String host = "127.32.%d.".formatted(ProcessHandle.current().pid() & 0xff);
    assertDemosBetweenProcesses(
        "model:server?net=udp:%1$s1,%1$s3".formatted(host),
        "model:client?net=udp:%1$s2,%1$s4".formatted(host),
        "::1",
        "[0:0:0:0:0:0:0:1]");
  }

  private void assertDemosBetweenProcesses(String serverDevice, String clientDevice)
      throws Exception {
    assertDemosBetweenProcesses(serverDevice, clientDevice, "127.0.0.1", "127.0.0.1");
  }

  /** One client after another, then the signal that ends the server. */
  private void assertDemosBetweenProcesses(
      String serverDevice, String clientDevice, String address, String shown) throws Exception {
    Started server =
        new Started("demo", "server", "--port=0", "--bind=" + address, "--ib-dev=" + serverDevice);
    String waiting = server.line();
    assertThat(waiting)
        .startsWith("waiting for a client on " + shown + ":")
        .endsWith(", device " + serverDevice);
    String port = port(waiting);

    for (int i = 0; i < 2; i++) {
      CommandLineRun client =
          CommandLineRun.of(
              "demo", "client", address, "-p", port, "-d", clientDevice, "--seconds=0");
      assertThat(client.exitCode()).as(client.err()).isZero();
      assertThat(client.out()).contains("All 10 checks held: ");
      String line;
      do {
        line = server.line();
      } while (!line.startsWith("All ") && !line.equals(waiting));
      assertThat(line).startsWith("All 10 checks held: ");
      assertThat(server.line()).isEqualTo(waiting); // for the next one
    }
    server.process.destroy(); // SIGTERM
    assertThat(server.process.waitFor(SECONDS, TimeUnit.SECONDS)).isTrue();
    assertThat(server.process.exitValue()).isZero();
  }

  private static String port(String waiting) {
    return waiting.replaceFirst(".* on .*:(\\d+), device .*", "$1");
  }

  @Test
  void serverOfOneClientEndsWithTheExitCodeOfItsDemo() throws Exception {
    Started server =
        new Started("demo", "server", "--once", "--port=0", "-d", LyingProvider.SENDER);
    String port = port(server.line());
    CommandLineRun client =
        CommandLineRun.of("demo", "client", "127.0.0.1", "-p", port, "-d", LyingProvider.RECEIVER);
    assertThat(client.exitCode()).isEqualTo(1);
    assertThat(server.process.waitFor(SECONDS, TimeUnit.SECONDS)).isTrue();
    assertThat(server.process.exitValue()).isEqualTo(1);
  }
}
