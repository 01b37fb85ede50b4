package org.hghca.conformance.interop;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.ServerSocket;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The programs of perftest: at one end as Debian has them, at the other end ours. */
@WithSoftRoce
@DisplayName("unmodified")
class PerftestTest {
  /** The host's address in QEMU's user network, for TCP. */
  private static final String HOST = "10.0.2.2";

  /** Those of the devices, for the connection manager. */
  private static final String OUR_DEVICE = "10.99.0.1";

  private static final String GUESTS_DEVICE = "10.99.0.11";

  /** Port of the guest's servers, to which QEMU forwards. */
  private static final int SERVERS_PORT = 18_515;

  /** Of multicast groups 239.1.2.0 to 239.1.2.255, with the last number missing. */
  private static final String GROUP = " -g -M 0:0:0:0:0:0:0:0:0:0:255:255:239:1:2:";

  private static final String GROUP_SHOWN = "00:00:00:00:00:00:00:00:00:00:255:255:239:01:02:";
  private static final int GUESTS_GROUP = 4;
  private static final int OUR_GROUP = 5;

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

  private static boolean isByConnectionManager(String command) {
    return command.contains(" -R") || command.contains(" -z");
  }

  private GuestProgram guestsServer(String command) {
    String whole = guests(command, SERVERS_PORT);
    return isByConnectionManager(command)
        ? GuestProgram.listening(bench.guest(), "server", whole)
        : GuestProgram.start(bench.guest(), "server", whole);
  }

  @ParameterizedTest(name = "{0} as server", quoteTextArguments = false)
  @PerftestCommands
  void guestServes(String command) {
    GuestProgram server = guestsServer(command);
    OurProgram client =
        isByConnectionManager(command)
            ? bench.start(ours(command, SERVERS_PORT) + " " + GUESTS_DEVICE)
            : client(command);
    String printed = client.await(0);
    String served = server.await().with(0).output();
    results(command, printed, served);
  }

  /** Until the program listens, QEMU accepts connections and ends them. */
  private OurProgram client(String command) {
    Instant end = Instant.now().plus(PATIENCE);
    String whole = ours(command, Integer.getInteger("hghca.lab.rxe.tcp")) + " 127.0.0.1";
    while (true) {
      OurProgram program = bench.start(whole);
      program.awaitEndOr("local address");
      String said = program.output();
      boolean early = said.contains("16 bytes of its version") || said.contains("broke: ");
      if (!early || Instant.now().isAfter(end)) {
        return program;
      }
    }
  }

  @ParameterizedTest(name = "{0} as client", quoteTextArguments = false)
  @PerftestCommands
  void guestIsClient(String command) throws IOException {
    int port = freePort();
    OurProgram server = bench.start(ours(command, port));
    server.awaitOutput("Waiting for client to connect");
    String host = isByConnectionManager(command) ? OUR_DEVICE : HOST;
    String whole = guests(command, port) + " " + host;
    GuestProgram.End run;
    Instant end = Instant.now().plus(PATIENCE);
    do {
      run = GuestProgram.start(bench.guest(), "client", whole).await();
    } while (isEarly(run.output()) && Instant.now().isBefore(end));
    run.with(0);
    results(command, run.output(), server.await(0));
  }

  /** Our server hears nothing for so long that it probes the connection. */
  @Test
  @DisplayName("ib_write_bw -D 7 -z as client")
  void silentGuestIsProbed() throws IOException {
    guestIsClient("ib_write_bw -s 4096 -t 8 -D 7 -z");
  }

  /**
   * Either end sends to the group of the other. That the guest's kernel takes part in 239.1.2.4 is
   * the laboratory's work: {@code ibv_attach_mcast} does not join at the level of IP.
   */
  @ParameterizedTest(name = "{0} -g as server", quoteTextArguments = false)
  @ValueSource(strings = {"ib_send_bw -n 20 -s 1024 -t 8", "ib_send_lat -n 20"})
  void guestServesGroup(String command) {
    GuestProgram server = guestsServer(command + GROUP + GUESTS_GROUP);
    OurProgram client = client(command + GROUP + OUR_GROUP);
    String printed = client.await(0);
    String served = server.await().with(0).output();
    assertThat(printed).contains(" MultiCast runs on UD!\n", " MGID: " + GROUP_SHOWN + "04\n");
    results(command, printed, served);
  }

