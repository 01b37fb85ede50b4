package org.hghca.tools.programs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import org.hghca.tools.CommandLineRun;
import org.hghca.tools.OwnProgram;
import org.hghca.tools.RunningCommand;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A side of a program of perftest whose peer, with its software HCA, is killed meanwhile. */
@Tag("long")
@ResourceLock(PerfPeerKilledTest.OURS) // one of its tests at a time
@Execution(ExecutionMode.CONCURRENT) // it waits for processes of its own
class PerfPeerKilledTest {
  static final String OURS = "127.0.5.81";
  private static final String KILLED = "127.0.5.82";

  private static String command(String program, int port, String address) {
    return "perf %s -p %d -d model:%s?net=udp:%s".formatted(program, port, address, address);
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  private static Process start(String command) throws IOException {
    return new ProcessBuilder(OwnProgram.command(command.split(" ")))
        .redirectErrorStream(true)
        .start();
  }

  private static void awaitLine(BufferedReader lines, String part) throws IOException {
    StringBuilder said = new StringBuilder();
    String line = lines.readLine();
    while (line != null && !line.contains(part)) {
      said.append(line).append('\n');
      line = lines.readLine();
    }
    assertThat(line).as(said.toString()).isNotNull();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "ib_write_bw    | .* ended the connection.*",
        "ib_write_bw -z | .* ended the connection, or cannot be reached any more, and did not send"
            + " its address: transport retry counter exceeded",
        "ib_write_bw -R | .* ended the connection, or cannot be reached any more, and did not send"
            + " its address: transport retry counter exceeded",
        "ib_send_bw -R  | nothing happened for 20 seconds: 0 messages were posted, .*"
      })
  void serverEnds(String program, String words) throws Exception {
    String endless = program + " --run_infinitely -D 1 -s 64";
    int port = freePort();
    try (RunningCommand server = RunningCommand.start(command(endless, port, OURS))) {
      server.awaitOutput("Waiting for client to connect");
      Process client = start(command(endless, port, KILLED) + " " + OURS);
      try (BufferedReader lines = client.inputReader(StandardCharsets.UTF_8)) {
        awaitLine(lines, " 64   ");
      } finally {
        client.destroyForcibly();
      }
      assertEnded(server.await(), words);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "ib_write_bw --run_infinitely -D 1 | completion of a send request after \\d+ messages:"
            + " .*transport retry counter exceeded .*",
        "ib_send_bw --run_infinitely -D 1 -R | completion of a send request after \\d+ messages:"
            + " .*transport retry counter exceeded .*"
      })
  void clientEnds(String program, String words) throws Exception {
    int port = freePort();
    Process server = start(command(program, port, KILLED));
    try (BufferedReader lines = server.inputReader(StandardCharsets.UTF_8)) {
      awaitLine(lines, "Waiting for client to connect");
      try (RunningCommand client =
          RunningCommand.start(command(program, port, OURS) + " " + KILLED)) {
        client.awaitOutput(" 65536   ");
        server.destroyForcibly();
        assertEnded(client.await(), words);
      }
    } finally {
      server.destroyForcibly();
    }
  }

  private static void assertEnded(CommandLineRun run, String words) {
    assertThat(run.exitCode()).as(run.out() + run.err()).isEqualTo(1);
    assertThat(run.err()).matches("hghca: " + words + "\n");
  }
}
