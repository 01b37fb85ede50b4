package org.hghca.conformance.interop;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.ServerSocket;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.hghca.conformance.interop.SoftRoce.Bench;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The programs of perftest: at one end as Debian has them, at the other end ours. */
@WithSoftRoce
@DisplayName("unmodified")
class PerftestTest {
  /** The host's address in QEMU's user network. */
  private static final String HOST = "10.0.2.2";

  /** Port of the guest's servers, to which QEMU forwards. */
  private static final int SERVERS_PORT = 18_515;

  private static final Duration PATIENCE = Duration.ofSeconds(30);

  /** 1 s: an emulated machine can be short of processor time. */
  private static final String TIMEOUT = " -u 18";

  private Bench bench;

  @BeforeEach
  void take(Bench itsBench) {
    bench = itsBench;
  }

  private String guests(String command, int port) {
    return "%s%s -F -d rxe0 -x %d -p %d".formatted(command, TIMEOUT, bench.gidIndex(), port);
  }

  private String ours(String command, int port) {
    return "perf %s%s -x %d -p %d".formatted(command, TIMEOUT, bench.ownGidIndex(), port);
  }

  @ParameterizedTest(name = "{0} as server", quoteTextArguments = false)
  @ValueSource(
      strings = {
        "ib_write_bw -n 200 -s 4096 -t 16",
        "ib_write_bw -n 100 -s 512 -t 16 -c UC",
        "ib_write_bw -n 100 -s 4096 -t 8 -b",
        "ib_write_bw -n 100 -s 4096 -t 8 -q 3",
        "ib_write_lat -n 100",
        "ib_write_lat -n 50 -c UC",
        "ib_send_bw -n 200 -s 4096 -t 16",
        "ib_send_bw -n 100 -s 1024 -t 8 -b",
        "ib_send_lat -n 100",
        "ib_send_lat -n 50 -c UC",
        "ib_send_lat -n 50 -c UD",
        "ib_read_bw -n 100 -s 4096 -t 8",
        "ib_read_lat -n 100",
        "ib_atomic_bw -n 100 -t 8",
        "ib_atomic_lat -n 100 -A CMP_AND_SWAP"
      })
  void guestServes(String command) {
    GuestProgram server =
        GuestProgram.start(bench.guest(), "server", guests(command, SERVERS_PORT));
    OurProgram client = client(command);
    String printed = client.await(0);
    String served = server.await().with(0).output();
    results(command, printed, served);
  }

  /** Until the program listens, QEMU accepts connections and ends them. */
  private OurProgram client(String command) {
    Instant end = Instant.now().plus(PATIENCE);
    String whole = ours(command, Integer.getInteger("hghca.lab.rxe.tcp")) + " 127.0.0.1";
    while (true) {
      OurProgram program = OurProgram.start(bench, whole);
      program.awaitEndOr("local address");
      String said = program.output();
      boolean early = said.contains("16 bytes of its version") || said.contains("broke: ");
      if (!early || Instant.now().isAfter(end)) {
        return program;
      }
    }
  }

  @ParameterizedTest(name = "{0} as client", quoteTextArguments = false)
  @ValueSource(
      strings = {
        "ib_write_bw -n 200 -s 4096 -t 16",
        "ib_write_bw -n 100 -s 512 -t 16 -c UC",
        "ib_write_bw -n 100 -s 4096 -t 8 -b",
        "ib_write_bw -n 96 -s 64 -t 16 -l 8",
        "ib_write_lat -n 100",
        "ib_send_bw -n 200 -s 4096 -t 16",
        "ib_send_bw -n 100 -s 1024 -t 8 -b",
        "ib_send_lat -n 100",
        "ib_send_lat -n 50 -c UD",
        "ib_read_bw -n 100 -s 4096 -t 8",
        "ib_read_lat -n 100",
        "ib_atomic_bw -n 100 -t 8",
        "ib_atomic_lat -n 100"
      })
  void guestIsClient(String command) throws IOException {
    int port;
    try (ServerSocket free = new ServerSocket(0)) {
      port = free.getLocalPort();
    }
    OurProgram server = OurProgram.start(bench, ours(command, port));
    server.awaitOutput("Waiting for client to connect");
    GuestProgram.End run;
    Instant end = Instant.now().plus(PATIENCE);
    do {
      run = GuestProgram.start(bench.guest(), "client", guests(command, port) + " " + HOST).await();
    } while (run.output().contains("Couldn't connect to") && Instant.now().isBefore(end));
    run.with(0);
    results(command, run.output(), server.await(0));
  }

  /** The client prints results; the server too, where it measures as well or is told. */
  private static void results(String command, String client, String server) {
    List<String> measured = rows(client);
    assertThat(measured).as(client).hasSize(1);
    boolean bandwidth = command.contains("_bw");
    assertThat(measured.getFirst().split("\\s+")).hasSize(bandwidth ? 5 : 9);
    boolean serverHasNone =
        command.startsWith("ib_read_lat") || command.startsWith("ib_atomic_lat");
    assertThat(rows(server)).as(server).hasSize(serverHasNone ? 0 : 1);
  }

  private static List<String> rows(String output) {
    return output.lines().filter(line -> line.matches(" \\d+ +\\d+ .*")).map(String::trim).toList();
  }
}