  @ParameterizedTest(name = "{0} -g as client", quoteTextArguments = false)
  @ValueSource(strings = {"ib_send_bw -n 20 -s 1024 -t 8", "ib_send_lat -n 20"})
  void guestIsClientOfGroup(String command) throws IOException {
    int port = freePort();
    OurProgram server = bench.start(ours(command + GROUP + OUR_GROUP, port));
    server.awaitOutput("Waiting for client to connect");
    String whole = guests(command + GROUP + GUESTS_GROUP, port) + " " + HOST;
    GuestProgram.End run;
    Instant end = Instant.now().plus(PATIENCE);
    do {
      run = GuestProgram.start(bench.guest(), "client", whole).await();
    } while (isEarly(run.output()) && Instant.now().isBefore(end));
    assertThat(run.with(0).output()).contains(" MGID: " + GROUP_SHOWN + "05\n");
    results(command, run.output(), server.await(0));
  }

  /** Whether the server, which says that it waits, did not listen yet. */
  private static boolean isEarly(String output) {
    return output.contains("Couldn't connect to") || output.contains("Unexpected CM event");
  }

  private static int freePort() throws IOException {
    try (ServerSocket free = new ServerSocket(0)) {
      return free.getLocalPort();
    }
  }

  @Test
  @DisplayName("ib_send_lat as server without -R, with our client that has it")
  void serverWithoutTheConnectionManagerIsNamed() {
    GuestProgram server = guestsServer("ib_send_lat -n 50");
    String client = ours("ib_send_lat -n 50 -R", SERVERS_PORT) + " " + GUESTS_DEVICE;
    assertThat(bench.start(client).await(1))
        .contains("RDMA_CM_EVENT_REJECTED, status 8", "a server must have the same -R or -z");
    server.kill();
  }

  @Test
  @DisplayName("ib_send_lat as server with -R, with our client that has -z")
  void serverThatConnectsIsNamed() {
    GuestProgram server = guestsServer("ib_send_lat -n 50 -R");
    String client = ours("ib_send_lat -n 50 -z", SERVERS_PORT) + " " + GUESTS_DEVICE;
    assertThat(bench.start(client).await(1)).contains("the peer has -R: give it here, too");
    server.kill();
  }

  @Test
  @DisplayName("ib_send_lat as client with -z, with our server that has -R")
  void clientThatDoesNotConnectIsNamed() throws IOException {
    int port = freePort();
    OurProgram server = bench.start(ours("ib_send_lat -n 50 -R", port));
    server.awaitOutput("Waiting for client to connect");
    String command = guests("ib_send_lat -n 50 -z", port) + " " + OUR_DEVICE;
    GuestProgram client = GuestProgram.start(bench.guest(), "client", command);
    assertThat(server.await(1)).contains("the peer lacks -R, which is given here");
    client.kill();
  }

  /** The client prints results; the server too, where it measures as well or is told. */
  private static void results(String command, String client, String server) {
    boolean bandwidth = command.contains("_bw");
    boolean all = command.contains(" -a");
    List<String> measured = rows(client);
    // 2 to 8 MiB; of datagrams to the MTU.
    assertThat(measured).as(client).hasSize(!all ? 1 : command.contains("UD") ? 12 : 23);
    assertThat(measured).allMatch(row -> row.split("\\s+").length == (bandwidth ? 5 : 9));
    boolean serverHasNone =
        command.startsWith("ib_read_lat") || command.startsWith("ib_atomic_lat");
    boolean served = command.startsWith("ib_send");
    assertThat(rows(server)).as(server).hasSize(serverHasNone ? 0 : served ? measured.size() : 1);
  }

  private static List<String> rows(String output) {
    return output.lines().filter(line -> line.matches(" \\d+ +\\d+ .*")).map(String::trim).toList();
  }
}
