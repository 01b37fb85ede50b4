package org.hghca.tools.programs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.BufferedReader;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.hghca.tools.OwnProgram;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The line of a terminal that says how far a measurement is, of a process of its own. */
@Tag("long")
@Execution(ExecutionMode.CONCURRENT) // it waits for processes of its own
class ProgressLineTest {
  private static final Path SCRIPT = Path.of("/usr/bin/script");

  /** On a fast machine its row takes less time than there is between two lines. */
  private static final String SUITE = "perf suite ib_read_lat -s 8 -D 2";

  private static final String LINE = "\r1 of 1: ib_read_lat, RC, 8 bytes, ";
  private static final String ROW = " 8       ";

  private static List<String> command(String words) {
    List<String> command = OwnProgram.command(words.split(" "));
    command.add(
        1,
        "-Dlogback.configurationFile="
            + Path.of(System.getProperty("logback.configurationFile")).toAbsolutePath());
    return command;
  }

  private static Process start(List<String> command) throws Exception {
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectInput(Path.of("/dev/null").toFile())
        .start();
  }

  /** Runs a command to its end; returns what it printed. */
  private static String run(List<String> command) throws Exception {
    Process process = start(command);
    try (InputStream out = process.getInputStream()) {
      return new String(out.readAllBytes(), StandardCharsets.UTF_8);
    } finally {
      process.destroyForcibly();
    }
  }

  /** Runs a command whose output is a terminal. */
  private static String onTerminal(String redirection) throws Exception {
    return onTerminal(SUITE, redirection);
  }

  private static String onTerminal(String words, String redirection) throws Exception {
    assumeThat(Files.isExecutable(SCRIPT)).as("script(1) is installed").isTrue();
    String shell = "'" + String.join("' '", command(words)) + "'" + redirection;
    return run(List.of(SCRIPT.toString(), "-qec", shell, "/dev/null"));
  }

  @Test
  void terminalShowsIt() throws Exception {
    String said = onTerminal("");
    assertThat(said).contains(LINE, "/s");
    // It is wiped before the row.
    assertThat(said.lastIndexOf('\r', said.indexOf("\n" + ROW) - 2))
        .isGreaterThan(said.lastIndexOf(LINE));
  }

  @Test
  void terminalShowsWhichRowIsMeasured() throws Exception {
    String said = onTerminal("perf peers -D 0.01", "");
    assertThat(said).contains("\r1 of 16: hghca, in process", "\r2 of 16: hghca, shared memory");
    // It is wiped before the table.
    assertThat(said).containsPattern("16 of 16: memory copy *\r +\rrow +round trip p50");
  }

  @Test
  void standardOutputShowsItWhenStandardErrorIsAFile() throws Exception {
    assertThat(onTerminal(" 2> /dev/null")).contains(LINE);
  }

  @Test
  void filesShowNone() throws Exception {
    assertThat(onTerminal(" 2> /dev/null | cat")).contains(ROW).doesNotContain("1 of 1");
  }

  @Test
  void pipeShowsNone() throws Exception {
    assertThat(run(command(SUITE))).contains(ROW).doesNotContain("\r");
  }

  @Test
  void signalOfCtrlCGivesTheRowsSoFar() throws Exception {
    // The build may run with the signal ignored, as a job in the background, and children inherit
    // it.
    List<String> command = new ArrayList<>(List.of("env", "--default-signal=INT"));
    command.addAll(command("perf suite ib_read_lat ib_write_lat -s 8 -D 20"));
    Process process = start(command);
    try (BufferedReader out = process.inputReader()) {
      String line = out.readLine();
      while (!line.startsWith(ROW)) {
        line = out.readLine();
      }
      assertThat(new ProcessBuilder("kill", "-INT", Long.toString(process.pid())).start().waitFor())
          .isZero();
      assertThat(out.lines().toList())
          .last()
          .asString()
          .matches("\\d rows measured, 0 failed, 0 not supported by the device, \\d+ s");
      assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
      assertThat(process.exitValue()).isEqualTo(130);
    } finally {
      process.destroyForcibly();
    }
  }
}
