package org.hghca.tools.programs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.regex.Pattern;
import org.hghca.programs.ExitCode;
import org.hghca.tools.CommandLineRun;
import org.hghca.tools.RunningCommand;
import org.hghca.verbs.Context;
import org.hghca.verbs.RdmaDevices;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The ping-pongs, each with itself, on two software HCAs. The lines are those that the originals of
 * rdma-core 56.1 print.
 */
class PingpongCommandsTest {
  private static final Pattern EARLY = Pattern.compile("Couldn't connect");

  private static final String ADDRESS =
      "LID 0x0000, QPN 0x[0-9a-f]{6}, PSN 0x[0-9a-f]{6}, GID [0-9a-f:.]+\n";

  private final List<RunningCommand> started = new ArrayList<>();
  private Context serverDevice;
  private Context clientDevice;
  private int port;

  /** A TCP port of this test's own, and a cable whose ends are there from the beginning. */
  @BeforeEach
  void connectDevices() throws IOException {
    try (ServerSocket free = new ServerSocket(0)) {
      port = free.getLocalPort();
    }
    String cable = UUID.randomUUID().toString();
    serverDevice = RdmaDevices.open("model:s?cable=" + cable);
    clientDevice = RdmaDevices.open("model:c?cable=" + cable);
  }

  @AfterEach
  void end() {
    started.forEach(RunningCommand::close);
    clientDevice.close();
    serverDevice.close();
  }

  private RunningCommand start(String command, String locator) {
    RunningCommand running =
        RunningCommand.start("%s -p %d -d %s".formatted(command, port, locator));
    started.add(running);
    return running;
  }

  private RunningCommand server(String command) {
    return start(command, serverDevice.device().locator());
  }

  private CommandLineRun client(String command) throws Exception {
    return client(command, clientDevice.device().locator());
  }

  /** Runs a client, again while its server does not listen yet, which it prints nothing about. */
  private CommandLineRun client(String command, String locator) throws Exception {
    started.getFirst().awaitOutput("local address");
    return RunningCommand.client(EARLY, () -> start(command + " localhost", locator));
  }

  private static Pattern lines(int queuePairs, String afterOwnPsn, long bytes, int iterations) {
    String own = ADDRESS.replace(", GID", afterOwnPsn + " GID");
    return Pattern.compile(
        "(  local address:  %s){%d}(  remote address: %s){%d}"
                .formatted(own, queuePairs, ADDRESS, queuePairs)
            + "%d bytes in \\d+\\.\\d\\d seconds = \\d+\\.\\d\\d Mbit/sec\n".formatted(bytes)
            + "%d iters in \\d+\\.\\d\\d seconds = \\d+\\.\\d\\d usec/iter\n"
                .formatted(iterations));
  }

  private void assertPlayed(String command, Pattern lines) throws Exception {
    RunningCommand server = server(command);
    assertPlayed(client(command), lines);
    assertPlayed(server.await(), lines);
  }

  private static void assertPlayed(CommandLineRun run, Pattern lines) {
    assertThat(run.err()).isEmpty();
    assertThat(run.out()).matches(lines);
    assertThat(run.exitCode()).isZero();
  }

  @ParameterizedTest
  @CsvSource({
    "rc_pingpong, ','",
    "uc_pingpong, ','",
    "ud_pingpong, ':'",
  })
  void messagesGoToAndFro(String command, String afterOwnPsn) throws Exception {
    int size = command.startsWith("ud") ? 1024 : 4096;
    assertPlayed(command + " -g 0", lines(1, afterOwnPsn, 2000L * size, 1000));
  }

