package org.hghca.tools.demo;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.hghca.programs.ExitCode;
import org.hghca.tools.CommandLineRun;
import org.hghca.tools.LyingProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DemoCommandTest {

  @Test
  void showsTheClassicExampleStepByStep() {
    CommandLineRun run = CommandLineRun.of("demo", "--seconds", "0.1");

    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(run.err())
        .isEqualTo("hghca: using two embedded software HCAs; name others with --ib-dev\n");
    assertThat(run.out())
        .containsSubsequence(
            "server  device model:left?cable=demo: port 1 PORT_ACTIVE",
            "client  device model:right?cable=demo: port 1 PORT_ACTIVE",
            "server  MR registered",
            "client  QP created",
            "INIT -> RTR -> RTS",
            "INIT -> RTR -> RTS",
            "server  buffer loaded with 'SEND operation'",
            "server  completion: wr_id 1: success (0), SEND",
            "client  completion: wr_id 2: success (0), RECV",
            "client  buffer verified, 64 bytes: 'SEND operation'",
            "server  buffer loaded with 'RDMA read operation'",
            "client  completion: wr_id 1: success (0), RDMA_READ",
            "client  buffer verified, 64 bytes: 'RDMA read operation'",
            "client  buffer loaded with 'RDMA write operation'",
            "client  completion: wr_id 1: success (0), RDMA_WRITE",
            "server  buffer verified, 64 bytes: 'RDMA write operation'",
            "client  completion: wr_id 0: success (0), FETCH_ADD",
            "client  the number was 40",
            "client  completion: wr_id 0: success (0), COMP_SWAP",
            "client  the number was 42",
            "server  buffer verified: the number is 7",
            "client  'datagram: who is there?' was posted",
            "server  woken by an event: wr_id 1: success (0), RECV",
            "server  'datagram: it is me' was posted",
            "client  buffer verified: 'datagram: it is me'",
            "RDMA WRITE, 8 bytes",
            "RDMA WRITE, 64 KiB",
            "SEND ping-pong, 8 bytes",
            "WRITE ping-pong, 8 bytes",
            "All 10 checks held: connect, send, rdma read, rdma write, atomics, datagrams, write"
                + " rate, write throughput, ping-pong, write ping-pong");
  }

  @Test
  void twoVirtioNetworkCardsDoAllButAtomics() {
    CommandLineRun run =
        CommandLineRun.of(
            "demo",
            "--seconds",
            "0.1",
            "-d",
            "virtio:left?hub=demo",
            "-d",
            "virtio:right?hub=demo");

    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(run.out())
        .containsSubsequence(
            "server  device virtio:left?hub=demo: port 1 PORT_ACTIVE, MTU 1024",
            "client  buffer verified, 64 bytes: 'SEND operation'",
            "client  buffer verified, 64 bytes: 'RDMA read operation'",
            "server  buffer verified, 64 bytes: 'RDMA write operation'",
            "server  not supported by this card: ATOMICS",
            "server  woken by an event: wr_id 1: success (0), RECV",
            "client  buffer verified: 'datagram: it is me'",
            "All 9 checks held: connect, send, rdma read, rdma write, datagrams, write rate");
  }

  @ParameterizedTest
  @CsvSource({
    "server, -d, model:left, --ib-dev",
    "client, -d, model:left, --ib-dev",
    "server, --seconds, 1, --seconds",
  })
  void optionBeforeServerOrClientIsRefused(
      String command, String option, String value, String named) {
    CommandLineRun run =
        command.equals("client")
            ? CommandLineRun.of("demo", option, value, command, "localhost")
            : CommandLineRun.of("demo", option, value, command);

    assertThat(run.exitCode()).isEqualTo(ExitCode.USAGE.code());
    assertThat(run.err())
        .contains(
            "Options follow the command: give %s after 'hghca demo %s'".formatted(named, command));
  }

  /** The makers' cards have no atomics, and say of a datagram's sender no more than its number. */
  @ParameterizedTest
  @CsvSource({
    "model:l?cable=demo-rtl1&profile=r1, model:r?cable=demo-rtl1&profile=r1",
    "model:demo-rtl1?profile=r1, model:demo-rtl1?profile=r1",
    "model:l?cable=demo-rtl2&profile=r2, model:r?cable=demo-rtl2&profile=r2",
    "model:demo-rtl2?profile=r2, model:demo-rtl2?profile=r2",
  })
  void missingFeaturesAreReportedAndAllElseIsShown(String server, String client) {
    CommandLineRun run = CommandLineRun.of("demo", "--seconds", "0", "-d", server, "-d", client);

    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(run.out())
        .containsSubsequence(
            "client  buffer verified, 64 bytes: 'SEND operation'",
            "client  buffer verified, 64 bytes: 'RDMA read operation'",
            "server  buffer verified, 64 bytes: 'RDMA write operation'",
            "server  not supported by this card: ATOMICS",
            "server  buffer verified: 'datagram: who is there?'",
            "server  a quirk of this card: NO_GRH; the answer goes to the client's known"
                + " address",
            "client  buffer verified: 'datagram: it is me'",
            "All 9 checks held: connect, send, rdma read, rdma write, datagrams, write rate, write"
                + " throughput, ping-pong, write ping-pong");
  }

  @Test
  void countersOfBothSidesArePrintedOnRequest() {
    CommandLineRun run = CommandLineRun.of("demo", "--seconds", "0", "--counters");

    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(run.out())
        .containsPattern("counters of the server:\n\tsends_posted +[1-9]")
        .containsPattern("counters of the client:\n\tsends_posted +[1-9]");
  }

  @Test
  void jsonHoldsOnlyTheMeasurements() throws IOException {
    CommandLineRun run = CommandLineRun.of("demo", "--seconds", "0.1", "-s", "4096", "--json");

    assertThat(run.exitCode()).as(run.err()).isZero();
    Map<String, Object> result = JSON.std.mapFrom(run.out());
    assertThat(result)
        .containsEntry("server", "model:left?cable=demo")
        .containsEntry("client", "model:right?cable=demo")
        .containsEntry("message_bytes", 4096)
        .containsEntry(
            "checks",
            List.of(
                "connect",
                "send",
                "rdma read",
                "rdma write",
                "atomics",
                "datagrams",
                "write rate",
                "write throughput",
                "ping-pong",
                "write ping-pong"));
    assertThat(((Number) result.get("messages_per_second")).doubleValue()).isPositive();
    assertThat(((Number) result.get("megabytes_per_second")).doubleValue()).isPositive();
    for (String measured : List.of("round_trips", "write_round_trips")) {
      assertThat(result.get(measured))
          .asInstanceOf(InstanceOfAssertFactories.MAP)
          .containsOnlyKeys("count", "p50_us", "p90_us", "p99_us", "p99.9_us", "max_us");
    }
  }

  @Test
  void oneDeviceCanBeBothSides() {
    CommandLineRun run = CommandLineRun.of("demo", "--seconds", "0.1", "-d", "model:both");

    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(run.err()).isEmpty();
    assertThat(run.out())
        .contains("server  device model:both")
        .contains("client  device model:both");
  }

  @Test
  void missingCableFailsTheCheckThatNeedsIt() {
    CommandLineRun run =
        CommandLineRun.of("demo", "-d", "model:left?cable=a", "-d", "model:right?cable=b");

    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.err())
        .isEqualTo(
            """
            hghca: check 'send' failed: the server had no completion within 5 seconds
            hghca: no cable joins model:left?cable=a and model:right?cable=b: name the same one in\
             both, as in model:left?cable=demo and model:right?cable=demo
            """);
    assertThat(run.out()).contains("Send Request was posted").doesNotContain("checks held");
  }

  @Test
  void jsonReportsTheFailure() throws IOException {
    CommandLineRun run =
        CommandLineRun.of(
            "demo", "--json", "-d", LyingProvider.SENDER, "-d", LyingProvider.RECEIVER);

    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(JSON.std.mapFrom(run.out()))
        .containsEntry("server", LyingProvider.SENDER)
        .containsEntry("client", LyingProvider.RECEIVER)
        .containsEntry("checks", List.of("connect"))
        .hasEntrySatisfying(
            "error", error -> assertThat(error.toString()).startsWith("check 'send' failed: "));

    CommandLineRun unknown = CommandLineRun.of("demo", "--json", "-d", "mlx4_0");
    assertThat(unknown.exitCode()).isEqualTo(3);
    assertThat(JSON.std.mapFrom(unknown.out()).get("error").toString())
        .startsWith("no RDMA device 'mlx4_0'");
  }

  @Test
  void dataThatDidNotArriveFailsTheCheck() {
    CommandLineRun run =
        CommandLineRun.of("demo", "-d", LyingProvider.SENDER, "-d", LyingProvider.RECEIVER);

    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.err())
        .isEqualTo(
            "hghca: check 'send' failed: the client's buffer is not 'SEND operation':"
                + " byte 0 differs\n");
    assertThat(run.out()).doesNotContain("checks held");
  }

  @Test
  void completionWithErrorFailsTheCheckAndIsShown() {
    CommandLineRun run =
        CommandLineRun.of("demo", "-d", LyingProvider.FAILING_SENDER, "-d", LyingProvider.RECEIVER);

    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.err())
        .startsWith("hghca: check 'send' failed: the server's completion wr_id 1: ")
        .contains("RNR retry counter exceeded (13)");
  }

  @Test
  void missingDeviceIsOneLine() {
    CommandLineRun run = CommandLineRun.of("demo", "-d", "mlx4_0");

    assertThat(run.exitCode()).isEqualTo(3);
    assertThat(run.out()).isEmpty();
    assertThat(run.err())
        .startsWith("hghca: no RDMA device 'mlx4_0'")
        .endsWith("ENODEV (19)\n")
        .hasLineCount(1);
  }

  @ParameterizedTest
  @CsvSource({
    "--size, 7",
    "--size, 1048577",
    "--seconds, -1",
    "--seconds, 3601",
    "--seconds, NaN",
    "--size, many",
    "--nosuch, 1"
  })
  void wrongUsageIsExitCode2(String option, String value) {
    CommandLineRun run = CommandLineRun.of("demo", option, value);

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).contains(option).contains("Usage: hghca demo");
  }

  @Test
  void threeDevicesAreTooMany() {
    CommandLineRun run =
        CommandLineRun.of("demo", "-d", "model:a", "-d", "model:b", "-d", "model:c");

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).contains("at most two devices");
  }
}
