package org.hghca.tools.programs;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.hghca.programs.ExitCode;
import org.hghca.tools.CommandLineRun;
import org.hghca.tools.RunningCommand;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The programs of perftest, each with itself, on two software HCAs on the loopback interface. */
class PerfCommandsTest {
  private static final String SERVER = "127.0.5.61";
  private static final String CLIENT = "127.0.5.62";
  private static final Pattern EARLY =
      Pattern.compile("Connection refused|EVENT_REJECTED, status 8");
  private static final String NUMBER = "\\d+\\.\\d+";

  private final List<RunningCommand> started = new ArrayList<>();
  private int port;

  @BeforeEach
  void findPort() throws Exception {
    try (ServerSocket socket = new ServerSocket(0)) {
      port = socket.getLocalPort();
    }
  }

  @AfterEach
  void end() {
    started.forEach(RunningCommand::close);
  }

  private RunningCommand start(String address, String command) {
    RunningCommand running =
        RunningCommand.start(
            "perf %s -p %d -d model:%s?net=udp:%s".formatted(command, port, address, address));
    started.add(running);
    return running;
  }

  /** Runs a client, again while its server does not listen yet. */
  private CommandLineRun client(String command) throws Exception {
    return RunningCommand.client(EARLY, () -> start(CLIENT, command + " " + SERVER));
  }

  /** As {@code docs/command-line.md} has them, and with perftest's options of the amount. */
  @ParameterizedTest
  @CsvSource({
    "ib_write_bw, -s 4096 -D 1, 4096",
    "ib_write_bw, -s 4096 -n 100, 4096",
    "ib_write_bw -s 4096, -s 4096 -n 100, 4096",
    "ib_write_bw -n 100, -s 4096 -n 100, 4096",
    "ib_send_bw, -s 64 -n 300 -R, 64",
    "ib_send_bw -c UD, -n 50 -c UD, 4096",
    "ib_write_lat, -s 32 -n 100, 32",
    "ib_read_lat, -n 50, 2",
    "ib_write_bw, -a -n 5, 8388608",
  })
  void serverTakesTheAmountOfItsClient(String serving, String amount, int largest)
      throws Exception {
    String test = serving.substring(0, (serving + " ").indexOf(' '));
    boolean byAddress = amount.contains("-R");
    RunningCommand server = start(SERVER, serving + (byAddress ? " -R" : ""));
    server.awaitOutput("Waiting for client to connect");
    CommandLineRun client = client(test + " " + amount).assertExit(0);
    CommandLineRun served = server.await().assertExit(0);
    assertThat(client.out()).containsPattern("(?m)^ " + largest + " ");
    if (!test.equals("ib_read_lat")) {
      assertThat(served.out()).contains(client.out().lines().toList().getLast());
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "-s 64       | -s 4096       | message size (-s, -a): here 4096, there 64",
        "-s 64       |               | message size (-s, -a): here 65536, there 64",
        "-n 100      | -D 1          | extent (-n, -D, --run_infinitely): here 1 s, there 100"
            + " iterations",
        "-e          | -D 1          | extent (-n, -D, --run_infinitely): here 1 s, there 5000"
            + " iterations",
      })
  void amountsThatExcludeEachOtherAreRefusedByName(String server, String client, String message)
      throws Exception {
    RunningCommand serving = start(SERVER, "ib_write_bw " + server);
    serving.awaitOutput("Waiting for client to connect");
    CommandLineRun run =
        client("ib_write_bw" + (client == null ? "" : " " + client))
            .assertExit(ExitCode.FAILED.code());
    assertThat(run.err()).isEqualTo("hghca: the two sides differ: " + message + "\n");
    assertThat(serving.await().exitCode()).isEqualTo(ExitCode.FAILED.code());
  }

  @Test
  void manyQueuePairsRunWithTheDefaults() throws Exception {
    for (CommandLineRun run : both("ib_send_bw -q 32")) {
      assertThat(run.exitCode()).as(run.toString()).isZero();
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "ib_send_bw -q 200 | -q 200 with -r 512 needs a completion queue of 102400 entries, and"
            + " the device's have 65536: -r 326 fits",
        "ib_write_bw -q 513 -n 128 | -q 513 with -t 128 needs a completion queue of 65664 entries,"
            + " and the device's have 65536: -t 126 fits",
        "ib_write_bw -t 15000 -n 15000 | -t 15000 is more than the device's queues take: -t 8191"
            + " fits",
        "ib_send_bw -r 16384 -n 16384 | -r 16384 is more than the device's queues take: -r 8191"
            + " fits",
      })
  void whatTheDeviceHasNotIsRefusedWithWhatFits(String command, String message) throws Exception {
    List<CommandLineRun> runs = both(command);
    assertThat(runs.getLast().exitCode()).isEqualTo(ExitCode.FAILED.code());
    assertThat(runs.getLast().err()).contains(message);
  }

