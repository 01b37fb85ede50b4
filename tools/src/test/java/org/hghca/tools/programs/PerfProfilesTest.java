package org.hghca.tools.programs;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.ServerSocket;
import java.util.List;
import org.hghca.tools.CommandLineRun;
import org.hghca.tools.RunningCommand;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The programs of perftest and the ping-pongs on the profiles of the makers' RTL, each with itself,
 * over a cable.
 */
class PerfProfilesTest {
  private static final String SERVER = "127.0.5.71";
  private static final String CLIENT = "127.0.5.72";

  private static final List<String> WORKING =
      List.of(
          "perf ib_write_bw -x 0 -n 50 -s 4096",
          "perf ib_write_bw -x 0 -n 50 -s 64 -l 5 -t 10",
          "perf ib_write_bw -x 0 -n 50 -s 64 -b -q 2",
          "perf ib_write_bw -x 0 -n 50 -s 64 -c UC -e",
          "perf ib_write_lat -x 0 -n 50",
          "perf ib_send_bw -x 0 -n 50 -s 1024 -b",
          "perf ib_send_bw -x 0 -n 50 -s 1024 -c UD",
          "perf ib_send_lat -x 0 -n 50",
          "perf ib_send_lat -x 0 -n 50 -s 64 -c UD",
          "perf ib_read_bw -x 0 -n 50 -s 4096",
          "perf ib_read_lat -x 0 -n 50",
          "perf ib_send_bw -n 50 -s 1024 -R",
          "perf ib_read_bw -n 50 -R",
          "perf ib_send_lat -n 50 -c UD -R",
          "perf ib_write_lat -x 0 -n 50 -z",
          "rc_pingpong -g 0 -n 50 -e -c",
          "uc_pingpong -g 0 -n 50",
          "ud_pingpong -g 0 -n 50");

  private record Ends(CommandLineRun server, CommandLineRun client) {}

  static List<Arguments> working() {
    return forBoth(WORKING);
  }

  private static List<Arguments> forBoth(List<String> commands) {
    return List.of("r1", "r2").stream()
        .flatMap(profile -> commands.stream().map(command -> Arguments.of(profile, command)))
        .toList();
  }

  private static RunningCommand start(String profile, String command, int port, String address) {
    return RunningCommand.start(
        "%s -p %d -d model:%s?profile=%s&cable=c%d&ip=%s"
            .formatted(command, port, address, profile, port, address));
  }

  private static Ends run(String profile, String command) throws Exception {
    int port;
    try (ServerSocket socket = new ServerSocket(0)) {
      port = socket.getLocalPort();
    }
    boolean perf = command.startsWith("perf");
    try (RunningCommand server = start(profile, command, port, SERVER)) {
      server.awaitOutput(perf ? "Waiting for client to connect" : "local address");
      while (true) { // it does not say when it listens
        String host = command + " " + SERVER;
        try (RunningCommand client = start(profile, host, port, CLIENT)) {
          CommandLineRun run = client.await();
          if (!run.err().matches("(?s).*(Couldn't connect|Connection refused|status 8).*")) {
            return new Ends(server.await(), run);
          }
        }
      }
    }
  }

  @ParameterizedTest(name = "{0}: {1}")
  @MethodSource("working")
  void works(String profile, String command) throws Exception {
    Ends ends = run(profile, command);
    for (CommandLineRun run : List.of(ends.server, ends.client)) {
      assertThat(run.err()).isEmpty();
      assertThat(run.exitCode()).as(run.out()).isZero();
    }
  }

  static List<Arguments> refused() {
    return forBoth(List.of("ib_atomic_bw", "ib_atomic_lat"));
  }

  @ParameterizedTest(name = "{0}: {1}")
  @MethodSource("refused")
  void isRefusedBeforeTheMeasurement(String profile, String program) throws Exception {
    try (RunningCommand server = start(profile, "perf " + program, 18_515, SERVER)) {
      CommandLineRun run = server.await().assertExit(1);
      assertThat(run.err())
          .matches("hghca: %s needs atomics, which model:.* has not\n".formatted(program));
      assertThat(run.out()).isEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"r1", "r2"})
  void sharedReceivesAreRefused(String profile) throws Exception {
    CommandLineRun run = start(profile, "srq_pingpong -g 0", 18_515, SERVER).await().assertExit(1);
    assertThat(run.err())
        .isEqualTo(
            "Couldn't create SRQ\nhghca: shared receive queues need a card that makes peers wait"
                + " for receives; this card fails them: EOPNOTSUPP (95)\n");
  }
}