  @ParameterizedTest
  @CsvSource({
    "rc_pingpong -e, ','",
    "uc_pingpong -e, ','",
    "ud_pingpong -e, ':'",
    "rc_pingpong -c, ','",
    "uc_pingpong -c, ','",
    "ud_pingpong -c, ':'",
  })
  void eventsAndValidationChangeNoLine(String command, String afterOwnPsn) throws Exception {
    assertPlayed(command + " -g 0 -s 0x100 -n 100", lines(1, afterOwnPsn, 51_200, 100));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " -e", " -c"})
  void manyQueuePairsShareReceives(String options) throws Exception {
    assertPlayed("srq_pingpong -g 0 -n 200" + options, lines(16, ",", 1_638_400, 200));
  }

  /** Virtio devices have no shared receive queues, so that the driver deals the receives. */
  @ParameterizedTest
  @CsvSource({
    "virtio, model, ''",
    "model, virtio, ''",
    "virtio, virtio, ''",
    "virtio, virtio, ' -e'",
  })
  void manyQueuePairsOfVirtioDevicesShareReceives(String server, String client, String options)
      throws Exception {
    end();
    String hub = UUID.randomUUID().toString();
    serverDevice = RdmaDevices.open("%s:s?hub=%s".formatted(server, hub));
    clientDevice = RdmaDevices.open("%s:c?hub=%s".formatted(client, hub));

    assertPlayed("srq_pingpong -g 0 -n 200" + options, lines(16, ",", 1_638_400, 200));
  }

  @Test
  void atMost255QueuePairsShareReceives() throws Exception {
    assertPlayed("srq_pingpong -g 0 -q 255 -r 256 -n 600 -s 0x10", lines(255, ",", 19_200, 600));
  }

  @ParameterizedTest
  @CsvSource({
    "rc_pingpong, 1, 1024",
    "rc_pingpong, 256, 256",
    "rc_pingpong, 1025, 1024",
    "rc_pingpong, 65536, 4096",
    "rc_pingpong, 65536, 256",
    "rc_pingpong, 1048576, 4096",
    "uc_pingpong, 1, 1024",
    "uc_pingpong, 65536, 2048",
    "srq_pingpong, 65536, 512",
  })
  void sizeAndPathMtuAreGiven(String command, int size, int mtu) throws Exception {
    int queuePairs = command.startsWith("srq") ? 16 : 1;
    assertPlayed(
        "%s -g 0 -s %d -m %d -n 20 -l 3".formatted(command, size, mtu),
        lines(queuePairs, ",", 40L * size, 20));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 1023, 4096})
  void datagramsHaveOnePacket(int size) throws Exception {
    assertPlayed("ud_pingpong -g 0 -n 020 -s " + size, lines(1, ":", 32L * size, 16));
  }

  @Test
  void datagramsOfTwoPacketsAreRefused() throws Exception {
    assertThat(server("ud_pingpong -g 0 -s 4097").await())
        .isEqualTo(new CommandLineRun(1, "", "Requested size larger than port MTU (4096)\n"));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void fewReceivesAreEnough(int depth) throws Exception {
    assertPlayed("rc_pingpong -g 0 -n 50 -s 64 -r " + depth, lines(1, ",", 6400, 50));
  }

  @Test
  void networksCarryIt() throws Exception {
    String gid = " -g 0 -n 100";
    RunningCommand server = start("rc_pingpong" + gid, "model:here?net=udp:127.0.5.91");
    CommandLineRun client = client("rc_pingpong" + gid, "model:there?net=udp:127.0.5.92");
    assertPlayed(client, lines(1, ",", 819_200, 100));
    assertThat(client.out())
        .contains("GID ::ffff:127.0.5.92\n  remote address: ")
        .contains("GID ::ffff:127.0.5.91\n819200 bytes");
    assertPlayed(server.await(), lines(1, ",", 819_200, 100));
  }

  @ParameterizedTest
  @ValueSource(strings = {"rc_pingpong", "uc_pingpong", "srq_pingpong"})
  void serverReportsPagesThatNoClientMarked(String command) throws Exception {
    RunningCommand server = server(command + " -g 0 -n 10 -s 8193 -c");
    client(command + " -g 0 -n 10 -s 8193").assertExit(0);
    CommandLineRun end = server.await().assertExit(0);
    if (command.startsWith("srq")) {
      assertThat(end.out()).doesNotContain("invalid"); // its messages are zeros
    } else {
      assertThat(end.out())
          .endsWith("invalid data in page 0\ninvalid data in page 1\ninvalid data in page 2\n");
    }
  }

  @Test
  void otherSizeAtThePeerIsAFailedStatus() throws Exception {
    RunningCommand server = server("rc_pingpong -g 0 -s 100");
    assertThat(client("rc_pingpong -g 0 -s 200").err())
        .matches(
            """
            Failed status remote invalid request error \\(9\\) for wr_id 2
            parse WC failed [12]
            """);
    CommandLineRun end = server.await().assertExit(1);
    assertThat(end.err()).startsWith("Failed status local length error (1) for wr_id 1\n");
  }

  @Test
  void serverThatWaitsForMessagesEndsWithTheInterrupt() throws Exception {
    RunningCommand server = server("uc_pingpong -g 0 -e");
    client("uc_pingpong -g 0 -n 1").assertExit(0);
    server.awaitOutput("remote address");
    server.interrupt();
    assertThat(server.await().exitCode()).isEqualTo(ExitCode.INTERRUPTED.code());
  }

  @ParameterizedTest
  @ValueSource(strings = {"rc_pingpong", "srq_pingpong -e"})
  void serverWithoutClientEndsWithTheInterrupt(String command) throws Exception {
    RunningCommand server = server(command + " -g 0");
    server.awaitOutput("local address");
    server.interrupt();
    assertThat(server.await().exitCode()).isEqualTo(ExitCode.INTERRUPTED.code());
  }

  @Test
  void serverWithoutGidHasNoRouteOverEthernet() throws Exception {
    RunningCommand server = server("rc_pingpong");
    CommandLineRun client = client("rc_pingpong -g 0");
    assertThat(client.err()).startsWith("Failed to modify QP to RTR\nhghca: ");
    assertThat(client.exitCode()).isEqualTo(1);
    server.interrupt(); // as the original, it waits for messages
    assertThat(server.await().out())
        .startsWith("  local address:  LID 0x0000")
        .contains("GID ::\n");
  }

  @ParameterizedTest
  @CsvSource({
    "rc_pingpong, Failed to modify QP to RTR",
    "ud_pingpong, Failed to create AH",
    "srq_pingpong, Failed to modify QP[0] to RTR"
  })
  void clientWithoutGidFailsAtTheServer(String command, String line) throws Exception {
    RunningCommand server = server(command + " -g 0");
    CommandLineRun client = client(command);
    assertThat(client.err()).matches("Couldn't read/write remote address\nhghca: .*ended.*\n");
    assertThat(client.exitCode()).isEqualTo(1);
    CommandLineRun end = server.await();
    assertThat(end.err()).startsWith(line + "\nCouldn't connect to remote QP\nhghca: ");
    assertThat(end.exitCode()).isEqualTo(1);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "rc_pingpong -g 77 | can't read sgid of index 77",
        "uc_pingpong -g 5000 | can't read sgid of index 5000",
        "ud_pingpong -g 77 | Could not get local gid for gid index 77",
        "srq_pingpong -g 77 | Could not get local gid for gid index 77",
        "rc_pingpong -i 2 | Failed to modify QP to INIT",
        "ud_pingpong -i 2 | Unable to query port info for port 2",
        "srq_pingpong -i 2 | Failed to modify QP[0] to INIT",
        "rc_pingpong -r 1000000 | Couldn't create CQ",
      })
  void failedStepHasTheLineOfTheOriginalAndTheReason(String command, String line) throws Exception {
    CommandLineRun run = server(command).await();
    assertThat(run.err()).startsWith(line + "\nhghca: ");
    assertThat(run.exitCode()).isEqualTo(1);
  }

  @Test
  void missingDeviceAndMissingServerAreNamed() throws Exception {
    assertThat(start("rc_pingpong", "nosuch").await().err())
        .startsWith("IB device nosuch not found\nhghca: no RDMA device 'nosuch'; ");
    assertThat(server("rc_pingpong no.such.host.invalid").await().err())
        .isEqualTo(
            """
            Couldn't connect to no.such.host.invalid:%d
            hghca: 'no.such.host.invalid' is no address, and no host has that name
            """
                .formatted(port));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "srq_pingpong -q 17 -r 16 | rx_depth 16 is too small for 17 QPs -- must have at least one"
            + " receive per QP.",
        "srq_pingpong -q 256 | num_qp 256 must be less than 255",
      })
  void tooManyQueuePairsAreRefused(String command, String line) throws Exception {
    assertThat(server(command).await()).isEqualTo(new CommandLineRun(1, "", line + "\n"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "rc_pingpong -o | -o is not supported: memory is registered and pinned as a whole.",
        "rc_pingpong --iodp | -O is not supported: memory is registered and pinned as a whole.",
        "rc_pingpong -P | -P is not supported: memory is registered and pinned as a whole.",
        "rc_pingpong -t | -t is not supported: completions of the card have no time stamps.",
        "rc_pingpong -j | -j is not supported: the card has no memory that programs can register.",
        "rc_pingpong --new_send | -N is not supported: there is one API to post sends.",
        "rc_pingpong -U | -U is not supported: memory of a confidential guest is never shared",
        "srq_pingpong --odp | -o is not supported: memory is registered and pinned as a whole.",
        "uc_pingpong -o | Unknown option: '-o'",
        "ud_pingpong -m 1024 | Unknown option: '-m'",
        "rc_pingpong -q 2 | Unknown option: '-q'",
        "rc_pingpong -p 65536 | -p must be from 0 to 65535, not 65536",
        "rc_pingpong -i 0 | -i must be from 1 to 255, not 0",
        "rc_pingpong -s 0 | -s must be from 1 to 2147483647, not 0",
        "rc_pingpong -s 4k | '4k' is not a whole number",
        "rc_pingpong -m 1000 | -m must be 256, 512, 1024, 2048 or 4096, not 1000",
        "rc_pingpong -r 0 | -r must be from 1 to",
        "rc_pingpong -n -1 | -n must be from 1 to 2147483647, not -1",
        "rc_pingpong -l 16 | -l must be from 0 to 15, not 16",
        "rc_pingpong a b | Unmatched argument at index 2: 'b'",
      })
  void wrongUsageIsNamed(String command, String message) {
    CommandLineRun run = CommandLineRun.of(command.split(" "));
    assertThat(run.err()).contains(message);
    assertThat(run.out()).isEmpty();
    assertThat(run.exitCode()).isEqualTo(1);
  }

  @Test
  void helpListsTheExitCodesOfTheOriginal() {
    assertThat(CommandLineRun.of("rc_pingpong", "--help-all").out())
        .contains("Usage: hghca rc_pingpong", "  0     Success.\n  1     Anything failed")
        .doesNotContain("  2     ");
  }
}