  /** Both sides of a command, the server first. */
  private List<CommandLineRun> both(String command) throws Exception {
    RunningCommand server = start(SERVER, command);
    server.awaitOutput("Waiting for client to connect");
    CommandLineRun client = client(command);
    return List.of(server.await(), client);
  }

  private static String lastRow(CommandLineRun run) {
    List<String> lines = run.out().lines().toList();
    return lines.get(lines.size() - 2);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "ib_write_bw -n 200",
        "ib_write_bw -n 100 -s 8 -c UC",
        "ib_write_bw -n 64 -s 1024 -q 4",
        "ib_write_bw -n 96 -l 16 -s 64",
        "ib_write_bw -n 200 -b -s 4096",
        "ib_write_bw -n 100 -e -s 64",
        "ib_write_bw -n 100 --report_gbits",
        "ib_send_bw -n 200 -s 4096",
        "ib_send_bw -n 200 -s 64 -c UC",
        "ib_send_bw -n 200 -c UD",
        "ib_send_bw -n 100 -s 512 -b -q 2",
        "ib_send_bw -n 100 -e -s 64",
        "ib_read_bw -n 100 -s 4096",
        "ib_read_bw -n 100 -s 4096 -b -o 1",
        "ib_atomic_bw -n 100",
        "ib_atomic_bw -n 100 -A CMP_AND_SWAP -b",
        "ib_write_bw -n 100 -R",
        "ib_write_bw -n 64 -s 1024 -q 4 -b -R -T 8 --retry_count 3",
        "ib_send_bw -n 100 -R -u 16",
        "ib_send_bw -n 100 -c UD -q 2 -b -R",
        "ib_send_bw -n 100 -c UD -R",
        "ib_read_bw -n 100 -s 4096 -q 2 -R",
        "ib_read_bw -n 100 -s 4096 -o 1 -R",
        "ib_atomic_bw -n 100 -R",
        "ib_write_bw -n 100 -c UC -z",
        "ib_send_bw -n 100 -z -b",
        "ib_read_bw -n 100 -s 4096 -q 2 -z",
        "ib_send_bw -n 100 -g",
        "ib_send_bw -n 100 -c UD -g -z -e",
        "ib_send_bw -n 100 -s 64 -g -M 0:0:0:0:0:0:0:0:0:0:0xff:0xff:239:1:2:4"
      })
  void throughput(String command) throws Exception {
    List<CommandLineRun> runs = both(command);
    for (CommandLineRun run : runs) {
      assertThat(run.err()).isEmpty();
      assertThat(run.exitCode()).as(run.out()).isZero();
      // A server of SENDs does not send, and so has no peak.
      boolean peak = !(command.contains("ib_send_bw") && run.out().contains(" RX depth"));
      if (peak) {
        assertThat(lastRow(run).trim().split("\\s+"))
            .as(run.out())
            .hasSize(5)
            // Few small messages a second are 0.00 MiB a second.
            .satisfies(cells -> assertThat(Double.parseDouble(cells[2])).isNotNegative())
            .satisfies(cells -> assertThat(Double.parseDouble(cells[4])).isPositive());
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "ib_write_lat -n 200",
        "ib_write_lat -n 100 -s 4096 -c UC",
        "ib_send_lat -n 200",
        "ib_send_lat -n 100 -c UC",
        "ib_send_lat -n 100 -c UD -s 100",
        "ib_send_lat -n 100 -e",
        "ib_read_lat -n 100 -s 1000",
        "ib_read_lat -n 100 -e",
        "ib_atomic_lat -n 100",
        "ib_write_lat -n 100 -R",
        "ib_send_lat -n 100 -R",
        "ib_send_lat -n 100 -c UD -R",
        "ib_read_lat -n 100 -R",
        "ib_atomic_lat -n 100 -R",
        "ib_write_lat -n 100 -z",
        "ib_send_lat -n 100 -c UD -z",
        "ib_send_lat -n 100 -g",
        "ib_send_lat -n 100 -g -z"
      })
  void latency(String command) throws Exception {
    List<CommandLineRun> runs = both(command);
    for (CommandLineRun run : runs) {
      assertThat(run.err()).isEmpty();
      assertThat(run.exitCode()).as(run.out()).isZero();
    }
    assertThat(lastRow(runs.get(1)).trim().split("\\s+"))
        .hasSize(9)
        .allSatisfy(cell -> assertThat(cell).matches("\\d+|" + NUMBER));
  }

  @Test
  void byTime() throws Exception {
    for (String command :
        new String[] {"ib_write_bw -D 1", "ib_send_bw -D 1 -f 0 -s 64", "ib_send_lat -D 1 -f 0"}) {
      for (CommandLineRun run : both(command)) {
        assertThat(run.err()).isEmpty();
        assertThat(run.exitCode()).as(run.out()).isZero();
      }
    }
  }

  @Test
  void pages(@TempDir Path folder) throws Exception {
    RunningCommand server =
        start(SERVER, "ib_write_lat -n 100 --html " + folder.resolve("server.html"));
    client("ib_write_lat -n 100 --html " + folder.resolve("client.html")).assertExit(0);
    assertThat(server.await().exitCode()).isZero();
    assertThat(folder.resolve("client.html"))
        .content()
        .contains("<h1>ib_write_lat, RC</h1>")
        .contains("<dd>client of 127.0.5.61</dd>")
        .contains("<dd>model:127.0.5.62?net=udp:127.0.5.62</dd>")
        .contains("<dt>profile</dt>")
        .contains("<figcaption>Distribution of latencies</figcaption>")
        .contains("<td>2</td>\n<td>100</td>");
    assertThat(folder.resolve("server.html")).content().contains("<dd>server</dd>");
  }

  @ParameterizedTest
  @CsvSource({"ib_write_bw, Throughput over time", "ib_send_lat, Transactions over time"})
  void pageOfOneRunByTimeHasItsRate(String test, String caption, @TempDir Path folder)
      throws Exception {
    Path html = folder.resolve("client.html");
    RunningCommand server = start(SERVER, test + " -D 1 -f 0 -s 64");
    client(test + " -D 1 -f 0 -s 64 --html " + html).assertExit(0);
    assertThat(server.await().exitCode()).isZero();
    assertThat(html).content().containsOnlyOnce("<figcaption>" + caption + "</figcaption>");
  }

  @ParameterizedTest
  @ValueSource(strings = {"--html", "--out_json_file"})
  void fileThatCannotBeWrittenIsToldBeforeTheMeasurement(String option, @TempDir Path folder)
      throws Exception {
    CommandLineRun run =
        start(SERVER, "ib_write_bw " + option + " " + folder).await().assertExit(5);
    assertThat(run.err())
        .isEqualTo(
            "hghca: %s cannot be written: it is a folder: name another file\n".formatted(folder));
    assertThat(run.out()).isEmpty();
  }

  @Test
  void header() throws Exception {
    List<CommandLineRun> runs = both("ib_write_bw -n 100 -b -q 2");
    String dashes = "-".repeat(87) + "\n";
    String ends =
        """
         local address: LID 0000 QPN 0x[0-9a-f]{4,6} PSN 0x[0-9a-f]{4,6} RKey 0x[0-9a-f]{6,8} VAddr 0x[0-9a-f]{14}
         GID: 00:00:00:00:00:00:00:00:00:00:255:255:127:00:05:62
         local address: LID 0000 QPN 0x[0-9a-f]{4,6} PSN 0x[0-9a-f]{4,6} RKey 0x[0-9a-f]{6,8} VAddr 0x[0-9a-f]{14}
         GID: 00:00:00:00:00:00:00:00:00:00:255:255:127:00:05:62
        """;
    assertThat(runs.get(1).out())
        .startsWith(
            dashes
                + """
                                    RDMA_Write Bidirectional BW Test
                 Dual-port       : OFF\t\tDevice         : model:127.0.5.62?net=udp:127.0.5.62
                 Number of qps   : 2\t\tTransport type : IB
                 Connection type : RC\t\tUsing SRQ      : OFF
                 PCIe relax order: OFF\t\tLock-free      : ON
                 ibv_wr* API     : OFF\t\tUsing Enhanced Reorder      : OFF
                 TX depth        : 100
                 CQ Moderation   : 1
                 Mtu             : 4096[B]
                 Link type       : Ethernet
                 GID index       : 0
                 Max inline data : 0[B]
                 rdma_cm QPs\t : OFF
                 Data ex. method : Ethernet
                """
                + dashes)
        .containsPattern(
            ends
                + ends.replace("local", "remote").replace(":62\n", ":61\n")
                + dashes
                + " #bytes     #iterations    BW peak\\[MiB/sec]    BW average\\[MiB/sec]  "
                + " MsgRate\\[Mpps]\n"
                + " 65536      200  ");
    assertThat(runs.get(0).out())
        .startsWith(
            """

            ************************************
            * Waiting for client to connect... *
            ************************************
            """
                + dashes);
  }

  @Test
  void sidesThatDifferSayIn() throws Exception {
    RunningCommand server = start(SERVER, "ib_write_bw -s 4096");
    CommandLineRun client = client("ib_send_bw -q 2").assertExit(1);
    assertThat(client.err())
        .isEqualTo(
            "hghca: the two sides differ: program: here ib_send_bw, there ib_write_bw;"
                + " message size (-s, -a): here 65536, there 4096;"
                + " extent (-n, -D, --run_infinitely): here 1000 iterations, there 5000 iterations;"
                + " queue pairs (-q): here 2, there 1\n");
    assertThat(server.await().exitCode()).isEqualTo(1);
  }

  @Test
  void headerOfGroups() throws Exception {
    String group = " address: LID 0000 QPN 0xffffff PSN 0x[0-9a-f]{4,6}\n %s: ";
    String bytes = "00:00:00:00:00:00:00:00:00:00:255:255:239:02:201:%d\n";
    List<CommandLineRun> runs = both("ib_send_lat -n 100 -g");
    for (int i = 0; i < 2; i++) {
      assertThat(runs.get(i).out())
          .contains("                    Send Latency Multicast Test\n MultiCast runs on UD!\n")
          .contains(" Connection type : UD\t")
          .containsPattern(
              "local" + group.formatted(i == 0 ? "MGID" : "GID") + bytes.formatted(133 + i))
          .containsPattern(
              "remote" + group.formatted(i == 1 ? "MGID" : "GID") + bytes.formatted(134 - i));
    }
    // Only what receives takes part in a group.
    assertThat(both("ib_send_bw -n 100 -g").get(0).out())
        .contains("                    Send BW Multicast Test\n")
        .containsPattern("local" + group.formatted("MGID") + bytes.formatted(133))
        .containsPattern("remote address: .*\n GID: 00:.*:127:00:05:62\n");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "255:1:0:0:0:0:0:0:0:0:0:0:0:0:0:1 | Found Incompatibility issue with GID types: ",
        "0:0:0:0:0:0:0:0:0:0:255:255:239:1:2:4 | both sides receive in the group"
            + " 0000:0000:0000:0000:0000:ffff:ef01:0204, and so their own messages: give them"
            + " different ones by -M"
      })
  void groupsThatCannotBeMeasuredAreNamed(String group, String message) throws Exception {
    for (CommandLineRun run : both("ib_send_lat -n 100 -g -M " + group)) {
      assertThat(run.exitCode()).isEqualTo(1);
      assertThat(run.err()).startsWith("hghca: " + message);
    }
  }

  @Test
  void headerOfConnectionsByTheConnectionManager() throws Exception {
    String ends = " rdma_cm QPs\t : %s\n Data ex. method : rdma_cm%s\n---";
    for (CommandLineRun run : both("ib_write_bw -n 100 -R -T 5")) {
      assertThat(run.out()).contains(ends.formatted("ON", " \tTOS    : 5"));
    }
    for (CommandLineRun run : both("ib_write_bw -n 100 -z")) {
      assertThat(run.out()).contains(ends.formatted("OFF", ""));
    }
  }

  @Test
  void sidesThatDifferInWhoConnectsSayIt() throws Exception {
    RunningCommand server = start(SERVER, "ib_write_bw -n 100 -R");
    server.awaitOutput("Waiting for client to connect");
    CommandLineRun client = client("ib_write_bw -n 100 -z").assertExit(1);
    assertThat(client.err())
        .isEqualTo(
            "hghca: the two sides differ: queue pairs by rdma_cm (-R): here no, there yes\n");
    assertThat(server.await().exitCode()).isEqualTo(1);
  }

  @Test
  void serverWithoutTheConnectionManagerIsNamed() throws Exception {
    RunningCommand server = start(SERVER, "ib_write_bw -n 100 -R");
    server.awaitOutput("Waiting for client to connect");
    CommandLineRun client = start(CLIENT, "ib_write_bw -n 100 " + SERVER).await().assertExit(1);
    assertThat(client.err())
        .isEqualTo(
            ("hghca: %s:%d: Connection refused; if the server has -R or -z, give the same here\n")
                .formatted(SERVER, port));
  }

  @Test
  void peerThatLeavesDuringAMeasurementIsNamed() throws Exception {
    RunningCommand server = start(SERVER, "ib_write_bw -R --run_infinitely -D 1");
    server.awaitOutput("Waiting for client to connect");
    RunningCommand client = start(CLIENT, "ib_write_bw -R --run_infinitely -D 1 " + SERVER);
    client.awaitOutput(" 65536   ");
    client.interrupt();
    assertThat(client.await().exitCode()).isEqualTo(130);
    CommandLineRun served = server.await().assertExit(1);
    assertThat(served.err())
        .matches(
            "hghca: 127\\.0\\.5\\.62:\\d+ ended the connection, or cannot be reached any more, and"
                + " did not send its address: Work Request Flushed Error\n");
  }

  @Test
  void allSizesOfDatagramsEndAtTheMtu() throws Exception {
    List<CommandLineRun> runs = both("ib_send_bw -a -c UD -n 5 -m 1024");
    assertThat(runs.get(1).exitCode()).as(runs.get(1).err()).isZero();
    assertThat(runs.get(1).out().lines().filter(line -> line.matches(" \\d+ .*")))
        .extracting(line -> line.trim().split("\\s+")[0])
        .containsExactly("2", "4", "8", "16", "32", "64", "128", "256", "512", "1024");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "ib_write_bw -R -c UC | UC is not supported in librdmacm: -c UC with -R",
        "ib_write_bw -R -m 1024 | -m has no meaning with -R: the MTU is that of the port",
        "ib_write_bw -z -T 8 | -T needs -R",
        "ib_write_bw --retry_count 1 | --retry_count needs -R or -z",
        "ib_write_bw -g | MultiCast feature only available on SEND verb: -g",
        "ib_send_bw -g -b | Bidirectional mode not supported in multicast: -b with -g",
        "ib_send_bw -g -q 2 | Only 1 QP supported in multicast: -q with -g",
        "ib_send_bw -g -R | -R is not supported with -g",
        "ib_send_bw -g -c RC | -c RC is not supported with -g: multicast runs on UD",
        "ib_send_lat -M 255:1:0:0:0:0:0:0:0:0:0:0:0:0:0:1 | -M needs -g",
        "ib_send_lat -g -M 255:1 | -M must be 16 numbers up to 255 with colons between them, of a"
            + " multicast group, not 255:1",
        "ib_send_lat -g -M 254:1:0:0:0:0:0:0:0:0:0:0:0:0:0:1 | -M must be 16 numbers up to 255 with"
            + " colons between them, of a multicast group, not 254:1:0:0:0:0:0:0:0:0:0:0:0:0:0:1",
        "ib_send_bw -g --connectionless | --connectionless is not supported: a server begins when"
            + " its client has come",
        "ib_send_bw --use-srq | --use-srq is not supported: each queue pair has its own receive"
            + " queue",
        "ib_write_bw -c UD | UD connection only possible in SEND verb: -c",
        "ib_read_bw -c UC | UC connection not possible in READ/ATOMIC verbs: -c",
        "ib_read_bw -c XRC | -c XRC is not supported: the device has RC, UC and UD",
        "ib_write_lat -q 2 | Multiple QPs only available on bw tests: -q",
        "ib_write_lat -l 2 | Post list is supported in BW tests only: -l",
        "ib_atomic_bw -s 16 | Message size cannot be changed for Atomic tests: -s",
        "ib_write_bw -n 4 | -n must be from 5 to 100000000, not 4",
        "ib_write_bw -D 4 -f 2 | please check that DURATION > 2*MARGIN: -D 4 -f 2",
        "ib_write_bw -n 10 -l 3 | Number of iterations must be a multiple of post list size",
        "ib_write_bw -l 4 -Q 3 -n 8 | Post list size must be a multiple of CQ moderation",
        "ib_write_lat -e | -e is not supported: ib_write_lat waits for memory, not for completions",
        "ib_write_bw -m 1500 | Invalid MTU: 1500. Please choose mtu from {256,512,1024,2048,4096}"
      })
  void isRefused(String command, String message) throws Exception {
    CommandLineRun run = start(SERVER, command).await().assertExit(2);
    assertThat(run.err()).startsWith(message + "\n");
  }

  @Test
  void interruptedMeasurementPrintsItsFigures() throws Exception {
    RunningCommand server = start(SERVER, "ib_write_bw --run_infinitely -D 1 -s 64");
    RunningCommand client = start(CLIENT, "ib_write_bw --run_infinitely -D 1 -s 64 127.0.0.1");
    while (!client.hasPrinted(" 64   ")) {
      if (client.hasEnded()) {
        client = start(CLIENT, "ib_write_bw --run_infinitely -D 1 -s 64 127.0.0.1");
      }
      Thread.onSpinWait();
    }
    client.interrupt();
    CommandLineRun run = client.await().assertExit(130);
    assertThat(lastRow(run)).startsWith(" 64  ");
    assertThat(server.await().exitCode()).isEqualTo(1);
  }

  private static Map<String, Object> json(String text) throws IOException {
    return JSON.std.mapFrom(text);
  }

  @Test
  void documentHasTheKeysOfPerftest() throws Exception {
    RunningCommand server = start(SERVER, "ib_write_bw -n 100 -s 64");
    CommandLineRun client = client("ib_write_bw -n 100 -s 64 --json");
    assertThat(server.await().exitCode()).isZero();
    assertThat(client.exitCode()).isZero();
    Map<String, Object> document = json(client.out());
    assertThat(document.get("test_info"))
        .isEqualTo(
            json(
                """
                {"test": "RDMA_Write_BW_Test", "Dual_port": "OFF",
                 "Device": "model:127.0.5.62?net=udp:127.0.5.62", "Number_of_qps": 1,
                 "Transport_type": "IB", "Connection_type": "RC", "Using_SRQ": "OFF",
                 "PCIe_relax_order": "OFF", "ibv_wr_API": "OFF", "TX_depth": 100,
                 "CQ_Moderation": 100, "Mtu": 4096, "Link_type": "Ethernet", "GID_index": 0,
                 "Max_inline_data": 0, "rdma_cm_QPs": "OFF", "Data_ex_method": "Ethernet"}
                """));
    assertThat(document.get("results"))
        .asInstanceOf(InstanceOfAssertFactories.MAP)
        .containsEntry("MsgSize", 64)
        .containsEntry("n_iterations", 100)
        .containsOnlyKeys("MsgSize", "n_iterations", "BW_peak", "BW_average", "MsgRate");
  }

  @Test
  void documentOfAPacedLatencyHasPercentiles(@TempDir Path folder) throws Exception {
    Path file = folder.resolve("out.json");
    RunningCommand server = start(SERVER, "ib_send_lat -n 100");
    CommandLineRun client =
        client("ib_send_lat -n 100 --rate_limit 2000 --rate_units p --out_json_file " + file);
    assertThat(server.await().exitCode()).isZero();
    assertThat(client.exitCode()).isZero();
    assertThat(lastRow(client)).startsWith(" 2       100  ");
    assertThat(json(Files.readString(file)).get("results"))
        .asInstanceOf(InstanceOfAssertFactories.MAP)
        .containsEntry("n_iterations", 100)
        .extractingByKey("percentiles_usec")
        .asInstanceOf(InstanceOfAssertFactories.MAP)
        .containsOnlyKeys("50", "75", "90", "99", "99.9", "99.99", "99.999", "100");
  }

  @ParameterizedTest
  @CsvSource({
    "ib_write_bw -n 100 -s 8, --min-bw 1e9, throughput",
    "ib_write_bw -n 100 -s 8, -y 1e9, message rate",
    "ib_read_lat -n 100, --max-lat 0.001 --max-lat-percentile 99, latency p99"
  })
  void missedLimitFails(String command, String limit, String what) throws Exception {
    RunningCommand server = start(SERVER, command);
    CommandLineRun client = client(command + " " + limit);
    assertThat(server.await().exitCode()).isZero();
    assertThat(client.exitCode()).isEqualTo(1);
    assertThat(client.err()).contains(" bytes: " + what);
  }
}
