package org.hghca.tools.programs;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.hghca.tools.CommandLineRun;
import org.hghca.tools.RunningCommand;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The programs of perftest and the ping-pongs on virtio cards, with each other and with the other
 * kind of software HCA.
 */
class PerfVirtioTest {
  private static final String HOST = "127.0.0.1";

  private static final List<String> WORKING =
      List.of(
          "perf ib_write_bw -x 0 -n 50 -s 4096",
          "perf ib_write_bw -x 0 -n 50 -s 64 -l 5 -t 10 -b -q 2",
          "perf ib_write_bw -x 0 -n 50 -s 64 -c UC -e",
          "perf ib_write_lat -x 0 -n 50",
          "perf ib_send_bw -x 0 -n 50 -s 1024 -b",
          "perf ib_send_bw -x 0 -n 50 -s 1024 -c UD",
          "perf ib_send_lat -x 0 -n 50 -e",
          "perf ib_send_lat -x 0 -n 50 -s 64 -c UD",
          "perf ib_read_bw -x 0 -n 50 -s 4096",
          "perf ib_read_lat -x 0 -n 50",
          "rc_pingpong -g 0 -n 50 -e -c",
          "uc_pingpong -g 0 -n 50",
          "ud_pingpong -g 0 -n 50 -e",
          "srq_pingpong -g 0 -n 50 -q 4");

  static List<Arguments> working() {
    return Stream.of("virtio virtio", "virtio model", "model virtio")
        .flatMap(kinds -> WORKING.stream().map(command -> Arguments.of(kinds, command)))
        .toList();
  }

  private static int freePort() throws Exception {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  private static List<CommandLineRun> run(String command, String serverDevice, String clientDevice)
      throws Exception {
    int port = freePort();
    boolean perf = command.startsWith("perf");
    String words = "%s -p %d -d %s";
    try (RunningCommand server =
        RunningCommand.start(words.formatted(command, port, serverDevice))) {
      server.awaitOutput(perf ? "Waiting for client to connect" : "local address");
      while (true) { // it does not say when it listens
        String client = words.formatted(command, port, clientDevice) + " " + HOST;
        try (RunningCommand running = RunningCommand.start(client)) {
          CommandLineRun run = running.await();
          if (!run.err().matches("(?s).*(Couldn't connect|Connection refused).*")) {
            return List.of(server.await(), run);
          }
        }
      }
    }
  }

  private static void assertRan(List<CommandLineRun> ends) {
    for (CommandLineRun run : ends) {
      assertThat(run.err()).isEmpty();
      assertThat(run.exitCode()).as(run.out()).isZero();
    }
  }

  @ParameterizedTest(name = "{0}: {1}")
  @MethodSource("working")
  void works(String kinds, String command) throws Exception {
    String hub = "hub" + freePort();
    String[] kind = kinds.split(" ");
    assertRan(
        run(command, "%s:s?hub=%s".formatted(kind[0], hub), "%s:c?hub=%s".formatted(kind[1], hub)));
  }

  @ParameterizedTest
  @CsvSource({
    "ib_atomic_bw, ib_atomic_bw needs atomics",
    "ib_atomic_lat, ib_atomic_lat needs atomics",
    "ib_send_bw -g, -g needs multicast groups"
  })
  void whatACardLacksIsNamedBeforeTheMeasurement(String command, String what) {
    CommandLineRun run =
        CommandLineRun.of(("perf " + command + " -d virtio:none?hub=none").split(" "))
            .assertExit(1);
    assertThat(run.err())
        .isEqualTo("hghca: %s, which virtio:none?hub=none has not\n".formatted(what));
    assertThat(run.out()).isEmpty();
  }

  /** By vfio-user, as between processes. */
  @Test
  void servedCardsWork(@TempDir Path folder) throws Exception {
    Path left = folder.resolve("left");
    Path right = folder.resolve("right");
    try (RunningCommand serving =
        RunningCommand.start(
            "model serve --kind=virtio -o roce=rfc-v2 --peer-option roce=rfc-v2 --socket=%s --peer=%s"
                .formatted(left, right))) {
      serving.awaitOutput(", on " + right);
      for (String command :
          List.of(
              "perf ib_write_bw -x 0 -n 50 -s 4096 -e",
              "perf ib_send_lat -x 0 -n 50 -e",
              "perf ib_read_bw -x 0 -n 50 -s 4096",
              "rc_pingpong -g 0 -n 50 -e",
              "srq_pingpong -g 0 -n 50 -e -q 4")) {
        assertRan(run(command, "vfio-user:" + left, "vfio-user:" + right));
      }
      CommandLineRun listed = CommandLineRun.of("info", "-d", "vfio-user:" + left).assertExit(0);
      assertThat(listed.out()).contains("virtio");
    }
  }
}
