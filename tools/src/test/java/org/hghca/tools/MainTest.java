package org.hghca.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.Writer;
import java.util.Arrays;
import org.hghca.programs.ExitCode;
import org.hghca.tools.bringup.BringupReport;
import org.hghca.vfio.kernel.Machine;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MainTest {

  /** Set by the option debug, for the log's configuration. */
  @AfterEach
  void clearLogLevel() {
    System.clearProperty("hghca.log");
  }

  @Test
  void missingCommandIsWrongUsage() {
    CommandLineRun run = CommandLineRun.of().assertExit(2);
    assertThat(run.err()).contains("Missing command").contains("demo", "list", "info", "help");
  }

  @Test
  void unknownOptionIsWrongUsage() {
    CommandLineRun run = CommandLineRun.of("--nosuch").assertExit(2);
    assertThat(run.err()).contains("--nosuch").contains("Usage: hghca");
  }

  @Test
  void helpIsPrintedOnStandardOutput() {
    CommandLineRun run = CommandLineRun.of("help", "info").assertExit(0);
    assertThat(run.out())
        .startsWith("Usage: hghca info")
        .contains("--ib-dev", "--ib-port", "--json");
    assertThat(run.err()).isEmpty();
  }

  @Test
  void helpOfASubcommandIsPrinted() {
    CommandLineRun run = CommandLineRun.of("help", "model", "serve").assertExit(0);
    assertThat(run.out()).startsWith("Usage: hghca model serve").contains("--socket");
    assertThat(CommandLineRun.of("help").out()).startsWith("Usage: hghca [");

    CommandLineRun unknown = CommandLineRun.of("help", "model", "sing").assertExit(2);
    assertThat(unknown.err()).contains("hghca model has no command 'sing'");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "demo",
        "demo server",
        "demo client",
        "list",
        "info",
        "bringup",
        "card",
        "replay",
        "model",
        "model serve",
        "model faults",
        "bind",
        "unbind",
        "help"
      })
  void everyCommandListsTheSameExitCodes(String command) {
    String[] args = (command + " --help-all").strip().split(" ");

    assertThat(CommandLineRun.of(args).out())
        .containsSubsequence(
            "Exit codes:",
            "  0     Success.",
            "  1     Something failed: the command, a check or a step.",
            "  2     Wrong usage.",
            "  3     A device does not exist or cannot be opened.",
            "  4     The card stopped answering.",
            "  5     Output could not be written.",
            "  130   Ended by ");
  }

  @Test
  void outcomesOfASessionHaveTheseExitCodes() {
    assertThat(Arrays.stream(BringupReport.Outcome.values()).map(BringupReport.Outcome::exitCode))
        .containsExactlyInAnyOrder(
            ExitCode.OK.code(),
            ExitCode.FAILED.code(),
            ExitCode.NOT_OPENED.code(),
            ExitCode.STOPPED.code(),
            ExitCode.INCOMPLETE.code(),
            ExitCode.INTERRUPTED.code());
  }

  @Test
  void failedOutputIsReported() {
    StringWriter err = new StringWriter();
    Writer full =
        new Writer() {
          @Override
          public void write(char[] text, int offset, int length) throws IOException {
            throw new IOException("full");
          }

          @Override
          public void flush() {}

          @Override
          public void close() {}
        };
    PrintWriter out = new PrintWriter(full);

    assertThat(Main.run(Machine.local(), out, new PrintWriter(err), "--version")).isEqualTo(5);
    assertThat(err.toString()).isEqualTo("hghca: the output could not be written\n");
    assertThat(Main.run(Machine.local(), out, new PrintWriter(err), "info", "-d", "nosuch"))
        .isEqualTo(3);
  }

  @Test
  void versionIsThatOfTheBuild() {
    CommandLineRun run = CommandLineRun.of("--version").assertExit(0);
    assertThat(run.out()).matches("hghca \\d+\\.\\d+\\.\\d+\\S*\nJava 25.*\n");
  }

  @Test
  void failureIsOneLine() {
    CommandLineRun run = CommandLineRun.of("demo", "-d", FailingProvider.AT_OPEN).assertExit(3);
    assertThat(run.err()).isEqualTo("hghca: no permission: EACCES (13)\n");
  }

  @Test
  void debugShowsTheStackTrace() {
    CommandLineRun run =
        CommandLineRun.of("--debug", "demo", "-d", FailingProvider.AT_OPEN).assertExit(3);
    assertThat(run.err())
        .startsWith("hghca: no permission: EACCES (13)\n")
        .contains("at org.hghca.tools.demo.Demo.run");
    assertThat(System.getProperty("hghca.log")).isEqualTo("DEBUG");
  }

  @Test
  void debugIsAnOptionOfEverySubcommand() {
    CommandLineRun run =
        CommandLineRun.of("info", "--debug", "-d", FailingProvider.AT_QUERY).assertExit(1);
    assertThat(run.err()).contains("at org.hghca.tools.info.InfoCommand");
  }

  @Test
  void internalErrorIsReportedAsSuch() {
    CommandLineRun run =
        CommandLineRun.of("demo", "-d", FailingProvider.UNEXPECTEDLY).assertExit(1);
    assertThat(run.err())
        .isEqualTo(
            """
            hghca: internal error: a bug; --debug shows where
            """);
  }
}
